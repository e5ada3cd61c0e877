#ifndef CLI_LIST_H
#define CLI_LIST_H

#include "base/json.h"
#include "mapm/layer.h"

#include "command.h"

/* One package of `mapm list --json`; `mapm tree --json` has the same. With
 * `is_many` its member, too. */
void list_put_package(struct json_writer *w, const struct layer *l,
                      const struct lock_entry *entry, bool root, bool is_many,
                      struct arena *a);

/* NAME, or TYPE NAME as `list` and `tree` print it: the arguments of a command.
 * In the arena of the invocation. ERR_USAGE. */
MUST_CHECK bool list_named_package(struct invocation *inv, struct str *out,
                                   struct err *e);

#endif
