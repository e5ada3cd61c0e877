#include "base/env.h"
#include "base/fs.h"
#include "mapm/host_add.h"
#include "mapm/open_store.h"

#include <string.h>
#include <unistd.h>

#include "catalogs.h"
#include "choose_clients.h"
#include "offers.h"
#include "selection.h"

static const struct {
    const char *name;
    bool (*work)(struct install_session *s, struct err *e);
} works[] = {
    [INSTALL_INSTALL] = {"install", install_packages},
    [INSTALL_REMOVE] = {"remove", remove_packages},
    [INSTALL_UPDATE] = {"update", update_packages},
    [INSTALL_IMPORT] = {"import", import_packages},
    [INSTALL_PATCH] = {"patch", patch_packages},
};

/* Of an origin that a lock does not pin the host is asked what its ref names. */
static bool is_asked_for(const struct install_session *s,
                         const struct origin *o)
{
    return o->scheme == ORIGIN_GIT && !origin_names_commit(o) &&
           (s->request->command == INSTALL_UPDATE ||
            !map_has(&s->layer.by_origin, o->key));
}

/* Known before the store is opened. What is only fetched because the store
 * has lost it is not counted. */
static bool will_ask_network(const struct install_session *s)
{
    const struct install_request *r = s->request;
    struct context *cx = s->cx;

    if (cx->is_offline || r->locked || r->command == INSTALL_REMOVE)
        return false;
    for (size_t i = 0; i < s->root_count; i++)
        if (is_asked_for(s, &s->roots[i].origin))
            return true;
    /* What a catalog chose is in the lock; one that the lock lacks is asked. */
    if (s->layer.project.catalog_count && s->layer.lock.count == 0)
        return true;
    for (size_t i = 0; i < r->arguments.count; i++) {
        struct err ignored = {0};
        struct origin o;

        if (r->command == INSTALL_INSTALL &&
            origin_parse_argument(r->arguments.items[i], cx->cwd, cx->home,
                                  &s->layer.rules, &cx->arena, &o, &ignored) &&
            is_asked_for(s, &o))
            return true;
    }
    return false;
}

/* Where a lock may be written without a person, both sides are left alone. */
static bool may_merge(const struct install_request *r)
{
    return r->command == INSTALL_INSTALL && !r->locked && !context_is_ci();
}

/* Hosts that a person names, before the layer reads which there are. */
static bool admit_hosts(struct context *cx, const struct install_request *r,
                        struct err *e)
{
    bool is_install = r->command == INSTALL_INSTALL && !r->dry_run;

    for (size_t i = 0; is_install && i < r->arguments.count; i++)
        if (!host_admit(cx, r->arguments.items[i], e))
            return false;
    return true;
}

/* At user level nothing of the home leads into the store [H8]. */
static bool check_link(struct context *cx, const struct install_request *r,
                       struct err *e)
{
    if (!cx->use_global || r->link != STORE_LINK_HARDLINK)
        return true;
    err_set(e, ERR_USAGE, "--link-mode hardlink is for a workspace");
    return err_hint(e, "with -g files of the home are copies, or reflinks");
}

/* The rest of `*s` is as it was before the first time. */
static bool session_open(struct install_session *s, struct err *e)
{
    const struct install_request *request = s->request;
    struct context *cx = s->cx;
    int mode = (request->dry_run ? LAYER_READ : LAYER_WRITE) |
               (may_merge(request) ? LAYER_CONFLICT : 0);

    *s = (struct install_session){
        .plan = {.command = works[request->command].name, .session = s},
        .cx = cx,
        .request = request,
        .closure = {.session = {.dirfd = -1}},
        .bundle = -1,
        .tries = s->tries,
        .more = s->more,
        .is_answered = s->is_answered};
    if (!check_link(cx, request, e) ||
        (request->command != INSTALL_REMOVE &&
         !authorize_check_stores(cx, e)) ||
        !admit_hosts(cx, request, e) || !session_open_layers(s, mode, e) ||
        (request->dry_run && !layer_check_own(&s->layer, cx, e)))
        return false;
    map_init(&s->bounds, &cx->arena);
    if (request->bundle.n && !session_open_bundle(s, e))
        return false;
    if (will_ask_network(s))
        fetch_start_ahead(&s->ahead);
    if (!open_store(cx, &s->store, e))
        return false;
    store_begin_staging(s->store);
    return (!s->layer.has_conflict || session_merge(s, e)) &&
           session_open_parts(s, e);
}

void session_warn_index(struct install_session *s, const struct err *why)
{
    if (!s->closure.index_warned)
        context_warn(s->cx, "%s", err_first(why));
    s->closure.index_warned = true;
}

bool session_publish(struct install_session *s, struct err *e)
{
    struct err problem = {0};

    if (!store_publish(s->store, e))
        return false;
    if (store_publish_notes(s->store, &problem))
        return true;
    if (problem.code == ERR_REFUSED) {
        *e = problem;
        return false;
    }
    session_warn_index(s, &problem);
    return true;
}

static void session_close(struct install_session *s)
{
    if (s->closure.store)
        closure_done(&s->closure);
    fetch_process_done(&s->ahead);
    close_store(s->cx, s->store);
    fs_close(&s->bundle);
    s->store = NULL;
    layer_close_all(&s->layers);
}

/* What root makes is root's: said, for it is rarely meant (row 25). */
static void warn_about_sudo(struct context *cx)
{
    struct str uid = env_get("SUDO_UID");

    if (geteuid() == 0 && uid.n && !str_is(uid, "0"))
        context_warn(cx,
                     "running under sudo: what is written here will belong to "
                     "root, not to user %.*s",
                     STR_ARG(uid));
}

/* All files of the packages at hand: what is damaged is set aside. (What a
 * damaged listing named is found once that is whole, the next time.) */
static void set_damaged_aside(struct install_session *s)
{
    for (size_t i = 0; i < s->closure.queued; i++) {
        const struct node *n = s->closure.queue[i];
        CLEANUP(arena_done) struct arena scratch = {0};
        struct package_file *files;
        struct err ignored = {0};
        size_t count;

        if (!store_has_package(s->store, &n->digest) ||
            !store_read_listing(s->store, &n->digest, &scratch, &files, &count,
                                &ignored))
            continue;
        for (size_t k = 0; k < count; k++) {
            CLEANUP(arena_done) struct arena content = {0};
            struct str bytes;

            if (!store_read(s->store, &files[k].hash, FILE_MAX_BYTES, &content,
                            &bytes, &ignored))
                err_clear(&ignored);
        }
    }
}

/* --- the plan as a value ---------------------------------------------------- */

static void fill_plan(struct install_session *s)
{
    struct install_plan *p = &s->plan;

    session_join_packages(s);
    p->chosen_count = s->choice_count;
    p->adds_server = s->with_server && !s->layer.project.server;
    p->left_out = selection_left_out(s->choices, s->choice_count, &s->cx->arena,
                                     &p->left_out_count);
    p->catalogs = offers_list(s, &p->catalog_count);
    p->requests = s->closure.progress.requests;
    p->bytes = s->closure.progress.bytes;
    p->has_merged = s->layers.whole.has_conflict;
    p->merged = s->merged;
    p->merged_count = s->merged_count;
    p->warnings = notice_count(&s->closure.notices);
}

static bool make_plan(struct install_session *s, struct err *e)
{
    struct err ignored = {0};

    if (session_open(s, e) && works[s->request->command].work(s, e) &&
        (s->plan.is_offer || session_find_changes(s, e)) &&
        (!s->request->dry_run || s->plan.is_offer || s->is_in_place ||
         session_publish(s, e))) {
        fill_plan(s);
        if (!s->plan.is_offer && !session_list_clients(s, e))
            return false;
        if (s->plan.is_offer || !offers_take_all(&s->request->choice) ||
            session_find_load(s, e))
            return true;
    }
    /* The next command goes on where the connection ended. */
    if (s->store && session_is_network(e->code) &&
        !session_publish(s, &ignored))
        err_clear(&ignored);
    return false;
}

/* What was set aside while it was staged early is missing now. */
static bool is_damaged(const struct install_session *s, const struct err *e)
{
    return s->store && store_damaged(s->store) > 0 &&
           (e->code == ERR_DAMAGED || e->code == ERR_NOT_FOUND) &&
           s->tries < STORE_MEND_MAX_TRIES;
}

bool session_plan_again(struct install_session *s, struct err *e)
{
    bool ok = false;

    while (!ok && is_damaged(s, e)) {
        set_damaged_aside(s);
        session_close(s);
        err_clear(e);
        if (s->tries++ == 0)
            context_warn(s->cx,
                         "the store held a damaged file: it was set aside, and "
                         "is fetched again");
        ok = make_plan(s, e);
    }
    return ok;
}

bool session_check_locked(struct context *cx, struct err *e)
{
    static const struct host silent;
    const struct install_request request = {
        .command = INSTALL_INSTALL, .locked = true, .dry_run = true};
    struct install_session *s = arena_new(&cx->arena, struct install_session);
    const struct host *host = cx->host;
    bool is_offline = cx->is_offline, ok;

    s->cx = cx;
    s->request = &request;
    cx->host = &silent;
    cx->is_offline = true;
    ok = session_open(s, e) && install_packages(s, e);
    session_close(s);
    cx->host = host;
    cx->is_offline = is_offline;
    return ok;
}

bool session_open_read_only(struct context *cx, struct install_session **out,
                            struct err *e)
{
    static const struct install_request request = {.command = INSTALL_UPDATE,
                                                   .dry_run = true};
    struct install_session *s = arena_new(&cx->arena, struct install_session);

    s->cx = cx;
    s->request = &request;
    *out = s;
    if (session_open(s, e))
        return true;
    session_close(s);
    return false;
}

bool session_pull(struct context *cx, bool with_proofs,
                  struct install_session **out, struct err *e)
{
    struct install_request *request =
        arena_new(&cx->arena, struct install_request);
    struct install_session *s = arena_new(&cx->arena, struct install_session);

    *out = NULL;
    *request = (struct install_request){.command = INSTALL_INSTALL,
                                        .locked = true,
                                        .dry_run = true,
                                        .with_proofs = with_proofs};
    s->cx = cx;
    s->request = request;
    if (session_open(s, e) && install_packages(s, e) &&
        closure_verify_store(&s->closure, e) &&
        closure_check_ready(&s->closure, e) && session_publish(s, e)) {
        *out = s;
        return true;
    }
    session_close(s);
    return false;
}

bool session_plan_anew(struct install_session *s, struct err *e)
{
    if (!session_publish(s, e))
        return false;
    session_close(s);
    return make_plan(s, e) || session_plan_again(s, e);
}

bool install_plan(struct context *cx, const struct install_request *request,
                  struct install_plan **out, struct err *e)
{
    struct install_session *s = arena_new(&cx->arena, struct install_session);

    s->cx = cx;
    s->request = request;
    warn_about_sudo(cx);
    if (make_plan(s, e) || session_plan_again(s, e)) {
        *out = &s->plan;
        return true;
    }
    *out = NULL;
    session_close(s);
    return false;
}

void install_close(struct install_plan *plan)
{
    if (plan)
        session_close(plan->session);
}
