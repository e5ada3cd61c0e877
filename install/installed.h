#ifndef INSTALL_INSTALLED_H
#define INSTALL_INSTALLED_H

#include "mapm/layer.h"
#include "mapm/provision.h"
#include "mapm/store.h"

/* installed: packages as the lock has them, for provision. */

/* All but its digest and files. */
void installed_fill(const struct layer *l, const struct lock_entry *entry,
                    struct provision_item *out);

/* Its digest and files with its patch, in `a`. False when the store lacks the
 * listing. */
bool installed_find_files(struct store *store, const struct lock_entry *entry,
                          struct arena *a, struct provision_item *out);

/* Out of the store, which they borrow. */
struct provision_objects installed_objects(struct store *store);

#endif
