#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include "mapm/install_diff.h"

#include "../command.h"

/* Shows differences as a patch, on a terminal by a pager; or as JSON. */
MUST_CHECK bool diff_show(struct invocation *inv, const struct install_diff *d,
                          struct err *e);

/* The text of a patch, each line in the colour of its sign. */
void diff_show_patch(struct term *t, struct str patch);

#endif
