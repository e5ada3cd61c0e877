#include "base/env.h"
#include "base/fs.h"
#include "base/proc.h"
#include "mapm/clients.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Determines the user-level paths of a client, and whether it is installed
 * on this machine. */

/* Returns the part of `path` below `folder`, "" for the folder itself; p is
 * NULL if it is not below. */
static struct str path_below(struct str path, struct str folder)
{
    if (!folder.n)
        return path;
    if (!str_starts(path, folder))
        return (struct str){0};
    path = str_from_index(path, folder.n);
    if (!path.n)
        return STR("");
    return path.p[0] == '/' ? str_from_index(path, 1) : (struct str){0};
}

static bool put_below(struct str folder, struct str rest, struct arena *a,
                      struct str *out, struct err *e)
{
    if (folder.n == 0)
        return err_set(e, ERR_REFUSED,
                       "HOME is not set to an absolute path: there is no "
                       "folder of a user");
    *out = rest.n ? fs_join(folder, rest, a) : arena_str(a, folder);
    return true;
}

static struct str moved_folder(const struct client *c)
{
    return c->home_env.name ? env_get(c->home_env.name) : STR("");
}

bool clients_home_path(const struct client *c, const char *path,
                       struct str home, struct arena *a, struct str *out,
                       struct err *e)
{
    struct str moved = moved_folder(c), rest;

    if (moved.n) {
        rest = path_below(str_cstr(path), str_cstr(c->home_env.is));
        if (rest.p && moved.p[0] != '/') {
            err_set(e, ERR_REFUSED, "%s is \"%.*s\", a relative path",
                    c->home_env.name, STR_ARG(moved));
            return err_hint(e, "set it to an absolute path, or not at all");
        }
        if (rest.p)
            return put_below(moved, rest, a, out, e);
    }
    rest = path_below(str_cstr(path), STR(".config"));
    if (rest.p)
        return put_below(env_config_folder(home, a), rest, a, out, e);
    return put_below(home, str_cstr(path), a, out, e);
}

static bool is_there(struct str path)
{
    struct stat st;

    return lstat(path.p, &st) == 0;
}

bool clients_user_file_at(const struct client *c, const char *path,
                          struct str home, struct arena *a, struct str *out,
                          struct err *e)
{
    if (c->mcp_user.moved && moved_folder(c).n)
        path = arena_printf(a, "%s/%s", c->home_env.is, c->mcp_user.moved).p;
    return clients_home_path(c, path, home, a, out, e);
}

bool clients_is_here(const struct client *c, int root)
{
    for (size_t i = 0; i < CLIENT_MAX_MARKERS && c->markers[i]; i++)
        if (fs_exists_at(root, c->markers[i]))
            return true;
    return false;
}

bool clients_is_on_machine(const struct client *c, struct str home,
                           bool (*is_ours)(void *ctx, struct str path),
                           void *ctx)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err ignored = {0};
    struct str path;

    if (moved_folder(c).n)
        return true;
    for (size_t i = 0; i < CLIENT_MAX_PATHS && c->home[i]; i++)
        if (clients_home_path(c, c->home[i], home, &a, &path, &ignored) &&
            is_there(path) && !(is_ours && is_ours(ctx, path)))
            return true;
    for (size_t i = 0; i < CLIENT_MAX_PROGRAMS && c->programs[i]; i++)
        if (proc_find_program(c->programs[i], NULL, &a, &path, &ignored))
            return true;
    return false;
}
