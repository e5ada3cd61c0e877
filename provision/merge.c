#include "merge.h"

#include "base/json.h"
#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/provision.h"

#include "record.h"
#include "render.h"
#include "toml.h"
#include "yaml_edit.h"

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

static bool is_json(const struct mcp_shape *shape)
{
    return shape->format <= SHAPE_JSON_RELAXED;
}

static struct toml_place toml_place(const struct mcp_shape *shape,
                                    struct str key)
{
    return (struct toml_place){
        .section = str_cstr(shape->section),
        .key = key,
        .name = shape->is_list ? "name" : NULL,
        .kept = shape->user_members,
        .kept_count = SHAPE_MAX_USER_MEMBERS,
    };
}

static struct yaml_place yaml_place(const struct mcp_shape *shape,
                                    struct str key)
{
    return (struct yaml_place){str_cstr(shape->section), key,
                               shape->is_list ? "name" : NULL};
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

/* --- entries in other formats than JSON -------------------------------------- */

static bool parse_entry(struct str entry, struct arena *a,
                        const struct json **out, struct err *e)
{
    struct json_options options = options_for(&shape_plain);

    return json_parse(entry, &options, a, out, NULL, e);
}

static void put_toml_strings(struct buf *out, const struct json *list)
{
    buf_char(out, '[');
    for (const struct json *x = list->first; x; x = x->next) {
        render_toml_quote(out, json_text(x));
        if (x->next)
            buf_text(out, ", ");
    }
    buf_text(out, "]");
}

static void put_toml_object(struct buf *out, const struct json *object)
{
    buf_text(out, "{ ");
    for (const struct json *x = object->first; x; x = x->next) {
        render_toml_quote(out, x->key);
        buf_text(out, " = ");
        render_toml_quote(out, json_text(x));
        if (x->next)
            buf_char(out, ',');
        buf_char(out, ' ');
    }
    buf_char(out, '}');
}

static void put_toml_value(struct buf *out, const struct json *v)
{
    if (v->kind == JSON_STRING)
        render_toml_quote(out, v->text);
    else if (v->kind == JSON_NUMBER)
        buf_append(out, v->text);
    else if (v->kind == JSON_ARRAY)
        put_toml_strings(out, v);
    else if (v->kind == JSON_OBJECT)
        put_toml_object(out, v);
    else
        buf_text(out, v->kind == JSON_TRUE ? "true" : "false");
}

/* Formats the table with its header. */
static bool format_toml(const struct mcp_shape *shape, struct str key,
                        struct str entry, struct arena *a, struct str *out,
                        struct err *e)
{
    CLEANUP(buf_done) struct buf text = {0};
    const struct json *j;

    if (!parse_entry(entry, a, &j, e))
        return false;
    buf_init(&text, CLIENT_FILE_MAX_BYTES);
    if (shape->is_list)
        buf_printf(&text, "[[%s]]\n", shape->section);
    else
        buf_printf(&text, "[%s.\"%.*s\"]\n", shape->section, STR_ARG(key));
    for (const struct json *x = j->first; x; x = x->next) {
        buf_append(&text, x->key);
        buf_text(&text, " = ");
        put_toml_value(&text, x);
        buf_char(&text, '\n');
    }
    *out = arena_str(a, str_trim(buf_str(&text)));
    return buf_check(&text, "a server's entry", e);
}

/* --- reading ----------------------------------------------------------------- */

/* Refuses comments and trailing commas in strict JSON: the client would not
 * read the file, so nothing is added. */
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

/* Returns whether the object contains servers; a server may have the name of
 * the inner object. */
static bool holds_servers(const struct json *j)
{
    if (!j || j->kind != JSON_OBJECT)
        return false;
    for (const struct json *x = j->first; x; x = x->next)
        if (x->kind != JSON_OBJECT)
            return false;
    return true;
}

static const struct json *section_of(const struct merge *m,
                                     const struct json *root)
{
    const struct json *section = json_get(root, m->file.shape->section);

    return m->is_inner ? json_get(section, m->file.shape->inner) : section;
}

static bool is_of_user(const struct mcp_shape *shape, struct str member)
{
    for (size_t i = 0; i < SHAPE_MAX_USER_MEMBERS && shape->user_members[i];
         i++)
        if (str_is(member, shape->user_members[i]))
            return true;
    return false;
}

/* Hashes an entry without members of the user. Entries of an inner object omit
 * a member that is equal for all. It is hashed as if present, so that an entry
 * has one hash. */
static struct hash hash_entry(const struct mcp_shape *shape, bool is_inner,
                              const struct json *entry)
{
    CLEANUP(buf_done) struct buf text = {0};
    const char *off = shape->off;
    struct json_writer w;
    bool put = !is_inner || json_get(entry, off);

    if (entry->kind != JSON_OBJECT)
        return hash_json(entry);
    json_open(&w, &text, 2 * (size_t)CLIENT_FILE_MAX_BYTES, 0);
    for (const struct json *x = entry->first; x; x = x->next) {
        if (is_of_user(shape, x->key))
            continue;
        if (!put && str_is(x->key, "timeout")) {
            json_member_bool(&w, off, true);
            put = true;
        }
        json_key_str(&w, x->key);
        json_value(&w, x);
    }
    if (!put)
        json_member_bool(&w, off, true);
    json_end_object(&w);
    return hash_of(buf_str(&text));
}

static bool check_sections(struct merge *m, const struct json *root,
                           struct err *e)
{
    const struct json *section;

    if (root->kind != JSON_OBJECT)
        return err_set(e, ERR_FORMAT, "%.*s is %s, not an object",
                       STR_ARG(m->file.path), json_kind_name(root->kind));
    section = section_of(m, root);
    if (section && section->kind != JSON_OBJECT)
        return err_set(e, ERR_FORMAT, "%.*s:%u: \"%s\" is %s, not an object",
                       STR_ARG(m->file.path), section->line,
                       m->file.shape->section, json_kind_name(section->kind));
    if (m->file.shape->inner)
        m->is_inner = holds_servers(json_get(section, m->file.shape->inner));
    return true;
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
    if (!check_sections(m, root, e))
        return false;
    section = section_of(m, root);
    for (const struct json *x = section ? section->first : NULL; x;
         x = x->next) {
        struct hash *h = arena_new(m->arena, struct hash);

        *h = hash_entry(m->file.shape, m->is_inner, x);
        map_put(&m->entries, x->key, h);
    }
    return true;
}

bool merge_open(const struct merge_file *f, struct str text, struct arena *a,
                struct merge *out, struct err *e)
{
    static const struct str mark = STR_INIT("\xef\xbb\xbf");
    struct hash ignored;
    bool found;

    *out = (struct merge){.file = *f, .arena = a};
    out->has_mark = str_starts(text, mark);
    out->text = out->before = str_from_index(text, out->has_mark ? mark.n : 0);
    map_init(&out->entries, a);
    map_init(&out->touched, a);
    if (is_json(f->shape))
        return read_entries(out, e);
    return (f->shape->format != SHAPE_TOML || toml_check(out->text, e) ||
            err_wrap(e, "cannot read %.*s", STR_ARG(f->path))) &&
           merge_find(out, STR("-"), &found, &ignored, e);
}

struct str merge_text(const struct merge *m, struct arena *a)
{
    return m->has_mark ? str_join(STR("\xef\xbb\xbf"), m->text, a)
                       : arena_str(a, m->text);
}

static bool find_toml(struct merge *m, struct str key, bool *found,
                      struct hash *hash, struct err *e)
{
    struct toml_place place = toml_place(m->file.shape, key);
    struct str table;

    if (!toml_find(m->text, &place, m->arena, &table, e))
        return false;
    *found = table.p != NULL;
    if (*found)
        *hash = hash_of(str_trim(text_unix_lines(table, m->arena)));
    return true;
}

bool merge_find(struct merge *m, struct str key, bool *found, struct hash *hash,
                struct err *e)
{
    struct yaml_place place = yaml_place(m->file.shape, key);
    const struct hash *h;

    if (is_json(m->file.shape)) {
        h = map_find(&m->entries, key);
        *found = h != NULL;
        if (h)
            *hash = *h;
        return true;
    }
    return (m->file.shape->format == SHAPE_TOML
                ? find_toml(m, key, found, hash, e)
                : yaml_edit_find(m->text, &place, found, hash, e)) ||
           err_wrap(e, "cannot read %.*s", STR_ARG(m->file.path));
}

bool merge_hash(const struct mcp_shape *shape, struct str key, struct str entry,
                struct arena *a, struct hash *out, struct err *e)
{
    const struct json *j;
    struct str table;

    if (shape->format == SHAPE_YAML)
        return yaml_edit_hash(entry, out, e);
    if (shape->format == SHAPE_TOML) {
        if (!format_toml(shape, key, entry, a, &table, e))
            return false;
        *out = hash_of(table);
        return true;
    }
    if (!parse_entry(entry, a, &j, e))
        return false;
    *out = hash_entry(shape, false, j);
    return true;
}

/* --- editing ----------------------------------------------------------------- */

/* Keeps the text of the last edit only, because a file with many servers is
 * edited often. */
static bool hold(struct merge *m, struct arena *made, struct str text, bool ok,
                 struct err *e)
{
    if (!ok) {
        arena_done(made);
        return err_wrap(e, "cannot edit %.*s", STR_ARG(m->file.path));
    }
    /* an edit without changes returns its input */
    if (text.p == m->text.p) {
        arena_done(made);
        return true;
    }
    arena_done(&m->held);
    m->held = *made;
    m->text = text;
    return true;
}

static size_t json_path(const struct merge *m, struct str key,
                        struct str path[3])
{
    const struct mcp_shape *shape = m->file.shape;
    size_t depth = 0;

    path[depth++] = str_cstr(shape->section);
    if (m->is_inner)
        path[depth++] = str_cstr(shape->inner);
    path[depth++] = key;
    return depth;
}

/* Adds the members of the user that the present entry of the key has. */
static bool keep_members(const struct merge *m, const struct str *path,
                         size_t depth, struct arena *a, struct str *entry,
                         struct err *e)
{
    struct json_options options = options_for(m->file.shape);
    const struct json *old;

    if (!m->file.shape->user_members[0] ||
        !map_has(&m->entries, path[depth - 1]))
        return true;
    if (!json_parse(m->text, &options, a, &old, NULL, e))
        return false;
    old = json_get_str(section_of(m, old), path[depth - 1]);
    for (const struct json *x = old ? old->first : NULL; x; x = x->next) {
        CLEANUP(buf_done) struct buf value = {0};
        struct json_writer w;

        if (old->kind != JSON_OBJECT || !is_of_user(m->file.shape, x->key))
            continue;
        buf_init(&value, CLIENT_FILE_MAX_BYTES);
        json_writer_init(&w, &value, 2);
        json_value(&w, x);
        if (!json_edit_put(*entry, &options, &x->key, 1,
                           arena_str(a, buf_str(&value)), a, entry, e))
            return false;
    }
    return true;
}

static bool put_json(struct merge *m, struct str key, struct str entry,
                     struct arena *a, struct str *out, struct err *e)
{
    struct json_options options = options_for(m->file.shape);
    struct str path[3], off[] = {STR("")};
    size_t depth = json_path(m, key, path);

    if (!keep_members(m, path, depth, a, &entry, e))
        return false;
    off[0] = str_cstr(m->file.shape->off);
    if (m->is_inner && !json_edit_remove(entry, &options, off, 1, a, &entry, e))
        return false;
    return json_edit_put(m->text, &options, path, depth, entry, a, out, e);
}

static bool put_toml(struct merge *m, struct str key, struct str entry,
                     struct arena *a, struct str *out, struct err *e)
{
    struct toml_place place = toml_place(m->file.shape, key);
    struct str table;

    return format_toml(m->file.shape, key, entry, a, &table, e) &&
           toml_put(m->text, &place, table, a, out, e);
}

static bool put_yaml(struct merge *m, struct str key, struct str entry,
                     struct arena *a, struct str *out, struct err *e)
{
    struct yaml_place place = yaml_place(m->file.shape, key);

    return yaml_edit_put(m->text, &place, entry, a, out, e);
}

bool merge_put(struct merge *m, struct str key, struct str entry, struct err *e)
{
    struct str text = {0};
    struct arena a = {0};
    bool ok;

    map_put(&m->touched, key, m);
    if (is_json(m->file.shape))
        ok = put_json(m, key, entry, &a, &text, e);
    else if (m->file.shape->format == SHAPE_TOML)
        ok = put_toml(m, key, entry, &a, &text, e);
    else
        ok = put_yaml(m, key, entry, &a, &text, e);
    return hold(m, &a, text, ok, e);
}

bool merge_remove(struct merge *m, struct str key, struct err *e)
{
    struct json_options options = options_for(m->file.shape);
    struct toml_place toml = toml_place(m->file.shape, key);
    struct yaml_place yaml = yaml_place(m->file.shape, key);
    struct str path[3], text = {0};
    struct arena a = {0};
    bool ok;

    map_put(&m->touched, key, m);
    if (is_json(m->file.shape))
        ok = json_edit_remove(m->text, &options, path, json_path(m, key, path),
                              &a, &text, e);
    else if (m->file.shape->format == SHAPE_TOML)
        ok = toml_remove(m->text, &toml, &a, &text, e);
    else
        ok = yaml_edit_remove(m->text, &yaml, &a, &text, e);
    return hold(m, &a, text, ok, e);
}

/* Finds the root object and the object of the servers, NULL if it does not
 * exist. */
static bool find_objects(const struct merge *m, struct arena *a,
                         const struct json **root, const struct json **section)
{
    struct json_options o = options_for(m->file.shape);
    struct err ignored = {0};

    if (!is_json(m->file.shape) ||
        !json_parse(m->text, &o, a, root, NULL, &ignored) ||
        (*root)->kind != JSON_OBJECT)
        return false;
    *section = section_of(m, *root);
    return true;
}

bool merge_has_section(const struct merge *m)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct yaml_place place = yaml_place(m->file.shape, STR(""));
    const struct json *root, *section;
    struct err ignored = {0};
    bool has;

    if (m->file.shape->format == SHAPE_YAML)
        return yaml_edit_has_section(m->text, &place, &has, &ignored) && has;
    return find_objects(m, &a, &root, &section) && section;
}

/* Returns the white space between the braces; p is NULL if there is anything
 * else, including a comment. */
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

struct str merge_gap(const struct merge *m, bool *is_all)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct yaml_place place = yaml_place(m->file.shape, STR(""));
    const struct json *root, *section;
    struct err ignored = {0};
    struct str gap;

    *is_all = merge_can_begin(m);
    if (m->file.shape->format == SHAPE_YAML) {
        if (!yaml_edit_find_gap(m->text, &place, m->arena, &gap, is_all,
                                &ignored))
            return STR("");
    } else if (*is_all)
        gap = m->text;
    else if (find_objects(m, &a, &root, &section))
        gap = white_inside(m, section ? section : root);
    else
        return STR("");
    if (gap.n > RECORD_GAP_MAX_BYTES) {
        *is_all = false;
        return STR("");
    }
    return gap.n ? arena_str(m->arena, gap) : STR("");
}

bool merge_put_gap(struct merge *m, struct str gap, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct yaml_place place = yaml_place(m->file.shape, STR(""));
    const struct json *root, *section;
    struct arena a = {0};
    struct str inside, text = {0};
    size_t at;

    if (gap.n && m->file.shape->format == SHAPE_YAML) {
        bool ok = yaml_edit_put_gap(m->text, &place, gap, &a, &text, e);

        return hold(m, &a, text, ok, e);
    }
    if (!gap.n || str_trim(gap).n ||
        !find_objects(m, &scratch, &root, &section))
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

/* Removes the object of the servers if it is empty. */
static bool drop_object(struct merge *m, struct err *e)
{
    struct json_options options = options_for(m->file.shape);
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct json *root, *section;
    struct str path[3], text = {0};
    struct arena a = {0};
    bool ok;

    if (!find_objects(m, &scratch, &root, &section) || !section ||
        !white_inside(m, section).p)
        return true;
    ok = json_edit_remove(m->text, &options, path,
                          json_path(m, STR(""), path) - 1, &a, &text, e);
    return hold(m, &a, text, ok, e);
}

bool merge_drop_section(struct merge *m, struct err *e)
{
    struct yaml_place place = yaml_place(m->file.shape, STR(""));
    bool is_inner = m->is_inner, ok;
    struct str text = {0};
    struct arena a = {0};

    if (m->file.shape->format == SHAPE_YAML) {
        ok = yaml_edit_drop_section(m->text, &place, &a, &text, e);
        return hold(m, &a, text, ok, e);
    }
    ok = drop_object(m, e);
    m->is_inner = false; /* then the object around it */
    ok = ok && (!is_inner || drop_object(m, e));
    m->is_inner = is_inner;
    return ok;
}

bool merge_can_begin(const struct merge *m)
{
    return is_json(m->file.shape) && !str_trim(m->text).n;
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
        map_put(&m->touched, keys[i], m);
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

/* --- what is not ours -------------------------------------------------------- */

/* Hashes everything except the servers that were added or removed. */
static bool hash_json_others(const struct merge *m, struct str text,
                             struct hash *out, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b = {0};
    struct json_options o = options_for(m->file.shape);
    const struct json *root = NULL, *section;
    struct json_writer w;

    if (str_trim(text).n && !json_parse(text, &o, &a, &root, NULL, e))
        return false;
    section = root ? json_get(root, m->file.shape->section) : NULL;
    json_open(&w, &b, 8 * (size_t)CLIENT_FILE_MAX_BYTES, 0);
    for (const struct json *x = root ? root->first : NULL; x; x = x->next)
        if (x != section) {
            json_key_str(&w, x->key);
            json_value(&w, x);
        }
    json_end_object(&w);
    json_writer_init(&w, &b, 0);
    json_begin_object(&w);
    for (const struct json *x = section ? section->first : NULL; x; x = x->next)
        if (!(m->is_inner ? str_is(x->key, m->file.shape->inner)
                          : map_has(&m->touched, x->key))) {
            json_key_str(&w, x->key);
            json_value(&w, x);
        }
    section = m->is_inner ? json_get(section, m->file.shape->inner) : NULL;
    for (const struct json *x = section ? section->first : NULL; x; x = x->next)
        if (!map_has(&m->touched, x->key)) {
            json_key_str(&w, x->key);
            json_value(&w, x);
        }
    json_end_object(&w);
    *out = hash_of(buf_str(&b));
    return buf_check(&b, "the file", e);
}

static bool hash_others(const struct merge *m, struct str text,
                        struct hash *out, struct err *e)
{
    struct toml_place toml = toml_place(m->file.shape, STR(""));
    struct yaml_place yaml = yaml_place(m->file.shape, STR(""));

    if (is_json(m->file.shape))
        return hash_json_others(m, text, out, e);
    return m->file.shape->format == SHAPE_TOML
               ? toml_hash_others(text, &toml, &m->touched, out, e)
               : yaml_edit_hash_others(text, &yaml, &m->touched, out, e);
}

bool merge_check(const struct merge *m, struct err *e)
{
    struct hash before, after;

    if (!hash_others(m, m->before, &before, e) ||
        !hash_others(m, m->text, &after, e))
        return err_wrap(e, "cannot edit %.*s", STR_ARG(m->file.path));
    if (hash_eq(&before, &after))
        return true;
    err_set(e, ERR_FORMAT,
            "cannot edit %.*s: what is not mapm's would change with it",
            STR_ARG(m->file.path));
    return err_hint(e, "end its last line with a line break");
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

    if (!is_json(m->file.shape) || !str_trim(m->text).n)
        return !str_trim(m->text).n;
    strict.comments = false; /* a comment counts as content */
    if (json_parse(m->text, &strict, &a, &root, NULL, &ignored) &&
        root->kind == JSON_OBJECT)
        empty = root->count == 0;
    arena_done(&a);
    return empty;
}

bool provision_format_server(const struct client *c, struct str key,
                             struct str entry, struct arena *a, struct str *out,
                             struct err *e)
{
    struct merge_file file = {c->mcp.shape, c->name, str_cstr(c->mcp.path)};
    struct merge m;
    bool ok;

    if (!render_server(c, key, entry, a, &entry, e) ||
        !merge_open(&file, STR(""), a, &m, e))
        return false;
    ok = merge_can_begin(&m) ? merge_begin(&m, &key, &entry, 1, e)
                             : merge_put(&m, key, entry, e);
    *out = ok ? merge_text(&m, a) : STR("");
    merge_done(&m);
    return ok;
}
