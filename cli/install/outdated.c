#include "base/json.h"
#include "mapm/doc_kind.h"
#include "mapm/install_query.h"

#include "../command.h"

/* outdated: which refs have moved. */

static void print_json_table(struct invocation *inv,
                             const struct install_outdated *o)
{
    struct json_writer *w = print_json_begin(inv, "mapm.outdated/1", NULL);

    json_member_array(w, "packages");
    for (size_t i = 0; i < o->count; i++) {
        const struct install_moved *m = &o->moved[i];

        json_begin_object(w);
        json_member_string(w, "type", str_cstr(doc_kind_name(m->kind)));
        json_member_string(w, "name", m->name);
        json_member_string(w, "origin", m->origin);
        json_member_string(w, "ref", m->ref);
        json_member_string(w, "locked", m->locked);
        json_member_string(w, "current", m->current);
        json_end_object(w);
    }
    json_end_array(w);
    print_json_end(inv);
}

static void print_table(struct invocation *inv,
                        const struct install_outdated *o)
{
    for (size_t i = 0; i < o->count; i++) {
        const struct install_moved *m = &o->moved[i];

        term_print(&inv->term, "%-6s%-32.*s %.*s -> %.*s  %.*s\n",
                   doc_kind_name(m->kind), STR_ARG(m->name),
                   STR_ARG(str_slice(m->locked, 0, 10)),
                   STR_ARG(str_slice(m->current, 0, 10)), STR_ARG(m->ref));
    }
}

COMMAND(command_outdated)
{
    bool is_json = has_option(inv, OPTION_JSON);
    struct install_outdated o;

    if (!install_outdated(&inv->cx, &o, e))
        return false;
    if (!is_json)
        print_table(inv, &o);
    else if (!o.problem)
        print_json_table(inv, &o);
    *exit_code = o.count ? EXIT_FINDINGS : EXIT_DONE;
    if (o.problem) {
        *e = *o.problem;
        return false;
    }
    if (o.count == 0 && !is_json)
        term_note(&inv->term, "no ref has moved");
    return true;
}
