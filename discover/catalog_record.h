#ifndef DISCOVER_CATALOG_RECORD_H
#define DISCOVER_CATALOG_RECORD_H

#include "mapm/discover.h"

/* catalog_record: what mapm.db stores of a catalog besides its entries, as the
 * stamp of its source. Allocated in `a`. */
struct str catalog_stamp(const struct discover_catalog *c, struct arena *a);

#endif
