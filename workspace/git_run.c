#include "base/env.h"
#include "base/fs.h"
#include "mapm/workspace_git.h"

#define OUTPUT_MAX_BYTES ((size_t)512 * 1024 * 1024)
#define TIME_MAX_MS      (300u * 1000)

static void add_env(struct git_run *g, size_t *n, const char *name,
                    const char *value)
{
    g->env[(*n)++] = arena_printf(&g->cx->arena, "%s=%s", name, value).p;
}

static void pass_env(struct git_run *g, size_t *n, const char *name)
{
    if (env_is_set(name))
        add_env(g, n, name, env_get(name).p);
}

static void set_env(struct git_run *g, struct str ceiling)
{
    size_t n = 0;

    pass_env(g, &n, "PATH");
    pass_env(g, &n, "HOME");
    pass_env(g, &n, "XDG_CONFIG_HOME");
    add_env(g, &n, "LC_ALL", "C");
    add_env(g, &n, "GIT_OPTIONAL_LOCKS", "0");
    add_env(g, &n, "GIT_TERMINAL_PROMPT", "0");
    add_env(g, &n, "GIT_ALLOW_PROTOCOL", "none");
    add_env(g, &n, "GIT_NO_LAZY_FETCH", "1");
    add_env(g, &n, "GIT_NO_REPLACE_OBJECTS", "1");
    if (ceiling.n)
        add_env(g, &n, "GIT_CEILING_DIRECTORIES",
                str_dup0(ceiling, &g->cx->arena));
    g->env[n] = NULL;
}

bool git_run_open(struct context *cx, struct str folder, struct str ceiling,
                  struct git_run *out, struct err *e)
{
    struct str program;
    const char *path = str_dup0(folder, &cx->arena);

    if (!proc_find_program("git", folder.n > 1 ? path : NULL, &cx->arena,
                           &program, e))
        return false;
    *out = (struct git_run){.cx = cx, .program = program.p, .folder = path};
    set_env(out, ceiling);
    return true;
}

bool git_run(const struct git_run *g, const char *const *words,
             struct str input, struct proc_result *out, struct err *e)
{
    static const char *const safe[] = {
        "--no-pager",
        "-c",
        "core.fsmonitor=",
        "-c",
        "core.untrackedCache=false",
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.alternateRefsCommand=",
        "-c",
        "core.sshCommand=false",
        "-c",
        "protocol.allow=never",
    };
    const char *argv[GIT_RUN_MAX_WORDS + 20] = {g->program, "-C", g->folder};
    struct proc_options o = {.argv = argv,
                             .env = g->env,
                             .input = input,
                             .max_output_bytes = OUTPUT_MAX_BYTES,
                             .timeout_ms = TIME_MAX_MS};
    size_t n = 3;

    for (size_t i = 0; i < sizeof safe / sizeof *safe; i++)
        argv[n++] = safe[i];
    for (size_t i = 0; words[i]; i++) {
        if (i == GIT_RUN_MAX_WORDS)
            return err_set(e, ERR_LIMIT, "git %s: too many words", words[0]);
        argv[n++] = words[i];
    }
    argv[n] = NULL;
    return proc_run(&o, &g->cx->arena, out, e);
}

bool git_run_failed(const struct proc_result *result, const char *command,
                    struct err *e)
{
    struct str said = str_trim(result->err);

    err_set(e, ERR_FAILED, "git %s: %.*s", command, STR_ARG(said));
    if (str_find(said, STR("dubious ownership")) != SIZE_MAX)
        return err_hint(e, "the repository belongs to another user; git "
                           "config safe.directory says which you trust");
    return false;
}
