#ifndef INSTALL_EXCLUDE_H
#define INSTALL_EXCLUDE_H

#include "mapm/project.h"

#include "install_session.h"

/* exclude: edits catalogs in the manifests to exclude packages [D11]. */

/* A catalog that chose a package. */
struct chosen {
    const struct catalog *catalog;
    struct str text; /* its origin in the lock */
    struct chosen *next;
};

/* Patterns without duplicates, in order. */
struct patterns {
    struct arena *a;
    struct map seen;
    struct str *items;
    size_t count, capacity;
};

void patterns_init(struct patterns *w, struct arena *a);
void patterns_add(struct patterns *w, struct str word);

/* Returns "mapm.yaml" or "mapm.local.yaml". */
const char *catalogs_file(const struct catalog *c);
/* Replaces the catalog by `want`, or removes it if `want` is NULL. */
MUST_CHECK bool catalogs_set(struct install_session *s, const struct catalog *c,
                             struct str key, const struct project_catalog *want,
                             struct err *e);

/* Excludes removed roots from the catalogs that chose them; a catalog without
 * other packages is removed. */
MUST_CHECK bool catalogs_exclude(struct install_session *s,
                                 const struct root *gone, size_t count,
                                 struct err *e);
/* Removes a whole catalog. */
MUST_CHECK bool catalogs_remove(struct install_session *s,
                                const struct catalog *c, struct err *e);

#endif
