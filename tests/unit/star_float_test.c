#include <float.h>
#include <locale.h>
#include <math.h>

#include "star_ops.h"

/* Floats: their text and back, exactly; their order and hash beside ints. */

static uint64_t seed = 7;

static const char *text(struct star *s, double d, char how)
{
    static char out[4][400];
    static unsigned at;
    struct sl_text t = {.s = s};

    at = (at + 1) % 4;
    sl_float_format(&t, d, how);
    sl_text_char(&t, 0);
    if (!t.failed && t.length <= sizeof *out)
        memcpy(out[at], t.p, t.length);
    sl_text_free(&t);
    return out[at];
}

static double parsed(const char *p)
{
    double d = 12345;

    CHECK(sl_float_parse(p, strlen(p), &d));
    return d;
}

static double random_double(void)
{
    uint64_t bits = random_bits(&seed);
    double d;

    switch (random_bits(&seed) % 4) {
    case 0: /* powers of two: the floats below are closer than those above */
        return ldexp(1, (int)(random_bits(&seed) % 2098) - 1074);
    case 1: /* few digits */
        return (double)(bits % 1000000) / 1000;
    case 2:
        return (double)(int64_t)bits;
    default:
        memcpy(&d, &bits, sizeof d);
        return isfinite(d) ? d : 1;
    }
}

TEST(shortest_text) /* row 7 */
{
    static const struct {
        double d;
        const char *want;
    } rows[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1, "1.0"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {100, "100.0"},
        {123456789.125, "123456789.125"},
        {1e15, "1000000000000000.0"},
        {9999999999999998, "9999999999999998.0"},
        {1e16, "1e+16"},
        {1.5e16, "1.5e+16"},
        {0.0001, "0.0001"},
        {0.00012345, "0.00012345"},
        {0.00001, "1e-05"},
        {1e22, "1e+22"},
        {1e23, "1e+23"},
        {1e100, "1e+100"},
        {5e-324, "5e-324"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"},
        {2.0 / 3, "0.6666666666666666"},
        {0x1p-44, "5.684341886080802e-14"},
        {9007199254740993.0, "9007199254740992.0"},
        {INFINITY, "+inf"},
        {-INFINITY, "-inf"},
        {NAN, "nan"},
        {-NAN, "nan"},
    };
    struct star *s = open_star();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_STR(text(s, rows[i].d, 'g'), rows[i].want);
    CHECK_STR(text(s, 1e100, 'G'), "1E+100");
    star_close(s);
}

/* No text with a digit less reads back the same, and this one does. */
TEST(shortest_text_is_shortest)
{
    struct star *s = open_star();

    for (int i = 0; i < 20000; i++) {
        double d = random_double();
        char shorter[40];
        const char *got = text(s, d, 'g');
        CHECK(parsed(got) == d);
        int digits = 0;
        bool leading = true;
        for (const char *p = got; *p && *p != 'e'; p++) {
            leading &= *p < '1' || *p > '9';
            digits += *p >= '0' && *p <= '9' && !leading;
        }
        size_t length = strlen(got);
        digits -= length > 2 && !strcmp(got + length - 2, ".0");
        if (digits < 2 || fabs(d) >= 1e15)
            continue;
        snprintf(shorter, sizeof shorter, "%.*e", digits - 2, d);
        if (strtod(shorter, NULL) == d)
            printf("# %s is shorter than %s\n", shorter, got);
        CHECK(strtod(shorter, NULL) != d);
    }
    star_close(s);
}

TEST(six_places_as_the_c_library) /* %e, %f; row 27 */
{
    static const double edges[] = {
        0,         -0.0,           0.5,       0.0000005,
        0.0000015, 0.00000049999,  0.9999995, 0.99999949,
        9.9999995, 999999.9999995, 1e-7,      1e22,
        1e23,      DBL_MAX,        DBL_MIN,   5e-324,
        123.45e67, -1.23e-45,      2.5,       0.0000025};
    struct star *s = open_star();
    char want[400];

    for (int i = 0; i < 20020; i++) {
        double d = i < 20 ? edges[i] : random_double();
        snprintf(want, sizeof want, "%f", d);
        CHECK_STR(text(s, d, 'f'), want);
        CHECK_STR(text(s, d, 'F'), want);
        snprintf(want, sizeof want, "%e", d);
        CHECK_STR(text(s, d, 'e'), want);
        snprintf(want, sizeof want, "%E", d);
        CHECK_STR(text(s, d, 'E'), want);
    }
    CHECK_STR(text(s, INFINITY, 'f'), "+inf");
    CHECK_STR(text(s, -INFINITY, 'e'), "-inf");
    CHECK_STR(text(s, NAN, 'E'), "nan");
    star_close(s);
}

TEST(text_to_the_nearest_float)
{
    static const char *const texts[] = {
        "0",
        "-0",
        "1.",
        ".5",
        "5e-324",
        "2.4703282292062327e-324", /* less than half of it */
        "2.4703282292062328e-324",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.797693134862315808e308",
        "9007199254740993",
        "9007199254740993.0000000000000000000000000000000000000001",
        "9007199254740992.9999999999999999999999999999999999999999",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "1e23",
        "8.5e22",
        "0.000000000000000000000000000000000000000000000000000000000001",
        "123456789012345678901234567890123456789012345678901234567890e-40",
        "1e-400",
        "0e99999999999999999999",
        "1e-99999999999999999999",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double d = parsed(texts[i]), want = strtod(texts[i], NULL);
        CHECK(d == want && signbit(d) == signbit(want));
    }
    CHECK(parsed("1e309") == INFINITY);
    CHECK(parsed("-1e99999999999999999999") == -INFINITY);
}

/* Ties: half-way between two floats, and the least bit beside that. */
TEST(text_of_a_tie_and_beside_it)
{
    char out[1200];

    for (int i = 0; i < 20000; i++) {
        double d = fabs(random_double());
        int length;
        if (d == 0 || d > DBL_MAX / 4 || d < 1e-290)
            continue;
        /* The exact text of a number with one bit more than a float has. */
        long double tie =
            (long double)d + (long double)(nextafter(d, INFINITY) - d) / 2;
        length = snprintf(out, sizeof out - 8, "%.1100Lf", tie);
        if (length < 0 || (size_t)length >= sizeof out - 8)
            continue;
        CHECK(parsed(out) == strtod(out, NULL));
        strcpy(out + length, "1");
        CHECK(parsed(out) == strtod(out, NULL));
    }
}

TEST(random_texts)
{
    char out[200];

    for (int i = 0; i < 50000; i++) {
        int before = (int)(random_bits(&seed) % 30),
            after = (int)(random_bits(&seed) % 30), n = 0;
        for (int k = 0; k < before; k++)
            out[n++] = (char)('0' + random_bits(&seed) % 10);
        if (after)
            out[n++] = '.';
        for (int k = 0; k < after; k++)
            out[n++] = (char)('0' + random_bits(&seed) % 10);
        if (!before && !after)
            out[n++] = '1';
        snprintf(out + n, sizeof out - (size_t)n, "e%d",
                 (int)(random_bits(&seed) % 700) - 350);
        CHECK(parsed(out) == strtod(out, NULL));
    }
}

TEST(texts_that_are_no_float) /* row 11 */
{
    static const char *const bad[] = {
        "",          ".",     "+",      "-",    "e5",    ".e5",   "1e",
        "1e+",       "1e-",   "1_0",    "0x10", "0x1.8", "0xp3",  "0x.p3",
        "0x1p",      "0x1p+", "0x_1p3", "1p3",  "0x1e3", " 1",    "1 ",
        "1..2",      "1.2.3", "--1",    "+-1",  "1e5.0", "infi",  "infx",
        "nanx",      "na",    "in",     "1f",   "1d",    "1e5e5", "in\0f",
        "infinityy", "n an",  "\t1"};
    static const struct {
        const char *text;
        double want;
    } good[] = {
        {"inf", INFINITY},
        {"+Inf", INFINITY},
        {"-INF", -INFINITY},
        {"InFiniTy", INFINITY},
        {"-infinity", -INFINITY},
        {"+1.5e+3", 1500},
        {"1E2", 100},
        {"00012", 12},
        {"000.5", .5},
        {"0x1p4", 16},
        {"-0X.8P+3", -4},
        {"0x1.fffffffffffff8p0", 2}, /* a tie, to even */
        {"0x1.fffffffffffff7fp0", 0x1.fffffffffffffp0},
        {"0x0.0p9", 0},
        {"0xfp-99999", 0},
        {"0x1p99999", INFINITY},
    };
    double d;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!sl_float_parse(bad[i], strlen(bad[i]), &d));
    CHECK(!sl_float_parse("1\0", 2, &d));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(parsed(good[i].text) == good[i].want);
    CHECK(isnan(parsed("NaN")) && isnan(parsed("+nan")) &&
          isnan(parsed("-NAN")));
}

TEST(no_locale) /* nor where the host has set one with a comma */
{
    struct star *s = open_star();

    setlocale(LC_ALL, "de_DE.UTF-8");
    CHECK_STR(text(s, 1.5, 'g'), "1.5");
    CHECK_STR(text(s, 1.5, 'f'), "1.500000");
    CHECK(parsed("2.5") == 2.5);
    CHECK_STR(text(s, 0.1 + 0.2, 'g'), "0.30000000000000004");
    CHECK_STR(text(s, 1.5e300, 'e'), "1.500000e+300");
    CHECK(parsed("0x1.8p1") == 3);
    setlocale(LC_ALL, "C");
    star_close(s);
}

/* Beyond so many digits only matters whether there is one. */
TEST(long_texts)
{
    static char text[1u << 21];

    for (int hex = 0; hex < 2; hex++) {
        for (int last = 0; last < 2; last++) {
            memset(text, '0', sizeof text);
            memcpy(text, hex ? "0x1.00000000000008" : "9007199254740993.",
                   hex ? 18 : 17);
            strcpy(text + 100000, hex ? "0p0" : "0");
            text[99999] = (char)('0' + last);
            CHECK(parsed(text) == strtod(text, NULL));
        }
    }
    memset(text, '0', sizeof text);
    strcpy(text + 100000, "7e-3");
    CHECK(parsed(text) == 0.007);
    memcpy(text, "0.", 2);
    strcpy(text + 100000, "7e100000");
    CHECK(parsed(text) == 70);
    double d;
    CHECK(!sl_float_parse(text, sizeof text, &d));
}

/* --- beside ints ---------------------------------------------------------------------- */

TEST(order_of_ints_and_floats) /* rows 33, 34 */
{
    static const struct {
        const char *i;
        double d;
        int want;
    } rows[] = {
        {"0", -0.0, 0},
        {"1", 1.5, -1},
        {"-1", -1.5, 1},
        {"2", 1.5, 1},
        {"9007199254740993", 9007199254740992.0, 1},
        {"9007199254740992", 9007199254740992.0, 0},
        {"9223372036854775807", 9223372036854775808.0, -1},
        {"9223372036854775808", 9223372036854775808.0, 0},
        {"9223372036854775809", 9223372036854775808.0, 1},
        {"-9223372036854775808", -9223372036854775808.0, 0},
        {"-4611686018427387904", -0x1p62, 0},
        {"-4611686018427387905", -0x1p62, -1},
        {"4611686018427387903", 0x1p62, -1},
        {"4611686018427387904", 0x1p62, 0},
        {"4611686018427387904", INFINITY, -1},
        {"-4611686018427387905", -INFINITY, 1},
        {"4611686018427387905", -1.5, 1},
        {"-4611686018427387905", 1.5, -1},
        {"1", NAN, -1},
        {"99999999999999999999999999", NAN, -1},
    };
    struct star *s = open_star();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        value a = int_of(s, rows[i].i), b = sl_float(s, rows[i].d);
        CHECK(sl_number_compare(a, b) == rows[i].want);
        CHECK(sl_number_compare(b, a) == -rows[i].want);
        if (rows[i].want == 0)
            CHECK(sl_int_hash(s, a) == sl_float_hash(s, rows[i].d));
    }
    value nan = sl_float(s, NAN), inf = sl_float(s, INFINITY);
    CHECK(sl_number_compare(nan, nan) == 0);
    CHECK(sl_number_compare(nan, sl_float(s, -NAN)) == 0);
    CHECK(sl_number_compare(nan, inf) == 1);
    CHECK(sl_number_compare(inf, nan) == -1);
    CHECK(sl_float_hash(s, NAN) == sl_float_hash(s, -NAN));
    CHECK(sl_float_hash(s, 0.0) == sl_float_hash(s, -0.0));
    star_close(s);
}

TEST(floats_and_the_ints_they_are) /* row 35 */
{
    struct star *s = open_star();

    for (int i = 0; i < 20000; i++) {
        size_t scope = star_scope_begin(s);
        double d = random_double(), back = 0;
        value v = sl_int_from_double(s, d);
        CHECK(v != 0);
        CHECK(sl_int_to_double(s, v, &back) && back == trunc(d));
        if (d == trunc(d)) {
            CHECK(sl_number_compare(v, sl_float(s, d)) == 0);
            CHECK(sl_int_hash(s, v) == sl_float_hash(s, d));
        }
        value above = binary(s, OP_ADD, v, sl_word(1));
        CHECK(sl_number_compare(above, sl_float(s, d)) == 1);
        star_scope_end(s, scope);
    }
    CHECK_STR(text_of(s, sl_int_from_double(s, 0x1p63)), "9223372036854775808");
    CHECK_STR(text_of(s, sl_int_from_double(s, -99.9)), "-99");
    star_close(s);
}

TEST(ints_to_the_nearest_float)
{
    static const struct {
        const char *i;
        double want;
    } rows[] = {
        {"9007199254740993", 9007199254740992.0}, /* a tie, to even */
        {"9007199254740995", 9007199254740996.0},
        {"-9007199254740995", -9007199254740996.0},
        {"9223372036854776833", 9223372036854777856.0},
        {"9223372036854776832", 9223372036854775808.0}, /* a tie */
        {"9223372036854775807", 9223372036854775808.0},
        {"36893488147419111425", 36893488147419111424.0},
    };
    struct star *s = open_star();
    double d;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(sl_int_to_double(s, int_of(s, rows[i].i), &d));
        CHECK(d == rows[i].want);
    }
    /* The largest float, and the first int that is nearer to the next one. */
    value most = sl_int_from_double(s, DBL_MAX);
    value half = sl_int_from_double(s, 0x1p969);
    value one = binary(s, OP_SUB, half, sl_word(0));
    value beyond = binary(s, OP_ADD, most, binary(s, OP_ADD, one, half));
    CHECK(sl_int_to_double(s, most, &d) && d == DBL_MAX);
    CHECK(sl_int_to_double(s, binary(s, OP_SUB, beyond, sl_word(1)), &d) &&
          d == DBL_MAX);
    sl_host_enter(s);
    CHECK(!sl_int_to_double(s, beyond, &d));
    CHECK_STR(star_error_message(s), "int too large to convert to float");
    sl_host_leave(s);
    star_close(s);
}
