#ifndef MAPM_REPORT_CATALOG_H
#define MAPM_REPORT_CATALOG_H

#include "base/buf.h"
#include "mapm/discover.h"

/*
 * report_catalog: renders the skills of a catalog as a page with a search.
 *
 * The page is self-contained and works from file://. Its only script is allowed
 * by its hash; without scripts the list is complete. Texts are untrusted and
 * escaped, links are relative.
 *
 * Source: G9; THREATS.md rows 7, 22.
 */

/* The skills of `list` that were not left out. `out` may overflow: the caller
 * checks. */
void report_catalog_page(struct str title,
                         const struct discover_published *list, size_t count,
                         struct buf *out);

#endif
