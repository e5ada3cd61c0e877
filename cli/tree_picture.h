#ifndef CLI_TREE_PICTURE_H
#define CLI_TREE_PICTURE_H

#include "mapm/workspace_graph.h"

#include "command.h"

/* --html and --svg: as a file, or on stdout. The repositories are asked what is
 * outdated, except offline. ERR_NOT_FOUND without graphviz. */
MUST_CHECK bool tree_write_picture(struct invocation *inv,
                                   const struct workspace_graph *g,
                                   struct err *e);

#endif
