#include "tree_picture.h"

#include "base/fs.h"
#include "mapm/report_graph.h"

#define PAGE_MODE      0644
#define PAGE_MAX_BYTES (64u * 1024 * 1024)

bool tree_write_picture(struct invocation *inv, const struct workspace_graph *g,
                        struct err *e)
{
    bool is_page = has_option(inv, OPTION_HTML);
    enum option_id id = is_page ? OPTION_HTML : OPTION_SVG;
    struct str svg;
    CLEANUP(buf_done) struct buf page = {0};
    struct report_graph graph;

    if (option_value(inv, id).n == 0)
        return err_set(e, ERR_USAGE, "--%s: the file's name is empty",
                       options[id].name);
    report_graph_read(&inv->cx, g, &graph);
    if (!report_graph_lay_out(&graph, &inv->cx.arena, &svg, e))
        return false;
    buf_init(&page, PAGE_MAX_BYTES);
    if (is_page)
        report_graph_page(&graph, svg, &page);
    else
        buf_append(&page, svg);
    return buf_check(&page, "the picture", e) &&
           print_to_file(inv, id, PAGE_MODE, buf_str(&page), e);
}
