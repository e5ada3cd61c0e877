#include "base/json_record.h"
#include "mapm/doc_kind.h"
#include "mapm/install_query.h"
#include "mapm/package_text.h"

#include "install_show.h"

/* outdated: lists the packages that an update would change. */

#define AVAILABLE_MAX_SHOWN 20 /* per catalog */

static struct str state_of(const void *value)
{
    const struct install_moved *m = value;

    return m->is_gone     ? STR("gone")
           : m->is_beyond ? STR("beyond-range")
                          : STR("changed");
}

static const struct json_member moved_members[] = {
    JSON_MEMBER_NAMED(struct install_moved, "type", kind, doc_kind_name),
    JSON_MEMBER(struct install_moved, "name", name),
    JSON_MEMBER(struct install_moved, "origin", origin),
    JSON_MEMBER_TEXT("state", state_of),
    JSON_MEMBER_OR_NULL(struct install_moved, "ref", ref),
    JSON_MEMBER_OR_NULL(struct install_moved, "locked", locked),
    JSON_MEMBER_OR_NULL(struct install_moved, "current", current),
    JSON_MEMBER_OR_NULL(struct install_moved, "version", version),
    JSON_MEMBER_OR_NULL(struct install_moved, "new_version", new_version),
    JSON_MEMBER_OR_NULL(struct install_moved, "message", message),
    JSON_MEMBER_OR_NULL(struct install_moved, "moved_to", place_now.origin),
    JSON_MEMBER_OR_NULL(struct install_moved, "tag", tag),
    JSON_MEMBER_OR_NULL(struct install_moved, "newest", newest),
};
JSON_RECORD(moved, struct install_moved);

static const struct json_member available_members[] = {
    JSON_MEMBER_NAMED(struct install_available, "type", kind, doc_kind_name),
    JSON_MEMBER(struct install_available, "name", name),
    JSON_MEMBER(struct install_available, "origin", origin),
    JSON_MEMBER(struct install_available, "catalog", catalog),
};
JSON_RECORD(available, struct install_available);

static const struct json_member outdated_members[] = {
    JSON_MEMBER_RECORDS(struct install_outdated, "packages", moved, count,
                        moved_record),
    JSON_MEMBER_RECORDS(struct install_outdated, "available", available,
                        available_count, available_record),
};
JSON_RECORD(outdated, struct install_outdated);

/* Reports newly available packages, grouped by catalog. */
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

/* Prints the locked, allowed and newest version of a range. */
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
        struct str old = package_version(m->version, m->locked, m->origin, a);
        struct str new = m->is_gone ? STR("gone")
                                    : package_version(m->new_version,
                                                      m->current, m->origin, a);

        term_print(&inv->term, "%-5s %-32.*s %.*s -> %.*s%s%.*s\n",
                   doc_kind_name(m->kind), STR_ARG(m->name), STR_ARG(old),
                   STR_ARG(new), m->ref.n ? "  " : "", STR_ARG(m->ref));
        if (!m->is_gone)
            continue;
        term_note(&inv->term, "  %.*s: %.*s", STR_ARG(m->name),
                  STR_ARG(m->message));
        if (m->place_now.origin.n)
            term_note(&inv->term, "  %s %.*s",
                      install_moved_words(&m->place_now),
                      STR_ARG(m->place_now.origin));
    }
}

COMMAND(command_outdated)
{
    bool is_json = has_option(inv, OPTION_JSON);
    struct str_list names = argument_list(inv, 0);
    struct install_outdated o;

    if (!install_outdated(&inv->cx, &names, &o, e))
        return false;
    if (!is_json)
        print_table(inv, &o);
    else if (!o.problem)
        print_json_record(inv, "mapm.outdated/1", NULL, &outdated_record, &o);
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
