#include "base/map.h"
#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/member.h"
#include "mapm/name.h"

#include <string.h>

#include "project_reader.h"

/* Parses mapm.yaml, mapm.local.yaml and config.yaml, which have one grammar; a
 * table lists the files in which each key is allowed. A workspace is often
 * written by others, so keys that widen rights are allowed only in the user's
 * own file (THREATS row 15). */

static void put_setting(struct project_reader *r, struct str name,
                        struct str value, unsigned line)
{
    struct project *p = &r->out;

    p->settings = arena_grow(r->a, p->settings, p->setting_count,
                             &r->setting_capacity, sizeof *p->settings);
    p->settings[p->setting_count++] =
        (struct setting){.name = name, .value = value, .line = line};
}

static struct str below(struct project_reader *r, const char *section,
                        const struct yaml *y)
{
    return arena_printf(r->a, "%s.%.*s", section, STR_ARG(y->key));
}

/* --- dependencies --------------------------------------------------------- */

static bool skip(struct project_reader *r, const struct yaml *y)
{
    (void)r;
    (void)y;
    return true;
}

/* Names and origins of the roots of one kind, to detect duplicates. */
struct root_names {
    struct map origins; /* keys of origins */
    struct map names;   /* -> struct origin * of the first */
};

static bool read_as(struct project_reader *r, const struct yaml *y,
                    struct root *root, struct root_names *seen)
{
    struct map_entry *known;
    struct origin *copy;

    if (!project_want_text(r, y, "\"as\""))
        return false;
    if (!name_fqn_is_valid(root->kind, y->text))
        return project_fail(r, y->line, "not a name of %s %s: \"%.*s\"",
                            root->kind == DOC_SKILL ? "a" : "an",
                            doc_kind_name(root->kind),
                            STR_ARG(project_excerpt(y->text)));
    known = map_entry(&seen->names, y->text);
    if (known->value) {
        const struct origin *first = known->value;

        project_fail(
            r, y->line, "%.*s is the name of %.*s already, not of %.*s",
            STR_ARG(y->text), STR_ARG(first->text), STR_ARG(root->origin.text));
        return err_hint(r->e, "give one of them another name");
    }
    known->value = copy = arena_new(r->a, struct origin);
    *copy = root->origin;
    root->as = y->text;
    return true;
}

/* Reads {catalog: URL, plugin: NAME}, an entry of a marketplace [G11]. */
static bool read_entry(struct project_reader *r, const struct yaml *item,
                       const struct yaml **catalog, const struct yaml **entry)
{
    if (*catalog)
        return project_fail(r, item->line,
                            "\"origin\" and \"catalog\" in one plugin");
    *catalog = yaml_get(item, "catalog");
    *entry = yaml_get(item, "plugin");
    if (!*entry)
        return project_fail(r, item->line, "no \"plugin\" in {catalog: ...}");
    return project_want_text(r, *entry, "the name of a plugin") &&
           ((!str_has_char((*entry)->text, '?') &&
             !str_has_char((*entry)->text, '#') &&
             !text_has_control((*entry)->text)) ||
            project_fail(r, (*entry)->line, "not the name of a plugin"));
}

bool project_read_origin(struct project_reader *r, const struct yaml *y,
                         struct origin *out)
{
    struct err why = {0};

    if (!project_want_text(r, y, "an origin"))
        return false;
    if (origin_is_own(y->text) && r->role == PROJECT_LOCAL)
        return project_fail(r, y->line,
                            "%.*s is of the workspace: it belongs in mapm.yaml",
                            STR_ARG(project_excerpt(y->text)));
    if (origin_parse_here(y->text, r->rules, r->a, out, &why))
        return true;
    err_set(r->e, why.code, "%s:%u: %s", r->name, y->line, err_first(&why));
    return err_hint(r->e, "%s", why.hint);
}

static const struct project_key root_keys[] = {
    {STR_INIT("origin"), IN_WORKSPACE | IN_LOCAL, skip},
    {STR_INIT("as"), IN_WORKSPACE | IN_LOCAL, skip},
    {{0}, 0, NULL},
};

static const struct project_key plugin_keys[] = {
    {STR_INIT("origin"), IN_WORKSPACE | IN_LOCAL, skip},
    {STR_INIT("catalog"), IN_WORKSPACE | IN_LOCAL, skip},
    {STR_INIT("plugin"), IN_WORKSPACE | IN_LOCAL, skip},
    {STR_INIT("as"), IN_WORKSPACE | IN_LOCAL, skip},
    {STR_INIT("without"), IN_WORKSPACE | IN_LOCAL, skip},
    {{0}, 0, NULL},
};

/* Reads an origin, or {origin: URL, as: NAME} [D9]. */
static bool read_root(struct project_reader *r, enum doc_kind kind,
                      const struct yaml *item, struct root_names *seen)
{
    struct root root = {.kind = kind, .line = item->line};
    const struct yaml *y = item, *as = NULL, *entry = NULL, *without = NULL;

    if (item->kind == YAML_MAPPING) {
        if (!project_read_keys(r, kind == DOC_PLUGIN ? plugin_keys : root_keys,
                               item))
            return false;
        y = yaml_get(item, "origin");
        as = yaml_get(item, "as");
        without = yaml_get(item, "without");
        if (yaml_get(item, "catalog") && !read_entry(r, item, &y, &entry))
            return false;
        if (!y)
            return project_fail(r, item->line, "no \"origin\" in {...}");
    }
    if (!project_read_origin(r, y, &root.origin))
        return false;
    if (kind != DOC_PLUGIN && str_is(root.origin.text, "./")) {
        project_fail(r, y->line,
                     "origin \"./\" is the workspace itself, no package");
        return err_hint(r->e, "list it below dependencies: catalogs:");
    }
    if (kind == DOC_PLUGIN)
        root.origin = entry
                          ? origin_of_entry(&root.origin, entry->text, r->a)
                          : origin_with_part(&root.origin, STR("plugin"), r->a);
    if (as && root.origin.scheme == ORIGIN_OWN)
        return project_fail(r, as->line,
                            "\"as\" is not for packages of the workspace: "
                            "name it so in %.*s itself",
                            STR_ARG(root.origin.text));
    if (!map_put(&seen->origins, root.origin.key, NULL))
        return project_fail(r, y->line, "%.*s is listed twice",
                            STR_ARG(root.origin.text));
    if ((as && !read_as(r, as, &root, seen)) ||
        (without && !project_read_without(r, without, &root.without)))
        return false;
    r->out.roots = arena_extend(r->a, r->out.roots, r->out.root_count,
                                &r->root_capacity, sizeof *r->out.roots);
    r->out.roots[r->out.root_count++] = root;
    return true;
}

static bool read_roots(struct project_reader *r, const struct yaml *y)
{
    struct str plural = y->key;
    enum doc_kind kind;
    struct root_names seen;

    map_init(&seen.origins, r->a);
    map_init(&seen.names, r->a);
    if (!doc_kind_find(str_slice(plural, 0, plural.n - 1), &kind) ||
        !project_want(r, y, YAML_SEQUENCE))
        return false;
    for (const struct yaml *item = y->first; item; item = item->next)
        if (!read_root(r, kind, item, &seen))
            return false;
    return true;
}

static bool read_dependencies(struct project_reader *r, const struct yaml *y)
{
    static const struct project_key kinds[] = {
        {STR_INIT("agents"), IN_WORKSPACE | IN_LOCAL, skip},
        {STR_INIT("skills"), IN_WORKSPACE | IN_LOCAL, skip},
        {STR_INIT("mcps"), IN_WORKSPACE | IN_LOCAL, skip},
        {STR_INIT("plugins"), IN_WORKSPACE | IN_LOCAL, skip},
        {STR_INIT("catalogs"), IN_WORKSPACE | IN_LOCAL, project_read_catalogs},
        {{0}, 0, NULL},
    };

    if (!project_read_keys(r, kinds, y))
        return false;
    if (y->kind != YAML_MAPPING)
        return true;
    for (const struct project_key *kind = kinds; kind->name.n; kind++) {
        const struct yaml *list = yaml_get(y, kind->name.p);

        if (list && kind->read == skip && !read_roots(r, list))
            return false;
    }
    return true;
}

/* --- members -------------------------------------------------------------- */

static bool read_members(struct project_reader *r, const struct yaml *y)
{
    size_t count = 0;

    if (!project_want_texts(r, y, "a folder"))
        return false;
    for (const struct yaml *item = y->first; item; item = item->next) {
        if (++count > MEMBER_PATTERNS_MAX)
            return project_fail(r, item->line, "more than %d members",
                                MEMBER_PATTERNS_MAX);
        if (member_pattern_is_valid(item->text))
            continue;
        project_fail(r, item->line, "not a folder of members: \"%.*s\"",
                     STR_ARG(project_excerpt(item->text)));
        return err_hint(r->e, "write a path below this folder, as apps/web, "
                              "or apps/* for all folders in apps; never .., "
                              "**, or a name that begins with a dot");
    }
    r->out.members = project_texts(r, y, &r->out.member_count);
    r->out.members_line = y->key_line;
    return true;
}

/* --- clients, trusted folders ------------------------------------------ */

static bool is_client(struct str item)
{
    return name_is_kebab(project_client_name(item));
}

static bool read_clients(struct project_reader *r, const struct yaml *y)
{
    static const struct project_item_rule rule = {"a client", is_client,
                                                  "not a client's name", NULL};

    if (!project_want_each(r, y, &rule))
        return false;
    r->out.clients = project_texts(r, y, &r->out.client_count);
    r->out.has_clients = true;
    return true;
}

struct str project_client_name(struct str item)
{
    return item.n && item.p[0] == '-' ? str_from_index(item, 1) : item;
}

/* Returns true if `item` has the form of a value of git's safe.directory. A
 * relative path is rejected because it would depend on the current folder. */
static bool is_trusted_folder(struct str item)
{
    return str_is(item, "*") || str_starts(item, STR("/")) ||
           str_starts(item, STR("~/"));
}

static bool read_trusted_folders(struct project_reader *r, const struct yaml *y)
{
    static const struct project_item_rule rule = {
        "a folder", is_trusted_folder,
        "not an absolute path, \"~/...\" or \"*\"", NULL};

    if (!project_want_each(r, y, &rule))
        return false;
    r->out.trusted_folders = project_texts(r, y, &r->out.trusted_folder_count);
    return true;
}

/* --- policy, limits ---------------------------------------------- */

/* An empty list allows nothing. A key without a value could mean that or the
 * opposite, so it is rejected. */
static bool read_sources(struct project_reader *r, const struct yaml *y)
{
    static const struct project_item_rule rule = {
        "a source", project_is_source, "not a pattern of sources",
        "write host/owner/repository, with \"*\" for any: "
        "github.com/acme/*"};

    if (project_is_null(y))
        return project_fail(r, y->key_line,
                            "sources must be a list; [] allows none");
    if (!project_want_each(r, y, &rule))
        return false;
    r->out.sources = project_texts(r, y, &r->out.source_count);
    r->out.has_sources = true;
    return true;
}

static bool read_policy(struct project_reader *r, const struct yaml *y)
{
    static const struct project_key keys[] = {
        {STR_INIT("sources"), IN_WORKSPACE | IN_USER, read_sources},
        {STR_INIT("commands"), IN_WORKSPACE | IN_USER, project_read_commands},
        {STR_INIT("network"), IN_WORKSPACE | IN_USER, project_read_network},
        {STR_INIT("sandbox"), IN_WORKSPACE | IN_USER, project_read_sandbox},
        {{0}, 0, NULL},
    };

    return project_read_keys(r, keys, y);
}

/* Reads a limit. limits_apply() decides whether a workspace may raise it so
 * far. */
static bool read_limit(struct project_reader *r, const struct yaml *y)
{
    struct limits limits = limits_default;
    const struct limit *limit = limits_find(&limits, y->key);
    uint64_t value;

    if (y->kind != YAML_SCALAR || y->style != YAML_PLAIN ||
        !str_number(y->text, UINT64_MAX, &value) ||
        (y->text.n > 1 && y->text.p[0] == '0'))
        return project_fail(r, y->line, "%.*s must be a whole number",
                            STR_ARG(y->key));
    /* 0 means "none" in some programs and "unlimited" in others. Here it always
     * means none, and only limits with that minimum accept it. */
    if (value < limit->least || value > limit->ceiling)
        return project_fail(r, y->line, "%s must be from %llu to %llu",
                            limit->name, (unsigned long long)limit->least,
                            (unsigned long long)limit->ceiling);
    put_setting(r, below(r, "limits", y), y->text, y->line);
    return true;
}

static bool read_limits(struct project_reader *r, const struct yaml *y)
{
    struct project_key keys[LIMITS_COUNT + 1] = {0};

    for (size_t i = 0; i < LIMITS_COUNT; i++)
        keys[i] = (struct project_key){str_cstr(limits_default.all[i].name),
                                       IN_WORKSPACE | IN_USER, read_limit};
    return project_read_keys(r, keys, y);
}

/* --- the file ------------------------------------------------------------- */

/* Returns the number of the first line with a conflict marker of git, or 0. No
 * valid mapm.yaml has lines that begin with one. */
static unsigned conflict_line(struct str text)
{
    struct str line;

    for (unsigned n = 1; str_line(&text, &line); n++)
        if (str_starts(line, STR("<<<<<<< ")) ||
            str_starts(line, STR(">>>>>>> ")))
            return n;
    return 0;
}

/* Returns true if the indentation of this line or of the one before has a
 * tab. */
static bool has_tab(struct str text, unsigned number)
{
    struct str line;
    bool found = false;

    for (unsigned n = 1; n <= number && str_line(&text, &line); n++) {
        size_t at = 0;

        while (at < line.n && line.p[at] == ' ')
            at++;
        found |= n + 1 >= number && at < line.n && line.p[at] == '\t';
    }
    return found;
}

/* Converts "line 7: …" of yaml_parse() to "mapm.yaml:7: …". */
static bool fail_yaml(struct project_reader *r,
                      const struct yaml_problem *problem, const struct err *why)
{
    const char *message = err_first(why);
    const char *behind = strstr(message, ": ");

    if (str_starts(str_cstr(message), STR("line ")) && behind)
        message = behind + 2;
    err_set(r->e, why->code, "%s:%u: %s", r->name, problem->line, message);
    if (problem->fault == YAML_FAULT_DUPLICATE)
        return err_hint(r->e, "give it once, with the lines of both");
    if (problem->fault != YAML_FAULT_SYNTAX)
        return false;
    return err_hint(r->e, "%s",
                    has_tab(r->text, problem->line)
                        ? "indent with blanks: YAML takes no tabs"
                        : "put text that holds \": \" or \" #\" in quotes, "
                          "and give the lines of a list the same indentation");
}

static const struct yaml_options yaml_bounds = {
    .max_bytes = PROJECT_MAX_BYTES,
    .max_depth = PROJECT_MAX_DEPTH,
    .max_nodes = PROJECT_MAX_NODES,
};

bool project_parse_members(struct str text, const char *name, struct arena *a,
                           struct project *out, struct err *e)
{
    struct project_reader r = {
        .role = PROJECT_WORKSPACE, .name = name, .text = text, .a = a, .e = e};
    struct yaml_problem problem = {0};
    const struct yaml *root = NULL, *list;
    struct err why = {0};

    *out = (struct project){0};
    if (str_find(text, STR("members")) == SIZE_MAX)
        return true;
    if (!yaml_parse(text, &yaml_bounds, a, &root, &problem, &why))
        return fail_yaml(&r, &problem, &why);
    list =
        root && root->kind == YAML_MAPPING ? yaml_get(root, "members") : NULL;
    if (list && !read_members(&r, list))
        return false;
    *out = r.out;
    return true;
}

static void join_rules(const struct project *root, struct project *member,
                       struct arena *a)
{
    struct project_rule *rules = arena_array(
        a, root->rule_count + member->rule_count + 1, sizeof *rules);
    size_t n = 0;

    for (size_t i = 0; i < root->rule_count; i++)
        rules[n++] = root->rules[i];
    for (size_t i = 0; i < member->rule_count; i++)
        rules[n++] = member->rules[i];
    member->rules = rules;
    member->rule_count = n;
}

void project_join_member(const struct project *root, struct project *member,
                         struct arena *a)
{
    member->root = root;
    if (!member->has_clients) {
        member->has_clients = root->has_clients;
        member->clients = root->clients;
        member->client_count = root->client_count;
    }
    member->start_servers |= root->start_servers;
    if (member->store.count == 0)
        member->store = root->store;
    if (member->listing.line == 0)
        member->listing = root->listing;
    join_rules(root, member, a);
    if (root->network == PROJECT_FALSE || member->network == PROJECT_UNSAID)
        member->network = root->network;
    member->sandbox = root->sandbox.n ? root->sandbox : member->sandbox;
    member->metaskills =
        root->metaskills.n ? root->metaskills : member->metaskills;
    member->keep = root->keep.n ? root->keep : member->keep;
    if (member->ask.line == 0)
        member->ask = root->ask;
}

bool project_parse(struct str text, enum project_role role, const char *name,
                   const struct origin_rules *rules, struct arena *a,
                   struct project *out, struct err *e)
{
    static const struct project_key keys[] = {
        {STR_INIT("dependencies"), IN_WORKSPACE | IN_LOCAL, read_dependencies},
        {STR_INIT("replace"), IN_WORKSPACE | IN_LOCAL | IN_USER,
         project_read_replace},
        {STR_INIT("members"), IN_WORKSPACE, read_members},
        {STR_INIT("clients"), IN_WORKSPACE | IN_USER, read_clients},
        {STR_INIT("server"), IN_WORKSPACE, project_read_server},
        {STR_INIT("servers"), IN_WORKSPACE, project_read_servers},
        {STR_INIT("listing"), IN_WORKSPACE, project_read_listing},
        {STR_INIT("hosts"), IN_USER, project_read_hosts},
        {STR_INIT("store"), IN_WORKSPACE | IN_USER, project_read_store},
        {STR_INIT("trusted_folders"), IN_USER, read_trusted_folders},
        {STR_INIT("ask"), IN_WORKSPACE | IN_USER, project_read_ask},
        {STR_INIT("policy"), IN_WORKSPACE | IN_USER, read_policy},
        {STR_INIT("runtime"), IN_WORKSPACE | IN_USER, project_read_runtime},
        {STR_INIT("limits"), IN_WORKSPACE | IN_USER, read_limits},
        {{0}, 0, NULL},
    };
    struct project_reader r = {.role = role,
                               .name = name,
                               .text = text,
                               .rules = rules,
                               .a = a,
                               .e = e};
    struct yaml_problem problem = {0};
    const struct yaml *root = NULL;
    struct err why = {0};

    if (!yaml_parse(text, &yaml_bounds, a, &root, &problem, &why)) {
        unsigned conflict = conflict_line(text);

        if (!conflict)
            return fail_yaml(&r, &problem, &why);
        project_fail(&r, conflict, "a merge conflict");
        return err_hint(e, "keep the lines of both sides that you want, then "
                           "run mapm install");
    }
    if (root && root->kind != YAML_MAPPING && !project_is_null(root))
        return project_fail(&r, root->line, "expected keys and values");
    if (root && !project_read_keys(&r, keys, root))
        return false;
    *out = r.out;
    return true;
}
