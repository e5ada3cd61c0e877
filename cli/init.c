#include "base/fs.h"
#include "base/json.h"
#include "base/place.h"
#include "base/proc.h"
#include "mapm/authorize.h"
#include "mapm/install_gitignore.h"

#include <unistd.h>

#include "command.h"

/* init: starts a workspace with a commented mapm.yaml. */

#define FILE_NAME "mapm.yaml"

static const char text[] =
    "# The agents, skills and MCP servers that this project uses. Commit this\n"
    "# file together with mapm.lock.\n"
    "#\n"
    "# `mapm install ORIGIN` adds a line below and installs it with all that "
    "it\n"
    "# needs; `mapm install` alone brings the workspace in step with this "
    "file.\n"
    "# An origin is https://github.com/OWNER/REPOSITORY/tree/REF/PATH.\n"
    "dependencies:\n"
    "  agents: []\n"
    "  skills: []\n"
    "  mcps: []\n"
    "\n"
    "# Clients to serve besides those whose folder is in this project:\n"
    "# clients: [claude, codex]\n"
    "\n"
    "# Packages may come from these places alone:\n"
    "# policy:\n"
    "#   sources: [github.com/acme/*]\n";

/* A path that an editor takes as it stands. */
static bool is_plain(struct str path)
{
    for (size_t i = 0; i < path.n; i++)
        if ((unsigned char)path.p[i] <= ' ' || path.p[i] == 0x7f)
            return false;
    return true;
}

/*
 * The comment that names the schema to editors, where it is installed; a URL
 * would be of no use without a network [S9]. The file is committed: it says
 * nothing of the home of the user, where others have another one.
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

static void say_json(struct invocation *inv, struct str path, bool created)
{
    struct json_writer *w = print_json_begin(inv, "mapm.init/1", NULL);

    json_member_string(w, "path", path);
    json_member_bool(w, "created", created);
    print_json_end(inv);
}

static void say(struct invocation *inv, struct str path, bool created)
{
    if (has_option(inv, OPTION_JSON))
        say_json(inv, path, created);
    else
        term_print(&inv->term, "%s %.*s\n", created ? "wrote" : "kept",
                   STR_ARG(path));
    if (created)
        term_note(&inv->term, "next: mapm install ORIGIN, or mapm new skill "
                              "NAME to write one");
    else
        term_note(&inv->term, "it was there already: nothing was changed");
}

static void say_ignored(struct invocation *inv,
                        const struct install_gitignore *found)
{
    struct json_writer *w;

    if (!has_option(inv, OPTION_JSON)) {
        for (size_t i = 0; i < found->count; i++)
            term_print(&inv->term, "  + /%.*s\n", STR_ARG(found->missing[i]));
        term_note(&inv->term, "%s",
                  found->count ? "wrote .gitignore"
                               : "nothing to add: git tracks or ignores it");
        return;
    }
    w = print_json_begin(inv, "mapm.init/1", "gitignore");
    json_member_string(w, "path", STR(".gitignore"));
    json_member_bool(w, "changed", found->count > 0);
    json_member_strings(w, "added", found->missing, found->count);
    print_json_end(inv);
}

static bool add_gitignore(struct invocation *inv, struct err *e)
{
    struct install_gitignore found;

    if (inv->arguments.count)
        return err_set(e, ERR_USAGE,
                       "--gitignore takes no folder: -C DIR does");
    if (!install_find_gitignore(&inv->cx, &found, e) ||
        !install_write_gitignore(&inv->cx, &found, e))
        return err_wrap(e, "cannot add to .gitignore");
    say_ignored(inv, &found);
    return true;
}

bool command_init(struct invocation *inv, int *exit_code, struct err *e)
{
    CLEANUP_FD int fd = -1;
    struct str named =
        inv->arguments.count ? inv->arguments.items[0] : STR(".");
    struct str dir = fs_normalize(fs_join(inv->cx.cwd, named, &inv->cx.arena),
                                  &inv->cx.arena);
    bool is_there;

    *exit_code = EXIT_DONE;
    if (has_option(inv, OPTION_GITIGNORE))
        return add_gitignore(inv, e);
    if (named.n == 0)
        return err_set(e, ERR_USAGE, "the folder's name is empty");
    if (!fs_make_dirs(dir.p, 0755, e) || !fs_open_dir(dir.p, &fd, e))
        return err_wrap(e, "cannot start a workspace in %.*s", STR_ARG(named));
    if (!authorize_file(&inv->cx, fd, dir, dir, e))
        return false;
    is_there = fs_exists_at(fd, FILE_NAME);
    if (!is_there &&
        !place_file(
            fd, FILE_NAME,
            str_join(schema_line(&inv->cx), str_cstr(text), &inv->cx.arena), e))
        return err_wrap(e, "cannot start a workspace in %.*s", STR_ARG(named));
    say(inv,
        str_is(named, ".") ? STR(FILE_NAME)
                           : fs_join(named, STR(FILE_NAME), &inv->cx.arena),
        !is_there);
    return true;
}
