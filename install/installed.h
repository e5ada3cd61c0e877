#ifndef INSTALL_INSTALLED_H
#define INSTALL_INSTALLED_H

#include "mapm/layer.h"
#include "mapm/provision.h"
#include "mapm/store.h"

/* installed: items for provision from lock entries. */

/* Fills everything but digest and files. */
void installed_fill(const struct layer *l, const struct lock_entry *entry,
                    struct provision_item *out);

/* Finds digest and files with the patch applied, allocated in `a`. Returns
 * false if the store lacks the listing. */
bool installed_find_files(struct store *store, const struct lock_entry *entry,
                          struct arena *a, struct provision_item *out);

/* Returns access to the objects of the store, which is borrowed. */
struct provision_objects installed_objects(struct store *store);

/* Returns the options by which what is installed in `l` is compared, without
 * a change. */
struct provision_options installed_options(struct context *cx,
                                           const struct layer *l,
                                           struct store *store);

#endif
