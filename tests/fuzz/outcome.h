/* What a target makes of its input: replay compares it to tests/fuzz/outcomes, a
 * fuzzer has no use for it. */
#pragma once

#include "base/err.h"
#include "base/str.h"

void outcome(const char *format, ...)
    __attribute__((weak, format(printf, 1, 2)));

#define OUTCOME(...)                                                           \
    do {                                                                       \
        if (outcome)                                                           \
            outcome(__VA_ARGS__);                                              \
    } while (0)

static inline void outcome_str(const char *what, struct str s)
{
    OUTCOME("%s %zu %.*s\n", what, s.n, STR_ARG(s));
}

static inline void outcome_err(const struct err *e)
{
    OUTCOME("%d %s; %s\n", (int)e->code, err_first(e), e->hint);
}
