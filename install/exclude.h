#ifndef INSTALL_EXCLUDE_H
#define INSTALL_EXCLUDE_H

#include "mapm/project.h"

#include "install_session.h"

/* exclude: catalogs in the manifests, and what they are to leave out [D11]. */

/* One of the catalogs that chose a package. */
struct chosen {
    const struct catalog *catalog;
    struct str text; /* its origin, as the lock has it */
    struct chosen *next;
};

/* Patterns, each once, in their order. */
struct patterns {
    struct arena *a;
    struct map seen;
    struct str *items;
    size_t count, capacity;
};

void patterns_init(struct patterns *w, struct arena *a);
void patterns_add(struct patterns *w, struct str word);

/* "mapm.yaml", or "mapm.local.yaml". */
const char *catalogs_file(const struct catalog *c);
/* Makes `want` of the one with this key; NULL: it goes. */
MUST_CHECK bool catalogs_set(struct install_session *s, const struct catalog *c,
                             struct str key, const struct project_catalog *want,
                             struct err *e);

/* Roots that are gone are excluded by the catalogs that chose them; one that has
 * no other goes itself. */
MUST_CHECK bool catalogs_exclude(struct install_session *s,
                                 const struct root *gone, size_t count,
                                 struct err *e);
/* Takes a whole catalog out. */
MUST_CHECK bool catalogs_remove(struct install_session *s,
                                const struct catalog *c, struct err *e);

#endif
