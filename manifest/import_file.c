#include "mapm/import_file.h"

#include "base/json.h"
#include "base/path.h"
#include "base/text.h"
#include "base/toml_lex.h"
#include "base/yaml.h"
#include "mapm/limits.h"

#include <string.h>

#define IMPORT_MAX_DEPTH 64
#define NAME_SHOWN_BYTES 64

static const struct {
    const char *file;
    enum import_format format;
} files[] = {
    {"skills-lock.json", IMPORT_SKILLS}, {".skill-lock.json", IMPORT_SKILLS},
    {"agents.lock", IMPORT_AGENTS_LOCK}, {"agents.toml", IMPORT_AGENTS_TOML},
    {"apm.lock.yaml", IMPORT_APM_LOCK},  {"apm.yml", IMPORT_APM_YML},
    {".mcp.json", IMPORT_MCP},
};

bool import_format_find(struct str file, enum import_format *out)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (str_is(path_last(file), files[i].file)) {
            *out = files[i].format;
            return true;
        }
    return false;
}

struct reader {
    struct str text;
    const char *name;
    struct arena *a;
    struct import_list *out;
    struct err *e;
};

static bool fail(const struct reader *r, unsigned line, const char *what)
{
    return err_set(r->e, ERR_FORMAT, "%s:%u: %s", r->name, line, what);
}

/* --- one entry ------------------------------------------------------------ */

static bool is_hex(struct str s, size_t count)
{
    for (size_t i = 0; i < s.n; i++)
        if (!strchr("0123456789abcdef", s.p[i]))
            return false;
    return s.n == count;
}

/* Returns true if `s` can be part of an origin. */
static bool is_clean(struct str s)
{
    return s.n <= ORIGIN_MAX_BYTES && text_is_visible(s);
}

/* Returns the beginning of a name in a form that can be shown on one line. */
static struct str shown_name(struct str name, struct arena *a)
{
    struct str shown = text_shown(str_slice(name, 0, NAME_SHOWN_BYTES), a);
    struct str head = {"", 0}, out = {"", 0};

    while (shown.p && str_cut(&shown, '\t', &head)) /* it keeps TABs */
        out = arena_printf(a, "%.*s%s%.*s", STR_ARG(out), out.p[0] ? " " : "",
                           STR_ARG(head));
    return out;
}

/* Removes texts that cannot be part of an origin, such as those with an escaped
 * NUL; the entry is not imported then. The name is kept in a form that can be
 * shown. */
static void drop_unclean(const struct reader *r, struct import_entry *x)
{
    struct str *const all[] = {&x->name, &x->repository, &x->path,
                               &x->ref,  &x->commit,     &x->tree};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (is_clean(*all[i]))
            continue;
        *all[i] =
            all[i] == &x->name ? shown_name(x->name, r->a) : str_make("", 0);
        x->problem = "a text of it is too long, or has a hidden character";
    }
}

/* Returns a repository as argument for install, which interprets it with the
 * table of hosts. */
static struct str plain_repository(struct str s)
{
    if (str_starts(s, STR("git:")) && !str_starts(s, STR("git://")))
        s = str_from_index(s, strlen("git:"));
    while (str_ends(s, STR("/")))
        s.n--;
    return s;
}

/* Returns the folder of a path, "skills/pdf" of "skills/pdf/SKILL.md". */
static struct str folder_of(struct str path)
{
    static const char *const ends[] = {"SKILL.md", "AGENTS.md"};

    while (str_starts(path, STR("./")))
        path = str_from_index(path, 2);
    for (size_t i = 0; i < 2; i++)
        if (str_is(path_last(path), ends[i]))
            path.n -= strlen(ends[i]);
    while (str_ends(path, STR("/")))
        path.n--;
    return str_is(path, ".") ? str_make("", 0) : path;
}

static bool put(struct reader *r, struct import_entry *x)
{
    struct import_list *l = r->out;

    drop_unclean(r, x);
    if (l->count >= GRAPH_MAX_PACKAGES)
        return err_set(r->e, ERR_LIMIT, "%s: more than %d entries", r->name,
                       GRAPH_MAX_PACKAGES);
    x->repository = plain_repository(x->repository);
    x->path = folder_of(x->path);
    if (!x->problem && !str_has_char(x->repository, '/'))
        x->problem = "it names no git repository";
    if (!is_hex(x->commit, 40))
        x->commit = str_make("", 0);
    l->entries =
        arena_grow(r->a, l->entries, l->count, &l->capacity, sizeof *x);
    l->entries[l->count++] = *x;
    return true;
}

/* --- skills-lock.json ----------------------------------------------------- */

static bool read_json(struct reader *r, const struct json **out)
{
    struct json_options o = {.max_bytes = PROJECT_MAX_BYTES,
                             .max_depth = IMPORT_MAX_DEPTH,
                             .max_nodes = PROJECT_MAX_NODES * 8,
                             .comments = true,
                             .trailing_commas = true};

    if (!json_parse(r->text, &o, r->a, out, NULL, r->e))
        return false;
    return (*out)->kind == JSON_OBJECT ||
           fail(r, (*out)->line, "an object is expected");
}

static struct str member(const struct json *j, const char *key)
{
    struct str s = json_text(json_get(j, key));

    return s.p ? s : str_make("", 0);
}

static bool read_skill(struct reader *r, const struct json *j)
{
    struct str type = member(j, "sourceType"), url = member(j, "sourceUrl");
    struct str folder = member(j, "skillFolderHash");
    struct import_entry x = {
        .line = j->key_line,
        .kind = DOC_SKILL,
        .name = j->key,
        .repository = url.n ? url : member(j, "source"),
        .path = member(j, "skillPath"),
        .ref = member(j, "ref"),
        .hash = member(j, "computedHash"),
    };

    if (j->kind != JSON_OBJECT)
        return fail(r, j->line, "an object is expected");
    if (is_hex(folder, 40))
        x.tree = folder;
    else if (!x.hash.n)
        x.hash = folder;
    if (!is_hex(x.hash, 64))
        x.hash = str_make("", 0);
    if (!str_is(type, "github") && !str_is(type, "git") &&
        !str_is(type, "gitlab"))
        x.problem = "its source is no git repository";
    x.is_by_name = !x.path.n && !x.problem;
    return put(r, &x);
}

static bool read_skills(struct reader *r)
{
    const struct json *root, *skills;
    bool minus = false;
    uint64_t version = 0;

    if (!read_json(r, &root))
        return false;
    if (!json_whole(json_get(root, "version"), &minus, &version) || minus ||
        (version != 1 && version != 3))
        return fail(r, 1, "its version is neither 1 nor 3");
    skills = json_get(root, "skills");
    for (const struct json *j = skills ? skills->first : NULL; j; j = j->next)
        if (skills->kind != JSON_OBJECT || !read_skill(r, j))
            return skills->kind == JSON_OBJECT
                       ? false
                       : fail(r, skills->line, "an object is expected");
    return true;
}

/* --- .mcp.json ------------------------------------------------------------ */

static bool read_servers(struct reader *r)
{
    const struct json *root, *servers;

    if (!read_json(r, &root))
        return false;
    servers = json_get(root, "mcpServers");
    if (servers && servers->kind != JSON_OBJECT)
        return fail(r, servers->line, "an object is expected");
    for (const struct json *j = servers ? servers->first : NULL; j;
         j = j->next) {
        struct import_entry x = {.line = j->key_line,
                                 .kind = DOC_MCP,
                                 .name = j->key,
                                 .problem = "a server by hand stays yours"};

        if (!put(r, &x))
            return false;
    }
    return true;
}

/* --- agents.lock, agents.toml --------------------------------------------- */

static bool is_local_source(struct str s)
{
    return str_starts(s, STR("path:")) || str_starts(s, STR(".")) ||
           str_starts(s, STR("/")) || str_starts(s, STR("~"));
}

static bool put_agents(struct reader *r, struct import_entry *x, bool is_lock)
{
    if (x->line == 0)
        return true;
    if (is_local_source(x->repository))
        x->problem = "a folder of the project, not of a repository";
    else if (str_is(x->name, "*"))
        x->problem = "it stands for all of a catalog: mapm install OWNER/REPO "
                     "--all";
    else if (x->kind == DOC_MCP)
        x->problem = "a server by hand: no package is named for it";
    x->is_by_name = !is_lock && !x->path.n && !x->problem;
    return put(r, x);
}

static void take_pair(const struct toml_lexer *l,
                      const struct toml_statement *s, struct import_entry *x,
                      bool is_lock)
{
    static const struct {
        const char *key;
        size_t offset;
        bool lock, toml;
    } keys[] = {
        {"source", offsetof(struct import_entry, repository), true, true},
        {"resolved_url", offsetof(struct import_entry, repository), true,
         false},
        {"resolved_path", offsetof(struct import_entry, path), true, false},
        {"resolved_ref", offsetof(struct import_entry, ref), true, false},
        {"resolved_commit", offsetof(struct import_entry, commit), true, false},
        {"name", offsetof(struct import_entry, name), false, true},
        {"ref", offsetof(struct import_entry, ref), false, true},
        {"path", offsetof(struct import_entry, path), false, true},
    };
    struct str text;

    if (s->depth != 1 || !toml_value_text(l, s->value, &text))
        return;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (str_is(s->key[0], keys[i].key) &&
            (is_lock ? keys[i].lock : keys[i].toml))
            *(struct str *)(void *)((char *)x + keys[i].offset) = text;
}

/* Begins an entry at a TOML header: [skills.NAME] in the lock, [[skills]] and
 * [[mcp]] in agents.toml. */
static void begin_entry(const struct toml_statement *s, bool is_lock,
                        struct import_entry *x)
{
    bool is_skill = str_is(s->key[0], "skills");
    bool is_server =
        str_is(s->key[0], "mcp") || str_is(s->key[0], "mcpServers");

    *x = (struct import_entry){.kind = is_server ? DOC_MCP : DOC_SKILL};
    if (is_lock ? s->kind == TOML_TABLE && s->depth == 2 && is_skill
                : s->kind == TOML_LIST && s->depth == 1 &&
                      (is_skill || is_server)) {
        x->line = s->line;
        x->name = is_lock ? s->key[1] : str_make("", 0);
    }
}

static bool read_toml(struct reader *r, bool is_lock)
{
    struct import_entry x = {0};
    struct toml_statement s;
    struct toml_lexer l;
    bool more = true;

    toml_lex_init(&l, r->text, r->a);
    for (;;) {
        if (!toml_lex_next(&l, &s, &more, r->e))
            return false;
        if (!more)
            return put_agents(r, &x, is_lock);
        if (s.kind == TOML_PAIR) {
            if (x.line)
                take_pair(&l, &s, &x, is_lock);
            continue;
        }
        if (!put_agents(r, &x, is_lock))
            return false;
        begin_entry(&s, is_lock, &x);
    }
}

/* --- apm.lock.yaml, apm.yml ----------------------------------------------- */

static bool read_yaml(struct reader *r, const struct yaml **out)
{
    struct yaml_options o = {.max_bytes = PROJECT_MAX_BYTES,
                             .max_depth = IMPORT_MAX_DEPTH,
                             .max_nodes = PROJECT_MAX_NODES * 8};

    *out = NULL;
    if (!yaml_parse(r->text, &o, r->a, out, NULL, r->e))
        return false;
    return !*out || (*out)->kind == YAML_MAPPING ||
           fail(r, (*out)->line, "a mapping is expected");
}

static struct str value_of(const struct yaml *mapping, const char *key)
{
    const struct yaml *y =
        mapping->kind == YAML_MAPPING ? yaml_get(mapping, key) : NULL;

    return y && y->kind == YAML_SCALAR && yaml_type_of(y) != YAML_TYPE_NULL
               ? y->text
               : str_make("", 0);
}

/* Returns true for a primitive that is a single file, which is not a package
 * for mapm. */
static bool is_single_file(struct str path)
{
    return str_ends(path, STR(".md")) && !str_is(path_last(path), "SKILL.md") &&
           !str_is(path_last(path), "AGENTS.md");
}

static bool put_subset(struct reader *r, const struct import_entry *x,
                       const struct yaml *subset)
{
    for (const struct yaml *y = subset->first; y; y = y->next) {
        struct import_entry one = *x;

        if (y->kind != YAML_SCALAR)
            return fail(r, y->line, "a name is expected");
        one.kind = DOC_SKILL;
        one.name = y->text;
        one.path = arena_printf(r->a, "%.*s%sskills/%.*s", STR_ARG(x->path),
                                x->path.n ? "/" : "", STR_ARG(y->text));
        if (!put(r, &one))
            return false;
    }
    return true;
}

static bool read_apm_entry(struct reader *r, const struct yaml *y)
{
    struct str host = value_of(y, "host"), url = value_of(y, "repo_url");
    struct str source = value_of(y, "source"), depth = value_of(y, "depth");
    struct str path = value_of(y, "virtual_path");
    const struct yaml *subset;
    struct import_entry x = {.line = y->line,
                             .kind = DOC_AGENT,
                             .repository = url,
                             .path = path,
                             .ref = value_of(y, "resolved_ref"),
                             .commit = value_of(y, "resolved_commit")};

    if (y->kind != YAML_MAPPING)
        return fail(r, y->line, "a mapping is expected");
    x.name = path.n ? path_last(folder_of(path)) : path_last(url);
    if (host.n && !str_is(host, "github.com") &&
        !str_starts(url, STR("https://")) && !str_starts(url, host))
        x.repository =
            arena_printf(r->a, "%.*s/%.*s", STR_ARG(host), STR_ARG(url));
    if (str_find_char(x.repository, '.') < str_find_char(x.repository, '/') &&
        !str_starts(x.repository, STR("https://")))
        x.repository = str_join(STR("https://"), x.repository, r->a);
    if (depth.n && !str_is(depth, "0") && !str_is(depth, "1"))
        return true; /* a transitive dependency is installed with its
                      * dependent */
    if (source.n)
        x.problem = str_is(source, "local") ? "a folder of the project, not of "
                                              "a repository"
                                            : "it is of a registry";
    else if (is_single_file(path))
        x.problem = "a file that is no skill, agent or MCP server";
    subset = yaml_get(y, "skill_subset");
    if (!x.problem && subset && subset->kind == YAML_SEQUENCE && subset->first)
        return put_subset(r, &x, subset);
    return put(r, &x);
}

/* Reads an entry of the form "owner/repo/path#ref". */
static bool read_apm_line(struct reader *r, const struct yaml *y)
{
    struct import_entry x = {.line = y->line, .kind = DOC_AGENT};
    struct str text, ref, parts[3] = {{"", 0}, {"", 0}, {"", 0}};

    if (y->kind == YAML_MAPPING) {
        x.repository = value_of(y, "git");
        x.path = value_of(y, "path");
        x.ref = value_of(y, "ref");
        x.name = path_last(x.path.n ? x.path : x.repository);
        if (!x.repository.n)
            x.problem = "a folder of the project, not of a repository";
        return put(r, &x);
    }
    if (y->kind != YAML_SCALAR)
        return fail(r, y->line, "a dependency is expected");
    text = ref = y->text;
    if (str_cut(&ref, '#', &text) && ref.p)
        x.ref = ref;
    x.name = path_last(text);
    if (is_local_source(text) || str_starts(text, STR("https://")) ||
        str_starts(text, STR("ssh://")) || str_starts(text, STR("git@"))) {
        x.repository = text;
        if (is_local_source(text))
            x.problem = "a folder of the project, not of a repository";
        return put(r, &x);
    }
    if (str_starts(text, STR("github.com/")))
        text = str_from_index(text, strlen("github.com/"));
    parts[2] = text;
    for (size_t i = 0; i < 2 && parts[2].n; i++)
        if (!str_cut(&parts[2], '/', &parts[i]))
            break;
    x.repository =
        arena_printf(r->a, "%.*s/%.*s", STR_ARG(parts[0]), STR_ARG(parts[1]));
    x.path = parts[2].p ? parts[2] : str_make("", 0);
    if (is_single_file(x.path))
        x.problem = "a file that is no skill, agent or MCP server";
    return put(r, &x);
}

static bool read_each(struct reader *r, const struct yaml *list,
                      bool (*read)(struct reader *r, const struct yaml *y))
{
    if (!list)
        return true;
    if (list->kind != YAML_SEQUENCE)
        return list->kind == YAML_SCALAR && !list->text.n
                   ? true
                   : fail(r, list->line, "a list is expected");
    for (const struct yaml *y = list->first; y; y = y->next)
        if (!read(r, y))
            return false;
    return true;
}

static bool read_apm_server(struct reader *r, const struct yaml *y)
{
    struct import_entry x = {
        .line = y->line,
        .kind = DOC_MCP,
        .name = y->kind == YAML_SCALAR ? y->text : value_of(y, "name"),
        .problem = "a server of a registry, or by hand: "
                   "no repository is named for it"};

    return put(r, &x);
}

static bool read_apm(struct reader *r, bool is_lock)
{
    const struct yaml *root, *dependencies;
    struct str version;

    if (!read_yaml(r, &root) || !root)
        return root == NULL && r->e->code == ERR_NONE;
    dependencies = yaml_get(root, "dependencies");
    if (is_lock) {
        version = value_of(root, "lockfile_version");
        if (!str_is(version, "1") && !str_is(version, "2"))
            return fail(r, 1, "its lockfile_version is neither 1 nor 2");
        return read_each(r, dependencies, read_apm_entry);
    }
    if (!dependencies || dependencies->kind != YAML_MAPPING)
        return true;
    return read_each(r, yaml_get(dependencies, "apm"), read_apm_line) &&
           read_each(r, yaml_get(dependencies, "mcp"), read_apm_server);
}

bool import_file_read(enum import_format format, struct str text,
                      const char *name, struct arena *a,
                      struct import_list *out, struct err *e)
{
    struct reader r = {text, name, a, out, e};

    if (text.n > PROJECT_MAX_BYTES)
        return err_set(e, ERR_LIMIT, "%s: larger than %u bytes", name,
                       PROJECT_MAX_BYTES);
    switch (format) {
    case IMPORT_SKILLS:
        return read_skills(&r);
    case IMPORT_AGENTS_LOCK:
    case IMPORT_AGENTS_TOML:
        return read_toml(&r, format == IMPORT_AGENTS_LOCK);
    case IMPORT_APM_LOCK:
    case IMPORT_APM_YML:
        return read_apm(&r, format == IMPORT_APM_LOCK);
    case IMPORT_MCP:
        return read_servers(&r);
    default:
        return fail(&r, 1, "not a file that can be imported");
    }
}
