#include "base/buf.h"
#include "base/embed.h"
#include "base/env.h"
#include "base/fs.h"
#include "base/path.h"
#include "mapm/clients.h"

#include <unistd.h>

#include "sandbox.h"

/* --- tables ------------------------------------------------------------------ */

EMBED(sandbox_hidden, "runtime/sandbox_hidden.list");

/* Folders with files of other users, sockets and removable media. */
static const char *const hidden[] = {
    "/home", "/root", "/run", "/mnt", "/media",
};

/* The XDG folders, both as configured and at their defaults. */
static const struct {
    const char *variable, *usual;
} xdg[] = {
    {"XDG_CONFIG_HOME", ".config/"},
    {"XDG_DATA_HOME", ".local/share/"},
    {"XDG_CACHE_HOME", ".cache/"},
    {"XDG_STATE_HOME", ".local/state/"},
};

/* Folders of a home that contain more than one tool. */
static const char *const mixed[] = {
    ".local", ".config", ".cache", ".var", ".ssh", ".gnupg",
};

/* --- hidden paths ------------------------------------------------------- */

struct str sandbox_home(struct arena *a)
{
    struct str home = path_real(env_folder("HOME"), a);

    return str_is(home, "/") ? STR("") : home;
}

/* An unreadable path need not be hidden, and a mount costs time. */
static void hide(struct sandbox_job *job, struct str path)
{
    if (path.n && access(str_dup0(path, job->places.arena), R_OK) == 0)
        places_add(&job->places, PLACE_HIDDEN, path);
}

static void hide_secret(struct sandbox_job *job, struct str home,
                        struct str name)
{
    struct arena *a = job->places.arena;

    if (home.n)
        hide(job, fs_join(home, name, a));
    for (size_t k = 0; k < COUNT(xdg); k++) {
        struct str usual = str_cstr(xdg[k].usual);
        struct str moved = env_folder(xdg[k].variable);

        if (moved.n && str_starts(name, usual))
            hide(job, fs_join(moved, str_from_index(name, usual.n), a));
    }
}

static void hide_secrets_of(struct sandbox_job *job, struct str home)
{
    struct str rest = str_cstr(sandbox_hidden), line;

    while (str_line(&rest, &line)) {
        if (!line.n || *line.p == '#')
            continue;
        if (*line.p == '/')
            hide(job, line);
        else if (*line.p == '$')
            hide(job, env_folder(str_dup0(str_from_index(line, 1),
                                          job->places.arena)));
        else
            hide_secret(job, home, line);
    }
    for (size_t i = 0; i < clients_count; i++) {
        const struct client *c = &clients_table[i];

        if (c->secret_variable)
            hide(job, env_folder(c->secret_variable));
        for (size_t k = 0; k < CLIENT_MAX_PATHS && c->secrets[k]; k++)
            hide_secret(job, home, str_cstr(c->secrets[k]));
    }
}

static void hide_all(struct sandbox_job *job, struct str home)
{
    for (size_t i = 0; i < COUNT(hidden); i++)
        places_add(&job->places, PLACE_HIDDEN, str_cstr(hidden[i]));
    hide_secrets_of(job, home);
    if (job->mode == SANDBOX_HOME) {
        places_add(&job->places, PLACE_READ, home);
        return;
    }
    places_add(&job->places, PLACE_HIDDEN, home);
    for (size_t i = 0; i < COUNT(xdg); i++)
        hide(job, env_folder(xdg[i].variable));
}

/* --- what PATH needs --------------------------------------------------------------- */

struct str sandbox_path(const struct sandbox_job *job, struct arena *a,
                        void (*visit)(void *ctx, struct str real), void *ctx)
{
    struct str rest = env_get("PATH"), folder;
    struct buf path;
    struct str result;

    buf_init(&path, 1u << 20);
    while (rest.p && str_cut(&rest, ':', &folder)) {
        struct str real = path_real(folder, a);

        if (!real.n || fs_path_is_within(real, job->workspace))
            continue;
        if (visit)
            visit(ctx, real);
        /* A link in a hidden folder is not visible, so its target is used. */
        if (places_lookup(&job->places, folder) <= PLACE_SCRATCH)
            folder = real;
        if (path.n)
            buf_char(&path, ':');
        buf_append(&path, folder);
    }
    if (!path.n || path.overflowed) {
        buf_clear(&path);
        buf_text(&path, "/usr/local/bin:/usr/bin:/bin");
    }
    result = arena_str(a, buf_str(&path));
    buf_done(&path);
    return result;
}

static struct str parent_of(struct str path)
{
    return str_slice(path, 0, str_find_last(path, '/'));
}

/*
 * The installation around a folder of programs: for ~/.nvm/versions/x/bin all
 * of ~/.nvm, for ~/tools/bin all of ~/tools, for ~/.local/bin and ~/bin just
 * these.
 */
static struct str tool_root(struct str folder, struct str home, struct arena *a)
{
    struct str inside, first, above = parent_of(folder);

    if (home.n && folder.n > home.n && fs_path_is_within(folder, home)) {
        inside = str_from_index(folder, home.n + 1);
        first = str_slice(inside, 0, str_find_char(inside, '/'));
        if (str_starts(first, STR("."))) {
            return STR_IS_ONE_OF(first, mixed) ? folder
                                               : fs_join(home, first, a);
        }
    }
    if (!str_is(path_last(folder), "bin") || !above.n ||
        fs_path_is_within(home, above) || str_is(path_last(above), ".local"))
        return folder;
    return above;
}

struct needs {
    struct sandbox_job *job;
    struct str home;
};

static void need(void *ctx, struct str folder)
{
    struct needs *n = ctx;
    struct str root, workspace = n->job->workspace;

    /* It would expose folders beside the workspace, or a whole home. */
    if (fs_path_is_within(workspace, folder) ||
        fs_path_is_within(n->home, folder))
        return;
    root = tool_root(folder, n->home, n->job->places.arena);
    if (fs_path_is_within(workspace, root))
        root = folder;
    places_add(&n->job->places, PLACE_READ, root);
}

/* --- all of it ----------------------------------------------------------------- */

void sandbox_view(struct sandbox_job *job)
{
    struct arena *a = job->places.arena;
    struct needs n = {.job = job, .home = sandbox_home(a)};
    struct places *p = &job->places;
    struct str real = path_real(job->program, a);

    if (job->way == SANDBOX_NONE)
        return;
    hide_all(job, n.home);
    places_add(p, PLACE_SCRATCH, STR("/tmp"));
    places_add(p, PLACE_SCRATCH, STR("/var/tmp"));
    places_add(p, PLACE_SCRATCH, STR("/dev/shm"));
    if (job->way == SANDBOX_HELPER) { /* mounts of the host, not new ones */
        places_add(p, PLACE_HIDDEN, STR("/dev"));
        places_add(p, PLACE_HIDDEN, STR("/proc"));
    }
    (void)sandbox_path(job, a, need, &n);
    if (!fs_path_is_within(real, job->workspace))
        need(&n, parent_of(real));
    places_add(p, PLACE_READ, real);
    if (job->network)
        places_add(p, PLACE_READ, STR("/etc/resolv.conf"));
    places_add(p, PLACE_READ, job->helper);
    places_add(p, PLACE_WRITE, job->workspace);
    places_normalize(p);
}
