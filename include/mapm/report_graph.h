#ifndef MAPM_REPORT_GRAPH_H
#define MAPM_REPORT_GRAPH_H

#include "base/buf.h"
#include "mapm/doc_kind.h"
#include "mapm/workspace_graph.h"

/*
 * report_graph: renders the packages of a layer as a graph.
 *
 *     workspace_graph --> report_graph_read()
 *                              |
 *     struct report_graph <----' --> report_graph_dot() --> dot -Tsvg
 *                    `------- report_graph_page() <----'
 *
 * Packages are grouped by catalog. Packages without any edge are arranged
 * in columns, because hundreds of them would form a single row. State is
 * shown by color and in words. The page is self-contained: no network, no
 * script. Below the graph, a list has the same information for small
 * screens and screen readers.
 *
 * Source: G14; THREATS.md rows 7, 22.
 */

enum report_state {
    REPORT_CURRENT,
    REPORT_PATCHED,
    REPORT_OUTDATED,
    REPORT_GONE, /* no longer exists upstream */
};

/* A package as the graph shows it, in texts. */
struct report_package {
    enum doc_kind kind;
    struct str name, version; /* version: "" if none */
    struct str catalog;       /* "owner/repo", "this workspace", … */
    struct str note;          /* description of its state and source, or "" */
    enum report_state state;
    bool is_root;
    const size_t *needs; /* indices of packages */
    size_t need_count;
};

struct report_graph {
    struct str title; /* name of the workspace's folder */
    struct report_package *packages;
    size_t count;
    bool has_states; /* packages were compared with their origins */
};

/* Describes the packages of `g`, and compares them with their origins unless `cx`
 * is offline. A repository that does not answer is a warning. Allocated in
 * g->a. */
void report_graph_read(struct context *cx, const struct workspace_graph *g,
                       struct report_graph *out);

/* Write the graph alone, without states and catalogs, for graphviz and for
 * Mermaid. */
void report_graph_plain_dot(const struct workspace_graph *g, struct buf *out);
void report_graph_mermaid(const struct workspace_graph *g, struct buf *out);

/* Text for graphviz. `out` may overflow: the caller checks. */
void report_graph_dot(const struct report_graph *g, struct buf *out);

/* Returns the <svg> element in the output of `dot -Tsvg`; "" if there is
 * none. */
struct str report_graph_svg(struct str written);

/* Lays the graph out with graphviz; `svg`, its <svg> element, is allocated in
 * `a`. Fails with ERR_NOT_FOUND if graphviz is not installed, and ERR_FAILED. */
MUST_CHECK bool report_graph_lay_out(const struct report_graph *g,
                                     struct arena *a, struct str *svg,
                                     struct err *e);

/* Renders the page; `svg` is the result of report_graph_lay_out. `out`
 * may overflow. */
void report_graph_page(const struct report_graph *g, struct str svg,
                       struct buf *out);

#endif
