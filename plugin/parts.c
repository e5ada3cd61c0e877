#include "base/path.h"
#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/name.h"

#include <stdarg.h>
#include <stdio.h>

#include "plugin_parts.h"

#define MESSAGE_MAX_BYTES 600
#define NAME_MAX_POINTS   200
#define NOTES_MAX         100

size_t find_path(const struct reading *r, struct str path)
{
    return (size_t)(uintptr_t)map_find(&r->by_path, path) - 1;
}

bool is_below(struct str path, struct str folder, struct str *rest)
{
    if (folder.n == 0) {
        *rest = path;
        return true;
    }
    if (path.n <= folder.n + 1 || !str_starts(path, folder) ||
        path.p[folder.n] != '/')
        return false;
    *rest = str_from_index(path, folder.n + 1);
    return true;
}

size_t find_below(const struct reading *r, struct str folder)
{
    struct str rest;

    for (size_t i = 0; i < r->files->count; i++)
        if (is_below(r->files->paths[i], folder, &rest))
            return i;
    return SIZE_MAX;
}

bool is_outside(const struct reading *r, size_t index)
{
    return index != SIZE_MAX && map_has(&r->outside, r->files->paths[index]);
}

bool parse_json(struct str text, struct arena *a, const struct json **out,
                struct err *e)
{
    const struct json_options options = {.max_bytes = MARKETPLACE_MAX_BYTES,
                                         .max_depth = PLUGIN_MAX_DEPTH,
                                         .max_nodes = MARKETPLACE_MAX_NODES};

    return json_parse(text, &options, a, out, NULL, e);
}

bool read_json(const struct reading *r, size_t index, size_t max_bytes,
               const struct json **out, struct err *e)
{
    struct str text;

    return r->files->read(r->files->ctx, index, max_bytes, r->a, &text, e) &&
           parse_json(text, r->a, out, e);
}

static struct str format_text(struct arena *a, const char *format, va_list args)
{
    char text[MESSAGE_MAX_BYTES];
    CLEANUP(buf_done) struct buf shown = {0};

    vsnprintf(text, sizeof text, format, args);
    buf_init(&shown, 8 * sizeof text);
    text_visible(&shown, str_cstr(text), false);
    return arena_str(a, buf_str(&shown));
}

void add_note(struct reading *r, const char *format, ...)
{
    struct plugin *p = r->out;
    va_list args;

    if (p->note_count == NOTES_MAX)
        return;
    p->notes = arena_grow(r->a, p->notes, p->note_count, &r->note_capacity,
                          sizeof *p->notes);
    va_start(args, format);
    p->notes[p->note_count++] = format_text(r->a, format, args);
    va_end(args);
}

void add_warning(struct reading *r, const char *format, ...)
{
    struct plugin *p = r->out;
    va_list args;

    if (p->warning_count == NOTES_MAX)
        return;
    p->warnings = arena_grow(r->a, p->warnings, p->warning_count,
                             &r->warning_capacity, sizeof *p->warnings);
    va_start(args, format);
    p->warnings[p->warning_count++] = format_text(r->a, format, args);
    va_end(args);
}

/* Returns what the author calls a part, as mapm.lock and messages may have it:
 * one short line without hidden characters. */
static struct str shown_name(const struct reading *r, struct str name)
{
    return text_shown(text_one_line(text_cut(name, NAME_MAX_POINTS), r->a),
                      r->a);
}

void skip_part(struct reading *r, enum doc_kind kind, struct str name,
               const char *format, ...)
{
    struct plugin *p = r->out;
    va_list args;

    p->skipped = arena_grow(r->a, p->skipped, p->skipped_count,
                            &r->skipped_capacity, sizeof *p->skipped);
    va_start(args, format);
    p->skipped[p->skipped_count++] = (struct plugin_skipped){
        kind, shown_name(r, name), format_text(r->a, format, args)};
    va_end(args);
}

static size_t *count_of(struct reading *r, enum doc_kind kind, size_t *max)
{
    switch (kind) {
    case DOC_MCP:
        *max = PLUGIN_MAX_SERVERS;
        return &r->server_count;
    case DOC_AGENT:
        *max = PLUGIN_MAX_AGENTS;
        return &r->agent_count;
    default:
        *max = PLUGIN_MAX_SKILLS;
        return &r->skill_count;
    }
}

void add_part(struct reading *r, const struct plugin_part *part)
{
    struct plugin *p = r->out;
    size_t max, *count = count_of(r, part->kind, &max);

    if (*count == max) {
        skip_part(r, part->kind, part->name, "a plugin has at most %zu", max);
        return;
    }
    ++*count;
    p->parts = arena_grow(r->a, p->parts, p->part_count, &r->part_capacity,
                          sizeof *p->parts);
    p->parts[p->part_count++] = *part;
}

void add_other(struct reading *r, const char *kind, size_t count,
               struct str where)
{
    struct plugin *p = r->out;
    struct str name;

    if (count == 0)
        return;
    name = shown_name(r, str_cstr(kind));
    for (size_t i = 0; i < p->other_count; i++)
        if (str_eq(p->others[i].kind, name)) {
            p->others[i].count += count;
            return;
        }
    p->others = arena_grow(r->a, p->others, p->other_count, &r->other_capacity,
                           sizeof *p->others);
    p->others[p->other_count++] =
        (struct plugin_other){name, count, arena_str(r->a, where)};
}

bool clean_path(struct str path, bool bare, struct arena *a, struct str *out,
                const char **fault)
{
    struct err ignored = {0};

    *fault = "is no path in the plugin";
    if (str_has_char(path, '\\') || str_has_char(path, '%') ||
        str_has_char(path, '\0'))
        return false;
    if (str_is(path, ".") || str_is(path, "./")) {
        *out = str_make("", 0);
        return true;
    }
    if (str_starts(path, STR("./")))
        path = str_from_index(path, 2);
    else if (!bare) {
        *fault = "does not begin with \"./\"";
        return false;
    }
    while (str_ends(path, STR("/")))
        path.n--;
    if (!path_check(path, PACKAGE_PATH_MAX_BYTES, &ignored)) {
        *fault = "leads out of the plugin, or has a name that no file may have";
        return false;
    }
    *out = arena_str(a, path);
    return true;
}

struct str make_name(struct str text, struct arena *a)
{
    char *out = arena_text(a, text.p, text.n);
    size_t n = 0;

    for (size_t i = 0; i < text.n && n < NAME_MAX_CHARS; i++) {
        char c = text.p[i];

        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if (char_is_lower(c) || char_is_digit(c))
            out[n++] = c;
        else if (n && out[n - 1] != '-')
            out[n++] = '-';
    }
    while (n && out[n - 1] == '-')
        n--;
    out[n] = '\0';
    return str_make(out, n);
}

struct str plugin_scope_of(struct str name, struct arena *a)
{
    return name_scope_is_valid(name) ? name : make_name(name, a);
}

/* --- skills ---------------------------------------------------------------- */

static bool has_skill(const struct reading *r, struct str folder)
{
    struct str path =
        folder.n ? str_join(folder, STR("/SKILL.md"), r->a) : STR("SKILL.md");

    return find_path(r, path) != SIZE_MAX;
}

/* C6: warns about ${CLAUDE_PLUGIN_ROOT}, which Claude Code replaces in the
 * bodies of its own plugins. mapm does not change the text. */
static void warn_about_root(struct reading *r, struct str file)
{
    struct err ignored = {0};
    struct str text;

    if (!r->is_standard &&
        r->files->read(r->files->ctx, find_path(r, file), ANCHOR_MAX_BYTES,
                       r->a, &text, &ignored) &&
        str_find(text, STR("${CLAUDE_PLUGIN_ROOT}")) != SIZE_MAX)
        add_warning(r,
                    "%.*s names ${CLAUDE_PLUGIN_ROOT}, which nothing replaces "
                    "here: the plugin's other files are not in the workspace",
                    STR_ARG(file));
}

static void add_skill(struct reading *r, struct str folder)
{
    struct str name = folder.n ? path_last(folder) : r->in->folder;
    struct str file =
        folder.n ? str_join(folder, STR("/SKILL.md"), r->a) : STR("SKILL.md");

    if (!map_put(&r->seen, arena_printf(r->a, "skill %.*s", STR_ARG(folder)),
                 r))
        return;
    if (r->is_standard && is_outside(r, find_path(r, file))) {
        skip_part(r, DOC_SKILL, name, "its SKILL.md is outside of the plugin");
        return;
    }
    warn_about_root(r, file);
    add_part(r, &(struct plugin_part){
                    .kind = DOC_SKILL, .name = name, .path = folder});
}

/* Adds the immediate children that have a SKILL.md and returns their number. It
 * includes children added before, because Codex's manifests name the folder
 * that is also read by default. */
static size_t add_children(struct reading *r, struct str folder)
{
    size_t count = 0;

    for (size_t i = 0; i < r->files->count; i++) {
        struct str path = r->files->paths[i], rest, child;

        if (is_below(path, folder, &rest) && str_cut(&rest, '/', &child) &&
            str_is(rest, "SKILL.md")) {
            add_skill(r, str_slice(path, 0, path.n - strlen("/SKILL.md")));
            count++;
        }
    }
    return count;
}

static void add_listed(struct reading *r, const struct json *item)
{
    struct str text = json_text(item), folder;
    const char *fault;

    if (item->kind != JSON_STRING)
        skip_part(r, DOC_SKILL, STR("skills"), "a path is not text");
    else if (!clean_path(text, r->format != PLUGIN_CLAUDE, r->a, &folder,
                         &fault))
        skip_part(r, DOC_SKILL, text, "its path %s", fault);
    else if (has_skill(r, folder))
        add_skill(r, folder);
    else if (find_path(r, folder) != SIZE_MAX &&
             str_is(path_last(folder), "SKILL.md"))
        add_skill(r, str_slice(folder, 0, folder.n == 8 ? 0 : folder.n - 9));
    else if (!add_children(r, folder))
        skip_part(r, DOC_SKILL, folder.n ? folder : text,
                  "there is no SKILL.md");
}

static void add_list(struct reading *r, const struct json *list)
{
    if (!list)
        return;
    if (list->kind != JSON_ARRAY) {
        add_listed(r, list);
        return;
    }
    for (const struct json *j = list->first; j; j = j->next) {
        if (r->skill_count >= PLUGIN_MAX_SKILLS) {
            skip_part(r, DOC_SKILL, STR("skills"), "a plugin has at most %d",
                      PLUGIN_MAX_SKILLS);
            return;
        }
        add_listed(r, j);
    }
}

void read_skills(struct reading *r)
{
    const struct json *own = json_get(r->manifest, "skills");
    const struct json *more = json_get(r->entry, "skills");
    bool has_folder = find_below(r, STR("skills")) != SIZE_MAX;

    if (r->is_standard) {
        if (find_path(r, STR("skills")) != SIZE_MAX)
            skip_part(r, DOC_SKILL, STR("skills"),
                      "\"skills\" is not a folder");
        add_children(r, STR("skills"));
        return;
    }
    if (r->is_entry_at_root && more) { /* C16: the entry lists the skills */
        add_list(r, more);
        return;
    }
    if (r->format != PLUGIN_CURSOR || !own)
        add_children(r, STR("skills"));
    if (!has_folder && !own && !more && has_skill(r, STR("")))
        add_skill(r, STR(""));
    add_list(r, own);
    add_list(r, more);
}

/* --- what is not installed -------------------------------------------------- */

/* clang-format off */
/* Parts that are not installed: `place` is a folder, whose files with the
 * suffix `end` are counted, or one file; `key` is the manifest key that names
 * more of them. As of November 2026. */
static const struct {
    const char *kind, *place, *end, *key;
} others[] = {
    {"commands",      "commands",               ".md",   "commands"},
    {"commands",      "commands",               ".toml", NULL},
    {"hooks",         "hooks/hooks.json",       NULL,    "hooks"},
    {"hooks",         "hooks.json",             NULL,    NULL},
    {"lsp-servers",   ".lsp.json",              NULL,    "lspServers"},
    {"lsp-servers",   "lsp.json",               NULL,    NULL},
    {"monitors",      "monitors/monitors.json", NULL,    "monitors"},
    {"apps",          ".app.json",              NULL,    "apps"},
    {"output-styles", "output-styles",          ".md",   "outputStyles"},
    {"workflows",     "workflows",              "",      "workflows"},
    {"themes",        "themes",                 "",      "themes"},
    {"rules",         "rules",                  "",      "rules"},
    {"bin",           "bin",                    "",      NULL},
    {"settings",      "settings.json",          NULL,    "settings"},
    {"user-config",   NULL,                     NULL,    "userConfig"},
    {"channels",      NULL,                     NULL,    "channels"},
    {"policies",      "policies",               "",      NULL},
    {"prompts",       "prompts",                ".md",   "prompts"},
    {"instructions",  "instructions",           ".md",   "instructions"},
    {"context",       NULL,                     NULL,    "contextFileName"},
    {"tools",         NULL,                     NULL,    "excludeTools"},
};
/* clang-format on */
#define OTHERS (sizeof others / sizeof *others)

static size_t count_files(const struct reading *r, const char *folder,
                          const char *end)
{
    size_t n = 0;
    struct str rest;

    for (size_t i = 0; i < r->files->count; i++)
        n += is_below(r->files->paths[i], str_cstr(folder), &rest) &&
             str_ends(rest, str_cstr(end));
    return n;
}

static size_t count_values(const struct json *j)
{
    if (!j || j->kind == JSON_NULL || j->kind == JSON_FALSE)
        return 0;
    return j->kind == JSON_ARRAY || j->kind == JSON_OBJECT ? j->count : 1;
}

/* Returns true for paths in a namespace, such as "com.github.copilot/agents/x",
 * which hold files of one client. */
static bool is_namespace(struct str name)
{
    struct str rest = name, part;
    size_t parts = 0;

    while (str_cut(&rest, '.', &part)) {
        parts++;
        if (part.n == 0)
            return false;
    }
    return parts >= 3;
}

static void count_namespaces(struct reading *r)
{
    for (size_t i = 0; i < r->files->count; i++) {
        struct str rest = r->files->paths[i], top;

        if (str_cut(&rest, '/', &top) && rest.p && is_namespace(top))
            add_other(r, str_dup0(top, r->a), 1, top);
    }
}

/* Counts the namespaces in `extensions` that name parts. They are ignored (P43)
 * but reported (X38). */
static void count_extensions(struct reading *r)
{
    const struct json *all = json_get(r->manifest, "extensions");

    for (const struct json *j = all && all->kind == JSON_OBJECT ? all->first
                                                                : NULL;
         j; j = j->next) {
        size_t n = 0;

        if (str_is(j->key, "dev.mapm"))
            continue;
        for (const struct json *m = j->kind == JSON_OBJECT ? j->first : NULL; m;
             m = m->next)
            n += count_values(m);
        add_other(r, str_dup0(j->key, r->a), n ? n : 1,
                  str_cstr(plugin_formats[r->format].manifest));
    }
}

static void count_bundles(struct reading *r)
{
    for (size_t i = 0; i < r->files->count; i++)
        if (str_ends(r->files->paths[i], STR(".mcpb")) ||
            str_ends(r->files->paths[i], STR(".dxt")))
            add_other(r, "mcpb", 1, r->files->paths[i]);
}

/* Returns true if the value names the default file. */
static bool names_place(const struct json *value, struct str place)
{
    struct str path = json_text(value);

    if (str_starts(path, STR("./")))
        path = str_from_index(path, 2);
    return str_eq(path, place);
}

void read_others(struct reading *r)
{
    for (size_t i = 0; i < OTHERS; i++) {
        struct str place = str_cstr(others[i].place);
        const struct json *key = NULL, *more = NULL;

        if (others[i].key && !r->is_standard) {
            more = json_get(r->entry, others[i].key);
            key = json_get(r->manifest, others[i].key);
            add_other(r, others[i].kind, count_values(key), r->out->manifest);
            add_other(r, others[i].kind, count_values(more),
                      STR("the marketplace"));
        }
        if (place.n && !others[i].end)
            add_other(r, others[i].kind,
                      find_path(r, place) != SIZE_MAX &&
                          !names_place(key, place) && !names_place(more, place),
                      place);
        /* In the standard, bin/ is not added to PATH but holds programs of
         * servers. */
        else if (place.n && !key && !(r->is_standard && str_is(place, "bin")))
            add_other(r, others[i].kind,
                      count_files(r, others[i].place, others[i].end), place);
    }
    count_bundles(r);
    if (r->is_standard) {
        count_namespaces(r);
        count_extensions(r);
    }
}
