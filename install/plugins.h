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

/* The plugin of a node. */
struct plugin_node {
    struct plugin plugin;
    struct str source; /* origin of the folder, for a plugin of a marketplace */
    struct str catalog_commit; /* commit of the marketplace */
    struct node **parts;       /* nodes of plugin.parts, with the same
                                * indexes */
    struct str_list without, skipped, not_installed; /* as written to the
                                                        * lock */
};

/* Resolves a plugin of a marketplace: its entry, then its folder. */
MUST_CHECK bool plugin_resolve_entry(struct closure *c, struct node *n,
                                     struct err *e);
/* Reads a plugin of the workspace, with the entry of its marketplace if it has
 * one, in place. */
MUST_CHECK bool plugin_read_local(struct closure *c, struct node *n,
                                  struct err *e);
/* Continues the plugins that waited for a marketplace, which arrived or
 * failed. */
MUST_CHECK bool plugin_market_resolved(struct closure *c, struct node *market,
                                       struct err *e);
/* Ingests a marketplace.json, which is in the store as `files`. */
MUST_CHECK bool plugin_ingest_market(struct closure *c, struct node *n,
                                     const struct package_file *files,
                                     size_t count, struct err *e);

/* Adds the files of mapm that belong to the listing; `*files` has room for two
 * more. `outside`: per file, whether a link led out of the folder. */
MUST_CHECK bool plugin_add_files(struct closure *c, struct node *n,
                                 struct package_file *files, size_t *count,
                                 const bool *outside, struct arena *scratch,
                                 struct err *e);

/* Reads the plugin from its files in the store. Allocated in `a`. */
MUST_CHECK bool plugin_read_node(struct closure *c, const struct node *n,
                                 struct arena *a, struct plugin *out,
                                 struct err *e);
/* Reads the plugin from its files in the store, by n->digest, and adds nodes
 * for its parts. */
MUST_CHECK bool plugin_take_parts(struct closure *c, struct node *n,
                                  struct err *e);
/* Likewise for a locked plugin, whose parts are those in the lock. */
MUST_CHECK bool plugin_check_locked(struct closure *c, struct node *n,
                                    struct err *e);
/* Computes the digest of its sub-agent or server `name` from its current
 * files. */
MUST_CHECK bool plugin_derive_digest(struct closure *c, const struct node *n,
                                     enum doc_kind kind, struct str name,
                                     struct hash *digest, struct err *e);
/* Fails derived parts that no plugin supplied. */
void plugin_fail_waiting(struct closure *c);

/* plugin_needs.c: requests dependencies in other marketplaces and versions.
 * `*resolved` is false if closure_gather() must be called next. */
MUST_CHECK bool plugins_resolve_needs(struct closure *c, bool *resolved,
                                      struct err *e);
/* Returns whether the dependency is in the marketplace of `n`. */
bool plugin_need_is_own(const struct node *n,
                        const struct plugin_entry_need *need);
void plugin_add_entry(struct closure *c, struct node *n,
                      const struct plugin_entry_need *need,
                      struct dependency *out);

/* Updates the parts of plugins whose roots skip other parts than were read;
 * `*resolved` is false then, and closure_gather() must be called next.
 * ERR_LOCKED with --locked. [X45] */
MUST_CHECK bool plugins_leave_out(struct install_session *s, bool *resolved,
                                  struct err *e);
/* Drops parts that cannot be installed and names the others. Call after
 * closure_gather(). */
void plugins_resolve(struct install_session *s);
/* Fills the members of a lock entry that belong to plugins and their parts. */
void plugin_fill_entry(const struct node *n, struct lock_entry *out);
/* Reports the parts of plugins in the plan that are not installed. */
MUST_CHECK bool plugins_report(struct install_session *s, struct err *e);

#endif
