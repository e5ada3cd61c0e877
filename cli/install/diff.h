#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include "mapm/install_diff.h"

#include "../command.h"

/* Prints differences as a patch, through a pager on a terminal, or as JSON. */
MUST_CHECK bool diff_show(struct invocation *inv, const struct install_diff *d,
                          struct err *e);

/* Prints the text of a patch; colours each line by its sign. */
void diff_show_patch(struct term *t, struct str patch);

#endif
