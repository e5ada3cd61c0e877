#ifndef MAPM_REPORT_GRAPH_H
#define MAPM_REPORT_GRAPH_H

#include "base/buf.h"
#include "mapm/doc_kind.h"

/*
 * report_graph: the packages of a layer as a picture.
 *
 *     struct report_graph --> report_graph_dot() --> dot -Tsvg
 *                    `------- report_graph_page() <----'
 *
 * Packages are grouped by catalog. Those that neither need another one nor are
 * needed stand in columns, or a picture of hundreds would be a single row.
 * State is in colour and in words. The page needs nothing but itself: no
 * network, no script; below the picture is the same as a list, for small
 * screens and for those who do not see it.
 *
 * Source: G14; THREATS.md rows 7, 22.
 */

enum report_state {
    REPORT_CURRENT,
    REPORT_PATCHED,
    REPORT_OUTDATED,
    REPORT_GONE, /* not there any more upstream */
};

struct report_package {
    enum doc_kind kind;
    struct str name, version; /* "" = none */
    struct str catalog;       /* "owner/repo", "this workspace" … */
    struct str note;          /* words of its state and source; "" = none */
    enum report_state state;
    bool is_root;
    const size_t *needs; /* indices of packages */
    size_t need_count;
};

struct report_graph {
    struct str title; /* name of the workspace's folder */
    struct report_package *packages;
    size_t count;
    bool has_states; /* whether anything was compared with its origin */
};

/* Text for graphviz. `out` may overflow: the caller checks. */
void report_graph_dot(const struct report_graph *g, struct buf *out);

/* The <svg> element of what `dot -Tsvg` wrote; "" when it has none. */
struct str report_graph_svg(struct str written);

/* `svg`: of report_graph_svg. `out` may overflow. */
void report_graph_page(const struct report_graph *g, struct str svg,
                       struct buf *out);

#endif
