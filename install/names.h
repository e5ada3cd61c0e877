#ifndef INSTALL_NAMES_H
#define INSTALL_NAMES_H

#include "closure.h"

/*
 * names: what a package is called in this layer: by its document, or as its
 * root (`as:`) or the lock gives it another name, mostly that of a folder
 * (selection_name).
 */

/* The last part of a skill's or agent's FQN; of a server the whole. Borrowed. */
struct str name_short(enum doc_kind kind, struct str fqn);

/* The folder that gives a path in its repository its <p>: "plugins/box" for
 * "plugins/box/skills/ai"; "" when there is none. */
struct str name_folder(struct str path);
/* Its last part, where that may be a scope; "". */
struct str name_scope_of(struct str path);

/* Of a package whose document says `own`: what its root or the lock calls its
 * origin; recorded names never change. Borrowed. */
struct str node_recorded_name(const struct closure *c, const struct node *n,
                              enum doc_kind kind, struct str own);

/* Of a locked node: the name of its entry. One that its root no longer gives is
 * dropped: then the lock changes, which --locked refuses. Borrowed. */
struct str node_locked_name(const struct closure *c, const struct node *n);

/* Of a locked node: some folder of it gives it the name of its entry, or the
 * plugin in such a folder may: plugin_scope_check() finds out. */
bool node_is_given_name(const struct closure *c, struct node *n);

/* `fqn` is borrowed; the kind of the package is known. */
void node_set_name(struct node *n, struct str fqn);

#endif
