#ifndef INSTALL_NAMES_H
#define INSTALL_NAMES_H

#include "closure.h"

/*
 * names: what a package is called in this layer: by its document, or as its
 * root (`as:`) or the lock gives it another name, mostly that of a folder
 * (selection_name).
 */

/* Returns the last part of the FQN of a skill or agent, and the whole FQN of a
 * server. Borrowed. */
struct str name_short(enum doc_kind kind, struct str fqn);

/* Returns the folder that provides <p> for a path in a repository:
 * "plugins/box" for "plugins/box/skills/ai"; "" if there is none. */
struct str name_folder(struct str path);
/* Returns the last part of that folder if it is a valid scope, else "". */
struct str name_scope_of(struct str path);
/* Where there is no such folder, returns the nearest one that begins with a
 * dot, without the dot: "agents" for ".agents/skills/ai". "" if there is none.
 */
struct str name_dot_scope_of(struct str path);

/* Returns the name that the root or the lock gives the origin of a package
 * whose document says `own`. Recorded names never change. Borrowed. */
struct str node_recorded_name(const struct closure *c, const struct node *n,
                              enum doc_kind kind, struct str own);

/* Returns the name of a locked node in its entry, unless it is an alias that
 * its root no longer sets; then the lock changes, which --locked refuses.
 * Borrowed. */
struct str node_locked_name(const struct closure *c, const struct node *n);

/* Returns whether a folder of a locked node, or possibly a plugin in it, gives
 * the name of its entry; plugin_scope_check() decides the latter. */
bool node_is_given_name(const struct closure *c, struct node *n);

/* `fqn` is borrowed; the kind of the package is known. */
void node_set_name(struct node *n, struct str fqn);

#endif
