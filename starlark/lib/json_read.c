#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "../core/table.h"
#include "../core/text.h"
#include "json.h"

enum { VALUE, VALUE_OR_CLOSE, KEY, KEY_OR_CLOSE, COMMA_OR_CLOSE };

void sl_json_open(struct sl_json_reader *r, struct star *s, const char *text,
                  size_t length)
{
    *r = (struct sl_json_reader){
        .s = s, .begin = text, .p = text, .end = text + length};
}

__attribute__((format(printf, 2, 3))) static enum sl_json_event
bad(struct sl_json_reader *r, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(r->why, sizeof r->why, format, args);
    va_end(args);
    return JSON_BAD;
}

/* Returns the character at p quoted as in Go: 'a', '\n', '\''. */
static const char *shown(const struct sl_json_reader *r, char out[16])
{
    unsigned width;
    unsigned char c = (unsigned char)*r->p;

    if (c == '\n' || c == '\r' || c == '\t')
        snprintf(out, 16, "'\\%c'", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
    else if (c == '\'' || c == '\\')
        snprintf(out, 16, "'\\%c'", c);
    else if (c < 0x20 || c == 0x7f)
        snprintf(out, 16, "'\\x%02x'", c);
    else if (sl_rune(r->p, (size_t)(r->end - r->p), &width) !=
                 SL_RUNE_INVALID ||
             width > 1)
        snprintf(out, 16, "'%.*s'", (int)width, r->p);
    else
        snprintf(out, 16, "'\\x%02x'", c);
    return out;
}

/* Moves to the next character that is not a space; returns false at the end. If
 * a limit is reached the current character stays a space, which no caller
 * accepts. */
static bool skip_space(struct sl_json_reader *r)
{
    const char *paid = r->p;

    for (; r->p < r->end &&
           (*r->p == ' ' || *r->p == '\n' || *r->p == '\t' || *r->p == '\r');
         r->p++)
        if (r->p - paid >= 256) {
            if (!sl_charge(r->s, 256 / 16))
                return true;
            paid = r->p;
        }
    return r->p < r->end;
}

/* --- scalars ------------------------------------------------------------------------ */

static bool is_digit(const char *p, const char *end)
{
    return p < end && *p >= '0' && *p <= '9';
}

static const char *skip_digits(const char *p, const char *end)
{
    while (is_digit(p, end))
        p++;
    return p;
}

/* Returns the end of a number in JSON's grammar. */
static const char *number_end(const char *p, const char *end, bool *is_float)
{
    const char *digits;

    *is_float = false;
    if (p < end && *p == '-')
        p++;
    digits = p;
    p = skip_digits(p, end);
    if (p == digits || (*digits == '0' && p - digits > 1))
        return digits;
    if (p < end && *p == '.') {
        *is_float = true;
        if (!is_digit(++p, end))
            return p;
        p = skip_digits(p, end);
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        *is_float = true;
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        p = skip_digits(p, end);
    }
    return p;
}

/* Longer numbers are rejected. */
#define NUMBER_MAX_BYTES 1000000

static enum sl_json_event number(struct sl_json_reader *r)
{
    const char *p = r->p, *all = p + 1;
    bool is_float;

    /* The error quotes all characters that could belong to a number. */
    while (all < r->end && *all && strchr("+-.eE0123456789", *all) &&
           all - p <= NUMBER_MAX_BYTES)
        all++;
    if (all - p > NUMBER_MAX_BYTES)
        return bad(r, "number of more than %d characters", NUMBER_MAX_BYTES);
    sl_owe(r->s, (uint64_t)(all - p) / 16);
    if (number_end(p, r->end, &is_float) != all || !is_digit(all - 1, all))
        return bad(r, "invalid number: %.*s",
                   (int)(all - p < 100 ? all - p : 100), p);
    r->token = p;
    r->length = (size_t)(all - p);
    r->p = all;
    return is_float ? JSON_FLOAT : JSON_INT;
}

static enum sl_json_event word(struct sl_json_reader *r)
{
    static const struct {
        const char *text;
        enum sl_json_event event;
    } words[] = {
        {"null", JSON_NULL}, {"true", JSON_TRUE}, {"false", JSON_FALSE}};
    char out[16];

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i].text);

        if ((size_t)(r->end - r->p) >= length &&
            memcmp(r->p, words[i].text, length) == 0) {
            r->token = r->p;
            r->length = length;
            r->p += length;
            return words[i].event;
        }
    }
    return bad(r, "unexpected character %s", shown(r, out));
}

/* --- strings ------------------------------------------------------------------------- */

static const char escapes[] = "\"\\/bfnrt";
static const char escaped[] = "\"\\/\b\f\n\r\t";

static int hex4(const char *p, const char *end)
{
    int n = 0;

    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int c = p[i] | 0x20;

        if (is_digit(p + i, end))
            n = n * 16 + (p[i] - '0');
        else if (c >= 'a' && c <= 'f')
            n = n * 16 + (c - 'a' + 10);
        else
            return -1;
    }
    return n;
}

/* Returns the length of the escape at p, or 0 if invalid. */
static size_t escape_length(const char *p, const char *end)
{
    if (end - p < 2)
        return 0;
    if (p[1] == 'u')
        return hex4(p + 2, end) < 0 ? 0 : 6;
    return p[1] && strchr(escapes, p[1]) ? 2 : 0;
}

static enum sl_json_event string(struct sl_json_reader *r,
                                 enum sl_json_event event)
{
    const char *p = r->p + 1;
    size_t paid = 32768, length = 1; /* nothing charged for short texts */
    char out[16];

    r->plain = true;
    for (;; p += length) {
        if (!sl_pay_bytes(r->s, (size_t)(p - r->p), &paid))
            return JSON_BAD;
        if (p >= r->end)
            return bad(r, "unclosed string literal");
        if (*p == '"')
            break;
        length = 1;
        if ((unsigned char)*p >= 0x20 && (unsigned char)*p < 0x80 && *p != '\\')
            continue;
        r->plain = false;
        if ((unsigned char)*p < 0x20) {
            r->p = p;
            return bad(r, "invalid character %s in string literal",
                       shown(r, out));
        }
        if (*p == '\\' && !(length = escape_length(p, r->end))) {
            r->p = p;
            return bad(r, "invalid escape in string literal");
        }
    }
    r->token = r->p;
    r->length = (size_t)(p + 1 - r->p);
    r->p = p + 1;
    return sl_charge(r->s, r->length / 64) ? event : JSON_BAD;
}

/* Appends the \uXXXX at p, with the second half of a surrogate pair if present;
 * a lone half becomes U+FFFD. Returns the bytes read. */
static size_t put_unicode(struct sl_text *t, const char *p, const char *end)
{
    uint32_t high = (uint32_t)hex4(p + 2, end);
    int low = -1;

    if (high >= 0xd800 && high < 0xdc00 && end - p >= 12 && p[6] == '\\' &&
        p[7] == 'u')
        low = hex4(p + 8, end);
    if (low >= 0xdc00 && low <= 0xdfff) {
        sl_text_rune(t, 0x10000u + ((high - 0xd800) << 10) +
                            ((uint32_t)low - 0xdc00));
        return 12;
    }
    sl_text_rune(t, high >= 0xd800 && high <= 0xdfff ? SL_RUNE_INVALID : high);
    return 6;
}

/* Appends the text of the string or key just read, with escapes and invalid
 * UTF-8 resolved. Returns false if a limit is reached. */
static bool sl_json_text(struct sl_json_reader *r, struct sl_text *t)
{
    const char *p = r->token + 1, *end = r->token + r->length - 1;

    while (p < end) {
        const char *stop = memchr(p, '\\', (size_t)(end - p));

        if (!sl_text_put_valid(t, p, (size_t)((stop ? stop : end) - p)))
            return false;
        if (!stop)
            break;
        if (stop[1] == 'u') {
            p = stop + put_unicode(t, stop, end);
        } else {
            sl_text_char(t, escaped[strchr(escapes, stop[1]) - escapes]);
            p = stop + 2;
        }
    }
    return !t->failed;
}

/* --- structure ------------------------------------------------------------------------ */

static bool in_object(const struct sl_json_reader *r)
{
    unsigned top = r->depth - 1;

    return r->objects[top / 64] >> (top % 64) & 1;
}

static enum sl_json_event open_level(struct sl_json_reader *r, bool object)
{
    uint64_t bit;

    if (r->depth >= SL_JSON_DEPTH_MAX || !sl_depth_ok(r->s, r->depth + 1))
        return JSON_BAD;
    bit = (uint64_t)1 << (r->depth % 64);
    if (object)
        r->objects[r->depth / 64] |= bit;
    else
        r->objects[r->depth / 64] &= ~bit;
    r->depth++;
    r->p++;
    r->expect = object ? KEY_OR_CLOSE : VALUE_OR_CLOSE;
    return object ? JSON_OBJECT : JSON_ARRAY;
}

static enum sl_json_event close_level(struct sl_json_reader *r)
{
    r->p++;
    r->depth--;
    r->expect = COMMA_OR_CLOSE;
    return JSON_CLOSE;
}

static enum sl_json_event read_value(struct sl_json_reader *r)
{
    switch (*r->p) {
    case '{':
        return open_level(r, true);
    case '[':
        return open_level(r, false);
    case '"':
        return string(r, JSON_STRING);
    default:
        return *r->p == '-' || is_digit(r->p, r->end) ? number(r) : word(r);
    }
}

static enum sl_json_event read_key(struct sl_json_reader *r)
{
    static const char *const types[] = {[JSON_NULL] = "NoneType",
                                        [JSON_TRUE] = "bool",
                                        [JSON_FALSE] = "bool",
                                        [JSON_INT] = "int",
                                        [JSON_FLOAT] = "float"};
    enum sl_json_event event;
    const char *token;
    size_t length;
    char out[16];

    if (*r->p == '[' || *r->p == '{')
        return bad(r, "got %s for object key, want string",
                   *r->p == '[' ? "list" : "dict");
    event = read_value(r);
    if (event == JSON_BAD)
        return event;
    if (event != JSON_STRING)
        return bad(r, "got %s for object key, want string", types[event]);
    token = r->token;
    length = r->length;
    if (!skip_space(r))
        return bad(r, "unexpected end of file");
    if (*r->p != ':')
        return bad(r, "after object key, got %s, want ':'", shown(r, out));
    r->p++;
    r->token = token;
    r->length = length;
    r->expect = VALUE;
    return JSON_KEY;
}

/* After a value, reads the end of its level, or a comma, which a key or value
 * must follow. Returns true if it stored *event. */
static bool read_separator(struct sl_json_reader *r, enum sl_json_event *event)
{
    bool object = in_object(r);
    char out[16];

    if (*r->p == (object ? '}' : ']')) {
        *event = close_level(r);
        return true;
    }
    if (*r->p != ',') {
        *event = bad(r,
                     object ? "in object, got %s, want ',' or '}'"
                            : "got %s, want ',' or ']'",
                     shown(r, out));
        return true;
    }
    r->p++;
    r->expect = object ? KEY : VALUE;
    return false;
}

enum sl_json_event sl_json_next(struct sl_json_reader *r)
{
    enum sl_json_event event;
    char out[16];

    if (!sl_charge(r->s, 1))
        return JSON_BAD;
    for (;;) {
        if (r->depth == 0 && r->expect == COMMA_OR_CLOSE)
            return skip_space(r) ? bad(r, "unexpected character %s after value",
                                       shown(r, out))
                   : r->stopped  ? JSON_BAD
                                 : JSON_END;
        if (!skip_space(r))
            return bad(r, "unexpected end of file");
        if (r->expect != COMMA_OR_CLOSE)
            break;
        if (read_separator(r, &event))
            return event;
    }
    if ((r->expect == KEY_OR_CLOSE && *r->p == '}') ||
        (r->expect == VALUE_OR_CLOSE && *r->p == ']'))
        return close_level(r);
    if (r->expect == KEY || r->expect == KEY_OR_CLOSE)
        return read_key(r);
    event = read_value(r);
    if (event != JSON_ARRAY && event != JSON_OBJECT)
        r->expect = COMMA_OR_CLOSE;
    return event;
}

/* --- values ------------------------------------------------------------------------------ */

/* Objects in an array tend to have the same keys, so recent keys are reused. */
#define KEYS_KNOWN 64

struct decoder {
    struct star *s;
    struct sl_json_reader *r;
    struct sl_text text;
    value *levels;
    size_t depth;
    value root;
    value keys[KEYS_KNOWN];
};

static value decode_string(struct decoder *d)
{
    if (d->r->plain)
        return sl_string_new(d->s, d->r->token + 1, d->r->length - 2);
    d->text.length = 0;
    if (!sl_json_text(d->r, &d->text))
        return 0;
    return sl_string_new(d->s, d->text.p, d->text.length);
}

static value decode_key(struct decoder *d)
{
    const char *p = d->r->token + 1;
    size_t length = d->r->length - 2;
    value *known;

    if (!d->r->plain || length == 0 || length > 64)
        return decode_string(d);
    known = &d->keys[((unsigned char)p[0] * 7u + (unsigned char)p[length - 1] +
                      length * 3) %
                     KEYS_KNOWN];
    if (!*known || sl_string(*known)->length != length ||
        memcmp(sl_string(*known)->p, p, length) != 0)
        *known = decode_string(d);
    return *known;
}

static value decode_number(struct decoder *d, bool is_float)
{
    const char *p = d->r->token;
    size_t length = d->r->length;
    bool negative = *p == '-';
    double f;

    if (!is_float) {
        int64_t n = 0;

        if (length > 18)
            return sl_int_parse(d->s, p + negative, length - negative, 10,
                                negative);
        for (size_t i = negative; i < length; i++)
            n = n * 10 + (p[i] - '0');
        return sl_int(d->s, negative ? -n : n);
    }
    if (sl_float_parse(p, length, &f) && isfinite(f))
        return sl_float(d->s, f);
    d->r->p = p;
    bad(d->r, "invalid number: %.*s", (int)(length < 100 ? length : 100), p);
    return 0;
}

static value decode_scalar(struct decoder *d, enum sl_json_event event)
{
    switch (event) {
    case JSON_NULL:
        return V_NONE;
    case JSON_TRUE:
        return V_TRUE;
    case JSON_FALSE:
        return V_FALSE;
    case JSON_INT:
        return decode_number(d, false);
    case JSON_FLOAT:
        return decode_number(d, true);
    case JSON_STRING:
        return decode_string(d);
    case JSON_ARRAY:
        return sl_list_new(d->s, 0);
    default:
        return sl_dict_new(d->s, 0);
    }
}

/* Stores a value in the container being decoded; the value of a key just stored
 * belongs to the last entry. */
static bool attach(struct decoder *d, value v)
{
    value top;

    if (d->depth == 0) {
        d->root = v;
        return true;
    }
    top = d->levels[d->depth - 1];
    if (sl_is(top, T_LIST))
        return sl_list_append(d->s, top, v);
    sl_table(top)->entries[sl_table(top)->used - 1].value = v;
    return true;
}

static bool put_key(struct decoder *d)
{
    value dict = d->levels[d->depth - 1], key = decode_key(d);
    uint32_t count = sl_table(dict)->count;

    if (!key || !sl_table_set(d->s, dict, key, V_NONE))
        return false;
    if (sl_table(dict)->count > count)
        return true;
    d->r->p = d->r->token;
    bad(d->r, "duplicate key %.*s",
        (int)(d->r->length < 100 ? d->r->length : 100), d->r->token);
    return false;
}

static bool decode_event(struct decoder *d, enum sl_json_event event)
{
    size_t held = d->s->heap.held_count;
    value v;

    if (event == JSON_CLOSE) {
        d->depth--;
        return true;
    }
    if (event == JSON_KEY)
        return put_key(d);
    if (!(v = decode_scalar(d, event)) || !attach(d, v))
        return false;
    if (d->root != v)
        SL_RELEASE(d->s, held); /* rooted by its container */
    if (event == JSON_ARRAY || event == JSON_OBJECT)
        d->levels[d->depth++] = v;
    return true;
}

value sl_json_decode(struct star *s, struct sl_json_reader *r)
{
    struct decoder d = {.s = s, .r = r, .text.s = s};
    size_t levels = (s->limits.value_depth + 1) * sizeof *d.levels;
    enum sl_json_event event;

    if (!(d.levels = sl_storage(s, levels)))
        return 0;
    while ((event = sl_json_next(r)) > JSON_END)
        if (!decode_event(&d, event)) {
            event = JSON_BAD;
            break;
        }
    sl_text_free(&d.text);
    sl_storage_free(s, d.levels, levels);
    return event == JSON_END ? d.root : 0;
}
