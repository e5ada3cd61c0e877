#ifndef MANIFEST_HOST_ITEM_H
#define MANIFEST_HOST_ITEM_H

#include "mapm/host_config.h"

/* host_item: formats an item of `hosts:`. Members with the value "" are
 * omitted. */

enum { HOST_ITEM_KEYS = 6 };

struct host_item {
    const char *keys[HOST_ITEM_KEYS]; /* "host", "kind" and the others, in
                                       * this order */
    struct str values[HOST_ITEM_KEYS];
    bool is_name; /* the host name alone is sufficient */
};

/* Returns the item of `h`, allocated in `a`. */
struct host_item host_item_of(const struct host_config *h, struct arena *a);

/* Returns "{host: x, kind: gitlab}", or only the name. Allocated in `a`. */
struct str host_item_text(const struct host_item *t, struct arena *a);

#endif
