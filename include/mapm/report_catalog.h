#ifndef MAPM_REPORT_CATALOG_H
#define MAPM_REPORT_CATALOG_H

#include "base/buf.h"

/*
 * report_catalog: the skills of a catalog as a page with a search.
 *
 * The page needs nothing but itself, also from file://. Its one script is known
 * to it by hash; without scripts the list is whole. Texts are those of strangers
 * and escaped, links are relative. Source: G9; THREATS.md rows 7, 22.
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
