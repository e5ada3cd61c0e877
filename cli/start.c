#include "base/proc.h"
#include "mapm/run_server.h"

#include "command.h"

/* start: replaces this process by a locked MCP server. Prints nothing but one
 * line on stderr after a failure: stdout belongs to the client. */

#define LINE_MAX_BYTES  4096
#define EXIT_NO_PROGRAM 127 /* as in shells */

static bool in_one_line(struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};
    const struct err all = *e;

    buf_init(&b, LINE_MAX_BYTES);
    for (const char *m = NULL; (m = err_prev(&all, m)) != NULL;)
        buf_printf(&b, "%s%s", b.n ? ": " : "", m);
    if (all.hint[0])
        buf_printf(&b, "; %s", all.hint);
    err_clear(e);
    return err_set(e, all.code, "%.*s", STR_ARG(buf_str(&b)));
}

COMMAND(command_start)
{
    struct run_server server;

    /* Do not report a mapm.yaml of another user above this folder: only one
     * line is printed. */
    inv->cx.noted_owner = true;
    if (!run_server_prepare(&inv->cx, inv->arguments.items[0], &server, e))
        return in_one_line(e);
    if (run_server_find(&inv->cx, &server, e))
        proc_replace(&inv->inherited, server.path, server.process.argv,
                     server.process.cwd, e);
    in_one_line(e);
    if (e->code != ERR_NOT_FOUND)
        return false;
    term_error(&inv->term, e);
    *exit_code = EXIT_NO_PROGRAM;
    return true;
}
