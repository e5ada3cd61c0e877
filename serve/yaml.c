#include "base/yaml.h"

#include "connection.h"

/*
 * Frontmatter as JSON, each value as its author wrote it: by the core schema of
 * YAML 1.2, which is what readers of frontmatter have.
 */

static struct str without_zeros(struct str digits)
{
    while (digits.n > 1 && digits.p[0] == '0')
        digits = str_from_index(digits, 1);
    return digits;
}

/* Writes a number such as "1.50e+3" in the syntax of JSON. Returns false for
 * other text. */
static bool put_decimal(struct buf *b, struct str s)
{
    struct str whole, fraction = {0}, power = {0};
    size_t e = 0, dot;

    while (e < s.n && s.p[e] != 'e' && s.p[e] != 'E')
        e++;
    if (e < s.n) {
        power = str_from_index(s, e + 1);
        if (power.n && (power.p[0] == '+' || power.p[0] == '-')) {
            if (!str_is_digits(str_from_index(power, 1)))
                return false;
        } else if (!str_is_digits(power)) {
            return false;
        }
        s = str_slice(s, 0, e);
    }
    dot = str_find_char(s, '.');
    whole = dot == SIZE_MAX ? s : str_slice(s, 0, dot);
    if (dot != SIZE_MAX)
        fraction = str_from_index(s, dot + 1);
    if ((whole.n == 0 && fraction.n == 0) ||
        (whole.n && !str_is_digits(whole)) ||
        (fraction.n && !str_is_digits(fraction)))
        return false;
    buf_append(b, whole.n ? without_zeros(whole) : STR("0"));
    if (fraction.n) {
        buf_char(b, '.');
        buf_append(b, fraction);
    }
    if (power.n) {
        buf_char(b, 'e');
        buf_append(b, power);
    }
    return true;
}

/* Writes 0o17 and 0xff as decimal numbers if they fit. */
static bool put_based(struct buf *b, struct str s)
{
    unsigned base = s.n > 2 && s.p[0] == '0' ? s.p[1] == 'o'   ? 8
                                               : s.p[1] == 'x' ? 16
                                                               : 0
                                             : 0;
    uint64_t n = 0;

    if (!base || s.n > 14)
        return false;
    for (size_t i = 2; i < s.n; i++) {
        int digit = char_hex(s.p[i]);

        if (digit < 0 || (unsigned)digit >= base)
            return false;
        n = n * base + (unsigned)digit;
    }
    buf_printf(b, "%llu", (unsigned long long)n);
    return true;
}

static const char *word_of(struct str s)
{
    static const struct {
        const char *text, *json;
    } rows[] = {
        {"", "null"},       {"~", "null"},      {"null", "null"},
        {"Null", "null"},   {"NULL", "null"},   {"true", "true"},
        {"True", "true"},   {"TRUE", "true"},   {"false", "false"},
        {"False", "false"}, {"FALSE", "false"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(s, rows[i].text))
            return rows[i].json;
    return NULL;
}

/* Writes a plain scalar by the core schema of YAML 1.2, which readers of
 * frontmatter use. */
static void put_scalar(struct json_writer *w, const struct yaml *y)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct str s = y->text;
    const char *word;

    if (y->style != YAML_PLAIN) {
        json_string(w, s);
        return;
    }
    word = word_of(s);
    if (word) {
        json_raw(w, str_cstr(word));
        return;
    }
    buf_init(&b, s.n + 8);
    if (put_based(&b, s)) {
        json_raw(w, buf_str(&b));
        return;
    }
    if (s.p[0] == '-')
        buf_char(&b, '-');
    if (s.p[0] == '-' || s.p[0] == '+')
        s = str_from_index(s, 1);
    if (put_decimal(&b, s))
        json_raw(w, buf_str(&b));
    else
        json_string(w, y->text);
}

void serve_put_yaml(struct json_writer *w, const struct yaml *root)
{
    yaml_put_json(root, w, put_scalar);
}
