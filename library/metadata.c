#include "base/yaml.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"

/*
 * A value of `metadata` as text. mapm keeps its spelling (X12); Metis shows
 * the Python value of YAML 1.1: "true" is "True", "1.10" is "1.1" (T7).
 */

#define NUMBER_MAX_BYTES 64 /* longer texts are returned unchanged */
#define FIXED_MIN        (-4)
#define FIXED_MAX        16

/* Copies the digits without "_" and a leading "+". Returns false if they are
 * too long. */
static bool copy_digits(struct str text, char out[NUMBER_MAX_BYTES + 1])
{
    size_t n = 0;

    for (size_t i = text.n && text.p[0] == '+'; i < text.n; i++) {
        if (text.p[i] == '_')
            continue;
        if (n == NUMBER_MAX_BYTES)
            return false;
        out[n++] = text.p[i];
    }
    out[n] = '\0';
    return n > 0;
}

static int base_of(const char **digits)
{
    const char *p = *digits;

    if (p[0] != '0' || p[1] == '\0')
        return 10;
    *digits = p + (p[1] == 'x' || p[1] == 'b' ? 2 : 1);
    return p[1] == 'x' ? 16 : p[1] == 'b' ? 2 : 8;
}

static bool add_digit(uint64_t *value, uint64_t base, uint64_t digit)
{
    return !__builtin_mul_overflow(*value, base, value) &&
           !__builtin_add_overflow(*value, digit, value);
}

/* "1:30" is 90. */
static bool read_sixties(const char *p, uint64_t *out)
{
    uint64_t value = 0;

    while (*p) {
        char *end;
        uint64_t part = strtoull(p, &end, 10);

        if (end == p || !add_digit(&value, 60, part))
            return false;
        p = *end ? end + 1 : end;
    }
    *out = value;
    return true;
}

static bool read_integer(const char *p, uint64_t *out)
{
    uint64_t value = 0;
    int base = base_of(&p);

    if (strchr(p, ':'))
        return read_sixties(p, out);
    for (; *p; p++) {
        int digit = char_hex(*p);

        if (digit < 0 || digit >= base ||
            !add_digit(&value, (uint64_t)base, (uint64_t)digit))
            return false;
    }
    *out = value;
    return true;
}

static struct str integer_text(struct str text, struct arena *a)
{
    char digits[NUMBER_MAX_BYTES + 1];
    uint64_t value;
    bool minus;

    if (!copy_digits(text, digits))
        return text;
    minus = digits[0] == '-';
    if (!read_integer(digits + minus, &value))
        return text; /* larger than real values */
    return arena_printf(a, "%s%" PRIu64, minus && value ? "-" : "", value);
}

/* Formats the fewest digits that read back as `x`. Returns the decimal
 * exponent. */
static int shortest(double x, char digits[32])
{
    char text[40];
    size_t n = 0;

    for (int p = 0; p < 17; p++) {
        snprintf(text, sizeof text, "%.*e", p, x);
        if (strtod(text, NULL) == x)
            break;
    }
    for (const char *p = text; *p != 'e'; p++)
        if (char_is_digit(*p))
            digits[n++] = *p;
    digits[n] = '\0';
    return (int)strtol(strchr(text, 'e') + 1, NULL, 10);
}

/* Formats a positive number like repr() in Python. */
static struct str positive_text(double x, struct arena *a)
{
    char digits[32];
    int e = shortest(x, digits), n = (int)strlen(digits);

    if (e < FIXED_MIN || e >= FIXED_MAX)
        return arena_printf(a, "%c%s%se%c%02d", digits[0], n > 1 ? "." : "",
                            digits + 1, e < 0 ? '-' : '+', abs(e));
    if (e < 0)
        return arena_printf(a, "0.%.*s%s", -e - 1, "0000", digits);
    if (e + 1 >= n)
        return arena_printf(a, "%s%.*s.0", digits, e + 1 - n,
                            "0000000000000000");
    return arena_printf(a, "%.*s.%s", e + 1, digits, digits + e + 1);
}

/* "1:30.5" is 90.5. */
static double read_number(const char *p)
{
    double value = 0;

    while (*p) {
        char *end;

        value = value * 60 + strtod(p, &end);
        if (end == p)
            return value;
        p = *end == ':' ? end + 1 : end;
    }
    return value;
}

static struct str number_text(struct str text, struct arena *a)
{
    char digits[NUMBER_MAX_BYTES + 1];
    struct str positive;
    double value;
    bool minus;

    if (!copy_digits(text, digits))
        return text;
    minus = digits[0] == '-';
    if (strchr(digits, 'n') || strchr(digits, 'N'))
        return strchr("aA", digits[minus + 2]) ? STR("nan")
               : minus                         ? STR("-inf")
                                               : STR("inf");
    value = read_number(digits + minus);
    if (isinf(value))
        return minus ? STR("-inf") : STR("inf");
    positive = value > 0 ? positive_text(value, a) : STR("0.0");
    return minus ? str_join(STR("-"), positive, a) : positive;
}

static bool is_true(struct str text)
{
    return str_eq_nocase(text, STR("true")) ||
           str_eq_nocase(text, STR("yes")) || str_eq_nocase(text, STR("on"));
}

struct str library_metadata_text(const struct library *l,
                                 const struct yaml *value, struct arena *a)
{
    if (!l->options.metis || value->kind != YAML_SCALAR)
        return value->text;
    switch (yaml_type_of(value)) {
    case YAML_TYPE_BOOL:
        return is_true(value->text) ? STR("True") : STR("False");
    case YAML_TYPE_INT:
        return integer_text(value->text, a);
    case YAML_TYPE_FLOAT:
        return number_text(value->text, a);
    default:
        return value->text;
    }
}
