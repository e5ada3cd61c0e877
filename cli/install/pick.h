#ifndef CLI_INSTALL_PICK_H
#define CLI_INSTALL_PICK_H

#include "mapm/install.h"

#include "../command.h"

/*
 * pick: lets the user select packages of a catalog on the terminal.
 *
 *     arrows, page up and down   move          space   select; on a heading all
 *     text, backspace, ctrl-u    filter        enter   install the selection
 *     ctrl-a                     all shown     esc     leave
 *
 * If nothing is selected, enter installs the package at the cursor. Only visible
 * lines are drawn; untrusted text is escaped.
 */

/* Returns whether a picker can be shown: stdin, stdout and stderr are a
 * terminal that is not "dumb". */
bool pick_can_ask(const struct invocation *inv);

/* Sets the selection in `out` to paths of the catalog, allocated in the arena
 * of inv->cx. Returns false without an error (`e` has no code) if the user
 * leaves. Restores the terminal in all cases. Errors: ERR_INTERRUPTED for
 * ctrl-c and signals. */
MUST_CHECK bool pick_offers(struct invocation *inv,
                            const struct install_catalog *c,
                            struct install_choice *out, struct err *e);

#endif
