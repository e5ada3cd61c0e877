#include "base/fs.h"
#include "mapm/install.h"
#include "mapm/install_ingest.h"
#include "mapm/open_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *name;
    bool (*work)(struct sync *s, struct err *e);
} works[] = {
    [INSTALL_INSTALL] = {"install", install_packages},
    [INSTALL_REMOVE] = {"remove", remove_packages},
    [INSTALL_UPDATE] = {"update", update_packages},
};

static bool sync_open(struct context *cx, const struct install_request *request,
                      struct sync *s, struct err *e)
{
    *s = (struct sync){.cx = cx,
                       .request = request,
                       .command = works[request->command].name,
                       .dry_run = request->dry_run,
                       .closure = {.session = {.dirfd = -1}}};
    if (!layer_open(cx, s->dry_run ? LAYER_READ : LAYER_WRITE, &s->layer, e))
        return false;
    s->yaml = s->layer.yaml;
    s->local_yaml = s->layer.local_yaml;
    s->with_server = s->layer.project.server && !s->layer.is_global;
    s->roots = layer_roots(&s->layer, &cx->arena, &s->root_count);
    if (!open_store(cx, &s->store, e))
        return false;
    store_begin_staging(s->store);
    return true;
}

bool sync_keep(struct sync *s, struct err *e)
{
    struct err problem = {0};

    if (!store_publish(s->store, e))
        return false;
    if (store_publish_notes(s->store, &problem))
        return true;
    if (problem.code == ERR_REFUSED) {
        *e = problem;
        return false;
    }
    if (!s->closure.index_warned)
        context_warn(s->cx, "%s", err_first(&problem));
    s->closure.index_warned = true;
    return true;
}

bool sync_is_network(enum err_code code)
{
    return code == ERR_FETCH || code == ERR_HOST || code == ERR_TLS;
}

static void sync_close(struct sync *s, const struct err *problem)
{
    struct err ignored = {0};

    if (s->store && problem && sync_is_network(problem->code) &&
        !sync_keep(s, &ignored)) {
        /* Then it is fetched again. */
    }
    if (s->closure.store)
        closure_done(&s->closure);
    close_store(s->cx, s->store);
    s->store = NULL;
    layer_close(&s->layer);
}

/* What root makes is root's: said, for it is rarely meant (row 25). */
static void warn_about_sudo(struct context *cx)
{
    const char *uid = getenv("SUDO_UID");

    if (geteuid() == 0 && uid && uid[0] && strcmp(uid, "0") != 0)
        context_warn(cx,
                     "running under sudo: what is written here will belong to "
                     "root, not to user %s",
                     uid);
}

/* All files of the packages at hand: what is damaged is set aside. (What a
 * damaged listing named is found once that is whole, the next time.) */
static void set_damaged_aside(struct sync *s)
{
    for (size_t i = 0; i < s->closure.queued; i++) {
        const struct node *n = s->closure.queue[i];
        CLEANUP(arena_done) struct arena scratch = {0};
        struct store_file *files;
        struct err ignored = {0};
        size_t count;

        if (!store_has_package(s->store, &n->digest) ||
            !store_read_listing(s->store, &n->digest, &scratch, &files, &count,
                                &ignored))
            continue;
        for (size_t k = 0; k < count; k++) {
            CLEANUP(arena_done) struct arena content = {0};
            struct str bytes;

            if (!store_read(s->store, &files[k].hash, FILE_MAX_BYTES, &content,
                            &bytes, &ignored))
                err_clear(&ignored);
        }
    }
}

bool sync_run(struct context *cx, const struct install_request *request,
              bool *left_out, struct err *e)
{
    unsigned tries = 0;
    bool ok;

    warn_about_sudo(cx);
    for (;;) {
        struct sync s;
        bool is_damaged;

        ok = sync_open(cx, request, &s, e);
        s.again = tries > 0;
        s.left_out = left_out;
        *left_out = false;
        ok = ok && works[request->command].work(&s, e);
        /* One that was set aside while it was staged early is missing now. */
        is_damaged = !ok && s.store && store_damaged(s.store) > 0 &&
                     (e->code == ERR_DAMAGED || e->code == ERR_NOT_FOUND) &&
                     tries < STORE_MEND_MAX_TRIES;
        if (is_damaged)
            set_damaged_aside(&s);
        sync_close(&s, ok ? NULL : e);
        if (!is_damaged)
            return ok;
        err_clear(e);
        if (tries++ == 0)
            context_warn(
                cx, "the store held a damaged file: it was set aside, and is "
                    "fetched again");
    }
}
