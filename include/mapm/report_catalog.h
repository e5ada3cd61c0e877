#ifndef MAPM_REPORT_CATALOG_H
#define MAPM_REPORT_CATALOG_H

#include "base/buf.h"

/*
 * report_catalog: renders the skills of a catalog as a page with a search.
 *
 * The page is self-contained and works from file://. Its only script is allowed
 * by its hash; without scripts the list is complete. Texts are untrusted and
 * escaped, links are relative.
 *
 * Source: G9; THREATS.md rows 7, 22.
 */

struct report_skill {
    struct str name, version, description, license;
    struct str url; /* relative, percent-encoded */
    size_t tokens, files;
};

struct report_catalog {
    struct str title;
    const struct report_skill *skills;
    size_t count;
};

/* `out` may overflow: the caller checks. */
void report_catalog_page(const struct report_catalog *c, struct buf *out);

#endif
