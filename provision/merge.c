#include "merge.h"

#include "base/json.h"
#include "base/text.h"
#include "mapm/limits.h"

#include "record.h"
#include "toml.h"

#define MERGE_MAX_NODES 1000000

static struct json_options options_for(const struct mcp_shape *shape)
{
    return (struct json_options){
        .max_bytes = CLIENT_FILE_MAX_BYTES,
        .max_depth = CLIENT_FILE_MAX_DEPTH,
        .max_nodes = MERGE_MAX_NODES,
        .comments = shape->format != SHAPE_JSON,
        .trailing_commas = shape->format == SHAPE_JSON_RELAXED,
    };
}

static bool is_toml(const struct mcp_shape *shape)
{
    return shape->format == SHAPE_TOML;
}

static struct hash hash_json(const struct json *j)
{
    CLEANUP(buf_done) struct buf text = {0};
    struct json_writer w;

    buf_init(&text, 2 * (size_t)CLIENT_FILE_MAX_BYTES);
    json_writer_init(&w, &text, 0);
    json_value(&w, j);
    return hash_of(buf_str(&text));
}

/* A comment or a comma that other programs accept: the client would read none
 * of the file, so nothing is added to it. */
static bool refuse_syntax(const struct merge *m, unsigned line, struct err *e)
{
    static const char *const accepted[] = {
        [SHAPE_JSON] = "no comment and no trailing comma",
        [SHAPE_JSON_COMMENTED] = "no trailing comma",
    };

    CLEANUP(arena_done) struct arena scratch = {0};
    struct json_options relaxed = options_for(&shape_vscode);
    const struct merge_file *f = &m->file;
    const struct json *root;
    struct err ignored = {0};

    err_wrap(e, "cannot read %.*s:%u", STR_ARG(f->path), line);
    if (f->shape->format != SHAPE_JSON_RELAXED &&
        json_parse(m->text, &relaxed, &scratch, &root, NULL, &ignored))
        err_hint(e,
                 "%s accepts %s in %.*s, and ignores the whole file: remove "
                 "it there",
                 f->client, accepted[f->shape->format], STR_ARG(f->path));
    return false;
}

static bool read_entries(struct merge *m, struct err *e)
{
    struct json_options options = options_for(m->file.shape);
    const struct json *root, *section;
    unsigned line = 1;

    if (!str_trim(m->text).n)
        return true;
    if (!json_parse(m->text, &options, m->arena, &root, &line, e))
        return e->code == ERR_FORMAT ? refuse_syntax(m, line, e) : false;
    section = json_get(root, m->file.shape->section);
    if (root->kind != JSON_OBJECT)
        return err_set(e, ERR_FORMAT, "%.*s is %s, not an object",
                       STR_ARG(m->file.path), json_kind_name(root->kind));
    if (section && section->kind != JSON_OBJECT)
        return err_set(e, ERR_FORMAT, "%.*s:%u: \"%s\" is %s, not an object",
                       STR_ARG(m->file.path), section->line,
                       m->file.shape->section, json_kind_name(section->kind));
    for (const struct json *x = section ? section->first : NULL; x;
         x = x->next) {
        struct hash *h = arena_new(m->arena, struct hash);

        *h = hash_json(x);
        map_put(&m->entries, x->key, h);
    }
    return true;
}

bool merge_open(const struct merge_file *f, struct str text, struct arena *a,
                struct merge *out, struct err *e)
{
    struct str ignored;

    *out = (struct merge){.file = *f, .arena = a, .text = text};
    map_init(&out->entries, a);
    if (!is_toml(f->shape))
        return read_entries(out, e);
    return toml_find(text, str_cstr(f->shape->section), STR("-"), a, &ignored,
                     e) ||
           err_wrap(e, "cannot read %.*s", STR_ARG(f->path));
}

bool merge_find(struct merge *m, struct str key, bool *found, struct hash *hash,
                struct err *e)
{
    const struct hash *h;
    struct str table;

    if (is_toml(m->file.shape)) {
        if (!toml_find(m->text, str_cstr(m->file.shape->section), key, m->arena,
                       &table, e))
            return err_wrap(e, "cannot edit %.*s", STR_ARG(m->file.path));
        *found = table.p != NULL;
        if (*found)
            *hash = hash_of(str_trim(text_unix_lines(table, m->arena)));
        return true;
    }
    h = map_find(&m->entries, key);
    *found = h != NULL;
    if (h)
        *hash = *h;
    return true;
}

bool merge_hash(const struct mcp_shape *shape, struct str entry,
                struct arena *a, struct hash *out, struct err *e)
{
    struct json_options options = options_for(&shape_plain);
    const struct json *j;

    if (is_toml(shape)) {
        *out = hash_of(str_trim(entry));
        return true;
    }
    if (!json_parse(entry, &options, a, &j, NULL, e))
        return false;
    *out = hash_json(j);
    return true;
}

/* One edit's text at a time: a file with many servers is edited often. */
static bool hold(struct merge *m, struct arena *made, struct str text, bool ok,
                 struct err *e)
{
    if (!ok) {
        arena_done(made);
        return err_wrap(e, "cannot edit %.*s", STR_ARG(m->file.path));
    }
    /* An edit without changes returns its input. */
    if (text.p == m->text.p) {
        arena_done(made);
        return true;
    }
    arena_done(&m->held);
    m->held = *made;
    m->text = text;
    return true;
}

bool merge_put(struct merge *m, struct str key, struct str entry, struct err *e)
{
    struct json_options options = options_for(m->file.shape);
    struct str section = str_cstr(m->file.shape->section);
    struct str path[] = {section, key}, text = {0};
    struct arena a = {0};
    bool ok =
        is_toml(m->file.shape)
            ? toml_put(m->text, section, key, entry, &a, &text, e)
            : json_edit_put(m->text, &options, path, 2, entry, &a, &text, e);

    return hold(m, &a, text, ok, e);
}

bool merge_remove(struct merge *m, struct str key, struct err *e)
{
    struct json_options options = options_for(m->file.shape);
    struct str section = str_cstr(m->file.shape->section);
    struct str path[] = {section, key}, text = {0};
    struct arena a = {0};
    bool ok = is_toml(m->file.shape)
                  ? toml_remove(m->text, section, key, &a, &text, e)
                  : json_edit_remove(m->text, &options, path, 2, &a, &text, e);

    return hold(m, &a, text, ok, e);
}

/* The whole, and the object that holds the servers: NULL when it is not there. */
static bool find_objects(const struct merge *m, struct arena *a,
                         const struct json **root, const struct json **section)
{
    struct json_options o = options_for(m->file.shape);
    struct err ignored = {0};

    if (is_toml(m->file.shape) ||
        !json_parse(m->text, &o, a, root, NULL, &ignored) ||
        (*root)->kind != JSON_OBJECT)
        return false;
    *section = json_get(*root, m->file.shape->section);
    return true;
}

bool merge_has_section(const struct merge *m)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct json *root, *section;

    return find_objects(m, &a, &root, &section) && section;
}

/* What is between the braces; p NULL: not white space alone. A comment there
 * is not nothing to its reader. */
static struct str white_inside(const struct merge *m, const struct json *object)
{
    struct str inside;

    if (object->kind != JSON_OBJECT || object->count)
        return (struct str){0};
    inside = str_slice(m->text, object->start + 1, object->end - 1);
    if (str_trim(inside).n)
        return (struct str){0};
    return inside;
}

struct str merge_gap(const struct merge *m)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct json *root, *section;
    struct str gap;

    if (!find_objects(m, &a, &root, &section))
        return STR("");
    gap = white_inside(m, section ? section : root);
    return gap.n && gap.n <= RECORD_GAP_MAX_BYTES ? arena_str(m->arena, gap)
                                                  : STR("");
}

bool merge_put_gap(struct merge *m, struct str gap, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct json *root, *section;
    struct arena a = {0};
    struct str inside;
    size_t at;

    if (!gap.n || !find_objects(m, &scratch, &root, &section))
        return true;
    inside = white_inside(m, section ? section : root);
    if (!inside.p || inside.n)
        return true;
    at = (size_t)(inside.p - m->text.p);
    return hold(m, &a,
                arena_printf(&a, "%.*s%.*s%.*s",
                             STR_ARG(str_slice(m->text, 0, at)), STR_ARG(gap),
                             STR_ARG(str_from_index(m->text, at))),
                true, e);
}

bool merge_drop_section(struct merge *m, struct err *e)
{
    struct json_options options = options_for(m->file.shape);
    CLEANUP(arena_done) struct arena scratch = {0};
    struct str path[] = {str_cstr(m->file.shape->section)}, text = {0};
    const struct json *root, *section;
    struct arena a = {0};
    bool ok;

    if (!find_objects(m, &scratch, &root, &section) || !section ||
        !white_inside(m, section).p)
        return true;
    ok = json_edit_remove(m->text, &options, path, 1, &a, &text, e);
    return hold(m, &a, text, ok, e);
}

bool merge_can_begin(const struct merge *m)
{
    return !is_toml(m->file.shape) && m->text.n == 0;
}

bool merge_begin(struct merge *m, const struct str *keys,
                 const struct str *entries, size_t count, struct err *e)
{
    CLEANUP(buf_done) struct buf text = {0};
    struct arena a = {0};
    struct json_writer w;
    struct json_options options = options_for(&shape_plain);
    const struct json *j;
    bool ok = true;

    json_open(&w, &text, CLIENT_FILE_MAX_BYTES, 2);
    json_member_object(&w, m->file.shape->section);
    for (size_t i = 0; ok && i < count; i++) {
        ok = json_parse(entries[i], &options, &a, &j, NULL, e);
        json_key_str(&w, keys[i]);
        if (ok)
            json_value(&w, j);
    }
    json_end_object(&w);
    json_end_object(&w);
    buf_char(&text, '\n');
    ok = ok && buf_check(&text, str_dup0(m->file.path, &a), e);
    arena_done(&a);
    return hold(m, &a, arena_str(&a, buf_str(&text)), ok, e);
}

void merge_done(struct merge *m)
{
    arena_done(&m->held);
}

bool merge_is_empty(const struct merge *m)
{
    struct json_options strict = options_for(m->file.shape);
    struct err ignored = {0};
    struct arena a = {0};
    const struct json *root;
    bool empty = false;

    if (is_toml(m->file.shape) || !str_trim(m->text).n)
        return !str_trim(m->text).n;
    strict.comments = false; /* a comment is something, too */
    if (json_parse(m->text, &strict, &a, &root, NULL, &ignored) &&
        root->kind == JSON_OBJECT)
        empty = root->count == 0 ||
                (root->count == 1 &&
                 str_is(root->first->key, m->file.shape->section) &&
                 root->first->kind == JSON_OBJECT && root->first->count == 0);
    arena_done(&a);
    return empty;
}
