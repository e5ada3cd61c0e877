#include "closure_resolve.h"

#include "base/digest.h"
#include "base/fs.h"
#include "mapm/doc_kind.h"
#include "mapm/lock.h"
#include "mapm/origin.h"
#include "mapm/state.h"
#include "mapm/team_object.h"

#include "index.h"
#include "ingest.h"
#include "local.h"
#include "names.h"
#include "plugins.h"
#include "proof.h"

/* --- from the lock, from the store ---------------------------------------- */

/* Returns whether the origin is a part of the plugin: below its folder, or made
 * of its files. */
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

/* Returns the origin of a dependency. Plugins with a part of equal content
 * refer to it by their own origins. */
static const struct origin *need_origin(struct closure *c,
                                        const struct lock_entry *entry,
                                        const struct lock_entry *other)
{
    struct arena *a = &c->cx->arena;

    if (entry->kind != DOC_PLUGIN || !other->also_count ||
        is_own_part(entry, other->origin, a))
        return layer_origin(c->layer, other);

    struct err ignored = {0};
    struct origin *o;

    o = arena_new(a, struct origin);
    for (size_t i = 0; i < other->also_count; i++)
        if (is_own_part(entry, other->also[i], a) &&
            origin_parse_part(other->also[i], &c->layer->rules, a, o, &ignored))
            return o;
    return layer_origin(c->layer, other);
}

/* Adds the dependencies in the lock, without reading documents. */
static bool take_needs(struct closure *c, struct node *n, struct err *e)
{
    const struct lock_entry *entry = n->locked;
    struct arena *a = &c->cx->arena;
    struct dependency *deps = NULL;

    if (entry->need_count)
        deps = arena_array(a, entry->need_count, sizeof *deps);
    for (size_t i = 0; i < entry->need_count; i++) {
        const struct lock_need *need = &entry->needs[i];
        /* entries of the committed lock apply to the local one, too */
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
    n->package.origin = n->origin;
    n->own_fqn = lock_own_name(entry);
    node_set_name(n, node_locked_name(c, n));
    n->package.content = entry->digest;
    n->package.user = n;
    n->object = entry->object;
    n->package.version = entry->version;
    n->hidden = entry->allow_hidden;
    n->rewritten = entry->rewritten;
    n->is_part |= entry->plugin.n > 0;
    return take_needs(c, n, e);
}

/* Pins the node to the commit that its plugin, marketplace or import names. */
static void use_pin(struct node *n)
{
    n->package.commit = node_rare(n)->pin;
    n->is_ref_known = true;
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

bool closure_ask_plugin(struct closure *c, struct node *n, struct err *e)
{
    if (c->options.offline)
        return fail_offline(c, n, e);
    if (!n->locked && node_rare(n)->pin.n)
        use_pin(n);
    return closure_request(c, n, e);
}

static bool has_files(struct closure *c, struct node *n,
                      const struct hash *digest)
{
    return c->options.forget_files
               ? store_has_package(c->store, digest)
               : store_find_files(c->store, digest, &c->cx->arena, &n->files,
                                  &n->file_count);
}

/* Whether the trees of its commit, as the store has them, or its artifact, prove
 * it to others. */
static bool proves_to_others(struct closure *c, const struct node *n)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct hash artifact;
    struct str commit = n->is_sharing ? n->package.commit : n->locked->commit;
    struct team_proof_end end = {n->path, n->locked->object};

    if (closure_locked_origin(c, n)->scheme == ORIGIN_INDEX)
        return proof_has_artifact(c->store, n->locked, &artifact);
    return install_trees_prove(
               &c->trees, origin_repository(closure_locked_origin(c, n), &a),
               commit, &end) &&
           install_trees_have_market(&c->trees, c->layer, n->locked);
}

bool closure_is_proved(const struct closure *c, struct node *n)
{
    n->is_proved =
        n->is_proved || proof_find(c->layer, c->store, n->locked,
                                   closure_locked_origin(c, n), &n->path);
    return n->is_proved;
}

/* Returns whether the rename in the lock is known to be true; otherwise the
 * host of the former name must be asked. */
static bool is_name_proved(const struct closure *c, const struct node *n,
                           const struct lock_entry *entry)
{
    struct str path;

    return !layer_is_former(c->layer, entry, node_source(n)) ||
           proof_find(c->layer, c->store, entry, layer_source(c->layer, entry),
                      &path);
}

bool closure_find_in_store(struct closure *c, struct node *n, bool *found,
                           struct err *e)
{
    const struct origin *o = closure_locked_origin(c, n);

    *found = has_files(c, n, &n->digest);
    n->is_unproved =
        *found && (!closure_is_proved(c, n) ||
                   (n->is_sharing && !is_name_proved(c, n, n->locked)) ||
                   (c->options.needs_trees && origin_is_remote(o) &&
                    !proves_to_others(c, n)));
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

/* Resolves parts by their plugin, and plugins of a marketplace by their
 * entry. */
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
    if (!closure_find_in_store(c, n, &found, e))
        return false;
    if (found)
        return true;
    if (c->options.offline)
        return fail_offline(c, n, e);
    if (node_is_derived(n) || node_has_entry(n))
        return find_elsewhere(c, n, e);
    if (n->locked->artifact.n && n->origin->scheme == ORIGIN_INDEX)
        return index_fetch_locked(c, n, e);
    if (!closure_begin_download(c, n, &taken, e) ||
        (taken && !closure_find_in_store(c, n, &found, e)))
        return false;
    if (found) {
        closure_cancel_download(c, n);
        return true;
    }
    return n->is_sharing && layer_is_former(c->layer, n->locked, node_source(n))
               ? closure_request_renamed(c, n, e)
               : closure_request(c, n, e);
}

static bool resolve_locked(struct closure *c, struct node *n, struct err *e)
{
    if (!digest_parse(n->locked->digest, &n->digest))
        return err_set(e, ERR_FORMAT, "mapm.lock:%u: malformed digest",
                       n->locked->line);
    if (node_has_entry(n)) {
        n->source = arena_new(&c->cx->arena, struct origin);
        *n->source = *layer_source(c->layer, n->locked);
    }
    if (!proof_check_commit(c->layer, n->locked, e) || !take_locked(c, n, e))
        return false;
    /* resolve all dependencies in the lock at once */
    node_known(c, n);
    if (!c->options.assume_present && !n->is_elsewhere)
        return verify_locked(c, n, e);
    n->assumed_present = n->is_ready = true;
    return true;
}

void closure_stop_assuming(struct closure *c)
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

/* Returns a shared copy, because many packages have the same commits and
 * refs. */
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

#define DEFAULT_REF STR("HEAD")
/* Used if the default branch of a repository is unknown. */
#define DEFAULT_BRANCH STR("main")

bool closure_note_default(struct closure *c, const struct node *n,
                          struct err *e)
{
    const struct state_ref ref = {n->ref, n->package.commit, STR_INIT("")};

    return store_put_ref(c->store,
                         origin_repository(node_source(n), &c->cx->arena),
                         DEFAULT_REF, &ref, e);
}

/* With --offline, a short origin refers to the default branch that the host
 * last reported. */
static bool find_ref(struct closure *c, const struct node *n,
                     struct str repository, struct str rest, struct arena *a,
                     struct state_ref *out)
{
    struct state *state = store_state(c->store);
    struct state_ref head = {.ref = DEFAULT_BRANCH};

    if (state_find_ref(state, repository, rest, a, out))
        return true;
    if (!c->options.offline || !n->origin->is_short || n->origin->ref.n)
        return false;
    if (!state_find_ref(state, repository, DEFAULT_REF, a, &head))
        head.ref = DEFAULT_BRANCH;
    return state_find_ref(state, repository,
                          n->origin->path.n
                              ? arena_printf(a, "%.*s/%.*s", STR_ARG(head.ref),
                                             STR_ARG(n->origin->path))
                              : head.ref,
                          a, out);
}

/* Looks the node up in the index. Commits are immutable; a branch is used only
 * offline, or if another process resolved it while this one was running. */
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

    /* the index does not know the tags or bounds of a range */
    if (node_rare(n)->allowed.n ||
        (!c->options.offline && origin_range(n->origin, &scratch).n))
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

/* Uses the commit of a catalog whose ref another process resolved while this
 * one was running, since its trees are in the store. A ref of several segments
 * is requested, because the commit does not tell where the path begins. */
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

/* Resolves a catalog, whose packages are neither in the lock nor in the
 * index. */
static bool resolve_catalog(struct closure *c, struct node *n, struct err *e)
{
    bool taken;

    if (!c->options.offline) {
        if (!closure_begin_download(c, n, &taken, e))
            return false;
        n->is_ref_known = taken && is_ref_known(c, n);
        return closure_request(c, n, e);
    }
    err_set(e, ERR_OFFLINE, "only its host knows what a catalog offers");
    return err_hint(e, "--offline takes packages by their own names, as in "
                       "mapm install --offline owner/repo/path/to/skill");
}

/* Returns whether the lock entry covers the node. A file: package never proves
 * a commit. Without a commit of its own in `also`, an origin is covered only by
 * the entry's own origin, which is then required. */
static bool is_covered_by(struct closure *c, struct node *n,
                          const struct lock_entry *entry)
{
    /* the lock names the source of a marketplace entry */
    const struct origin *source =
        node_has_entry(n) &&
                str_eq(layer_origin(c->layer, entry)->key, n->origin->key)
            ? layer_source(c->layer, entry)
            : node_source(n);

    return proof_applies(c->layer, entry) && is_name_proved(c, n, entry) &&
           proof_covers(c->layer, c->store, entry, source, &c->cx->arena,
                        &n->package.commit) &&
           (n->package.commit.n ||
            closure_find(c, layer_origin(c->layer, entry)->key));
}

/* Checks the content at the commit that the lock names for the origin, since
 * its ref may have moved. */
static bool may_share(struct closure *c, struct node *n,
                      const struct lock_entry *entry)
{
    if (!proof_applies(c->layer, entry))
        return false;
    n->package.commit =
        proof_commit(c->layer, entry, node_source(n), &c->cx->arena);
    return n->package.commit.n > 0;
}

/* Resolves the node by its ref, because the commit lacks the content, or a
 * replacement of this machine lacks the locked object. */
bool closure_stop_sharing(struct closure *c, struct node *n, struct err *e)
{
    n->is_override = !n->is_sharing;
    n->is_sharing = n->is_twin = n->is_unproved = n->is_proved = false;
    n->by_lock_name = n->checks_former = false;
    n->locked = NULL;
    n->package.commit = n->object = n->path = str_make("", 0);
    return closure_request(c, n, e);
}

static bool is_as_locked(const struct node *n, const struct lock_entry *entry)
{
    struct hash digest;

    return str_eq(n->object, entry->object) &&
           digest_parse(entry->digest, &digest) && hash_eq(&digest, &n->digest);
}

/* Takes the node from the index; `moving` is the entry that an update would
 * change, or NULL. */
static bool take_indexed(struct closure *c, struct node *n,
                         const struct lock_entry *moving, struct err *e)
{
    if (moving && is_as_locked(n, moving)) {
        n->stays = true;
        return closure_resolve(c, n, e);
    }
    node_complete_origin(c, n);
    node_ready(c, n);
    return true;
}

/* Compares the content with the lock, or requests it if the lock names no
 * commit. */
static bool request_or_compare(struct closure *c, struct node *n,
                               const struct lock_entry *moving, struct err *e)
{
    if (moving && moving->object.n && !n->is_changed) {
        n->package.commit =
            proof_commit(c->layer, moving, node_source(n), &c->cx->arena);
        n->is_comparing = n->package.commit.n > 0;
    }
    return closure_request(c, n, e);
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

bool closure_take_from_checkout(struct closure *c, struct node *n, bool any_ref)
{
    struct arena *a = &c->cx->arena;

    if (n->origin->part.n && !str_is(n->origin->part, "plugin"))
        return false;
    for (size_t i = 0; i < c->checkout_count && !n->replacement; i++) {
        const struct checkout *checkout = &c->checkouts[i];
        struct err ignored = {0};
        struct origin file = {.scheme = ORIGIN_FILE};
        struct str path, real;

        if (any_ref ? !checkout_is_remote(checkout, n->origin, a, &path)
                    : !checkout_has(checkout, n->origin, a, &path))
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

/* Reads a replaced package from a folder; equal content counts as locked. */
bool closure_read_replaced(struct closure *c, struct node *n, struct err *e)
{
    closure_stop_assuming(c);
    if (n->origin->is_short && !n->origin->ref.n) {
        err_set(e, ERR_ORIGIN,
                "%.*s comes from %.*s, which has no default branch",
                STR_ARG(n->origin->text), STR_ARG(n->source->path));
        return err_hint(e, "name a ref: %.*s@main", STR_ARG(n->origin->text));
    }
    n->is_override = true;
    n->ref = n->origin->ref;
    if (n->origin->is_short)
        node_complete_origin(c, n);
    return local_read(c, n, e);
}

/* Requests a marketplace, which is not in the index; for a locked plugin, at
 * the locked commit. */
static bool resolve_market(struct closure *c, struct node *n, struct err *e)
{
    bool taken;

    if (n->origin->scheme != ORIGIN_GIT)
        return local_read(c, n, e) && plugin_market_resolved(c, n, e);
    if (c->options.offline) {
        err_set(e, ERR_OFFLINE,
                "only its host knows what a marketplace offers");
        return err_hint(e, "run the command once without --offline");
    }
    if (node_rare(n)->pin.n)
        use_pin(n);
    return closure_begin_download(c, n, &taken, e) && closure_request(c, n, e);
}

/* Resolves a derived part by its plugin, unless the store has the locked
 * content. */
static bool resolve_derived(struct closure *c, struct node *n, struct err *e)
{
    const struct lock_entry *entry =
        n->origin->scheme == ORIGIN_GIT
            ? layer_find_origin(c->layer, n->origin->key, false)
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

/* Resolves a node by mapm.lock. */
static bool resolve_covered(struct closure *c, struct node *n,
                            const struct lock_entry *entry, struct err *e)
{
    n->locked = entry;
    /* the replacement may lack the locked object, which determines
     * mapm.local.lock */
    if (node_is_replaced_here(n))
        closure_stop_assuming(c);
    n->is_override = node_is_replaced_here(n) && entry->from.n &&
                     layer_is_local(c->layer, entry);
    return resolve_locked(c, n, e);
}

static bool fail_unlocked(const struct node *n, struct err *e)
{
    err_set(e, ERR_LOCKED, "mapm.lock does not hold %.*s",
            STR_ARG(n->origin->text));
    return err_hint(e, "run mapm install without --locked and commit "
                       "mapm.lock");
}

/* Resolves a node by the index, or else by its host. */
static bool resolve_unlocked(struct closure *c, struct node *n,
                             const struct lock_entry *moving, struct err *e)
{
    bool taken;

    if (node_has_entry(n))
        return plugin_resolve_entry(c, n, e);
    if (node_rare(n)->pin.n && !c->options.offline) {
        use_pin(n);
        return closure_request(c, n, e);
    }
    if (find_in_index(c, n))
        return take_indexed(c, n, moving, e);
    if (c->options.offline)
        return fail_offline(c, n, e);
    if (!closure_begin_download(c, n, &taken, e))
        return false;
    if (taken && find_in_index(c, n)) {
        closure_cancel_download(c, n);
        return take_indexed(c, n, moving, e);
    }
    return request_or_compare(c, n, moving, e);
}

/* Resolves a package of a repository that is not a derived part. */
static bool resolve_package(struct closure *c, struct node *n, struct err *e)
{
    const struct lock_entry *entry =
        node_rare(n)->allowed.n
            ? NULL
            : layer_find_origin(c->layer, n->origin->key, false);
    bool is_covered = entry && is_covered_by(c, n, entry);
    const struct lock_entry *moving = moving_entry(c, n, entry);

    if (n->is_part && node_rare(n)->pin.n && !n->stays && !c->options.offline) {
        closure_stop_assuming(c);
        use_pin(n);
        return closure_request(c, n, e);
    }
    if (is_covered && !moving)
        return resolve_covered(c, n, entry, e);
    closure_stop_assuming(c);
    if (entry && !is_covered && !moving && may_share(c, n, entry)) {
        n->is_sharing = true;
        n->locked = entry;
        return resolve_locked(c, n, e);
    }
    n->package.commit = str_make("", 0);
    n->is_override =
        node_is_replaced_here(n) && n->replacement->role == PROJECT_LOCAL;
    if (c->options.locked && !n->is_override && (is_covered || !entry))
        return fail_unlocked(n, e);
    return resolve_unlocked(c, n, moving, e);
}

/* Returns whether the lock entry of another origin covers the skill, because
 * the index was seen to offer that content. */
static bool is_index_covered(const struct closure *c, const struct node *n,
                             const struct lock_entry *entry)
{
    struct str ignored;

    return str_eq(layer_origin(c->layer, entry)->key, n->origin->key) ||
           (proof_applies(c->layer, entry) &&
            closure_find(c, layer_origin(c->layer, entry)->key) &&
            proof_covers(c->layer, c->store, entry, n->origin, &c->cx->arena,
                         &ignored));
}

/* Resolves a skill of an index, or the index itself. */
static bool resolve_index(struct closure *c, struct node *n, struct err *e)
{
    const struct lock_entry *entry =
        layer_find_origin(c->layer, n->origin->key, false);
    const struct lock_entry *moving = moving_entry(c, n, entry);
    bool stays;

    if (n->origin->part.n == 0)
        return index_list(c, n, e);
    if (entry && !moving && is_index_covered(c, n, entry))
        return resolve_covered(c, n, entry, e);
    closure_stop_assuming(c);
    if (c->options.locked && !entry)
        return fail_unlocked(n, e);
    if (c->options.offline)
        return fail_offline(c, n, e);
    if (!index_fetch(c, n, moving, &stays, e))
        return false;
    n->stays = stays;
    return !stays || closure_resolve(c, n, e);
}

/* Returns whether mapm.local.lock has the package from a checkout: its ref may be
 * one that the remote lacks, and only an update asks again. */
static bool is_locked_from_checkout(const struct closure *c,
                                    const struct node *n)
{
    const struct lock_entry *entry =
        map_find(&c->layer->by_origin, n->origin->key);

    return entry && layer_is_local(c->layer, entry) &&
           layer_is_from_checkout(c->layer, entry) &&
           !moving_entry(c, n, entry);
}

bool closure_resolve(struct closure *c, struct node *n, struct err *e)
{
    n->is_resolved = true;
    if (n->kinds == DOC_MARKET)
        return resolve_market(c, n, e);
    if (n->origin->scheme == ORIGIN_INDEX && !n->assumed_present)
        return resolve_index(c, n, e);
    if (n->is_catalog && node_source(n)->scheme == ORIGIN_GIT)
        return resolve_catalog(c, n, e);
    if (n->assumed_present)
        return verify_locked(c, n, e);
    if (node_is_derived(n))
        return resolve_derived(c, n, e);
    if (node_has_entry(n) && n->origin->scheme != ORIGIN_GIT) {
        closure_stop_assuming(c);
        return plugin_resolve_entry(c, n, e);
    }
    if (n->origin->scheme == ORIGIN_OWN)
        return local_read(c, n, e);
    if (n->origin->scheme == ORIGIN_FILE) {
        closure_stop_assuming(c);
        return local_read(c, n, e);
    }
    if (node_source(n)->scheme == ORIGIN_FILE ||
        closure_take_from_checkout(c, n, is_locked_from_checkout(c, n)))
        return closure_read_replaced(c, n, e);
    return resolve_package(c, n, e);
}
