#ifndef MANIFEST_PROJECT_H
#define MANIFEST_PROJECT_H

#include "mapm/manifest.h"

/* project: tables and rules that reading mapm.yaml needs. */

#define PROJECT_MAX_DEPTH 8

/* "github.com/acme/<any>": three parts, "*" for any text in each. */
bool project_is_source(struct str pattern);

/* Why no rule of policy.commands begins with it; NULL when one may. `*hint`
 * says what to do, or is "". */
const char *project_program_fault(struct str program, const char **hint);

/* A key with nothing behind it, or with "null". */
bool project_is_null(const struct yaml *y);

/* The list of a kind in the dependencies block; NULL when there is none. */
const struct yaml *project_list(const struct yaml *block, enum doc_kind kind);

struct project_change {
    enum doc_kind kind;
    struct str origin;
    bool added; /* else removed */
};

/* Both trees say the same, but for that one root more or less. */
bool project_differs_by(const struct yaml *before, const struct yaml *after,
                        const struct project_change *change, struct arena *a);

#endif
