#include <math.h>

#include "../core/text.h"
#include "lex.h"

#define INTERN_MAX_BYTES                                                       \
    64 /* maximum length of interned quoted texts, such
                             * as keys */

/* Reports that a value cannot be created, for lack of memory or because it is
 * too large. */
static void refuse_value(struct sl_lexer *l, struct sl_pos pos)
{
    if (star_error(l->s) == STAR_ERROR_RUNTIME)
        sl_static_error(l->s, pos, NULL, "%s", star_error_message(l->s));
    else
        sl_lex_stop(l);
}

/* --- numbers -------------------------------------------------------------------- */

/* Returns the value of a digit, or 16 for any other character. */
static unsigned digit(char c)
{
    if (sl_is_digit(c))
        return (unsigned)(c - '0');
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 99;
}

static void skip_digits(struct sl_lexer *l, unsigned base)
{
    while (digit(*l->p) < base)
        l->p++;
}

static void put_int(struct sl_lexer *l, struct sl_token *t, const char *digits,
                    unsigned base)
{
    size_t n = (size_t)(l->p - digits);
    int64_t sum = 0;

    for (size_t i = 0; i < n && n <= 15; i++)
        sum = sum * base + digit(digits[i]);
    t->v = n <= 15 ? sl_word(sum) : sl_int_parse(l->s, digits, n, base, false);
    if (!t->v) {
        refuse_value(l, t->pos);
        t->v = sl_word(0);
    }
}

static void put_float(struct sl_lexer *l, struct sl_token *t)
{
    double d;

    t->kind = TOK_FLOAT;
    if (!sl_float_parse(t->at, (size_t)(l->p - t->at), &d) || !isfinite(d)) {
        sl_static_error(l->s, sl_lex_pos(l), NULL, "invalid float literal");
        d = 0;
    }
    t->v = sl_float(l->s, d);
    if (!t->v)
        refuse_value(l, t->pos);
}

static void refuse_number(struct sl_lexer *l, struct sl_pos pos,
                          const char *text)
{
    sl_static_error(l->s, pos, NULL, "%s", text);
    while (sl_is_name_char(*l->p))
        l->p++;
}

/* Reads digits that start with 0 and do not form a float: all must be 0. */
static void lex_zeros(struct sl_lexer *l, struct sl_token *t)
{
    bool octal = true, zero = true;
    int length = (int)(l->p - t->at > 100 ? 100 : l->p - t->at - 1);

    for (const char *p = t->at; p < l->p; p++) {
        zero = zero && *p == '0';
        octal = octal && *p <= '7';
    }
    if (!zero && octal)
        sl_static_error(l->s, sl_lex_pos(l), NULL,
                        "obsolete form of octal literal; use 0o%.*s", length,
                        t->at + 1);
    else if (!zero)
        refuse_number(l, t->pos, "invalid int literal");
}

void sl_lex_number(struct sl_lexer *l, struct sl_token *t)
{
    const char *start = l->p;
    char prefix = *start == '0' ? start[1] | 0x20 : 0;
    unsigned base = prefix == 'x' ? 16 : prefix == 'o' ? 8 : 2;

    t->kind = TOK_INT;
    t->v = sl_word(0);
    if (prefix == 'x' || prefix == 'o' || prefix == 'b') {
        l->p += 2;
        skip_digits(l, base);
        if (l->p > start + 2)
            put_int(l, t, start + 2, base);
        else
            refuse_number(l, base == 16 ? t->pos : sl_lex_pos(l),
                          base == 16  ? "invalid hex literal"
                          : base == 8 ? "invalid octal literal"
                                      : "invalid binary literal");
        return;
    }
    skip_digits(l, 10);
    const char *digits_end = l->p;
    if (*l->p == '.') {
        l->p++;
        skip_digits(l, 10);
    }
    if ((*l->p | 0x20) == 'e') {
        l->p += l->p[1] == '+' || l->p[1] == '-' ? 2 : 1;
        skip_digits(l, 10);
    }
    if (l->p > digits_end)
        put_float(l, t);
    else if (*start == '0')
        lex_zeros(l, t);
    else
        put_int(l, t, start, 10);
}

/* --- texts ------------------------------------------------------------------------ */

struct unquoted { /* The unread rest of a literal, and its output. */
    struct star *s;
    struct sl_pos pos; /* position of the quote */
    const char *p, *end;
    char *out;
    bool bytes;
};

/* Reads at most `max` digits of an escape whose prefix has `prefix` bytes. */
static bool put_code(struct unquoted *u, unsigned base, unsigned prefix,
                     unsigned digits)
{
    const char *p = u->p;
    size_t left = (size_t)(u->end - p);
    bool is_byte = digits < 4;
    unsigned length = prefix;
    uint32_t n = 0;

    while (length < left && length < prefix + digits && digit(p[length]) < base)
        n = n * base + digit(p[length++]);
    if (base == 16 && left < prefix + digits) {
        sl_static_error(u->s, u->pos, NULL, "truncated escape sequence %.*s",
                        (int)left, p);
    } else if (base == 16 && length < prefix + digits) {
        sl_static_error(u->s, u->pos, NULL, "invalid escape sequence %.*s",
                        (int)(prefix + digits), p);
    } else if (is_byte && !u->bytes && n > 127) {
        sl_static_error(u->s, u->pos, NULL,
                        "non-ASCII %s escape %.*s (use \\u%04X for the UTF-8 "
                        "encoding of U+%04X)",
                        base == 8 ? "octal" : "hex", (int)length, p, n, n);
    } else if (is_byte && n > 255) {
        sl_static_error(u->s, u->pos, NULL, "invalid escape sequence %.*s",
                        (int)length, p);
    } else if (n > 0x10ffff) {
        sl_static_error(u->s, u->pos, NULL,
                        "code point out of range: %.10s (max \\U%08x)", p, n);
    } else if (n >= 0xd800 && n < 0xe000) {
        sl_static_error(u->s, u->pos, NULL, "invalid Unicode code point U+%04X",
                        n);
    } else {
        if (is_byte)
            *u->out++ = (char)n;
        else
            u->out += sl_rune_encode(n, u->out);
        u->p += length;
        return true;
    }
    return false;
}

/* Reads an escape; u->p is at the backslash. */
static bool put_escape(struct unquoted *u)
{
    static const char from[] = "abfnrtv\\'\"", to[] = "\a\b\f\n\r\t\v\\'\"";
    char c = u->p + 1 < u->end ? u->p[1] : '\0';
    const char *simple = c ? strchr(from, c) : NULL;

    if (simple) {
        *u->out++ = to[simple - from];
        u->p += 2;
        return true;
    }
    if (c == '\n' || c == '\r') {
        u->p += c == '\r' && u->p + 2 < u->end && u->p[2] == '\n' ? 3 : 2;
        return true;
    }
    if (c >= '0' && c <= '7')
        return put_code(u, 8, 1, 3);
    if (c == 'x' || c == 'u' || c == 'U')
        return put_code(u, 16, 2, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    unsigned width = 0;
    if (c)
        sl_rune(u->p + 1, (size_t)(u->end - u->p - 1), &width);
    sl_static_error(u->s, u->pos, HINT_ESCAPE, "%s escape sequence %.*s",
                    c ? "invalid" : "truncated", 1 + (int)width, u->p);
    return false;
}

/* Returns the text between the quotes, which contains escapes or carriage
 * returns. */
static value unquote(struct sl_lexer *l, struct unquoted *u, bool raw)
{
    char *start = sl_arena_alloc(l->s, l->arena, (size_t)(u->end - u->p));
    bool ok = start;

    u->out = start;
    while (ok && u->p < u->end) {
        if (*u->p == '\r') {
            *u->out++ = '\n';
            u->p += u->p + 1 < u->end && u->p[1] == '\n' ? 2 : 1;
        } else if (*u->p == '\\' && !raw) {
            ok = put_escape(u);
        } else {
            *u->out++ = *u->p++;
        }
    }
    if (!start)
        return 0;
    size_t length = (size_t)(u->out - start);
    return u->bytes ? sl_bytes_new(l->s, start, length)
                    : sl_string_new(l->s, start, length);
}

/* Moves past the closing quotes. Returns false if there are none; l->p is then
 * the end of the search. Sets `special` if there are escapes or carriage
 * returns. */
static bool skip_text(struct sl_lexer *l, char quote, bool triple,
                      bool *special)
{
    for (;;) {
        char c = *l->p;
        if (c == quote && (!triple || (l->p[1] == c && l->p[2] == c))) {
            l->p += triple ? 3 : 1;
            return true;
        }
        if (c == '\\') {
            *special = true;
            l->p += l->p + 1 < l->end;
            c = *l->p;
        } else if ((c == '\n' || c == '\r') && !triple) {
            return false;
        }
        if (l->p >= l->end)
            return false;
        if (c == '\n' || c == '\r') {
            *special = *special || c == '\r';
            sl_lex_next_line(l);
        } else {
            l->wide += ((unsigned char)c & 0xc0) == 0x80;
            l->p++;
        }
    }
}

void sl_lex_string(struct sl_lexer *l, struct sl_token *t, bool raw, bool bytes)
{
    struct unquoted u = {.s = l->s, .pos = sl_lex_pos(l), .bytes = bytes};
    char quote = *l->p;
    bool triple = l->p[1] == quote && l->p[2] == quote, special = false;
    unsigned quotes = triple ? 3 : 1;

    l->p += quotes;
    u.p = l->p;
    if (!skip_text(l, quote, triple, &special)) {
        t->kind = TOK_ERROR;
        if (l->p < l->end) {
            sl_static_error(l->s, t->pos, NULL, "unexpected newline in string");
            sl_static_hint(l->s,
                           "the closing %c is missing; a text of several lines "
                           "stands between %c%c%c",
                           quote, quote, quote, quote);
        } else {
            sl_static_error(l->s, t->pos, HINT_QUOTES,
                            "unexpected EOF in string");
        }
        return;
    }
    u.end = l->p - quotes;
    size_t length = (size_t)(u.end - u.p);
    t->kind = bytes ? TOK_BYTES : TOK_STRING;
    if (special && !(raw && !memchr(u.p, '\r', length)))
        t->v = unquote(l, &u, raw);
    else if (bytes)
        t->v = sl_bytes_new(l->s, u.p, length);
    else if (length <= INTERN_MAX_BYTES)
        t->v = sl_intern(l->s, u.p, length);
    else
        t->v = sl_string_new(l->s, u.p, length);
    if (!t->v)
        refuse_value(l, t->pos);
}
