#include "base/invariant.h"
#include "base/json.h"
#include "base/splice.h"
#include "base/text.h"

/*
 * An edit is a few splices of the text, found with the positions of the tree:
 *
 *     "a": 1 // one          "a": 1, // one
 *     }               -->        "b": 2
 *                            }
 *      ^ ^    ^
 *      | |    `- the new member: behind comments on the neighbour's line
 *      | `- its comma
 *      `- the last value
 *
 * The result is parsed again before anyone gets it: a fault here must not
 * reach a file of the user's.
 */

struct edit {
    struct str text;
    const struct json_options *options;
    struct arena *arena;
    struct splices splices;
};

static void splice(struct edit *d, size_t from, size_t to, struct str text)
{
    splice_add(&d->splices, from, to, text);
}

/* --- looking at the text, which is known to parse ----------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_break(char c)
{
    return c == '\n' || c == '\r';
}

static char char_at(struct str s, size_t at)
{
    return at < s.n ? s.p[at] : '\0';
}

static size_t skip_blanks(struct str s, size_t at)
{
    while (is_blank(char_at(s, at)))
        at++;
    return at;
}

static size_t skip_white(struct str s, size_t at)
{
    while (is_blank(char_at(s, at)) || is_break(char_at(s, at)))
        at++;
    return at;
}

/* Returns the start of the blanks before `at`, at least `floor`. */
static size_t back_blanks(struct str s, size_t at, size_t floor)
{
    while (at > floor && is_blank(s.p[at - 1]))
        at--;
    return at;
}

static size_t back_white(struct str s, size_t at, size_t floor)
{
    while (at > floor && (is_blank(s.p[at - 1]) || is_break(s.p[at - 1])))
        at--;
    return at;
}

/* Returns the end of the comment at `at`, or `at` if there is none. The line
 * break after a "//" comment is not part of it. */
static size_t skip_comment(struct str s, size_t at)
{
    struct str rest = str_from_index(s, at);

    if (str_starts(rest, STR("//"))) {
        while (at < s.n && !is_break(s.p[at]))
            at++;
        return at;
    }
    if (!str_starts(rest, STR("/*")))
        return at;
    return at + 2 + str_find(str_from_index(rest, 2), STR("*/")) + 2;
}

/* Returns the position of the next byte that is neither white space
 * nor comment. */
static size_t skip_space(struct str s, size_t at)
{
    for (;;) {
        size_t before = at;

        at = skip_comment(s, skip_white(s, at));
        if (at == before)
            return at;
    }
}

/* Returns the end of the string that begins at `at`. */
static size_t skip_string(struct str s, size_t at)
{
    for (at++; char_at(s, at) != '"'; at++)
        if (s.p[at] == '\\')
            at++;
    return at + 1;
}

static bool has_break(struct str s)
{
    return str_has_char(s, '\n') || str_has_char(s, '\r');
}

static size_t line_start(struct str s, size_t at)
{
    while (at > 0 && !is_break(s.p[at - 1]))
        at--;
    return at;
}

/* Returns the indentation of the line of `at`. */
static struct str line_indent(struct str s, size_t at)
{
    size_t start = line_start(s, at), end = skip_blanks(s, start);

    return str_slice(s, start, end < at ? end : at);
}

/* Returns the position after the line break at `at`, if there is one. */
static size_t skip_break(struct str s, size_t at)
{
    if (char_at(s, at) == '\r')
        at++;
    if (char_at(s, at) == '\n')
        at++;
    return at;
}

/* Returns the position before the line break that ends at `at`. The lines of a
 * file may end in different ways; a put keeps the existing line break. */
static size_t back_break(struct str s, size_t at)
{
    if (at > 0 && s.p[at - 1] == '\n')
        at--;
    else if (at > 0 && s.p[at - 1] == '\r')
        return at - 1;
    return at > 0 && s.p[at - 1] == '\r' ? at - 1 : at;
}

static struct str line_end(struct str s)
{
    size_t lf = str_find_char(s, '\n');

    if (lf == SIZE_MAX)
        return str_has_char(s, '\r') ? STR("\r") : STR("\n");
    return lf > 0 && s.p[lf - 1] == '\r' ? STR("\r\n") : STR("\n");
}

/* --- the style of existing members ---------------------------------------- */

/* Returns the member before `m` in `object`, or NULL. */
static const struct json *member_before(const struct json *object,
                                        const struct json *m)
{
    const struct json *before = NULL;

    for (const struct json *x = object->first; x && x != m; x = x->next)
        before = x;
    return before;
}

/* Returns the start of the gap between the preceding member and `m`. */
static size_t gap_start(const struct json *object, const struct json *m)
{
    const struct json *before = member_before(object, m);

    return before ? before->end : object->start + 1;
}

/* Returns whether `m` is on another line than the preceding token. */
static bool on_own_line(struct str s, const struct json *object,
                        const struct json *m)
{
    return has_break(str_slice(s, gap_start(object, m), m->key_start));
}

/* Gets one level of indentation: that of the first member of `object` relative
 * to the line where `object` opens. */
static bool find_unit(struct str s, const struct json *object, struct str *unit)
{
    const struct json *m = object->first;
    struct str outer, inner;

    if (!m || !on_own_line(s, object, m))
        return false;
    outer = line_indent(s, object->start);
    inner = line_indent(s, m->key_start);
    if (inner.n <= outer.n || !str_starts(inner, outer))
        return false;
    *unit = str_from_index(inner, outer.n);
    return true;
}

/* The style in which new text is written. */
struct style {
    bool one_line;
    struct str unit, base, end; /* one level, outer indentation, line break */
};

/* Writes `value`, which has two blanks per level. Its line breaks are replaced
 * by those of the file with its indentation, or removed. Strings contain no
 * raw line breaks. */
static void put_value(struct buf *b, struct str value, const struct style *t)
{
    for (size_t at = 0; at < value.n;) {
        char before = at ? value.p[at - 1] : '{', after;
        size_t blanks;

        if (!is_break(value.p[at])) {
            buf_char(b, value.p[at++]);
            continue;
        }
        at = skip_break(value, at);
        blanks = skip_blanks(value, at) - at;
        at += blanks;
        after = char_at(value, at);
        if (t->one_line) {
            if (before != '{' && before != '[' && after != '}' && after != ']')
                buf_char(b, ' ');
            continue;
        }
        buf_append(b, t->end);
        buf_append(b, t->base);
        for (size_t i = 0; i < blanks / 2; i++)
            buf_append(b, t->unit);
        if (blanks % 2)
            buf_char(b, ' ');
    }
}

/* --- putting ------------------------------------------------------------ */

/* Returns `value` wrapped in new objects for all names of `path`
 * except the first. */
static struct str wrap_value(struct edit *d, const struct str *path,
                             size_t depth, struct str value)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;
    struct style inner = {.unit = STR("  "), .end = STR("\n")};
    struct buf base;

    buf_init(&b, SIZE_MAX / 2);
    buf_init(&base, SIZE_MAX / 2);
    json_writer_init(&w, &b, 2);
    for (size_t i = 1; i < depth; i++) {
        json_begin_object(&w);
        json_key_str(&w, path[i]);
        buf_text(&base, "  ");
    }
    inner.base = buf_str(&base);
    put_value(&b, value, &inner);
    w.after_key = false;
    for (size_t i = 1; i < depth; i++)
        json_end_object(&w);
    buf_done(&base);
    return arena_str(d->arena, buf_str(&b));
}

static void put_member(struct buf *b, struct str name, const char *colon,
                       struct str value, const struct style *t)
{
    struct json_writer w;

    json_writer_init(&w, b, 0);
    json_string(&w, name);
    buf_text(b, colon);
    put_value(b, value, t);
}

/* Returns whether there is white space between the colon of `m` and its
 * value. */
static bool is_spaced(struct str s, const struct json *m)
{
    size_t colon = skip_space(s, skip_string(s, m->key_start));

    return colon + 1 < m->start;
}

/* Returns the end of the comments on the line of `at`. Sets `*open` if the last
 * one extends to the end of its line. */
static size_t skip_line_comments(struct str s, size_t at, bool *open)
{
    *open = false;
    for (;;) {
        size_t start = skip_blanks(s, at), end = skip_comment(s, start);

        if (end == start)
            return at;
        *open = s.p[start + 1] == '/';
        at = end;
    }
}

/* Adds a member after the last one, in its style. */
static void add_after(struct edit *d, const struct json *object,
                      struct str name, struct str value, struct style *t)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct str s = d->text;
    const struct json *last = object->first;
    size_t comma, at;
    bool open, own_line, spaced;

    while (last->next)
        last = last->next;
    comma = skip_space(s, last->end);
    if (s.p[comma] == ',') {
        at = skip_line_comments(s, comma + 1, &open);
    } else {
        comma = SIZE_MAX;
        splice(d, last->end, last->end, STR(","));
        at = skip_line_comments(s, last->end, &open);
    }
    own_line = on_own_line(s, object, last);
    spaced = is_spaced(s, last);
    t->one_line = !own_line && !open;
    t->base = line_indent(s, last->key_start);
    if (!own_line)
        t->base = str_join(t->base, t->unit, d->arena);

    buf_init(&b, SIZE_MAX / 2);
    if (!t->one_line) {
        buf_append(&b, t->end);
        buf_append(&b, t->base);
    } else if (spaced || is_blank(s.p[last->key_start - 1])) {
        buf_char(&b, ' ');
    }
    put_member(&b, name, spaced ? ": " : ":", value, t);
    if (comma != SIZE_MAX)
        buf_char(&b, ',');
    splice(d, at, at, arena_str(d->arena, buf_str(&b)));
}

/* Returns the end of the last comment after `at`, with only white space
 * between, or `at`. Sets `*open` if it extends to the end of its line. */
static size_t last_comment(struct str s, size_t at, bool *open)
{
    *open = false;
    for (;;) {
        size_t start = skip_white(s, at), end = skip_comment(s, start);

        if (end == start)
            return at;
        *open = s.p[start + 1] == '/';
        at = end;
    }
}

/* Adds the first member of an empty object, after any comments in it. */
static void add_first(struct edit *d, const struct json *object,
                      struct str name, struct str value, struct style *t)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct str s = d->text, outer = line_indent(s, object->start), rest;
    size_t close = object->end - 1;
    bool open;
    size_t at = last_comment(s, object->start + 1, &open);

    rest = str_slice(s, at, close);
    buf_init(&b, SIZE_MAX / 2);
    /* After a comment on the line of the brace, so that a later removal
     * restores the original bytes. */
    t->one_line |= at > object->start + 1 && !has_break(rest);
    if (t->one_line && !open && !has_break(rest)) {
        buf_append(&b, rest.n || at > object->start + 1 ? STR(" ") : STR(""));
        put_member(&b, name, ": ", value, t);
        buf_append(&b, rest);
        splice(d, at, close, arena_str(d->arena, buf_str(&b)));
        return;
    }
    t->one_line = false;
    t->base = str_join(outer, t->unit, d->arena);
    buf_append(&b, t->end);
    buf_append(&b, t->base);
    put_member(&b, name, ": ", value, t);
    if (has_break(rest)) { /* the brace is on its own line already */
        splice(d, at, at, arena_str(d->arena, buf_str(&b)));
        return;
    }
    buf_append(&b, t->end);
    buf_append(&b, outer);
    splice(d, at, close, arena_str(d->arena, buf_str(&b)));
}

/* Replaces the value of `m`, a member of `object` (NULL: the whole text). */
static void replace(struct edit *d, const struct json *object,
                    const struct json *m, struct str value, struct style *t)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct str s = d->text;

    if (object) {
        t->base = line_indent(s, m->key_start);
        t->one_line = !on_own_line(s, object, m) &&
                      !has_break(str_slice(s, m->start, m->end));
    }
    buf_init(&b, SIZE_MAX / 2);
    put_value(&b, value, t);
    splice(d, m->start, m->end, arena_str(d->arena, buf_str(&b)));
}

/* --- both --------------------------------------------------------------- */

/* Applies the splices and parses the result. */
static bool apply(const struct edit *d, struct str *out, struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};
    const struct json *again;
    struct str result;

    buf_init(&b, SIZE_MAX / 2);
    splice_apply(&d->splices, d->text, &b);
    result = arena_str(d->arena, buf_str(&b));
    if (!json_parse(result, d->options, d->arena, &again, NULL, e))
        return err_wrap(e, "the edited text would be invalid");
    *out = result;
    return true;
}

/* Checks that the value is strict JSON, without comments. */
static bool check_value(const struct edit *d, struct str value, struct err *e)
{
    struct json_options strict = *d->options;
    const struct json *j;

    strict.comments = strict.trailing_commas = false;
    return json_parse(value, &strict, d->arena, &j, NULL, e) ||
           err_wrap(e, "the new value");
}

bool json_edit_put(struct str text, const struct json_options *o,
                   const struct str *path, size_t depth, struct str value,
                   struct arena *a, struct str *out, struct err *e)
{
    struct edit d = {
        .text = text, .options = o, .arena = a, .splices = {.arena = a}};
    struct style t = {.unit = STR("  ")};
    const struct json *object = NULL, *parent = NULL, *at;
    size_t i;

    if (skip_white(text, 0) == text.n)
        d.text = STR("{}\n");
    t.end = line_end(d.text);
    value = str_trim(value);
    if (!json_parse(d.text, o, a, &at, NULL, e) || !check_value(&d, value, e))
        return false;
    for (i = 0; i < depth; i++)
        if (!text_is_utf8(path[i]))
            return err_set(e, ERR_FORMAT, "a name is not UTF-8");
    for (i = 0; i < depth && at; i++) {
        if (at->kind != JSON_OBJECT)
            return err_set(e, ERR_FORMAT, "line %u: expected an object, not %s",
                           at->line, json_kind_name(at->kind));
        find_unit(d.text, at, &t.unit);
        parent = object;
        object = at;
        at = json_get_str(object, path[i]);
    }
    if (at) {
        replace(&d, object, at, value, &t);
        return apply(&d, out, e);
    }
    INVARIANT(object); /* the root exists, so a name of the path is missing */
    value = wrap_value(&d, path + i - 1, depth - i + 1, value);
    t.one_line = parent && !on_own_line(d.text, parent, object);
    if (object->first)
        add_after(&d, object, path[i - 1], value, &t);
    else
        add_first(&d, object, path[i - 1], value, &t);
    return apply(&d, out, e);
}

/* --- removing ----------------------------------------------------------- */

/* Returns whether a part of the text without values has a comment; "/" can only
 * begin a comment there. */
static bool has_comment(struct str s, size_t from, size_t to)
{
    return str_has_char(str_slice(s, from, to), '/');
}

/* Removes [m->key_start, end) with its white space: the whole line if
 * the member is alone on it; otherwise the blanks after it, or before it
 * if it is the last. */
static void cut_member(struct edit *d, const struct json *m, size_t floor,
                       size_t end)
{
    struct str s = d->text;
    size_t start = m->key_start, next = skip_blanks(s, end);
    size_t line = back_blanks(s, start, floor);
    bool first = line == 0 || is_break(s.p[line - 1]), open;
    char c = char_at(s, next);

    if (first && is_break(c)) {
        splice(d, back_break(s, line), next, STR(""));
        return;
    }
    if (c != '}' && !is_break(c)) {
        splice(d, start, next, STR(""));
        return;
    }
    last_comment(s, floor, &open);
    if (!first || open)
        splice(d, line, end, STR(""));
    else
        splice(d, back_white(s, start, floor), end, STR(""));
}

static void remove_member(struct edit *d, const struct json *object,
                          const struct json *m)
{
    struct str s = d->text;
    const struct json *before = member_before(object, m);
    size_t floor = object->start + 1;
    size_t comma = skip_space(s, m->end);
    bool has_comma = s.p[comma] == ',';
    size_t end = has_comma ? comma + 1 : m->end;

    if (object->count == 1 && skip_white(s, floor) == m->key_start &&
        skip_white(s, end) == object->end - 1 && !has_comment(s, m->end, end)) {
        splice(d, floor, object->end - 1, STR("")); /* "{}" again */
        return;
    }
    if (before) {
        comma = skip_space(s, before->end);
        floor = comma + 1;
        if (!has_comma) /* the preceding member is the last one now */
            splice(d, comma, comma + 1, STR(""));
    }
    if (has_comma && has_comment(s, m->end, end)) {
        splice(d, m->key_start, m->end, STR(""));
        splice(d, end - 1, end, STR(""));
        return;
    }
    cut_member(d, m, floor, end);
}

bool json_edit_remove(struct str text, const struct json_options *o,
                      const struct str *path, size_t depth, struct arena *a,
                      struct str *out, struct err *e)
{
    struct edit d = {
        .text = text, .options = o, .arena = a, .splices = {.arena = a}};
    const struct json *object = NULL, *at;

    if (skip_white(text, 0) == text.n) {
        *out = text;
        return true;
    }
    if (!json_parse(text, o, a, &at, NULL, e))
        return false;
    for (size_t i = 0; i < depth && at; i++) {
        object = at;
        at = json_get_str(object, path[i]);
    }
    if (!object || !at) {
        *out = text;
        return true;
    }
    remove_member(&d, object, at);
    return apply(&d, out, e);
}
