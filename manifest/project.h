#ifndef MANIFEST_PROJECT_H
#define MANIFEST_PROJECT_H

#include "mapm/manifest.h"

/* project: tables and rules that reading mapm.yaml needs. */

#define PROJECT_MAX_DEPTH 8

/* "github.com/acme/<any>": three parts, "*" for any text in each. */
bool project_is_source(struct str pattern);

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
