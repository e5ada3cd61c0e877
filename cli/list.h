#ifndef CLI_LIST_H
#define CLI_LIST_H

#include "base/json.h"
#include "mapm/layer.h"

#include "command.h"

/* "apps/web", "." for the root. */
struct str list_member(const struct layer *l);

/* One package of `mapm list --json`; `mapm tree --json` has the same. With
 * `is_many` its member, too. */
void list_put_package(struct json_writer *w, const struct layer *l,
                      const struct lock_entry *entry, bool root, bool is_many,
                      struct arena *a);

/* " (from https://…)", " (from this checkout)"; "" where `from` is. In `a`. */
struct str list_source(struct str from, bool is_checkout, struct arena *a);
/* What `list`, `tree` and `why` say behind a package: " (tag v1.4.2)" of a
 * range, " (own)", its source. In `a`. */
struct str list_notes(const struct layer *l, const struct lock_entry *entry,
                      struct arena *a);

/* NAME, or TYPE NAME as `list` and `tree` print it: the arguments of a command.
 * In the arena of the invocation. ERR_USAGE. */
MUST_CHECK bool list_named_package(struct invocation *inv, struct str *out,
                                   struct err *e);

#endif
