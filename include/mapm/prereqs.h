#ifndef MAPM_PREREQS_H
#define MAPM_PREREQS_H

#include "mapm/layer.h"

/* prereqs: what a skill says must be set up (M8). The lock does not repeat
 * frontmatter, so it is read from the provisioned copy. */

/* "" when it has none or cannot be read. In `a`. */
struct str prereqs_read(const struct layer *l, const struct lock_entry *entry,
                        struct arena *a);

/* One package of `mapm list --json`; `mapm tree --json` has the same. */
void list_put_package(struct json_writer *w, const struct layer *l,
                      const struct lock_entry *entry, bool root,
                      struct arena *a);

#endif
