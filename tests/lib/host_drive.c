/* host_drive COMMAND [ARGUMENT...]: one operation of libmapm in the current
 * folder, for tests/cli/libmapm.t, which builds it from the installed files. */

#include <mapm.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct mapm *m;
static bool agrees;

static bool confirm(void *ctx, enum mapm_question kind, const char *question)
{
    (void)ctx;
    printf("confirm %d: %s\n", kind, question);
    return agrees;
}

static void notice(void *ctx, enum mapm_notice level, const char *text)
{
    (void)ctx;
    (void)level;
    fprintf(stderr, "%s\n", text);
}

static void cancel(void *ctx, const struct mapm_progress *p)
{
    (void)ctx;
    (void)p;
    mapm_cancel(m);
}

static int fail(void)
{
    const struct mapm_error *e = mapm_last_error(m);

    printf("%s (%d): %s\n", e->name, e->code, e->messages[0]);
    if (e->hint[0])
        printf("hint: %s\n", e->hint);
    return 1;
}

/* --- operations ------------------------------------------------------------------ */

static int list(char **argv)
{
    const struct mapm_package *p;
    size_t count;

    (void)argv;
    if (!mapm_list(m, &p, &count))
        return fail();
    for (size_t i = 0; i < count; i++)
        printf("%s %s %s %s root=%d local=%d\n", p[i].type, p[i].name,
               p[i].version, p[i].place, p[i].is_root, p[i].is_local);
    return 0;
}

static int verify(char **argv)
{
    const struct mapm_finding *f;
    size_t count;

    (void)argv;
    if (!mapm_verify(m, false, &f, &count))
        return fail();
    for (size_t i = 0; i < count; i++)
        printf("%s: %s: %s\n", f[i].side, f[i].path, f[i].how);
    return 0;
}

static int lint(char **argv)
{
    const struct mapm_diagnostic *d;
    const char *const paths[] = {argv[0]};
    size_t count;

    if (!mapm_lint(m, paths, 1, argv[1], false, &d, &count))
        return fail();
    for (size_t i = 0; i < count; i++)
        printf("%s:%u: %s: %s\n", d[i].path, d[i].line, d[i].code,
               d[i].is_error ? "error" : "warning");
    return 0;
}

static int print_skills(bool ok, const struct mapm_skill *s, size_t count)
{
    if (!ok)
        return fail();
    for (size_t i = 0; i < count; i++)
        printf("%s: %s (%s, %g)%s\n", s[i].name, s[i].description, s[i].source,
               s[i].score, s[i].is_metaskill ? " metaskill" : "");
    return 0;
}

static int skills(char **argv)
{
    const struct mapm_skill *s = NULL;
    size_t count = 0;
    bool ok = mapm_skills(m, &s, &count);

    (void)argv;
    return print_skills(ok, s, count);
}

static int search(char **argv)
{
    const struct mapm_skill *s = NULL;
    size_t count = 0;
    bool ok = mapm_search(m, argv[0], (size_t)atoi(argv[1]), &s, &count);

    return print_skills(ok, s, count);
}

static int match(char **argv)
{
    const struct mapm_skill *s = NULL;
    size_t count = 0;
    bool ok = mapm_match(m, argv[0], 5, 0.1, &s, &count);

    return print_skills(ok, s, count);
}

static int load(char **argv)
{
    const struct mapm_loaded *l;

    if (!mapm_load(m, argv[0], &l))
        return fail();
    printf("%s\n", l->text);
    for (size_t i = 0; i < l->tag_count; i++)
        printf("tag %s\n", l->tags[i]);
    for (size_t i = 0; i < l->metadata_count; i++)
        printf("%s = %s\n", l->metadata[i].key, l->metadata[i].value);
    for (size_t i = 0; i < l->resource_count; i++)
        printf("%s: %s, %llu bytes\n", l->resources[i].kind,
               l->resources[i].path, (unsigned long long)l->resources[i].size);
    return 0;
}

static int resource(char **argv)
{
    const char *text;
    size_t length;

    if (!mapm_read_resource(m, argv[0], argv[1], &text, &length))
        return fail();
    fwrite(text, 1, length, stdout);
    return 0;
}

static int trusted(char **argv)
{
    const struct mapm_trusted *t;
    size_t count;

    (void)argv;
    if (!mapm_list_trust(m, &t, &count))
        return fail();
    for (size_t i = 0; i < count; i++)
        printf("%s %s %.7s\n", t[i].kind, t[i].subject, t[i].digest);
    return 0;
}

static int trust(char **argv)
{
    return mapm_trust(m, argv[0]) ? 0 : fail();
}

static int revoke_trust(char **argv)
{
    return mapm_revoke_trust(m, argv[0]) ? 0 : fail();
}

static int print_plan(const struct mapm_plan *plan)
{
    for (size_t i = 0; i < plan->package_count; i++)
        printf("%s %s %s%s%s\n", plan->packages[i].action,
               plan->packages[i].type, plan->packages[i].name,
               plan->packages[i].command[0] ? " runs " : "",
               plan->packages[i].command);
    for (size_t i = 0; i < plan->edit_count; i++)
        printf("edit %s\n", plan->edits[i]);
    for (size_t i = 0; i < plan->omission_count; i++)
        printf("%s %s %s, %s: %s\n", plan->omissions[i].kind,
               plan->omissions[i].type, plan->omissions[i].name,
               plan->omissions[i].code, plan->omissions[i].message);
    return printf("%s\n", plan->is_empty ? "nothing to do" : "planned"), 0;
}

static int apply(void)
{
    const struct mapm_change *changes;
    size_t count;

    if (!mapm_apply(m, &changes, &count))
        return fail();
    for (size_t i = 0; i < count; i++)
        printf("%s %s\n", changes[i].action, changes[i].path);
    return 0;
}

/* change install|update|remove plan|apply|discard [ARGUMENT...] */
static int change(char **argv)
{
    struct mapm_change_request r = {.arguments = (const char **)argv + 2};
    const struct mapm_plan *plan;

    while (r.arguments[r.argument_count])
        r.argument_count++;
    if (strcmp(argv[0], "update") == 0)
        r.command = MAPM_UPDATE;
    else if (strcmp(argv[0], "remove") == 0)
        r.command = MAPM_REMOVE;
    r.is_dry_run = strcmp(argv[1], "plan") == 0;
    if (!mapm_plan(m, &r, &plan))
        return fail();
    print_plan(plan);
    if (strcmp(argv[1], "discard") == 0)
        mapm_discard(m);
    return apply();
}

/* choose URL [KIND WORD]...: at most one of a kind; "strict" has a word, too. */
static int choose(char **argv)
{
    const char *skill = NULL, *agent = NULL, *mcp = NULL, *plugin = NULL;
    const char *skip = NULL, *client = NULL, *strict = NULL;
    const struct {
        const char *kind, **word;
    } kinds[] = {{"skill", &skill},   {"agent", &agent}, {"mcp", &mcp},
                 {"plugin", &plugin}, {"skip", &skip},   {"client", &client},
                 {"strict", &strict}};
    const struct mapm_plan *plan;

    for (char **a = argv + 1; a[0] && a[1]; a += 2)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (strcmp(a[0], kinds[i].kind) == 0)
                *kinds[i].word = a[1];
    const struct mapm_change_request r = {
        .arguments = (const char **)argv,
        .argument_count = 1,
        .is_strict = strict != NULL,
        .skills = &skill,
        .skill_count = skill != NULL,
        .agents = &agent,
        .agent_count = agent != NULL,
        .mcps = &mcp,
        .mcp_count = mcp != NULL,
        .plugins = &plugin,
        .plugin_count = plugin != NULL,
        .skip = &skip,
        .skip_count = skip != NULL,
        .clients = &client,
        .client_count = client != NULL,
    };

    if (!mapm_plan(m, &r, &plan))
        return fail();
    print_plan(plan);
    return apply();
}

/* Holds a plan until it is killed. */
static int hang(char **argv)
{
    const struct mapm_change_request r = {.arguments = (const char **)argv,
                                          .argument_count = 1};
    const struct mapm_plan *plan;

    if (!mapm_plan(m, &r, &plan))
        return fail();
    puts("planned");
    fflush(stdout);
    return pause();
}

/* In a thread: cancels once the engine was started and has not begun to run, for
 * which DRIVE_LIBEXEC waits with two FIFOs. */
static void *cancel_early(void *ctx)
{
    char **argv = ctx;
    FILE *f = fopen(argv[0], "r");

    if (f)
        fclose(f);
    mapm_cancel(m);
    f = fopen(argv[1], "w");
    if (f)
        fclose(f);
    return NULL;
}

/* early STARTED GO URL */
static int early(char **argv)
{
    const struct mapm_change_request r = {.arguments = (const char **)argv + 2,
                                          .argument_count = 1};
    const struct mapm_plan *plan;
    pthread_t thread;
    bool ok;

    if (pthread_create(&thread, NULL, cancel_early, argv) != 0)
        return 2;
    ok = mapm_plan(m, &r, &plan);
    pthread_join(thread, NULL);
    if (!ok)
        return fail();
    puts("planned");
    return 0;
}

static int run(char **argv)
{
    const struct mapm_run_request r = {.name = argv[0], .input = argv[1]};
    const struct mapm_run_result *result;

    if (!mapm_run(m, &r, &result))
        return fail();
    printf("%d %s: %s\n", result->is_completed, result->status, result->text);
    return 0;
}

static int cancel_next(char **argv)
{
    mapm_cancel(m);
    if (list(argv) == 0)
        return 2;
    return list(argv);
}

/* --- the process of the host ---------------------------------------------------------- */

struct state {
    mode_t mask;
    struct rlimit files;
    void (*handlers[32])(int);
    bool is_blocked[32];
};

static struct state state_now(void)
{
    struct sigaction action;
    sigset_t blocked;
    struct state s;

    memset(&s, 0, sizeof s);
    s.mask = umask(0);
    umask(s.mask);
    getrlimit(RLIMIT_NOFILE, &s.files);
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    for (int i = 1; i < 32; i++) {
        sigaction(i, NULL, &action);
        s.handlers[i] = action.sa_handler;
        s.is_blocked[i] = sigismember(&blocked, i);
    }
    return s;
}

/* Neither a child of the host nor its state is touched. */
static int untouched(char **argv)
{
    struct rlimit few = {64, 64};
    struct state before, after;
    pid_t child;
    int status, code;

    umask(027);
    setrlimit(RLIMIT_NOFILE, &few);
    signal(SIGUSR1, SIG_IGN);
    before = state_now();
    child = fork();
    if (child == 0)
        _exit(7);
    code = run(argv);
    if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7)
        return printf("the child of the host was reaped\n"), 1;
    after = state_now();
    if (before.mask != after.mask ||
        before.files.rlim_cur != after.files.rlim_cur ||
        memcmp(before.handlers, after.handlers, sizeof before.handlers) != 0 ||
        memcmp(before.is_blocked, after.is_blocked, sizeof before.is_blocked) !=
            0)
        return printf("the process is not as it was\n"), 1;
    if (waitpid(-1, &status, WNOHANG) != -1)
        return printf("a process was left behind\n"), 1;
    return code;
}

/* As a host that lets the kernel reap all children, and has closed 0 to 2. */
static int odd_host(char **argv)
{
    FILE *out = fdopen(dup(STDOUT_FILENO), "w");
    const struct mapm_skill *s;
    size_t count;

    (void)argv;
    signal(SIGCHLD, SIG_IGN);
    close(0);
    close(1);
    close(2);
    if (!mapm_skills(m, &s, &count))
        return 1;
    fprintf(out, "%zu skills\n", count);
    return fclose(out);
}

static const struct {
    const char *name;
    int (*call)(char **argv);
} commands[] = {
    {"list", list},           {"verify", verify},
    {"lint", lint},           {"skills", skills},
    {"search", search},       {"match", match},
    {"load", load},           {"resource", resource},
    {"trusted", trusted},     {"trust", trust},
    {"revoke", revoke_trust}, {"change", change},
    {"hang", hang},           {"run", run},
    {"early", early},         {"cancel", cancel_next},
    {"untouched", untouched}, {"odd", odd_host},
    {"choose", choose},
};

int main(int argc, char **argv)
{
    struct mapm_options o = {.workspace = getenv("DRIVE_WORKSPACE"),
                             .libexec = getenv("DRIVE_LIBEXEC"),
                             .notice = notice};
    int code = 2;

    if (getenv("DRIVE_CANCEL"))
        o.progress = cancel;
    agrees = getenv("DRIVE_YES") != NULL;
    if (agrees || getenv("DRIVE_NO"))
        o.confirm = confirm;
    m = mapm_open(&o);
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, argv[1]) == 0)
            code = commands[i].call(argv + 2);
    mapm_close(m);
    return code;
}
