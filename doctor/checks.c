#include "checks.h"

#include "base/fs.h"
#include "base/proc.h"
#include "base/text.h"
#include "mapm/authorize.h"
#include "mapm/built.h"
#include "mapm/clients.h"
#include "mapm/doc_kind.h"
#include "mapm/lock.h"
#include "mapm/mapm_path.h"
#include "mapm/open_store.h"
#include "mapm/origin.h"
#include "mapm/project.h"
#include "mapm/state_trust.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#define LANDLOCK_ABI_MIN 3 /* see THREATS.md 1.6 */

static const char program_group[] = "mapm";
static const char file_group[] = "files";
static const char sandbox_group[] = "sandbox of commands";
static const char policy_group[] = "policy";

/* --- files ---------------------------------------------------------------- */

static void check_config(struct doctor *d)
{
    const struct str name = STR("config.yaml");
    struct limits limits;
    struct origin_rules rules;
    struct err e = {0};

    d->user_file = authorize_config_path(d->cx);
    if (!authorize_config_read(d->cx, &d->user, &limits, &rules, &e)) {
        doctor_add_err(d, file_group, name, DOCTOR_BROKEN, &e);
        d->user = (struct project){0};
        return;
    }
    if (d->user_file.n == 0) {
        doctor_add(d, file_group, name, DOCTOR_MISSING,
                   "no place for it: HOME is not an absolute path");
        doctor_hint(d, "set HOME or XDG_CONFIG_HOME");
    } else if (access(str_dup0(d->user_file, &d->cx->arena), F_OK) < 0) {
        doctor_add(d, file_group, name, DOCTOR_OK,
                   "%.*s is not there: defaults count", STR_ARG(d->user_file));
    } else {
        doctor_add(d, file_group, name, DOCTOR_OK, "%.*s",
                   STR_ARG(d->user_file));
    }
}

static bool exists_below(struct str folder, const char *name, struct arena *a)
{
    return access(str_dup0(fs_join(folder, str_cstr(name), a), a), F_OK) == 0;
}

static void check_workspace(struct doctor *d)
{
    struct arena *a = &d->cx->arena;
    struct str where;
    struct err e = {0};
    size_t count;

    d->has_layer = layer_open(d->cx, LAYER_READ, &d->layer, &e);
    where = d->layer.path.n ? d->layer.path : d->cx->cwd;
    if (!d->has_layer) {
        doctor_add_err(d, file_group, STR("workspace"), DOCTOR_BROKEN, &e);
        return;
    }
    if (!exists_below(where, "mapm.yaml", a) &&
        !exists_below(where, "mapm.local.yaml", a)) {
        doctor_add(d, file_group, STR("workspace"), DOCTOR_MISSING,
                   "no mapm.yaml in %.*s or above it", STR_ARG(where));
        doctor_hint(d, "mapm init starts a workspace, and so does the first "
                       "mapm install");
        return;
    }
    count = d->layer.by_name.count;
    doctor_add(d, file_group, STR("workspace"), DOCTOR_OK,
               "%.*s, %zu package%s installed", STR_ARG(where), count,
               count == 1 ? "" : "s");
}

/* Checks for skills that no client lists, and whether the clients have the
 * server that finds them [G4]. */
static void check_listing(struct doctor *d)
{
    const struct str name = STR("listing");
    size_t count = 0;

    if (!d->has_layer || d->layer.project.listing.line == 0)
        return;
    for (size_t i = 0; i < d->layer.by_name.count; i++) {
        const struct lock_entry *entry = d->layer.by_name.entries[i].value;

        count += layer_is_searched(&d->layer, entry->kind, entry->name);
    }
    if (count == 0 || d->layer.project.server) {
        doctor_add(d, file_group, name, DOCTOR_OK,
                   "%zu skill%s for searches only", count,
                   count == 1 ? "" : "s");
        return;
    }
    doctor_add(d, file_group, name, DOCTOR_WARN,
               "%zu skill%s for searches only, and mapm.yaml does not give "
               "clients mapm mcp, which finds %s",
               count, count == 1 ? "" : "s", count == 1 ? "it" : "them");
    doctor_hint(d, "mapm install --with-server adds it");
}

/* Lists the team stores that an install uses before the git host [S1]. Stores
 * that mapm.yaml proposes without consent are mentioned in a note. */
static void check_team_stores(struct doctor *d, struct store *store)
{
    struct context *cx = d->cx;
    static const struct project none;
    const struct str name = STR("team store");
    struct str urls = STR("");
    struct team_remotes list;
    struct err e = {0};

    if (!authorize_stores(cx, store, d->has_layer ? d->layer.path : cx->cwd,
                          &d->user, d->has_layer ? &d->layer.project : &none,
                          &list, &e)) {
        doctor_add_err(d, file_group, name, DOCTOR_BROKEN, &e);
        return;
    }
    for (size_t i = 0; i < list.count; i++)
        urls = arena_join(urls, ", ", list.items[i].url, &cx->arena);
    if (list.count == 0 && list.only) {
        doctor_add(d, file_group, name, DOCTOR_WARN,
                   "none, and the git host is never asked");
        doctor_hint(d, "name one in remote, beside only: true in config.yaml");
    } else if (list.count) {
        doctor_add(d, file_group, name, DOCTOR_OK, "%.*s%s", STR_ARG(urls),
                   list.only ? ", never the git host" : "");
    }
}

static void check_store(struct doctor *d)
{
    struct store_stats stats;
    struct store *store = NULL;
    struct str home;
    struct err e = {0};
    char bytes[16];

    if (!store_find_home(&d->cx->arena, &home, &e)) {
        doctor_add_err(d, file_group, STR("store"), DOCTOR_BROKEN, &e);
        return;
    }
    /* Opening a store would create it. */
    if (!exists_below(home, "store", &d->cx->arena)) {
        doctor_add(d, file_group, STR("store"), DOCTOR_OK,
                   "%.*s: made by the first install", STR_ARG(home));
        return;
    }
    if (!store_open(home, &store, &e) || !store_stats(store, &stats, &e)) {
        doctor_add_err(d, file_group, STR("store"), DOCTOR_BROKEN, &e);
    } else if (stats.damaged) {
        doctor_add(d, file_group, STR("store"), DOCTOR_WARN,
                   "%.*s: %" PRIu64 " damaged objects were set aside",
                   STR_ARG(home), stats.damaged);
        doctor_hint(d, "they are fetched when they are needed; mapm store gc "
                       "drops the damaged ones");
    } else {
        doctor_add(d, file_group, STR("store"), DOCTOR_OK,
                   "%.*s, %" PRIu64 " objects, %s", STR_ARG(home),
                   stats.objects, text_bytes(stats.bytes, bytes));
    }
    if (store)
        check_team_stores(d, store);
    close_store(d->cx, store);
}

void doctor_check_files(struct doctor *d)
{
    check_config(d);
    check_workspace(d);
    check_listing(d);
    check_store(d);
}

/* --- programs ------------------------------------------------------------- */

/* Checks another program of mapm, which is in mapm's own folder and never
 * searched on PATH. */
static void check_own(struct doctor *d, const char *program, const char *lacks)
{
    struct arena *a = &d->cx->arena;
    static const char *const folders[] = {"../libexec/mapm", "."};
    const struct str name = str_cstr(program);
    struct str dir;
    struct err e = {0};

    if (!proc_self_dir(a, &dir, &e)) {
        doctor_add_err(d, program_group, name, DOCTOR_BROKEN, &e);
        return;
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        struct str place = fs_join(dir, str_cstr(folders[i]), a);
        struct str path = fs_normalize(fs_join(place, name, a), a);

        if (access(str_dup0(path, a), X_OK) == 0) {
            doctor_add(d, program_group, name, DOCTOR_OK, "%.*s",
                       STR_ARG(path));
            return;
        }
    }
    doctor_add(d, program_group, name, DOCTOR_BROKEN,
               "not installed beside mapm in %.*s: %s", STR_ARG(dir), lacks);
    doctor_hint(d, "install mapm again: its programs belong together");
}

/* Returns true if a client's file in the workspace starts "mapm" without a
 * path. */
static bool names_mapm(const struct layer *l)
{
    if (l->project.server)
        return true;
    for (size_t i = 0; layer_starts_servers(l) && i < l->by_name.count; i++) {
        const struct lock_entry *entry = l->by_name.entries[i].value;

        if (entry->kind == DOC_MCP)
            return true;
    }
    return false;
}

/* Returns a client that runs with the PATH of the desktop session and has its
 * MCP file here, or NULL. */
static const struct client *find_graphical(struct doctor *d)
{
    for (size_t i = 0; i < clients_count; i++)
        if (clients_table[i].is_graphical && clients_table[i].mcp.path &&
            exists_below(d->layer.path, clients_table[i].mcp.path,
                         &d->cx->arena))
            return &clients_table[i];
    return NULL;
}

static void check_mapm(struct doctor *d)
{
    const struct str name = STR("mapm on PATH");
    const struct client *graphical;
    struct mapm_path path;

    if (!d->has_layer || !names_mapm(&d->layer))
        return;
    mapm_path_find(&d->cx->arena, &path);
    graphical = find_graphical(d);
    if (path.found.n == 0) {
        doctor_add(d, program_group, name, DOCTOR_WARN,
                   "the clients' files start mapm by its name, and it is not "
                   "on PATH");
        doctor_hint(d, "make install puts it there");
    } else if (graphical && !path.is_in_session) {
        doctor_add(d, program_group, name, DOCTOR_WARN,
                   "%.*s: %s, started from the desktop, may only look in %.*s",
                   STR_ARG(path.found), graphical->name, STR_ARG(path.session));
        doctor_hint(d, "sudo ln -s %.*s /usr/local/bin/mapm",
                    STR_ARG(path.found));
    } else {
        doctor_add(d, program_group, name, DOCTOR_OK, "%.*s",
                   STR_ARG(path.found));
    }
}

/* Lists statically linked libraries, whose security updates require a new
 * build. */
static void check_built_in(struct doctor *d)
{
    struct str left = STR(MAPM_LIBRARIES), name, version;

    while (str_cut(&left, ' ', &name) && str_cut(&left, ' ', &version))
        doctor_add(d, program_group, name, DOCTOR_OK, "%.*s, built in",
                   STR_ARG(version));
}

void doctor_check_programs(struct doctor *d)
{
    struct arena *a = &d->cx->arena;
    struct str path;
    struct err e = {0};

    doctor_add(d, program_group, STR("version"), DOCTOR_OK, "%s, %s",
               MAPM_VERSION, MAPM_CHANNEL);
    check_built_in(d);
    check_own(d, "mapm-fetch", "no network");
    check_own(d, "mapm-cage", "commands of metaskills cannot run");
    check_mapm(d);
    if (proc_find_program("git", NULL, a, &path, &e)) {
        doctor_add(d, program_group, STR("git"), DOCTOR_OK, "%.*s",
                   STR_ARG(path));
        return;
    }
    doctor_add(d, program_group, STR("git"), DOCTOR_MISSING,
               "not on PATH: no credential helpers, no mapm check --against");
    doctor_hint(d, "installing packages works without it");
}

/* --- policy --------------------------------------------------------------- */

/* Values of a setting, strictest first: a workspace may only move to a stricter
 * one. */
static const struct ladder {
    const char *name;
    const char *words[5];
    size_t usual; /* index of the default */
} ladders[] = {
    {"sandbox", {"on", "home", "off", NULL}, 0},
    {"metaskills", {"off", "local", "trusted", "all", NULL}, 2},
    {"keep", {"none", "summary", "full", NULL}, 1},
};
enum { LADDER_SANDBOX, LADDER_METASKILLS, LADDER_KEEP };

static size_t ladder_find(const struct ladder *l, struct str word, size_t other)
{
    for (size_t i = 0; l->words[i]; i++)
        if (str_is(word, l->words[i]))
            return i;
    return other;
}

/* Returns the effective value and sets its source. */
static const char *choose(const struct ladder *l, struct str user,
                          struct str workspace, const char **from)
{
    size_t own = ladder_find(l, user, l->usual);
    size_t there = ladder_find(l, workspace, SIZE_MAX);

    if (there < own) {
        *from = "mapm.yaml";
        return l->words[there];
    }
    *from = user.n ? "config.yaml" : "default";
    return l->words[own];
}

static void add_choice(struct doctor *d, size_t which, struct str user,
                       struct str workspace)
{
    const struct ladder *l = &ladders[which];
    const char *from, *word = choose(l, user, workspace, &from);

    doctor_add(d, policy_group, str_cstr(l->name), DOCTOR_OK, "%s (%s)", word,
               from);
}

/* --- isolation ------------------------------------------------------------ */

static void check_bubblewrap(struct doctor *d, const struct sandbox_support *w)
{
    if (w->bubblewrap.n == 0) {
        doctor_add(d, sandbox_group, STR("bubblewrap"), DOCTOR_MISSING,
                   "bwrap is not on PATH");
        doctor_hint(d, "install bubblewrap, which isolates commands");
    } else if (!w->namespaces) {
        doctor_add(d, sandbox_group, STR("bubblewrap"), DOCTOR_WARN,
                   "%.*s cannot be used: %.*s", STR_ARG(w->bubblewrap),
                   STR_ARG(w->why_not));
        if (w->hint.n)
            doctor_hint(d, "%.*s", STR_ARG(w->hint));
    } else {
        doctor_add(d, sandbox_group, STR("bubblewrap"), DOCTOR_OK, "%.*s",
                   STR_ARG(w->bubblewrap));
    }
}

static void check_kernel(struct doctor *d, const struct sandbox_support *w)
{
    if (w->landlock_abi == 0) {
        doctor_add(d, sandbox_group, STR("landlock"), DOCTOR_MISSING,
                   "this kernel does not have it, or has it switched off");
    } else if (w->landlock_abi < LANDLOCK_ABI_MIN) {
        doctor_add(d, sandbox_group, STR("landlock"), DOCTOR_WARN,
                   "ABI %d; alone it is enough from %d on", w->landlock_abi,
                   LANDLOCK_ABI_MIN);
    } else {
        doctor_add(d, sandbox_group, STR("landlock"), DOCTOR_OK, "ABI %d",
                   w->landlock_abi);
    }
    if (w->seccomp)
        doctor_add(d, sandbox_group, STR("seccomp"), DOCTOR_OK,
                   "system calls can be filtered");
    else
        doctor_add(d, sandbox_group, STR("seccomp"), DOCTOR_MISSING,
                   "this kernel cannot filter system calls");
}

void doctor_check_sandbox(struct doctor *d)
{
    const char *from, *word = choose(&ladders[LADDER_SANDBOX], d->user.sandbox,
                                     d->layer.project.sandbox, &from);
    struct sandbox_support w = {0};

    sandbox_probe(d->has_layer ? d->layer.path : d->cx->cwd, &d->cx->arena, &w);
    check_bubblewrap(d, &w);
    check_kernel(d, &w);
    if (str_is(str_cstr(word), "off")) {
        doctor_add(d, sandbox_group, STR("commands"), DOCTOR_WARN,
                   "run without any of these: policy.sandbox is off in %.*s",
                   STR_ARG(d->user_file));
    } else if (w.enough) {
        doctor_add(d, sandbox_group, STR("commands"), DOCTOR_OK, "can run");
    } else {
        doctor_add(d, sandbox_group, STR("commands"), DOCTOR_BROKEN,
                   "are refused: this machine cannot isolate them");
        if (w.hint.n)
            doctor_hint(d, "%.*s", STR_ARG(w.hint));
    }
}

/* --- rules ---------------------------------------------------------------- */

/* A workspace may always lower a setting, and raise it only once its rules are
 * accepted. */
static void check_network(struct doctor *d, const struct project *p,
                          bool accepted)
{
    const struct str name = STR("network");

    if (p->network == PROJECT_FALSE)
        doctor_add(d, policy_group, name, DOCTOR_OK, "false (mapm.yaml)");
    else if (d->user.network != PROJECT_UNSAID)
        doctor_add(d, policy_group, name, DOCTOR_OK, "%s (config.yaml)",
                   d->user.network == PROJECT_TRUE ? "true" : "false");
    else if (p->network == PROJECT_TRUE)
        doctor_add(d, policy_group, name, DOCTOR_OK, "%s",
                   accepted ? "true (mapm.yaml)"
                            : "false: that of mapm.yaml is not accepted");
    else
        doctor_add(d, policy_group, name, DOCTOR_OK, "false (default)");
}

static void count_rules(const struct project *p, size_t counts[2])
{
    for (size_t i = 0; i < p->rule_count; i++)
        counts[p->rules[i].allow]++;
}

/* Rules of the workspace take effect only when accepted. */
static bool is_accepted(struct doctor *d, const struct project *p,
                        bool *is_needed)
{
    struct store *store = NULL;
    struct trust_request q = {.kind = STATE_TRUST_POLICY,
                              .subject = d->layer.path};
    struct str home;
    struct err e = {0};
    enum trust_state state;
    bool accepted;

    *is_needed = project_policy_digest(p, &q.digest);
    if (!*is_needed || !store_find_home(&d->cx->arena, &home, &e) ||
        !exists_below(home, "store", &d->cx->arena) ||
        !store_open(home, &store, &e))
        return false;
    accepted =
        authorize_trust(d->cx, store, &q, &state, &e) && state == TRUST_GIVEN;
    store_close(store);
    return accepted;
}

static void check_rules(struct doctor *d, const struct project *p,
                        bool is_needed, bool accepted)
{
    size_t user[2] = {0, 0}, workspace[2] = {0, 0};

    count_rules(&d->user, user);
    count_rules(p, workspace);
    if (d->user.rule_count + p->rule_count == 0) {
        doctor_add(d, policy_group, STR("commands"), DOCTOR_OK,
                   "no rules: each is asked about on a terminal, and denied "
                   "without one");
        return;
    }
    doctor_add(d, policy_group, STR("commands"),
               is_needed && !accepted ? DOCTOR_WARN : DOCTOR_OK,
               "%zu allowed and %zu denied by config.yaml, %zu and %zu by "
               "mapm.yaml%s",
               user[true], user[false], workspace[true], workspace[false],
               !is_needed ? ""
               : accepted ? ", which is accepted"
                          : ", whose rights are not accepted yet");
    if (is_needed && !accepted)
        doctor_hint(d, "read policy: in mapm.yaml; mapm trust --workspace "
                       "accepts it");
}

void doctor_check_policy(struct doctor *d)
{
    static const struct project none;
    const struct project *p = d->has_layer ? &d->layer.project : &none;
    bool is_needed = false, accepted = is_accepted(d, p, &is_needed);

    add_choice(d, LADDER_SANDBOX, d->user.sandbox, p->sandbox);
    check_network(d, p, accepted);
    add_choice(d, LADDER_METASKILLS, d->user.metaskills, p->metaskills);
    add_choice(d, LADDER_KEEP, d->user.keep, p->keep);
    check_rules(d, p, is_needed, accepted);
}
