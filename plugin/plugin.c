#include "mapm/plugin.h"

#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/name.h"
#include "mapm/range.h"

#include "plugin_parts.h"
#include "standard.h"

/* Selects the manifest of a plugin and reads the properties of the plugin as a
 * whole. Source: P1 to P20, P42, P43, C1, C15, C16, X29, X35. */

#define SCHEMAS STR("agent-plugins.org")

static bool refuse(const struct reading *r, struct err *e, const char *what,
                   const char *how)
{
    return err_set(e, ERR_FORMAT, "%s: %s %s",
                   plugin_formats[r->format].manifest, what, how);
}

/* --- the standard ---------------------------------------------------------- */

static bool check_schema(struct reading *r, bool *is_draft, struct err *e)
{
    struct str id = json_text(json_get(r->manifest, "$schema"));

    if (standard_find_schema(id, is_draft)) {
        if (*is_draft)
            add_note(r, "its $schema is that of a draft: 1.1.0");
        return true;
    }
    err_set(e, ERR_REFUSED,
            "plugin.json: $schema is \"%.*s\", a version of Agent Plugins that "
            "is not known",
            STR_ARG(text_cut(id, 120)));
    return err_hint(e, "mapm knows 1.0.0 and the draft 1.1.0");
}

static bool check_members(const struct reading *r, const struct json *j,
                          struct err *e)
{
    if (str_is(j->key, "author"))
        for (const struct json *x = j->first; x; x = x->next)
            if (x->kind != JSON_STRING ||
                !(str_is(x->key, "name") || str_is(x->key, "email") ||
                  str_is(x->key, "url")))
                return refuse(r, e, "author",
                              "has only name, email and url, as text");
    if (str_is(j->key, "keywords"))
        for (const struct json *x = j->first; x; x = x->next)
            if (x->kind != JSON_STRING)
                return refuse(r, e, "keywords", "is a list of texts");
    if (str_is(j->key, "extensions"))
        for (const struct json *x = j->first; x; x = x->next)
            if (x->kind != JSON_OBJECT)
                return refuse(r, e, "extensions", "has objects as members");
    return true;
}

static bool check_field(struct reading *r, const struct json *j, bool is_draft,
                        struct err *e)
{
    const struct standard_field *field = standard_find_field(j->key, is_draft);

    if (field && j->kind == field->kind)
        return check_members(r, j, e);
    if (field && str_is(j->key, "extensions")) { /* P42: an invalid value is
                                                  * ignored */
        add_note(r, "extensions is %s and is ignored", json_kind_name(j->kind));
        return true;
    }
    if (field)
        return err_set(e, ERR_FORMAT, "plugin.json: %s is %s", field->name,
                       json_kind_name(j->kind));
    add_note(r,
             "plugin.json: \"%.*s\" is no field of the standard and is "
             "ignored",
             STR_ARG(text_cut(j->key, 60)));
    return true;
}

static bool check_standard(struct reading *r, struct err *e)
{
    struct str name = json_text(json_get(r->manifest, "name"));
    bool is_draft = false;

    if (!check_schema(r, &is_draft, e))
        return false;
    for (const struct json *j = r->manifest->first; j; j = j->next)
        if (!check_field(r, j, is_draft, e))
            return false;
    if (standard_name_is_valid(name))
        return true;
    err_set(e, ERR_NAME,
            name.p ? "plugin.json: the name \"%.*s\" is not of 1 to 64 letters "
                     "a-z, digits, \"-\" and \".\""
                   : "plugin.json: it has no name",
            STR_ARG(text_cut(name, 80)));
    return false;
}

/* --- which manifest counts -------------------------------------------------- */

static bool read_manifest(struct reading *r, int format, size_t at,
                          const struct json **out, struct err *e)
{
    const char *path = plugin_formats[format].manifest;

    if (!read_json(r, at, PLUGIN_MANIFEST_MAX_BYTES, out, e))
        return err_wrap(e, "%s", path);
    return (*out)->kind == JSON_OBJECT ||
           err_set(e, ERR_FORMAT, "%s: it is %s, not an object", path,
                   json_kind_name((*out)->kind));
}

bool plugin_manifest_is_standard(const struct json *manifest)
{
    return str_find(json_text(json_get(manifest, "$schema")), SCHEMAS) !=
           SIZE_MAX;
}

/* Reads plugin.json in the root. Its $schema decides whether it is a manifest
 * of the standard. */
static bool read_root(struct reading *r, size_t at, struct err *e)
{
    const struct json *root;

    if (is_outside(r, at))
        return err_set(e, ERR_REFUSED, "plugin.json is outside of the plugin");
    if (!read_manifest(r, PLUGIN_STANDARD, at, &root, e))
        return false;
    r->is_standard = plugin_manifest_is_standard(root);
    if (!r->is_standard)
        return true;
    r->format = PLUGIN_STANDARD;
    r->manifest = root;
    return true;
}

static size_t find_manifest(const struct reading *r, int format)
{
    return format == PLUGIN_STANDARD
               ? SIZE_MAX
               : find_path(r, str_cstr(plugin_formats[format].manifest));
}

/* Chooses the manifest in the format of the marketplace through which the
 * plugin was requested, else the first one. */
static bool choose_format(struct reading *r, int preferred, struct err *e)
{
    int chosen = PLUGIN_FORMATS;

    if (find_manifest(r, preferred) != SIZE_MAX)
        chosen = preferred;
    for (int i = 0; i < PLUGIN_FORMATS; i++) {
        size_t at = find_manifest(r, i);

        if (at == SIZE_MAX || i == chosen)
            continue;
        if (chosen == PLUGIN_FORMATS && !r->manifest) {
            chosen = i;
            continue;
        }
        if (i != PLUGIN_COPILOT || !r->is_standard)
            add_note(r, "%s is not read: another manifest counts",
                     plugin_formats[i].manifest);
    }
    if (r->manifest)
        return true;
    r->format = chosen;
    return chosen == PLUGIN_FORMATS ||
           read_manifest(r, chosen, find_manifest(r, chosen), &r->manifest, e);
}

static bool read_entry(struct reading *r, int *preferred, struct err *e)
{
    const struct json *root, *file;

    *preferred = PLUGIN_CLAUDE;
    if (r->in->entry.n == 0)
        return true;
    if (!parse_json(r->in->entry, r->a, &root, e))
        return err_wrap(e, "the entry of the marketplace");
    r->entry = json_get(root, "entry");
    file = json_get(root, "file");
    *preferred = plugin_format_of_marketplace(json_text(file));
    r->is_entry_at_root = json_is_true(json_get(root, "at_root"));
    return r->entry || err_set(e, ERR_FORMAT, "a damaged entry");
}

/* C15: with "strict": false, the manifest must not repeat keys of the
 * marketplace entry. */
static bool check_strict(const struct reading *r, struct err *e)
{
    static const char *const parts[] = {"commands", "agents",       "skills",
                                        "hooks",    "outputStyles", "themes"};
    const struct json *strict = json_get(r->entry, "strict");

    if (!r->manifest || !strict || strict->kind != JSON_FALSE)
        return true;
    for (size_t i = 0; i < COUNT(parts); i++)
        if (json_get(r->entry, parts[i]) && json_get(r->manifest, parts[i]))
            return err_set(e, ERR_REFUSED,
                           "the entry of the marketplace says \"strict\": "
                           "false and lists %s, as %s does",
                           parts[i], plugin_formats[r->format].manifest);
    return true;
}

/* --- what it says ------------------------------------------------------------- */

static struct str first_text(const struct reading *r, const char *key,
                             bool entry_first)
{
    struct str own = json_text(json_get(r->manifest, key));
    struct str more = json_text(json_get(r->entry, key));

    if (entry_first)
        return more.n ? more : own;
    return own.n ? own : more;
}

static struct str clean_text(struct reading *r, struct str text)
{
    return text_is_visible(text) ? arena_str(r->a, text) : str_make("", 0);
}

static bool read_names(struct reading *r, struct err *e)
{
    struct plugin *p = r->out;
    struct str name = first_text(r, "name", false);

    if (!name.n)
        name = r->in->folder;
    p->own_name = clean_text(r, name);
    p->name = plugin_scope_of(name, r->a);
    if (!p->name.n)
        return err_set(e, ERR_NAME,
                       "the plugin's name has no letter a-z and no digit");
    if (!str_eq(p->name, name))
        add_note(r, "its name \"%.*s\" is %.*s here",
                 STR_ARG(text_cut(p->own_name, 80)), STR_ARG(p->name));
    p->version = clean_text(r, str_trim(first_text(r, "version", false)));
    p->description = clean_text(r, first_text(r, "description", true));
    p->license = clean_text(r, first_text(r, "license", false));
    return true;
}

static void add_need(struct reading *r, enum doc_kind kind,
                     const struct json *list)
{
    struct plugin *p = r->out;

    for (const struct json *j = list ? list->first : NULL; j; j = j->next) {
        if (j->kind != JSON_STRING || p->need_count == PLUGIN_MAX_SKILLS) {
            add_note(r, "a dependency that is no text is ignored");
            continue;
        }
        p->needs = arena_grow(r->a, p->needs, p->need_count, &r->need_capacity,
                              sizeof *p->needs);
        p->needs[p->need_count].kind = kind;
        p->needs[p->need_count++].origin = arena_str(r->a, j->text);
    }
}

static bool read_entry_need(const struct json *j, struct plugin_entry_need *out)
{
    struct str text = json_text(j);

    if (j->kind == JSON_OBJECT) {
        *out = (struct plugin_entry_need){json_text(json_get(j, "name")),
                                          json_text(json_get(j, "marketplace")),
                                          json_text(json_get(j, "version"))};
        if ((json_get(j, "marketplace") && !out->market.n) ||
            (json_get(j, "version") && !out->range.n))
            return false;
    } else {
        *out = (struct plugin_entry_need){.market = text};
        if (!str_cut(&out->market, '@', &out->name) ||
            (out->market.p && !out->market.n))
            return false;
    }
    return out->name.n && !str_has_char(out->name, '@') &&
           !str_has_char(out->name, '?') && !str_has_char(out->name, '#') &&
           !text_has_control(out->name) && out->range.n <= RANGE_MAX_BYTES;
}

/* Adds dependencies on entries (C9): "name", "name@marketplace" or an object of
 * these. They are resolved in the marketplace that the plugin comes from. */
static void add_entries(struct reading *r, const struct json *list)
{
    struct plugin *p = r->out;

    if (list && list->kind != JSON_ARRAY) {
        add_other(r, "dependencies", 1, p->manifest);
        return;
    }
    for (const struct json *j = list ? list->first : NULL; j; j = j->next) {
        struct plugin_entry_need need;

        if (!r->entry || !read_entry_need(j, &need)) {
            add_other(r, "dependencies", 1, p->manifest);
            continue;
        }
        p->entries = arena_grow(r->a, p->entries, p->entry_count,
                                &r->entry_capacity, sizeof *p->entries);
        p->entries[p->entry_count++] = (struct plugin_entry_need){
            arena_str(r->a, need.name), arena_str(r->a, need.market),
            arena_str(r->a, need.range)};
    }
}

static void read_needs(struct reading *r)
{
    static const struct {
        const char *key;
        enum doc_kind kind;
    } kinds[] = {
        {"plugins", DOC_PLUGIN}, {"skills", DOC_SKILL}, {"mcps", DOC_MCP}};
    const struct json *own =
        json_get(json_get(json_get(r->manifest, "extensions"), "dev.mapm"),
                 "dependencies");

    for (size_t i = 0; i < COUNT(kinds); i++)
        add_need(r, kinds[i].kind, json_get(own, kinds[i].key));
    if (r->is_standard)
        return;
    add_entries(r, json_get(r->manifest, "dependencies"));
    add_entries(r, json_get(r->entry, "dependencies"));
}

static bool read_outside(struct reading *r, size_t at, struct err *e)
{
    struct str text, line;

    if (!r->files->read(r->files->ctx, at, PLUGIN_OUTSIDE_MAX_BYTES, r->a,
                        &text, e))
        return false;
    while (text.n && str_line(&text, &line))
        map_put(&r->outside, line, r);
    return true;
}

static bool index_paths(struct reading *r, struct err *e)
{
    size_t at;

    map_init(&r->by_path, r->a);
    map_init(&r->seen, r->a);
    map_init(&r->outside, r->a);
    for (size_t i = 0; i < r->files->count; i++) {
        map_put(&r->by_path, r->files->paths[i], (void *)(uintptr_t)(i + 1));
    }
    at = find_path(r, STR(PLUGIN_OUTSIDE_FILE));
    return at == SIZE_MAX || read_outside(r, at, e);
}

bool plugin_read(const struct plugin_input *in, struct arena *a,
                 struct plugin *out, struct err *e)
{
    struct plugin plugin = {0};
    struct reading r = {.in = in,
                        .files = in->files,
                        .a = a,
                        .out = &plugin,
                        .format = PLUGIN_FORMATS};
    int preferred;
    size_t at;

    if (!index_paths(&r, e) || !read_entry(&r, &preferred, e))
        return false;
    at = find_path(&r, STR("plugin.json"));
    if ((at != SIZE_MAX && !read_root(&r, at, e)) ||
        !choose_format(&r, preferred, e))
        return false;
    if (!r.manifest && !r.entry)
        return err_set(e, ERR_FORMAT, "there is no manifest of a plugin");
    if (!r.manifest)
        r.format = preferred;
    if (r.is_standard && !check_standard(&r, e))
        return false;
    if (!r.is_standard && !check_strict(&r, e))
        return false;
    plugin.format = plugin_formats[r.format].name;
    plugin.manifest =
        r.manifest ? str_cstr(plugin_formats[r.format].manifest) : STR("");
    if (r.is_standard && r.entry) {
        static const char *const parts[] = {"skills", "agents", "mcpServers",
                                            "commands", "hooks"};

        for (size_t i = 0; i < COUNT(parts); i++)
            if (json_get(r.entry, parts[i]))
                add_note(&r,
                         "%s of the marketplace's entry is ignored: "
                         "plugin.json decides",
                         parts[i]);
    }
    if (!read_names(&r, e))
        return false;
    read_needs(&r);
    read_servers(&r);
    read_skills(&r);
    read_agents(&r);
    read_others(&r);
    *out = plugin;
    return true;
}
