#include "backend.h"

#include "base/env.h"
#include "base/fs.h"
#include "base/proc.h"
#include "base/text.h"
#include "mapm/clients.h"

#include <unistd.h>

#define WAYS                                                                   \
    "install an agent program (%.*s), or choose: --ask NAME, --ask "           \
    "exec:PROGRAM, --ask anthropic, --ask openai, --ask replay:FILE; "         \
    "MAPM_ASK does the same, and \"ask:\" in config.yaml for good"

#define WORDS_MAX      64
#define NAME_MAX_EDITS 2
#define CWD_MAX_BYTES  4096

/* --- the words of exec -------------------------------------------------------- */

/* Parses one word of a command line. A blank ends it, except in quotes or after
 * a backslash. Returns false at the end of the text; `*closed` is false if a
 * quote is left open. */
static bool next_word(struct str *rest, struct buf *word, bool *closed)
{
    char quote = '\0';
    size_t i = 0;

    *rest = str_trim(*rest);
    *closed = true;
    buf_clear(word);
    if (!rest->n)
        return false;
    for (; i < rest->n; i++) {
        char c = rest->p[i];

        if (!quote && (c == ' ' || c == '\t' || c == '\n'))
            break;
        if (!quote && (c == '\'' || c == '"'))
            quote = c;
        else if (c == quote)
            quote = '\0';
        else if (c == '\\' && quote != '\'' && i + 1 < rest->n)
            buf_char(word, rest->p[++i]);
        else
            buf_char(word, c);
    }
    *closed = quote == '\0';
    *rest = str_from_index(*rest, i);
    return true;
}

static struct str *split_words(struct backend *k, struct str line,
                               struct err *e)
{
    struct str *argv = arena_array(k->arena, WORDS_MAX, sizeof *argv);
    CLEANUP(buf_done) struct buf word = {0};
    bool closed = true, is_too_long = false;

    buf_init(&word, line.n + 1);
    while (closed && !is_too_long && next_word(&line, &word, &closed)) {
        is_too_long = k->argc == WORDS_MAX;
        if (!is_too_long)
            argv[k->argc++] = arena_str(k->arena, buf_str(&word));
    }
    if (closed && !is_too_long && k->argc && argv[0].n)
        return argv;
    if (is_too_long)
        err_set(e, ERR_USAGE, "exec has at most %d words", WORDS_MAX);
    else
        err_set(e, ERR_USAGE, "%.*s: %s", STR_ARG(k->name),
                closed ? "exec names no program" : "a quote is not closed");
    return NULL;
}

struct str backend_expand_home(struct str path, struct arena *a)
{
    struct str home = env_folder("HOME");

    if (!str_starts(path, STR("~/")) || home.n == 0)
        return path;
    return fs_join(home, str_from_index(path, 2), a);
}

/* Resolves a program of the command line, relative to the current directory. */
static bool resolve_typed(struct backend *k, struct str *program, struct err *e)
{
    char cwd[CWD_MAX_BYTES];

    *program = backend_expand_home(*program, k->arena);
    if (!str_has_char(*program, '/') || str_starts(*program, STR("/")))
        return true;
    if (!getcwd(cwd, sizeof cwd))
        return err_errno(e, "find the current directory");
    *program =
        fs_normalize(fs_join(str_cstr(cwd), *program, k->arena), k->arena);
    return true;
}

/* Resolves a program of the user's configuration file, which applies in every
 * folder: a relative path is rejected, since it would run a program of the
 * current workspace. */
static bool resolve_written(struct backend *k, struct str *program,
                            struct err *e)
{
    *program = backend_expand_home(*program, k->arena);
    if (!str_has_char(*program, '/') || str_starts(*program, STR("/")))
        return true;
    return err_set(e, ERR_USAGE,
                   "%.*s: exec names \"%.*s\"; here it has to be a name on "
                   "PATH, an absolute path, or begin with ~/",
                   STR_ARG(k->why), STR_ARG(*program));
}

/* --- the ways to name one ------------------------------------------------------- */

static bool is_api(struct str name)
{
    return str_is(name, "anthropic") || str_is(name, "openai");
}

/* Returns the settings of this backend in the user's file. */
static const struct project_ask *settings_of(const struct backend_selection *w,
                                             struct str name)
{
    const struct project_ask *ask = w->user ? &w->user->ask : NULL;

    if (!ask || ask->argc)
        return NULL;
    return str_eq(ask->url.n ? ask->api : ask->name, name) ? ask : NULL;
}

static bool prepare(struct backend *k, const struct backend_selection *w,
                    struct str value, struct err *e)
{
    const struct backend_request wish = {
        .value = value, .configured = settings_of(w, k->name), .all = w};

    return k->kind->prepare(k, &wish, e);
}

static bool is_unknown(const struct backend *k, struct err *e)
{
    const struct client *c;
    struct text_nearest near = {0};

    for (size_t i = 0; (c = clients_backend_at(i)); i++)
        text_nearest_add(&near, k->name, str_cstr(c->name), NAME_MAX_EDITS);
    err_set(e, ERR_USAGE, "%.*s: \"%.*s\" is not a model backend",
            STR_ARG(k->why), STR_ARG(k->name));
    if (near.count)
        return err_hint(e, "did you mean %.*s?", STR_ARG(near.found[0]));
    return err_hint(e,
                    "one of %.*s, anthropic, openai, exec:PROGRAM, "
                    "replay:FILE",
                    STR_ARG(clients_join_backends(", ", k->arena)));
}

/* Selects the backend from --ask or MAPM_ASK. */
static bool choose_typed(struct backend *k, const struct backend_selection *w,
                         struct err *e)
{
    struct str value = k->name, kind;
    struct str *argv;

    if (str_starts(value, STR("exec:"))) {
        value = str_from_index(value, 5);
        argv = split_words(k, value, e);
        if (!argv || !resolve_typed(k, &argv[0], e))
            return false;
        k->argv = argv;
        k->kind = &backend_cli_kind;
    } else if (str_starts(value, STR("replay:"))) {
        str_cut(&value, ':', &kind);
        k->kind = &backend_replay_kind;
    } else if (is_api(value)) {
        k->kind = &backend_http_kind;
    } else {
        k->preset = clients_find_backend(value);
        k->kind = &backend_cli_kind;
        if (!k->preset)
            return is_unknown(k, e);
    }
    return prepare(k, w, value, e);
}

/* Selects the backend from the user's file. */
static bool choose_written(struct backend *k, const struct backend_selection *w,
                           const struct project_ask *ask, struct err *e)
{
    struct str *argv;

    if (ask->argc) {
        argv = arena_array(k->arena, ask->argc, sizeof *argv);
        for (size_t i = 0; i < ask->argc; i++)
            argv[i] = ask->argv[i];
        k->name = arena_printf(k->arena, "exec:%.*s", STR_ARG(argv[0]));
        k->argv = argv;
        k->argc = ask->argc;
        k->kind = &backend_cli_kind;
        return resolve_written(k, &argv[0], e) && prepare(k, w, STR(""), e);
    }
    if (ask->url.n) {
        k->name = ask->api;
        k->kind = &backend_http_kind;
        return prepare(k, w, STR(""), e);
    }
    k->name = ask->name;
    return choose_typed(k, w, e);
}

static bool choose_first(struct backend *k, const struct backend_selection *w,
                         struct err *e)
{
    const struct client *c;
    struct err ignored = {0};

    for (size_t i = 0; (c = clients_backend_at(i)); i++) {
        k->preset = c->backend;
        k->name = str_cstr(c->name);
        k->kind = &backend_cli_kind;
        if (prepare(k, w, STR(""), &ignored))
            return true;
    }
    err_set(
        e, ERR_NOT_FOUND,
        "no model backend: no agent program is on PATH and none is configured");
    return err_hint(e, WAYS, STR_ARG(clients_join_backends(", ", k->arena)));
}

static struct str from_file(const char *name, const char *otherwise,
                            unsigned line, struct arena *a)
{
    return arena_printf(a, "%s:%u", name ? name : otherwise, line);
}

bool backend_find_program(const struct backend_selection *w,
                          const char *program, struct arena *a,
                          struct str *path, struct err *e)
{
    return proc_find_program(program, w->dir.n ? str_dup0(w->dir, a) : NULL, a,
                             path, e);
}

bool backend_select(const struct backend_selection *w, struct arena *a,
                    struct backend **out, struct err *e)
{
    struct backend *k = arena_new(a, struct backend);
    const struct project_ask *user = w->user ? &w->user->ask : NULL;
    const struct project_ask *workspace =
        w->workspace ? &w->workspace->ask : NULL;
    bool ok;

    k->arena = a;
    if (w->option.n || w->environment.n) {
        k->why = w->option.n ? STR("--ask") : STR("MAPM_ASK");
        k->name = arena_str(a, w->option.n ? w->option : w->environment);
        ok = choose_typed(k, w, e);
    } else if (user && user->line) {
        k->why = from_file(w->user_name, "config.yaml", user->line, a);
        ok = choose_written(k, w, user, e);
    } else if (workspace && workspace->line) {
        k->why = from_file(w->workspace_name, "mapm.yaml", workspace->line, a);
        k->name = workspace->name;
        /* Row 15: a workspace selects by name only, never a program, URL or
         * key. */
        k->preset = clients_find_backend(k->name);
        k->kind = &backend_cli_kind;
        ok = k->preset ? prepare(k, w, STR(""), e) : is_unknown(k, e);
    } else {
        k->why = STR("the first on PATH");
        ok = choose_first(k, w, e);
    }
    if (ok)
        *out = k;
    return ok;
}

struct str backend_name(const struct backend *k)
{
    return k->name;
}

struct str backend_why(const struct backend *k)
{
    return k->why;
}

struct str backend_program(const struct backend *k)
{
    return k->program;
}

bool backend_ask(struct backend *k, struct str dir, const struct ask *in,
                 const struct backend_progress *news, struct arena *a,
                 struct answer *out, struct err *e)
{
    return k->kind->ask(k, dir, in, news, a, out, e);
}

struct backend_found *backend_list(const struct backend_selection *w,
                                   struct arena *a, size_t *count)
{
    static const char *const apis[] = {"anthropic", "openai"};
    struct backend_found *list = NULL;
    const struct client *c;
    struct err ignored = {0};
    size_t n = 0, capacity = 0;

    for (size_t i = 0; (c = clients_backend_at(i)); i++) {
        const struct preset *p = c->backend;
        struct backend_found f = {.name = c->name, .place = STR("")};

        if (backend_find_program(w, p->program, a, &f.place, &ignored))
            f.note = arena_printf(a, "made for its %s", p->seen);
        else
            f.note = str_cstr(p->install);
        list = arena_grow(a, list, n, &capacity, sizeof *list);
        list[n++] = f;
    }
    for (size_t i = 0; i < sizeof apis / sizeof *apis; i++) {
        const struct backend_request wish = {
            .value = STR(""),
            .configured = settings_of(w, str_cstr(apis[i])),
            .all = w};

        list = arena_grow(a, list, n, &capacity, sizeof *list);
        backend_http_find(apis[i], &wish, a, &list[n++]);
    }
    *count = n;
    return list;
}
