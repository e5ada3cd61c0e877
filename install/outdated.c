#include "mapm/fetch.h"
#include "mapm/install_query.h"
#include "mapm/lock.h"
#include "mapm/open_store.h"
#include "mapm/origin.h"

#include <string.h>

struct moved {
    const struct lock_entry *entry;
    struct origin origin;
    struct str ref, commit;
    struct err *failed;
};

static size_t list_asks(struct context *cx, const struct layer *l,
                        struct moved **out, struct err *e)
{
    const struct lock_entry **entries;
    size_t count, n = 0;
    struct moved *list;

    entries = layer_entries(l, &cx->arena, &count);
    list = arena_array(&cx->arena, count + 1, sizeof *list);
    for (size_t i = 0; i < count; i++) {
        struct moved *m = &list[n];

        if (!origin_parse(entries[i]->origin, &l->rules, &cx->arena, &m->origin,
                          e) ||
            m->origin.scheme != ORIGIN_GIT || origin_names_commit(&m->origin))
            continue;
        m->entry = entries[i];
        n++;
    }
    *out = list;
    return n;
}

static void take_event(struct context *cx, struct moved *list, size_t count,
                       const struct fetch_event *event)
{
    struct moved *m = event->id < count ? &list[event->id] : NULL;

    if (!m)
        return;
    if (event->kind == FETCH_REF_FOUND) {
        m->ref = arena_str(&cx->arena, event->ref);
        m->commit = arena_str(&cx->arena, event->commit);
    } else if (event->kind == FETCH_FAILED) {
        m->failed = arena_new(&cx->arena, struct err);
        *m->failed = *event->err;
    }
}

static bool ask_all(struct context *cx, const struct layer *l,
                    struct store *store, struct moved *list, size_t count,
                    struct err *e)
{
    struct store_session session = {.dirfd = -1};
    struct fetch_options o = {
        .hosts = l->rules.hosts,
        .host_count = l->rules.host_count,
        .limits = &l->limits,
        .verbose = cx->is_verbose,
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
            take_event(cx, list, count, &event);
    }
    fetch_close(fetch);
    store_session_end(store, &session);
    return ok;
}

static bool has_moved(const struct moved *m)
{
    return m->commit.n && !str_eq(m->commit, m->entry->commit);
}

/* All that could not be looked at: a repository that is not there once. */
static const struct err *list_failed(const struct moved *list, size_t count,
                                     struct arena *a)
{
    const struct moved *last = NULL;
    struct err *e = NULL;
    size_t failed = 0;

    for (size_t i = 0; i < count; i++) {
        const struct moved *m = &list[i];
        const char *message = NULL;

        if (!m->failed || failed++ >= ERROR_MAX_LINES)
            continue;
        if (!last) {
            e = arena_new(a, struct err);
            *e = *m->failed;
            err_wrap(e, "cannot look at %.*s", STR_ARG(m->entry->origin));
        } else if (strcmp(err_first(last->failed), err_first(m->failed)) != 0) {
            err_also(e, "cannot look at %.*s", STR_ARG(m->entry->origin));
            while ((message = err_prev(m->failed, message)))
                err_also(e, "%s", message);
        }
        last = m;
    }
    return e;
}

static void report(struct context *cx, const struct moved *list, size_t count,
                   struct install_outdated *out)
{
    struct install_moved *moved =
        arena_array(&cx->arena, count + 1, sizeof *moved);
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        const struct lock_entry *entry = list[i].entry;

        if (has_moved(&list[i]))
            moved[n++] = (struct install_moved){entry->kind,   entry->name,
                                                entry->origin, list[i].ref,
                                                entry->commit, list[i].commit};
    }
    *out = (struct install_outdated){moved, n,
                                     list_failed(list, count, &cx->arena)};
}

static bool ask_layer(struct context *cx, struct layer *l,
                      struct install_outdated *out, struct err *e)
{
    struct store *store = NULL;
    struct moved *list;
    size_t count;
    bool ok;

    if (!layer_check_there(l, cx, e))
        return false;
    count = list_asks(cx, l, &list, e);
    if (count && cx->is_offline)
        return err_set(e, ERR_OFFLINE, "mapm outdated asks the network");
    ok = count == 0 ||
         (open_store(cx, &store, e) && ask_all(cx, l, store, list, count, e));
    if (ok)
        report(cx, list, count, out);
    close_store(cx, store);
    return ok;
}

bool install_outdated(struct context *cx, struct install_outdated *out,
                      struct err *e)
{
    struct layer l;
    bool ok;

    if (!layer_open(cx, LAYER_READ, &l, e))
        return false;
    ok = ask_layer(cx, &l, out, e);
    layer_close(&l);
    return ok;
}
