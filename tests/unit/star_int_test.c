#include "core/int.h"
#include "star_ops.h"

/* Ints of any size: against 128-bit arithmetic, against arithmetic on decimal
 * text, and against the identities that must hold. */

static uint64_t seed = 20250101;

/* --- small ones, by the compiler's own 128 bits ------------------------------------ */

static value wide(struct star *s, __int128 n)
{
    unsigned __int128 m = n < 0 ? -(unsigned __int128)n : (unsigned __int128)n;
    uint64_t d[3] = {(uint64_t)m & DIGIT_MASK, (uint64_t)(m >> 60) & DIGIT_MASK,
                     (uint64_t)(m >> 120)};

    return sl_int_from_digits(s, d, 3, n < 0);
}

static __int128 floor_div(__int128 a, __int128 b)
{
    __int128 q = a / b;

    return a % b && (a < 0) != (b < 0) ? q - 1 : q;
}

static void check_pair(struct star *s, __int128 a, __int128 b)
{
    value x = wide(s, a), y = wide(s, b);
    const struct {
        enum sl_operator op;
        __int128 want;
    } rows[] = {
        {OP_ADD, a + b},
        {OP_SUB, a - b},
        {OP_AND, a & b},
        {OP_OR, a | b},
        {OP_XOR, a ^ b},
        {OP_FLOORDIV, b ? floor_div(a, b) : 0},
        {OP_MOD, b ? a - b * floor_div(a, b) : 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!b && (rows[i].op == OP_FLOORDIV || rows[i].op == OP_MOD))
            continue;
        value v = binary(s, rows[i].op, x, y), want = wide(s, rows[i].want);
        CHECK(v && sl_int_compare(v, want) == 0);
        /* One form for one number. */
        CHECK(sl_is_int_word(v) == sl_is_int_word(want));
        CHECK(sl_int_hash(s, v) == sl_int_hash(s, want));
    }
    CHECK(sl_int_compare(x, y) == (a > b) - (a < b));
    CHECK(sl_int_sign(x) == (a > 0) - (a < 0));
    value negated = sl_int_negate(s, x);
    CHECK(sl_int_compare(negated, wide(s, -a)) == 0);
}

TEST(sums_quotients_and_bits_around_powers_of_two)
{
    static const int powers[] = {0,  1,  31,  53,  59,  60,  61, 62,
                                 63, 64, 100, 119, 120, 121, 125};
    struct star *s = open_star();
    __int128 all[15 * 6];
    int n = 0;

    for (int i = 0; i < 15; i++)
        for (int d = -1; d <= 1; d++) {
            all[n++] = ((__int128)1 << powers[i]) + d;
            all[n++] = -((__int128)1 << powers[i]) + d;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            size_t scope = star_scope_begin(s);
            check_pair(s, all[i], all[j]);
            star_scope_end(s, scope);
        }
    star_close(s);
}

TEST(products_of_words)
{
    struct star *s = open_star();

    for (int i = 0; i < 20000; i++) {
        int64_t a = (int64_t)random_bits(&seed) >> (random_bits(&seed) % 64);
        int64_t b = (int64_t)random_bits(&seed) >> (random_bits(&seed) % 64);
        size_t scope = star_scope_begin(s);
        value v = binary(s, OP_MUL, sl_int(s, a), sl_int(s, b));
        CHECK(v && sl_int_compare(v, wide(s, (__int128)a * b)) == 0);
        star_scope_end(s, scope);
    }
    star_close(s);
}

/* --- large ones, by decimal text ----------------------------------------------------- */

/* Decimal, the last digit first, in a buffer of `n` bytes of 0 to 9. */
static void decimal_product(const char *a, const char *b, char *out, size_t n)
{
    size_t an = strlen(a), bn = strlen(b);

    memset(out, 0, n);
    for (size_t i = 0; i < an; i++) {
        int carry = 0;
        for (size_t j = 0; j < bn || carry; j++) {
            int t = out[i + j] + carry;
            if (j < bn)
                t += (a[an - 1 - i] - '0') * (b[bn - 1 - j] - '0');
            out[i + j] = (char)(t % 10);
            carry = t / 10;
        }
    }
    while (n > 1 && !out[n - 1])
        n--;
    for (size_t i = 0; i < n / 2; i++) {
        char c = out[i];
        out[i] = out[n - 1 - i];
        out[n - 1 - i] = c;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = (char)(out[i] + '0');
    out[n] = 0;
}

static void random_decimal(char *out, size_t length)
{
    for (size_t i = 0; i < length; i++)
        out[i] = (char)('0' + random_bits(&seed) % 10);
    out[0] = '7';
    out[length] = 0;
}

TEST(products_as_by_hand)
{
    static const size_t lengths[] = {1,   17,  18,  19,  36,   37,
                                     300, 860, 870, 900, 1500, 3000};
    static char a[4000], b[4000], want[8000];
    struct star *s = open_star();

    for (size_t i = 0; i < 12; i++)
        for (size_t j = 0; j < 12; j++) {
            random_decimal(a, lengths[i]);
            random_decimal(b, lengths[j]);
            decimal_product(a, b, want, lengths[i] + lengths[j] + 1);
            CHECK_STR(text_of(s, binary(s, OP_MUL, int_of(s, a), int_of(s, b))),
                      want);
        }
    star_close(s);
}

/* Runs of ones and zeros are where carries go far. */
static value random_int(struct star *s, uint32_t max_digits)
{
    static uint64_t d[20000];
    uint32_t n = 1 + (uint32_t)(random_bits(&seed) % max_digits);
    unsigned kind = random_bits(&seed) % 4;

    for (uint32_t i = 0; i < n; i++) {
        d[i] = random_bits(&seed) & DIGIT_MASK;
        if (kind == 0)
            d[i] = random_bits(&seed) % 8 ? DIGIT_MASK : d[i];
        if (kind == 1)
            d[i] = random_bits(&seed) % 8 ? 0 : d[i];
    }
    return sl_int_from_digits(s, d, n, random_bits(&seed) % 2);
}

static bool same(struct star *s, value a, value b)
{
    (void)s;
    return a && b && sl_int_compare(a, b) == 0;
}

static void check_identities(struct star *s, value a, value b, value c)
{
    value sum = binary(s, OP_ADD, a, b), product = binary(s, OP_MUL, a, b);

    CHECK(same(s, binary(s, OP_SUB, sum, b), a));
    CHECK(same(s, binary(s, OP_MUL, a, binary(s, OP_ADD, b, c)),
               binary(s, OP_ADD, product, binary(s, OP_MUL, a, c))));
    CHECK(same(s, binary(s, OP_MUL, sum, sum),
               binary(s, OP_ADD,
                      binary(s, OP_ADD, binary(s, OP_MUL, a, a),
                             binary(s, OP_MUL, b, b)),
                      binary(s, OP_ADD, product, product))));
    CHECK(same(
        s, binary(s, OP_ADD, binary(s, OP_AND, a, b), binary(s, OP_OR, a, b)),
        sum));
    CHECK(same(s, binary(s, OP_XOR, binary(s, OP_XOR, a, b), b), a));
    if (sl_int_sign(c) == 0)
        return;
    value q = binary(s, OP_FLOORDIV, product, c);
    value r = binary(s, OP_MOD, product, c);
    CHECK(same(s, binary(s, OP_ADD, binary(s, OP_MUL, q, c), r), product));
    CHECK(sl_int_sign(r) == 0 || sl_int_sign(r) == sl_int_sign(c));
    bool below = sl_int_sign(c) > 0 ? sl_int_compare(r, c) < 0
                                    : sl_int_compare(r, c) > 0;
    CHECK(below);
    if (sl_int_sign(b))
        CHECK(same(s, binary(s, OP_FLOORDIV, product, b), a));
}

TEST(identities_of_large_ints)
{
    static const uint32_t sizes[] = {3, 30, 70, 200, 400};
    struct star *s = open_star();

    for (int i = 0; i < 600; i++) {
        size_t scope = star_scope_begin(s);
        uint32_t n = sizes[i % 5];
        check_identities(s, random_int(s, n), random_int(s, n),
                         random_int(s, n + n / 2));
        star_scope_end(s, scope);
    }
    star_close(s);
}

TEST(identities_of_the_largest_ints)
{
    struct star *s = open_star();

    for (int i = 0; i < 30; i++) {
        size_t scope = star_scope_begin(s);
        check_identities(s, random_int(s, 540), random_int(s, 540),
                         random_int(s, 500));
        star_scope_end(s, scope);
    }
    star_close(s);
}

/* --- shifts ------------------------------------------------------------------------------ */

static value power_of_two(struct star *s, unsigned bits)
{
    value v = sl_word(1);

    for (unsigned bit = 1u << 19; bit; bit /= 2) {
        v = binary(s, OP_MUL, v, v);
        if (bits & bit)
            v = binary(s, OP_ADD, v, v);
    }
    return v;
}

TEST(shifts_are_products_and_floored_quotients) /* row 10 */
{
    struct star *s = open_star();

    for (int i = 0; i < 2000; i++) {
        size_t scope = star_scope_begin(s);
        value v = random_int(s, 12);
        unsigned bits = random_bits(&seed) % 512;
        value power = power_of_two(s, bits);
        CHECK(same(s, binary(s, OP_SHL, v, sl_word(bits)),
                   binary(s, OP_MUL, v, power)));
        CHECK(same(s, binary(s, OP_SHR, v, sl_word(bits)),
                   binary(s, OP_FLOORDIV, v, power)));
        star_scope_end(s, scope);
    }
    star_close(s);
}

TEST(shifts_far_and_wrong) /* row 10 */
{
    static const struct {
        enum sl_operator op;
        const char *a, *b, *want;
    } rows[] = {
        {OP_SHL, "1", "511", NULL},
        {OP_SHL, "1", "512", "shift count too large: 512"},
        {OP_SHL, "0", "512", "shift count too large: 512"},
        {OP_SHL, "0", "511", "0"},
        {OP_SHL, "1", "-1", "negative shift count: -1"},
        {OP_SHR, "1", "-1", "negative shift count: -1"},
        {OP_SHR, "1", "2147483647", "0"},
        {OP_SHR, "-1", "2147483647", "-1"},
        {OP_SHR, "-123456789012345678901234567890", "2147483647", "-1"},
        {OP_SHR, "123456789012345678901234567890", "2147483647", "0"},
        {OP_SHR, "1", "2147483648", "2147483648 out of range"},
        {OP_SHL, "1", "123456789012345678901234567890",
         "123456789012345678901234567890 out of range"},
        {OP_SHR, "-18446744073709551616", "64", "-1"},
        {OP_SHR, "-18446744073709551617", "64", "-2"},
        {OP_SHR, "-1152921504606846977", "60", "-2"},
    };
    struct star *s = open_star();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        value v =
            binary(s, rows[i].op, int_of(s, rows[i].a), int_of(s, rows[i].b));
        if (rows[i].want)
            CHECK_STR(text_of(s, v), rows[i].want);
        else
            CHECK(v != 0);
    }
    star_close(s);
}

/* --- errors ---------------------------------------------------------------------------------- */

TEST(division_by_zero)
{
    struct star *s = open_star();
    value big = int_of(s, "123456789012345678901234567890");

    CHECK_STR(text_of(s, binary(s, OP_FLOORDIV, sl_word(1), sl_word(0))),
              "floored division by zero");
    CHECK_STR(text_of(s, binary(s, OP_FLOORDIV, big, sl_word(0))),
              "floored division by zero");
    CHECK_STR(text_of(s, binary(s, OP_MOD, sl_word(1), sl_word(0))),
              "integer modulo by zero");
    CHECK_STR(text_of(s, binary(s, OP_MOD, big, sl_word(0))),
              "integer modulo by zero");
    star_close(s);
}

TEST(an_int_of_more_than_65536_bits_is_an_error)
{
    const char *text = "int too large: more than 65536 bits";
    struct star *s = open_star();
    value v = power_of_two(s, 65535), half = power_of_two(s, 32768);

    CHECK(v != 0);
    CHECK_STR(text_of(s, binary(s, OP_ADD, v, v)), text);
    CHECK_STR(text_of(s, binary(s, OP_SHL, v, sl_word(1))), text);
    CHECK_STR(text_of(s, binary(s, OP_MUL, half, half)), text);
    CHECK_STR(text_of(s, binary(s, OP_MUL, v, sl_word(2))), text);
    value most = binary(s, OP_ADD, v, binary(s, OP_SUB, v, sl_word(1)));
    CHECK(most != 0); /* 2^65536 - 1 */
    CHECK_STR(text_of(s, binary(s, OP_ADD, most, sl_word(1))), text);
    CHECK_STR(text_of(s, binary(s, OP_SUB, sl_int_negate(s, most), sl_word(1))),
              text);
    CHECK(binary(s, OP_XOR, most, sl_word(-1)) == 0);
    star_close(s);
}

TEST(limits_end_long_operations)
{
    static char nines[19001];
    struct star_options o = {.limits.steps = 20000};
    struct star *s = star_open(&o);

    memset(nines, '9', 19000);
    sl_host_enter(s);
    CHECK(sl_int_parse(s, nines, 19000, 10, false) == 0);
    CHECK(star_error(s) == STAR_ERROR_STEPS);
    sl_host_leave(s);
    star_close(s);

    o = (struct star_options){.limits.memory_bytes = 180 << 10};
    s = star_open(&o);
    value v = int_of(s, "12345678901234567890123456789012345678901234567890");
    for (int i = 0; v && i < 20; i++)
        v = binary(s, OP_MUL, v, v);
    CHECK(v == 0);
    CHECK(star_usage(s).memory_peak_bytes <= 180 << 10);
    star_close(s);

    s = open_star();
    v = int_of(s, nines);
    CHECK(v != 0);
    value half = binary(s, OP_SUB, power_of_two(s, 30000), sl_word(1));
    star_cancel(s);
    CHECK(binary(s, OP_FLOORDIV, v, half) == 0);
    CHECK(star_error(s) == STAR_ERROR_CANCELED);
    star_close(s);
}

/* --- text --------------------------------------------------------------------------------------- */

static const char *formatted(struct star *s, value v, unsigned base, bool upper,
                             struct sl_text *t)
{
    *t = (struct sl_text){.s = s};
    CHECK(sl_int_format(t, v, base, upper));
    sl_text_char(t, 0);
    return t->p;
}

static void check_round_trip(struct star *s, value v, unsigned base)
{
    struct sl_text t;
    const char *text = formatted(s, v, base, base % 2, &t);
    bool negative = *text == '-';
    value back = sl_int_parse(s, text + negative, t.length - 1 - negative, base,
                              negative);

    CHECK(same(s, back, v));
    CHECK(text[negative] != '0' || t.length == 2);
    sl_text_free(&t);
}

TEST(text_in_all_bases_and_back)
{
    static const uint32_t sizes[] = {1, 2, 5, 16, 17, 19, 31, 47, 105, 505};
    struct star *s = open_star();

    for (unsigned base = 2; base <= 36; base++)
        for (size_t i = 0; i < 10; i++) {
            size_t scope = star_scope_begin(s);
            value v = random_int(s, sizes[i]), power = sl_word(1);
            check_round_trip(s, v, base);
            /* Powers of the base, and one less, have long runs of digits. */
            for (uint32_t k = 0; k < sizes[i] % 20 * 13; k++)
                power = binary(s, OP_MUL, power, sl_word(base));
            for (uint32_t k = 1; k < sizes[i] / 20; k *= 2)
                power = binary(s, OP_MUL, power, power);
            check_round_trip(s, power, base);
            check_round_trip(s, binary(s, OP_SUB, power, sl_word(1)), base);
            check_round_trip(s, sl_int_negate(s, power), base);
            star_scope_end(s, scope);
        }
    star_close(s);
}

/* Horner's rule, digit by digit, is another way to read a text. */
TEST(text_is_read_as_its_digits_say)
{
    static const char all[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    struct star *s = open_star();
    char text[400];

    for (unsigned base = 2; base <= 36; base++) {
        size_t scope = star_scope_begin(s);
        value want = sl_word(0);
        for (size_t i = 0; i < sizeof text; i++) {
            unsigned d = (unsigned)(random_bits(&seed) % base);
            text[i] = all[d];
            want = binary(s, OP_ADD, binary(s, OP_MUL, want, sl_word(base)),
                          sl_word(d));
        }
        CHECK(same(s, sl_int_parse(s, text, sizeof text, base, false), want));
        star_scope_end(s, scope);
    }
    star_close(s);
}

TEST(text_of_numbers_known)
{
    static const struct {
        const char *number;
        unsigned base;
        bool upper;
        const char *want;
    } rows[] = {
        {"0", 10, false, "0"},
        {"-1", 16, false, "-1"},
        {"255", 16, true, "FF"},
        {"-255", 16, false, "-ff"}, /* row 26 */
        {"4611686018427387904", 10, false, "4611686018427387904"},
        {"-4611686018427387905", 10, false, "-4611686018427387905"},
        {"18446744073709551616", 16, false, "10000000000000000"},
        {"18446744073709551615", 8, false, "1777777777777777777777"},
        {"1152921504606846976", 2, false,
         "1000000000000000000000000000000000000000000000000000000000000"},
        {"99999999999999999999999999999999999999999999999999", 36, true,
         "1KU3A4PJFXX2ND2GL07GTQBOLJENWN75R"},
    };
    struct star *s = open_star();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sl_text t;
        CHECK_STR(formatted(s, int_of(s, rows[i].number), rows[i].base,
                            rows[i].upper, &t),
                  rows[i].want);
        sl_text_free(&t);
    }
    star_close(s);
}

TEST(what_is_no_number_is_no_error)
{
    static const struct {
        const char *text;
        unsigned base;
    } rows[] = {{"", 10},  {"-1", 10},   {"1_0", 10}, {"12 ", 10}, {"2", 2},
                {"g", 16}, {"\xff", 36}, {"@", 36},   {"0x1", 16}, {"[", 36}};
    struct star *s = open_star();

    sl_host_enter(s);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(sl_int_parse(s, rows[i].text, strlen(rows[i].text), rows[i].base,
                           false) == 0);
        CHECK(!sl_failed(s));
    }
    CHECK(sl_int_parse(s, "0000000000000000000000", 22, 10, true) ==
          sl_word(0));
    sl_host_leave(s);
    star_close(s);
}

TEST(the_largest_texts)
{
    static char nines[20001];
    struct star *s = open_star();
    struct sl_text t;

    memset(nines, '9', sizeof nines - 1);
    value v = sl_int_parse(s, nines, 19728, 10, false);
    CHECK(v != 0);
    const char *text = formatted(s, v, 10, false, &t);
    CHECK(t.length == 19729 && memcmp(text, nines, 19728) == 0);
    sl_text_free(&t);
    sl_host_enter(s);
    CHECK(sl_int_parse(s, nines, 19729, 10, false) == 0);
    CHECK_STR(star_error_message(s), "int too large: more than 65536 bits");
    sl_host_leave(s);
    /* Zeros in front count for nothing. */
    memset(nines, '0', 19999);
    CHECK(sl_int_parse(s, nines, 20000, 10, false) == sl_word(9));
    star_close(s);
}

TEST(from_the_host)
{
    struct star *s = open_star();
    int64_t n = 0;

    CHECK_STR(text_of(s, star_int_from_text(s, "-9223372036854775809", 20)),
              "-9223372036854775809");
    CHECK(star_int_from_text(s, "12x", 3) == 0);
    CHECK(star_error(s) == STAR_ERROR_VALUE);
    CHECK(star_int_from_text(s, "-", 1) == 0);
    CHECK(star_int_from_text(s, "", 0) == 0);
    CHECK(sl_int_to_i64(star_int_from_text(s, "-9223372036854775808", 20), &n));
    CHECK(n == INT64_MIN);
    CHECK(sl_int_to_i64(star_int_from_text(s, "9223372036854775807", 19), &n));
    CHECK(n == INT64_MAX);
    CHECK(!sl_int_to_i64(star_int_from_text(s, "9223372036854775808", 19), &n));
    CHECK(
        !sl_int_to_i64(star_int_from_text(s, "-9223372036854775809", 20), &n));
    CHECK_STR(text_of(s, sl_int_u64(s, UINT64_MAX)), "18446744073709551615");
    CHECK_STR(text_of(s, sl_int(s, INT64_MIN)), "-9223372036854775808");
    star_close(s);
}
