#ifndef CLI_TREE_GRAPH_H
#define CLI_TREE_GRAPH_H

#include "base/map.h"
#include "mapm/layer.h"

#include "command.h"

/* The graph of the lock: entries, and for each its dependencies by index. */
struct tree_graph {
    const struct layer *layer;
    struct arena *a;
    const struct lock_entry **entries;
    size_t count;
    size_t **needs;
    size_t *need_counts; /* of `needs`: of the entry, or turned around */
    size_t *roots;
    const struct catalog **catalogs; /* of each root; NULL: it is listed */
    size_t root_count;
    struct map by_name; /* layer_name_key -> index + 1 */
    size_t max_depth;   /* of what is shown */
    bool is_of_many;    /* of a member, beside others */
    bool is_cut;        /* deeper than graph_max_depth: not shown */
};

/* --html and --svg: as a file, or on stdout. The repositories are asked what is
 * outdated, except offline. ERR_NOT_FOUND without graphviz. */
MUST_CHECK bool tree_write_picture(struct invocation *inv,
                                   const struct tree_graph *g, struct err *e);

#endif
