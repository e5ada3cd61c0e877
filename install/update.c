#include "mapm/origin.h"

#include "catalogs.h"
#include "choose_clients.h"
#include "proof.h"
#include "renames.h"

/* The packages to update: all or the named ones, except held ones. */
struct update {
    struct install_session *session;
    struct arena *a;
    struct map entries; /* entries by origin, which has one version in all
                         * layers */
    bool all;
    const struct catalog **catalogs; /* catalogs to search for new packages */
    size_t catalog_count;
    struct map held; /* entries held with a root */
    struct install_held *list;
    size_t count, capacity;
};

static bool is_commit_origin(const struct layer *l, const struct lock_entry *en,
                             struct arena *a)
{
    struct err ignored = {0};
    struct origin o;

    return origin_parse_part(en->origin, &l->rules, a, &o, &ignored) &&
           origin_names_commit(&o);
}

/* Adds an entry; the lock may have several of one package for several
 * members. */
static void put_entry(struct map *map, const struct lock_entry *entry)
{
    map_put(map, entry->origin, map);
    for (size_t i = 0; i < entry->also_count; i++)
        map_put(map, entry->also[i], map);
}

static bool is_moving(void *ctx, const struct lock_entry *entry)
{
    const struct update *u = ctx;

    return (u->all || map_has(&u->entries, entry->origin)) &&
           (u->held.count == 0 || !map_has(&u->held, entry->origin));
}

static bool take_entry(struct install_session *s, struct update *u,
                       const struct lock_entry *entry, struct err *e)
{
    if (is_commit_origin(&s->layer, entry, u->a)) {
        err_set(e, ERR_IMMUTABLE, "%.*s is asked for by its commit: %.*s",
                STR_ARG(entry->name), STR_ARG(entry->origin));
        return err_hint(e, "install it from another ref instead");
    }
    put_entry(&u->entries, entry);
    return true;
}

/* Chooses the packages of the current member if no name is given. */
static void take_own(const struct install_session *s, struct update *u)
{
    const struct lock_entry **entries;
    size_t count;

    u->all = false;
    entries = layer_entries(&s->layer, u->a, &count);
    for (size_t i = 0; i < count; i++)
        put_entry(&u->entries, entries[i]);
}

static bool find_in_layer(struct install_session *s, struct update *u,
                          const struct str *names, size_t count, struct err *e)
{
    const struct lock_entry **entries =
        arena_array(u->a, count + 1, sizeof *entries);

    if (!layer_resolve_names(&s->layer, names, count, u->a, entries, e))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!take_entry(s, u, entries[i], e))
            return false;
    return true;
}

/* Finds a name; at the root, it may be of any member. */
static bool find_name(struct install_session *s, struct update *u,
                      struct str name, struct err *e)
{
    const struct lock_entry *entry;
    struct err first = {0};
    bool found = false;

    for (size_t i = 0; i < s->part_count; i++) {
        struct err why = {0};

        session_go(s, (s->layers.here + i) % s->part_count);
        if (!s->is_chosen)
            continue;
        if (layer_resolve_name(&s->layer, name, s->cx, &entry, &why)) {
            if (!take_entry(s, u, entry, e))
                break;
            found = true;
        } else if (first.code == ERR_NONE) {
            first = why;
        }
    }
    session_go_home(s);
    if (!found && e->code == ERR_NONE)
        *e = first;
    return found && e->code == ERR_NONE;
}

/* Adds the packages of a catalog, except those pinned to commits. */
static void add_catalog(struct update *u, const struct catalog *c)
{
    const struct lock_entry **entries;
    size_t count;

    u->catalogs[u->catalog_count++] = c;
    entries = catalogs_entries(u->session, c, &count);
    for (size_t i = 0; i < count; i++)
        put_entry(&u->entries, entries[i]);
}

/* Separates the arguments into catalogs and names of packages. */
static void find_catalogs(struct update *u, struct str *names, size_t *count)
{
    const struct str_list *words = &u->session->request->arguments;

    *count = 0;
    for (size_t i = 0; i < words->count; i++) {
        const struct catalog *c = catalogs_find(u->session, words->items[i]);

        if (c)
            add_catalog(u, c);
        else
            names[(*count)++] = words->items[i];
    }
}

static bool find_named(struct install_session *s, struct update *u,
                       struct err *e)
{
    size_t count = s->request->arguments.count;
    struct str *names = arena_array(u->a, count + 1, sizeof *names);

    u->all = count == 0;
    u->catalogs = arena_array(u->a, count + 1, sizeof(struct catalog *));
    find_catalogs(u, names, &count);
    if (u->all)
        u->catalogs = catalogs_list(s, &u->catalog_count);
    if (u->all && !session_is_everywhere(s))
        take_own(s, u);
    if (s->part_count == 1 || !session_is_everywhere(s))
        return find_in_layer(s, u, names, count, e);
    for (size_t i = 0; i < count; i++)
        if (!find_name(s, u, names[i], e))
            return false;
    return true;
}

/* --- what is held --------------------------------------------------------- */

static struct str pinned_origin(const struct update *u,
                                const struct lock_entry *entry)
{
    const struct layer *l = &u->session->layer;
    const struct origin *o = layer_origin(l, entry);
    const struct node *n = closure_find(&u->session->closure, o->key);
    struct str path = n ? n->path : o->path;
    struct origin pinned;

    if (o->scheme != ORIGIN_GIT || entry->commit.n == 0)
        return str_make("", 0);
    if (origin_range(o, u->a).n)
        path = origin_slot_path(o);
    else if (path.n == 0 && !proof_find(l, u->session->store, entry, o, &path))
        path = o->path;
    origin_complete(o, entry->commit, path, u->a, &pinned);
    return pinned.text;
}

/* Returns the cause, without the list that explains it. */
static struct str cause_of(const struct err *why, struct arena *a)
{
    const char *m = err_next(why, NULL);

    while (m && err_role(m) != ERR_CAUSE)
        m = err_next(why, m);
    return arena_str(a, str_cstr(m ? m : err_first(why)));
}

static struct str_list members_of(const struct err *why, struct arena *a)
{
    struct str *items = NULL;
    size_t count = 0, capacity = 0;

    for (const char *m = err_prev(why, NULL); m; m = err_prev(why, m)) {
        if (err_role(m) != ERR_ITEM)
            continue;
        items = arena_grow(a, items, count, &capacity, sizeof *items);
        items[count++] = arena_str(a, str_cstr(m));
    }
    return (struct str_list){items, count};
}

static struct install_place
place_now(const struct update *u, const struct lock_entry *entry, bool is_gone)
{
    const struct node *n = closure_find(
        &u->session->closure, layer_origin(&u->session->layer, entry)->key);

    return is_gone && n ? node_rare(n)->place_now : (struct install_place){0};
}

static void hold(struct update *u, const struct lock_entry *entry, bool is_gone,
                 bool is_root, const struct err *why)
{
    u->list =
        arena_grow(u->a, u->list, u->count, &u->capacity, sizeof *u->list);
    u->list[u->count++] = (struct install_held){
        .entry = entry,
        .is_gone = is_gone,
        .is_root = is_root,
        .code = str_cstr(err_code_name(why->code)),
        .message = cause_of(why, u->a),
        .chains = members_of(why, u->a),
        .pin = pinned_origin(u, entry),
        .place_now = place_now(u, entry, is_gone),
        .hint = u->session->unmergeable ? arena_str(u->a, str_cstr(why->hint))
                                        : str_make("", 0),
    };
}

/* Returns the locked closure of a root, itself first, allocated in `a`. */
static const struct lock_entry **locked_closure(const struct update *u,
                                                const struct lock_entry *root,
                                                struct arena *a, size_t *count)
{
    const struct layer *l = &u->session->layer;
    const struct lock_entry **list = NULL;
    size_t capacity = 0;
    struct map seen;

    *count = 0;
    map_init(&seen, a);
    map_put(&seen, layer_name_key(root->kind, root->name, a), NULL);
    list = arena_grow(a, list, *count, &capacity, sizeof *list);
    list[(*count)++] = root;
    for (size_t i = 0; i < *count; i++)
        for (size_t k = 0; k < list[i]->need_count; k++) {
            const struct lock_need *need = &list[i]->needs[k];
            const struct lock_entry *other =
                layer_find(l, need->kind, need->name);

            if (!other ||
                !map_put(&seen, layer_name_key(need->kind, need->name, a),
                         NULL))
                continue;
            list = arena_grow(a, list, *count, &capacity, sizeof *list);
            list[(*count)++] = other;
        }
    return list;
}

static const struct lock_entry *root_entry(const struct update *u,
                                           const struct root *root)
{
    return map_find(&u->session->layer.by_origin, root->origin.key);
}

/* Returns whether something in the closure differs from the lock and can be
 * held. Packages replaced on this machine cannot be held. */
static bool can_be_held(const struct update *u, const struct root *root)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct install_session *s = u->session;
    const struct lock_entry *entry = root_entry(u, root), **list;
    size_t count;

    if (!entry)
        return false;
    list = locked_closure(u, entry, &scratch, &count);
    for (size_t i = 0; i < count; i++) {
        const struct node *n =
            closure_find(&s->closure, layer_origin(&s->layer, list[i])->key);

        if (origin_is_remote(layer_origin(&s->layer, list[i])) &&
            (!n || !n->locked) && !map_has(&u->held, list[i]->origin))
            return true;
    }
    return false;
}

static void hold_root(struct update *u, const struct root *root,
                      const struct err *why)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct lock_entry *entry = root_entry(u, root), **list;
    size_t count;

    hold(u, entry, false, true, why);
    list = locked_closure(u, entry, &scratch, &count);
    for (size_t i = 0; i < count; i++) {
        put_entry(&u->held, list[i]);
        closure_keep_locked(&u->session->closure, list[i]);
    }
}

/* Orders roots, the `*fixed` ones that do not move first. */
static struct root *order_roots(const struct update *u, struct arena *a,
                                size_t *fixed)
{
    const struct install_session *s = u->session;
    struct root *ordered = arena_array(a, s->root_count + 1, sizeof *ordered);
    bool *can = arena_array(a, s->root_count + 1, sizeof *can);
    size_t n = 0;

    for (size_t i = 0; i < s->root_count; i++)
        can[i] = can_be_held(u, &s->roots[i]);
    for (int last = 0; last <= 1; last++) {
        for (size_t i = 0; i < s->root_count; i++)
            if (can[i] == last)
                ordered[n++] = s->roots[i];
        if (!last)
            *fixed = n;
    }
    return ordered;
}

/* Finds the first root that conflicts with those before it. Returns false if
 * its locked version would not help. */
static bool find_culprit(const struct update *u, const struct root *roots,
                         size_t fixed, size_t *culprit, struct err *why)
{
    struct install_session *s = u->session;
    size_t good = fixed, bad = s->root_count;

    if (fixed == s->root_count || !session_can_resolve(s, roots, fixed, why))
        return false;
    while (bad - good > 1) {
        size_t middle = good + (bad - good) / 2;
        struct err ignored = {0};

        if (session_can_resolve(s, roots, middle, &ignored))
            good = middle;
        else
            bad = middle;
    }
    *culprit = good;
    err_clear(why);
    return !session_can_resolve(s, roots, bad, why);
}

static bool any_unreachable(const struct install_session *s)
{
    for (size_t i = 0; i < s->closure.queued; i++) {
        const struct node *n = s->closure.queue[i];

        if (n->failed && (session_is_network(n->failed->code) ||
                          n->failed->code == ERR_OFFLINE))
            return true;
    }
    return false;
}

/* Holds roots whose ranges have no common version any more, while their locked
 * versions are compatible. Versions chosen with them are reset. */
static bool hold_conflicting(struct update *u, const struct err *why)
{
    struct install_session *s = u->session;
    bool *in_conflict = s->in_conflict, any = false;
    size_t at = s->at;

    for (int holds = 0; in_conflict && holds <= 1; holds++)
        for (size_t k = 0, n = 0; k < s->part_count; k++) {
            session_go(s, session_part_number(at, k));
            for (size_t i = 0; i < s->root_count; i++, n++)
                if (!holds)
                    in_conflict[n] =
                        in_conflict[n] && can_be_held(u, &s->roots[i]);
                else if (in_conflict[n]) {
                    hold_root(u, &s->roots[i], why);
                    any = true;
                }
        }
    session_go(s, at);
    s->in_conflict = NULL;
    map_init(&s->bounds, u->a);
    if (any)
        closure_forget_versions(&s->closure);
    return any;
}

/* Holds roots whose new closure cannot be resolved, with their locked closure,
 * so that a broken package does not block others. Remaining errors are reported
 * by the resolver. */
static bool hold_in_layer(struct update *u, struct err *e)
{
    struct install_session *s = u->session;

    for (;;) {
        CLEANUP(arena_done) struct arena scratch = {0};
        struct err why = {0};
        struct root *roots;
        size_t fixed, culprit;

        if (!session_gather(s, e)) {
            if (!hold_conflicting(u, e))
                return false;
            err_clear(e);
            continue;
        }
        if (any_unreachable(s) ||
            session_can_resolve(s, s->roots, s->root_count, &why))
            return true;
        roots = order_roots(u, &scratch, &fixed);
        err_clear(&why);
        if (!find_culprit(u, roots, fixed, &culprit, &why))
            return true;
        hold_root(u, &roots[culprit], &why);
    }
}

static bool hold_unresolvable(struct update *u, struct err *e)
{
    struct install_session *s = u->session;
    bool ok = true;

    for (size_t i = 0; ok && i < s->part_count; i++) {
        session_go(s, i);
        ok = hold_in_layer(u, e);
    }
    session_go_home(s);
    return ok;
}

static bool needs_entry(const struct update *u, const struct root *root,
                        const struct lock_entry *entry)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct lock_entry *from = root_entry(u, root), **list;
    size_t count;

    if (!from)
        return false;
    list = locked_closure(u, from, &scratch, &count);
    for (size_t i = 0; i < count; i++)
        if (list[i] == entry)
            return true;
    return false;
}

/* Holds the roots of a package whose patch conflicts with the new version.
 * Patches rebased before may be of packages held now. [D7] */
static bool hold_unmergeable(struct update *u, struct err *e)
{
    struct install_session *s = u->session;
    const struct lock_entry *entry = s->unmergeable;
    const struct err why = *e;
    bool any = false;

    for (size_t i = 0; entry && i < s->root_count; i++)
        if (needs_entry(u, &s->roots[i], entry) &&
            can_be_held(u, &s->roots[i])) {
            hold_root(u, &s->roots[i], &why);
            any = true;
        }
    if (!any)
        return false;
    err_clear(e);
    s->unmergeable = NULL;
    for (size_t i = 0; i < s->part_count; i++) {
        session_go(s, i);
        if (!session_read_patches(s, e))
            return false;
    }
    session_go_home(s);
    return true;
}

/* --- what is new ---------------------------------------------------------- */

/* Checks that catalogs were reached; one whose ref is gone is reported by its
 * packages. */
static bool check_reached(const struct install_session *s, struct err *e)
{
    for (size_t i = 0; i < s->expansion_count; i++) {
        const struct expansion *x = &s->expansions[i];

        if (!x->node->failed || !session_is_network(x->node->failed->code))
            continue;
        *e = *x->node->failed;
        return err_wrap(e, "catalog %.*s", STR_ARG(x->catalog->origin.text));
    }
    return true;
}

static bool add_new(struct install_session *s, struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct root *roots;

    s->choices = arena_array(a, catalogs_offered(s) + 1, sizeof *s->choices);
    if (!check_reached(s, e) || !catalogs_choose(s, true, e))
        return false;
    if (s->choice_count == 0)
        return true;
    s->closure.options.outline = true;
    if (!closure_gather(&s->closure, e))
        return false;
    catalogs_drop_superseded(s);
    if (!session_take_valid(s, e))
        return false;
    roots = arena_array(a, s->root_count + s->choice_count + 1, sizeof *roots);
    for (size_t i = 0; i < s->root_count; i++)
        roots[i] = s->roots[i];
    s->roots = roots;
    for (size_t i = 0; i < s->choice_count; i++) {
        const struct choice *c = &s->choices[i];

        if (!c->is_left_out)
            roots[s->root_count++] =
                (struct root){.kind = c->node->package.kind,
                              .origin = *c->node->origin,
                              .catalog = c->catalog};
    }
    catalogs_note(s);
    return true;
}

static bool add_all_new(struct update *u, struct err *e)
{
    struct install_session *s = u->session;

    for (size_t i = 0; i < s->part_count; i++) {
        session_go(s, i);
        if (s->expansion_count && !add_new(s, e))
            return false;
    }
    session_go_home(s);
    return true;
}

static bool resolve(struct update *u, struct err *e)
{
    bool is_first = true;

    for (;; is_first = false) {
        if (!hold_unresolvable(u, e) || (is_first && !add_all_new(u, e)))
            return false;
        if (session_resolve(u->session, e))
            return true;
        if (!hold_unmergeable(u, e))
            return false;
    }
}

static void hold_gone(struct update *u)
{
    struct install_session *s = u->session;
    struct map seen;

    map_init(&seen, u->a);
    for (size_t k = 0; k < s->part_count; k++) {
        session_go(s, k);
        for (size_t i = 0; i < s->resolved.count; i++) {
            const struct install_package *p = &s->packages[i];
            const struct node *n = package_node(p);

            if (n->gone && p->before && map_put(&seen, p->before->origin, u))
                hold(u, p->before, true, p->is_root, n->gone);
        }
    }
    session_go_home(s);
}

/* Requests the catalogs, those of all members if all are updated. */
static void request_catalogs(struct install_session *s, const struct update *u)
{
    for (size_t i = 0; i < u->catalog_count; i++)
        catalogs_ask(s, u->catalogs[i]);
    for (size_t i = 0; u->all && i < s->part_count; i++) {
        const struct catalog **all;
        size_t count;

        session_go(s, i);
        all = catalogs_list(s, &count);
        for (size_t k = 0; i != s->layers.here && k < count; k++)
            catalogs_ask(s, all[k]);
    }
    session_go_home(s);
}

bool update_packages(struct install_session *s, struct err *e)
{
    struct context *cx = s->cx;
    struct update *u = arena_new(&cx->arena, struct update);
    struct closure_options o = {
        .offline = cx->is_offline,
        .no_self = s->request->no_self,
        .allow_hidden = s->request->allow_hidden,
        .accept_moved_tag = s->request->accept_moved_tag,
        .leave_history = s->request->arguments.count > 0,
        .is_moving = is_moving,
        .moving_ctx = u,
        .ahead = &s->ahead,
        .on_fetched = session_stage_early,
        .on_fetched_ctx = s,
        .on_idle = session_find_on_machine,
        .on_idle_ctx = s,
    };

    u->session = s;
    u->a = &cx->arena;
    map_init(&u->entries, u->a);
    map_init(&u->held, u->a);
    if (!layer_check_there(&s->layer, cx, e) || !find_named(s, u, e))
        return false;
    closure_init(&s->closure, cx, &s->layers.whole, s->store, &o);
    if (cx->is_offline)
        context_note(cx, "offline: refs as this machine last saw them");
    if (!cx->is_offline)
        request_catalogs(s, u);
    if (!resolve(u, e))
        return false;
    hold_gone(u);
    s->plan.held = u->list;
    s->plan.held_count = u->count;
    session_find_renames(s);
    return true;
}
