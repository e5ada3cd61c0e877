#ifndef CLI_TEST_PRINT_H
#define CLI_TEST_PRINT_H

#include "mapm/skill_test.h"

#include "command.h"

/* A skill in words, once it was played; then the sum of all, or JSON. */
void test_print(struct invocation *inv, const struct skill_test *s);
void test_print_end(struct invocation *inv, const struct skill_tests *skills);

#endif
