#ifndef CLI_INSTALL_PICK_H
#define CLI_INSTALL_PICK_H

#include "mapm/install.h"

#include "../command.h"

/*
 * pick: a person chooses from a catalog, on the terminal.
 *
 *     arrows, page up and down   move          space   choose; of a heading all
 *     text, backspace, ctrl-u    filter        enter   install what is chosen
 *     ctrl-a                     all shown     esc     leave
 *
 * Without anything chosen, enter takes the line of the cursor. Only the lines
 * that are seen are drawn; texts from outside are made visible before.
 */

/* Whether a picker can be shown: a terminal on all sides that is not "dumb". */
bool pick_can_ask(const struct invocation *inv);

/*
 * Fills what `out` chooses with paths of the catalog. False without an error
 * (`e` has no code) when the person leaves. ERR_INTERRUPTED for ctrl-c and for
 * signals; the terminal is as it was before in each case. In the arena of
 * inv->cx.
 */
MUST_CHECK bool pick_offers(struct invocation *inv,
                            const struct install_catalog *c,
                            struct install_choice *out, struct err *e);

#endif
