#ifndef INSTALL_PLUGINS_H
#define INSTALL_PLUGINS_H

#include "mapm/plugin.h"

#include "ingest.h"
#include "install_session.h"

/*
 * plugins: a plugin as a package that needs its parts.
 *
 *     market file --> source of the plugin --> its folder --> skills, which are
 *     packages of their own; servers and sub-agents, whose documents are made
 *     of the plugin's files
 *
 * All of a plugin is in its files: the entry of the marketplace is one of them
 * (PLUGIN_ENTRY_FILE). So parts are derived from the store alone, and the
 * digest of the plugin covers what they are derived from.
 *
 * Source: PLUGINS.md X29 to X45; G10, G11.
 */

/* What a plugin is, beside its package. */
struct plugin_node {
    struct plugin plugin;
    struct str source; /* of one from a marketplace: its folder's origin */
    struct str catalog_commit; /* … and the commit of the marketplace */
    struct node **parts;       /* of plugin.parts, the same indices */
    struct lock_words without, skipped, not_installed; /* as in the lock */
};

/* A plugin of a marketplace: looks for its entry, then for its folder. */
MUST_CHECK bool plugin_resolve_entry(struct closure *c, struct node *n,
                                     struct err *e);
/* Reads a plugin of the workspace, with the entry of its marketplace if it has
 * one, in place. */
MUST_CHECK bool plugin_read_local(struct closure *c, struct node *n,
                                  struct err *e);
/* The marketplace is here, or is not to be had: those that wait for it. */
MUST_CHECK bool plugin_market_settled(struct closure *c, struct node *market,
                                      struct err *e);
/* The text of marketplace.json is in the store, by `files`. */
MUST_CHECK bool plugin_ingest_market(struct closure *c, struct node *n,
                                     const struct package_file *files,
                                     size_t count, struct err *e);

/* Files of mapm's own that belong to the listing; `*files` has room for two
 * more. `outside`: of each file, whether a link led out of the folder. */
MUST_CHECK bool plugin_add_files(struct closure *c, struct node *n,
                                 struct package_file *files, size_t *count,
                                 const bool *outside, struct arena *scratch,
                                 struct err *e);

/* What its files in the store say. In `a`. */
MUST_CHECK bool plugin_read_node(struct closure *c, const struct node *n,
                                 struct arena *a, struct plugin *out,
                                 struct err *e);
/* Its files are in the store, by n->digest: reads the plugin, and its parts
 * are nodes from now on. */
MUST_CHECK bool plugin_take_parts(struct closure *c, struct node *n,
                                  struct err *e);
/* The same for one that is locked: its parts are those that the lock says. */
MUST_CHECK bool plugin_check_locked(struct closure *c, struct node *n,
                                    struct err *e);
/* The content of its sub-agent or server `name`, as its files have it now. */
MUST_CHECK bool plugin_derive_digest(struct closure *c, const struct node *n,
                                     enum doc_kind kind, struct str name,
                                     struct hash *digest, struct err *e);
/* Derived parts that no plugin has brought. */
void plugin_fail_waiting(struct closure *c);

/* plugin_needs.c. What plugins need of other marketplaces, and versions that
 * they need: `*settled` is false when closure_gather is next. */
MUST_CHECK bool plugins_settle_needs(struct closure *c, bool *settled,
                                     struct err *e);
/* Of the marketplace that `n` came through. */
bool plugin_need_is_own(const struct node *n,
                        const struct plugin_entry_need *need);
void plugin_add_entry(struct closure *c, struct node *n,
                      const struct plugin_entry_need *need,
                      struct dependency *out);

/* Parts of plugins that are roots, where these leave out others than what was
 * read so far: `*settled` is false then, and closure_gather is next. ERR_LOCKED
 * with --locked. [X45] */
MUST_CHECK bool plugins_leave_out(struct install_session *s, bool *settled,
                                  struct err *e);
/* Leaves out parts that cannot be installed, and names the rest: after
 * closure_gather. */
MUST_CHECK bool plugins_settle(struct install_session *s, struct err *e);
/* Fills the members of a lock entry that plugins and their parts have. */
void plugin_fill_entry(const struct node *n, struct lock_entry *out);
/* What of the plugins of the plan is not installed, to be shown. */
MUST_CHECK bool plugins_report(struct install_session *s, struct err *e);

#endif
