#include "yaml_edit.h"

#include "base/json.h"
#include "base/splice.h"
#include "base/text.h"
#include "base/yaml.h"
#include "mapm/limits.h"

#define NODES_MAX 1000000
#define STEP      2 /* blanks per level */

/* A text, its tree, and the section of interest. */
struct document {
    struct str text, newline;
    struct arena *arena;
    const struct yaml *root, *section, *value; /* NULL if absent */
};

static bool fail(unsigned line, const char *what, struct err *e)
{
    return err_set(e, ERR_FORMAT, "line %u: %s", line, what);
}

static bool parse(struct str text, struct arena *a, const struct yaml **root,
                  struct err *e)
{
    struct yaml_options o = {.max_bytes = CLIENT_FILE_MAX_BYTES,
                             .max_depth = CLIENT_FILE_MAX_DEPTH,
                             .max_nodes = NODES_MAX};

    return yaml_parse(text, &o, a, root, NULL, e);
}

static const struct yaml *find(const struct yaml *mapping, struct str key)
{
    for (const struct yaml *y = mapping ? mapping->first : NULL; y; y = y->next)
        if (str_eq(y->key, key))
            return y;
    return NULL;
}

static struct str name_of(const struct yaml *item,
                          const struct yaml_place *place)
{
    const struct yaml *name =
        item->kind == YAML_MAPPING ? yaml_get(item, place->name) : NULL;

    return name && name->kind == YAML_SCALAR ? name->text : STR("");
}

static struct str key_of(const struct yaml *y, const struct yaml_place *place)
{
    return place->name ? name_of(y, place) : y->key;
}

static bool find_value(const struct yaml *section,
                       const struct yaml_place *place, const struct yaml **out,
                       struct err *e)
{
    *out = place->name ? NULL : find(section, place->key);
    if (!place->key.n)
        return true; /* the section itself */
    for (const struct yaml *y = section->first; place->name && y; y = y->next) {
        if (!str_eq(name_of(y, place), place->key))
            continue;
        if (*out)
            return err_set(e, ERR_FORMAT, "line %u: duplicate key \"%.*s\"",
                           y->line, STR_ARG(place->key));
        *out = y;
    }
    return true;
}

static bool is_null(const struct yaml *y)
{
    return y->kind == YAML_SCALAR && y->style == YAML_PLAIN && !y->text.n;
}

static bool open_text(struct document *d, struct str text,
                      const struct yaml_place *place, struct arena *a,
                      struct err *e)
{
    enum yaml_kind kind = place->name ? YAML_SEQUENCE : YAML_MAPPING;

    *d = (struct document){
        .text = text, .newline = text_line_end(text), .arena = a};
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '\r' && (i + 1 == text.n || text.p[i + 1] != '\n'))
            return err_set(e, ERR_FORMAT, "a carriage return ends a line");
    if (!parse(text, a, &d->root, e))
        return false;
    if (!d->root)
        return true;
    if (d->root->kind != YAML_MAPPING)
        return fail(d->root->line, "the file is not a mapping", e);
    d->section = find(d->root, place->section);
    if (d->section && d->section->kind != kind && !is_null(d->section))
        return err_set(e, ERR_FORMAT, "line %u: \"%.*s\" is no %s",
                       d->section->line, STR_ARG(place->section),
                       place->name ? "list" : "mapping");
    return !d->section || d->section->kind != kind ||
           find_value(d->section, place, &d->value, e);
}

/* --- empty {} and [] --------------------------------------------------------- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_bracket(char c)
{
    return c == '{' || c == '}' || c == '[' || c == ']';
}

static bool is_empty_flow(const struct yaml *y)
{
    return y && y->kind != YAML_SCALAR && y->flow && !y->first;
}

/* Finds the empty flow collection that is to get the first entry, with the
 * white space before it: the section, or the root if the text has nothing else.
 * Returns false for anything else, also for a comment in it. */
static bool find_gap(const struct document *d, size_t *from, size_t *to)
{
    const struct yaml *y = d->section ? d->section : d->root;

    if (!is_empty_flow(y))
        return false;
    *from = d->section ? y->start : 0;
    *to = d->section ? y->end : d->text.n;
    while (*from > 0 && is_space(d->text.p[*from - 1]))
        --*from;
    if (d->section && (*from == 0 || d->text.p[*from - 1] != ':'))
        return false;
    for (size_t i = *from; i < *to; i++)
        if (!is_space(d->text.p[i]) && !is_bracket(d->text.p[i]))
            return false;
    return true;
}

bool yaml_edit_find_gap(struct str text, const struct yaml_place *place,
                        struct arena *a, struct str *gap, bool *is_all,
                        struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct document d;
    size_t from, to;

    *gap = STR("");
    *is_all = false;
    if (!open_text(&d, text, place, &scratch, e))
        return false;
    if (!find_gap(&d, &from, &to))
        return true;
    *gap = arena_str(a, str_slice(text, from, to));
    *is_all = !d.section;
    return true;
}

/* --- values ---------------------------------------------------------------- */

static void put_hashed(struct json_writer *w, const struct yaml *scalar)
{
    enum yaml_type type = yaml_type_of(scalar);

    if (type == YAML_TYPE_STRING) {
        json_string(w, scalar->text);
        return;
    }
    json_begin_array(w); /* distinguishes true from "true" */
    json_string(w, str_cstr(yaml_type_name(type)));
    json_string(w, scalar->text);
    json_end_array(w);
}

static bool hash_value(const struct yaml *y, struct hash *out, struct err *e)
{
    CLEANUP(buf_done) struct buf text = {0};
    struct json_writer w;

    buf_init(&text, 8 * (size_t)CLIENT_FILE_MAX_BYTES);
    json_writer_init(&w, &text, 0);
    yaml_put_json(y, &w, put_hashed);
    *out = hash_of(buf_str(&text));
    return buf_check(&text, "the file", e);
}

static void put_indent(struct buf *b, size_t indent)
{
    for (size_t i = 0; i < indent; i++)
        buf_char(b, ' ');
}

static void put_scalar(struct buf *b, const struct json *j, struct arena *a)
{
    buf_char(b, ' ');
    if (j->kind == JSON_STRING)
        buf_append(b, yaml_quote(j->text, a));
    else if (j->kind == JSON_NUMBER)
        buf_append(b, j->text);
    else
        buf_text(b, j->kind == JSON_TRUE    ? "true"
                    : j->kind == JSON_FALSE ? "false"
                                            : "null");
}

static bool is_collection(const struct json *j)
{
    return j->kind == JSON_ARRAY || j->kind == JSON_OBJECT;
}

/* Writes the value after a key or after the dash of a list item. */
static void put_value(struct buf *b, const struct json *j, size_t indent,
                      struct str newline, struct arena *a)
{
    if (!is_collection(j)) {
        put_scalar(b, j, a);
        return;
    }
    if (!j->first)
        buf_text(b, j->kind == JSON_ARRAY ? " []" : " {}");
    for (const struct json *x = j->first; x; x = x->next) {
        buf_append(b, newline);
        put_indent(b, indent);
        if (j->kind == JSON_ARRAY) {
            buf_char(b, '-');
        } else {
            buf_append(b, yaml_quote(x->key, a));
            buf_char(b, ':');
        }
        put_value(b, x, indent + STEP, newline, a);
    }
}

/* Writes a list item, with its first member after the dash. */
static void put_item(struct buf *b, const struct json *value, size_t indent,
                     struct str newline, struct arena *a)
{
    put_indent(b, indent);
    buf_char(b, '-');
    for (const struct json *x = value->first; x; x = x->next) {
        if (x == value->first) {
            buf_char(b, ' ');
        } else {
            buf_append(b, newline);
            put_indent(b, indent + STEP);
        }
        buf_append(b, yaml_quote(x->key, a));
        buf_char(b, ':');
        put_value(b, x, indent + 2 * STEP, newline, a);
    }
}

/* Writes the entry of `place` without its final line break. */
static void put_block(struct buf *b, const struct yaml_place *place,
                      const struct json *value, size_t indent,
                      struct str newline, struct arena *a)
{
    if (place->name) {
        put_item(b, value, indent, newline, a);
        return;
    }
    put_indent(b, indent);
    buf_append(b, yaml_quote(place->key, a));
    buf_char(b, ':');
    put_value(b, value, indent + STEP, newline, a);
}

static bool read_value(struct str value, struct arena *a,
                       const struct json **out, struct err *e)
{
    struct json_options o = {.max_depth = MCP_MAX_DEPTH + 1};

    return json_parse(value, &o, a, out, NULL, e) ||
           err_wrap(e, "the new value");
}

bool yaml_edit_find(struct str text, const struct yaml_place *place,
                    bool *found, struct hash *hash, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct document d;

    if (!open_text(&d, text, place, &a, e))
        return false;
    *found = d.value != NULL;
    return !d.value || hash_value(d.value, hash, e);
}

bool yaml_edit_has_section(struct str text, const struct yaml_place *place,
                           bool *has, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct document d;

    if (!open_text(&d, text, place, &a, e))
        return false;
    *has = d.section != NULL;
    return true;
}

/* --- lines ----------------------------------------------------------------- */

static size_t line_start(struct str text, size_t at)
{
    while (at > 0 && text.p[at - 1] != '\n')
        at--;
    return at;
}

/* Returns the offset after the line that contains `at`, the end of a value. */
static size_t line_end(struct str text, size_t at)
{
    size_t lf;

    if (at > 0 && text.p[at - 1] == '\n')
        return at;
    lf = str_find_char(str_from_index(text, at), '\n');
    return lf == SIZE_MAX ? text.n : at + lf + 1;
}

static bool is_item(const struct yaml *in)
{
    return in->kind == YAML_SEQUENCE;
}

/* Returns the offset of the key of a member, or of the dash of a list item. */
static size_t entry_start(const struct document *d, const struct yaml *in,
                          const struct yaml *y)
{
    size_t at = is_item(in) ? y->start : y->key_start;

    while (is_item(in) && at > 0 && d->text.p[at - 1] == ' ')
        at--;
    return at - (is_item(in) && at > 0 && d->text.p[at - 1] == '-');
}

static bool fail_flow(const struct yaml *in, struct err *e)
{
    return fail(in->line,
                is_item(in) ? "[…] is not edited" : "{…} is not edited", e);
}

/* Checks that the lines of an entry contain nothing else. */
static bool check_lines(const struct document *d, const struct yaml *in,
                        const struct yaml *entry, struct err *e)
{
    size_t to = entry_start(d, in, entry), from = line_start(d->text, to);

    if (in->flow)
        return fail_flow(in, e);
    for (size_t i = from; i < to; i++)
        if (d->text.p[i] != ' ')
            return fail(entry->line, "it is not written in a block", e);
    return !is_item(in) || d->text.p[to] == '-' ||
           fail(entry->line, "it is not written in a block", e);
}

static bool finish(struct document *d, size_t from, size_t to, struct str text,
                   struct str *out, struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct splices splices = {.arena = d->arena};
    const struct yaml *again;

    splice_add(&splices, from, to, text);
    buf_init(&b, CLIENT_FILE_MAX_BYTES);
    splice_apply(&splices, d->text, &b);
    if (!buf_check(&b, "the file", e))
        return false;
    *out = arena_str(d->arena, buf_str(&b));
    return parse(*out, d->arena, &again, e) ||
           err_wrap(e, "the edited text would be invalid");
}

/* Inserts lines at `at`, the end of a line or of the text. */
static bool insert(struct document *d, size_t at, struct str lines,
                   struct str *out, struct err *e)
{
    bool is_open = at > 0 && d->text.p[at - 1] != '\n';
    struct str text[] = {is_open ? d->newline : STR(""), lines,
                         is_open ? STR("") : d->newline};

    return finish(d, at, at, str_concat(text, 3, d->arena), out, e);
}

static bool replace(struct document *d, const struct json *value,
                    const struct yaml_place *place, struct buf *b,
                    struct str *out, struct err *e)
{
    size_t at = entry_start(d, d->section, d->value);
    size_t start = line_start(d->text, at);
    size_t end = line_end(d->text, d->value->end);

    if (!check_lines(d, d->section, d->value, e))
        return false;
    put_block(b, place, value, at - start, d->newline, d->arena);
    if (d->text.p[end - 1] == '\n')
        buf_append(b, d->newline);
    return buf_check(b, "the file", e) &&
           finish(d, start, end, buf_str(b), out, e);
}

/* Adds an entry after the last block of the section, or after the line of an
 * empty one. */
static bool add_to_section(struct document *d, const struct json *value,
                           const struct yaml_place *place, struct buf *b,
                           struct str *out, struct err *e)
{
    size_t start = line_start(d->text, d->section->key_start);
    size_t indent = d->section->key_start - start + STEP;
    size_t at = d->section->end;

    if (!check_lines(d, d->root, d->section, e))
        return false;
    if (d->section->kind != YAML_SCALAR) {
        const struct yaml *first = d->section->first;

        if (d->section->flow || !first)
            return fail_flow(d->section, e);
        if (!check_lines(d, d->section, first, e))
            return false;
        start = entry_start(d, d->section, first);
        indent = start - line_start(d->text, start);
    } else if (at < d->section->key_start) {
        at = d->section->key_start;
    }
    put_block(b, place, value, indent, d->newline, d->arena);
    return buf_check(b, "the file", e) &&
           insert(d, line_end(d->text, at), buf_str(b), out, e);
}

static bool add_section(struct document *d, const struct json *value,
                        const struct yaml_place *place, struct buf *b,
                        struct str *out, struct err *e)
{
    size_t indent = 0;

    if (d->root) {
        const struct yaml *first = d->root->first;

        if (d->root->flow || !first)
            return fail(d->root->line, "{…} is not edited", e);
        if (!check_lines(d, d->root, first, e))
            return false;
        indent = first->key_start - line_start(d->text, first->key_start);
    }
    put_indent(b, indent);
    buf_append(b, yaml_quote(place->section, d->arena));
    buf_char(b, ':');
    buf_append(b, d->newline);
    put_block(b, place, value, indent + STEP, d->newline, d->arena);
    return buf_check(b, "the file", e) &&
           insert(d, d->text.n, buf_str(b), out, e);
}

/* --- what is not ours ------------------------------------------------------ */

static bool add_hash(struct hash_state *all, const struct yaml *y,
                     struct err *e)
{
    struct hash h;

    if (!hash_value(y, &h, e))
        return false;
    hash_add(all, y->key);
    hash_add(all, STR("\n"));
    hash_add(all, str_make((const char *)h.b, sizeof h.b));
    return true;
}

bool yaml_edit_hash_others(struct str text, const struct yaml_place *place,
                           const struct map *keys, struct hash *out,
                           struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct hash_state all;
    struct document d;

    if (!open_text(&d, text, place, &a, e))
        return false;
    hash_init(&all);
    for (const struct yaml *y = d.root ? d.root->first : NULL; y; y = y->next)
        if (y != d.section && !add_hash(&all, y, e))
            return false;
    for (const struct yaml *y = d.section ? d.section->first : NULL; y;
         y = y->next)
        if (!map_has(keys, key_of(y, place)) && !add_hash(&all, y, e))
            return false;
    *out = hash_end(&all);
    return true;
}

/* Positions come from libyaml, so the result of the edit is checked. */
static bool check_edit(struct str before, struct str after,
                       const struct yaml_place *place, bool is_there,
                       struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct hash x, y, ignored;
    struct map ours;
    bool found;

    map_init(&ours, &a);
    map_put(&ours, place->key, &ours);
    if (!yaml_edit_hash_others(before, place, &ours, &x, e) ||
        !yaml_edit_hash_others(after, place, &ours, &y, e) ||
        !yaml_edit_find(after, place, &found, &ignored, e))
        return false;
    return (found == is_there && hash_eq(&x, &y)) ||
           err_set(e, ERR_FORMAT, "it is written in a way that is not edited");
}

/* --- editing ---------------------------------------------------------------- */

/* An entry is a block, for which {} or [] makes room. */
static bool cut_gap(struct document *d, const struct yaml_place *place,
                    struct arena *a, struct err *e)
{
    size_t from, to;
    struct str text;

    return !find_gap(d, &from, &to) ||
           (finish(d, from, to, STR(""), &text, e) &&
            open_text(d, text, place, a, e));
}

bool yaml_edit_put_gap(struct str text, const struct yaml_place *place,
                       struct str gap, struct arena *a, struct str *out,
                       struct err *e)
{
    struct str again;
    struct document d;
    bool is_all;
    size_t at;

    if (!open_text(&d, text, place, a, e))
        return false;
    *out = text;
    at = d.section ? d.section->start : 0;
    if (!d.section || !is_null(d.section) || at == 0 || text.p[at - 1] != ':')
        return true;
    return finish(&d, at, at, gap, out, e) &&
           yaml_edit_find_gap(*out, place, a, &again, &is_all, e) &&
           (str_eq(again, gap) ||
            err_set(e, ERR_FORMAT,
                    "it is written in a way that is not edited"));
}

bool yaml_edit_put(struct str text, const struct yaml_place *place,
                   struct str value, struct arena *a, struct str *out,
                   struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct document d;
    const struct json *j;

    if (!open_text(&d, text, place, a, e) || !cut_gap(&d, place, a, e) ||
        !read_value(value, a, &j, e))
        return false;
    buf_init(&b, CLIENT_FILE_MAX_BYTES);
    if (!(d.value     ? replace(&d, j, place, &b, out, e)
          : d.section ? add_to_section(&d, j, place, &b, out, e)
                      : add_section(&d, j, place, &b, out, e)))
        return false;
    return check_edit(text, *out, place, true, e);
}

bool yaml_edit_hash(struct str value, struct hash *out, struct err *e)
{
    static const struct yaml_place place = {STR_INIT("s"), STR_INIT("k"), NULL};
    CLEANUP(arena_done) struct arena a = {0};
    struct document d;
    struct str text;

    return yaml_edit_put(STR(""), &place, value, &a, &text, e) &&
           open_text(&d, text, &place, &a, e) && hash_value(d.value, out, e);
}

/* Removes all lines of `member`. An entry at the end of a text without a final
 * line break is removed with the line break before it. */
static bool cut(struct document *d, const struct yaml *mapping,
                const struct yaml *member, struct str *out, struct err *e)
{
    size_t at = entry_start(d, mapping, member);
    size_t start = line_start(d->text, at);
    size_t end = line_end(d->text, member->end < at ? at : member->end);

    if (!check_lines(d, mapping, member, e))
        return false;
    if (end == d->text.n && d->text.p[end - 1] != '\n' && start > 0)
        start -= start > 1 && d->text.p[start - 2] == '\r' ? 2 : 1;
    return finish(d, start, end, STR(""), out, e);
}

bool yaml_edit_remove(struct str text, const struct yaml_place *place,
                      struct arena *a, struct str *out, struct err *e)
{
    struct document d;

    if (!open_text(&d, text, place, a, e))
        return false;
    *out = text;
    return !d.value || (cut(&d, d.section, d.value, out, e) &&
                        check_edit(text, *out, place, false, e));
}

bool yaml_edit_drop_section(struct str text, const struct yaml_place *place,
                            struct arena *a, struct str *out, struct err *e)
{
    struct document d;

    if (!open_text(&d, text, place, a, e))
        return false;
    *out = text;
    return !d.section || !is_null(d.section) ||
           (cut(&d, d.root, d.section, out, e) &&
            check_edit(text, *out, place, false, e));
}
