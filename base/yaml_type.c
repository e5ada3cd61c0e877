#include "base/yaml.h"

#include <string.h>

/*
 * Determines the YAML 1.1 type of plain text like PyYAML's resolver, and how
 * text must be written to remain text.
 *
 * Source: yaml.org/type (int, float, bool, null, timestamp, merge) with the
 * narrower expressions of PyYAML; REQUIREMENTS.md X18 and 6.2.
 */

/* The functions below match a part of a pattern; each matches as
 * much as possible. */
static bool skip_char(struct str *s, char c)
{
    if (s->n == 0 || s->p[0] != c)
        return false;
    *s = str_from_index(*s, 1);
    return true;
}

static bool skip_any(struct str *s, const char *set)
{
    if (s->n == 0 || s->p[0] == '\0' || !strchr(set, s->p[0]))
        return false;
    *s = str_from_index(*s, 1);
    return true;
}

static size_t skip_run(struct str *s, const char *set)
{
    size_t before = s->n;

    while (skip_any(s, set))
        continue;
    return before - s->n;
}

#define DIGITS "0123456789"

/* Skips between `min` and `max` digits. */
static bool skip_digits(struct str *s, size_t min, size_t max)
{
    size_t n = 0;

    while (n < max && skip_any(s, DIGITS))
        n++;
    return n >= min;
}

/* Skips ":59" at least once: base 60. */
static bool skip_sixties(struct str *s)
{
    size_t groups = 0;

    for (; skip_char(s, ':'); groups++) {
        if (s->n >= 2 && s->p[0] <= '5' && char_is_digit(s->p[0]) &&
            char_is_digit(s->p[1]))
            *s = str_from_index(*s, 2);
        else if (!skip_any(s, DIGITS))
            return false;
    }
    return groups > 0;
}

static bool is_int(struct str s)
{
    struct str rest;

    skip_any(&s, "+-");
    if (s.n == 0 || !char_is_digit(s.p[0]))
        return false;
    rest = str_from_index(s, 1);
    if (s.p[0] != '0') {
        skip_run(&rest, DIGITS "_");
        return rest.n == 0 || (skip_sixties(&rest) && rest.n == 0);
    }
    if (rest.n == 0)
        return true;
    if (skip_char(&rest, 'b'))
        return skip_run(&rest, "01_") && rest.n == 0;
    if (skip_char(&rest, 'x'))
        return skip_run(&rest, DIGITS "abcdefABCDEF_") && rest.n == 0;
    return skip_run(&rest, "01234567_") && rest.n == 0;
}

/* Returns whether `s` is empty or an exponent, which requires a sign
 * in YAML 1.1. */
static bool is_exponent(struct str s)
{
    if (s.n == 0)
        return true;
    return skip_any(&s, "eE") && skip_any(&s, "+-") && skip_run(&s, DIGITS) &&
           s.n == 0;
}

static bool is_named_float(struct str s)
{
    if (str_is(s, ".nan") || str_is(s, ".NaN") || str_is(s, ".NAN"))
        return true;
    skip_any(&s, "+-");
    return str_is(s, ".inf") || str_is(s, ".Inf") || str_is(s, ".INF");
}

static bool is_float(struct str s)
{
    bool sign;

    if (is_named_float(s))
        return true;
    sign = skip_any(&s, "+-");
    if (!sign && s.n >= 2 && s.p[0] == '.' && char_is_digit(s.p[1])) {
        s = str_from_index(s, 1);
        skip_run(&s, DIGITS "_");
        return is_exponent(s);
    }
    if (!skip_any(&s, DIGITS))
        return false;
    skip_run(&s, DIGITS "_");
    if (skip_char(&s, '.')) {
        skip_run(&s, DIGITS "_");
        return is_exponent(s);
    }
    if (!skip_sixties(&s) || !skip_char(&s, '.'))
        return false;
    skip_run(&s, DIGITS "_");
    return s.n == 0;
}

/* Returns whether `s` is empty or a time zone, "Z", "+1", "-05:30",
 * after blanks. */
static bool is_zone(struct str s)
{
    skip_run(&s, " \t");
    if (s.n == 0)
        return true; /* a plain scalar never ends in blanks */
    if (skip_char(&s, 'Z'))
        return s.n == 0;
    if (!skip_any(&s, "+-") || !skip_digits(&s, 1, 2))
        return false;
    return s.n == 0 ||
           (skip_char(&s, ':') && skip_digits(&s, 2, 2) && s.n == 0);
}

static bool is_timestamp(struct str s)
{
    struct str date = s;

    if (!skip_digits(&s, 4, 4) || !skip_char(&s, '-'))
        return false;
    date = s;
    if (skip_digits(&date, 2, 2) && skip_char(&date, '-') &&
        skip_digits(&date, 2, 2) && date.n == 0)
        return true;
    if (!skip_digits(&s, 1, 2) || !skip_char(&s, '-') || !skip_digits(&s, 1, 2))
        return false;
    if (!skip_any(&s, "Tt") && !skip_run(&s, " \t"))
        return false;
    if (!skip_digits(&s, 1, 2) || !skip_char(&s, ':') ||
        !skip_digits(&s, 2, 2) || !skip_char(&s, ':') || !skip_digits(&s, 2, 2))
        return false;
    if (skip_char(&s, '.'))
        skip_run(&s, DIGITS);
    return is_zone(s);
}

/* clang-format off */
static const struct word {
    const char *text;
    enum yaml_type type;
} words[] = {
    {"", YAML_TYPE_NULL},      {"~", YAML_TYPE_NULL},
    {"null", YAML_TYPE_NULL},  {"Null", YAML_TYPE_NULL},  {"NULL", YAML_TYPE_NULL},
    {"yes", YAML_TYPE_BOOL},   {"Yes", YAML_TYPE_BOOL},   {"YES", YAML_TYPE_BOOL},
    {"no", YAML_TYPE_BOOL},    {"No", YAML_TYPE_BOOL},    {"NO", YAML_TYPE_BOOL},
    {"true", YAML_TYPE_BOOL},  {"True", YAML_TYPE_BOOL},  {"TRUE", YAML_TYPE_BOOL},
    {"false", YAML_TYPE_BOOL}, {"False", YAML_TYPE_BOOL}, {"FALSE", YAML_TYPE_BOOL},
    {"on", YAML_TYPE_BOOL},    {"On", YAML_TYPE_BOOL},    {"ON", YAML_TYPE_BOOL},
    {"off", YAML_TYPE_BOOL},   {"Off", YAML_TYPE_BOOL},   {"OFF", YAML_TYPE_BOOL},
    {"<<", YAML_TYPE_MERGE},
};

static const char *const type_names[] = {
    [YAML_TYPE_STRING]    = "text",
    [YAML_TYPE_NULL]      = "null",
    [YAML_TYPE_BOOL]      = "a boolean",
    [YAML_TYPE_INT]       = "an integer",
    [YAML_TYPE_FLOAT]     = "a number",
    [YAML_TYPE_TIMESTAMP] = "a date",
    [YAML_TYPE_MERGE]     = "a merge key",
};
/* clang-format on */

static enum yaml_type resolve(struct str s)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(s, words[i].text))
            return words[i].type;
    if (!char_is_digit(s.p[0]) && !strchr("+-.", s.p[0]))
        return YAML_TYPE_STRING;
    if (is_int(s))
        return YAML_TYPE_INT;
    if (is_float(s))
        return YAML_TYPE_FLOAT;
    return is_timestamp(s) ? YAML_TYPE_TIMESTAMP : YAML_TYPE_STRING;
}

enum yaml_type yaml_type_of(const struct yaml *scalar)
{
    if (!scalar || scalar->kind != YAML_SCALAR || scalar->style != YAML_PLAIN)
        return YAML_TYPE_STRING;
    return resolve(scalar->text);
}

bool yaml_is_string(const struct yaml *y)
{
    return y && y->kind == YAML_SCALAR && yaml_type_of(y) == YAML_TYPE_STRING;
}

const char *yaml_type_name(enum yaml_type type)
{
    return (size_t)type < sizeof type_names / sizeof *type_names
               ? type_names[type]
               : "text";
}
