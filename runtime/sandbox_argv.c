#include "base/env.h"
#include "base/fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "sandbox.h"

/* --- limits --------------------------------------------------------------------- */

/* Size of each tmpfs: /tmp and the like. */
#define SCRATCH_MAX_BYTES "1073741824"

/* Limit in a new user namespace; elsewhere the user's other programs count as
 * well. */
#define PROCESSES_MAX "4096"

/* Maximum number of Landlock rules, for folders that are listed entry by entry
 * to exclude one. */
#define RULES_MAX_COUNT    8192
#define FOLDER_MAX_ENTRIES 20000

#define VALUE_MAX_BYTES 32768 /* maximum length of a variable that is passed */

/* --- words ------------------------------------------------------------------------ */

static void words_add(struct words *w, const char *word)
{
    w->all =
        arena_grow(w->arena, w->all, w->count, &w->capacity, sizeof *w->all);
    w->all[w->count++] = word;
}

static void words_add_str(struct words *w, struct str word)
{
    words_add(w, word.p ? str_dup0(word, w->arena) : NULL);
}

static void add_all(struct words *w, const char *const *words)
{
    for (; *words; words++)
        words_add(w, *words);
}

static void add_two(struct words *w, const char *option, struct str path)
{
    words_add(w, option);
    words_add_str(w, path);
}

static void add_bind(struct words *w, const char *option, struct str from,
                     struct str to)
{
    words_add(w, option);
    words_add_str(w, from);
    words_add_str(w, to);
}

/* --- the outer wall: bubblewrap ------------------------------------------------------ */

static void show_place(struct words *w, const struct sandbox_job *job,
                       const struct place *p)
{
    static const char *const sized[] = {"--size", SCRATCH_MAX_BYTES, NULL};

    switch (p->kind) {
    case PLACE_HIDDEN:
        if (p->is_folder)
            add_two(w, "--tmpfs", p->path);
        else
            add_bind(w, "--ro-bind", STR("/dev/null"), p->path);
        break;
    case PLACE_SCRATCH:
        if (job->sized)
            add_all(w, sized);
        add_two(w, "--tmpfs", p->path);
        break;
    case PLACE_READ:
        add_bind(w, "--ro-bind", p->path, p->path);
        break;
    case PLACE_WRITE:
        add_bind(w, "--bind", p->path, p->path);
        break;
    }
}

static struct str own_tmp(const struct sandbox_job *job)
{
    static const char *const usual[] = {"/tmp", "/var/tmp", "/dev/shm"};
    const struct places *p = &job->places;

    if (job->way != SANDBOX_BOTH)
        return job->scratch;
    for (size_t k = 0; k < sizeof usual / sizeof *usual; k++)
        for (size_t i = 0; i < p->count; i++)
            if (p->all[i].kind == PLACE_SCRATCH &&
                str_is(p->all[i].path, usual[k]))
                return p->all[i].path;
    return job->workspace; /* no temporary folder found */
}

/* With `home` and `off` the command has the user's HOME, by which tools find
 * their installation. */
static struct str own_home(const struct sandbox_job *job)
{
    struct arena *a = job->places.arena;
    struct str home = sandbox_home(a);

    if (job->mode != SANDBOX_ON && home.n)
        return home;
    if (job->way != SANDBOX_BOTH)
        return job->scratch;
    return fs_join(own_tmp(job), STR("home"), a);
}

static void build_bubblewrap(struct words *w, const struct sandbox_job *job)
{
    static const char *const begin[] = {
        "--unshare-user-try",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--die-with-parent",
        "--new-session",
        "--hostname",
        "sandbox",
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        NULL,
    };
    /* In a user namespace root still owns these files of the host. */
    static const char *const switches[] = {
        "--ro-bind",
        "/proc/sys",
        "/proc/sys",
        "--ro-bind-try",
        "/proc/sysrq-trigger",
        "/proc/sysrq-trigger",
        NULL,
    };
    const struct places *p = &job->places;

    words_add_str(w, job->bubblewrap);
    if (!job->network)
        words_add(w, "--unshare-net");
    add_all(w, begin);
    if (geteuid() == 0)
        add_all(w, switches);
    for (size_t i = 0; i < p->count; i++)
        show_place(w, job, &p->all[i]);
    add_two(w, "--dir", own_home(job));
    /* Done last: mounts inside needed these folders to be writable. */
    for (size_t i = 0; i < p->count; i++)
        if (p->all[i].kind == PLACE_HIDDEN && p->all[i].is_folder)
            add_two(w, "--remount-ro", p->all[i].path);
    add_two(w, "--remount-ro", STR("/dev"));
    add_two(w, "--chdir", job->workspace);
    words_add(w, "--");
}

/* --- the inner wall: mapm-cage ---------------------------------------------------------- */

/* Builds the Landlock rules that correspond to the mounts. */
static void build_rules(struct words *w, const struct sandbox_job *job)
{
    static const char *const fixed[] = {
        "-p", PROCESSES_MAX, "-x", "/", "-w", "/dev", NULL,
    };
    const struct places *p = &job->places;

    add_all(w, fixed);
    for (size_t i = 0; i < p->count; i++)
        if (p->all[i].kind == PLACE_WRITE || p->all[i].kind == PLACE_SCRATCH)
            add_two(w, "-w", p->all[i].path);
}

struct rules {
    struct words *words;
    const struct places *places;
    struct arena *arena;
    struct str *todo; /* folders that contain a hidden path */
    size_t count, capacity, made;
};

static void put_rule(struct rules *r, struct str path)
{
    if (r->made++ < RULES_MAX_COUNT)
        add_two(r->words, "-x", path);
}

static void put_folder(struct rules *r, struct str path)
{
    if (!places_hide_below(r->places, path)) {
        put_rule(r, path);
        return;
    }
    r->todo =
        arena_grow(r->arena, r->todo, r->count, &r->capacity, sizeof *r->todo);
    r->todo[r->count++] = path;
}

static bool is_place(const struct places *p, struct str path)
{
    for (size_t i = 0; i < p->count; i++)
        if (str_eq(p->all[i].path, path))
            return true;
    return false;
}

/* Landlock has allow rules only, so every entry of the folder except the hidden
 * one gets a rule. */
static void take_apart(struct rules *r, struct str folder)
{
    struct fs_entry *entries = NULL;
    size_t count = 0;
    struct err ignored = {0};

    /* An unreadable folder gets no rule for its content. */
    if (!fs_list_at(AT_FDCWD, folder.p, FOLDER_MAX_ENTRIES, r->arena, &entries,
                    &count, &ignored))
        return;
    for (size_t i = 0; i < count; i++) {
        struct str path = fs_join(folder, entries[i].name, r->arena);

        if (is_place(r->places, path))
            continue;
        if (entries[i].type == DT_DIR)
            put_folder(r, path);
        else if (entries[i].type == DT_REG)
            put_rule(r, path);
    }
}

static void add_writable(struct words *w, struct str path)
{
    add_two(w, "-w", path);
    add_two(w, "-x", path);
}

static void build_rules_alone(struct words *w, const struct sandbox_job *job)
{
    /* /proc/self is that of mapm-cage, which becomes the command. */
    static const char *const fixed[] = {
        "-a",
        "-w",
        "/dev/null",
        "-w",
        "/dev/zero",
        "-w",
        "/dev/full",
        "-r",
        "/dev/random",
        "-r",
        "/dev/urandom",
        "-r",
        "/proc/self",
        "-r",
        "/proc/cpuinfo",
        "-r",
        "/proc/meminfo",
        "-r",
        "/proc/stat",
        "-r",
        "/proc/version",
        "-r",
        "/proc/filesystems",
        "-r",
        "/proc/loadavg",
        "-r",
        "/proc/uptime",
        "-r",
        "/proc/sys",
        NULL,
    };
    const struct places *p = &job->places;
    struct rules r = {.words = w, .places = p, .arena = w->arena};

    add_all(w, fixed);
    add_writable(w, job->scratch);
    for (size_t i = 0; i < p->count; i++) {
        if (p->all[i].kind == PLACE_WRITE)
            add_writable(w, p->all[i].path);
        else if (p->all[i].kind == PLACE_READ)
            put_folder(&r, p->all[i].path);
    }
    put_folder(&r, STR("/"));
    while (r.count)
        take_apart(&r, r.todo[--r.count]);
}

static void build_helper(struct words *w, const struct sandbox_job *job)
{
    words_add_str(w, job->helper);
    if (job->network)
        words_add(w, "-n");
    if (job->way == SANDBOX_NONE)
        words_add(w, "-o");
    else if (job->way == SANDBOX_HELPER)
        build_rules_alone(w, job);
    else
        build_rules(w, job);
    words_add(w, "--");
    words_add_str(w, job->program);
    for (size_t i = 0; i < job->argc; i++)
        words_add_str(w, job->argv[i]);
}

/* --- environment ------------------------------------------------------------------------- */

static void set(struct words *w, const char *name, struct str value)
{
    words_add(w, arena_printf(w->arena, "%s=%.*s", name, STR_ARG(value)).p);
}

/* Row 20: passes the variables of an allowlist. */
static void keep(struct words *w, const char *const *names, bool paths_only)
{
    for (; *names; names++) {
        struct str value = env_get(*names);

        if (value.n && value.n <= VALUE_MAX_BYTES &&
            (!paths_only || value.p[0] == '/'))
            set(w, *names, value);
    }
}

static const char *const *sandbox_environment(const struct sandbox_job *job,
                                              struct arena *a)
{
    static const char *const kept[] = {
        "LANG",           "LANGUAGE",     "LC_ALL",      "LC_ADDRESS",
        "LC_COLLATE",     "LC_CTYPE",     "LC_MESSAGES", "LC_IDENTIFICATION",
        "LC_MEASUREMENT", "LC_MONETARY",  "LC_NAME",     "LC_NUMERIC",
        "LC_PAPER",       "LC_TELEPHONE", "LC_TIME",     "TZ",
        "USER",           "LOGNAME",      NULL,
    };
    /* Variables with the location of a tool chain. */
    static const char *const tools[] = {
        "CARGO_HOME",  "RUSTUP_HOME",  "GOROOT",     "GOPATH",     "JAVA_HOME",
        "NVM_DIR",     "PYENV_ROOT",   "RBENV_ROOT", "SDKMAN_DIR", "VOLTA_HOME",
        "BUN_INSTALL", "DENO_INSTALL", "PNPM_HOME",  NULL,
    };
    struct words w = {.arena = a};

    set(&w, "PATH", sandbox_path(job, a, NULL, NULL));
    set(&w, "HOME", own_home(job));
    set(&w, "TMPDIR", own_tmp(job));
    set(&w, "TERM", STR("dumb"));
    set(&w, "MAPM_DEPTH", arena_printf(a, "%u", runtime_depth() + 1));
    keep(&w, kept, false);
    if (job->mode != SANDBOX_ON)
        keep(&w, tools, true);
    words_add(&w, NULL);
    return w.all;
}

/* --- all of it ----------------------------------------------------------------------- */

void sandbox_build(struct sandbox_job *job, struct arena *a,
                   struct sandbox_start *out)
{
    struct words w = {.arena = a};

    sandbox_view(job);
    if (job->way == SANDBOX_BOTH)
        build_bubblewrap(&w, job);
    build_helper(&w, job);
    words_add(&w, NULL);
    *out = (struct sandbox_start){w.all, sandbox_environment(job, a)};
}
