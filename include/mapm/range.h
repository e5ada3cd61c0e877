#ifndef MAPM_RANGE_H
#define MAPM_RANGE_H

#include "base/arena.h"
#include "base/err.h"
#include "mapm/name.h"

/*
 * range: versions of tags, and ranges of them (D6, HOSTS.md 10).
 *
 *     "^1.2"       1.2.0 and up to 2.0.0, without it ("^0.3": to 0.4.0)
 *     "~1.2"       1.2.0 up to 1.3.0
 *     ">=1.2,<2"   comparators; a comma is "and"
 *     "*"          every release
 *
 * A pre-release is allowed only where a comparator has the same three numbers
 * and a pre-release itself. Source: semver 2.0.0; cargo's carets, npm's rule
 * for pre-releases.
 */

#define RANGE_MAX_BYTES       128
#define RANGE_MAX_COMPARATORS 16 /* two for each "^" and "~" */
#define RANGE_SET_MAX         64 /* ranges of one package */

struct semver {
    struct version number;
    struct str pre; /* "beta.1"; "" = a release. Borrowed from the text */
};

/* X.Y.Z[-pre][+build], no more; what is built decides nothing and is dropped. */
bool semver_parse(struct str text, struct semver *out);
int semver_cmp(const struct semver *x, const struct semver *y);

enum comparison {
    COMPARE_LESS,
    COMPARE_AT_MOST,
    COMPARE_MORE,
    COMPARE_AT_LEAST,
    COMPARE_EQUAL
};

struct comparator {
    enum comparison how;
    struct semver than;
};

struct range {
    struct comparator items[RANGE_MAX_COMPARATORS];
    size_t count; /* 0: "*" */
};

/* Whether the text is meant as one, right or wrong: no ref of an origin begins
 * so. */
bool range_is_meant(struct str text);

/* Borrows from `text`. Errors: ERR_ORIGIN with what to write instead. */
MUST_CHECK bool range_parse(struct str text, struct range *out, struct err *e);

bool range_allows(const struct range *r, const struct semver *v);

/* "=1.2.3", which the command line takes for the tag of this version. */
bool range_is_exact(const struct range *r);

/* --- in an origin ------------------------------------------------------------ */

/* Where a URL has escapes: "%5E1.2" as "^1.2". What else is escaped stays. */
struct str range_unescape(struct str slot, struct arena *a);
/* As an origin is written: "," is "%2C", since lists of YAML end there. */
struct str range_escape(struct str range, struct arena *a);

/* --- what several packages ask for ------------------------------------------- */

/* All of them at once: each decides on pre-releases for itself. */
struct range_set {
    struct range *items;
    size_t count;
};

/* Ranges with a blank between. ERR_LIMIT past RANGE_SET_MAX. In `a`. */
MUST_CHECK bool range_set_parse(struct str text, struct arena *a,
                                struct range_set *out, struct err *e);
bool range_set_allows(const struct range_set *s, const struct semver *v);

/* --- tags -------------------------------------------------------------------- */

/*
 * The version that a tag gives the package at `path`, and the form of the tag:
 * "skills/x/v1.2.3", "skills/x@1.2.3", "x@1.2.3", "x--v1.2.3", "x-v1.2.3",
 * "x/1.2.3", "x_1.2.3"; "v1.2.3" and "1.2.3" for all of the repository. Of these
 * the first that any tag has is the form for the package. Source: HOSTS.md 10.
 */
enum { TAG_FORM_V = 7, TAG_FORM_BARE, TAG_FORM_COUNT };

bool tag_version(struct str tag, struct str path, struct semver *out,
                 unsigned *form);

#endif
