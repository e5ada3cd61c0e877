#include "client_show.h"
#include "command.h"

/* mapm client: the clients that the workspace provisions [H7]. */

/* --- list ----------------------------------------------------------------- */

static void print_row(struct term *t, const struct install_client *c,
                      struct arena *a)
{
    term_print(t, "%-17s %-7s %-8s", c->client->name,
               c->is_used ? "in use" : "-", c->is_on_machine ? "machine" : "-");
    term_print(t, "%.*s%s\n", STR_ARG(install_client_sight(c, a)),
               clients_is_verified(c->client) ? "" : " (unverified)");
}

/* Returns whether to list the client; without -v, clients that are neither in
 * use nor on this machine are omitted. */
static bool is_shown(const struct invocation *inv,
                     const struct install_client *c)
{
    return inv->cx.is_verbose || c->is_used || c->is_here || c->is_on_machine;
}

static bool list(struct invocation *inv, struct err *e)
{
    struct install_clients all;

    if (!install_list_clients(&inv->cx, &all, e))
        return false;
    if (has_option(inv, OPTION_JSON)) {
        struct json_writer *w = print_json_begin(inv, "mapm.client/1", "list");

        json_member_string(w, "workspace", all.workspace);
        json_member_bool(w, "decided", all.is_decided);
        client_put_json(w, &(struct install_client_view){.items = all.items}, 1,
                        inv->cx.is_verbose);
        print_json_end(inv);
        return true;
    }
    for (size_t i = 0; i < clients_count; i++)
        if (is_shown(inv, &all.items[i]))
            print_row(&inv->term, &all.items[i], &inv->cx.arena);
    return true;
}

/* --- add, remove ------------------------------------------------------------ */

/* Reports changed names: adding "-x" excludes x, removing "-x" includes it. */
static void note_names(struct term *t, struct str_list names, const char *file,
                       bool add)
{
    for (size_t i = 0; i < names.count; i++) {
        bool is_out = str_starts(names.items[i], STR("-"));

        term_note(t,
                  add == is_out ? "removed %.*s from %s" : "added %.*s to %s",
                  STR_ARG(names.items[i]), file);
    }
}

static const struct json_member edit_members[] = {
    JSON_MEMBER(struct install_clients_edit, "mapm_yaml", workspace),
    JSON_MEMBER(struct install_clients_edit, "config_yaml", user),
};
JSON_RECORD(edit, struct install_clients_edit);

static bool change(struct invocation *inv, bool add, struct err *e)
{
    struct str_list names = argument_list(inv, 1);
    enum install_clients_file file =
        has_option(inv, OPTION_TEAM)     ? CLIENTS_WORKSPACE
        : has_option(inv, OPTION_GLOBAL) ? CLIENTS_USER
                                         : CLIENTS_BY_MARKER;
    const char *word = add ? "add" : "remove";
    struct install_clients_edit edit;

    inv->cx.use_global = false; /* -g says which file */
    if (!install_edit_clients(&inv->cx, names, add, file, &edit, e))
        return false;
    if (has_option(inv, OPTION_JSON)) {
        print_json_record(inv, "mapm.client/1", word, &edit_record, &edit);
        return true;
    }
    note_names(&inv->term, edit.workspace, "mapm.yaml", add);
    note_names(&inv->term, edit.user, "config.yaml", add);
    term_note(&inv->term, edit.workspace.count + edit.user.count
                              ? "mapm install brings their folders up to date"
                              : "nothing to do");
    return true;
}

COMMAND(command_client)
{
    const char *word = inv->word->name;

    if (has_option(inv, OPTION_TEAM) && has_option(inv, OPTION_GLOBAL))
        return err_set(e, ERR_USAGE,
                       "--team and --global exclude each other: take one");
    return strcmp(word, "list") == 0 ? list(inv, e)
                                     : change(inv, strcmp(word, "add") == 0, e);
}
