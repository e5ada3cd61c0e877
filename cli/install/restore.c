#include "mapm/install_diff.h"

#include "../command.h"

/* restore: undoes local edits of packages. */

static void print_restored_json(struct invocation *inv,
                                const struct install_restoration *r,
                                bool dry_run)
{
    struct json_writer *w = print_json_begin(inv, "mapm.restore/1", NULL);

    json_member_string(w, "workspace", r->workspace);
    json_member_bool(w, "dry_run", dry_run);
    json_member_array(w, "restored");
    for (size_t i = 0; i < r->count; i++)
        json_string(w, r->changes[i].path);
    json_end_array(w);
    json_member_optional(w, "backup", r->backup);
    print_json_end(inv);
}

static void print_restored(struct invocation *inv,
                           const struct install_restoration *r, bool dry_run)
{
    struct term *t = &inv->term;

    for (size_t i = 0; i < r->count; i++)
        term_print(t, "%s%.*s\n", dry_run ? "would restore " : "restored ",
                   STR_ARG(r->changes[i].path));
    if (r->count == 0)
        term_note(t, "nothing was edited");
    if (r->backup.n)
        term_note(t, "what was there before is in %.*s", STR_ARG(r->backup));
}

COMMAND(command_restore)
{
    const struct str_list names = {inv->arguments.items, inv->arguments.count};
    bool dry_run = has_option(inv, OPTION_DRY_RUN);
    struct install_restoration r;

    if (!install_restore(&inv->cx, names, dry_run, &r, e))
        return false;
    if (has_option(inv, OPTION_JSON))
        print_restored_json(inv, &r, dry_run);
    else
        print_restored(inv, &r, dry_run);
    return true;
}
