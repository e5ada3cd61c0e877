#include "base/toml_lex.h"

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

static bool is_triple(const struct toml_lexer *l, int quote)
{
    return peek(l) == quote && peek_at(l, 1) == quote && peek_at(l, 2) == quote;
}

static bool skip_triple(struct toml_lexer *l, int quote, struct err *e)
{
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
        if (c == '\\' && quote == '"' && !at_newline(l) && peek(l) >= 0)
            l->at++;
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
        if (c == '\\' && quote == '"' && peek(l) >= 0x20)
            l->at++;
    }
    l->at++;
    return true;
}

/* --- keys ----------------------------------------------------------------- */

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

static bool put_escape(const struct toml_lexer *l, struct str s, size_t *at,
                       struct buf *out, struct err *e)
{
    static const char from[] = "btnfre\"\\", to[] = "\b\t\n\f\r\033\"\\";
    char c = *at < s.n ? s.p[(*at)++] : '\0';
    const char *simple = c ? strchr(from, c) : NULL;
    size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    int32_t point;

    if (simple) {
        buf_char(out, to[simple - from]);
        return true;
    }
    if (!digits || s.n - *at < digits)
        return fail(l, "an unknown escape in a key", e);
    point = hex_value(str_slice(s, *at, *at + digits));
    if (point < 0 || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        return fail(l, "an escape in a key is no character", e);
    *at += digits;
    text_put(out, point);
    return true;
}

/* Between the quotes of a basic string. */
static bool decode(const struct toml_lexer *l, struct str s, struct str *out,
                   struct err *e)
{
    CLEANUP(buf_done) struct buf text = {0};

    buf_init(&text, KEY_MAX_BYTES);
    for (size_t i = 0; i < s.n;) {
        char c = s.p[i++];

        if (c != '\\')
            buf_char(&text, c);
        else if (!put_escape(l, s, &i, &text, e))
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

static bool read_key(struct toml_lexer *l, struct toml_statement *out,
                     struct err *e)
{
    out->depth = 0;
    for (;;) {
        struct str part;

        skip_blanks(l);
        if (!read_part(l, &part, e))
            return false;
        if (out->depth < TOML_KEY_PARTS)
            out->key[out->depth] = part;
        out->depth++;
        skip_blanks(l);
        if (peek(l) != '.')
            return true;
        l->at++;
    }
}

/* --- values --------------------------------------------------------------- */

struct nesting {
    char closers[TOML_MAX_DEPTH];
    size_t depth;
};

static bool open_or_close(struct toml_lexer *l, struct nesting *n,
                          struct err *e)
{
    int c = peek(l);

    if (c == '[' || c == '{') {
        if (n->depth == TOML_MAX_DEPTH)
            return fail(l, "nested too deep", e);
        n->closers[n->depth++] = c == '[' ? ']' : '}';
    } else if (n->depth == 0 || n->closers[--n->depth] != c) {
        return fail(l, "a bracket closes nothing", e);
    }
    l->at++;
    return true;
}

static bool is_plain(int c)
{
    return is_bare(c) || c == '+' || c == '.' || c == ':';
}

/* Up to the end of the line that ends it, which is not passed. */
static bool skip_value(struct toml_lexer *l, struct err *e)
{
    struct nesting n = {.depth = 0};
    bool any = false;

    for (;; any = true) {
        int c;

        skip_blanks(l);
        c = peek(l);
        if (n.depth == 0 && (c < 0 || c == '#' || at_newline(l)))
            return any || fail(l, "a value is expected", e);
        if (c < 0)
            return fail(l, "a bracket is not closed", e);
        if (at_newline(l)) {
            skip_newline(l);
        } else if (c == '#') {
            if (!skip_comment(l, e))
                return false;
        } else if (c == '"' || c == '\'') {
            if (!skip_string(l, e))
                return false;
        } else if (strchr("[]{}", c)) {
            if (!open_or_close(l, &n, e))
                return false;
        } else if (is_plain(c) || (n.depth && (c == ',' || c == '='))) {
            l->at++;
        } else {
            return fail(l, "not a value", e);
        }
    }
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
    if (!skip_value(l, e))
        return false;
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
