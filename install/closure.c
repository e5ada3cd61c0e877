#include "closure.h"

#include "mapm/doc_kind.h"
#include "mapm/lock.h"
#include "mapm/origin.h"

#include <inttypes.h>
#include <stdlib.h>

#include "closure_resolve.h"
#include "index.h"
#include "ingest.h"
#include "plugin_scope.h"
#include "plugins.h"
#include "proof.h"
#include "remote.h"

void closure_init(struct closure *c, struct context *cx,
                  const struct layer *layer, struct store *store,
                  const struct closure_options *o)
{
    *c = (struct closure){.cx = cx,
                          .layer = layer,
                          .store = store,
                          .trees = {.store = store},
                          .options = *o,
                          .session = {.dirfd = -1}};
    map_init(&c->nodes, &cx->arena);
    map_init(&c->words, &cx->arena);
    map_init(&c->indexes, &cx->arena);
    map_init(&c->moved, &cx->arena);
    map_init(&c->redirects, &cx->arena);
    map_init(&c->names, &cx->arena);
    notice_init(&c->notices, &cx->arena);
}

void closure_done(struct closure *c)
{
    closure_warn(c);
    fetch_close(c->fetch);
    c->fetch = NULL;
    store_session_end(c->store, &c->session);
    install_trees_done(&c->trees);
}

/* Resets the node, so that it is resolved again. */
static void reset(struct closure *c, struct node *n)
{
    struct str_list without;

    if (!n || n->locked)
        return;
    without = node_rare(n)->without;
    *n = (struct node){.origin = n->origin,
                       .kinds = n->kinds,
                       .is_exact = n->is_exact,
                       .alias = n->alias,
                       .has_without = n->has_without,
                       .replacement = n->replacement,
                       .source = n->source,
                       .is_elsewhere = n->is_elsewhere,
                       .is_part = n->is_part};
    if (without.count)
        node_make_rare(n, &c->cx->arena)->without = without;
    c->resolved = 0;
}

void closure_keep_locked(struct closure *c, const struct lock_entry *entry)
{
    reset(c, closure_find(c, layer_origin(c->layer, entry)->key));
    for (size_t i = 0; i < entry->also_count; i++) {
        struct err ignored = {0};
        struct origin o;

        if (origin_parse_part(entry->also[i], &c->layer->rules, &c->cx->arena,
                              &o, &ignored))
            reset(c, closure_find(c, o.key));
    }
}

void closure_forget_versions(struct closure *c)
{
    for (size_t i = 0; i < c->queued; i++) {
        struct node *n = c->queue[i];

        if (closure_find(c, n->origin->key) == n &&
            origin_range(node_source(n), &c->cx->arena).n)
            reset(c, n);
    }
}

/* --- what arrives --------------------------------------------------------- */

/* Names the lock entry that does not match its commit. */
static void name_entry(const struct lock_entry *entry, struct err *e)
{
    err_wrap(e, "mapm.lock:%u: %s %.*s is not what its commit holds",
             entry->line, doc_kind_name(entry->kind), STR_ARG(entry->name));
    err_hint(e,
             "take mapm.lock from version control again, or run mapm update "
             "%.*s",
             STR_ARG(entry->name));
}

static void add_fetched(struct closure *c, struct node *n)
{
    c->fetched = arena_grow(&c->cx->arena, c->fetched, c->fetched_count,
                            &c->fetched_capacity, sizeof(struct node *));
    c->fetched[c->fetched_count++] = n;
}

/* Returns whether the commit contains another object, or is no longer
 * available. */
static bool is_no_match(enum err_code code)
{
    return code == ERR_LOCKED || code == ERR_REF || code == ERR_PATH ||
           code == ERR_DAMAGED;
}

/* Returns whether the package, its ref or its repository no longer exists. */
static bool is_gone(enum err_code code)
{
    return code == ERR_PATH || code == ERR_REF || code == ERR_NOT_FOUND;
}

/* Returns whether the user named the package and another repository has taken
 * the former name, which is used from now on. */
static bool is_taken_name(const struct closure *c, const struct node *n,
                          const struct fetch_event *event)
{
    const struct lock_entry *entry =
        map_find(&c->layer->by_origin, n->origin->key);

    return c->options.leave_history && event->moved.n == 0 && entry &&
           layer_is_former(c->layer, entry, n->origin);
}

/* Returns whether the locked tag names another commit now. */
static bool is_moved_tag(const struct closure *c, const struct node *n,
                         const struct fetch_event *event)
{
    const struct lock_entry *entry =
        map_find(&c->layer->by_origin, n->origin->key);

    return entry && event->tag_commit.n &&
           !str_eq(event->tag_commit, entry->commit);
}

static bool take_comparison(struct closure *c, struct node *n,
                            const struct fetch_event *event, struct err *e)
{
    bool was_compared = n->is_comparing;

    n->is_comparing = n->is_tracing = false;
    n->stays = n->gone ||
               (str_eq(event->commit, n->package.commit) &&
                !is_taken_name(c, n, event) &&
                !(c->options.accept_moved_tag && is_moved_tag(c, n, event)));
    n->is_changed = !n->stays;
    if (n->stays && !n->gone && was_compared && c->options.leave_history &&
        origin_range(node_source(n), &c->cx->arena).n == 0) {
        n->is_tracing = true;
        return closure_request(c, n, e);
    }
    n->package.commit = str_make("", 0);
    return n->stays ? closure_resolve(c, n, e) : closure_request(c, n, e);
}

/* Handles a forced push: the ref has the same content with another history, so
 * the locked commit may be unavailable to others. */
static bool take_new_history(struct closure *c, struct node *n, struct err *e)
{
    n->is_tracing = n->stays = false;
    n->is_changed = true;
    n->package.commit = str_make("", 0);
    return closure_request(c, n, e);
}

/* Updates a package whose content is unchanged but whose lock entry cannot be
 * proved, to the current commit of its ref. */
static bool change_after_all(struct closure *c, struct node *n, struct err *e)
{
    bool asked = closure_stop_sharing(c, n, e);

    n->stays = n->is_override = false;
    n->is_changed = true;
    return asked;
}

/* Requests the object that the commit contains at the path, which may have the
 * same content, such as a copy instead of a link. The content is compared when
 * it arrives. */
static bool request_twin(struct closure *c, struct node *n, struct err *e)
{
    n->is_twin = true;
    n->is_unproved = false;
    return closure_request(c, n, e);
}

/* Accepts the content of that commit, wherever the ref is now. */
static void take_twin(struct node *n, struct str path, struct arena *a)
{
    n->is_sharing = n->is_twin = false;
    n->locked = NULL;
    node_make_rare(n, a)->pin = n->package.commit;
    n->ref = node_tag(n, a).n ? node_tag(n, a) : proof_ref(n->origin, path);
}

/* Requests the object alone if the host no longer has the commit but its
 * content was proved on this machine. */
static bool request_unserved(struct closure *c, struct node *n, struct err *e)
{
    n->is_unserved = true;
    notice_add(&c->notices, STR("commit-gone"), n->origin->text,
               STR("its locked commit is no longer served: taken as it was "
                   "proved on this machine; others need mapm update, by "
                   "its name"));
    return closure_request(c, n, e);
}

static void refuse_unserved(const struct node *n, struct err *e)
{
    const struct lock_entry *entry = n->locked;

    err_wrap(e, "mapm.lock:%u: %s %.*s: its commit is no longer served, %s",
             entry->line, doc_kind_name(entry->kind), STR_ARG(entry->name),
             n->is_unserved ? "nor is its content"
                            : "and was never proved on this machine");
    err_hint(e, "run mapm update %.*s, or mapm update for all packages",
             STR_ARG(entry->name));
}

/* Places an object that was fetched alone; its path is known from the proof. */
static struct fetch_event place_unserved(const struct closure *c,
                                         const struct node *n,
                                         const struct fetch_event *event)
{
    struct fetch_event ev = *event;

    if (n->is_unserved) {
        ev.path = n->path;
        ev.ref = proof_ref(closure_locked_origin(c, n), n->path);
    }
    return ev;
}

/* Hints that x in "owner/repo@x" is a ref, since other tools use it for the
 * skill x of a catalog. */
static void hint_skill(const struct node *n, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct origin *o = n->origin;

    if (e->code == ERR_REF && !e->hint[0] && o->is_short && !o->path.n &&
        o->ref.n)
        err_hint(e,
                 "\"@\" names a branch, tag or commit; for a skill: mapm "
                 "install %.*s --skill %.*s",
                 STR_ARG(origin_typed(o, STR(""), &scratch)), STR_ARG(o->ref));
}

/* Refuses a tag that names another commit than the lock, whose content was not
 * reviewed. */
static bool check_tag(const struct closure *c, const struct node *n,
                      const struct fetch_event *event, struct err *e)
{
    const struct lock_entry *entry =
        map_find(&c->layer->by_origin, n->origin->key);

    if (!c->options.is_moving || c->options.accept_moved_tag ||
        !is_moved_tag(c, n, event))
        return true;
    return err_set(e, ERR_REFUSED,
                   "tag %.*s was moved from %.12s to %.12s: look at it, then "
                   "mapm update --accept-moved-tag %.*s takes it",
                   STR_ARG(entry->tag), entry->commit.p, event->tag_commit.p,
                   STR_ARG(entry->name));
}

/* Refuses a repository that took the former name of a renamed one, unless the
 * user named the package. */
static bool check_name(const struct closure *c, const struct node *n,
                       const struct fetch_event *event, struct err *e)
{
    const struct lock_entry *entry =
        map_find(&c->layer->by_origin, n->origin->key);
    const struct origin *own;

    if (!entry || n->locked || n->source || n->is_ref_known || event->moved.n ||
        c->options.leave_history ||
        !layer_is_former(c->layer, entry, n->origin))
        return true;
    own = layer_origin(c->layer, entry);
    err_set(e, ERR_REFUSED,
            "%.*s does not lead to %.*s any more, as mapm.lock has it: it may "
            "be another repository",
            STR_ARG(n->origin->repository), STR_ARG(own->repository));
    return err_hint(e,
                    "write the new name where the old one is asked for, or, if "
                    "it is the right one, run mapm update %.*s",
                    STR_ARG(entry->name));
}

static bool check_answer(const struct closure *c, const struct node *n,
                         const struct fetch_event *event, struct err *e)
{
    return check_tag(c, n, event, e) && check_name(c, n, event, e);
}

/* The result of an event. */
enum outcome {
    TAKEN,
    PACKAGE_FAILED, /* with `ingest_step.problem` */
    FAILED,         /* the whole closure failed with `ingest_step.e` */
};

struct ingest_step {
    struct closure *c;
    struct node *n;
    const struct fetch_event *event;
    struct arena *scratch;
    struct err problem; /* error of the package only */
    struct err *e;
};

static enum outcome of_package(bool ok)
{
    return ok ? TAKEN : PACKAGE_FAILED;
}

static enum outcome of_closure(bool ok)
{
    return ok ? TAKEN : FAILED;
}

/* Records a rename, except for locked packages, which do not change the
 * lock. */
static void note_moved(struct closure *c, const struct node *n,
                       const struct fetch_event *event)
{
    struct arena *a = &c->cx->arena;
    struct map_entry *entry;
    struct redirect *r;

    if (event->moved.n == 0 || n->source)
        return;
    entry = map_entry(&c->redirects, origin_repository(n->origin, a));
    if (!entry->value) {
        entry->value = r = arena_new(a, struct redirect);
        *r = (struct redirect){arena_str(a, event->moved), n->origin};
    }
    r = entry->value;
    if (!n->locked || c->options.is_moving)
        map_put(&c->moved, entry->key, &r->moved);
}

/* Lists the repositories that the lock has entries of. */
static void list_repositories(const struct layer *l, struct arena *a,
                              struct map *out)
{
    size_t count;
    const struct lock_entry **entries = layer_entries(l, a, &count);

    map_init(out, a);
    for (size_t i = 0; i < count; i++) {
        const struct origin *o = layer_origin(l, entries[i]);

        if (o->scheme == ORIGIN_GIT)
            map_put(out, origin_repository(o, a), out);
    }
}

/* Notes the new name of a repository that the lock has entries of by both names,
 * unless the lock must not change. If it has the former name only, that stays
 * until an update. */
static void record_moved(struct closure *c)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct map locked;

    if (c->options.locked || c->redirects.count == 0)
        return;
    list_repositories(c->layer, &scratch, &locked);
    for (size_t i = 0; i < c->redirects.count; i++) {
        const struct map_entry *entry = &c->redirects.entries[i];
        struct redirect *r = entry->value;
        struct origin now;

        if (!map_has(&c->moved, entry->key) &&
            origin_in_repository(r->origin, r->moved, &scratch, &now) &&
            map_has(&locked, origin_repository(&now, &scratch)))
            map_put(&c->moved, entry->key, &r->moved);
    }
}

/* Where its host redirects the former name is what the lock has, or what that
 * name leads to by now, too. */
static bool is_moved_as_locked(const struct closure *c, const struct node *n,
                               struct str moved, struct arena *a)
{
    struct origin now;

    return str_eq_nocase(moved, node_rare(n)->moved) ||
           (origin_in_repository(n->origin, moved, a, &now) &&
            str_eq(now.key, layer_origin(c->layer, n->locked)->key));
}

static enum outcome refuse_name(struct ingest_step *x)
{
    x->n->is_ready = false;
    return of_closure(closure_stop_sharing(x->c, x->n, x->e));
}

/* A mirror does not redirect, and a store of the team cannot tell. The commit
 * has the package by the name that the lock has; it is the same where it has it
 * by the former one, too. */
static enum outcome check_former(struct ingest_step *x)
{
    struct node *n = x->n;

    n->by_lock_name = false;
    n->checks_former = true;
    return of_package(closure_request(x->c, n, &x->problem));
}

static enum outcome put_former(struct ingest_step *x)
{
    return of_package(
        proof_put_node(x->c->store, x->n, node_source(x->n), &x->problem));
}

/* The package is here by the name that the lock has: is that what its host calls
 * the repository? */
static enum outcome check_host_name(struct ingest_step *x)
{
    struct node *n = x->n;
    struct naming *naming = closure_naming(x->c, n);
    const struct err *failed = naming->failed;

    if (!naming->is_done) {
        naming->waiting =
            arena_grow(&x->c->cx->arena, naming->waiting, naming->waiting_count,
                       &naming->waiting_capacity, sizeof(struct node *));
        naming->waiting[naming->waiting_count++] = n;
        return TAKEN;
    }
    if (failed && !remote_is_answer(failed->code) &&
        failed->code != ERR_OFFLINE) {
        n->is_ready = false;
        x->problem = *failed;
        return PACKAGE_FAILED;
    }
    if (naming->moved.n == 0)
        return check_former(x);
    return is_moved_as_locked(x->c, n, naming->moved, x->scratch)
               ? put_former(x)
               : refuse_name(x);
}

/* The locked object, by the former name. */
static enum outcome take_former(struct ingest_step *x)
{
    struct node *n = x->n;

    n->checks_former = false;
    if (!str_eq(x->event->path, n->path) ||
        !str_eq(x->event->object, n->locked->object) ||
        (x->event->moved.n &&
         !is_moved_as_locked(x->c, n, x->event->moved, x->scratch)))
        return refuse_name(x);
    return put_former(x);
}

static enum outcome take_package(struct ingest_step *x)
{
    struct closure *c = x->c;
    struct node *n = x->n;
    struct fetch_event placed;

    if (n->checks_former)
        return take_former(x);
    if (!check_answer(c, n, x->event, &x->problem))
        return PACKAGE_FAILED;
    if (n->is_sharing &&
        !proof_shares_ref(c->layer, n->locked, node_source(n), x->event->path))
        return of_closure(closure_stop_sharing(c, n, x->e));
    if (n->is_twin)
        take_twin(n, arena_str(&c->cx->arena, x->event->path), &c->cx->arena);
    placed = place_unserved(c, n, x->event);
    if (!ingest_package(c, n, &placed, x->scratch, &x->problem))
        return PACKAGE_FAILED;
    if (x->event->doc == DOC_MARKET)
        return of_closure(plugin_market_resolved(c, n, x->e));
    if (n->stays && !n->is_ready)
        return of_package(closure_resolve(c, n, &x->problem));
    if (n->package.kind != DOC_PLUGIN)
        add_fetched(c, n);
    if (!n->by_lock_name)
        return TAKEN;
    if (x->event->moved.n)
        node_make_rare(n, &c->cx->arena)->moved =
            arena_str(&c->cx->arena, x->event->moved);
    return check_host_name(x);
}

static enum outcome take_outline(struct ingest_step *x)
{
    struct closure *c = x->c;
    struct node *n = x->n;

    return of_package(
        check_answer(c, n, x->event, &x->problem) &&
        ingest_outline(c, n, x->event, x->scratch, &x->problem) &&
        (c->options.outline || closure_want_files(c, n, &x->problem)));
}

static enum outcome take_gone(struct ingest_step *x)
{
    struct node *n = x->n;
    struct arena *a = &x->c->cx->arena;
    const struct lock_entry *entry =
        map_find(&x->c->layer->by_origin, n->origin->key);

    n->gone = arena_new(a, struct err);
    *n->gone = x->problem;
    err_clear(&x->problem);
    if (entry && !n->source)
        node_make_rare(n, a)->place_now =
            node_place_now(n->origin, x->event, entry->object, a);
    return of_package(take_comparison(x->c, n, x->event, &x->problem));
}

static void explain_failure(const struct node *n, struct err *problem)
{
    if (n->locked && (problem->code == ERR_REF || n->is_unserved))
        refuse_unserved(n, problem);
    if (n->locked && problem->code == ERR_LOCKED)
        name_entry(n->locked, problem);
    hint_skill(n, problem);
}

/* Handles a missing package, which may be available in another way. */
static enum outcome take_failure(struct ingest_step *x)
{
    struct closure *c = x->c;
    struct node *n = x->n;
    enum err_code code = x->event->err->code;

    x->problem = *x->event->err;
    if (n->is_sharing && !n->is_twin && code == ERR_LOCKED &&
        !layer_is_former(c->layer, n->locked, node_source(n)))
        return of_closure(request_twin(c, n, x->e));
    if ((n->is_sharing || (n->locked && node_is_replaced_here(n))) &&
        is_no_match(code))
        return of_closure(closure_stop_sharing(c, n, x->e));
    if (n->is_comparing && is_gone(code))
        return take_gone(x);
    if (n->is_tracing && remote_is_answer(code))
        return of_closure(take_new_history(c, n, x->e));
    n->is_comparing = n->is_tracing = false;
    if (n->locked && code == ERR_REF && !n->is_unserved &&
        closure_is_proved(c, n))
        return of_closure(request_unserved(c, n, x->e));
    /* a ref that is not pushed yet */
    if (!n->locked && code == ERR_REF &&
        closure_take_from_checkout(c, n, true)) {
        err_clear(&x->problem);
        return of_package(closure_read_replaced(c, n, &x->problem));
    }
    explain_failure(n, &x->problem);
    return PACKAGE_FAILED;
}

static enum outcome take_event(struct ingest_step *x)
{
    struct closure *c = x->c;
    struct node *n = x->n;

    if (n->origin->scheme == ORIGIN_INDEX)
        return of_package(index_take_event(c, n, x->event, &x->problem));
    switch (x->event->kind) {
    case FETCH_MANIFEST:
        if (!n->locked && !n->is_outlined)
            ingest_manifest(c, n, x->event, x->scratch);
        return TAKEN;
    case FETCH_DONE:
        return take_package(x);
    case FETCH_OFFERS:
        ingest_offers(c, n, x->event);
        return TAKEN;
    case FETCH_REF_FOUND:
        return of_package(check_answer(c, n, x->event, &x->problem) &&
                          take_comparison(c, n, x->event, &x->problem));
    case FETCH_OUTLINE:
        return take_outline(x);
    case FETCH_FAILED:
        return take_failure(x);
    default:
        return TAKEN;
    }
}

static void take_other(struct closure *c, const struct fetch_event *event,
                       struct arena *scratch)
{
    struct fetch_event other = *event;

    other.id &= ~CLOSURE_OTHER;
    if (c->options.on_other)
        c->options.on_other(c->options.other_ctx, &other, scratch);
}

static bool finish_event(struct ingest_step *x, enum outcome outcome)
{
    struct closure *c = x->c;
    struct node *n = x->n;

    if (outcome != PACKAGE_FAILED)
        return outcome == TAKEN;
    if (n->stays && !n->gone && is_no_match(x->problem.code))
        return change_after_all(c, n, x->e);
    /* an error of this machine, not of the package: stop */
    if (x->problem.code == ERR_INTERRUPTED || x->problem.code == ERR_IO) {
        *x->e = x->problem;
        return false;
    }
    node_fail(c, n, &x->problem);
    return n->kinds != DOC_MARKET || plugin_market_resolved(c, n, x->e);
}

/* Handles the answer for all packages that wait for it, unless they have been
 * requested in another way since. */
static bool take_naming(struct ingest_step *x)
{
    struct closure *c = x->c;
    size_t i = x->event->id & ~CLOSURE_NAME;
    struct naming *naming = c->names.entries[i].value;

    naming->is_done = true;
    naming->moved = arena_str(&c->cx->arena, x->event->moved);
    if (x->event->err) {
        naming->failed = arena_new(&c->cx->arena, struct err);
        *naming->failed = *x->event->err;
    }
    for (size_t k = 0; k < naming->waiting_count; k++) {
        struct ingest_step one = *x;

        one.n = naming->waiting[k];
        if (one.n->by_lock_name && !finish_event(&one, check_host_name(&one)))
            return false;
    }
    return true;
}

static bool handle_event(struct closure *c, const struct fetch_event *event,
                         struct arena *scratch, struct err *e)
{
    struct node *n = event->id < c->asked_count ? c->asked[event->id] : NULL;
    struct ingest_step x = {
        .c = c, .n = n, .event = event, .scratch = scratch, .e = e};

    if (event->kind == FETCH_IDLE)
        return true;
    if (event->id & CLOSURE_OTHER) {
        take_other(c, event, scratch);
        return true;
    }
    for (size_t i = 0; i < event->note_count; i++)
        notice_add(&c->notices, STR(""), STR(""), event->notes[i]);
    if (event->id & CLOSURE_NAME)
        return take_naming(&x);
    if (!n)
        return true;
    note_moved(c, n, event);
    return finish_event(&x, take_event(&x));
}

static bool resolve_pending(struct closure *c, struct err *e)
{
    const struct limit *most = &c->layer->limits.graph_max_packages;
    struct err problem = {0};

    while (closure_spread_wanted(c), c->resolved < c->queued) {
        struct node *n = c->queue[c->resolved++];

        if (n->is_resolved && (!n->assumed_present || n->is_elsewhere ||
                               c->options.assume_present))
            continue;
        if (c->queued > most->value)
            return limit_fail(most, e, "more than %" PRIu64 " packages",
                              most->value);
        if (closure_resolve(c, n, &problem))
            continue;
        if (problem.code == ERR_INTERRUPTED || problem.code == ERR_IO) {
            *e = problem;
            return false;
        }
        node_fail(c, n, &problem);
        err_clear(&problem);
        if (n->kinds == DOC_MARKET && !plugin_market_resolved(c, n, e))
            return false;
    }
    return true;
}

static bool next_event(struct closure *c, struct fetch_event *event,
                       struct arena *scratch, struct err *e)
{
    struct str path = c->options.bundle_path;

    if (fetch_next(c->fetch, scratch, event, e))
        return true;
    return path.n == 0 ? false
                       : err_wrap(e, "cannot install from %.*s", STR_ARG(path));
}

bool closure_gather(struct closure *c, struct err *e)
{
    struct fetch_event event = {.kind = FETCH_IDLE};
    bool ok, again = false;

    for (;;) {
        CLEANUP(arena_done) struct arena scratch = {0};

        ok = resolve_pending(c, e);
        if (ok && !c->fetch)
            plugin_scope_check(c, &again);
        if (!ok || (!c->fetch && !again))
            break;
        if (!c->fetch)
            continue;
        ok = next_event(c, &event, &scratch, e) &&
             handle_event(c, &event, &scratch, e);
        if (!ok)
            break;
        if (event.kind != FETCH_IDLE || c->resolved < c->queued)
            continue;
        plugin_scope_check(c, &again);
        if (!again)
            break;
    }
    context_progress(c->cx, NULL);
    if (c->fetch)
        fetch_get_progress(c->fetch, &c->progress);
    if (ok)
        plugin_fail_waiting(c);
    record_moved(c);
    return ok;
}

void closure_warn(struct closure *c)
{
    notice_report(&c->notices, c->cx);
}

/* --- many of a lock at once ------------------------------------------------ */

struct lookup {
    uint64_t place;
    struct node *node;
};

static int by_place(const void *x, const void *y)
{
    const struct lookup *one = x, *two = y;

    return one->place < two->place ? -1 : one->place > two->place;
}

/* Returns the position in the lock, which is mostly the order of paths. */
static uint64_t place_in_lock(const struct node *n)
{
    return (uint64_t)(uintptr_t)n->locked;
}

static uint64_t place_of_digest(const struct node *n)
{
    uint64_t place = 0;

    for (size_t i = 0; i < sizeof place; i++)
        place = place << 8 | n->digest.b[i];
    return place;
}

static void sort_lookups(struct lookup *lookups, size_t count,
                         uint64_t (*place)(const struct node *))
{
    for (size_t i = 0; i < count; i++)
        lookups[i].place = place(lookups[i].node);
    qsort(lookups, count, sizeof *lookups, by_place);
}

/* Finds packages in the store in the order of the index rows; in another order,
 * each of many packages would read a page again. Others remain assumed and are
 * reported or requested in the order of the queue. */
static void find_assumed(struct closure *c)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct lookup *lookups =
        arena_array(&scratch, c->queued + 1, sizeof *lookups);
    size_t count = 0;

    for (size_t i = 0; i < c->queued; i++)
        if (c->queue[i]->assumed_present && !c->queue[i]->is_elsewhere)
            lookups[count++].node = c->queue[i];
    sort_lookups(lookups, count, place_in_lock);
    for (size_t i = 0; i < count; i++)
        closure_is_proved(c, lookups[i].node);
    sort_lookups(lookups, count, place_of_digest);
    for (size_t i = 0; i < count; i++) {
        struct node *n = lookups[i].node;
        struct err ignored = {0};
        bool found;

        if (n->is_proved && closure_find_in_store(c, n, &found, &ignored) &&
            found)
            n->assumed_present = false;
    }
}

bool closure_verify_store(struct closure *c, struct err *e)
{
    if (c->options.assume_present)
        find_assumed(c);
    closure_stop_assuming(c);
    return closure_gather(c, e);
}

bool closure_check_ready(const struct closure *c, struct err *e)
{
    size_t failed = 0;

    for (size_t i = 0; i < c->queued; i++) {
        const struct node *n = c->queue[i];
        struct err why;

        if (!n->failed || failed++ >= ERROR_MAX_LINES)
            continue;
        why = *n->failed;
        err_wrap(&why, "%.*s", STR_ARG(n->origin->text));
        if (failed == 1)
            err_clear(e);
        err_also_err(e, &why);
    }
    if (failed > ERROR_MAX_LINES)
        err_also(e, "\xe2\x80\xa6 and %zu more", failed - ERROR_MAX_LINES);
    return failed == 0;
}

/* Returns whether an entry of the lock has the origin of the node, and not only
 * in `also`. */
static bool is_recorded(const struct closure *c, const struct node *n)
{
    const struct lock_entry *entry =
        map_find(&c->layer->by_origin, n->origin->key);

    return entry && str_eq(layer_origin(c->layer, entry)->key, n->origin->key);
}

bool closure_read(void *ctx, const struct origin *o, enum doc_kind expected,
                  const struct package **out, struct err *e)
{
    struct closure *c = ctx;
    struct node *n = closure_find(c, o->key);

    (void)expected;
    if (!n)
        return err_set(e, ERR_FAILED, "%.*s was never read", STR_ARG(o->text));
    if (n->failed) {
        *e = *n->failed;
        return false;
    }
    if (n->offer_count)
        return err_set(e, ERR_PATH, "%.*s is a catalog, not a package",
                       STR_ARG(node_source(n)->text));
    if (!n->is_ready)
        return err_set(e, ERR_FETCH, "%.*s did not arrive", STR_ARG(o->text));
    n->package.is_recorded = is_recorded(c, n);
    *out = &n->package;
    return true;
}
