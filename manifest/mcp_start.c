#include "mapm/mcp_file.h"

#include "mcp.h"

/*
 * An MCP server that `mapm start` executes: its entry in a client's file, which
 * is the same on every machine, and its process.
 *
 * Source: D20, M20 to M22.
 */

#define OUT_MAX_BYTES (4u * MCP_MAX_BYTES)

/* Returns true for members that `mapm start` applies itself, and for `_meta`,
 * which clients do not know. */
static bool is_applied(struct str key)
{
    return str_is(key, "command") || str_is(key, "args") ||
           str_is(key, "env") || str_is(key, "cwd") || str_is(key, "_meta");
}

/* Rejects placeholders, which become paths of this machine, in members that
 * only the client reads. */
static bool check_others(const struct document *d, struct err *e)
{
    struct walk w = {0};
    const struct json *j;

    while ((j = walk_next(&w, d->mcp)) != NULL) {
        if (j->kind != JSON_STRING || is_applied(w.top->key) ||
            str_find(j->text, STR("${")) == SIZE_MAX)
            continue;
        err_set(
            e, ERR_MCP,
            "MCP %.*s: \"%.*s\" holds \"%.*s\", which mapm start cannot "
            "pass on: only command, args, env and cwd may have placeholders",
            STR_ARG(d->fqn), STR_ARG(text_cut(w.top->key, 80)),
            STR_ARG(text_cut(j->text, 80)));
        return err_hint(e, "\"servers: direct\" in mapm.yaml writes the path");
    }
    return true;
}

static bool refuse_remote(const struct document *d, struct err *e)
{
    err_set(e, ERR_MCP,
            "MCP %.*s is a remote server with ${workspaceDir} or ${sharedDir}: "
            "its entry would hold a path of this machine, and mapm start can "
            "only replace it in a program that it executes",
            STR_ARG(d->fqn));
    return err_hint(e, "\"servers: direct\" in mapm.yaml writes the path");
}

bool mcp_format_start(const struct document *d, struct str key,
                      struct str program, struct arena *a, struct str *out,
                      struct err *e)
{
    CLEANUP(buf_done) struct buf text = {0};
    const struct str args[] = {STR("start"), key};
    const struct str user_args[] = {STR("start"), STR("--global"), key};
    struct json_writer w;

    if (!json_get(d->mcp, "command"))
        return refuse_remote(d, e);
    if (!check_others(d, e))
        return false;
    buf_init(&text, OUT_MAX_BYTES);
    json_writer_init(&w, &text, 2);
    json_begin_object(&w);
    json_member_string(&w, "command", program.n ? program : STR("mapm"));
    if (program.n)
        json_member_strings(&w, "args", user_args, 3);
    else
        json_member_strings(&w, "args", args, 2);
    for (const struct json *j = d->mcp->first; j; j = j->next) {
        if (is_applied(j->key))
            continue;
        json_key_str(&w, j->key);
        json_value(&w, j);
    }
    json_end_object(&w);
    if (!buf_check(&text, "the MCP's configuration", e))
        return false;
    *out = arena_str(a, buf_str(&text));
    return true;
}

/* --- the process ---------------------------------------------------------- */

struct substitution {
    const struct document *d;
    struct str workspace_dir, shared_dir;
    struct buf scratch;
    struct arena *a;
    struct err *e;
};

/* Substitutes placeholders and stores a C string. Rejects NUL, at which the
 * process would cut the value. */
static bool substitute(struct substitution *s, const struct json *j,
                       const char **out)
{
    struct str part = j->text;
    const char *fault = "is not text";

    if (j->kind == JSON_STRING)
        fault = placeholder_fault(j->text, &part);
    if (j->kind == JSON_STRING && str_has_char(j->text, '\0'))
        fault = "holds NUL";
    if (fault)
        return err_set(s->e, ERR_MCP, "MCP %.*s: \"%.*s\" %s",
                       STR_ARG(s->d->fqn), STR_ARG(text_cut(part, 80)), fault);
    buf_clear(&s->scratch);
    placeholder_put(&s->scratch, j->text, s->workspace_dir, s->shared_dir);
    if (!buf_check(&s->scratch, "an argument", s->e))
        return false;
    *out = arena_str(s->a, buf_str(&s->scratch)).p;
    return true;
}

static bool read_args(struct substitution *s, const struct json *args,
                      const char *command, struct mcp_process *out)
{
    const char **argv =
        arena_array(s->a, (args ? args->count : 0) + 2, sizeof *argv);
    size_t n = 0;

    argv[n++] = command;
    for (const struct json *j = args ? args->first : NULL; j; j = j->next)
        if (!substitute(s, j, &argv[n++]))
            return false;
    out->argv = argv;
    return true;
}

static bool read_env(struct substitution *s, const struct json *env,
                     struct mcp_process *out)
{
    struct mcp_variable *list =
        arena_array(s->a, env ? env->count + 1 : 1, sizeof *list);
    size_t n = 0;

    for (const struct json *j = env ? env->first : NULL; j; j = j->next) {
        if (!j->key.n || str_has_char(j->key, '=') ||
            str_has_char(j->key, '\0'))
            return err_set(s->e, ERR_MCP,
                           "MCP %.*s: \"%.*s\" is not the name of a variable",
                           STR_ARG(s->d->fqn), STR_ARG(text_cut(j->key, 80)));
        list[n].name = str_dup0(j->key, s->a);
        if (!substitute(s, j, &list[n++].value))
            return false;
    }
    out->env = list;
    out->env_count = n;
    return true;
}

static const struct json *get_as(const struct document *d, const char *key,
                                 enum json_kind kind)
{
    const struct json *j = d->mcp ? json_get(d->mcp, key) : NULL;

    return j && j->kind == kind ? j : NULL;
}

bool mcp_read_process(const struct document *d, struct str workspace_dir,
                      struct str shared_dir, struct arena *a,
                      struct mcp_process *out, struct err *e)
{
    struct substitution s = {d,      workspace_dir, shared_dir, .scratch = {0},
                             .a = a, .e = e};
    const struct json *command = get_as(d, "command", JSON_STRING);
    const struct json *cwd = get_as(d, "cwd", JSON_STRING);
    struct mcp_process p = {0};
    const char *name;
    bool ok;

    if (!command || !command->text.n)
        return err_set(e, ERR_MCP,
                       "MCP %.*s is not a program: it has no command",
                       STR_ARG(d->fqn));
    buf_init(&s.scratch, OUT_MAX_BYTES);
    ok = substitute(&s, command, &name) &&
         read_args(&s, get_as(d, "args", JSON_ARRAY), name, &p) &&
         read_env(&s, get_as(d, "env", JSON_OBJECT), &p) &&
         (!cwd || substitute(&s, cwd, &p.cwd));
    buf_done(&s.scratch);
    if (ok)
        *out = p;
    return ok;
}
