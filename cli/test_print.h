#ifndef CLI_TEST_PRINT_H
#define CLI_TEST_PRINT_H

#include "mapm/skill_test.h"

#include "command.h"

/* test_print prints the result of one skill as text; test_print_end prints the
 * totals, or everything as JSON. */
void test_print(struct invocation *inv, const struct skill_test *s);
void test_print_end(struct invocation *inv, const struct skill_tests *skills);

#endif
