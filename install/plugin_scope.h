#ifndef INSTALL_PLUGIN_SCOPE_H
#define INSTALL_PLUGIN_SCOPE_H

#include "closure.h"

/*
 * plugin_scope: what the plugin in a folder is called, for packages that get
 * their name from that folder (F4, G10). The manifest alone is read.
 */

/* part in the origin of such a manifest */
#define MANIFEST_PART "manifest"

/* Requests the manifests in `folder` of the repository of `n`. Sets `*any` if
 * one was not requested before; then call closure_gather(). */
void plugin_scope_request(struct closure *c, const struct node *n,
                          struct str folder, bool *any);
/* Returns the name of the plugin, or "" if the folder is not a plugin or was
 * not requested. Allocated in the arena of the closure. */
struct str plugin_scope_find(const struct closure *c, const struct node *n,
                             struct str folder);
/* Checks names of locked nodes that only the plugin of their folder can have
 * given (checks_scope), except in a lock that was proved on this machine: reads
 * the manifests and fails nodes with another name. If `*again` is set,
 * manifests were requested: gather and call it again. */
void plugin_scope_check(struct closure *c, bool *again);
/* Reads the name in a manifest into n->entry. Errors: ERR_FORMAT. */
MUST_CHECK bool plugin_scope_ingest(struct closure *c, struct node *n,
                                    struct str text, struct err *e);

#endif
