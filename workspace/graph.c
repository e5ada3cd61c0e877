#include "mapm/lock.h"
#include "mapm/project.h"
#include "mapm/workspace_graph.h"

static size_t index_of_name(const struct workspace_graph *g, enum doc_kind kind,
                            struct str name)
{
    return (uintptr_t)map_find(&g->by_name, layer_name_key(kind, name, g->a)) -
           1;
}

size_t workspace_graph_find(const struct workspace_graph *g,
                            const struct lock_entry *entry)
{
    size_t i = index_of_name(g, entry->kind, entry->name);

    return i != SIZE_MAX && g->entries[i] == entry ? i : SIZE_MAX;
}

static void make_roots(struct workspace_graph *g, size_t count)
{
    g->roots = arena_array(g->a, count + 1, sizeof *g->roots);
    g->catalogs = arena_array(g->a, count + 1, sizeof(struct catalog *));
    g->root_count = 0;
}

static void read_roots(struct workspace_graph *g)
{
    size_t count;
    const struct root *roots = layer_roots(g->layer, g->a, &count);

    make_roots(g, count);
    for (size_t i = 0; i < count; i++) {
        const struct lock_entry *entry =
            map_find(&g->layer->by_origin, roots[i].origin.key);
        size_t at = entry ? workspace_graph_find(g, entry) : SIZE_MAX;

        if (at == SIZE_MAX)
            continue;
        g->catalogs[g->root_count] = roots[i].catalog;
        g->roots[g->root_count++] = at;
    }
}

void workspace_graph_read(const struct layer *l, struct arena *a,
                          struct workspace_graph *out)
{
    struct workspace_graph *g = out;

    *g = (struct workspace_graph){.layer = l, .a = a};
    g->entries = layer_entries(l, a, &g->count);
    g->needs = arena_array(a, g->count + 1, sizeof *g->needs);
    g->need_counts = arena_array(a, g->count + 1, sizeof *g->need_counts);
    map_init(&g->by_name, a);
    for (size_t i = 0; i < g->count; i++)
        map_put(&g->by_name,
                layer_name_key(g->entries[i]->kind, g->entries[i]->name, a),
                (void *)(uintptr_t)(i + 1));
    for (size_t i = 0; i < g->count; i++) {
        const struct lock_entry *entry = g->entries[i];

        g->need_counts[i] = entry->need_count;
        g->needs[i] = arena_array(a, entry->need_count + 1, sizeof(size_t));
        for (size_t k = 0; k < entry->need_count; k++)
            g->needs[i][k] =
                index_of_name(g, entry->needs[k].kind, entry->needs[k].name);
    }
    read_roots(g);
}

void workspace_graph_set_root(struct workspace_graph *g, size_t root)
{
    make_roots(g, 1);
    g->roots[g->root_count++] = root;
}

/* --- users ---------------------------------------------------------------- */

/* For each entry, the entries that need it. */
struct users {
    size_t *first; /* those of entry i are from[first[i]] .. from[first[i +
                    * 1]] */
    size_t *from;
};

static void read_users(const struct workspace_graph *g, struct users *out)
{
    size_t *next = arena_array(g->a, g->count + 2, sizeof *next);
    size_t total = 0;

    out->first = arena_array(g->a, g->count + 2, sizeof *next);
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < g->need_counts[i]; k++)
            next[g->needs[i][k]]++;
    for (size_t i = 0; i < g->count; i++) {
        out->first[i] = total;
        total += next[i];
        next[i] = out->first[i];
    }
    out->first[g->count] = total;
    out->from = arena_array(g->a, total + 1, sizeof *out->from);
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < g->need_counts[i]; k++)
            out->from[next[g->needs[i][k]]++] = i;
}

void workspace_graph_invert(struct workspace_graph *g)
{
    struct users users;

    make_roots(g, g->count);
    for (size_t i = 0; i < g->count; i++)
        if (g->need_counts[i] == 0)
            g->roots[g->root_count++] = i;
    read_users(g, &users);
    for (size_t i = 0; i < g->count; i++) {
        g->needs[i] = users.from + users.first[i];
        g->need_counts[i] = users.first[i + 1] - users.first[i];
    }
}

/* --- the tree ------------------------------------------------------------- */

/* Returns true if the needs of the entry are to be visited. */
static bool visit_entry(const struct workspace_graph *g,
                        struct workspace_graph_walk *w, size_t entry,
                        size_t depth)
{
    size_t needs = g->need_counts[entry];
    bool is_new = !w->seen[entry];
    const struct workspace_graph_node node = {.entry = entry,
                                              .depth = depth,
                                              .is_last = w->is_last,
                                              .again = !is_new && needs};

    w->visit(w->ctx, &node);
    w->seen[entry] = true;
    return is_new && needs;
}

/* `next` holds for each depth the index of the next need. */
static void walk_below(const struct workspace_graph *g,
                       struct workspace_graph_walk *w, size_t root, size_t top)
{
    size_t depth = top;

    w->path[top] = root;
    w->next[top] = 0;
    for (;;) {
        size_t at = w->path[depth], child;

        if (w->next[depth] == g->need_counts[at]) {
            if (depth-- == top)
                return;
            continue;
        }
        child = g->needs[at][w->next[depth]++];
        w->is_last[depth + 1] = w->next[depth] == g->need_counts[at];
        if (!visit_entry(g, w, child, depth + 1))
            continue;
        if (depth + 1 < w->max_depth + top) {
            w->path[++depth] = child;
            w->next[depth] = 0;
        } else {
            w->is_cut = true;
        }
    }
}

void workspace_graph_walk(const struct workspace_graph *g,
                          struct workspace_graph_walk *w, size_t root,
                          size_t depth, bool is_last)
{
    size_t room = g->count + 2;

    if (!w->seen) {
        w->seen = arena_array(g->a, room, sizeof *w->seen);
        w->is_last = arena_array(g->a, room, sizeof *w->is_last);
        w->path = arena_array(g->a, room, sizeof *w->path);
        w->next = arena_array(g->a, room, sizeof *w->next);
    }
    w->is_last[depth] = is_last;
    if (visit_entry(g, w, root, depth) && w->max_depth)
        walk_below(g, w, root, depth);
}

/* --- ways to a package ---------------------------------------------------- */

/* Returns which entries lead to `target`, including itself. */
static bool *find_leading(const struct workspace_graph *g, size_t target)
{
    bool *leads = arena_array(g->a, g->count + 1, sizeof *leads);
    size_t *queue = arena_array(g->a, g->count + 1, sizeof *queue);
    size_t head = 0, tail = 0;
    struct users users;

    read_users(g, &users);
    leads[target] = true;
    queue[tail++] = target;
    while (head < tail) {
        size_t at = queue[head++];

        for (size_t k = users.first[at]; k < users.first[at + 1]; k++) {
            size_t user = users.from[k];

            if (leads[user])
                continue;
            leads[user] = true;
            queue[tail++] = user;
        }
    }
    return leads;
}

bool workspace_graph_chains(const struct workspace_graph *g, size_t target,
                            size_t max,
                            void (*visit)(void *ctx,
                                          const struct catalog *catalog,
                                          const size_t *chain, size_t count),
                            void *ctx)
{
    const bool *leads = find_leading(g, target);
    size_t *chain = arena_array(g->a, g->count + 1, sizeof *chain);
    size_t *next = arena_array(g->a, g->count + 1, sizeof *next);
    size_t found = 0;

    for (size_t root = 0; root < g->root_count; root++) {
        size_t depth = leads[g->roots[root]] ? 1 : 0;

        chain[0] = g->roots[root];
        next[0] = 0;
        while (depth) {
            size_t at = chain[depth - 1], child;

            if (at == target && found++ == max)
                return false;
            if (at == target)
                visit(ctx, g->catalogs[root], chain, depth);
            if (at == target || next[depth - 1] == g->need_counts[at]) {
                depth--;
                continue;
            }
            child = g->needs[at][next[depth - 1]++];
            if (leads[child]) {
                next[depth] = 0;
                chain[depth++] = child;
            }
        }
    }
    return true;
}
