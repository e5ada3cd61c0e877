#ifndef LINT_BUMP_H
#define LINT_BUMP_H

#include "mapm/lint.h"

/*
 * check_bump: whether the version of a changed package was incremented as
 * required, with an entry in its CHANGELOG.md. Source: M29.
 */

struct bump_side {
    struct str text;      /* text of the entry file */
    struct str changelog; /* p is NULL if missing */
    bool has_program;     /* a SKILL.star exists */
};

struct bump {
    struct str ref; /* the commit as the user wrote it */
    struct bump_side before, now;
    bool others_changed; /* files other than the entry file and CHANGELOG.md
                          * changed */
};

/* Reports in `result`. Both entry files are read as `result->kind`. */
void check_bump(const struct bump *b, struct check_result *result);

#endif
