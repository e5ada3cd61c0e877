#include "project.h"

#include "base/map.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * mapm.yaml, mapm.local.yaml and config.yaml: one grammar, and for each key
 * who may write it. A workspace is often somebody else's: what would widen
 * rights stands in the user's own file alone (THREATS row 15).
 */

#define HOST_MAX_CHARS  253
#define GUESS_MAX_EDITS 2 /* for "did you mean" */

#define IN_WORKSPACE (1u << PROJECT_WORKSPACE)
#define IN_LOCAL     (1u << PROJECT_LOCAL)
#define IN_USER      (1u << PROJECT_USER)

struct reader {
    enum project_role role;
    const char *name;
    struct str text;
    const struct origin_rules *rules;
    struct arena *a;
    struct err *e;
    struct project out;
    size_t root_capacity, setting_capacity;
};

struct key {
    struct str name;
    unsigned roles; /* who may have it */
    bool (*read)(struct reader *r, const struct yaml *y);
};

static bool PRINTF(3, 4)
    fail(struct reader *r, unsigned line, const char *format, ...)
{
    char message[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return err_set(r->e, ERR_FORMAT, "%s:%u: %s", r->name, line, message);
}

static struct str excerpt(struct str s)
{
    return text_cut(s, 80);
}

/* --- shapes --------------------------------------------------------------- */

static bool is_null(const struct yaml *y)
{
    return y->kind == YAML_SCALAR && yaml_type_of(y) == YAML_TYPE_NULL;
}

/* A key with nothing behind it counts as empty. */
static bool want(struct reader *r, const struct yaml *y, enum yaml_kind kind)
{
    if (y->kind == kind || is_null(y))
        return true;
    return fail(r, y->key.p ? y->key_line : y->line, "%.*s must be %s",
                STR_ARG(excerpt(y->key)),
                kind == YAML_MAPPING ? "a mapping" : "a list");
}

static bool want_text(struct reader *r, const struct yaml *y, const char *what)
{
    if (yaml_is_string(y) && y->text.n && !text_has_control(y->text))
        return true;
    return fail(r, y->line, "%s must be text%s", what,
                y->kind == YAML_SCALAR && y->style == YAML_PLAIN && y->text.n
                    ? ": put it in quotes"
                    : "");
}

static bool want_texts(struct reader *r, const struct yaml *list,
                       const char *what)
{
    if (!want(r, list, YAML_SEQUENCE))
        return false;
    for (const struct yaml *y = list->first; y; y = y->next)
        if (!want_text(r, y, what))
            return false;
    return true;
}

static const struct key *find_key(const struct key *keys, struct str name)
{
    for (; keys->name.n; keys++)
        if (str_eq(keys->name, name))
            return keys;
    return NULL;
}

static bool fail_unknown(struct reader *r, const struct key *keys,
                         const struct yaml *y)
{
    struct str best = STR("");
    size_t edits = GUESS_MAX_EDITS;

    fail(r, y->key_line, "unknown key \"%.*s\"", STR_ARG(excerpt(y->key)));
    for (; keys->name.n; keys++) {
        size_t n = text_distance(y->key, keys->name, GUESS_MAX_EDITS);

        if ((keys->roles & (1u << r->role)) && n <= edits) {
            edits = n;
            best = keys->name;
            if (n)
                edits = n - 1; /* the first of equally near ones */
        }
    }
    return best.n ? err_hint(r->e, "did you mean \"%.*s\"?", STR_ARG(best))
                  : false;
}

static bool fail_role(struct reader *r, const struct key *key,
                      const struct yaml *y)
{
    fail(r, y->key_line, "\"%.*s\" may not stand here", STR_ARG(key->name));
    if (key->roles & IN_USER)
        return err_hint(r->e, "it belongs in your own ~/.config/mapm/"
                              "config.yaml");
    return err_hint(r->e, "it belongs in mapm.yaml");
}

static bool read_keys(struct reader *r, const struct key *keys,
                      const struct yaml *mapping)
{
    if (!want(r, mapping, YAML_MAPPING))
        return false;
    for (const struct yaml *y = mapping->first; y; y = y->next) {
        const struct key *key = find_key(keys, y->key);

        if (!key)
            return fail_unknown(r, keys, y);
        if (!(key->roles & (1u << r->role)))
            return fail_role(r, key, y);
        if (!key->read(r, y))
            return false;
    }
    return true;
}

static void put_setting(struct reader *r, struct str name, struct str value,
                        unsigned line)
{
    struct project *p = &r->out;

    p->settings = arena_grow(r->a, p->settings, p->setting_count,
                             &r->setting_capacity, sizeof *p->settings);
    p->settings[p->setting_count++] =
        (struct setting){.name = name, .value = value, .line = line};
}

/* "policy.commands.allow.0": the elements of a list by their number. */
static struct str dotted(struct reader *r, struct str name, size_t i)
{
    return arena_printf(r->a, "%.*s.%zu", STR_ARG(name), i);
}

static struct str below(struct reader *r, const char *section,
                        const struct yaml *y)
{
    return arena_printf(r->a, "%s.%.*s", section, STR_ARG(y->key));
}

static void put_texts(struct reader *r, struct str name,
                      const struct yaml *list)
{
    size_t i = 0;

    for (const struct yaml *y = list->first; y; y = y->next)
        put_setting(r, dotted(r, name, i++), y->text, y->line);
}

/* --- dependencies --------------------------------------------------------- */

static bool read_root(struct reader *r, enum doc_kind kind,
                      const struct yaml *y, struct map *seen)
{
    struct root root = {.kind = kind, .line = y->line};
    struct err why = {0};

    if (!want_text(r, y, "an origin"))
        return false;
    if (!origin_parse(y->text, r->rules, r->a, &root.origin, &why)) {
        err_set(r->e, why.code, "%s:%u: %s", r->name, y->line, err_first(&why));
        return err_hint(r->e, "%s", why.hint);
    }
    if (!map_put(seen, root.origin.key, NULL))
        return fail(r, y->line, "%.*s is listed twice",
                    STR_ARG(root.origin.text));
    r->out.roots = arena_grow(r->a, r->out.roots, r->out.root_count,
                              &r->root_capacity, sizeof *r->out.roots);
    r->out.roots[r->out.root_count++] = root;
    return true;
}

static bool read_roots(struct reader *r, const struct yaml *y)
{
    struct str plural = y->key;
    enum doc_kind kind;
    struct map seen;

    map_init(&seen, r->a);
    if (!doc_kind_find(str_slice(plural, 0, plural.n - 1), &kind) ||
        !want(r, y, YAML_SEQUENCE))
        return false;
    for (const struct yaml *item = y->first; item; item = item->next)
        if (!read_root(r, kind, item, &seen))
            return false;
    return true;
}

static bool skip(struct reader *r, const struct yaml *y)
{
    (void)r;
    (void)y;
    return true;
}

static bool read_dependencies(struct reader *r, const struct yaml *y)
{
    static const struct key kinds[] = {
        {STR_INIT("agents"), IN_WORKSPACE | IN_LOCAL, skip},
        {STR_INIT("skills"), IN_WORKSPACE | IN_LOCAL, skip},
        {STR_INIT("mcps"), IN_WORKSPACE | IN_LOCAL, skip},
        {{0}, 0, NULL},
    };

    if (!read_keys(r, kinds, y))
        return false;
    if (y->kind != YAML_MAPPING)
        return true;
    for (const struct key *kind = kinds; kind->name.n; kind++) {
        const struct yaml *list = yaml_get(y, kind->name.p);

        if (list && !read_roots(r, list))
            return false;
    }
    return true;
}

/* --- clients, hosts, ask -------------------------------------------------- */

static const struct str *texts_of(struct reader *r, const struct yaml *list,
                                  size_t *count)
{
    struct str *texts = arena_array(r->a, list->count + 1, sizeof *texts);

    *count = 0;
    for (const struct yaml *y = list->first; y; y = y->next)
        texts[(*count)++] = y->text;
    return texts;
}

static bool read_clients(struct reader *r, const struct yaml *y)
{
    if (!want_texts(r, y, "a client"))
        return false;
    for (const struct yaml *item = y->first; item; item = item->next)
        if (!name_is_kebab(item->text))
            return fail(r, item->line, "not a client's name: \"%.*s\"",
                        STR_ARG(excerpt(item->text)));
    r->out.clients = texts_of(r, y, &r->out.client_count);
    return true;
}

static bool host_is_valid(struct str host)
{
    struct str rest = host, label;
    size_t labels = 0;

    if (host.n > HOST_MAX_CHARS)
        return false;
    for (; str_cut(&rest, '.', &label); labels++) {
        if (label.n == 0 || label.n > 63 || label.p[0] == '-' ||
            label.p[label.n - 1] == '-')
            return false;
        for (size_t i = 0; i < label.n; i++)
            if (!char_is_lower(label.p[i]) && !char_is_digit(label.p[i]) &&
                label.p[i] != '-')
                return false;
    }
    return labels >= 2;
}

static bool read_hosts(struct reader *r, const struct yaml *y)
{
    if (!want_texts(r, y, "a host"))
        return false;
    for (const struct yaml *item = y->first; item; item = item->next)
        if (!host_is_valid(item->text))
            return fail(r, item->line,
                        "not a host's name in lower case, without port: "
                        "\"%.*s\"",
                        STR_ARG(excerpt(item->text)));
    r->out.hosts = texts_of(r, y, &r->out.host_count);
    return true;
}

static bool read_ask_text(struct reader *r, const struct yaml *y)
{
    if (!want_text(r, y, "it"))
        return false;
    put_setting(r, below(r, "ask", y), y->text, y->line);
    return true;
}

static bool read_ask_exec(struct reader *r, const struct yaml *y)
{
    if (y->kind == YAML_SCALAR) {
        if (!want_text(r, y, "a program"))
            return false;
        put_setting(r, STR("ask.exec.0"), y->text, y->line);
        return true;
    }
    if (!want_texts(r, y, "an argument"))
        return false;
    if (!y->first)
        return fail(r, y->key_line, "exec names no program");
    put_texts(r, STR("ask.exec"), y);
    return true;
}

static bool read_ask_http(struct reader *r, const struct yaml *y)
{
    if (!read_ask_text(r, y))
        return false;
    return str_starts(y->text, STR("https://")) ||
           str_starts(y->text, STR("http://")) ||
           fail(r, y->line, "not an http: or https: URL: \"%.*s\"",
                STR_ARG(excerpt(y->text)));
}

static bool read_ask(struct reader *r, const struct yaml *y)
{
    static const struct key ways[] = {
        {STR_INIT("exec"), IN_USER, read_ask_exec},
        {STR_INIT("http"), IN_USER, read_ask_http},
        {STR_INIT("model"), IN_USER, read_ask_text},
        {STR_INIT("key_env"), IN_USER, read_ask_text},
        {{0}, 0, NULL},
    };
    static const struct str presets[] = {
        STR_INIT("claude"),   STR_INIT("codex"),   STR_INIT("gemini"),
        STR_INIT("opencode"), STR_INIT("copilot"), STR_INIT("qwen"),
        STR_INIT("cline"),
    };

    if (y->kind == YAML_MAPPING && r->role == PROJECT_USER) {
        if (!yaml_get(y, "exec") == !yaml_get(y, "http"))
            return fail(r, y->key_line, "ask has either exec or http");
        return read_keys(r, ways, y);
    }
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        if (yaml_is_string(y) && str_eq(y->text, presets[i])) {
            put_setting(r, STR("ask"), y->text, y->line);
            return true;
        }
    }
    fail(r, y->key_line,
         "ask must be one of claude, codex, gemini, opencode, "
         "copilot, qwen, cline");
    if (r->role != PROJECT_USER)
        err_hint(r->e, "programs and URLs belong in your own "
                       "~/.config/mapm/config.yaml");
    return false;
}

/* --- policy, runtime, limits ---------------------------------------------- */

/* An empty list allows nothing. A key with nothing behind it could mean that
 * or its opposite, so it is refused. */
static bool read_sources(struct reader *r, const struct yaml *y)
{
    if (is_null(y))
        return fail(r, y->key_line, "sources must be a list; [] allows none");
    if (!want_texts(r, y, "a source"))
        return false;
    for (const struct yaml *item = y->first; item; item = item->next) {
        if (project_is_source(item->text))
            continue;
        fail(r, item->line, "not a pattern of sources: \"%.*s\"",
             STR_ARG(excerpt(item->text)));
        return err_hint(r->e, "write host/owner/repository, with \"*\" for "
                              "any: github.com/acme/*");
    }
    r->out.sources = texts_of(r, y, &r->out.source_count);
    r->out.has_sources = true;
    return true;
}

static bool read_rules(struct reader *r, const struct yaml *y)
{
    struct str name = below(r, "policy.commands", y);
    size_t i = 0;

    if (!want(r, y, YAML_SEQUENCE))
        return false;
    for (const struct yaml *rule = y->first; rule; rule = rule->next) {
        if (rule->kind != YAML_SEQUENCE || !rule->first)
            return fail(r, rule->line,
                        "a rule is a list of words: [git, diff, \"*\"]");
        if (!want_texts(r, rule, "a word of a command"))
            return false;
        put_texts(r, dotted(r, name, i++), rule);
    }
    return true;
}

static bool read_commands(struct reader *r, const struct yaml *y)
{
    static const struct key rules[] = {
        {STR_INIT("allow"), IN_WORKSPACE | IN_USER, read_rules},
        {STR_INIT("deny"), IN_WORKSPACE | IN_USER, read_rules},
        {{0}, 0, NULL},
    };

    return read_keys(r, rules, y);
}

static bool read_network(struct reader *r, const struct yaml *y)
{
    bool yes;

    if (y->kind != YAML_SCALAR || yaml_type_of(y) != YAML_TYPE_BOOL)
        return fail(r, y->line, "network must be true or false");
    yes = strchr("tTyY", y->text.p[0]) || str_eq_nocase(y->text, STR("on"));
    put_setting(r, STR("policy.network"), yes ? STR("true") : STR("false"),
                y->line);
    return true;
}

static bool read_policy(struct reader *r, const struct yaml *y)
{
    static const struct key keys[] = {
        {STR_INIT("sources"), IN_WORKSPACE | IN_USER, read_sources},
        {STR_INIT("commands"), IN_WORKSPACE | IN_USER, read_commands},
        {STR_INIT("network"), IN_WORKSPACE | IN_USER, read_network},
        {{0}, 0, NULL},
    };

    return read_keys(r, keys, y);
}

/* A word; "off" is one, too, though YAML takes it for a truth value. */
static bool read_runtime_word(struct reader *r, const struct yaml *y)
{
    if (y->kind != YAML_SCALAR || !name_is_kebab(y->text))
        return fail(r, y->line, "%.*s must be a word in lower case",
                    STR_ARG(y->key));
    put_setting(r, below(r, "runtime", y), y->text, y->line);
    return true;
}

static bool read_runtime(struct reader *r, const struct yaml *y)
{
    static const struct key keys[] = {
        {STR_INIT("metaskills"), IN_WORKSPACE | IN_USER, read_runtime_word},
        {STR_INIT("keep"), IN_WORKSPACE | IN_USER, read_runtime_word},
        {{0}, 0, NULL},
    };

    return read_keys(r, keys, y);
}

/* Whether a workspace may have so much is for limits_apply to say. */
static bool read_limit(struct reader *r, const struct yaml *y)
{
    struct limits limits = limits_default;
    const struct limit *limit = limits_find(&limits, y->key);
    uint64_t value;

    if (y->kind != YAML_SCALAR || y->style != YAML_PLAIN ||
        !str_number(y->text, UINT64_MAX, &value) ||
        (y->text.n > 1 && y->text.p[0] == '0'))
        return fail(r, y->line, "%.*s must be a whole number", STR_ARG(y->key));
    /* 0 means "none" to some programs and "any" to others: here always none,
     * where a limit may be that low. */
    if (value < limit->least || value > limit->ceiling)
        return fail(r, y->line, "%s must be from %llu to %llu", limit->name,
                    (unsigned long long)limit->least,
                    (unsigned long long)limit->ceiling);
    put_setting(r, below(r, "limits", y), y->text, y->line);
    return true;
}

static bool read_limits(struct reader *r, const struct yaml *y)
{
    struct key keys[LIMITS_COUNT + 1] = {0};

    for (size_t i = 0; i < LIMITS_COUNT; i++)
        keys[i] = (struct key){str_from(limits_default.all[i].name),
                               IN_WORKSPACE | IN_USER, read_limit};
    return read_keys(r, keys, y);
}

/* --- the file ------------------------------------------------------------- */

/* What git leaves where two branches meet: the number of the first such line,
 * 0 for none. No YAML that mapm.yaml may hold begins a line so. */
static unsigned conflict_line(struct str text)
{
    struct str line;

    for (unsigned n = 1; str_line(&text, &line); n++)
        if (str_starts(line, STR("<<<<<<< ")) ||
            str_starts(line, STR(">>>>>>> ")))
            return n;
    return 0;
}

/* yaml_parse says "line 7: …", we "mapm.yaml:7: …". */
static bool fail_yaml(struct reader *r, unsigned line, const struct err *why)
{
    const char *message = err_first(why);
    const char *behind = strstr(message, ": ");
    struct str rest = r->text, text;

    for (unsigned at = 1; str_line(&rest, &text); at++)
        if (str_starts(text, STR("<<<<<<< "))) {
            err_set(r->e, why->code, "%s:%u: a merge conflict is left here",
                    r->name, at);
            return err_hint(r->e, "settle it, then run mapm install");
        }

    if (str_starts(str_from(message), STR("line ")) && behind)
        message = behind + 2;
    return err_set(r->e, why->code, "%s:%u: %s", r->name, line, message);
}

bool project_parse(struct str text, enum project_role role, const char *name,
                   const struct origin_rules *rules, struct arena *a,
                   struct project *out, struct err *e)
{
    static const struct key keys[] = {
        {STR_INIT("dependencies"), IN_WORKSPACE | IN_LOCAL, read_dependencies},
        {STR_INIT("clients"), IN_WORKSPACE | IN_USER, read_clients},
        {STR_INIT("hosts"), IN_USER, read_hosts},
        {STR_INIT("ask"), IN_WORKSPACE | IN_USER, read_ask},
        {STR_INIT("policy"), IN_WORKSPACE | IN_USER, read_policy},
        {STR_INIT("runtime"), IN_WORKSPACE | IN_USER, read_runtime},
        {STR_INIT("limits"), IN_WORKSPACE | IN_USER, read_limits},
        {{0}, 0, NULL},
    };
    const struct yaml_options options = {
        .max_bytes = PROJECT_MAX_BYTES,
        .max_depth = PROJECT_MAX_DEPTH,
        .max_nodes = PROJECT_MAX_NODES,
    };
    struct reader r = {.role = role,
                       .name = name,
                       .text = text,
                       .rules = rules,
                       .a = a,
                       .e = e};
    struct yaml_problem problem = {0};
    const struct yaml *root = NULL;
    struct err why = {0};

    if (!yaml_parse(text, &options, a, &root, &problem, &why)) {
        unsigned conflict = conflict_line(text);

        if (!conflict)
            return fail_yaml(&r, problem.line, &why);
        fail(&r, conflict, "a merge conflict");
        return err_hint(e, "keep the lines of both sides that you want, then "
                           "run mapm install");
    }
    if (root && root->kind != YAML_MAPPING && !is_null(root))
        return fail(&r, root->line, "expected keys and values");
    if (root && !read_keys(&r, keys, root))
        return false;
    *out = r.out;
    return true;
}
