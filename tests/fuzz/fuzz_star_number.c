#include <math.h>
#include <stdlib.h>

#include "core/ops.h"

/*
 * Text as a number: the first byte is the base, or 0 for a float. What is read
 * is written and read again, to the same number; a float is what the C library
 * reads, too, where its grammar is the same.
 */

#define REQUIRE(condition)                                                     \
    do {                                                                       \
        if (!(condition))                                                      \
            abort();                                                           \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void check_float(struct star *s, const char *text, size_t length)
{
    static const char formats[] = "eEfFgG";
    char copy[1024];
    double d, again;

    if (!sl_float_parse(text, length, &d))
        return;
    for (const char *how = formats; *how; how++) {
        struct sl_text t = {.s = s};
        sl_float_format(&t, d, *how);
        REQUIRE(!t.failed && sl_float_parse(t.p, t.length, &again));
        REQUIRE(*how < 'g' || same(d, again));
        sl_text_free(&t);
    }
    if (length < sizeof copy && !memchr(text, 0, length)) {
        char *end;
        memcpy(copy, text, length);
        copy[length] = 0;
        again = strtod(copy, &end);
        REQUIRE(end == copy + length && same(d, again));
    }
}

static void check_int(struct star *s, const char *text, size_t length,
                      unsigned base)
{
    struct sl_text t = {.s = s};
    bool negative = length && *text == '-';
    value v =
        sl_int_parse(s, text + negative, length - negative, base, negative);

    if (!v)
        return;
    REQUIRE(sl_int_format(&t, v, base, length % 2));
    negative = *t.p == '-';
    value again =
        sl_int_parse(s, t.p + negative, t.length - negative, base, negative);
    REQUIRE(again && sl_int_compare(v, again) == 0);
    REQUIRE(sl_int_hash(s, v) == sl_int_hash(s, again));
    REQUIRE(t.length <= length || (length == 1 && t.length == 1));
    /* What is known without looking at the digits. */
    value twice = sl_int_binary(s, OP_ADD, v, v);
    value shifted = sl_int_binary(s, OP_SHL, v, sl_word(1));
    REQUIRE(!twice == !shifted);
    if (twice) {
        REQUIRE(sl_int_compare(twice, shifted) == 0);
        REQUIRE(sl_int_compare(sl_int_binary(s, OP_SHR, twice, sl_word(1)),
                               v) == 0);
    }
    sl_text_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 100000)
        return 0;
    struct star *s = star_open(NULL);
    const char *text = (const char *)data + 1;

    sl_host_enter(s);
    if (*data == 0)
        check_float(s, text, size - 1);
    else
        check_int(s, text, size - 1, 2 + *data % 35);
    sl_host_leave(s);
    star_close(s);
    return 0;
}
