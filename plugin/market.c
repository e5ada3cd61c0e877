#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/plugin_market.h"
#include "mapm/plugin_paths.h"

#include <string.h>

#include "plugin_parts.h"

#define SHA_CHARS       40
#define ENTRY_MAX_CHARS 100
#define NOT_IN_NAMES    "@:/\\?#"

/* --- where an entry is -------------------------------------------------------- */

static bool refuse(struct market_entry *out, const char *why)
{
    out->source = MARKET_NONE;
    out->why = why;
    return false;
}

static bool is_sha(struct str s)
{
    return s.n == SHA_CHARS && str_is_hex(s);
}

static bool is_slug(struct str s)
{
    size_t slashes = 0;

    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        slashes += c == '/';
        if (!char_is_alpha(c) && !char_is_digit(c) && !strchr("-_./", c))
            return false;
        if (!c)
            return false;
    }
    return slashes == 1 && s.p[0] != '/' && s.p[s.n - 1] != '/';
}

static struct str drop_end(struct str s, const char *end)
{
    return str_ends(s, str_cstr(end)) ? str_slice(s, 0, s.n - strlen(end)) : s;
}

/* Accepts any URL of a repository that git accepts. The grammar of origins
 * decides later which hosts are allowed and converts it to https. */
static bool take_repository(struct str url, struct arena *a,
                            struct market_entry *out)
{
    static const char *const heads[] = {"https://", "git+https://",
                                        "ssh://git@", "git@"};

    if (is_slug(url)) {
        out->repository = arena_printf(a, "https://github.com/%.*s",
                                       STR_ARG(drop_end(url, ".git")));
        return true;
    }
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (str_starts(url, str_cstr(heads[i]))) {
            out->repository = arena_str(a, drop_end(url, "/"));
            return true;
        }
    return refuse(out, "its url is no https address of a git repository");
}

static bool take_path(struct str path, struct arena *a,
                      struct market_entry *out)
{
    const char *fault;

    return clean_path(path, true, a, &out->path, &fault) ||
           refuse(out, "its path leads out of its repository, or is none");
}

static bool take_pin(const struct json *source, struct market_entry *out)
{
    const struct json *sha = json_get(source, "sha");
    const struct json *ref = json_get(source, "ref");

    out->ref = json_text(ref);
    out->sha = json_text(sha);
    if (sha && !is_sha(out->sha))
        return refuse(out, "its sha is not 40 lower-case hexadecimal digits");
    if (ref && !out->ref.n)
        return refuse(out, "its ref is not text");
    return true;
}

static bool take_here(struct str path, struct str root, struct arena *a,
                      struct market_entry *out)
{
    out->source = MARKET_HERE;
    if (root.n && !str_starts(path, STR("./")) && !str_has_char(path, '/') &&
        !str_is(path, ".")) {
        struct str base;
        const char *fault;

        if (!clean_path(root, true, a, &base, &fault))
            return refuse(out, "metadata.pluginRoot leads out of the "
                               "repository");
        if (base.n)
            path = arena_printf(a, "%.*s/%.*s", STR_ARG(base), STR_ARG(path));
    }
    return take_path(path, a, out);
}

static bool take_git(const struct json *source, const char *key,
                     struct arena *a, struct market_entry *out)
{
    const struct json *path = json_get(source, "path");

    out->source = MARKET_GIT;
    return take_repository(json_text(json_get(source, key)), a, out) &&
           (!path || take_path(json_text(path), a, out)) &&
           take_pin(source, out);
}

static void read_source(const struct json *source, struct str root,
                        struct arena *a, struct market_entry *out)
{
    struct str kind = json_text(json_get(source, "source"));
    struct str url = json_text(json_get(source, "url"));
    struct str path = json_text(json_get(source, "path"));

    if (!source)
        refuse(out, "it has no source");
    else if (source->kind == JSON_STRING)
        take_here(source->text, root, a, out);
    else if (str_is(kind, "local"))
        take_here(path, STR(""), a, out);
    else if (str_is(kind, "url") &&
             (str_starts(url, STR("./")) || str_is(url, ".")))
        take_here(url, STR(""), a, out);
    else if (str_is(kind, "github"))
        take_git(source, "repo", a, out);
    else if (str_is(kind, "url") || str_is(kind, "git-subdir") ||
             str_is(kind, "git"))
        take_git(source, "url", a, out);
    else if (str_is(kind, "npm"))
        refuse(out, "its source is an npm package, which mapm does not fetch");
    else if (str_is(kind, "archive"))
        refuse(out, "its source is an archive, which mapm does not fetch");
    else if (str_is(kind, "command"))
        refuse(out, "its source is a command, which mapm does not run");
    else
        refuse(out, "its source is of no kind that mapm knows");
}

/* --- the file ------------------------------------------------------------------- */

static struct str clean(struct str text)
{
    return text_is_visible(text) ? text : str_make("", 0);
}

/* Row 35: returns true for a name without characters that look like others. */
static bool is_name(struct str s)
{
    if (s.n == 0 || s.n > ENTRY_MAX_CHARS)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= ' ' || s.p[i] >= 0x7f || strchr(NOT_IN_NAMES, s.p[i]))
            return false;
    return true;
}

static const char *find_file(struct str path)
{
    for (const char *const *file = plugin_marketplaces; *file; file++)
        if (str_is(path, *file))
            return *file;
    return "marketplace.json";
}

static bool check_shape(const struct json *root, const struct json *plugins,
                        const char *file, struct err *e)
{
    if (root->kind != JSON_OBJECT)
        return err_set(e, ERR_FORMAT, "%s: it is %s, not an object", file,
                       json_kind_name(root->kind));
    if (!plugins || plugins->kind != JSON_ARRAY)
        return err_set(e, ERR_FORMAT, "%s: it has no list \"plugins\"", file);
    return plugins->count <= MARKETPLACE_MAX_ENTRIES ||
           err_set(e, ERR_LIMIT, "%s: more than %d plugins", file,
                   MARKETPLACE_MAX_ENTRIES);
}

bool market_read(struct str text, struct str file, struct arena *a,
                 struct market *out, struct err *e)
{
    struct market m = {.file = find_file(file)};
    const struct json *root, *plugins;
    struct map seen;
    struct str plugin_root;

    if (!parse_json(text, a, &root, e))
        return err_wrap(e, "%s", m.file);
    plugins = json_get(root, "plugins");
    if (!check_shape(root, plugins, m.file, e))
        return false;
    map_init(&seen, a);
    m.name = clean(json_text(json_get(root, "name")));
    m.description = clean(json_text(json_get(root, "description")));
    m.renames = json_get(root, "renames");
    plugin_root = json_text(json_get(json_get(root, "metadata"), "pluginRoot"));
    m.entries = arena_array(a, plugins->count + 1, sizeof *m.entries);
    for (const struct json *j = plugins->first; j; j = j->next) {
        struct market_entry *entry = &m.entries[m.count];

        entry->json = j;
        entry->name = json_text(json_get(j, "name"));
        if (!is_name(entry->name) || !map_put(&seen, entry->name, entry)) {
            m.unnamed++;
            continue;
        }
        entry->description = clean(json_text(json_get(j, "description")));
        entry->version = clean(json_text(json_get(j, "version")));
        read_source(json_get(j, "source"), plugin_root, a, entry);
        m.count++;
    }
    *out = m;
    return true;
}

struct str market_unnamed_text(size_t unnamed, struct arena *a)
{
    return unnamed == 0
               ? STR("")
               : arena_printf(
                     a,
                     "%zu entr%s of its marketplace %s left out: names "
                     "are unique, of at most %d ASCII characters, and "
                     "without blanks and any of %s",
                     unnamed, unnamed == 1 ? "y" : "ies",
                     unnamed == 1 ? "is" : "are", ENTRY_MAX_CHARS,
                     NOT_IN_NAMES);
}

void market_hint_unnamed(const struct market *m, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};

    if (m->unnamed)
        err_hint(e, "%s", market_unnamed_text(m->unnamed, &a).p);
}

const struct market_entry *market_find(const struct market *m, struct str name,
                                       bool *renamed)
{
    *renamed = false;
    for (int again = 0; again < 2; again++) {
        for (size_t i = 0; i < m->count; i++)
            if (str_eq(m->entries[i].name, name))
                return &m->entries[i];
        name = json_text(json_get_str(m->renames, name));
        if (!name.n)
            return NULL;
        *renamed = true;
    }
    return NULL;
}

struct str market_entry_text(const struct market *m,
                             const struct market_entry *entry, struct arena *a)
{
    CLEANUP(buf_done) struct buf out = {0};
    struct json_writer w;

    json_open(&w, &out, MARKETPLACE_MAX_BYTES * 2, 2);
    json_member_string(&w, "file", str_cstr(m->file));
    json_member_bool(&w, "at_root",
                     entry->source == MARKET_HERE && entry->path.n == 0);
    json_key(&w, "entry");
    json_value(&w, entry->json);
    json_end_object(&w);
    buf_char(&out, '\n');
    return arena_str(a, buf_str(&out));
}
