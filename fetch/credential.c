#include "base/base64.h"
#include "base/env.h"
#include "base/proc.h"
#include "base/text.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "client.h"

#define ASK_MS           60000 /* long, because a helper may open a window */
#define RUN_MAX_ARGS     8
#define OUTPUT_MAX_BYTES (16 * 1024)

/* Variables removed from the helper's environment: they would let it read the
 * configuration of the current repository, which could name a helper. */
static const char *const dropped[] = {
    "GIT_DIR=",
    "GIT_WORK_TREE=",
    "GIT_COMMON_DIR=",
    "GIT_INDEX_FILE=",
    "GIT_NAMESPACE=",
    "GIT_OBJECT_DIRECTORY=",
    "GIT_TERMINAL_PROMPT=",
};

static bool is_kept(struct str variable)
{
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
        if (str_starts(variable, str_cstr(dropped[i])))
            return false;
    return true;
}

static bool run_in(bool is_here, const char *name, const char *const *rest,
                   struct str input, struct arena *a, struct str *out)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    char here[PATH_MAX];
    const char *argv[RUN_MAX_ARGS + 2] = {NULL}; /* program, arguments, NULL */
    struct proc_result result = {0};
    struct err ignored = {0};
    struct str path;

    if (getcwd(here, sizeof here) == NULL || strcmp(here, "/") == 0)
        here[0] = '\0';
    if (!proc_find_program(name, here[0] ? here : NULL, &scratch, &path,
                           &ignored))
        return false;
    argv[0] = str_dup0(path, &scratch);
    for (size_t i = 0; i < RUN_MAX_ARGS && rest[i]; i++)
        argv[i + 1] = rest[i];
    if (!proc_run(
            &(struct proc_options){
                .argv = argv,
                .env = env_with(is_kept, "GIT_TERMINAL_PROMPT=0", &scratch),
                .dir = is_here && here[0] ? here : "/",
                .input = input,
                .max_output_bytes = OUTPUT_MAX_BYTES,
                .timeout_ms = ASK_MS},
            a, &result, &ignored) ||
        result.exit_code != 0)
        return false;
    *out = result.out;
    return true;
}

static bool run(const char *name, const char *const *rest, struct str input,
                struct arena *a, struct str *out)
{
    return run_in(false, name, rest, input, a, out);
}

/* Parses the output of git's helpers: "username=me", "password=x". Git prints
 * the path only with credential.useHttpPath. */
static bool read_helper(struct str text, struct credential *out)
{
    struct str line;

    *out = (struct credential){0};
    while (str_line(&text, &line)) {
        if (str_starts(line, STR("username=")))
            out->user = str_from_index(line, 9);
        else if (str_starts(line, STR("password=")))
            out->password = str_from_index(line, 9);
        else if (str_starts(line, STR("path=")))
            out->of_path = true;
    }
    return out->password.n > 0;
}

/* Rejects a value with a line break, which would add a line to the input. */
static bool helper_input(const struct credential_query *q, struct arena *a,
                         struct str *out)
{
    if (str_has_char(q->host, '\n') || str_has_char(q->path, '\n'))
        return false;
    *out =
        arena_printf(a, "protocol=%.*s\nhost=%.*s\npath=%.*s\n\n",
                     STR_ARG(q->protocol), STR_ARG(q->host), STR_ARG(q->path));
    return true;
}

/* Asks git for credential.useHttpPath: `git credential fill` prints no path if
 * it finds no credential. */
static bool uses_path(const struct credential_query *q, struct arena *a)
{
    const char *url = arena_printf(a, "%.*s://%.*s/%.*s", STR_ARG(q->protocol),
                                   STR_ARG(q->host), STR_ARG(q->path))
                          .p;
    const char *const rest[] = {
        "config", "--type=bool", "--get-urlmatch", "credential.useHttpPath",
        url,      NULL};
    struct str out;

    return run("git", rest, STR(""), a, &out) && str_is(str_trim(out), "true");
}

/* Parses "Authorization: Basic <user:password>" or a bearer token, which every
 * kind of host accepts as a password, too. */
static bool read_authorization(struct str line, const struct git_host *kind,
                               struct arena *a, struct credential *out)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct str name, scheme, rest = line;

    if (!str_cut(&rest, ':', &name) || text_has_control(line) ||
        !str_eq_nocase(str_trim(name), STR("authorization")))
        return false;
    rest = str_trim(rest);
    if (!str_has_char(rest, ' ') || !str_cut(&rest, ' ', &scheme))
        return false;
    rest = str_trim(rest);
    if (str_eq_nocase(scheme, STR("bearer"))) {
        out->user = str_cstr(kind ? kind->user : "");
        out->password = rest;
        return rest.n > 0;
    }
    buf_init(&b, OUTPUT_MAX_BYTES);
    if (!str_eq_nocase(scheme, STR("basic")) || !base64_parse(rest, &b))
        return false;
    rest = arena_str(a, buf_str(&b));
    if (!str_has_char(rest, ':') || text_has_control(rest))
        return false;
    return str_cut(&rest, ':', &out->user) && (out->password = rest).n > 0;
}

/* Splits the URL into host and path; it must have the protocol of the query.
 * Azure also writes the organisation, the first part of the path, as the
 * user. */
static bool cut_url(const struct credential_query *q, struct str url,
                    struct str *host, struct str *path)
{
    struct str user = STR("");
    size_t at;

    if (!str_starts(url, q->protocol) ||
        !str_starts(str_from_index(url, q->protocol.n), STR("://")))
        return false;
    *path = str_from_index(url, q->protocol.n + 3);
    str_cut(path, '/', host);
    at = str_find_last(*host, '@');
    if (at != SIZE_MAX) {
        user = str_slice(*host, 0, at);
        *host = str_from_index(*host, at + 1);
    }
    if (str_ends(*path, STR("/")))
        *path = str_slice(*path, 0, path->n - 1);
    return !user.n || (str_starts(*path, user) && path->n > user.n &&
                       path->p[user.n] == '/');
}

/* A pattern for git config --get-regexp, which prints names in lower case,
 * except for the URL. */
#define HEADER_KEYS "^http[.].*[.]extraheader$"

/* Returns the URL of "http.<url>.extraheader"; "" if there is no URL, so that
 * the header matches no host. */
static struct str url_of_header(struct str name)
{
    static const struct str head = STR_INIT("http."),
                            tail = STR_INIT(".extraheader");

    return name.n > head.n + tail.n ? str_slice(name, head.n, name.n - tail.n)
                                    : STR("");
}

static struct str drop_git(struct str path)
{
    return str_ends(path, STR(".git")) ? str_slice(path, 0, path.n - 4) : path;
}

/* Returns whether `path` is the repository `folder` or lies below it. An empty
 * `folder` matches every path of the host. */
static bool leads_to(struct str folder, struct str path)
{
    if (!folder.n || str_eq(drop_git(folder), drop_git(path)))
        return true;
    return str_starts(path, folder) && path.n > folder.n &&
           path.p[folder.n] == '/';
}

/*
 * Returns the header with the longest URL that matches the repository, the last
 * one if several do; an empty value resets it. Sets `*of_path` if a header of
 * this host is limited to a path.
 */
static struct str find_header(const struct credential_query *q, struct str text,
                              bool *of_path)
{
    struct str entry, found = STR("");
    size_t best = 0;

    while (str_cut(&text, '\0', &entry) && text.p) {
        struct str name, host, path;

        if (!str_cut(&entry, '\n', &name) || !entry.p ||
            !cut_url(q, url_of_header(name), &host, &path) ||
            !str_eq_nocase(host, q->host))
            continue;
        *of_path |= path.n > 0;
        if (path.n < best || !leads_to(path, q->path))
            continue;
        best = path.n;
        found = entry;
    }
    return found;
}

/*
 * Reads the header that a CI job leaves in the repository it checked out:
 * actions/checkout sets one for the whole host, Azure Pipelines one for the
 * repository. Git reads the configuration by its own rules of ownership and
 * includes, and starts no program for it. The header is sent only to the URL
 * that the repository names, so at worst the host rejects it.
 */
static bool query_checkout(const struct credential_query *q, struct arena *a,
                           struct credential *out)
{
    static const char *const rest[] = {"--no-pager", "config", "--local",
                                       "--includes", "--null", "--get-regexp",
                                       HEADER_KEYS,  NULL};
    struct str text;
    bool of_path = false;

    if (!run_in(true, "git", rest, STR(""), a, &text))
        return false;
    text = find_header(q, text, &of_path);
    if (read_authorization(str_trim(text), q->kind, a, out)) {
        out->of_path = of_path;
        return true;
    }
    *out = (struct credential){.of_path = of_path};
    return false;
}

static bool query_helper(const struct credential_query *q, struct arena *a,
                         struct credential *out)
{
    static const char *const rest[] = {"credential", "fill", NULL};
    struct str input, text;

    if (!helper_input(q, a, &input))
        return false;
    if (run("git", rest, input, a, &text) && read_helper(text, out))
        return true;
    out->of_path = uses_path(q, a);
    return false;
}

static bool run_program(const struct credential_query *q, struct arena *a,
                        struct credential *out)
{
    const struct git_host_program *p = &q->kind->program;
    const char *rest[GIT_HOST_MAX_ARGS + 1] = {NULL};
    struct str input = STR(""), text;

    for (size_t i = 0; i < GIT_HOST_MAX_ARGS && p->args[i]; i++)
        rest[i] = strcmp(p->args[i], "$host") == 0 ? str_dup0(q->name, a)
                                                   : p->args[i];
    if ((p->is_helper && !helper_input(q, a, &input)) ||
        !run(p->name, rest, input, a, &text))
        return false;
    if (p->is_helper)
        return read_helper(text, out);
    out->user = str_cstr(q->kind->user);
    out->password = str_trim(text);
    return out->password.n > 0 && !str_has_char(out->password, '\n');
}

bool credential_find(const struct credential_query *q, struct arena *a,
                     struct credential *out)
{
    *out = (struct credential){0};
    if (q->from == CREDENTIAL_PROGRAM)
        return q->kind && q->kind->program.name && run_program(q, a, out);
    if (q->from == CREDENTIAL_CHECKOUT)
        return query_checkout(q, a, out);
    return query_helper(q, a, out);
}
