#ifndef MAPM_RANGE_H
#define MAPM_RANGE_H

#include "base/arena.h"
#include "base/err.h"
#include "mapm/name.h"

/*
 * range: versions of tags, and ranges of versions (D6, HOSTS.md 10).
 *
 *     "^1.2"       from 1.2.0 up to but excluding 2.0.0 ("^0.3": to 0.4.0)
 *     "~1.2"       from 1.2.0 up to but excluding 1.3.0
 *     ">=1.2,<2"   comparators; a comma means "and"
 *     "*"          every release
 *
 * A pre-release matches only if a comparator has the same three numbers and is
 * a pre-release itself.
 *
 * Source: semver 2.0.0; cargo's carets, npm's rule for pre-releases.
 */

#define RANGE_MAX_BYTES       128
#define RANGE_MAX_COMPARATORS 16 /* two for each "^" and "~" */
#define RANGE_SET_MAX         64 /* ranges of one package */

struct semver {
    struct version number;
    struct str pre; /* "beta.1"; "" for a release. Borrowed from the text */
};

/* Parses X.Y.Z[-pre][+build]; the build metadata is ignored. */
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

/* Returns whether the text is meant as a range, valid or not: no ref of an
 * origin begins like one. */
bool range_is_meant(struct str text);

/* Parses a range, borrowing from `text`. Errors: ERR_ORIGIN with a
 * correction. */
MUST_CHECK bool range_parse(struct str text, struct range *out, struct err *e);

bool range_allows(const struct range *r, const struct semver *v);

/* Returns whether the range is "=1.2.3", which the command line takes for the
 * tag of this version. */
bool range_is_exact(const struct range *r);

/* --- in an origin ------------------------------------------------------------ */

/* Decodes the URL escapes of a range, "%5E1.2" to "^1.2"; other
 * escapes are kept. */
struct str range_unescape(struct str slot, struct arena *a);
/* Encodes a range for an origin: "," becomes "%2C", because it ends an
 * item of a YAML list. */
struct str range_escape(struct str range, struct arena *a);

/* --- what several packages ask for ------------------------------------------- */

/* Ranges that must all be satisfied; each applies its own rule for
 * pre-releases. */
struct range_set {
    struct range *items;
    size_t count;
};

/* Parses ranges separated by blanks. Allocated in `a`. Fails with ERR_LIMIT for
 * more than RANGE_SET_MAX. */
MUST_CHECK bool range_set_parse(struct str text, struct arena *a,
                                struct range_set *out, struct err *e);
bool range_set_allows(const struct range_set *s, const struct semver *v);

/* --- tags -------------------------------------------------------------------- */

/*
 * Gets the version that a tag denotes for the package at `path`, and the
 * form of the tag: "skills/x/v1.2.3", "skills/x@1.2.3", "x@1.2.3",
 * "x--v1.2.3", "x-v1.2.3", "x/1.2.3", "x_1.2.3"; "v1.2.3" and "1.2.3" for
 * the whole repository. The first form of this list that any tag has is used
 * for the package.
 * Source: HOSTS.md 10.
 */
enum { TAG_FORM_V = 7, TAG_FORM_BARE, TAG_FORM_COUNT };

bool tag_version(struct str tag, struct str path, struct semver *out,
                 unsigned *form);

#endif
