#include <math.h>

#include "../core/table.h"
#include "../core/text.h"
#include "json.h"

/* --- strings ------------------------------------------------------------------------- */

static void put_escape(struct sl_text *t, unsigned char c)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *found = c ? strchr(from, c) : NULL;
    char pair[2] = {'\\', found ? to[found - from] : 0};

    if (found)
        sl_text_append(t, pair, 2);
    else
        sl_text_printf(t, "\\u%04x", c);
}

/* Whether the byte is written unescaped. */
static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

static bool put_string(struct sl_text *t, value v)
{
    const char *p = sl_string(v)->p, *end = p + sl_string(v)->length;

    sl_text_char(t, '"');
    while (p < end) {
        const char *from = p, *stop = end - p > 32768 ? p + 32768 : end;

        if (!sl_charge(t->s, (uint64_t)(stop - p) / 64 + 1))
            return false;
        while (p < stop && is_plain((unsigned char)*p))
            p++;
        sl_text_put(t, from, (size_t)(p - from));
        if (p == stop)
            continue;
        if ((unsigned char)*p < 0x80) {
            put_escape(t, (unsigned char)*p++);
            continue;
        }
        for (from = p; p < end && (unsigned char)*p >= 0x80;) {
            unsigned width;

            sl_rune(p, (size_t)(end - p), &width);
            p += width;
        }
        if (!sl_text_put_valid(t, from, (size_t)(p - from)))
            return false;
    }
    sl_text_char(t, '"');
    return !t->failed;
}

/* --- values -------------------------------------------------------------------------- */

struct level {
    value v;
    value keys;         /* for a dict, its sorted keys, or 0 for insertion
                         * order */
    uint32_t at, count; /* number of values written; `at` is the position of
                         * the next */
    struct sl_iter it;  /* used unless it is a list, tuple or dict */
};

struct encoder {
    struct star *s;
    struct sl_text *t;
    bool module;
    struct level *levels;
    size_t depth, capacity;
};

/* Sets an error with `what`, enclosed by `before` and `after`, preceded by the
 * path to the value. */
static bool complain(struct encoder *e, const char *before, const char *what,
                     const char *after)
{
    struct sl_text path = {.s = e->s};

    for (size_t i = 0; i < e->depth; i++) {
        const struct level *l = &e->levels[i];
        const char *type = sl_type_name(l->v);

        if (!sl_is(l->v, T_DICT)) {
            sl_text_printf(&path, "at %s index %u: ", type, l->count - 1);
            continue;
        }
        value key = l->keys ? sl_list(l->keys)->items[l->at - 1]
                            : sl_table(l->v)->entries[l->at - 1].key;
        sl_text_printf(&path, "in %s key ", type);
        sl_quote(&path, sl_string(key)->p, sl_string(key)->length, false);
        sl_text_append(&path, ": ", 2);
    }
    sl_text_printf(&path, "%s%s%s", before, what, after);
    if (!path.failed)
        sl_fail_as(e->s, e->module ? STAR_ERROR_RUNTIME : STAR_ERROR_VALUE,
                   "%.*s", (int)path.length, path.p);
    sl_text_free(&path);
    return false;
}

static value sorted_keys(struct encoder *e, value dict)
{
    const struct sl_table *t = sl_table(dict);
    value keys = sl_list_new(e->s, t->count);
    const struct sl_entry *entry;

    for (uint32_t i = 0; keys && (entry = sl_table_next(dict, &i)); i++)
        if (!sl_list_append(e->s, keys, entry->key))
            return 0;
    if (!keys || !sl_sort(e->s, sl_list(keys)->items, sl_list(keys)->items,
                          sl_list(keys)->count, false))
        return 0;
    return keys;
}

static bool check_keys(struct encoder *e, value dict)
{
    const struct sl_entry *entry;

    if (!sl_charge(e->s, sl_table(dict)->count / 16))
        return false;
    for (uint32_t i = 0; (entry = sl_table_next(dict, &i)); i++)
        if (!sl_is(entry->key, T_STRING))
            return complain(e, "dict has ", sl_type_name(entry->key),
                            " key, want string");
    return true;
}

static bool open_level(struct encoder *e, value v)
{
    struct level l = {.v = v};

    for (size_t i = 0; i < e->depth; i++)
        if (e->levels[i].v == v)
            return complain(e, "", "cycle in JSON structure", "");
    if (!sl_depth_ok(e->s, (unsigned)e->depth + 1))
        return false;
    if (sl_is(v, T_DICT)) {
        if (!check_keys(e, v))
            return false;
        if (e->module && !(l.keys = sorted_keys(e, v)))
            return false;
    } else if (!sl_is(v, T_LIST) && !sl_is(v, T_TUPLE) &&
               !sl_iter_begin(e->s, v, &l.it)) {
        return false;
    }
    sl_text_char(e->t, sl_is(v, T_DICT) ? '{' : '[');
    e->levels[e->depth++] = l;
    return true;
}

static void close_level(struct encoder *e)
{
    struct level *l = &e->levels[--e->depth];

    sl_text_char(e->t, sl_is(l->v, T_DICT) ? '}' : ']');
    if (l->it.of)
        sl_iter_end(&l->it);
}

/* Whether `v` is encoded as an array or an object. */
static bool is_container(const struct encoder *e, value v)
{
    return sl_is(v, T_LIST) || sl_is(v, T_TUPLE) || sl_is(v, T_DICT) ||
           (e->module && sl_is_iterable(v));
}

static bool put_value(struct encoder *e, value v)
{
    if (is_container(e, v))
        return open_level(e, v);
    switch (sl_type(v)) {
    case T_NONE:
        sl_text_append(e->t, "null", 4);
        break;
    case T_BOOL:
        sl_text_printf(e->t, "%s", v == V_TRUE ? "true" : "false");
        break;
    case T_INT:
        return sl_int_format(e->t, v, 10, false);
    case T_FLOAT:
        if (!isfinite(sl_float_of(v)))
            return complain(e, "cannot encode non-finite float ",
                            isnan(sl_float_of(v)) ? "nan"
                            : sl_float_of(v) > 0  ? "+inf"
                                                  : "-inf",
                            "");
        sl_float_format(e->t, sl_float_of(v), 'g');
        break;
    case T_STRING:
        return put_string(e->t, v);
    default:
        return complain(e, "cannot encode ", sl_type_name(v), " as JSON");
    }
    return !e->t->failed;
}

/* Returns the next value of the innermost level, after writing its key; 0
 * without an error at the end. */
static value next_value(struct encoder *e)
{
    struct level *l = &e->levels[e->depth - 1];
    value key = 0, v = 0;

    if (sl_is(l->v, T_LIST)) {
        v = l->at < sl_list(l->v)->count ? sl_list(l->v)->items[l->at++] : 0;
    } else if (sl_is(l->v, T_TUPLE)) {
        v = l->at < sl_tuple(l->v)->count ? sl_tuple(l->v)->items[l->at++] : 0;
    } else if (l->keys) {
        if (l->at < sl_list(l->keys)->count) {
            key = sl_list(l->keys)->items[l->at++];
            v = sl_table_find_string(e->s, l->v, key)->value;
        }
    } else if (sl_is(l->v, T_DICT)) {
        const struct sl_entry *entry = sl_table_next(l->v, &l->at);

        if (entry) {
            key = entry->key;
            v = entry->value;
            l->at++;
        }
    } else {
        v = sl_iter_next(e->s, &l->it);
    }
    if (!v)
        return 0;
    if (l->count++)
        sl_text_char(e->t, ',');
    if (key) {
        if (!put_string(e->t, key))
            return 0;
        sl_text_char(e->t, ':');
    }
    return v;
}

static bool encode_levels(struct encoder *e)
{
    while (e->depth) {
        value v;

        if (!sl_charge(e->s, 1))
            return false;
        v = next_value(e);
        if (v) {
            if (!put_value(e, v))
                return false;
        } else if (sl_failed(e->s) || e->t->failed) {
            return false;
        } else {
            close_level(e);
        }
    }
    return !e->t->failed;
}

bool sl_json_encode(struct sl_text *t, value v, bool module)
{
    struct encoder e = {.s = t->s, .t = t, .module = module};
    size_t size = (e.s->limits.value_depth + 1) * sizeof *e.levels;
    bool ok;

    if (!is_container(&e, v))
        return put_value(&e, v);
    if (!(e.levels = sl_storage(e.s, size)))
        return false;
    ok = put_value(&e, v) && encode_levels(&e);
    while (e.depth)
        close_level(&e);
    sl_storage_free(e.s, e.levels, size);
    return ok;
}

/* --- layout ------------------------------------------------------------------------------ */

static bool new_line(struct sl_text *t, value prefix, value indent,
                     unsigned depth)
{
    const struct sl_string *p = sl_string(prefix), *i = sl_string(indent);

    if (!sl_charge(t->s, 1 + (p->length + (uint64_t)depth * i->length) / 64))
        return false;
    sl_text_char(t, '\n');
    sl_text_append(t, p->p, p->length);
    while (depth--)
        sl_text_append(t, i->p, i->length);
    return true;
}

bool sl_json_indent(struct sl_text *t, struct sl_json_reader *r, value prefix,
                    value indent)
{
    bool first = true, after_key = false;

    for (;;) {
        enum sl_json_event event = sl_json_next(r);
        unsigned depth = r->depth;

        if (event <= JSON_END || t->failed)
            return event == JSON_END && !t->failed;
        if (event == JSON_CLOSE) {
            if (!first && !new_line(t, prefix, indent, depth))
                return false;
            sl_text_char(t, r->p[-1]);
            first = after_key = false;
            continue;
        }
        bool opens = event == JSON_ARRAY || event == JSON_OBJECT;
        depth -= opens;
        if (!after_key && depth) {
            if (!first)
                sl_text_char(t, ',');
            if (!new_line(t, prefix, indent, depth))
                return false;
        }
        if (opens)
            sl_text_char(t, r->p[-1]);
        else
            sl_text_put(t, r->token, r->length);
        if (event == JSON_KEY)
            sl_text_append(t, ": ", 2);
        after_key = event == JSON_KEY;
        first = opens;
    }
}
