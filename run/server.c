#include "base/env.h"
#include "base/fs.h"
#include "base/path.h"
#include "base/proc.h"
#include "mapm/authorize.h"
#include "mapm/locked_server.h"
#include "mapm/open_store.h"
#include "mapm/run_server.h"
#include "mapm/state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server_plugin.h"

#define SELF "/proc/self/exe"

/* --- consent -------------------------------------------------------------- */

/* Looks up trust, in most cases without locking or creating a file. */
static bool find_trust(struct context *cx, struct store *store,
                       const struct trust_request *q, enum trust_state *state,
                       struct err *e)
{
    if (store_begin_glance(store)) {
        bool ok = authorize_trust(cx, store, q, state, e);

        if (state_end_glance(store_state(store)))
            return ok;
        err_clear(e);
    }
    return authorize_trust(cx, store, q, state, e);
}

static bool check_consent(struct context *cx, struct store *store,
                          const struct locked_server *s, struct err *e)
{
    const struct trust_request q =
        authorize_request_server(s->workspace, s->key, &s->digest);
    enum trust_state state;

    if (!find_trust(cx, store, &q, &state, e))
        return false;
    if (state == TRUST_GIVEN)
        return true;
    return err_set(e, ERR_REFUSED,
                   "%.*s was not installed on this machine as mapm.lock in "
                   "%.*s has it%s%s: run mapm install once",
                   STR_ARG(s->key), STR_ARG(s->workspace),
                   state == TRUST_NONE ? "" : "; ", authorize_reason(state));
}

/* --- the document --------------------------------------------------------- */

/* Reads the document of the server. Objects are hashed when they are read, so
 * the bytes match the lock. */
static bool read_text(struct context *cx, struct store *store,
                      const struct locked_server *s, struct str *text)
{
    struct package_file *files;
    struct err ignored = {0};
    size_t count;

    return store_read_listing(store, &s->digest, &cx->arena, &files, &count,
                              &ignored) &&
           count == 1 &&
           store_read(store, &files[0].hash, MCP_MAX_BYTES, &cx->arena, text,
                      &ignored);
}

static bool read_document(struct context *cx, struct store *store,
                          const struct locked_server *s, struct document *out,
                          struct err *e)
{
    struct manifest_input in = {.kind = DOC_MCP, .allow_file = true};
    struct diagnostics why;

    if (!read_text(cx, store, s, &in.text))
        return err_set(e, ERR_REFUSED,
                       "the store does not hold %.*s as mapm.lock has it: run "
                       "mapm install --force once",
                       STR_ARG(s->key));
    diagnostics_init(&why, &cx->arena);
    manifest_read(&in, &cx->arena, out, &why);
    return true;
}

/* Refuses remote servers, which clients connect to by URL. An unreadable
 * document is refused later with its reason. */
static bool check_local(struct context *cx, struct store *store,
                        const struct locked_server *s, struct err *e)
{
    struct document d = {0};
    struct err ignored = {0};

    if (!read_document(cx, store, s, &d, &ignored) || !json_get(d.mcp, "url"))
        return true;
    return err_set(e, ERR_REFUSED,
                   "%.*s is a remote server: clients connect to it, and there "
                   "is nothing to start",
                   STR_ARG(s->key));
}

/* --- a server that starts itself ------------------------------------------ */

static bool is_self(const char *path)
{
    struct stat own, st;

    return stat(SELF, &own) == 0 && stat(path, &st) == 0 &&
           own.st_dev == st.st_dev && own.st_ino == st.st_ino;
}

/* Refuses a server that starts itself, which would never end. */
static bool check_recursion(const struct run_server *s, struct err *e)
{
    if (!is_self(s->path) && !str_is(path_last(str_cstr(s->path)), "mapm"))
        return true;
    for (const char *const *arg = s->process.argv + 1; *arg; arg++)
        if (strcmp(*arg, "start") == 0)
            return err_set(e, ERR_REFUSED,
                           "its command is mapm start: a server cannot start "
                           "a server");
    return true;
}

static bool is_program(const char *dir, const char *path, struct arena *a)
{
    struct str from = str_cstr(dir ? dir : ".");
    struct str whole = fs_join(from, str_cstr(path), a);
    struct stat st;

    return stat(whole.p, &st) == 0 && S_ISREG(st.st_mode) &&
           access(whole.p, X_OK) == 0;
}

bool run_server_find(struct context *cx, struct run_server *s, struct err *e)
{
    const char *name = s->process.argv[0];
    struct str found;

    if (strchr(name, '/')) {
        if (!is_program(s->process.cwd, name, &cx->arena))
            return err_set(e, ERR_NOT_FOUND, "there is no program %s", name);
        s->path = name;
    } else {
        if (!proc_find_program(name, NULL, &cx->arena, &found, e)) {
            err_clear(e);
            return err_set(
                e, ERR_NOT_FOUND, "there is no program \"%s\" on the PATH: %s",
                name, env_is_set("PATH") ? env_get("PATH").p : "it is not set");
        }
        s->path = found.p;
    }
    return check_recursion(s, e);
}

/* --- all of it ------------------------------------------------------------ */

static bool read_process(struct context *cx, struct store *store,
                         const struct locked_server *s, struct run_server *out,
                         struct err *e)
{
    struct document d = {0};
    struct plugin_server plugin;

    if (!check_local(cx, store, s, e) || !check_consent(cx, store, s, e) ||
        !read_document(cx, store, s, &d, e))
        return false;
    plugin_server_read(d.mcp, &plugin);
    return plugin.is_plugin
               ? server_plugin_read(cx, store, s, &d, &plugin, out, e)
               : mcp_read_process(&d, s->workspace, store_shared_dir(store),
                                  &cx->arena, &out->process, e);
}

/* Checks that the store exists, because opening it would create it. */
static bool check_store(struct context *cx, const struct locked_server *s,
                        struct err *e)
{
    struct str home, file;

    if (!store_find_home(&cx->arena, &home, e))
        return false;
    file = fs_join(home, STR("mapm.db"), &cx->arena);
    if (access(file.p, F_OK) == 0)
        return true;
    return err_set(e, ERR_REFUSED,
                   "%.*s was not installed on this machine: run mapm install "
                   "once",
                   STR_ARG(s->key));
}

bool run_server_prepare(struct context *cx, struct str key,
                        struct run_server *out, struct err *e)
{
    struct run_server s = {0};
    struct locked_server locked;
    struct store *store = NULL;
    bool ok;

    if (!locked_server_find(cx, key, &locked, e) ||
        !check_store(cx, &locked, e) || !open_store(cx, &store, e))
        return false;
    ok = read_process(cx, store, &locked, &s, e);
    store_close(store);
    if (!ok)
        return false;
    for (size_t i = 0; i < s.process.env_count; i++)
        if (setenv(s.process.env[i].name, s.process.env[i].value, 1) < 0)
            return err_errno(e, "set %s", s.process.env[i].name);
    *out = s;
    return true;
}
