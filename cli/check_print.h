#ifndef CLI_CHECK_PRINT_H
#define CLI_CHECK_PRINT_H

#include "mapm/lint.h"

#include "command.h"

/* Words or JSON, in the order of paths. */
void check_print(struct invocation *inv, const struct check_results *results);

#endif
