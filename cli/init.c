#include "base/fs.h"
#include "base/json.h"
#include "mapm/install_gitignore.h"
#include "mapm/scaffold.h"

#include "command.h"

/* init: starts a workspace with a commented mapm.yaml. */

static void print_created(struct invocation *inv, struct str path, bool created)
{
    struct json_writer *w = print_json_begin(inv, "mapm.init/1", NULL);

    json_member_string(w, "path", path);
    json_member_bool(w, "created", created);
    print_json_end(inv);
}

static void print_result(struct invocation *inv, struct str path, bool created)
{
    if (has_option(inv, OPTION_JSON))
        print_created(inv, path, created);
    else
        term_print(&inv->term, "%s %.*s\n", created ? "wrote" : "kept",
                   STR_ARG(path));
    if (created)
        term_note(&inv->term, "next: mapm install ORIGIN, or mapm new skill "
                              "NAME to write one");
    else
        term_note(&inv->term, "it was there already: nothing was changed");
}

static void print_ignored(struct invocation *inv,
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
    print_ignored(inv, &found);
    return true;
}

COMMAND(command_init)
{
    struct str folder =
        inv->arguments.count ? inv->arguments.items[0] : STR(".");
    struct str path = STR(SCAFFOLD_WORKSPACE_FILE);
    bool is_new;

    if (has_option(inv, OPTION_GITIGNORE))
        return add_gitignore(inv, e);
    if (folder.n == 0)
        return err_set(e, ERR_USAGE, "the folder's name is empty");
    if (!scaffold_workspace(&inv->cx, folder, &is_new, e))
        return false;
    if (!str_is(folder, "."))
        path = fs_join(folder, path, &inv->cx.arena);
    print_result(inv, path, is_new);
    return true;
}
