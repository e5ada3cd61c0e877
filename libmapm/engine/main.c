#include "base/env.h"
#include "base/fs.h"
#include "base/proc.h"
#include "mapm/libmapm_engine.h"
#include "mapm/open_store.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine.h"

#define LIBRARY_FD 3

_Static_assert((int)MAPM_INTERRUPTED == (int)ERR_INTERRUPTED &&
                   (int)MAPM_REFUSED == (int)ERR_REFUSED &&
                   (int)MAPM_EDITED == (int)ERR_EDITED &&
                   (int)MAPM_LIMIT == (int)ERR_LIMIT,
               "enum mapm_code is enum err_code");

/* --- the operation ------------------------------------------------------------------------ */

static bool call(struct engine *g, const struct wire_call *c, struct err *e)
{
    static engine_call *const calls[CALL_COUNT] = {
        [CALL_LIST] = engine_list,
        [CALL_VERIFY] = engine_verify,
        [CALL_LINT] = engine_lint,
        [CALL_SKILLS] = engine_skills,
        [CALL_SEARCH] = engine_search,
        [CALL_MATCH] = engine_match,
        [CALL_LOAD] = engine_load,
        [CALL_READ_RESOURCE] = engine_read_resource,
        [CALL_LIST_TRUST] = engine_list_trust,
        [CALL_TRUST] = engine_trust,
        [CALL_REVOKE_TRUST] = engine_revoke_trust,
    };

    if (c->operation >= CALL_COUNT)
        return err_set(e, ERR_FORMAT, "unknown operation");
    return calls[c->operation](g, c, e);
}

static bool perform(struct engine *g, const struct wire_message *in,
                    struct err *e)
{
    if (in->kind != WIRE_REQUEST || in->count != 1)
        return err_set(e, ERR_FORMAT, "libmapm sent no request");
    switch ((int)in->type) {
    case WIRE_CALL:
        return call(g, in->records, e);
    case WIRE_CHANGE_REQUEST:
        return engine_change(g, in->records, e);
    case WIRE_RUN_REQUEST:
        return engine_run(g, in->records, e);
    default:
        return err_set(e, ERR_FORMAT, "unknown request");
    }
}

static bool enter(struct engine *g, const char *folder, struct err *e)
{
    char *cwd;

    if (folder && chdir(folder) < 0)
        return err_errno(e, "the workspace %s", folder);
    cwd = getcwd(NULL, 0);
    if (!cwd)
        return err_errno(e, "the current folder");
    g->cx.cwd = arena_str(&g->cx.arena, str_cstr(cwd));
    free(cwd);
    g->cx.home = env_folder("HOME");
    return true;
}

static bool greet(struct engine *g, struct err *e)
{
    const struct wire_options *o;
    struct wire_message in;

    if (!wire_receive(g->fd, &g->cx.arena, &in, e))
        return false;
    if (in.kind != WIRE_HELLO || in.type != WIRE_OPTIONS || in.count != 1)
        return err_set(e, ERR_FORMAT, "libmapm sent no options");
    o = in.records;
    if (!o->version || strcmp(o->version, MAPM_VERSION) != 0) {
        err_set(e, ERR_FAILED, "libmapm %s, but mapm-engine " MAPM_VERSION,
                o->version ? o->version : "");
        return err_hint(e, "install both from the same version of mapm");
    }
    engine_host(g, o);
    return enter(g, o->workspace, e);
}

static bool serve(struct engine *g, struct err *e)
{
    struct wire_message in;

    return greet(g, e) && wire_receive(g->fd, &g->cx.arena, &in, e) &&
           perform(g, &in, e) &&
           engine_send(g, WIRE_DONE, WIRE_LINE, NULL, 0, e);
}

static void send_error(struct engine *g, const struct err *e)
{
    struct arena *a = &g->cx.arena;
    struct err ignored = {0};
    const char **messages;
    size_t count = 0;
    struct mapm_error r = {.code = (enum mapm_code)e->code,
                           .name = err_code_name(e->code),
                           .hint = e->hint};

    for (const char *m = err_prev(e, NULL); m; m = err_prev(e, m))
        count++;
    messages = arena_array(a, count + 1, sizeof *messages);
    for (const char *m = err_prev(e, NULL); m; m = err_prev(e, m))
        messages[r.message_count++] = m;
    r.messages = messages;
    if (!engine_send(g, WIRE_FAILED, WIRE_ERROR, &r, 1, &ignored))
        err_clear(&ignored);
}

/* --- the process ---------------------------------------------------------------------------- */

/* Makes a byte from the library, or the end of its process, raise SIGTERM,
 * including a byte that arrived before this was set up. */
static bool watch_lifeline(struct engine *g, struct err *e)
{
    struct pollfd now = {.events = POLLIN};

    g->lifeline = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, LIBRARY_FD + 1);
    if (g->lifeline < 0 || fcntl(g->lifeline, F_SETOWN, getpid()) < 0 ||
        fcntl(g->lifeline, F_SETSIG, SIGTERM) < 0 ||
        fcntl(g->lifeline, F_SETFL, O_ASYNC) < 0 ||
        fcntl(g->fd, F_SETFD, FD_CLOEXEC) < 0)
        return err_errno(e, "mapm-engine is started by libmapm");
    now.fd = g->lifeline;
    if (poll(&now, 1, 0) > 0)
        raise(SIGTERM);
    return true;
}

/* Replaces stdin, so that child processes do not inherit the lifeline. */
static bool close_stdin(struct err *e)
{
    CLEANUP_FD int fd =
        fs_openat(AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC, 0);

    if (fd < 0 || dup2(fd, STDIN_FILENO) < 0)
        return err_errno(e, "open /dev/null");
    return true;
}

int libmapm_engine_main(void)
{
    struct engine g = {.fd = LIBRARY_FD};
    struct err e = {0};
    bool ok;

    proc_init();
    proc_catch_signals();
    ok = watch_lifeline(&g, &e) && close_stdin(&e) && serve(&g, &e);
    if (!ok)
        send_error(&g, &e);
    if (g.store)
        close_store(&g.cx, g.store);
    arena_done(&g.cx.arena);
    return ok ? 0 : 1;
}
