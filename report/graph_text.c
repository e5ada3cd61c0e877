#include "mapm/doc_kind.h"
#include "mapm/lock.h"
#include "mapm/report_graph.h"

/* Names are of letters, digits and ._-/ only: safe inside quotes. */
void report_graph_plain_dot(const struct workspace_graph *g, struct buf *out)
{
    static const char *const shapes[] = {[DOC_AGENT] = "box",
                                         [DOC_SKILL] = "ellipse",
                                         [DOC_MCP] = "hexagon",
                                         [DOC_PLUGIN] = "folder"};

    buf_printf(out, "digraph mapm {\n  rankdir=LR;\n");
    for (size_t i = 0; i < g->count; i++)
        buf_printf(out, "  \"%s %.*s\" [label=\"%.*s\", shape=%s];\n",
                   doc_kind_name(g->entries[i]->kind),
                   STR_ARG(g->entries[i]->name), STR_ARG(g->entries[i]->name),
                   shapes[g->entries[i]->kind]);
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < g->entries[i]->need_count; k++)
            buf_printf(out, "  \"%s %.*s\" -> \"%s %.*s\";\n",
                       doc_kind_name(g->entries[i]->kind),
                       STR_ARG(g->entries[i]->name),
                       doc_kind_name(g->entries[i]->needs[k].kind),
                       STR_ARG(g->entries[i]->needs[k].name));
    buf_printf(out, "}\n");
}

void report_graph_mermaid(const struct workspace_graph *g, struct buf *out)
{

    buf_printf(out, "graph LR\n");
    for (size_t i = 0; i < g->count; i++)
        buf_printf(out, "  n%zu%s\"%.*s\"%s\n", i,
                   g->entries[i]->kind == DOC_AGENT    ? "["
                   : g->entries[i]->kind == DOC_SKILL  ? "("
                   : g->entries[i]->kind == DOC_PLUGIN ? "[["
                                                       : "{{",
                   STR_ARG(g->entries[i]->name),
                   g->entries[i]->kind == DOC_AGENT    ? "]"
                   : g->entries[i]->kind == DOC_SKILL  ? ")"
                   : g->entries[i]->kind == DOC_PLUGIN ? "]]"
                                                       : "}}");
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < g->entries[i]->need_count; k++)
            buf_printf(out, "  n%zu --> n%zu\n", i, g->needs[i][k]);
}
