#ifndef INSTALL_PLUGIN_SCOPE_H
#define INSTALL_PLUGIN_SCOPE_H

#include "closure.h"

/*
 * plugin_scope: what the plugin in a folder is called, for packages that get
 * their name from that folder (F4, G10). The manifest alone is read.
 */

/* The part of the origin of such a manifest. */
#define MANIFEST_PART "manifest"

/* Its manifests in the folder `folder` of the repository of `n`; `*any` when
 * one was not asked for before: then closure_gather() is next. */
void plugin_scope_request(struct closure *c, const struct node *n,
                          struct str folder, bool *any);
/* "" when the folder is no plugin's, or that was not asked. In the arena of
 * the closure. */
struct str plugin_scope_find(const struct closure *c, const struct node *n,
                             struct str folder);
/* Names of locked nodes that only the plugin of their folder can have given
 * (checks_scope): reads its manifest, then fails the nodes whose name is
 * another. Not of a lock that was proved on this machine. `*again`: manifests
 * were asked for; gather, and call it again. */
void plugin_scope_check(struct closure *c, bool *again);
/* Text of a manifest: its name is n->entry. Errors: ERR_FORMAT. */
MUST_CHECK bool plugin_scope_ingest(struct closure *c, struct node *n,
                                    struct str text, struct err *e);

#endif
