#include "base/text.h"
#include "mapm/clients.h"
#include "mapm/name.h"

#include <string.h>

#include "project_reader.h"

/* Reads the settings for runs of metaskills: model backend, commands and
 * budgets. A workspace may narrow them; wider rights need the user's own file
 * or the user's acceptance (project_policy_digest). Source: DESIGN.md 3.1;
 * THREATS rows 15, 19, 20. */

#define GUESS_MAX_EDITS 2
#define OWN_FILE        "your own ~/.config/mapm/config.yaml"

/* --- words out of a few --------------------------------------------------- */

struct choice {
    const char *word; /* NULL ends a table of them */
    unsigned roles;   /* files in which it is allowed */
};

static const struct choice sandboxes[] = {
    {"on", IN_WORKSPACE | IN_USER},
    {"home", IN_USER},
    {"off", IN_USER},
    {NULL, 0},
};
static const struct choice trusts[] = {
    {"off", IN_WORKSPACE | IN_USER},
    {"local", IN_WORKSPACE | IN_USER},
    {"trusted", IN_WORKSPACE | IN_USER},
    {"all", IN_USER},
    {NULL, 0},
};
static const struct choice keeps[] = {
    {"none", IN_WORKSPACE | IN_USER},
    {"summary", IN_WORKSPACE | IN_USER},
    {"full", IN_USER},
    {NULL, 0},
};
static const struct choice servers[] = {
    {"direct", IN_WORKSPACE},
    {"start", IN_WORKSPACE},
    {NULL, 0},
};
static const struct choice apis[] = {
    {"anthropic", IN_USER},
    {"openai", IN_USER},
    {NULL, 0},
};

static const struct choice *find_choice(const struct choice *c, struct str word)
{
    for (; c->word; c++)
        if (str_is(word, c->word))
            return c;
    return NULL;
}

/* Reports an invalid value with the allowed ones: "sandbox must be one of on,
 * home, off". */
static bool fail_choice(struct project_reader *r, const struct choice *choices,
                        const struct yaml *y)
{
    struct text_nearest suggestion = {0};
    struct str words = STR("");
    size_t count = 0;

    for (const struct choice *c = choices; c->word; c++) {
        struct str word = str_cstr(c->word);

        if (!(c->roles & (1u << r->role)))
            continue;
        words = arena_printf(r->a, "%.*s%s%s", STR_ARG(words),
                             count++ ? ", " : "", c->word);
        /* suggest a short word only if some of it matches */
        if (y->kind == YAML_SCALAR)
            text_nearest_add(&suggestion, y->text, word,
                             word.n > GUESS_MAX_EDITS ? GUESS_MAX_EDITS
                                                      : word.n - 1);
    }
    project_fail(r, y->key_line, "%.*s must be %s%.*s", STR_ARG(y->key),
                 count > 1 ? "one of " : "", STR_ARG(words));
    if (suggestion.count)
        err_hint(r->e, "did you mean \"%.*s\"?", STR_ARG(suggestion.found[0]));
    return false;
}

/* Reads one of several words. "on" and "off", booleans in YAML, are words
 * here. */
static bool read_choice(struct project_reader *r, const struct yaml *y,
                        const struct choice *choices, struct str *out)
{
    const struct choice *c =
        y->kind == YAML_SCALAR ? find_choice(choices, y->text) : NULL;

    if (!c)
        return fail_choice(r, choices, y);
    if (!(c->roles & (1u << r->role))) {
        project_fail(r, y->key_line, "\"%.*s: %s\" may not stand here",
                     STR_ARG(y->key), c->word);
        return err_hint(r->e, "it belongs in " OWN_FILE);
    }
    *out = str_cstr(c->word);
    return true;
}

/* --- ask: an address ------------------------------------------------------ */

static bool host_is_sane(struct str host)
{
    bool brackets = host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']';

    if (brackets)
        host = str_slice(host, 1, host.n - 1);
    for (size_t i = 0; i < host.n; i++)
        if (!char_is_alpha(host.p[i]) && !char_is_digit(host.p[i]) &&
            !strchr(brackets ? ":." : ".-_", host.p[i]))
            return false;
    return host.n > 0;
}

/* Stores the host of "host:8080". Returns false for an invalid port. */
static bool cut_port(struct str authority, struct str *host)
{
    size_t colon = str_find_last(authority, ':');
    uint64_t port;

    *host = authority;
    if (colon == SIZE_MAX || str_ends(authority, STR("]")))
        return true;
    *host = str_slice(authority, 0, colon);
    return str_number(str_from_index(authority, colon + 1), 65535, &port) &&
           port > 0;
}

static bool path_is_sane(struct str path)
{
    for (size_t i = 0; i < path.n; i++)
        if ((unsigned char)path.p[i] <= ' ' || (unsigned char)path.p[i] > '~' ||
            strchr("?#\\\"<>`{}|^", path.p[i]))
            return false;
    return true;
}

/* Reads the URL of an API. http: is accepted only for this machine, because it
 * would send the API key unencrypted. The URL must not contain a user or a
 * query, which may be secrets. */
static bool read_url(struct project_reader *r, const struct yaml *y)
{
    static const struct str https = STR_INIT("https://");
    static const struct str http = STR_INIT("http://");
    bool secure = str_starts(y->text, https);
    struct str rest, host;
    size_t slash;

    if (!project_want_text(r, y, "http"))
        return false;
    if (!secure && !str_starts(y->text, http))
        return project_fail(r, y->line, "not an http: or https: URL: \"%.*s\"",
                            STR_ARG(project_excerpt(y->text)));
    rest = str_from_index(y->text, secure ? https.n : http.n);
    slash = str_find_char(rest, '/');
    if (!cut_port(str_slice(rest, 0, slash), &host) || !host_is_sane(host) ||
        !path_is_sane(rest)) {
        project_fail(r, y->line, "not the base URL of an API: \"%.*s\"",
                     STR_ARG(project_excerpt(y->text)));
        return err_hint(r->e, "it has a host, perhaps a port and a path, and "
                              "nothing else: https://api.example.com/v1");
    }
    if (!secure && !origin_host_is_loopback(host)) {
        project_fail(r, y->line, "http: is for this machine alone: \"%.*s\"",
                     STR_ARG(project_excerpt(y->text)));
        return err_hint(r->e, "write https: for any other host");
    }
    r->out.ask.url = y->text;
    while (str_ends(r->out.ask.url, STR("/")))
        r->out.ask.url.n--;
    return true;
}

/* --- ask: the rest of it -------------------------------------------------- */

static bool read_exec(struct project_reader *r, const struct yaml *y)
{
    struct project_ask *ask = &r->out.ask;
    struct str *program;

    if (y->kind == YAML_SEQUENCE) {
        if (!project_want_texts(r, y, "an argument"))
            return false;
        if (!y->first)
            return project_fail(r, y->key_line, "exec names no program");
        ask->argv = project_texts(r, y, &ask->argc);
        return true;
    }
    if (!project_want_text(r, y, "a program"))
        return false;
    program = arena_new(r->a, struct str);
    *program = y->text;
    ask->argv = program;
    ask->argc = 1;
    return true;
}

/* Reads the name of a client with a model backend, or of an API. */
static bool read_preset(struct project_reader *r, const struct yaml *y)
{
    const size_t api_count = sizeof apis / sizeof *apis;
    struct choice *choices =
        arena_array(r->a, clients_count + api_count, sizeof *choices);
    const struct client *c;
    size_t n = 0;

    for (; (c = clients_backend_at(n)); n++)
        choices[n] = (struct choice){c->name, IN_WORKSPACE | IN_USER};
    memcpy(choices + n, apis, sizeof apis); /* with the final NULL */
    return read_choice(r, y, choices, &r->out.ask.name);
}

static bool read_api(struct project_reader *r, const struct yaml *y)
{
    return read_choice(r, y, apis, &r->out.ask.api);
}

static bool read_model(struct project_reader *r, const struct yaml *y)
{
    r->out.ask.model = y->text;
    return project_want_text(r, y, "model");
}

static bool read_key_env(struct project_reader *r, const struct yaml *y)
{
    if (!project_want_text(r, y, "key_env"))
        return false;
    if (!name_is_variable(y->text)) {
        /* do not print the value: it may be the key itself */
        project_fail(r, y->line, "key_env is not the name of a variable");
        return err_hint(r->e, "the key itself has no place here: name the "
                              "variable or the file that holds it");
    }
    r->out.ask.key_env = y->text;
    return true;
}

static bool read_key_file(struct project_reader *r, const struct yaml *y)
{
    if (!project_want_text(r, y, "key_file"))
        return false;
    if (!str_starts(y->text, STR("/")) && !str_starts(y->text, STR("~/")))
        return project_fail(r, y->line,
                            "key_file must be an absolute path, or begin with "
                            "~/");
    r->out.ask.key_file = y->text;
    return true;
}

/* Checks the combination of keys. */
static bool check_ask(struct project_reader *r, const struct yaml *y)
{
    struct project_ask *ask = &r->out.ask;
    bool has_api = ask->url.n || str_is(ask->name, "anthropic") ||
                   str_is(ask->name, "openai");
    const char *odd = NULL;

    if (!!ask->name.n + !!ask->argc + !!ask->url.n != 1)
        return project_fail(r, y->key_line,
                            "ask has one of preset, exec and http");
    if (ask->api.n && !ask->url.n)
        odd = "api";
    else if (ask->model.n && ask->argc)
        odd = "model";
    else if (ask->key_env.n && !has_api)
        odd = "key_env";
    else if (ask->key_file.n && !has_api)
        odd = "key_file";
    if (odd)
        return project_fail(r, y->key_line, "%s does not go with %s", odd,
                            ask->argc ? "exec" : ask->name.p);
    if (ask->key_env.n && ask->key_file.n)
        return project_fail(r, y->key_line,
                            "ask has either key_env or key_file");
    if (ask->url.n && !ask->api.n)
        ask->api = STR("openai");
    return true;
}

static bool read_ask_mapping(struct project_reader *r, const struct yaml *y)
{
    static const struct project_key keys[] = {
        {STR_INIT("preset"), IN_USER, read_preset},
        {STR_INIT("exec"), IN_USER, read_exec},
        {STR_INIT("http"), IN_USER, read_url},
        {STR_INIT("api"), IN_USER, read_api},
        {STR_INIT("model"), IN_USER, read_model},
        {STR_INIT("key_env"), IN_USER, read_key_env},
        {STR_INIT("key_file"), IN_USER, read_key_file},
        {{0}, 0, NULL},
    };

    return project_read_keys(r, keys, y) && check_ask(r, y);
}

bool project_read_ask(struct project_reader *r, const struct yaml *y)
{
    r->out.ask.line = y->key_line;
    if (y->kind == YAML_MAPPING && r->role == PROJECT_USER)
        return read_ask_mapping(r, y);
    if (read_preset(r, y))
        return true;
    if (r->role != PROJECT_USER && !r->e->hint[0])
        err_hint(r->e, "programs and URLs belong in " OWN_FILE);
    return false;
}

/* --- policy.commands ------------------------------------------------------ */

/* Rejects "git diff" as one word, which would be the name of a program, and "*"
 * in a program's name, which would match unintended programs. */
const char *project_program_fault(struct str program, const char **hint)
{
    *hint = "";
    if (program.n == 0)
        return "a rule begins with a program";
    if (str_has_char(program, '*') && !str_is(program, "*")) {
        *hint = "\"*\" alone stands for any program";
        return "a program is named in full";
    }
    if (str_has_char(program, ' ') && !str_has_char(program, '/')) {
        *hint = "write [git, diff], not [git diff]";
        return "a rule has each word by itself";
    }
    return NULL;
}

static bool check_program(struct project_reader *r, const struct yaml *y)
{
    const char *hint, *fault = project_program_fault(y->text, &hint);

    if (!fault)
        return true;
    project_fail(r, y->line, "%s: \"%.*s\"", fault,
                 STR_ARG(project_excerpt(y->text)));
    return err_hint(r->e, "%s", hint);
}

static bool read_rule(struct project_reader *r, const struct yaml *y,
                      bool allow)
{
    struct project *p = &r->out;
    struct project_rule rule = {.allow = allow, .line = y->line};

    if (y->kind != YAML_SEQUENCE || !y->first)
        return project_fail(r, y->line,
                            "a rule is a list of words: [git, diff, \"*\"]");
    if (y->count > COMMAND_MAX_WORDS)
        return project_fail(r, y->line, "a rule has more than %u words",
                            COMMAND_MAX_WORDS);
    for (const struct yaml *word = y->first; word; word = word->next)
        if (!yaml_is_string(word))
            return project_want_text(r, word, "a word of a command");
    if (!check_program(r, y->first))
        return false;
    rule.words = project_texts(r, y, &rule.count);
    p->rules = arena_grow(r->a, p->rules, p->rule_count, &r->rule_capacity,
                          sizeof *p->rules);
    p->rules[p->rule_count++] = rule;
    return true;
}

static bool read_rules(struct project_reader *r, const struct yaml *y)
{
    bool allow = str_is(y->key, "allow");

    if (!project_want(r, y, YAML_SEQUENCE))
        return false;
    if (y->count > RULES_MAX)
        return project_fail(r, y->key_line, "%.*s has more than %u rules",
                            STR_ARG(y->key), RULES_MAX);
    for (const struct yaml *rule = y->first; rule; rule = rule->next)
        if (!read_rule(r, rule, allow))
            return false;
    return true;
}

bool project_read_commands(struct project_reader *r, const struct yaml *y)
{
    static const struct project_key lists[] = {
        {STR_INIT("allow"), IN_WORKSPACE | IN_USER, read_rules},
        {STR_INIT("deny"), IN_WORKSPACE | IN_USER, read_rules},
        {{0}, 0, NULL},
    };

    return project_read_keys(r, lists, y);
}

/* --- policy.network, policy.sandbox, runtime ------------------------------ */

bool project_read_network(struct project_reader *r, const struct yaml *y)
{
    bool yes = false;

    if (!project_want_bool(r, y, &yes))
        return false;
    r->out.network = yes ? PROJECT_TRUE : PROJECT_FALSE;
    return true;
}

bool project_read_server(struct project_reader *r, const struct yaml *y)
{
    return project_want_bool(r, y, &r->out.server);
}

bool project_read_servers(struct project_reader *r, const struct yaml *y)
{
    struct str word;

    if (!read_choice(r, y, servers, &word))
        return false;
    r->out.start_servers = str_is(word, "start");
    return true;
}

bool project_read_sandbox(struct project_reader *r, const struct yaml *y)
{
    return read_choice(r, y, sandboxes, &r->out.sandbox);
}

static bool read_metaskills(struct project_reader *r, const struct yaml *y)
{
    return read_choice(r, y, trusts, &r->out.metaskills);
}

static bool read_keep(struct project_reader *r, const struct yaml *y)
{
    return read_choice(r, y, keeps, &r->out.keep);
}

bool project_read_runtime(struct project_reader *r, const struct yaml *y)
{
    static const struct project_key keys[] = {
        {STR_INIT("metaskills"), IN_WORKSPACE | IN_USER, read_metaskills},
        {STR_INIT("keep"), IN_WORKSPACE | IN_USER, read_keep},
        {{0}, 0, NULL},
    };

    return project_read_keys(r, keys, y);
}

/* --- what the user has to accept ------------------------------------------ */

/* Returns a text that is unique for each rule: "deny 3:git 4:push 1:*". */
static struct str rule_text(const struct project_rule *rule, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SIZE_MAX / 2);
    buf_text(&b, rule->allow ? "allow" : "deny");
    for (size_t i = 0; i < rule->count; i++)
        buf_printf(&b, " %zu:%.*s", rule->words[i].n, STR_ARG(rule->words[i]));
    return arena_str(a, buf_str(&b));
}

/* The digest does not depend on order and repetition of rules. It includes the
 * deny rules, because removing one allows more. */
bool project_policy_digest(const struct project *p, struct hash *out)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str *texts = arena_array(&a, p->rule_count + 1, sizeof *texts);
    bool widens = p->network == PROJECT_TRUE;
    struct hash_state state;

    for (size_t i = 0; i < p->rule_count; i++) {
        texts[i] = rule_text(&p->rules[i], &a);
        widens |= p->rules[i].allow;
    }
    if (!widens)
        return false;
    str_sort(texts, p->rule_count);
    hash_init(&state);
    hash_add(&state, STR("mapm policy 1\n"));
    if (p->network == PROJECT_TRUE)
        hash_add(&state, STR("network\n"));
    for (size_t i = 0; i < p->rule_count; i++) {
        if (i && str_eq(texts[i], texts[i - 1]))
            continue;
        hash_add(&state, texts[i]);
        hash_add(&state, STR("\n"));
    }
    *out = hash_end(&state);
    return true;
}
