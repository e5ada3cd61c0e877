#ifndef MAPM_PLUGIN_MARKET_H
#define MAPM_PLUGIN_MARKET_H

#include "base/json.h"

/*
 * plugin_market: a marketplace.json, as a list of plugins and where each is.
 * Text in, values out. One bad entry does not fail the file.
 *
 * Source: C10 to C18, X39; PLUGINS.md rows 31 and 33.
 */

enum market_source {
    MARKET_HERE, /* a folder of the marketplace's own repository */
    MARKET_GIT,  /* a repository, or a folder of one */
    MARKET_NONE, /* not installable: `why` */
};

struct market_entry {
    struct str name, description, version;
    enum market_source source;
    struct str repository; /* GIT: "https://host/owner/repo" */
    struct str path;       /* folder: HERE from the marketplace's root */
    struct str ref, sha;   /* GIT; "" = none; the sha counts */
    const char *why;
    const struct json *json;
};

struct market {
    struct str name, description;
    const char *file; /* of plugin_marketplaces */
    struct market_entry *entries;
    size_t count;
    const struct json *renames;
    size_t unnamed; /* entries without a name, left out */
};

/* `file`: its path from its root. Ownership: in `a`, which has to outlive
 * `text`. Errors: ERR_FORMAT, ERR_LIMIT. */
MUST_CHECK bool market_read(struct str text, struct str file, struct arena *a,
                            struct market *out, struct err *e);

/* `*renamed`: by `renames`, followed once. NULL: there is none. */
const struct market_entry *market_find(const struct market *m, struct str name,
                                       bool *renamed);

/* What PLUGIN_ENTRY_FILE holds of an entry: plugin_input.entry. In `a`. */
struct str market_entry_text(const struct market *m,
                             const struct market_entry *entry, struct arena *a);

#endif
