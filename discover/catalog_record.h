#ifndef DISCOVER_CATALOG_RECORD_H
#define DISCOVER_CATALOG_RECORD_H

#include "mapm/discover.h"

/* catalog_record: what mapm.db keeps of a catalog beside its entries, as the
 * stamp of its source. In `a`. */
struct str catalog_stamp(const struct discover_catalog *c, struct arena *a);

#endif
