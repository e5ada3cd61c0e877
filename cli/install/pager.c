#include "pager.h"

#include "base/env.h"
#include "base/fs.h"
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define SHELL "/bin/sh"

/* As in git: by default, less exits if everything fits on the screen, shows
 * colours, and does not clear the screen. */
#define LESS_OPTIONS "LESS=FRX"

static const char **environment(struct arena *a)
{
    return env_with(NULL, env_is_set("LESS") ? NULL : LESS_OPTIONS, a);
}

/* Returns the pager command, or an empty string if no pager is configured. */
static struct str command_line(struct invocation *inv)
{
    struct err ignored = {0};
    struct str found;

    if (!inv->term.is_out || inv->term.is_dumb)
        return STR("");
    if (env_is_set("PAGER"))
        return str_is(env_get("PAGER"), "cat") ? STR("") : env_get("PAGER");
    return proc_find_program("less", NULL, &inv->cx.arena, &found, &ignored)
               ? found
               : STR("");
}

static bool start(struct pager *p, struct invocation *inv, struct str line,
                  struct err *e)
{
    struct arena *a = &inv->cx.arena;
    const char *argv[] = {SHELL, "-c", str_dup0(line, a), NULL};
    CLEANUP_FD int in = -1;
    CLEANUP_FD int out = -1;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_errno(e, "make a pipe");
    in = ends[0];
    out = ends[1];
    p->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (p->out < 0)
        return err_errno(e, "keep standard output");
    if (!proc_start(&(struct proc_start){.argv = argv,
                                         .env = environment(a),
                                         .fds = {in, -1, -1, -1}},
                    &p->pid, e))
        return false;
    return dup2(out, STDOUT_FILENO) >= 0 || err_errno(e, "write to a pager");
}

void pager_start(struct pager *p, struct invocation *inv)
{
    struct str line = command_line(inv);
    struct err problem = {0};

    *p = (struct pager){.out = -1};
    if (line.n == 0 || !term_flush(&inv->term, &problem))
        return;
    /* Ctrl-C is handled by the pager. This process ends after it. */
    proc_catch_signals();
    if (start(p, inv, line, &problem))
        return;
    p->pid = 0;
    fs_close(&p->out);
    term_warn(&inv->term, "no pager: %s", err_first(&problem));
}

bool pager_end(struct pager *p, struct invocation *inv, struct err *e)
{
    struct err problem = {0};
    bool ok;
    int ignored;

    if (!p->pid)
        return true; /* errors of writing are reported at the end of the
                      * command */
    ok = term_flush(&inv->term, &problem);
    /* It is not an error if the user quits the pager early. */
    if (!ok && inv->term.out_errno == EPIPE) {
        inv->term.out_errno = 0;
        ok = true;
    }
    if (dup2(p->out, STDOUT_FILENO) < 0)
        err_errno(e, "write to standard output");
    fs_close(&p->out);
    return proc_wait(p->pid, &ignored, e) && ok;
}
