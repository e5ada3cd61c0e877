#include <math.h>

#include "lex.h"
#include "text.h"

#define INTERN_MAX_BYTES 64 /* of a text in quotes: keys and the like */

static void end_token(struct sl_lexer *l, struct sl_token *t,
                      enum sl_token_kind kind)
{
    t->kind = kind;
    t->length = (uint32_t)(l->p - t->at);
}

/* A value could not be made: for memory, or because it is too large. */
static void refuse_value(struct sl_lexer *l, struct sl_pos pos)
{
    if (star_error(l->s) == STAR_ERROR_RUNTIME) {
        sl_static_error(l->s, l->source, pos, "%s", star_error_message(l->s));
        return;
    }
    sl_lex_stop(l);
}

/* --- numbers -------------------------------------------------------------------- */

static bool is_digit_of(char c, unsigned base)
{
    if (base == 16)
        return sl_is_digit(c) || (c >= 'a' && c <= 'f') ||
               (c >= 'A' && c <= 'F');
    return c >= '0' && c < (char)('0' + base);
}

static void skip_digits(struct sl_lexer *l)
{
    while (sl_is_digit(*l->p))
        l->p++;
}

static void put_int(struct sl_lexer *l, struct sl_token *t, const char *digits,
                    unsigned base)
{
    size_t n = (size_t)(l->p - digits);

    end_token(l, t, TOK_INT);
    if (base == 10 && n <= 18) {
        int64_t sum = 0;
        for (size_t i = 0; i < n; i++)
            sum = sum * 10 + (digits[i] - '0');
        t->v = sl_word(sum);
        return;
    }
    t->v = sl_int_parse(l->s, digits, n, base, false);
    if (!t->v) {
        refuse_value(l, t->pos);
        t->v = sl_word(0);
    }
}

static void put_float(struct sl_lexer *l, struct sl_token *t)
{
    double d;

    end_token(l, t, TOK_FLOAT);
    if (!sl_float_parse(t->at, t->length, &d) || !isfinite(d)) {
        sl_static_error(l->s, l->source, sl_lex_pos(l),
                        "invalid float literal");
        d = 0;
    }
    t->v = sl_float(l->s, d);
    if (!t->v)
        refuse_value(l, t->pos);
}

static void refuse_number(struct sl_lexer *l, struct sl_token *t,
                          struct sl_pos pos, const char *text)
{
    sl_static_error(l->s, l->source, pos, "%s", text);
    while (sl_is_name_char(*l->p))
        l->p++;
    end_token(l, t, TOK_INT);
    t->v = sl_word(0);
}

/* "0x", "0o", "0b" and what follows. */
static void lex_prefixed(struct sl_lexer *l, struct sl_token *t, unsigned base,
                         const char *complaint)
{
    l->p += 2;
    const char *digits = l->p;
    while (is_digit_of(*l->p, base))
        l->p++;
    if (l->p == digits)
        refuse_number(l, t, base == 16 ? t->pos : sl_lex_pos(l), complaint);
    else
        put_int(l, t, digits, base);
}

/* Digits that begin with 0 and are no float: all must be 0. */
static void lex_zeros(struct sl_lexer *l, struct sl_token *t)
{
    bool octal = true, zero = true;

    for (const char *p = t->at; p < l->p; p++) {
        zero = zero && *p == '0';
        octal = octal && *p <= '7';
    }
    if (zero) {
        put_int(l, t, l->p - 1, 10);
    } else if (octal) {
        sl_static_error(l->s, l->source, sl_lex_pos(l),
                        "obsolete form of octal literal; use 0o%.*s",
                        (int)(l->p - t->at > 100 ? 100 : l->p - t->at - 1),
                        t->at + 1);
        end_token(l, t, TOK_INT);
        t->v = sl_word(0);
    } else {
        refuse_number(l, t, t->pos, "invalid int literal");
    }
}

void sl_lex_number(struct sl_lexer *l, struct sl_token *t)
{
    if (l->p[0] == '0' && (l->p[1] | 0x20) == 'x') {
        lex_prefixed(l, t, 16, "invalid hex literal");
        return;
    }
    if (l->p[0] == '0' && (l->p[1] | 0x20) == 'o') {
        lex_prefixed(l, t, 8, "invalid octal literal");
        return;
    }
    if (l->p[0] == '0' && (l->p[1] | 0x20) == 'b') {
        lex_prefixed(l, t, 2, "invalid binary literal");
        return;
    }
    bool is_float = false;
    skip_digits(l);
    if (*l->p == '.') {
        is_float = true;
        l->p++;
        skip_digits(l);
    }
    if ((*l->p | 0x20) == 'e') {
        is_float = true;
        l->p++;
        if (*l->p == '+' || *l->p == '-')
            l->p++;
        skip_digits(l);
    }
    if (is_float)
        put_float(l, t);
    else if (t->at[0] == '0')
        lex_zeros(l, t);
    else
        put_int(l, t, t->at, 10);
}

/* --- texts ------------------------------------------------------------------------ */

/* What one escape or plain stretch of a literal is read into. */
struct unquoted {
    struct sl_lexer *l;
    struct sl_pos pos; /* of the quote */
    const char *p, *end;
    char *out;
    bool bytes, failed;
};

/* `shown` bytes from the backslash on are part of the complaint. */
static void refuse_escape(struct unquoted *u, const char *what, size_t shown)
{
    if (!u->failed)
        sl_static_error(u->l->s, u->l->source, u->pos,
                        "%s escape sequence %.*s", what, (int)shown, u->p);
    u->failed = true;
}

static bool put_octal(struct unquoted *u)
{
    unsigned n = 0, digits = 0;

    while (digits < 3 && u->p + 1 + digits < u->end &&
           is_digit_of(u->p[1 + digits], 8))
        n = n * 8 + (unsigned)(u->p[1 + digits++] - '0');
    if (!u->bytes && n > 127) {
        sl_static_error(u->l->s, u->l->source, u->pos,
                        "non-ASCII octal escape \\%o (use \\u%04X for the "
                        "UTF-8 encoding of U+%04X)",
                        n, n, n);
        return false;
    }
    if (n >= 256) {
        sl_static_error(u->l->s, u->l->source, u->pos,
                        "invalid escape sequence \\%03o", n);
        return false;
    }
    *u->out++ = (char)n;
    u->p += 1 + digits;
    return true;
}

static bool put_hex(struct unquoted *u, size_t digits)
{
    uint32_t n = 0;
    size_t left = (size_t)(u->end - u->p);
    struct star *s = u->l->s;

    if (left < 2 + digits) {
        refuse_escape(u, "truncated", left);
        return false;
    }
    for (size_t i = 0; i < digits; i++) {
        char c = u->p[2 + i];
        if (!is_digit_of(c, 16)) {
            refuse_escape(u, "invalid", 2 + digits);
            return false;
        }
        n = n * 16 +
            (uint32_t)(sl_is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    if (digits == 2 && !u->bytes && n > 127) {
        sl_static_error(s, u->l->source, u->pos,
                        "non-ASCII hex escape %.4s (use \\u%04X for the UTF-8 "
                        "encoding of U+%04X)",
                        u->p, n, n);
        return false;
    }
    if (n > 0x10ffff) {
        sl_static_error(s, u->l->source, u->pos,
                        "code point out of range: %.10s (max \\U%08x)", u->p,
                        n);
        return false;
    }
    if (digits > 2 && n >= 0xd800 && n < 0xe000) {
        sl_static_error(s, u->l->source, u->pos,
                        "invalid Unicode code point U+%04X", n);
        return false;
    }
    if (digits == 2)
        *u->out++ = (char)n;
    else
        u->out += sl_rune_encode(n, u->out);
    u->p += 2 + digits;
    return true;
}

/* At a backslash. */
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
        return put_octal(u);
    if (c == 'x' || c == 'u' || c == 'U')
        return put_hex(u, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    unsigned width = 1;
    if (c)
        sl_rune(u->p + 1, (size_t)(u->end - u->p - 1), &width);
    refuse_escape(u, c ? "invalid" : "truncated", c ? 1 + width : 1);
    sl_static_hint(u->l->s, "a backslash itself is written \\\\, or use a raw "
                            "text: r\"...\"");
    return false;
}

/* The text between the quotes, which has escapes or carriage returns. */
static value unquote(struct sl_lexer *l, struct unquoted *u, bool raw)
{
    size_t size = (size_t)(u->end - u->p);

    if (size > l->scratch_size) {
        l->scratch_size = size < 256 ? 256 : size;
        l->scratch = sl_arena_alloc(l->s, l->arena, l->scratch_size);
        if (!l->scratch) {
            l->scratch_size = 0;
            return 0;
        }
    }
    char *start = u->out = l->scratch;
    bool ok = true;
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
    size_t length = (size_t)(u->out - start);
    return u->bytes ? sl_bytes_new(l->s, start, length)
                    : sl_string_new(l->s, start, length);
}

static value make_text(struct sl_lexer *l, const char *p, size_t length,
                       bool bytes)
{
    if (bytes)
        return sl_bytes_new(l->s, p, length);
    return length <= INTERN_MAX_BYTES ? sl_intern(l->s, p, length)
                                      : sl_string_new(l->s, p, length);
}

/* Moves behind the closing quotes. False: there are none; l->p is where the
 * search ended. `special`: there are escapes or carriage returns. */
static bool skip_text(struct sl_lexer *l, char quote, bool triple,
                      bool *special)
{
    for (;;) {
        char c = *l->p;
        if (c == quote) {
            if (!triple) {
                l->p++;
                return true;
            }
            if (l->p[1] == quote && l->p[2] == quote) {
                l->p += 3;
                return true;
            }
        } else if (c == '\\') {
            *special = true;
            if (l->p + 1 < l->end)
                l->p++;
            c = *l->p == quote ? '\0' : *l->p;
        } else if ((c == '\n' || c == '\r') && !triple) {
            return false;
        }
        if (l->p >= l->end)
            return false;
        if (c == '\n' || c == '\r') {
            *special = *special || c == '\r';
            l->p += c == '\r' && l->p[1] == '\n' ? 2 : 1;
            l->line++;
            l->line_start = l->p;
            l->wide = 0;
        } else {
            l->wide += ((unsigned char)*l->p & 0xc0) == 0x80;
            l->p++;
        }
    }
}

static void refuse_unclosed(struct sl_lexer *l, struct sl_token *t, char quote)
{
    bool newline = l->p < l->end;

    sl_static_error(l->s, l->source, t->pos,
                    newline ? "unexpected newline in string"
                            : "unexpected EOF in string");
    if (newline)
        sl_static_hint(l->s,
                       "the closing %c is missing; a text of several lines "
                       "stands between %c%c%c",
                       quote, quote, quote, quote);
    else
        sl_static_hint(l->s, "the closing quotes are missing");
    end_token(l, t, TOK_ERROR);
}

void sl_lex_string(struct sl_lexer *l, struct sl_token *t, bool raw, bool bytes)
{
    struct unquoted u = {.l = l, .pos = sl_lex_pos(l), .bytes = bytes};
    char quote = *l->p;
    bool triple = l->p[1] == quote && l->p[2] == quote, special = false;
    unsigned quotes = triple ? 3 : 1;

    l->p += quotes;
    u.p = l->p;
    if (!skip_text(l, quote, triple, &special)) {
        refuse_unclosed(l, t, quote);
        return;
    }
    u.end = l->p - quotes;
    end_token(l, t, bytes ? TOK_BYTES : TOK_STRING);
    t->v = special && !(raw && !memchr(u.p, '\r', (size_t)(u.end - u.p)))
               ? unquote(l, &u, raw)
               : make_text(l, u.p, (size_t)(u.end - u.p), bytes);
    if (!t->v)
        refuse_value(l, t->pos);
}
