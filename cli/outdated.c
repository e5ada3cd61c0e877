
#include "base/json.h"
#include "mapm/install.h"
#include "mapm/open_store.h"

#include <string.h>

#include "command.h"

/* One ls-refs a repository, all at once: which refs have moved. */

struct moved {
    const struct lock_entry *entry;
    struct origin origin;
    struct str ref, commit;
    struct err *failed;
};

static size_t list_asks(struct invocation *inv, const struct layer *l,
                        struct moved **out, struct err *e)
{
    const struct lock_entry **entries;
    size_t count, n = 0;
    struct moved *list;

    entries = layer_entries(l, &inv->cx.arena, &count);
    list = arena_array(&inv->cx.arena, count + 1, sizeof *list);
    for (size_t i = 0; i < count; i++) {
        struct moved *m = &list[n];

        if (!origin_parse(entries[i]->origin, &l->rules, &inv->cx.arena,
                          &m->origin, e) ||
            m->origin.scheme != ORIGIN_GIT || origin_names_commit(&m->origin))
            continue;
        m->entry = entries[i];
        n++;
    }
    *out = list;
    return n;
}

static void take_event(struct invocation *inv, struct moved *list, size_t count,
                       const struct fetch_event *event)
{
    struct moved *m = event->id < count ? &list[event->id] : NULL;

    if (!m)
        return;
    if (event->kind == FETCH_REF_FOUND) {
        m->ref = arena_str(&inv->cx.arena, event->ref);
        m->commit = arena_str(&inv->cx.arena, event->commit);
    } else if (event->kind == FETCH_FAILED) {
        m->failed = arena_new(&inv->cx.arena, struct err);
        *m->failed = *event->err;
    }
}

static bool ask_all(struct invocation *inv, const struct layer *l,
                    struct store *store, struct moved *list, size_t count,
                    struct err *e)
{
    struct store_session session = {.dirfd = -1};
    struct fetch_options o = {
        .hosts = l->rules.hosts,
        .host_count = l->rules.host_count,
        .limits = &l->limits,
        .verbose = has_option(inv, OPTION_VERBOSE),
    };
    struct fetch_event event = {.kind = FETCH_REF_FOUND};
    struct fetch *fetch = NULL;
    bool ok = store_session_begin(store, &session, e);

    o.incoming = session.path;
    ok = ok && fetch_open(&o, &fetch, e);
    for (size_t i = 0; ok && i < count; i++) {
        struct fetch_want want = {.id = (unsigned)i,
                                  .what = FETCH_REF,
                                  .kinds = (unsigned)list[i].entry->kind,
                                  .origin = list[i].origin};

        ok = fetch_ask(fetch, &want, e);
    }
    while (ok && event.kind != FETCH_IDLE) {
        CLEANUP(arena_done) struct arena scratch = {0};

        ok = fetch_next(fetch, &scratch, &event, e);
        if (ok && event.kind != FETCH_IDLE)
            take_event(inv, list, count, &event);
    }
    fetch_close(fetch);
    store_session_end(store, &session);
    return ok;
}

static bool has_moved(const struct moved *m)
{
    return m->commit.n && !str_eq(m->commit, m->entry->commit);
}

static void print_json_table(struct invocation *inv, const struct moved *list,
                             size_t count)
{
    struct json_writer w;
    struct buf b;

    buf_init(&b, SIZE_MAX / 4);
    json_writer_init(&w, &b, 2);
    json_begin_object(&w);
    json_member_string(&w, "schema", STR("mapm.outdated/1"));
    json_key(&w, "packages");
    json_begin_array(&w);
    for (size_t i = 0; i < count; i++) {
        const struct moved *m = &list[i];

        if (!has_moved(m))
            continue;
        json_begin_object(&w);
        json_member_string(&w, "type", str_from(doc_kind_name(m->entry->kind)));
        json_member_string(&w, "name", m->entry->name);
        json_member_string(&w, "origin", m->entry->origin);
        json_member_string(&w, "ref", m->ref);
        json_member_string(&w, "locked", m->entry->commit);
        json_member_string(&w, "current", m->commit);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_end_object(&w);
    print_json(inv, &b);
    buf_done(&b);
}

static void print_table(struct invocation *inv, const struct moved *list,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct moved *m = &list[i];

        if (has_moved(m))
            term_print(&inv->term, "%-6s%-32.*s %.*s -> %.*s  %.*s\n",
                       doc_kind_name(m->entry->kind), STR_ARG(m->entry->name),
                       STR_ARG(str_slice(m->entry->commit, 0, 10)),
                       STR_ARG(str_slice(m->commit, 0, 10)), STR_ARG(m->ref));
    }
}

/* All that could not be looked at: a repository that is not there once. */
static bool report_failed(const struct moved *list, size_t count, struct err *e)
{
    const struct moved *last = NULL;
    size_t failed = 0;

    for (size_t i = 0; i < count; i++) {
        const struct moved *m = &list[i];
        const char *message = NULL;

        if (!m->failed || failed++ >= ERROR_MAX_LINES)
            continue;
        if (!last) {
            *e = *m->failed;
            err_wrap(e, "cannot look at %.*s", STR_ARG(m->entry->origin));
        } else if (strcmp(err_first(last->failed), err_first(m->failed)) != 0) {
            err_also(e, "cannot look at %.*s", STR_ARG(m->entry->origin));
            while ((message = err_prev(m->failed, message)))
                err_also(e, "%s", message);
        }
        last = m;
    }
    return failed == 0;
}

static bool report(struct invocation *inv, const struct moved *list,
                   size_t count, int *exit_code, struct err *e)
{
    bool is_json = has_option(inv, OPTION_JSON);
    bool all = report_failed(list, count, e);
    size_t moved = 0;

    for (size_t i = 0; i < count; i++)
        moved += has_moved(&list[i]);
    if (is_json && all)
        print_json_table(inv, list, count);
    if (!is_json)
        print_table(inv, list, count);
    if (moved == 0 && all && !is_json)
        term_note(&inv->term, "no ref has moved");
    *exit_code = moved ? EXIT_FINDINGS : EXIT_DONE;
    return all;
}

COMMAND(command_outdated)
{
    struct store *store = NULL;
    struct moved *list;
    struct layer l;
    size_t count;
    bool ok;

    if (!layer_open(&inv->cx, LAYER_READ, &l, e))
        return false;
    if (!layer_check_there(&l, &inv->cx, e)) {
        layer_close(&l);
        return false;
    }
    count = list_asks(inv, &l, &list, e);
    if (count && has_option(inv, OPTION_OFFLINE)) {
        layer_close(&l);
        return err_set(e, ERR_OFFLINE, "mapm outdated asks the network");
    }
    ok = count == 0 || (open_store(&inv->cx, &store, e) &&
                        ask_all(inv, &l, store, list, count, e));
    ok = ok && report(inv, list, count, exit_code, e);
    close_store(&inv->cx, store);
    layer_close(&l);
    return ok;
}
