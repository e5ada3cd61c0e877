#include "base/fs.h"
#include "mapm/doc_kind.h"
#include "mapm/team_bundle.h"

#include <sys/stat.h>

#include "offline.h"

#define FILE_MODE 0644

struct bundling {
    struct offline_job job;
    struct team_bundle_writer writer;
    struct map names;   /* names of the packages in the bundle */
    struct arena arena; /* memory of one proof */
};

/* Adds the object of a package once. */
static bool add_package(struct bundling *b,
                        const struct install_team_package *p, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct install_team_object o;
    bool ok = true;

    if (p->proof.n == 0)
        ok = err_set(e, ERR_NOT_FOUND,
                     "there is no proof that its commit holds it");
    else if (!p->is_of_index && map_put(&b->names, p->name, b))
        ok = install_team_write(b->job.s->store, p, &a, &o, e) &&
             team_bundle_add(&b->writer, o.name, o.manifest, o.config, o.layer,
                             e);
    return ok || err_wrap(e, "%s %.*s", doc_kind_name(p->entry->kind),
                          STR_ARG(p->entry->name));
}

static bool add_proof(void *ctx, const struct install_team_package *const *of,
                      size_t count, const struct install_team_object *o,
                      struct err *e)
{
    struct bundling *b = ctx;

    if (!team_bundle_add(&b->writer, o->name, o->manifest, o->config, o->layer,
                         e))
        return false;
    for (size_t i = 1; i < count; i++)
        team_bundle_name(&b->writer, of[i]->proof);
    arena_done(&b->arena);
    return true;
}

static bool add_all(struct bundling *b, struct err *e)
{
    struct offline_proofs proofs = {&b->arena, add_proof, b};

    for (size_t i = 0; i < b->job.count; i++)
        if (!context_check_cancelled(b->job.s->cx, e) ||
            !add_package(b, &b->job.packages[i], e))
            return false;
    return offline_prove(&b->job, &proofs, e) &&
           team_bundle_add_lock(&b->writer, b->job.s->layers.whole.lock_text,
                                e);
}

static bool write_file(void *ctx, int fd, struct err *e)
{
    struct bundling *b = ctx;
    struct stat st;

    if (!team_bundle_end(&b->writer, fd, e))
        return false;
    if (fstat(fd, &st) == 0)
        b->job.out->file_bytes = (uint64_t)st.st_size;
    return true;
}

bool install_bundle(struct context *cx, struct str file,
                    struct install_offline *out, struct err *e)
{
    CLEANUP_FD int scratch = -1;
    struct bundling b = {.job = {.s = NULL}};
    bool ok =
        offline_scratch(&scratch, e) && offline_open(cx, true, &b.job, out, e);

    if (ok) {
        out->path = fs_join(cx->cwd, file, &cx->arena);
        map_init(&b.names, &cx->arena);
        team_bundle_begin(&b.writer, scratch);
        ok = add_all(&b, e) &&
             fs_replace_user_file_by(out->path.p, FILE_MODE, write_file, &b, e);
        team_bundle_done(&b.writer);
        arena_done(&b.arena);
    }
    offline_close(&b.job);
    if (!ok && !err_names(e, str_dup0(file, &cx->arena)))
        err_wrap(e, "cannot write %.*s", STR_ARG(file));
    return ok;
}
