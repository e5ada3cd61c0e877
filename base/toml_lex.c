#include "base/toml_lex.h"

#include "base/map.h"
#include "base/text.h"

#include <string.h>

#define KEY_MAX_BYTES 4096

void toml_lex_init(struct toml_lexer *l, struct str text, struct arena *a)
{
    *l = (struct toml_lexer){.text = text, .line = 1, .arena = a};
    if (str_starts(text, STR("\xef\xbb\xbf")))
        l->at = 3;
}

static int peek_at(const struct toml_lexer *l, size_t ahead)
{
    size_t at = l->at + ahead;

    return at < l->text.n ? (unsigned char)l->text.p[at] : -1;
}

static int peek(const struct toml_lexer *l)
{
    return peek_at(l, 0);
}

static bool fail(const struct toml_lexer *l, const char *what, struct err *e)
{
    return err_set(e, ERR_FORMAT, "line %u: %s", l->line, what);
}

static void skip_blanks(struct toml_lexer *l)
{
    while (peek(l) == ' ' || peek(l) == '\t')
        l->at++;
}

static bool at_newline(const struct toml_lexer *l)
{
    return peek(l) == '\n' || (peek(l) == '\r' && peek_at(l, 1) == '\n');
}

static void skip_newline(struct toml_lexer *l)
{
    l->at += peek(l) == '\r' ? 2 : 1;
    l->line++;
}

static bool is_control(int c)
{
    return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7f;
}

static bool skip_comment(struct toml_lexer *l, struct err *e)
{
    if (peek(l) != '#')
        return true;
    while (peek(l) >= 0 && !at_newline(l)) {
        if (is_control(peek(l)))
            return fail(l, "a control character in a comment", e);
        l->at++;
    }
    return true;
}

/* --- strings -------------------------------------------------------------- */

static int32_t hex_value(struct str digits)
{
    int32_t value = 0;

    for (size_t i = 0; i < digits.n; i++) {
        const char *all = "0123456789abcdef", *at;
        char c = digits.p[i];

        at = strchr(all, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
        if (!c || !at || value > 0x10ffff)
            return -1;
        value = value * 16 + (int32_t)(at - all);
    }
    return value;
}

/* Reads what follows a backslash in `s` from `*at` on. */
static bool read_escape(const struct toml_lexer *l, struct str s, size_t *at,
                        int32_t *point, struct err *e)
{
    static const char from[] = "btnfre\"\\", to[] = "\b\t\n\f\r\033\"\\";
    char c = *at < s.n ? s.p[(*at)++] : '\0';
    const char *simple = c ? strchr(from, c) : NULL;
    size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;

    if (simple) {
        *point = (unsigned char)to[simple - from];
        return true;
    }
    if (!digits || s.n - *at < digits)
        return fail(l, "an unknown escape in a string", e);
    *point = hex_value(str_slice(s, *at, *at + digits));
    if (*point < 0 || *point > 0x10ffff ||
        (*point >= 0xd800 && *point < 0xe000))
        return fail(l, "an escape in a string is not a character", e);
    *at += digits;
    return true;
}

/* A backslash at the end of a line joins it with the next one. */
static bool skip_joint(struct toml_lexer *l)
{
    size_t start = l->at;

    skip_blanks(l);
    if (at_newline(l))
        return true;
    l->at = start;
    return false;
}

static bool is_triple(const struct toml_lexer *l, int quote)
{
    return peek(l) == quote && peek_at(l, 1) == quote && peek_at(l, 2) == quote;
}

static bool skip_triple(struct toml_lexer *l, int quote, struct err *e)
{
    int32_t point;

    l->at += 3;
    while (!is_triple(l, quote)) {
        int c = peek(l);

        if (c < 0)
            return fail(l, "a string is not closed", e);
        if (at_newline(l)) {
            skip_newline(l);
            continue;
        }
        if (is_control(c))
            return fail(l, "a control character in a string", e);
        l->at++;
        if (c == '\\' && quote == '"' && !skip_joint(l) &&
            !read_escape(l, l->text, &l->at, &point, e))
            return false;
    }
    l->at += 3;
    /* One or two quotes may precede the closing three. */
    for (int i = 0; i < 2 && peek(l) == quote; i++)
        l->at++;
    return true;
}

static bool skip_string(struct toml_lexer *l, struct err *e)
{
    int quote = peek(l);
    int32_t point;

    if (is_triple(l, quote))
        return skip_triple(l, quote, e);
    l->at++;
    while (peek(l) != quote) {
        int c = peek(l);

        if (c < 0 || c == '\n' || c == '\r')
            return fail(l, "a string is not closed", e);
        if (is_control(c))
            return fail(l, "a control character in a string", e);
        l->at++;
        if (c == '\\' && quote == '"' &&
            !read_escape(l, l->text, &l->at, &point, e))
            return false;
    }
    l->at++;
    return true;
}

/* --- keys ----------------------------------------------------------------- */

/* Decodes the text between the quotes of a basic string. */
static bool decode(const struct toml_lexer *l, struct str s, struct str *out,
                   struct err *e)
{
    CLEANUP(buf_done) struct buf text = {0};

    buf_init(&text, KEY_MAX_BYTES);
    for (size_t i = 0; i < s.n;) {
        char c = s.p[i++];
        int32_t point;

        if (c != '\\')
            buf_char(&text, c);
        else if (read_escape(l, s, &i, &point, e))
            text_put(&text, point);
        else
            return false;
    }
    if (!buf_check(&text, "a key", e))
        return false;
    *out = arena_str(l->arena, buf_str(&text));
    return true;
}

static bool is_bare(int c)
{
    return c > 0 && c < 0x80 &&
           (char_is_alpha((char)c) || char_is_digit((char)c) || c == '_' ||
            c == '-');
}

static bool read_part(struct toml_lexer *l, struct str *out, struct err *e)
{
    size_t start = l->at;
    int quote = peek(l);
    struct str inner;

    if (quote != '"' && quote != '\'') {
        while (is_bare(peek(l)))
            l->at++;
        *out = str_slice(l->text, start, l->at);
        return out->n || fail(l, "a key is expected", e);
    }
    if (is_triple(l, quote))
        return fail(l, "a key of several lines", e);
    if (!skip_string(l, e))
        return false;
    inner = str_slice(l->text, start + 1, l->at - 1);
    if (quote == '"' && str_has_char(inner, '\\'))
        return decode(l, inner, out, e);
    *out = inner;
    return true;
}

static bool read_parts(struct toml_lexer *l, struct toml_statement *out,
                       struct buf *path, struct err *e)
{
    for (out->depth = 0;; l->at++) {
        struct str part;

        if (out->depth == TOML_MAX_DEPTH)
            return fail(l, "nested too deep", e);
        skip_blanks(l);
        if (!read_part(l, &part, e))
            return false;
        if (out->depth < TOML_KEY_PARTS)
            out->key[out->depth] = part;
        out->depth++;
        buf_append(path, part);
        buf_text(path, TOML_PART_END);
        skip_blanks(l);
        if (peek(l) != '.')
            return true;
    }
}

static bool read_key(struct toml_lexer *l, struct toml_statement *out,
                     struct err *e)
{
    CLEANUP(buf_done) struct buf path = {0};

    buf_init(&path, KEY_MAX_BYTES);
    if (!read_parts(l, out, &path, e) || !buf_check(&path, "a key", e))
        return false;
    out->path = arena_str(l->arena, buf_str(&path));
    return true;
}

/* --- values --------------------------------------------------------------- */

static bool is_plain(int c)
{
    return is_bare(c) || c == '+' || c == '.' || c == ':';
}

/* Returns whether `s` consists of `digits`, with single "_" between
 * two of them. */
static bool is_digits(struct str s, const char *digits)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '_' ? i == 0 || i + 1 == s.n || s.p[i + 1] == '_'
                          : !strchr(digits, s.p[i]))
            return false;
    return s.n > 0;
}

static bool is_number(struct str s)
{
    static const char decimal[] = "0123456789";
    struct str whole = s, part = {0}, power = {0};
    size_t at = str_find_char(s, 'e');

    if (at == SIZE_MAX)
        at = str_find_char(s, 'E');
    if (at != SIZE_MAX) {
        whole = str_slice(s, 0, at);
        power = str_from_index(s, at + 1);
        if (power.n && (power.p[0] == '+' || power.p[0] == '-'))
            power = str_from_index(power, 1);
        if (!is_digits(power, decimal))
            return false;
    }
    at = str_find_char(whole, '.');
    if (at != SIZE_MAX) {
        part = str_from_index(whole, at + 1);
        whole = str_slice(whole, 0, at);
        if (!is_digits(part, decimal))
            return false;
    }
    return is_digits(whole, decimal) && (whole.n == 1 || whole.p[0] != '0');
}

/* Returns whether `s` has the form of a date or time; a digit of `form`
 * stands for any digit. */
static bool has_form(struct str s, const char *form)
{
    size_t n = strlen(form);

    for (size_t i = 0; i < n && i < s.n; i++)
        if (form[i] == '0' ? !char_is_digit(s.p[i]) : s.p[i] != form[i])
            return false;
    return s.n >= n;
}

/* The two digits at `at`. */
static unsigned field_of(struct str s, size_t at)
{
    return (unsigned)(s.p[at] - '0') * 10 + (unsigned)(s.p[at + 1] - '0');
}

static bool is_clock(struct str s)
{
    return has_form(s, "00:00") && field_of(s, 0) < 24 && field_of(s, 3) < 60;
}

static bool is_time(struct str s)
{
    size_t at = 8;

    if (!is_clock(s))
        return false;
    if (!has_form(s, "00:00:00"))
        return s.n == 5;
    if (field_of(s, 6) > 60) /* a leap second */
        return false;
    if (at < s.n && s.p[at] == '.') {
        while (++at < s.n && char_is_digit(s.p[at])) {
        }
        if (at == 9)
            return false;
    }
    s = str_from_index(s, at);
    return !s.n || str_is(s, "Z") || str_is(s, "z") ||
           (s.n == 6 && (s.p[0] == '+' || s.p[0] == '-') &&
            is_clock(str_from_index(s, 1)));
}

static bool is_day(struct str s)
{
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30,
                                         31, 31, 30, 31, 30, 31};
    unsigned year, month, day;

    if (!has_form(s, "0000-00-00"))
        return false;
    year = field_of(s, 0) * 100 + field_of(s, 2);
    month = field_of(s, 5);
    day = field_of(s, 8);
    if (month == 2 && day == 29)
        return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1];
}

static bool is_date(struct str s)
{
    return is_day(s) && (s.n == 10 || (s.n > 11 && strchr("Tt ", s.p[10]) &&
                                       is_time(str_from_index(s, 11))));
}

/* Returns whether `s` is an unquoted value: a number, boolean, date or time. */
static bool is_word(struct str s)
{
    static const struct {
        const char *prefix, *digits;
    } bases[] = {
        {"0x", "0123456789abcdefABCDEF"}, {"0o", "01234567"}, {"0b", "01"}};
    bool has_sign = s.n && (s.p[0] == '+' || s.p[0] == '-');
    struct str rest = str_from_index(s, has_sign);

    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
        if (!has_sign && str_starts(s, str_cstr(bases[i].prefix)))
            return is_digits(str_from_index(s, 2), bases[i].digits);
    if (!has_sign &&
        (str_is(s, "true") || str_is(s, "false") || is_date(s) || is_time(s)))
        return true;
    return str_is(rest, "inf") || str_is(rest, "nan") || is_number(rest);
}

static bool skip_word(struct toml_lexer *l, struct err *e)
{
    size_t start = l->at;

    while (is_plain(peek(l)))
        l->at++;
    /* A date and its time may be separated by a blank. */
    if (l->at - start == 10 && peek(l) == ' ' && peek_at(l, 1) >= '0' &&
        peek_at(l, 1) <= '9' && is_date(str_slice(l->text, start, l->at)))
        for (l->at++; is_plain(peek(l));)
            l->at++;
    return (l->at > start && is_word(str_slice(l->text, start, l->at))) ||
           fail(l, l->at > start ? "not a value" : "a value is expected", e);
}

/* Skips blanks, and between the values of a list line breaks and comments. */
static bool skip_gap(struct toml_lexer *l, struct err *e)
{
    for (;;) {
        skip_blanks(l);
        if (!skip_comment(l, e))
            return false;
        if (peek(l) < 0)
            return fail(l, "a bracket is not closed", e);
        if (!at_newline(l))
            return true;
        skip_newline(l);
    }
}

static bool skip_value(struct toml_lexer *l, unsigned depth, struct err *e);

/* The names of an inline table; `a.b` makes `a` a table, which
 * cannot have a value. */
struct inline_names {
    struct map values, tables;
};

static bool add_inline_name(struct inline_names *n, struct str path)
{
    for (size_t at = 0; at < path.n;) {
        struct str prefix;

        at += str_find(str_from_index(path, at), STR(TOML_PART_END)) + 1;
        prefix = str_slice(path, 0, at);
        if (map_has(&n->values, prefix) ||
            (at == path.n && map_has(&n->tables, prefix)))
            return false;
        map_put(at == path.n ? &n->values : &n->tables, prefix, n);
    }
    return true;
}

static bool read_inline_name(struct toml_lexer *l, struct inline_names *names,
                             struct err *e)
{
    struct toml_statement name;

    if (!read_key(l, &name, e))
        return false;
    if (peek(l) != '=')
        return fail(l, "\"=\" is expected", e);
    l->at++;
    return add_inline_name(names, name.path) ||
           err_set(e, ERR_FORMAT, "line %u: duplicate key \"%.*s\"", l->line,
                   STR_ARG(name.key[name.depth > 1]));
}

/* Skips a list or an inline table. Line breaks in an inline table are
 * allowed by TOML 1.1. */
static bool skip_brackets(struct toml_lexer *l, unsigned depth, struct err *e)
{
    int closer = peek(l) == '[' ? ']' : '}';

    struct inline_names names;

    if (depth == TOML_MAX_DEPTH)
        return fail(l, "nested too deep", e);
    map_init(&names.values, l->arena);
    map_init(&names.tables, l->arena);
    l->at++;
    for (;;) {
        if (!skip_gap(l, e))
            return false;
        if (peek(l) == closer)
            break;
        if (closer == '}' && !read_inline_name(l, &names, e))
            return false;
        if (!skip_value(l, depth + 1, e) || !skip_gap(l, e))
            return false;
        if (peek(l) == closer)
            break;
        if (peek(l) != ',')
            return fail(l, "\",\" is expected", e);
        l->at++;
    }
    l->at++;
    return true;
}

static bool skip_value(struct toml_lexer *l, unsigned depth, struct err *e)
{
    int c;

    skip_blanks(l);
    c = peek(l);
    if (c == '"' || c == '\'')
        return skip_string(l, e);
    return c == '[' || c == '{' ? skip_brackets(l, depth, e) : skip_word(l, e);
}

/* --- statements ----------------------------------------------------------- */

static bool read_header(struct toml_lexer *l, struct toml_statement *out,
                        struct err *e)
{
    bool list = peek_at(l, 1) == '[';

    out->kind = list ? TOML_LIST : TOML_TABLE;
    l->at += list ? 2 : 1;
    if (!read_key(l, out, e))
        return false;
    if (peek(l) != ']' || (list && peek_at(l, 1) != ']'))
        return fail(l, "\"]\" is expected", e);
    l->at += list ? 2 : 1;
    return true;
}

static bool read_pair(struct toml_lexer *l, struct toml_statement *out,
                      struct err *e)
{
    size_t start;

    out->kind = TOML_PAIR;
    if (!read_key(l, out, e))
        return false;
    if (peek(l) != '=')
        return fail(l, "\"=\" is expected", e);
    l->at++;
    skip_blanks(l);
    start = l->at;
    if (!skip_value(l, 0, e))
        return false;
    skip_blanks(l);
    out->value = str_slice(l->text, start, l->at);
    return true;
}

bool toml_value_text(const struct toml_lexer *l, struct str value,
                     struct str *out)
{
    struct toml_lexer inner = {
        .text = str_trim(value), .line = 1, .arena = l->arena};
    struct err ignored = {0};
    int quote = peek(&inner);

    return (quote == '"' || quote == '\'') &&
           read_part(&inner, out, &ignored) && peek(&inner) < 0;
}

bool toml_lex_next(struct toml_lexer *l, struct toml_statement *out, bool *more,
                   struct err *e)
{
    *more = false;
    for (;;) {
        *out = (struct toml_statement){.start = l->at, .line = l->line};
        skip_blanks(l);
        if (!skip_comment(l, e))
            return false;
        if (peek(l) < 0)
            return true;
        if (!at_newline(l))
            break;
        skip_newline(l);
    }
    if (peek(l) == '[' ? !read_header(l, out, e) : !read_pair(l, out, e))
        return false;
    skip_blanks(l);
    if (!skip_comment(l, e))
        return false;
    if (peek(l) >= 0 && !at_newline(l))
        return fail(l, "the end of the line is expected", e);
    if (peek(l) >= 0)
        skip_newline(l);
    out->end = l->at;
    *more = true;
    return true;
}
