#include "closure.h"

#include "base/fs.h"
#include "base/path.h"
#include "base/proc.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/lock.h"
#include "mapm/origin.h"
#include "mapm/state.h"

#include <inttypes.h>
#include <stdlib.h>

#include "fetch_cache.h"
#include "ingest.h"
#include "local.h"
#include "plugins.h"
#include "proof.h"
#include "remote.h"
#include "versions.h"

void closure_init(struct closure *c, struct context *cx,
                  const struct layer *layer, struct store *store,
                  const struct closure_options *o)
{
    *c = (struct closure){.cx = cx,
                          .layer = layer,
                          .store = store,
                          .options = *o,
                          .session = {.dirfd = -1}};
    map_init(&c->nodes, &cx->arena);
    map_init(&c->words, &cx->arena);
    notice_init(&c->notices, &cx->arena);
}

void closure_done(struct closure *c)
{
    closure_warn(c);
    fetch_close(c->fetch);
    c->fetch = NULL;
    store_session_end(c->store, &c->session);
}

/* By the user's own files: other machines know nothing of it. */
static bool is_replaced_here(const struct node *n)
{
    return n->replacement && n->replacement->role != PROJECT_WORKSPACE;
}

/* --- asking the network --------------------------------------------------- */

static void show_progress(void *ctx, const struct fetch_progress *p)
{
    struct closure *c = ctx;
    const struct progress shown = {.done = p->done,
                                   .total = p->asked,
                                   .bytes = p->bytes,
                                   .elapsed_ms = proc_now_ms() - c->started_ms};

    c->progress = *p;
    context_progress(c->cx, &shown);
}

/* One a time: what comes goes before. */
static bool report_fetched(void *ctx)
{
    struct closure *c = ctx;

    if (!c->options.on_fetched || c->fetched_reported == c->fetched_count)
        return false;
    c->options.on_fetched(c->options.on_fetched_ctx,
                          c->fetched[c->fetched_reported++]);
    return true;
}

/* While mapm-fetch starts, which takes longer, the index is opened: each
 * answer of a host is looked up there. */
static bool use_idle_time(void *ctx)
{
    struct closure *c = ctx;

    if (c->is_index_open)
        return report_fetched(c);
    c->is_index_open = true;
    state_load(store_state(c->store));
    return true;
}

static bool start_fetch(struct closure *c, struct err *e)
{
    struct fetch_options o = {
        .store = fetch_cache(c->store),
        .ahead = c->options.ahead,
        .hosts = c->layer->rules.hosts,
        .host_count = c->layer->rules.host_count,
        .limits = &c->layer->limits,
        .idle = use_idle_time,
        .idle_ctx = c,
        .progress = show_progress,
        .progress_ctx = c,
        .verbose = c->cx->is_verbose,
    };

    if (c->fetch)
        return true;
    if (!context_check_cancelled(c->cx, e) ||
        !store_session_begin(c->store, &c->session, e))
        return false;
    o.incoming = c->session.path;
    c->started_ms = proc_now_ms();
    return fetch_open(&o, &c->fetch, e);
}

static void report_waiting(void *ctx)
{
    struct closure *c = ctx;

    context_progress(c->cx, &(struct progress){.is_waiting = true});
}

/* Other processes may download the same: theirs counts once it is there. */
static bool begin_download(struct closure *c, const struct node *n, bool *taken,
                           struct err *e)
{
    struct str repository = origin_repository(node_source(n), &c->cx->arena);
    bool ok;

    if (!c->fetch && !context_check_cancelled(c->cx, e))
        return false;
    ok =
        store_begin_download(c->store, repository, report_waiting, c, taken, e);
    context_progress(c->cx, NULL);
    return ok;
}

static void cancel_download(struct closure *c, const struct node *n)
{
    store_cancel_download(c->store,
                          origin_repository(node_source(n), &c->cx->arena));
}

static enum fetch_what what_of(const struct closure *c, const struct node *n)
{
    if (n->is_comparing)
        return FETCH_REF;
    if (n->is_tracing)
        return FETCH_REACH;
    if (n->is_catalog)
        return FETCH_CATALOG;
    if (n->wants_files)
        return FETCH_FILES;
    return c->options.outline && !n->locked ? FETCH_DOCUMENT : FETCH_PACKAGE;
}

const struct origin *closure_locked_origin(const struct closure *c,
                                           const struct node *n)
{
    return n->is_sharing ? node_source(n) : layer_source(c->layer, n->locked);
}

static struct fetch_want make_want(const struct closure *c,
                                   const struct node *n)
{
    struct arena *a = &c->cx->arena;
    /* The one that moves, if it does: its trees are here. */
    const struct lock_entry *entry =
        map_find(&c->layer->by_origin, n->origin.key);
    struct fetch_want want = {
        .id = (unsigned)c->asked_count,
        .what = what_of(c, n),
        .kinds = n->kinds,
        .origin = *node_source(n),
    };

    if (entry) {
        want.base = entry->commit;
        if (entry->tag.n && origin_range(&n->origin, a).n &&
            origin_is_package_of(layer_origin(c->layer, entry), &n->origin, a))
            want.tag = entry->tag;
    }
    want.ranges = n->allowed;
    if (n->locked) {
        want.commit = n->is_sharing ? n->package.commit : n->locked->commit;
        if (!n->is_twin)
            want.object = n->locked->object;
        want.kinds = (unsigned)n->locked->kind;
        want.origin = *closure_locked_origin(c, n);
        want.assume_reachable = true;
        want.stored = n->is_unproved;
        want.proved = n->is_unserved;
    }
    if (n->is_comparing) {
        want.base = want.commit = n->package.commit;
        want.object = entry->object;
        want.kinds = (unsigned)entry->kind;
    }
    if (n->is_tracing)
        want.commit = n->package.commit;
    if (n->is_ref_known) {
        want.commit = n->package.commit;
        want.assume_reachable = true; /* its ref leads there */
    }
    return want;
}

static bool ask(struct closure *c, struct node *n, struct err *e)
{
    struct fetch_want want = make_want(c, n);

    if (!start_fetch(c, e))
        return false;
    c->asked = arena_grow(&c->cx->arena, c->asked, c->asked_count,
                          &c->asked_capacity, sizeof(struct node *));
    c->asked[c->asked_count++] = n;
    return fetch_ask(c->fetch, &want, e);
}

/* At a commit that its plugin, its marketplace or an import names. */
static void use_pin(struct node *n)
{
    n->package.commit = n->pin;
    n->is_ref_known = true;
}

bool closure_want_files(struct closure *c, struct node *n, struct err *e)
{
    n->wants_files = true;
    return ask(c, n, e);
}

/* --- from the lock, from the store ---------------------------------------- */

/* Its own part, by text: below its folder, or made of its files. */
static bool is_own_part(const struct lock_entry *plugin, struct str origin,
                        struct arena *a)
{
    struct str base = lock_origin_text(plugin);
    struct str made = arena_printf(a, "=%.*s/", STR_ARG(lock_own_name(plugin)));

    if (!str_starts(origin, base))
        return false;
    origin = str_from_index(origin, base.n);
    return !origin.n || origin.p[0] == '/' ||
           (origin.p[0] == '?' && str_find(origin, made) != SIZE_MAX);
}

/* Two plugins may have a part of one content: each names it by its own. */
static const struct origin *need_origin(struct closure *c,
                                        const struct lock_entry *entry,
                                        const struct lock_entry *other)
{
    struct arena *a = &c->cx->arena;
    struct origin *o;
    struct err ignored = {0};

    if (entry->kind != DOC_PLUGIN || !other->also_count ||
        is_own_part(entry, other->origin, a))
        return layer_origin(c->layer, other);
    o = arena_new(a, struct origin);
    for (size_t i = 0; i < other->also_count; i++)
        if (is_own_part(entry, other->also[i], a) &&
            origin_parse_part(other->also[i], &c->layer->rules, a, o, &ignored))
            return o;
    return layer_origin(c->layer, other);
}

/* The lock knows the graph: no document is needed. */
static bool take_needs(struct closure *c, struct node *n, struct err *e)
{
    const struct lock_entry *entry = n->locked;
    struct arena *a = &c->cx->arena;
    struct dependency *deps = NULL;

    if (entry->need_count)
        deps = arena_array(a, entry->need_count, sizeof *deps);
    for (size_t i = 0; i < entry->need_count; i++) {
        const struct lock_need *need = &entry->needs[i];
        /* What the committed lock has counts for the local one, too. */
        const struct lock_entry *other =
            layer_is_local(c->layer, entry) && !entry->member_count
                ? layer_find(c->layer, need->kind, need->name)
                : need->entry;

        if (!other)
            return err_set(e, ERR_FORMAT,
                           "mapm.lock:%u: needs %s %.*s, which "
                           "is not there",
                           entry->line, doc_kind_name(need->kind),
                           STR_ARG(need->name));
        deps[i].kind = need->kind;
        deps[i].origin = need_origin(c, entry, other);
    }
    n->package.deps = deps;
    n->package.dep_count = entry->need_count;
    return true;
}

static bool take_locked(struct closure *c, struct node *n, struct err *e)
{
    const struct lock_entry *entry = n->locked;
    n->package.kind = entry->kind;
    n->package.origin = &n->origin;
    n->package.fqn = locked_name(c, n);
    n->own_fqn = lock_own_name(entry);
    n->package.name =
        entry->kind == DOC_MCP ? n->package.fqn : path_last(n->package.fqn);
    n->package.content = entry->digest;
    n->package.user = n;
    n->object = entry->object;
    n->package.version = entry->version;
    n->hidden = entry->allow_hidden;
    n->rewritten = entry->rewritten;
    n->is_part |= entry->plugin.n > 0;
    return take_needs(c, n, e);
}

static bool fail_offline(const struct closure *c, const struct node *n,
                         struct err *e);

bool closure_ask_plugin(struct closure *c, struct node *n, struct err *e)
{
    if (c->options.offline)
        return fail_offline(c, n, e);
    if (!n->locked && n->pin.n)
        use_pin(n);
    return ask(c, n, e);
}

static bool locked_digest(const struct lock_entry *entry, struct hash *out)
{
    return str_starts(entry->digest, STR("sha256:")) &&
           hash_parse(str_from_index(entry->digest, 7), out);
}

static bool fail_offline(const struct closure *c, const struct node *n,
                         struct err *e)
{
    const char *why = n->is_unproved
                          ? "not proved on this machine: run once online"
                          : "it is not in the store";

    if (store_works(c->store, e))
        err_set(e, ERR_OFFLINE, "%s", why);
    else
        err_wrap(e, "%s", why);
    return err_hint(e, "run the command once without --offline");
}

static bool has_files(struct closure *c, struct node *n,
                      const struct hash *digest)
{
    return c->options.forget_files
               ? store_has_package(c->store, digest)
               : store_find_files(c->store, digest, &c->cx->arena, &n->files,
                                  &n->file_count);
}

static bool is_proved(const struct closure *c, struct node *n)
{
    n->is_proved =
        n->is_proved || proof_find(c->layer, c->store, n->locked,
                                   closure_locked_origin(c, n), &n->path);
    return n->is_proved;
}

/* `*found` false: the store lacks it, or the proof of where it is from. */
static bool find_in_store(struct closure *c, struct node *n, bool *found,
                          struct err *e)
{
    const struct origin *o = closure_locked_origin(c, n);

    *found = has_files(c, n, &n->digest);
    n->is_unproved = *found && !is_proved(c, n);
    *found = *found && !n->is_unproved;
    if (!*found)
        return true;
    if (str_eq(o->key, node_source(n)->key))
        n->ref = n->locked->tag.n ? n->locked->tag : proof_ref(o, n->path);
    if (!ingest_check_locked(c, n, e))
        return false;
    n->is_ready = true;
    return true;
}

/* A part comes out of its plugin, one of a marketplace by its entry. */
static bool find_elsewhere(struct closure *c, struct node *n, struct err *e)
{
    if (node_is_derived(n))
        return n->waits = true;
    return plugin_resolve_entry(c, n, e);
}

static bool verify_locked(struct closure *c, struct node *n, struct err *e)
{
    bool found, taken;

    n->assumed_present = n->is_ready = false;
    if (!find_in_store(c, n, &found, e))
        return false;
    if (found)
        return true;
    if (c->options.offline)
        return fail_offline(c, n, e);
    if (node_is_derived(n) || node_has_entry(n))
        return find_elsewhere(c, n, e);
    if (!begin_download(c, n, &taken, e) ||
        (taken && !find_in_store(c, n, &found, e)))
        return false;
    if (found) {
        cancel_download(c, n);
        return true;
    }
    return ask(c, n, e);
}

static bool resolve_locked(struct closure *c, struct node *n, struct err *e)
{
    if (!locked_digest(n->locked, &n->digest))
        return err_set(e, ERR_FORMAT, "mapm.lock:%u: malformed digest",
                       n->locked->line);
    if (node_has_entry(n)) {
        n->source = arena_new(&c->cx->arena, struct origin);
        *n->source = *layer_source(c->layer, n->locked);
    }
    if (!proof_check_commit(c->layer, n->locked, e) || !take_locked(c, n, e))
        return false;
    /* Its needs are known from the lock: all are looked for at once. */
    node_known(c, n);
    if (!c->options.assume_present)
        return verify_locked(c, n, e);
    n->assumed_present = n->is_ready = true;
    return true;
}

/* Goes through the queue again: packages that were assumed are looked up. */
static void stop_assuming(struct closure *c)
{
    if (c->options.assume_present)
        c->resolved = 0;
    c->options.assume_present = false;
}

struct str closure_rest(const struct node *n, struct arena *a)
{
    const struct origin *o = node_source(n);

    if (o->rest.n)
        return o->rest;
    if (o->ref.n)
        return o->path.n ? arena_printf(a, "%.*s/%.*s", STR_ARG(o->ref),
                                        STR_ARG(o->path))
                         : o->ref;
    return arena_printf(a, "%.*s@", STR_ARG(o->path));
}

/* Few commits and refs are those of many packages: each has one copy. */
static struct str intern(struct closure *c, struct str word)
{
    struct map_entry *entry;

    if (word.n == 0)
        return STR("");
    if (!map_has(&c->words, word))
        word = arena_str(&c->cx->arena, word);
    entry = map_entry(&c->words, word);
    return entry->key;
}

#define DEFAULT_REF    STR("HEAD")
#define DEFAULT_BRANCH STR("main") /* of a repository that never told its own */

bool closure_note_default(struct closure *c, const struct node *n,
                          struct err *e)
{
    const struct state_ref ref = {n->ref, n->package.commit, STR_INIT("")};

    return store_put_ref(c->store,
                         origin_repository(node_source(n), &c->cx->arena),
                         DEFAULT_REF, &ref, e);
}

/* Without the network a short origin is of the default branch as it was when
 * the host last told it, whichever way its path was asked for then. */
static bool find_ref(struct closure *c, const struct node *n,
                     struct str repository, struct str rest, struct arena *a,
                     struct state_ref *out)
{
    struct state *state = store_state(c->store);
    struct state_ref head = {.ref = DEFAULT_BRANCH};

    if (state_find_ref(state, repository, rest, a, out))
        return true;
    if (!c->options.offline || !n->origin.is_short || n->origin.ref.n)
        return false;
    if (!state_find_ref(state, repository, DEFAULT_REF, a, &head))
        head.ref = DEFAULT_BRANCH;
    return state_find_ref(state, repository,
                          n->origin.path.n
                              ? arena_printf(a, "%.*s/%.*s", STR_ARG(head.ref),
                                             STR_ARG(n->origin.path))
                              : head.ref,
                          a, out);
}

/* A commit never changes, so what it held is still true; a branch is only
 * believed when there is no network to ask, or when another process asked
 * while this one was running already. */
static bool find_in_index(struct closure *c, struct node *n)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct arena *a = &c->cx->arena;
    struct str repository = origin_repository(node_source(n), &scratch);
    struct str rest = closure_rest(n, &scratch);
    bool is_lasting = c->options.offline || origin_names_commit(node_source(n));
    struct str fresh = {"", 0};
    struct state_package p;
    struct state_proof proof;
    struct state_ref ref;
    struct err ignored = {0};

    /* A range is not believed as others last saw it, nor with other bounds. */
    if (n->allowed.n ||
        (!c->options.offline && origin_range(&n->origin, &scratch).n))
        return false;
    if (!is_lasting &&
        !store_find_fresh_ref(c->store, repository, rest, &scratch, &fresh))
        return false;
    if (!find_ref(c, n, repository, rest, &scratch, &ref) ||
        !(is_lasting || str_eq(ref.commit, fresh)) ||
        !state_find_package(store_state(c->store), repository, ref.commit,
                            ref.path, &scratch, &p) ||
        !has_files(c, n, &p.digest))
        return false;
    if (!(n->kinds & p.kind))
        return false;
    proof = (struct state_proof){repository, ref.commit, ref.path, p.object,
                                 p.digest};
    n->is_unproved = !state_has_proof(store_state(c->store), &proof);
    if (n->is_unproved)
        return false;
    n->ref = intern(c, ref.ref);
    n->package.commit = intern(c, ref.commit);
    n->path = arena_str(a, ref.path);
    n->object = arena_str(a, p.object);
    n->digest = p.digest;
    return node_from_summary(c, n, (enum doc_kind)p.kind, p.summary, a,
                             &ignored);
}

/* The commit of a catalog, when another process asked what its ref names while
 * this one was running: the trees are in the store. A ref of several segments
 * is asked for, as the commit alone does not say where its path begins. */
static bool is_ref_known(struct closure *c, struct node *n)
{
    struct arena *a = &c->cx->arena;
    struct str repository = origin_repository(node_source(n), a);
    struct str rest = closure_rest(n, a), fresh;
    struct state_ref ref;

    if (origin_names_commit(node_source(n)) ||
        origin_range(node_source(n), a).n ||
        !store_find_fresh_ref(c->store, repository, rest, a, &fresh) ||
        !state_find_ref(store_state(c->store), repository, rest, a, &ref) ||
        !str_eq(ref.commit, fresh) || str_has_char(ref.ref, '/'))
        return false;
    n->ref = ref.ref;
    n->package.commit = ref.commit;
    return true;
}

/* What a catalog offers is in no lock and no index. */
static bool resolve_catalog(struct closure *c, struct node *n, struct err *e)
{
    bool taken;

    if (!c->options.offline) {
        if (!begin_download(c, n, &taken, e))
            return false;
        n->is_ref_known = taken && is_ref_known(c, n);
        return ask(c, n, e);
    }
    err_set(e, ERR_OFFLINE, "only its host knows what a catalog offers");
    return err_hint(e, "--offline takes packages by their own names, as in "
                       "mapm install --offline owner/repo/path/to/skill");
}

/* What a file: package equals is no word of a commit, and that another origin
 * has the same content is the lock's word alone. Of one whose commit the lock
 * does not name the entry's own origin stands for it, so that is needed. */
static bool is_covered_by(struct closure *c, struct node *n,
                          const struct lock_entry *entry)
{
    return proof_applies(c->layer, entry) &&
           proof_covers(c->layer, c->store, entry, node_source(n),
                        &c->cx->arena, &n->package.commit) &&
           (n->package.commit.n ||
            closure_find(c, layer_origin(c->layer, entry)->key));
}

/* The lock names a commit for it: that is to hold the content at its path, as
 * its ref may name another one by now. */
static bool may_share(struct closure *c, struct node *n,
                      const struct lock_entry *entry)
{
    if (!proof_applies(c->layer, entry))
        return false;
    n->package.commit =
        proof_commit(c->layer, entry, node_source(n), &c->cx->arena);
    return n->package.commit.n > 0;
}

/* It does not: what its ref names decides. So it does where a repository of
 * this machine's configuration lacks what mapm.lock holds. */
static bool stop_sharing(struct closure *c, struct node *n, struct err *e)
{
    n->is_override = !n->is_sharing;
    n->is_sharing = n->is_twin = n->is_unproved = n->is_proved = false;
    n->locked = NULL;
    n->package.commit = n->object = n->path = str_make("", 0);
    return ask(c, n, e);
}

/* Its commit has another object at its path: a folder with a link has the same
 * content as one with a copy. Whether it has is seen when it is here. */
static bool ask_twin(struct closure *c, struct node *n, struct err *e)
{
    n->is_twin = true;
    n->is_unproved = false;
    return ask(c, n, e);
}

/* It is what that commit holds, whatever its ref names by now. */
static void take_twin(struct node *n, struct str path, struct arena *a)
{
    n->is_sharing = n->is_twin = false;
    n->locked = NULL;
    n->pin = n->package.commit;
    n->ref = node_tag(n, a).n ? node_tag(n, a) : proof_ref(&n->origin, path);
}

static bool resolve_node(struct closure *c, struct node *n, struct err *e);

static bool is_as_locked(const struct node *n, const struct lock_entry *entry)
{
    struct hash digest;

    return str_eq(n->object, entry->object) && locked_digest(entry, &digest) &&
           hash_eq(&digest, &n->digest);
}

/* `moving`: the entry that an update would change, or NULL. */
static bool take_indexed(struct closure *c, struct node *n,
                         const struct lock_entry *moving, struct err *e)
{
    if (moving && is_as_locked(n, moving)) {
        n->stays = true;
        return resolve_node(c, n, e);
    }
    node_complete_origin(c, n);
    node_ready(c, n);
    return true;
}

/* Has its content changed since the lock? Where the lock does not name its
 * commit there is nothing to compare with. */
static bool ask_or_compare(struct closure *c, struct node *n,
                           const struct lock_entry *moving, struct err *e)
{
    if (moving && moving->object.n && !n->is_changed) {
        n->package.commit =
            proof_commit(c->layer, moving, node_source(n), &c->cx->arena);
        n->is_comparing = n->package.commit.n > 0;
    }
    return ask(c, n, e);
}

static const struct lock_entry *moving_entry(const struct closure *c,
                                             const struct node *n,
                                             const struct lock_entry *entry)
{
    return entry && !n->stays && !origin_names_commit(node_source(n)) &&
                   c->options.is_moving &&
                   c->options.is_moving(c->options.moving_ctx, entry)
               ? entry
               : NULL;
}

/* Where a checkout has the package, and no link on the way leads out of it. */
static bool take_from_checkout(struct closure *c, struct node *n, bool any_ref)
{
    struct arena *a = &c->cx->arena;

    if (n->origin.part.n && !str_is(n->origin.part, "plugin"))
        return false;
    for (size_t i = 0; i < c->checkout_count && !n->replacement; i++) {
        const struct checkout *checkout = &c->checkouts[i];
        struct err ignored = {0};
        struct origin file = {.scheme = ORIGIN_FILE};
        struct str path, real;

        if (any_ref ? !checkout_is_remote(checkout, &n->origin, a, &path)
                    : !checkout_has(checkout, &n->origin, a, &path))
            continue;
        file.path = path.n ? fs_join(checkout->path, path, a) : checkout->path;
        if (!fs_real_path(str_dup0(file.path, a), a, &real, &ignored) ||
            !fs_path_is_within(real, checkout->path))
            continue;
        file.text = file.key = str_join(STR("file:"), file.path, a);
        n->source = arena_new(a, struct origin);
        *n->source = file;
        return true;
    }
    return false;
}

/* From a folder: equal content is what mapm.lock holds. */
static bool read_replaced(struct closure *c, struct node *n, struct err *e)
{
    stop_assuming(c);
    if (n->origin.is_short && !n->origin.ref.n) {
        err_set(e, ERR_ORIGIN,
                "%.*s comes from %.*s, which has no default branch",
                STR_ARG(n->origin.text), STR_ARG(n->source->path));
        return err_hint(e, "name a ref: %.*s@main", STR_ARG(n->origin.text));
    }
    n->is_override = true;
    n->ref = n->origin.ref;
    if (n->origin.is_short)
        node_complete_origin(c, n);
    return local_read(c, n, e);
}

/* What a marketplace offers is in no index; of a locked plugin it is asked for at
 * the commit of then. */
static bool resolve_market(struct closure *c, struct node *n, struct err *e)
{
    bool taken;

    if (n->origin.scheme != ORIGIN_GIT)
        return local_read(c, n, e) && plugin_market_settled(c, n, e);
    if (c->options.offline) {
        err_set(e, ERR_OFFLINE,
                "only its host knows what a marketplace offers");
        return err_hint(e, "run the command once without --offline");
    }
    if (n->pin.n)
        use_pin(n);
    return begin_download(c, n, &taken, e) && ask(c, n, e);
}

/* Its plugin brings it, unless the store has it as it is locked. */
static bool resolve_derived(struct closure *c, struct node *n, struct err *e)
{
    const struct lock_entry *entry =
        n->origin.scheme == ORIGIN_GIT
            ? layer_find_origin(c->layer, n->origin.key, false)
            : NULL;

    if (n->is_ready)
        return true;
    if (!entry) {
        n->waits = true;
        return true;
    }
    n->locked = entry;
    n->package.commit = entry->commit;
    return resolve_locked(c, n, e);
}

/* As mapm.lock holds it. */
static bool resolve_covered(struct closure *c, struct node *n,
                            const struct lock_entry *entry, struct err *e)
{
    n->locked = entry;
    /* Its repository may lack what mapm.lock holds: that decides what the
     * lock of this machine is. */
    if (is_replaced_here(n))
        stop_assuming(c);
    n->is_override =
        is_replaced_here(n) && entry->from.n && layer_is_local(c->layer, entry);
    return resolve_locked(c, n, e);
}

static bool fail_unlocked(const struct node *n, struct err *e)
{
    err_set(e, ERR_LOCKED, "mapm.lock does not hold %.*s",
            STR_ARG(n->origin.text));
    return err_hint(e, "run mapm install without --locked and commit "
                       "mapm.lock");
}

/* By the index, else by its host. */
static bool resolve_unlocked(struct closure *c, struct node *n,
                             const struct lock_entry *moving, struct err *e)
{
    bool taken;

    if (node_has_entry(n))
        return plugin_resolve_entry(c, n, e);
    if (n->pin.n && !c->options.offline) {
        use_pin(n);
        return ask(c, n, e);
    }
    if (find_in_index(c, n))
        return take_indexed(c, n, moving, e);
    if (c->options.offline)
        return fail_offline(c, n, e);
    if (!begin_download(c, n, &taken, e))
        return false;
    if (taken && find_in_index(c, n)) {
        cancel_download(c, n);
        return take_indexed(c, n, moving, e);
    }
    return ask_or_compare(c, n, moving, e);
}

/* Of a repository, and no part of a plugin's files. */
static bool resolve_package(struct closure *c, struct node *n, struct err *e)
{
    const struct lock_entry *entry =
        n->allowed.n ? NULL : layer_find_origin(c->layer, n->origin.key, false);
    bool is_covered = entry && is_covered_by(c, n, entry);
    const struct lock_entry *moving = moving_entry(c, n, entry);

    if (n->is_part && n->pin.n && !n->stays && !c->options.offline) {
        stop_assuming(c);
        use_pin(n);
        return ask(c, n, e);
    }
    if (is_covered && !moving)
        return resolve_covered(c, n, entry, e);
    stop_assuming(c);
    if (entry && !is_covered && !moving && may_share(c, n, entry)) {
        n->is_sharing = true;
        n->locked = entry;
        return resolve_locked(c, n, e);
    }
    n->package.commit = str_make("", 0);
    n->is_override =
        is_replaced_here(n) && n->replacement->role == PROJECT_LOCAL;
    if (c->options.locked && !n->is_override && (is_covered || !entry))
        return fail_unlocked(n, e);
    return resolve_unlocked(c, n, moving, e);
}

static bool resolve_node(struct closure *c, struct node *n, struct err *e)
{
    n->is_resolved = true;
    if (n->kinds == DOC_MARKET)
        return resolve_market(c, n, e);
    if (n->is_catalog && node_source(n)->scheme == ORIGIN_GIT)
        return resolve_catalog(c, n, e);
    if (n->assumed_present)
        return verify_locked(c, n, e);
    if (node_is_derived(n))
        return resolve_derived(c, n, e);
    if (node_has_entry(n) && n->origin.scheme != ORIGIN_GIT) {
        stop_assuming(c);
        return plugin_resolve_entry(c, n, e);
    }
    if (n->origin.scheme == ORIGIN_OWN)
        return local_read(c, n, e);
    if (n->origin.scheme == ORIGIN_FILE) {
        stop_assuming(c);
        return local_read(c, n, e);
    }
    if (node_source(n)->scheme == ORIGIN_FILE ||
        take_from_checkout(c, n, false))
        return read_replaced(c, n, e);
    return resolve_package(c, n, e);
}

/* It is resolved anew. */
static void reset(struct closure *c, struct node *n)
{
    if (!n || n->locked)
        return;
    *n = (struct node){.origin = n->origin,
                       .kinds = n->kinds,
                       .is_exact = n->is_exact,
                       .alias = n->alias,
                       .replacement = n->replacement,
                       .source = n->source,
                       .is_part = n->is_part};
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

        if (closure_find(c, n->origin.key) == n &&
            origin_range(node_source(n), &c->cx->arena).n)
            reset(c, n);
    }
}

/* --- what arrives --------------------------------------------------------- */

/* Which entry of the lock it is that does not fit its commit. */
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

/* The commit has something else there, or is no longer to be had. */
static bool is_no_match(enum err_code code)
{
    return code == ERR_LOCKED || code == ERR_REF || code == ERR_PATH ||
           code == ERR_DAMAGED;
}

/* The package, its ref or its repository is not there any more. */
static bool is_gone(enum err_code code)
{
    return code == ERR_PATH || code == ERR_REF || code == ERR_NOT_FOUND;
}

static bool take_comparison(struct closure *c, struct node *n,
                            const struct fetch_event *event, struct err *e)
{
    bool was_compared = n->is_comparing;

    n->is_comparing = n->is_tracing = false;
    n->stays = n->gone || str_eq(event->commit, n->package.commit);
    n->is_changed = !n->stays;
    if (n->stays && !n->gone && was_compared && c->options.leave_history &&
        origin_range(node_source(n), &c->cx->arena).n == 0) {
        n->is_tracing = true;
        return ask(c, n, e);
    }
    n->package.commit = str_make("", 0);
    return n->stays ? resolve_node(c, n, e) : ask(c, n, e);
}

/* A forced push: the ref has the same content and another history, and others
 * may not get the commit. */
static bool take_new_history(struct closure *c, struct node *n, struct err *e)
{
    n->is_tracing = n->stays = false;
    n->is_changed = true;
    n->package.commit = str_make("", 0);
    return ask(c, n, e);
}

/* Its content is as it is locked, but the lock cannot be proved: an update
 * takes the commit that its ref names now. */
static bool change_after_all(struct closure *c, struct node *n, struct err *e)
{
    bool asked = stop_sharing(c, n, e);

    n->stays = n->is_override = false;
    n->is_changed = true;
    return asked;
}

/* Its host has the commit no longer, but this machine was shown what it held:
 * the object may be there still. */
static bool ask_unserved(struct closure *c, struct node *n, struct err *e)
{
    n->is_unserved = true;
    notice_add(&c->notices, STR("commit-gone"), n->origin.text,
               STR("its locked commit is no longer served: taken as it was "
                   "proved on this machine; others need mapm update, by "
                   "its name"));
    return ask(c, n, e);
}

static void refuse_unserved(const struct node *n, struct err *e)
{
    const struct lock_entry *entry = n->locked;

    err_wrap(e, "mapm.lock:%u: %s %.*s: its commit is no longer served, %s",
             entry->line, doc_kind_name(entry->kind), STR_ARG(entry->name),
             n->is_unserved ? "nor is its content"
                            : "and was never proved on this machine");
    err_hint(e, "run mapm update %.*s, or of several mapm update",
             STR_ARG(entry->name));
}

/* The object alone came: where it lies is known from the proof. */
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

/* Elsewhere "owner/repo@x" is the skill x of the catalog; here x is a ref. */
static void hint_skill(const struct node *n, struct err *e)
{
    const struct origin *o = &n->origin;

    if (e->code == ERR_REF && !e->hint[0] && o->is_short && !o->path.n &&
        o->ref.n)
        err_hint(e,
                 "\"@\" names a branch, tag or commit; for a skill: mapm "
                 "install %.*s/%.*s --skill %.*s",
                 STR_ARG(o->owner), STR_ARG(o->repo), STR_ARG(o->ref));
}

/* What was reviewed under a tag is not what it names now. */
static bool check_tag(const struct closure *c, const struct node *n,
                      const struct fetch_event *event, struct err *e)
{
    const struct lock_entry *entry =
        map_find(&c->layer->by_origin, n->origin.key);

    if (!c->options.is_moving || c->options.accept_moved_tag || !entry ||
        event->tag_commit.n == 0 || str_eq(event->tag_commit, entry->commit))
        return true;
    return err_set(e, ERR_REFUSED,
                   "tag %.*s was moved from %.12s to %.12s: look at it, then "
                   "mapm update --accept-moved-tag %.*s takes it",
                   STR_ARG(entry->tag), entry->commit.p, event->tag_commit.p,
                   STR_ARG(entry->name));
}

/* What an event leads to. */
enum outcome {
    TAKEN,
    PACKAGE_FAILED, /* by `arrival.problem` */
    FAILED,         /* the whole closure, by `arrival.e` */
};

struct arrival {
    struct closure *c;
    struct node *n;
    const struct fetch_event *event;
    struct arena *scratch;
    struct err problem; /* of the package alone */
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

static enum outcome take_package(struct arrival *x)
{
    struct closure *c = x->c;
    struct node *n = x->n;
    struct fetch_event placed;

    if (!check_tag(c, n, x->event, &x->problem))
        return PACKAGE_FAILED;
    if (n->is_sharing &&
        !proof_shares_ref(c->layer, n->locked, node_source(n), x->event->path))
        return of_closure(stop_sharing(c, n, x->e));
    if (n->is_twin)
        take_twin(n, arena_str(&c->cx->arena, x->event->path), &c->cx->arena);
    placed = place_unserved(c, n, x->event);
    if (!ingest_package(c, n, &placed, x->scratch, &x->problem))
        return PACKAGE_FAILED;
    if (x->event->doc == DOC_MARKET)
        return of_closure(plugin_market_settled(c, n, x->e));
    if (n->stays && !n->is_ready)
        return of_package(resolve_node(c, n, &x->problem));
    if (n->package.kind != DOC_PLUGIN)
        add_fetched(c, n);
    return TAKEN;
}

static enum outcome take_outline(struct arrival *x)
{
    struct closure *c = x->c;
    struct node *n = x->n;

    return of_package(
        check_tag(c, n, x->event, &x->problem) &&
        ingest_outline(c, n, x->event, x->scratch, &x->problem) &&
        (c->options.outline || closure_want_files(c, n, &x->problem)));
}

static enum outcome take_gone(struct arrival *x)
{
    struct node *n = x->n;

    n->gone = arena_new(&x->c->cx->arena, struct err);
    *n->gone = x->problem;
    err_clear(&x->problem);
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

/* Its host has no such package, or not as it was asked for: there may be
 * another way to it. */
static enum outcome take_failure(struct arrival *x)
{
    struct closure *c = x->c;
    struct node *n = x->n;
    enum err_code code = x->event->err->code;

    x->problem = *x->event->err;
    if (n->is_sharing && !n->is_twin && code == ERR_LOCKED)
        return of_closure(ask_twin(c, n, x->e));
    if ((n->is_sharing || (n->locked && is_replaced_here(n))) &&
        is_no_match(code))
        return of_closure(stop_sharing(c, n, x->e));
    if (n->is_comparing && is_gone(code))
        return take_gone(x);
    if (n->is_tracing && remote_is_answer(code))
        return of_closure(take_new_history(c, n, x->e));
    n->is_comparing = n->is_tracing = false;
    if (n->locked && code == ERR_REF && !n->is_unserved && is_proved(c, n))
        return of_closure(ask_unserved(c, n, x->e));
    /* A ref that is not pushed yet. */
    if (!n->locked && code == ERR_REF && take_from_checkout(c, n, true)) {
        err_clear(&x->problem);
        return of_package(read_replaced(c, n, &x->problem));
    }
    explain_failure(n, &x->problem);
    return PACKAGE_FAILED;
}

static enum outcome take_event(struct arrival *x)
{
    struct closure *c = x->c;
    struct node *n = x->n;

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
        return of_package(check_tag(c, n, x->event, &x->problem) &&
                          take_comparison(c, n, x->event, &x->problem));
    case FETCH_OUTLINE:
        return take_outline(x);
    case FETCH_FAILED:
        return take_failure(x);
    default:
        return TAKEN;
    }
}

static bool handle_event(struct closure *c, const struct fetch_event *event,
                         struct arena *scratch, struct err *e)
{
    struct node *n = event->id < c->asked_count ? c->asked[event->id] : NULL;
    struct arrival x = {
        .c = c, .n = n, .event = event, .scratch = scratch, .e = e};
    enum outcome outcome;

    if (event->kind == FETCH_IDLE || !n)
        return true;
    for (size_t i = 0; i < event->note_count; i++)
        notice_add(&c->notices, STR(""), STR(""), event->notes[i]);
    outcome = take_event(&x);
    if (outcome != PACKAGE_FAILED)
        return outcome == TAKEN;
    if (n->stays && !n->gone && is_no_match(x.problem.code))
        return change_after_all(c, n, e);
    if (x.problem.code == ERR_INTERRUPTED || x.problem.code == ERR_IO) {
        *e = x.problem; /* ours, not the package's: no use going on */
        return false;
    }
    node_fail(c, n, &x.problem);
    return n->kinds != DOC_MARKET || plugin_market_settled(c, n, e);
}

static bool resolve_pending(struct closure *c, struct err *e)
{
    const struct limit *most = &c->layer->limits.graph_max_packages;
    struct err problem = {0};

    while (c->resolved < c->queued) {
        struct node *n = c->queue[c->resolved++];

        if (n->is_resolved &&
            (!n->assumed_present || c->options.assume_present))
            continue;
        if (c->queued > most->value)
            return limit_fail(most, e, "more than %" PRIu64 " packages",
                              most->value);
        if (resolve_node(c, n, &problem))
            continue;
        if (problem.code == ERR_INTERRUPTED || problem.code == ERR_IO) {
            *e = problem;
            return false;
        }
        node_fail(c, n, &problem);
        err_clear(&problem);
        if (n->kinds == DOC_MARKET && !plugin_market_settled(c, n, e))
            return false;
    }
    return true;
}

bool closure_gather(struct closure *c, struct err *e)
{
    struct fetch_event event = {.kind = FETCH_IDLE};
    bool ok;

    for (;;) {
        CLEANUP(arena_done) struct arena scratch = {0};

        ok = resolve_pending(c, e);
        if (!ok || !c->fetch)
            break;
        ok = fetch_next(c->fetch, &scratch, &event, e) &&
             handle_event(c, &event, &scratch, e);
        if (!ok || (event.kind == FETCH_IDLE && c->resolved == c->queued))
            break;
    }
    context_progress(c->cx, NULL);
    if (c->fetch)
        fetch_get_progress(c->fetch, &c->progress);
    if (ok)
        plugin_fail_waiting(c);
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

/* Mostly the order of paths, too. */
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

/*
 * Those that are in the store, found in the order in which the index has its
 * rows: in any other each of many packages reads a page of it anew. The rest
 * stay assumed, to be told or asked for in the order of the queue.
 */
static void find_assumed(struct closure *c)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct lookup *lookups =
        arena_array(&scratch, c->queued + 1, sizeof *lookups);
    size_t count = 0;

    for (size_t i = 0; i < c->queued; i++)
        if (c->queue[i]->assumed_present)
            lookups[count++].node = c->queue[i];
    sort_lookups(lookups, count, place_in_lock);
    for (size_t i = 0; i < count; i++)
        is_proved(c, lookups[i].node);
    sort_lookups(lookups, count, place_of_digest);
    for (size_t i = 0; i < count; i++) {
        struct node *n = lookups[i].node;
        struct err ignored = {0};
        bool found;

        if (n->is_proved && find_in_store(c, n, &found, &ignored) && found)
            n->assumed_present = false;
    }
}

bool closure_verify_store(struct closure *c, struct err *e)
{
    if (c->options.assume_present)
        find_assumed(c);
    stop_assuming(c);
    return closure_gather(c, e);
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
    *out = &n->package;
    return true;
}
