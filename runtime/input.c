#include "mapm/input.h"

#include "base/map.h"
#include "base/text.h"

/*
 * The argument of run(): one object, from a text and "key=value" pairs. A
 * duplicate key in the text is rejected; a pair replaces a member of the text.
 */

static const struct json_options options = {
    .max_bytes = INPUT_MAX_BYTES,
    .max_depth = INPUT_MAX_DEPTH,
    .max_nodes = INPUT_MAX_BYTES / 4,
};

static bool read_object(struct str text, struct arena *a,
                        const struct json **out, struct err *e)
{
    if (!json_parse(text, &options, a, out, NULL, e)) {
        if (e->code == ERR_FORMAT)
            e->code = ERR_USAGE;
        return err_wrap(e, "the input is no JSON");
    }
    if ((*out)->kind == JSON_OBJECT)
        return true;
    err_set(e, ERR_USAGE, "the input is %s, not an object",
            json_kind_name((*out)->kind));
    return err_hint(e, "as {\"task\": \"…\"}");
}

struct pair {
    struct str key, value;
    const struct json *json; /* NULL for a string */
};

static bool read_pair(struct str text, struct arena *a, struct pair *out,
                      struct err *e)
{
    struct err ignored = {0};
    struct str rest = text;

    if (!text_is_utf8(text))
        return err_set(e, ERR_USAGE, "an input that is not UTF-8");
    if (!str_has_char(text, '=') || !str_cut(&rest, '=', &out->key) ||
        out->key.n == 0) {
        err_set(e, ERR_USAGE, "the input \"%.*s\" is not of the form key=value",
                STR_ARG(text_cut(text, 80)));
        return err_hint(e, "key=value, or all of it as --input JSON");
    }
    out->value = rest.p ? rest : STR("");
    if (!json_parse(out->value, &options, a, &out->json, NULL, &ignored))
        out->json = NULL;
    return true;
}

static bool read_pairs(const struct str *texts, size_t count, struct arena *a,
                       struct map *pairs, struct err *e)
{
    map_init(pairs, a);
    for (size_t i = 0; i < count; i++) {
        struct pair *p = arena_new(a, struct pair);

        if (!read_pair(texts[i], a, p, e))
            return false;
        if (!map_put(pairs, p->key, p))
            return err_set(e, ERR_USAGE,
                           "the input key \"%.*s\" is given twice",
                           STR_ARG(text_cut(p->key, 80)));
    }
    return true;
}

static void put_pair(struct json_writer *w, const struct pair *p)
{
    json_key_str(w, p->key);
    if (p->json)
        json_value(w, p->json);
    else
        json_string(w, p->value);
}

/* Keys of the text keep their positions; keys of pairs only are appended. */
static void put_object(struct buf *b, const struct json *object,
                       const struct map *pairs)
{
    struct json_writer w;

    json_writer_init(&w, b, 0);
    json_begin_object(&w);
    for (const struct json *m = object ? object->first : NULL; m; m = m->next) {
        const struct pair *p = map_find(pairs, m->key);

        if (p) {
            put_pair(&w, p);
        } else {
            json_key_str(&w, m->key);
            json_value(&w, m);
        }
    }
    for (size_t i = 0; i < pairs->count; i++)
        if (!object || !json_get_str(object, pairs->entries[i].key))
            put_pair(&w, pairs->entries[i].value);
    json_end_object(&w);
}

bool input_read(struct str text, const struct str *pairs, size_t pair_count,
                struct arena *a, struct str *out, bool *given, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    CLEANUP(buf_done) struct buf b = {0};
    const struct json *object = NULL;
    struct map read;

    buf_init(&b, INPUT_MAX_BYTES);
    if (str_trim(text).n && !read_object(text, &scratch, &object, e))
        return false;
    if (!read_pairs(pairs, pair_count, &scratch, &read, e))
        return false;
    put_object(&b, object, &read);
    if (!buf_check(&b, "the input", e))
        return false;
    *out = arena_str(a, buf_str(&b));
    *given = object || pair_count;
    return true;
}
