#ifndef LINT_BUMP_H
#define LINT_BUMP_H

#include "mapm/lint.h"

/*
 * check_bump: whether the version of a changed package was incremented as
 * required, with an entry in its CHANGELOG.md. Source: M29.
 */

struct bump_side {
    struct str text;      /* the entry file */
    struct str changelog; /* p NULL: missing */
    bool has_program;     /* a SKILL.star is there */
};

struct bump {
    struct str ref; /* as the user wrote it */
    struct bump_side before, now;
    bool others_changed; /* files besides the entry file and CHANGELOG.md */
};

/* Reports in `result`. Both entry files are read as `result->kind`. */
void check_bump(const struct bump *b, struct check_result *result);

#endif
