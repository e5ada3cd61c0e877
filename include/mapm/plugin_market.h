#ifndef MAPM_PLUGIN_MARKET_H
#define MAPM_PLUGIN_MARKET_H

#include "base/json.h"

/*
 * plugin_market: parses a marketplace.json into a list of plugins and their
 * locations. Text in, values out. An invalid entry does not fail the file.
 *
 * Source: C10 to C18, X39; PLUGINS.md rows 31 and 33.
 */

enum market_source {
    MARKET_HERE, /* a folder of the marketplace's own repository */
    MARKET_GIT,  /* a repository, or a folder of one */
    MARKET_NONE, /* not installable, with the reason in `why` */
};

struct market_entry {
    struct str name, description, version;
    enum market_source source;
    struct str repository; /* GIT: "https://host/owner/repo" */
    struct str path;       /* folder; HERE: relative to the marketplace's
                              root */
    struct str ref, sha;   /* GIT; or ""; sha takes precedence */
    const char *why;
    const struct json *json;
};

struct market {
    struct str name, description;
    const char *file; /* item of plugin_marketplaces */
    struct market_entry *entries;
    size_t count;
    const struct json *renames;
    size_t unnamed; /* number of omitted entries, without a valid name */
};

/* Parses a marketplace; `file` is its path relative to its root.
 * Ownership: allocated in `a`, which must outlive `text`.
 * Errors: ERR_FORMAT, ERR_LIMIT. */
MUST_CHECK bool market_read(struct str text, struct str file, struct arena *a,
                            struct market *out, struct err *e);

/* Returns an entry, or NULL. `*renamed` is set if it was found by `renames`,
 * which is applied once. */
const struct market_entry *market_find(const struct market *m, struct str name,
                                       bool *renamed);

/* Reports the omitted entries: "2 entries of its marketplace are left out: …".
 * Returns "" for 0. */
struct str market_unnamed_text(size_t unnamed, struct arena *a);

/* Adds this as a hint to the error that an entry was not found. */
void market_hint_unnamed(const struct market *m, struct err *e);

/* Returns the contents of PLUGIN_ENTRY_FILE for an entry, for
 * plugin_input.entry. Allocated in `a`. */
struct str market_entry_text(const struct market *m,
                             const struct market_entry *entry, struct arena *a);

/* --- writing ------------------------------------------------------------------- */

#define MARKET_FOLDER ".claude-plugin"
#define MARKET_FILE   MARKET_FOLDER "/marketplace.json"

struct market_plugin {
    struct str folder, name, version, description;
    struct str why; /* it is left out; "" = it is not */
};

struct market_listing {
    struct market_plugin *plugins;
    size_t count;
    struct str_list skills; /* folders of those that are in no plugin */
};

/*
 * Writes MARKET_FILE into the folder `dirfd` named `folder`, which Claude Code,
 * Codex and Copilot read at the same place. Skills that are in no plugin are one
 * of their own, which the entry describes (C16). Of a file that is there its
 * name, owner and other members stay, and its entries that lead to other
 * repositories. Source: G13; C10 to C17.
 */
MUST_CHECK bool market_write(const struct market_listing *all, int dirfd,
                             struct str folder, struct arena *a, struct err *e);

#endif
