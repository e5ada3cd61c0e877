#ifndef CLI_CHECK_PRINT_H
#define CLI_CHECK_PRINT_H

#include "mapm/lint.h"

#include "command.h"

/* Prints the results as text or JSON, sorted by path. */
void check_print(struct invocation *inv, const struct check_results *results);

#endif
