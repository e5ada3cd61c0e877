#include <stdlib.h>

#include "tape.h"

/* --- values ---------------------------------------------------------------- */

/* An open array or object with its children, sorted if they have keys. */
struct level {
    const struct json *node;
    const struct json **children;
    size_t count, next;
};

struct painter {
    struct buf *out;
    struct arena *arena;
    enum tape_part part;
    struct level *levels;
    size_t depth, capacity;
};

static int by_key(const void *x, const void *y)
{
    return str_cmp((*(const struct json *const *)x)->key,
                   (*(const struct json *const *)y)->key);
}

/* Matches trace[…].data.duration_s in entries of the host. */
static bool is_duration(const struct painter *p, const struct json *j)
{
    struct str kind;

    if (p->depth != 4 || !str_is(j->key, "duration_s") ||
        !str_is(p->levels[1].node->key, "trace") ||
        !str_is(p->levels[3].node->key, "data"))
        return false;
    kind = json_text(json_get(p->levels[2].node, "kind"));
    return str_starts(kind, STR("metaskill_"));
}

static bool counts(const struct painter *p, const struct json *j)
{
    if (p->part == TAPE_ANY)
        return true;
    if (p->part == TAPE_ENVELOPE_NO_TRACE && p->depth == 1 &&
        str_is(j->key, "trace"))
        return false;
    return !is_duration(p, j);
}

static void open_level(struct painter *p, const struct json *j)
{
    struct level *l;

    p->levels = arena_grow(p->arena, p->levels, p->depth, &p->capacity,
                           sizeof *p->levels);
    l = &p->levels[p->depth++];
    *l = (struct level){
        .node = j,
        .children = arena_array(p->arena, j->count, sizeof(void *)),
    };
    for (const struct json *child = j->first; child; child = child->next)
        if (counts(p, child))
            l->children[l->count++] = child;
    if (j->kind == JSON_OBJECT && l->count)
        qsort(l->children, l->count, sizeof(void *), by_key);
}

static void new_line(struct painter *p, size_t depth)
{
    buf_char(p->out, '\n');
    for (size_t i = 0; i < depth; i++)
        buf_text(p->out, "  ");
}

static void put_string(struct painter *p, struct str s)
{
    struct json_writer w;

    json_writer_init(&w, p->out, 0);
    json_string(&w, s);
}

/* Text of several lines is written on several lines, so that a diff shows the
 * changed ones. Adjacent strings without a comma are one string. */
static void put_lines(struct painter *p, struct str s)
{
    for (bool first = true; s.n || first; first = false) {
        size_t end = str_find_char(s, '\n');
        struct str line = end == SIZE_MAX ? s : str_slice(s, 0, end + 1);

        if (!first)
            new_line(p, p->depth + 1);
        put_string(p, line);
        s = str_from_index(s, line.n);
    }
}

static void put_value(struct painter *p, const struct json *j)
{
    switch (j->kind) {
    case JSON_NULL:
        buf_text(p->out, "null");
        break;
    case JSON_FALSE:
    case JSON_TRUE:
        buf_text(p->out, j->kind == JSON_TRUE ? "true" : "false");
        break;
    case JSON_NUMBER:
        json_put_number(p->out, j->text);
        break;
    case JSON_STRING:
        put_lines(p, j->text);
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        buf_char(p->out, j->kind == JSON_ARRAY ? '[' : '{');
        open_level(p, j);
        break;
    }
}

static void put_next(struct painter *p)
{
    struct level *top = &p->levels[p->depth - 1];
    bool is_object = top->node->kind == JSON_OBJECT;
    const struct json *j;

    if (top->next == top->count) {
        p->depth--;
        if (top->count)
            new_line(p, p->depth);
        buf_char(p->out, is_object ? '}' : ']');
        return;
    }
    j = top->children[top->next++];
    if (top->next > 1)
        buf_char(p->out, ',');
    new_line(p, p->depth);
    if (is_object) {
        put_string(p, j->key);
        buf_text(p->out, ": ");
    }
    put_value(p, j);
}

struct str tape_value(struct str json, enum tape_part part, struct arena *a)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    CLEANUP(buf_done) struct buf out;
    const struct json_options options = {.max_depth = TAPE_MAX_DEPTH};
    struct painter p = {.out = &out, .arena = &scratch, .part = part};
    const struct json *root;
    struct err ignored = {0};

    /* Indentation can make a small text large. */
    buf_init(&out, (size_t)4 * TAPE_MAX_BYTES);
    if (!json_parse(json, &options, &scratch, &root, NULL, &ignored))
        return json;
    put_value(&p, root);
    while (p.depth)
        put_next(&p);
    buf_char(&out, '\n');
    return arena_str(a, buf_str(&out));
}

/* --- errors ---------------------------------------------------------------- */

/* Finds " (NAME, …)" and the name in it; returns false for other texts. */
static bool names_limit(struct str text, struct str *start, size_t *end)
{
    for (size_t i = 0; i < LIMITS_COUNT; i++) {
        struct str name = str_cstr(limits_default.all[i].name);

        if (!str_starts(str_from_index(text, 1), name) ||
            !str_starts(str_from_index(text, 1 + name.n), STR(", ")))
            continue;
        *start = str_slice(text, 0, 1 + name.n);
        *end = str_find_char(text, ')');
        return *end != SIZE_MAX;
    }
    return false;
}

struct str tape_error(struct str text, struct arena *a)
{
    CLEANUP(buf_done) struct buf out;
    struct str start;
    size_t end;

    buf_init(&out, TAPE_MAX_BYTES);
    while (text.n) {
        size_t open = str_find_char(text, '(');

        buf_append(&out, str_slice(text, 0, open));
        text = str_from_index(text, open);
        if (text.n && names_limit(text, &start, &end)) {
            buf_append(&out, start);
            text = str_from_index(text, end);
        } else if (text.n) {
            buf_char(&out, '(');
            text = str_from_index(text, 1);
        }
    }
    return arena_str(a, buf_str(&out));
}
