#include "base/json.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

void json_writer_init(struct json_writer *w, struct buf *out, unsigned indent)
{
    *w = (struct json_writer){.out = out, .indent = indent, .first = true};
}

static void new_line(struct json_writer *w)
{
    if (w->indent == 0)
        return;
    buf_char(w->out, '\n');
    for (unsigned i = (w->base + w->depth) * w->indent; i > 0; i--)
        buf_char(w->out, ' ');
}

/* Writes the separator of a value or a name: comma and new line. */
static void lead(struct json_writer *w)
{
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    if (w->depth == 0)
        return;
    if (!w->first)
        buf_char(w->out, ',');
    new_line(w);
    w->first = false;
}

static void begin(struct json_writer *w, char c)
{
    lead(w);
    buf_char(w->out, c);
    w->depth++;
    w->first = true;
}

static void end(struct json_writer *w, char c)
{
    w->depth--;
    if (!w->first)
        new_line(w);
    buf_char(w->out, c);
    w->first = false;
}

void json_begin_object(struct json_writer *w)
{
    begin(w, '{');
}

void json_end_object(struct json_writer *w)
{
    end(w, '}');
}

void json_begin_array(struct json_writer *w)
{
    begin(w, '[');
}

void json_end_array(struct json_writer *w)
{
    end(w, ']');
}

/* Avoid a format string for each character, since a text may consist of
 * megabytes of escapes. */
static void put_unit(struct buf *out, unsigned unit)
{
    static const char digits[] = "0123456789abcdef";
    const char text[] = {
        '\\',
        'u',
        digits[unit >> 12 & 15],
        digits[unit >> 8 & 15],
        digits[unit >> 4 & 15],
        digits[unit & 15],
    };

    buf_append(out, str_make(text, sizeof text));
}

static void put_special(struct buf *out, char c)
{
    static const char letters[][2] = {
        {'"', '"'},  {'\\', '\\'}, {'\b', 'b'}, {'\f', 'f'},
        {'\n', 'n'}, {'\r', 'r'},  {'\t', 't'},
    };

    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (letters[i][0] == c) {
            const char text[] = {'\\', letters[i][1]};

            buf_append(out, str_make(text, sizeof text));
            return;
        }
    put_unit(out, (unsigned char)c);
}

static bool is_special(char c)
{
    return (unsigned char)c < 0x20 || c == '"' || c == '\\';
}

/* Control characters, line separators and hidden characters are written
 * as escapes, which do not change the value, so that the text can be
 * printed safely (row 7). */
static bool is_unprintable(int32_t c)
{
    return (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029 ||
           text_is_hidden(c);
}

static void put_escaped(struct buf *out, int32_t c)
{
    unsigned u = (unsigned)c;

    if (u > 0xffff) {
        u -= 0x10000;
        put_unit(out, 0xd800 + (u >> 10));
        u = 0xdc00 + (u & 0x3ff);
    }
    put_unit(out, u);
}

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Returns the high bit of each zero byte, and possibly of a byte above one. */
static uint64_t zeros_of(uint64_t x)
{
    return (x - EACH(1)) & ~x & EACH(0x80);
}

/* Returns whether all of eight bytes can be written unchanged; if not, they are
 * examined one by one. */
static bool are_plain(const char *p)
{
    uint64_t x;

    memcpy(&x, p, sizeof x);
    return ((x | ((x - EACH(0x20)) & ~x) | zeros_of(x ^ EACH('"')) |
             zeros_of(x ^ EACH('\\')) | zeros_of(x ^ EACH(0x7f))) &
            EACH(0x80)) == 0;
}

static void put_string(struct buf *out, struct str s)
{
    size_t run = 0, at = 0;

    buf_char(out, '"');
    while (at < s.n) {
        size_t here = at;
        int32_t c;

        if (at + 8 <= s.n && are_plain(s.p + at)) {
            at += 8;
            continue;
        }
        if ((unsigned char)s.p[at] < 0x7f && !is_special(s.p[at])) {
            at++;
            continue;
        }
        c = text_next(s, &at);
        if (c >= 0x80 && !is_unprintable(c))
            continue;
        buf_append(out, str_slice(s, run, here));
        if (is_special(s.p[here]))
            put_special(out, s.p[here]);
        else if (c >= 0)
            put_escaped(out, c);
        else
            buf_text(out, "\xef\xbf\xbd");
        run = at;
    }
    buf_append(out, str_from_index(s, run));
    buf_char(out, '"');
}

void json_key_str(struct json_writer *w, struct str key)
{
    lead(w);
    put_string(w->out, key);
    buf_text(w->out, w->indent ? ": " : ":");
    w->after_key = true;
}

void json_key(struct json_writer *w, const char *key)
{
    json_key_str(w, str_cstr(key));
}

void json_string(struct json_writer *w, struct str s)
{
    lead(w);
    put_string(w->out, s);
}

void json_raw(struct json_writer *w, struct str number_or_value)
{
    lead(w);
    buf_append(w->out, number_or_value);
}

void json_number(struct json_writer *w, uint64_t n)
{
    lead(w);
    buf_printf(w->out, "%llu", (unsigned long long)n);
}

void json_bool(struct json_writer *w, bool b)
{
    json_raw(w, b ? STR("true") : STR("false"));
}

void json_null(struct json_writer *w)
{
    json_raw(w, STR("null"));
}

/* --- whole trees -------------------------------------------------------- */

/* The open collections, each with its next child. */
struct trail {
    struct level {
        const struct json *node, *next;
    } * levels;
    size_t count, capacity;
};

static void trail_done(struct trail *t)
{
    heap_free(t->levels);
}

static void trail_push(struct trail *t, const struct json *node)
{
    if (t->count == t->capacity) {
        t->capacity = t->capacity ? t->capacity * 2 : 16;
        t->levels = heap_resize(t->levels, t->capacity * sizeof *t->levels);
    }
    t->levels[t->count++] = (struct level){node, node->first};
}

static void write_one(struct json_writer *w, const struct json *j,
                      struct trail *t)
{
    switch (j->kind) {
    case JSON_NULL:
        json_null(w);
        break;
    case JSON_FALSE:
    case JSON_TRUE:
        json_bool(w, j->kind == JSON_TRUE);
        break;
    case JSON_NUMBER:
        json_raw(w, j->text);
        break;
    case JSON_STRING:
        json_string(w, j->text);
        break;
    case JSON_ARRAY:
        json_begin_array(w);
        trail_push(t, j);
        break;
    case JSON_OBJECT:
        json_begin_object(w);
        trail_push(t, j);
        break;
    }
}

void json_value(struct json_writer *w, const struct json *j)
{
    CLEANUP(trail_done) struct trail t = {0};

    write_one(w, j, &t);
    while (t.count) {
        struct level *top = &t.levels[t.count - 1];
        bool object = top->node->kind == JSON_OBJECT;

        j = top->next;
        if (!j) {
            if (object)
                json_end_object(w);
            else
                json_end_array(w);
            t.count--;
            continue;
        }
        top->next = j->next;
        if (object)
            json_key_str(w, j->key);
        write_one(w, j, &t);
    }
}

/* --- in canonical form ---------------------------------------------------- */

/* An open array or object with its children, sorted if they have names. */
struct sorted {
    struct sorted *above;
    bool is_object;
    const struct json **children;
    size_t count, next;
};

static int by_key(const void *x, const void *y)
{
    return str_cmp((*(const struct json *const *)x)->key,
                   (*(const struct json *const *)y)->key);
}

static struct sorted *sort_children(const struct json *j, struct sorted *above,
                                    struct arena *a)
{
    struct sorted *s = arena_new(a, struct sorted);

    s->above = above;
    s->is_object = j->kind == JSON_OBJECT;
    s->children = arena_array(a, j->count, sizeof(void *));
    for (const struct json *child = j->first; child; child = child->next)
        s->children[s->count++] = child;
    if (s->is_object && s->count)
        qsort(s->children, s->count, sizeof(void *), by_key);
    return s;
}

static void write_number(struct json_writer *w, struct str spelled)
{
    lead(w);
    json_put_number(w->out, spelled);
}

void json_canonical(struct json_writer *w, const struct json *j)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct sorted *top = NULL;

    for (;;) {
        if (j->kind == JSON_ARRAY || j->kind == JSON_OBJECT) {
            begin(w, j->kind == JSON_ARRAY ? '[' : '{');
            top = sort_children(j, top, &scratch);
        } else if (j->kind == JSON_NUMBER) {
            write_number(w, j->text);
        } else {
            json_value(w, j);
        }
        while (top && top->next == top->count) {
            end(w, top->is_object ? '}' : ']');
            top = top->above;
        }
        if (!top)
            return;
        j = top->children[top->next++];
        if (top->is_object)
            json_key_str(w, j->key);
    }
}

/* --- members ------------------------------------------------------------ */

void json_open(struct json_writer *w, struct buf *out, size_t max_bytes,
               unsigned indent)
{
    buf_init(out, max_bytes);
    json_writer_init(w, out, indent);
    json_begin_object(w);
}

void json_member_string(struct json_writer *w, const char *key, struct str s)
{
    json_key(w, key);
    json_string(w, s);
}

void json_member_optional(struct json_writer *w, const char *key, struct str s)
{
    json_key(w, key);
    if (s.n)
        json_string(w, s);
    else
        json_null(w);
}

void json_member_number(struct json_writer *w, const char *key, uint64_t n)
{
    json_key(w, key);
    json_number(w, n);
}

void json_member_bool(struct json_writer *w, const char *key, bool b)
{
    json_key(w, key);
    json_bool(w, b);
}

void json_member_raw(struct json_writer *w, const char *key, struct str value)
{
    json_key(w, key);
    json_raw(w, value);
}

void json_member_array(struct json_writer *w, const char *key)
{
    json_key(w, key);
    json_begin_array(w);
}

void json_member_object(struct json_writer *w, const char *key)
{
    json_key(w, key);
    json_begin_object(w);
}

void json_member_strings(struct json_writer *w, const char *key,
                         const struct str *items, size_t count)
{
    json_member_array(w, key);
    for (size_t i = 0; i < count; i++)
        json_string(w, items[i]);
    json_end_array(w);
}
