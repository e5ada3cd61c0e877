#include "base/json.h"
#include "mapm/doc_kind.h"
#include "mapm/install_query.h"

#include "install_show.h"

/* outdated: what an update would change. */

#define AVAILABLE_MAX_SHOWN 20 /* of a catalog */

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
        json_member_string(w, "state",
                           m->is_gone     ? STR("gone")
                           : m->is_beyond ? STR("beyond-range")
                                          : STR("changed"));
        json_member_optional(w, "ref", m->ref);
        json_member_optional(w, "locked", m->locked);
        json_member_optional(w, "current", m->current);
        json_member_optional(w, "version", m->version);
        json_member_optional(w, "new_version", m->new_version);
        json_member_optional(w, "message", m->message);
        json_member_optional(w, "tag", m->tag);
        json_member_optional(w, "newest", m->newest);
        json_end_object(w);
    }
    json_end_array(w);
    json_member_array(w, "available");
    for (size_t i = 0; i < o->available_count; i++) {
        json_begin_object(w);
        json_member_string(w, "type",
                           str_cstr(doc_kind_name(o->available[i].kind)));
        json_member_string(w, "name", o->available[i].name);
        json_member_string(w, "origin", o->available[i].origin);
        json_member_string(w, "catalog", o->available[i].catalog);
        json_end_object(w);
    }
    json_end_array(w);
    print_json_end(inv);
}

/* Those of one catalog stand together. */
static void note_available(struct invocation *inv,
                           const struct install_outdated *o)
{
    struct term *t = &inv->term;
    bool each = has_option(inv, OPTION_VERBOSE);

    for (size_t i = 0, run; i < o->available_count; i += run) {
        const struct install_available *first = &o->available[i];
        CLEANUP(buf_done) struct buf b = {0};

        buf_init(&b, 64 * 1024);
        for (run = 0; i + run < o->available_count &&
                      str_eq(first[run].catalog, first->catalog);
             run++)
            if (each || run < AVAILABLE_MAX_SHOWN)
                buf_printf(&b, "%s%s %.*s", run ? ", " : "",
                           doc_kind_name(first[run].kind),
                           STR_ARG(first[run].name));
        if (!each && run > AVAILABLE_MAX_SHOWN)
            buf_printf(&b, " and %zu more (-v names them)",
                       run - AVAILABLE_MAX_SHOWN);
        term_note(t, "new in the catalog %.*s: %.*s", STR_ARG(first->catalog),
                  STR_ARG(buf_str(&b)));
    }
    if (o->available_count)
        term_note(t, "mapm update adds %s",
                  o->available_count > 1 ? "them" : "it");
}

/* Of a range: locked, allowed, newest. */
static void print_versions(struct invocation *inv,
                           const struct install_moved *m)
{
    struct str allowed = m->is_beyond ? m->tag : m->ref;

    term_print(&inv->term, "%-5s %-32.*s %.*s -> %.*s -> %.*s%s\n",
               doc_kind_name(m->kind), STR_ARG(m->name), STR_ARG(m->tag),
               STR_ARG(allowed), STR_ARG(m->newest),
               m->is_beyond ? "  not in its range" : "");
}

static void print_table(struct invocation *inv,
                        const struct install_outdated *o)
{
    struct arena *a = &inv->cx.arena;

    for (size_t i = 0; i < o->count; i++) {
        const struct install_moved *m = &o->moved[i];

        if (m->tag.n && !m->is_gone) {
            print_versions(inv, m);
            continue;
        }
        struct str old =
            install_shown_version(m->version, m->locked, m->origin, a);
        struct str new = m->is_gone
                             ? STR("gone")
                             : install_shown_version(m->new_version, m->current,
                                                     m->origin, a);

        term_print(&inv->term, "%-5s %-32.*s %.*s -> %.*s%s%.*s\n",
                   doc_kind_name(m->kind), STR_ARG(m->name), STR_ARG(old),
                   STR_ARG(new), m->ref.n ? "  " : "", STR_ARG(m->ref));
        if (m->is_gone)
            term_note(&inv->term, "  %.*s: %.*s", STR_ARG(m->name),
                      STR_ARG(m->message));
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
    *exit_code = o.count > o.beyond_count ? EXIT_FINDINGS : EXIT_DONE;
    if (o.problem) {
        *e = *o.problem;
        return false;
    }
    if (!is_json)
        note_available(inv, &o);
    if (o.count == 0 && !is_json)
        term_note(&inv->term, "nothing has changed");
    return true;
}
