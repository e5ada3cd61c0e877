#include "base/proc.h"
#include "mapm/report_graph.h"

#define SVG_MAX_BYTES (64u * 1024 * 1024)
#define DOT_MAX_MS    120000u

bool report_graph_lay_out(const struct report_graph *g, struct arena *a,
                          struct str *svg, struct err *e)
{
    CLEANUP(buf_done) struct buf dot = {0};
    struct proc_result result;
    struct str program;

    buf_init(&dot, SVG_MAX_BYTES);
    report_graph_dot(g, &dot);
    if (!buf_check(&dot, "the graph", e))
        return false;
    if (!proc_find_program("dot", NULL, a, &program, e)) {
        err_set(e, ERR_NOT_FOUND,
                "graphviz, which lays the graph out, is not "
                "installed");
        return err_hint(e, "apt install graphviz; mapm tree --mermaid does "
                           "without it");
    }
    const char *argv[] = {program.p, "-Tsvg", NULL};
    const struct proc_options o = {.argv = argv,
                                   .input = buf_str(&dot),
                                   .max_output_bytes = SVG_MAX_BYTES,
                                   .timeout_ms = DOT_MAX_MS};

    if (!proc_run(&o, a, &result, e))
        return err_wrap(e, "run %s", program.p);
    *svg = report_graph_svg(result.out);
    if (result.exit_code != 0 || svg->n == 0)
        return err_set(e, ERR_FAILED, "%s failed: %.*s", program.p,
                       STR_ARG(str_trim(result.err)));
    return true;
}
