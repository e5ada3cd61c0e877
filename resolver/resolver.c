#include "mapm/resolver.h"

#include "base/invariant.h"

#include "graph.h"

struct walk {
    const struct resolver_source *source;
    const struct limits *limits;
    struct arena *a;      /* memory of the plan */
    struct arena scratch; /* memory of the walk */
    struct report report;
    struct err why;        /* error of a package that cannot be read; cleared
                            * after use */
    struct map by_key;     /* origin key -> node */
    struct map by_name;    /* kind, FQN -> the first node of that name */
    struct map by_content; /* kind, FQN, content -> node, for the other nodes */
    struct node **stack;
    size_t depth, stack_capacity;
    struct node **order; /* nodes in state NODE_DONE, dependencies first */
    size_t count, order_capacity;
    size_t edges;
};

static struct node_link *link_add(struct walk *w, struct node_list *list)
{
    struct node_link *link = arena_new(&w->scratch, struct node_link);

    if (list->last)
        list->last->next = link;
    else
        list->first = link;
    list->last = link;
    list->count++;
    return link;
}

/*
 * Two origins are one package when name and content are equal. A package
 * whose content is unknown equals only itself.
 */
static struct str content_key(struct walk *w, const struct package *p)
{
    struct str last = p->content.n ? p->content : p->origin->key;

    const struct str parts[] = {str_cstr(doc_kind_name(p->kind)), STR(" "),
                                p->fqn, p->content.n ? STR("\n=") : STR("\n@"),
                                last};

    return str_concat(parts, sizeof parts / sizeof *parts, &w->scratch);
}

/* Compares two packages with the same name. */
static bool is_same(const struct package *x, const struct package *y)
{
    return x->content.n
               ? str_eq(x->content, y->content)
               : y->content.n == 0 && str_eq(x->origin->key, y->origin->key);
}

static struct str name_key(struct walk *w, const struct package *p)
{
    const struct str parts[] = {str_cstr(doc_kind_name(p->kind)), STR(" "),
                                p->fqn};

    return str_concat(parts, sizeof parts / sizeof *parts, &w->scratch);
}

/* Reports an error and returns true if a dependency names a local path that `p`
 * must not use. A git package must not depend on a local path, even if the same
 * package is also local (M15), and only packages of the workspace may depend on
 * packages of the workspace. */
static bool names_file(struct walk *w, const struct package *p,
                       const struct origin *dep, const struct node *parent)
{
    if (dep->scheme == ORIGIN_GIT || p->origin->scheme == dep->scheme)
        return false;
    report_file(&w->report, dep, p, parent);
    return true;
}

static struct node *node_new(struct walk *w, const struct package *p,
                             struct node *parent)
{
    struct node *n = arena_new(&w->scratch, struct node);

    n->package = p;
    n->parent = parent;
    n->state = p ? NODE_NEW : NODE_FAILED;
    return n;
}

/* Returns the node of a package that was just read: an existing one if there is
 * one with the same name and content. */
static struct node *admit(struct walk *w, const struct package *p,
                          struct node *parent)
{
    struct map_entry *named = map_entry(&w->by_name, name_key(w, p));
    struct node *first = named->value;
    struct map_entry *same;

    if (!first)
        return named->value = node_new(w, p, parent);
    same = is_same(first->package, p)
               ? named
               : map_entry(&w->by_content, content_key(w, p));
    if (same->value) {
        struct node *n = same->value;

        if (p->is_recorded && n->state != NODE_OPEN)
            n->package = p;
        for (size_t i = 0; i < p->dep_count; i++)
            names_file(w, p, p->deps[i].origin, parent);
        return n;
    }
    same->value = node_new(w, p, parent);
    report_conflict(&w->report, first, p, parent);
    return same->value;
}

/* Reads an origin. Returns false to stop the walk if a limit is exceeded or the
 * user interrupted. */
static bool read_origin(struct walk *w, const struct origin *o,
                        enum doc_kind kind, struct node *parent,
                        struct node **out)
{
    const struct package *p = NULL;
    struct node *n;

    if (w->by_key.count >= w->limits->graph_max_packages.value) {
        report_limit(&w->report, "packages", &w->limits->graph_max_packages,
                     parent);
        return false;
    }
    if (!w->source->read(w->source->ctx, o, kind, &p, &w->why)) {
        if (w->why.code == ERR_INTERRUPTED) {
            report_interrupt(&w->report, &w->why);
            return false;
        }
        report_unread(&w->report, o, kind, parent, &w->why);
        err_clear(&w->why);
        map_put(&w->by_key, o->key, node_new(w, NULL, parent));
        return true;
    }
    n = admit(w, p, parent);
    link_add(w, &n->origins)->key = o->key;
    map_put(&w->by_key, o->key, n);
    *out = n;
    return true;
}

static bool push(struct walk *w, struct node *n)
{
    if (w->depth >= w->limits->graph_max_depth.value) {
        report_limit(&w->report, "levels of dependencies",
                     &w->limits->graph_max_depth, n->parent);
        return false;
    }
    n->state = NODE_OPEN;
    if (n->package->kind == DOC_MCP && n->package->dep_count) {
        report_leaf(&w->report, n);
        n->cursor = SIZE_MAX;
    }
    w->stack = arena_grow(&w->scratch, w->stack, w->depth, &w->stack_capacity,
                          sizeof(struct node *));
    w->stack[w->depth++] = n;
    return true;
}

static void pop(struct walk *w)
{
    struct node *n = w->stack[--w->depth];

    INVARIANT(n->state == NODE_OPEN && n->package);
    n->state = NODE_DONE;
    n->step = w->count;
    w->order = arena_grow(&w->scratch, w->order, w->count, &w->order_capacity,
                          sizeof(struct node *));
    w->order[w->count++] = n;
}

static void close_cycle(struct walk *w, const struct node *n)
{
    size_t from = w->depth;

    while (w->stack[from - 1] != n) {
        from--;
        INVARIANT(from > 0); /* every open node is on the stack */
    }
    report_cycle(&w->report, w->stack + from - 1, w->depth - from + 1);
}

/* Visits a root, or a dependency of `parent`. Returns false to stop the
 * walk. */
static bool visit(struct walk *w, const struct origin *o, enum doc_kind kind,
                  struct node *parent)
{
    struct node *n = map_find(&w->by_key, o->key);

    if (!n && !read_origin(w, o, kind, parent, &n))
        return false;
    if (!n || n->state == NODE_FAILED)
        return true;
    if (n->package->kind != kind) {
        report_kind(&w->report, n->package, kind, parent);
        return true;
    }
    if (parent) {
        struct node_link *edge = link_add(w, &parent->edges);

        edge->to = n;
        edge->origin = o;
    } else {
        n->is_root = true;
    }
    if (n->state == NODE_OPEN)
        close_cycle(w, n);
    return n->state != NODE_NEW || push(w, n);
}

static bool visit_dependency(struct walk *w, struct node *n,
                             const struct dependency *dep)
{
    if (++w->edges > w->limits->graph_max_edges.value) {
        report_limit(&w->report, "dependencies in all",
                     &w->limits->graph_max_edges, n);
        return false;
    }
    if (dep->kind == DOC_AGENT && n->package->kind != DOC_AGENT &&
        n->package->kind != DOC_PLUGIN) {
        report_agent(&w->report, dep->origin, n);
        return true;
    }
    if (names_file(w, n->package, dep->origin, n->parent))
        return true;
    return visit(w, dep->origin, dep->kind, n);
}

/* Returns the next dependency in the order of M24 and D12. The cursor passes
 * over the list once for each kind. */
static const struct dependency *next_dependency(struct node *n)
{
    static const enum doc_kind order[] = {DOC_PLUGIN, DOC_MCP, DOC_SKILL,
                                          DOC_AGENT};
    size_t count = n->package->dep_count;

    while (n->cursor < 4 * count) {
        size_t i = n->cursor++;
        const struct dependency *dep = &n->package->deps[i % count];

        if (dep->kind == order[i / count])
            return dep;
    }
    return NULL;
}

static bool walk_root(struct walk *w, const struct root *root)
{
    if (!visit(w, &root->origin, root->kind, NULL))
        return false;
    while (w->depth) {
        struct node *n = w->stack[w->depth - 1];
        const struct dependency *dep = next_dependency(n);

        if (!dep)
            pop(w);
        else if (!visit_dependency(w, n, dep))
            return false;
    }
    return true;
}

/* Stores each need once: two origins of the list may have led to one
 * package. */
static void fill_needs(struct plan_step *step, const struct node *n,
                       struct arena *a)
{
    const struct node_link *edge;

    if (n->edges.count)
        step->needs = arena_array(a, n->edges.count, sizeof *step->needs);
    for (edge = n->edges.first; edge; edge = edge->next) {
        if (edge->to->needed_by == n)
            continue;
        edge->to->needed_by = n;
        INVARIANT(edge->to->state == NODE_DONE && edge->to->step < n->step);
        step->needs[step->need_count++] = edge->to->step;
    }
}

static void fill_step(struct plan_step *step, const struct node *n,
                      struct arena *a)
{
    const struct node_link *origin;

    INVARIANT(n->state == NODE_DONE && n->origins.count);
    INVARIANT(n->is_root || n->parent);
    step->package = n->package;
    step->is_root = n->is_root;
    step->by = n->parent ? n->parent->step : SIZE_MAX;
    step->origins = arena_array(a, n->origins.count, sizeof *step->origins);
    for (origin = n->origins.first; origin; origin = origin->next)
        step->origins[step->origin_count++] = origin->key;
    fill_needs(step, n, a);
}

/* Checks that each qualified name occurs once in the layer (M25). */
static bool names_are_unique(const struct plan *plan)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct map names[DOC_PLUGIN + 1];
    bool unique = true;

    for (size_t i = 0; i <= DOC_PLUGIN; i++)
        map_init(&names[i], &scratch);
    for (size_t i = 0; i < plan->count; i++) {
        const struct package *p = plan->steps[i].package;

        unique &= map_put(&names[p->kind], p->fqn, NULL);
    }
    return unique;
}

static void fill_plan(struct walk *w, struct plan *out)
{
    struct plan plan = {.count = w->count};

    if (w->count)
        plan.steps = arena_array(w->a, w->count, sizeof *plan.steps);
    for (size_t i = 0; i < w->count; i++)
        fill_step(&plan.steps[i], w->order[i], w->a);
    plan.by_key = w->by_key;
    for (size_t i = 0; i < plan.by_key.count; i++) {
        const struct node *n = plan.by_key.entries[i].value;

        plan.by_key.entries[i].value = &plan.steps[n->step];
    }
    INVARIANT(names_are_unique(&plan));
    *out = plan;
}

static void walk_done(struct walk *w)
{
    arena_done(&w->scratch);
}

bool resolver_resolve(const struct resolver_source *source,
                      const struct root *roots, size_t count,
                      const struct limits *limits, struct arena *a,
                      struct plan *out, struct err *e)
{
    CLEANUP(walk_done)
    struct walk w = {
        .source = source, .limits = limits, .a = a, .report = {.e = e}};

    arena_init(&w.scratch);
    map_init(&w.by_key, a);
    map_init(&w.by_name, &w.scratch);
    map_init(&w.by_content, &w.scratch);
    for (size_t i = 0; i < count; i++)
        if (!walk_root(&w, &roots[i]))
            break;
    if (w.report.problems) {
        report_end(&w.report);
        return false;
    }
    fill_plan(&w, out);
    return true;
}
