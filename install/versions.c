#include "versions.h"

#include "mapm/range.h"

#include <inttypes.h>

#include "proof.h"
#include "selection.h"

#define MAX_ROUNDS 1000
/* Number of attempts at dropping one choice; then all causes are reported. */
#define ROUNDS_ONE_LESS 32
#define CHAIN_MAX_NAMES 8 /* names of a chain in a message */

/* The first path on which a node was requested. */
struct visit {
    struct node *node;
    const struct visit *by; /* NULL for a root */
};

/* A request for a package and versions. */
struct request {
    struct request *next;
    struct str range;
    const struct origin *origin; /* origin with the range */
    const struct visit *by;      /* NULL for a root */
};

struct member {
    struct member *next;
    struct node *node;
};

/* A repository and path requested by a range. */
struct group {
    struct str place, path;
    struct member *members, *last_member;
    struct request *requests, *last_request;
    struct str allowed; /* all ranges, separated by blanks */
    struct map ranges;  /* set of these ranges */
};

struct resolving {
    struct install_session *s;
    struct arena *a;
    bool with_choices;
    struct map visits; /* origin key -> struct visit * */
    struct visit **queue;
    size_t queued, capacity;
    struct map groups; /* place -> struct group * */
};

static struct str comparator(const char *how, const struct semver *v,
                             struct arena *a)
{
    const uint64_t *part = v->number.part;

    return arena_printf(a, "%s%" PRIu64 ".%" PRIu64 ".%" PRIu64 "%s%.*s", how,
                        part[0], part[1], part[2], v->pre.n ? "-" : "",
                        STR_ARG(v->pre));
}

struct str version_range(const struct origin *o, struct str path,
                         struct arena *a)
{
    struct str range = origin_range(o, a);
    struct semver v;
    unsigned form;

    if (range.n == 0 && tag_version(proof_ref(o, path), path, &v, &form))
        range = comparator("=", &v, a);
    return range;
}

/* --- what asks for what ----------------------------------------------------- */

static struct str place_of(const struct origin *o, struct str path,
                           struct arena *a)
{
    return arena_printf(a, "%.*s %.*s", STR_ARG(origin_repository(o, a)),
                        STR_ARG(path));
}

static struct visit *visit(struct resolving *t, const struct origin *o,
                           const struct visit *by)
{
    struct node *n = closure_find(&t->s->closure, o->key);
    struct map_entry *known;
    struct visit *v;

    if (!n)
        return NULL;
    known = map_entry(&t->visits, n->origin->key);
    if (known->value)
        return known->value;
    known->value = v = arena_new(t->a, struct visit);
    *v = (struct visit){n, by};
    t->queue = arena_grow(t->a, t->queue, t->queued, &t->capacity,
                          sizeof(struct visit *));
    t->queue[t->queued++] = v;
    return v;
}

static void add_range(struct resolving *t, struct group *g, struct str range)
{
    if (!map_put(&g->ranges, range, g))
        return;
    g->allowed = g->allowed.n
                     ? arena_printf(t->a, "%.*s %.*s", STR_ARG(g->allowed),
                                    STR_ARG(range))
                     : range;
}

static void add_request(struct resolving *t, struct group *g, struct str range,
                        const struct origin *origin, const struct visit *by)
{
    struct request *r = arena_new(t->a, struct request);

    *r = (struct request){NULL, range, origin, by};
    if (g->last_request)
        g->last_request->next = r;
    else
        g->requests = r;
    g->last_request = r;
    add_range(t, g, range);
}

static void add_member(struct resolving *t, struct group *g, struct node *n)
{
    struct member *m = arena_new(t->a, struct member);

    *m = (struct member){NULL, n};
    if (g->last_member)
        g->last_member->next = m;
    else
        g->members = m;
    g->last_member = m;
}

static struct group *group_of(struct resolving *t, const struct origin *o)
{
    struct str path = origin_slot_path(o);
    struct map_entry *known = map_entry(&t->groups, place_of(o, path, t->a));
    struct group *g = known->value;

    if (g)
        return g;
    known->value = g = arena_new(t->a, struct group);
    g->place = known->key;
    g->path = path;
    map_init(&g->ranges, t->a);
    return g;
}

static void request_tags(struct resolving *t, const struct origin *o,
                         const struct visit *by)
{
    size_t before = t->queued;
    struct visit *v = visit(t, o, by);
    struct str range = origin_range(o, t->a);
    struct group *g;

    /* a replacement may have a ref instead of a range */
    if (!v || range.n == 0 || origin_range(node_source(v->node), t->a).n == 0)
        return;
    g = group_of(t, o);
    add_request(t, g, range, o, by);
    if (t->queued > before)
        add_member(t, g, v->node);
}

/* Adds the version of a tag, which ends where the path of the range begins.
 * Branches and commits must have the same content, which the resolver
 * compares. */
static void add_fixed(struct resolving *t, const struct visit *v)
{
    const struct origin *o = v->node->origin;
    struct str path = o->rest, range;

    if (o->scheme != ORIGIN_GIT || origin_range(o, t->a).n)
        return;
    while (path.n) {
        size_t slash = str_find_char(path, '/');
        struct group *g;

        path = str_from_index(path, slash == SIZE_MAX ? path.n : slash + 1);
        g = map_find(&t->groups, place_of(o, path, t->a));
        range = version_range(o, path, t->a);
        if (g && range.n)
            add_request(t, g, range, o, v->by);
    }
}

/* Returns the successors of roots that choices replace. */
static struct node **find_successors(const struct resolving *t)
{
    struct install_session *s = t->s;
    struct node **nodes =
        arena_array(t->a, s->choice_count + 1, sizeof(struct node *));
    size_t count = 0;

    for (size_t i = 0; i < s->choice_count; i++)
        if (!s->choices[i].is_left_out)
            nodes[count++] = s->choices[i].node;
    return roots_successors(s, nodes, count);
}

static void find_requests(struct resolving *t)
{
    struct install_session *s = t->s;
    struct node **successors = t->with_choices ? find_successors(t) : NULL;
    size_t count;
    const struct root *roots = session_all_roots(s, &count);

    for (size_t i = 0; i < count; i++) /* roots of the current layer come
                                        * first */
        if (!successors || i >= s->root_count || !successors[i])
            request_tags(t, &roots[i].origin, NULL);
    for (size_t i = 0; t->with_choices && i < s->choice_count; i++)
        if (!s->choices[i].is_left_out)
            request_tags(t, s->choices[i].node->origin, NULL);
    for (size_t i = 0; i < t->queued; i++) {
        const struct package *p = &t->queue[i]->node->package;

        for (size_t k = 0; k < p->dep_count; k++)
            request_tags(t, p->deps[k].origin, t->queue[i]);
    }
    for (size_t i = 0; t->groups.count && i < t->queued; i++)
        add_fixed(t, t->queue[i]);
}

/* --- which version ----------------------------------------------------------- */

static bool is_allowed(const struct range_set *ranges, const struct node *n,
                       struct str path, struct arena *a)
{
    struct semver v;
    unsigned form;

    return n->is_ready && tag_version(node_tag(n, a), path, &v, &form) &&
           range_set_allows(ranges, &v);
}

/* Returns the version that all ranges allow, preferably the locked one. */
static const struct node *find_choice(const struct resolving *t,
                                      const struct group *g,
                                      const struct range_set *ranges)
{
    const struct node *choice = NULL;

    for (const struct member *m = g->members; m; m = m->next)
        if (is_allowed(ranges, m->node, g->path, t->a) &&
            (!choice || (m->node->locked && !choice->locked)))
            choice = m->node;
    return choice;
}

/* Sets the upper bound for later rounds. */
static void set_bound(struct resolving *t, const struct group *g,
                      const struct node *choice)
{
    struct arena *a = &t->s->cx->arena;
    struct semver v;
    unsigned form;

    if (tag_version(node_tag(choice, t->a), g->path, &v, &form))
        map_put(&t->s->bounds, arena_str(a, g->place),
                (void *)(uintptr_t)comparator("<=", &v, a).p);
}

/* Reports a request as "^1.2: boss -> helper". */
static void report_request(const struct resolving *t, const struct request *r,
                           struct err *e)
{
    const struct visit *way[CHAIN_MAX_NAMES];
    struct str line = {"", 0};
    size_t count = 0, more = 0;

    for (const struct visit *v = r->by; v; v = v->by)
        if (count < CHAIN_MAX_NAMES)
            way[count++] = v;
        else
            more++;
    for (size_t i = count; i-- > 0;) {
        struct str name = way[i]->node->package.fqn.n
                              ? way[i]->node->package.fqn
                              : way[i]->node->origin->text;

        line = arena_join(line, " -> ", name, t->a);
    }
    err_also(e, "%.*s: %s%s%.*s", STR_ARG(r->range),
             count ? "" : "a root of mapm.yaml", more ? "... -> " : "",
             STR_ARG(line));
}

/* Finds the locked version, by any range. */
static bool find_locked(const struct resolving *t, const struct group *g,
                        struct semver *out)
{
    const struct layer *l = &t->s->layer;
    const struct lock_entry **entries;
    size_t count;

    entries = layer_entries(l, t->a, &count);
    for (size_t i = 0; i < count; i++) {
        unsigned form;

        if (entries[i]->tag.n &&
            origin_is_package_of(layer_origin(l, entries[i]),
                                 g->members->node->origin, t->a) &&
            tag_version(entries[i]->tag, g->path, out, &form))
            return true;
    }
    return false;
}

static bool allows(const struct request *r, const struct semver *v)
{
    struct err ignored = {0};
    struct range range;

    return range_parse(r->range, &range, &ignored) && range_allows(&range, v);
}

static const struct node *root_of(const struct resolving *t,
                                  const struct request *r)
{
    const struct visit *v = r->by;

    while (v && v->by)
        v = v->by;
    return v ? v->node : closure_find(&t->s->closure, r->origin->key);
}

/* Finds the version that the first request had before the ranges were
 * combined. */
static bool find_first(const struct resolving *t, const struct group *g,
                       struct semver *out)
{
    const struct closure *c = &t->s->closure;
    struct str key = g->requests->origin->key;

    for (size_t i = 0; i < c->queued; i++) {
        const struct node *n = c->queue[i];
        unsigned form;

        if (n->is_ready && !n->failed && str_eq(n->origin->key, key) &&
            tag_version(node_tag(n, t->a), g->path, out, &form))
            return true;
    }
    return false;
}

static void note_choices(const struct resolving *t, const struct group *g)
{
    const struct install_session *s = t->s;
    struct semver first;
    bool is_known = find_locked(t, g, &first) || find_first(t, g, &first);

    for (size_t i = 0; i < s->choice_count; i++)
        s->choices[i].is_in_conflict = s->choices[i].is_cause = false;
    for (const struct request *r = g->requests; r; r = r->next) {
        const struct node *root = root_of(t, r);

        for (size_t i = 0; i < s->choice_count; i++) {
            if (s->choices[i].node != root || s->choices[i].is_exact)
                continue;
            s->choices[i].is_in_conflict = true;
            s->choices[i].is_cause |= is_known && !allows(r, &first);
        }
    }
}

/* Records the roots that lead to a range in conflict, except ranges that allow
 * the locked version if another one does not. */
static void note_conflict(const struct resolving *t, const struct group *g)
{
    struct install_session *s = t->s;
    const struct root *roots;
    struct semver locked;
    bool is_locked = find_locked(t, g, &locked), any = false;
    size_t count;

    for (const struct request *r = g->requests; is_locked && r; r = r->next)
        any |= !allows(r, &locked);
    roots = session_all_roots(s, &count);
    s->in_conflict =
        arena_array(&s->cx->arena, count + 1, sizeof *s->in_conflict);
    for (const struct request *r = g->requests; r; r = r->next) {
        const struct node *root = root_of(t, r);

        if (any && allows(r, &locked))
            continue;
        for (size_t i = 0; i < count; i++)
            s->in_conflict[i] |=
                closure_find(&s->closure, roots[i].origin.key) == root;
    }
}

static bool refuse(const struct resolving *t, const struct group *g,
                   const struct err *why, struct err *e)
{
    size_t count = 0;

    note_conflict(t, g);
    if (t->with_choices)
        note_choices(t, g);
    err_set(e, ERR_CONFLICT,
            "no version of %.*s is allowed by all that need it",
            STR_ARG(g->place));
    for (const struct request *r = g->requests; r; r = r->next)
        if (count++ < ERROR_MAX_LINES)
            report_request(t, r, e);
    if (count > ERROR_MAX_LINES)
        err_also(e, "\xe2\x80\xa6 and %zu more", count - ERROR_MAX_LINES);
    if (why)
        err_also(e, "%s", err_first(why));
    return err_hint(e, "widen one of these ranges");
}

static bool resolve_group(struct resolving *t, struct group *g, bool *resolved,
                          struct err *e)
{
    const char *bound = map_find(&t->s->bounds, g->place);
    const struct node *choice;
    struct range_set ranges;

    for (const struct member *m = g->members; m; m = m->next)
        if (m->node->failed)
            return node_rare(m->node)->allowed.n &&
                           m->node->failed->code == ERR_REF
                       ? refuse(t, g, m->node->failed, e)
                       : true; /* reported by the resolver */
    if (bound)
        add_range(t, g, str_cstr(bound));
    if (!range_set_parse(g->allowed, t->a, &ranges, e))
        return err_wrap(e, "cannot choose a version of %.*s",
                        STR_ARG(g->place));
    choice = find_choice(t, g, &ranges);
    if (!choice) {
        *resolved = false;
        closure_ask_version(&t->s->closure, g->members->node, g->allowed);
        return true;
    }
    for (const struct member *m = g->members; m; m = m->next)
        if (m->node->is_ready &&
            !str_eq(node_tag(m->node, t->a), node_tag(choice, t->a))) {
            *resolved = false;
            closure_take_version(&t->s->closure, m->node, choice);
        }
    set_bound(t, g, choice);
    return true;
}

/* Returns whether a locked package has an origin that no dependency in the lock
 * leads to; the documents contain it. */
static bool lacks_origins(const struct install_session *s, struct arena *a)
{
    for (size_t i = 0; i < s->closure.queued; i++) {
        const struct lock_entry *entry = s->closure.queue[i]->locked;
        struct origin o;

        if (!entry || !entry->also_count)
            continue;

        struct err ignored = {0};

        for (size_t k = 0; k < entry->also_count; k++)
            if (origin_parse_part(entry->also[k], &s->layer.rules, a, &o,
                                  &ignored) &&
                !closure_find(&s->closure, o.key))
                return true;
    }
    return false;
}

static bool resolve_all(struct install_session *s, bool with_choices,
                        bool *resolved, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct resolving t = {.s = s, .a = &scratch, .with_choices = with_choices};

    *resolved = true;
    if (s->rounds++ >= MAX_ROUNDS)
        return err_set(e, ERR_LIMIT,
                       "no choice of versions after %d rounds: name tags "
                       "instead of ranges",
                       MAX_ROUNDS);
    if (s->closure.options.assume_present) /* resolved by the lock alone, so
                                            * unchanged */
        return !lacks_origins(s, t.a) || closure_verify_store(&s->closure, e);
    map_init(&t.visits, t.a);
    map_init(&t.groups, t.a);
    find_requests(&t);
    for (size_t i = 0; i < t.groups.count; i++)
        if (!resolve_group(&t, t.groups.entries[i].value, resolved, e))
            return false;
    return true;
}

bool versions_resolve(struct install_session *s, bool *resolved, struct err *e)
{
    return resolve_all(s, false, resolved, e);
}

/* Formats the cause and all chains in one line. */
static struct str one_line(const struct err *why, struct arena *a)
{
    const char *last = err_prev(why, NULL);
    struct str line = str_cstr(last);
    const char *between = ": ";

    for (const char *m = err_prev(why, last); m; m = err_prev(why, m)) {
        line = arena_printf(a, "%.*s%s%s", STR_ARG(line), between, m);
        between = "; ";
    }
    return arena_str(a, line);
}

bool versions_resolve_choices(struct install_session *s, bool *resolved,
                              struct err *e)
{
    struct choice *out = NULL;

    if (resolve_all(s, true, resolved, e))
        return true;
    for (size_t i = 0; s->in_conflict && i < s->choice_count; i++) {
        struct choice *c = &s->choices[i];

        if (c->is_in_conflict && (!out || c->is_cause || !out->is_cause))
            out = c;
        if (c->is_in_conflict && c->is_cause && s->rounds > ROUNDS_ONE_LESS)
            c->conflict = one_line(e, &s->cx->arena);
    }
    s->in_conflict = NULL;
    if (!out)
        return false;
    out->conflict = one_line(e, &s->cx->arena);
    for (size_t i = 0; i < s->choice_count; i++)
        s->choices[i].is_left_out |= s->choices[i].conflict.n > 0;
    err_clear(e);
    map_init(&s->bounds, &s->cx->arena);
    closure_forget_versions(&s->closure);
    *resolved = false;
    return true;
}
