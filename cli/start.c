#include "base/proc.h"
#include "mapm/run_server.h"

#include "command.h"

/*
 * start: a locked MCP server in the place of this process. What is printed is
 * one line on stderr, where there is a failure: stdout is the client's.
 */

#define LINE_MAX_BYTES  4096
#define EXIT_NO_PROGRAM 127 /* as shells have it */

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

    /* A mapm.yaml of another user above this folder is no second line. */
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
