#ifndef CLI_LIST_H
#define CLI_LIST_H

#include "base/json.h"
#include "mapm/layer.h"

#include "command.h"

/* Returns the root that requests an entry, by a map of layer_index_roots, or
 * NULL for a dependency. */
const struct root *list_root(const struct map *roots,
                             const struct lock_entry *entry, struct arena *a);

/* Writes a package for `mapm list --json` and `mapm tree --json`, with its
 * workspace member if `is_many`. `root` is NULL for a dependency. */
void list_put_package(struct json_writer *w, const struct layer *l,
                      const struct lock_entry *entry, const struct root *root,
                      bool is_many, struct arena *a);

/* Parses the arguments NAME or TYPE NAME, the form that `list` and `tree`
 * print. Allocated in the arena of the invocation. Errors: ERR_USAGE. */
MUST_CHECK bool list_named_package(struct invocation *inv, struct str *out,
                                   struct err *e);

#endif
