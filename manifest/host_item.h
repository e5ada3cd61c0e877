#ifndef MANIFEST_HOST_ITEM_H
#define MANIFEST_HOST_ITEM_H

#include "mapm/host_config.h"

/* host_item: an item of `hosts:` as text; a value that is "" is left out. */

enum { HOST_ITEM_KEYS = 6 };

struct host_item {
    const char *keys[HOST_ITEM_KEYS]; /* "host" first, then "kind" */
    struct str values[HOST_ITEM_KEYS];
    bool is_name; /* the name alone says it */
};

/* In `a`. */
struct host_item host_item_of(const struct host_config *h, struct arena *a);

/* "{host: x, kind: gitlab}", or the name alone. In `a`. */
struct str host_item_text(const struct host_item *t, struct arena *a);

#endif
