#ifndef TESTS_STAR_OPS_H
#define TESTS_STAR_OPS_H

/* What tests of values share: operations whose failures are texts. Values live
 * until the test closes its interpreter. */

#include <stdlib.h>

#include "core/ops.h"
#include "tap.h"

static inline struct star *open_star(void)
{
    return star_open(NULL);
}

/* Into a ring of texts, so that a few can be compared at once. */
static inline const char *text_of(struct star *s, value v)
{
    static char *ring[8];
    static unsigned at;
    struct sl_text t = {.s = s};

    if (!v)
        return star_error_message(s);
    at = (at + 1) % 8;
    free(ring[at]);
    sl_repr(&t, v);
    ring[at] = calloc(1, t.length + 1);
    if (ring[at])
        memcpy(ring[at], t.p, t.length);
    sl_text_free(&t);
    return ring[at] ? ring[at] : "";
}

static inline value int_of(struct star *s, const char *text)
{
    bool negative = *text == '-';

    return sl_int_parse(s, text + negative, strlen(text) - negative, 10,
                        negative);
}

static inline value string_of(struct star *s, const char *text)
{
    return sl_string_new(s, text, strlen(text));
}

/* Each with its own error. */
static inline value binary(struct star *s, enum sl_operator op, value a,
                           value b)
{
    sl_host_enter(s);
    value v = sl_binary(s, op, a, b, false);
    sl_host_leave(s);
    return v;
}

static inline value in_place(struct star *s, enum sl_operator op, value a,
                             value b)
{
    sl_host_enter(s);
    value v = sl_binary(s, op, a, b, true);
    sl_host_leave(s);
    return v;
}

/* "True", "False", or the error. */
static inline const char *compared(struct star *s, enum sl_operator op, value a,
                                   value b)
{
    bool result;

    sl_host_enter(s);
    bool ok = op == OP_IN ? sl_in(s, a, b, &result)
                          : sl_compare(s, op, a, b, &result);
    sl_host_leave(s);
    return ok ? result ? "True" : "False" : star_error_message(s);
}

/* The same numbers on every machine. */
static inline uint64_t random_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x2545f4914f6cdd1du;
}

#endif
