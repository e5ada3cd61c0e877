#include "base/embed.h"
#include "base/fs.h"
#include "base/place.h"
#include "base/proc.h"
#include "mapm/authorize.h"
#include "mapm/scaffold.h"

#include <unistd.h>

#define FILE_NAME SCAFFOLD_WORKSPACE_FILE

EMBED(new_workspace, "scaffold/templates/mapm.yaml");

/* Returns true for a path that editors accept unescaped. */
static bool is_plain(struct str path)
{
    for (size_t i = 0; i < path.n; i++)
        if ((unsigned char)path.p[i] <= ' ' || path.p[i] == 0x7f)
            return false;
    return true;
}

/*
 * Returns a comment with the path of the installed schema for editors; a URL
 * would not work without a network [S9]. The file is committed, so it contains
 * no path in the user's home.
 */
static struct str schema_line(struct context *cx)
{
    struct arena *a = &cx->arena;
    struct err ignored = {0};
    struct str dir, path;

    if (!proc_self_dir(a, &dir, &ignored))
        return STR("");
    path = fs_normalize(
        fs_join(dir, STR("../share/mapm/schemas/" FILE_NAME ".json"), a), a);
    if (!is_plain(path) || access(str_dup0(path, a), R_OK) != 0 ||
        (cx->home.n && fs_path_is_within(path, cx->home)))
        return STR("");
    return arena_printf(a, "# yaml-language-server: $schema=%.*s\n",
                        STR_ARG(path));
}

bool scaffold_workspace(struct context *cx, struct str folder, bool *is_new,
                        struct err *e)
{
    struct arena *a = &cx->arena;
    struct str dir = fs_normalize(fs_join(cx->cwd, folder, a), a), text;
    CLEANUP_FD int fd = -1;

    if (!fs_make_dirs(dir.p, 0755, e) || !fs_open_dir(dir.p, &fd, e))
        return err_wrap(e, "cannot start a workspace in %.*s", STR_ARG(folder));
    if (!authorize_file(cx, fd, dir, dir, e))
        return false;
    *is_new = !fs_exists_at(fd, FILE_NAME);
    text = str_join(schema_line(cx), str_cstr(new_workspace), a);
    return !*is_new || place_file(fd, FILE_NAME, text, e) ||
           err_wrap(e, "cannot start a workspace in %.*s", STR_ARG(folder));
}
