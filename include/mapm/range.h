#ifndef MAPM_RANGE_H
#define MAPM_RANGE_H

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

/* Whether the text is meant as one, right or wrong: no ref of an origin has
 * the characters that make it one. */
bool range_is_meant(struct str text);

/* Borrows from `text`. Errors: ERR_ORIGIN with what to write instead. */
MUST_CHECK bool range_parse(struct str text, struct range *out, struct err *e);

bool range_allows(const struct range *r, const struct semver *v);

/* "=1.2.3", which the command line takes for the tag of this version. */
bool range_is_exact(const struct range *r);

#endif
