#ifndef MAPM_WORKSPACE_GRAPH_H
#define MAPM_WORKSPACE_GRAPH_H

#include "mapm/layer.h"

/*
 * workspace_graph: the packages of a lock and what they need, by index.
 *
 *     layer --> workspace_graph_read() --> needs of each entry, roots
 *                  `--> workspace_graph_invert(): users instead of needs
 *                  `--> workspace_graph_walk(): what mapm tree shows
 *                  `--> workspace_graph_chains(): what mapm why shows
 *
 * Both walks are iterative, as the depth of a graph is not bounded.
 */

struct workspace_graph {
    const struct layer *layer;
    struct arena *a;
    const struct lock_entry **entries;
    size_t count;
    size_t **needs;
    size_t *need_counts; /* of `needs`: of the entry, or inverted */
    size_t *roots;
    const struct catalog **catalogs; /* of each root; NULL: it is listed */
    size_t root_count;
    struct map by_name; /* layer_name_key -> index + 1 */
};

/* Borrowed from the layer, and in `a`. */
void workspace_graph_read(const struct layer *l, struct arena *a,
                          struct workspace_graph *out);
/* SIZE_MAX when there is no such entry, or a committed one hides it. */
size_t workspace_graph_find(const struct workspace_graph *g,
                            const struct lock_entry *entry);
/* One root, without a catalog. */
void workspace_graph_set_root(struct workspace_graph *g, size_t root);
/* For each entry what needs it; the roots need nothing. */
void workspace_graph_invert(struct workspace_graph *g);

/* A line of the tree. */
struct workspace_graph_node {
    size_t entry;
    size_t depth;        /* 0: the first one */
    const bool *is_last; /* of each depth up to this: the last of its parent */
    bool again;          /* was visited before with what it needs */
};

struct workspace_graph_walk {
    size_t max_depth; /* below the first nodes */
    void (*visit)(void *ctx, const struct workspace_graph_node *node);
    void *ctx;
    bool is_cut; /* some lie deeper */
    /* NULL at first: entries that were visited, and the way to the last one. */
    bool *seen, *is_last;
    size_t *path, *next;
};

/* What stands below `root`, and itself: at depth 0, or at 1 below its catalog as
 * the last one of that with `is_last`. Needs of a package are visited once. */
void workspace_graph_walk(const struct workspace_graph *g,
                          struct workspace_graph_walk *w, size_t root,
                          size_t depth, bool is_last);

/*
 * Calls `visit` with every way from a root down to `target`, depth first; false
 * when there are more than `max`. `chain` has `count` entries.
 */
bool workspace_graph_chains(const struct workspace_graph *g, size_t target,
                            size_t max,
                            void (*visit)(void *ctx,
                                          const struct catalog *catalog,
                                          const size_t *chain, size_t count),
                            void *ctx);

#endif
