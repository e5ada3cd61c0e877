#include "base/fs.h"
#include "base/map.h"
#include "mapm/install_push.h"
#include "mapm/install_team.h"
#include "mapm/open_store.h"
#include "mapm/team_push.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_MODE 0755
#define FILE_MODE   0644

/* An object to push and its source. */
struct part {
    const struct install_team_package *package;
    size_t item;
};

/* A tree that proofs have in common. */
struct large_tree {
    const struct install_team_package *package; /* one that needs it */
    struct str id;
    size_t bytes; /* in all proofs */
};

struct job {
    struct context *cx;
    const struct install_push_request *request;
    struct layers all;
    struct store *store;
    struct install_trees trees;
    struct team_remotes remotes;
    struct install_push_result *out;
    struct map large;   /* struct large_tree, by name */
    struct map apart;   /* names of those that are objects of their own */
    struct part *parts; /* objects to push */
    struct str *names;  /* names of the objects */
    size_t count, capacity, name_capacity, item_capacity;
    const struct err *failed; /* first error of the registry */
};

/* --- what there is ----------------------------------------------------------------- */

static struct install_shared *add_item(struct job *j,
                                       const struct install_team_package *p,
                                       struct str object, bool is_proof)
{
    struct install_push_result *r = j->out;
    struct install_shared *s;

    r->items = arena_grow(&j->cx->arena, r->items, r->count, &j->item_capacity,
                          sizeof *r->items);
    s = &r->items[r->count++];
    *s = (struct install_shared){.kind = p->entry->kind,
                                 .package = p->entry->name,
                                 .object = object,
                                 .is_proof = is_proof};
    return s;
}

static void fail_item(struct job *j, struct install_shared *s,
                      const struct err *why)
{
    if (s->state == INSTALL_KEPT_BACK) {
        s->message = install_team_from_host(why, &j->cx->arena);
        return;
    }
    s->state = INSTALL_NOT_SHARED;
    s->message = str_make("", 0);
    for (const char *m = NULL; (m = err_prev(why, m)) != NULL;)
        s->message = arena_join(s->message, ": ", str_cstr(m), &j->cx->arena);
    s->message = arena_str(&j->cx->arena, s->message);
}

static void add_part(struct job *j, const struct install_team_package *p,
                     struct str object, bool is_proof, struct str tree,
                     struct map *seen)
{
    struct arena *a = &j->cx->arena;

    if (!map_put(seen, object, j))
        return;
    j->parts =
        arena_grow(a, j->parts, j->count, &j->capacity, sizeof *j->parts);
    j->names =
        arena_grow(a, j->names, j->count, &j->name_capacity, sizeof *j->names);
    j->parts[j->count] = (struct part){p, j->out->count};
    j->names[j->count++] = object;
    add_item(j, p, object, is_proof)->tree = tree;
}

/* Adds the proof, and counts its large trees. */
static void add_proof(struct job *j, const struct install_team_package *p,
                      struct map *seen)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct arena *a = &j->cx->arena;
    struct archive_file *trees;
    size_t count;

    add_part(j, p, p->proof, true, STR(""), seen);
    install_team_trees(&j->trees, p, &scratch, &trees, &count);
    for (size_t i = 0; i < count; i++) {
        struct str name = team_tree_name(p->repository, trees[i].path, a);
        struct large_tree *t = map_find(&j->large, name);

        if (!t) {
            t = arena_new(a, struct large_tree);
            *t = (struct large_tree){p, arena_str(a, trees[i].path), 0};
            map_put(&j->large, name, t);
        }
        t->bytes += trees[i].bytes.n;
    }
}

/* Adds the trees that the proofs would repeat too often. */
static void add_trees(struct job *j, struct map *seen)
{
    for (size_t i = 0; i < j->large.count; i++) {
        struct str name = j->large.entries[i].key;
        const struct large_tree *t = j->large.entries[i].value;

        if (t->bytes <= TEAM_REPEATED_MAX_BYTES)
            continue;
        map_put(&j->apart, name, j);
        add_part(j, t->package, name, true, t->id, seen);
    }
}

/* Adds a package. Without a known path it has no proof, which others must fetch
 * from the git host; that is reported. */
static void add_package(struct job *j, const struct install_team_package *p,
                        struct map *seen)
{
    struct install_shared *s;

    if (p->kept_back) {
        s = add_item(j, p, str_make("", 0), false);
        s->state = INSTALL_KEPT_BACK;
        s->message = str_cstr(p->kept_back);
        return;
    }
    if (p->is_also && !p->proof.n)
        return;
    if (!p->is_of_index)
        add_part(j, p, p->name, false, STR(""), seen);
    if (p->proof.n) {
        add_proof(j, p, seen);
        return;
    }
    s = add_item(j, p, str_make("", 0), true);
    s->state = INSTALL_NOT_SHARED;
    s->message = STR("this machine has no proof that its commit holds it: "
                     "mapm install --locked fetches it");
}

static bool list_parts(struct job *j, struct err *e)
{
    struct install_team_package *packages;
    struct map seen;
    size_t count;

    if (!install_team_list(j->cx, &j->all.whole, j->store, j->request->names,
                           &packages, &count, e))
        return false;
    map_init(&seen, &j->cx->arena);
    map_init(&j->large, &j->cx->arena);
    map_init(&j->apart, &j->cx->arena);
    for (size_t i = 0; i < count; i++)
        add_package(j, &packages[i], &seen);
    add_trees(j, &seen);
    return true;
}

static struct install_shared *item_of(struct job *j, size_t part)
{
    return &j->out->items[j->parts[part].item];
}

static bool make_object(struct job *j, const struct install_team_package *p,
                        const struct install_shared *s, struct arena *a,
                        struct install_team_object *out, struct err *e)
{
    if (s->tree.n)
        return install_team_share_tree(&j->trees, p, s->tree, a, out, e);
    return s->is_proof ? install_team_share(&j->trees, p, &j->apart, a, out, e)
                       : install_team_write(j->store, p, a, out, e);
}

static bool write_part(struct job *j, size_t part, struct arena *a,
                       struct install_team_object *out, struct err *e)
{
    struct install_shared *s = item_of(j, part);

    if (!make_object(j, j->parts[part].package, s, a, out, e)) {
        if (s->is_proof && e->code == ERR_LIMIT)
            s->state = INSTALL_KEPT_BACK;
        return false;
    }
    s->bytes = out->layer.n;
    return true;
}

/* --- to a registry ------------------------------------------------------------------- */

static bool make(void *ctx, size_t i, struct arena *a, struct team_upload *out,
                 struct err *e)
{
    struct install_team_object object;

    if (!write_part(ctx, i, a, &object, e))
        return false;
    *out = (struct team_upload){object.manifest, object.config, object.layer};
    return true;
}

static void done(void *ctx, size_t i, bool was_there, const struct err *why)
{
    struct job *j = ctx;
    struct install_shared *s = item_of(j, i);
    struct err *kept;

    if (!why) {
        s->state = was_there ? INSTALL_WAS_THERE : INSTALL_SHARED;
        return;
    }
    fail_item(j, s, why);
    if (j->failed || why->code == ERR_NOT_FOUND || why->code == ERR_LIMIT)
        return;
    kept = arena_new(&j->cx->arena, struct err);
    *kept = *why;
    j->failed = kept;
}

static bool choose_remote(struct job *j, struct team_remote *out, struct err *e)
{
    struct str url = j->request->remote;

    if (url.n &&
        !team_remote_parse(url, TEAM_FROM_CONFIG, &j->cx->arena, out, e))
        return false;
    for (size_t i = 0; i < j->remotes.count; i++) {
        const struct team_remote *t = &j->remotes.items[i];

        if (url.n ? str_eq(t->url, out->url) : t->kind == TEAM_REGISTRY) {
            *out = *t;
            return true;
        }
    }
    if (url.n)
        return true;
    err_set(e, ERR_USAGE, "no registry to push to");
    return err_hint(e, "name one, as oci://host/repository, here, in "
                       "MAPM_STORE, or as store: in config.yaml; --to DIR "
                       "writes a folder for a web server");
}

static bool count_states(struct job *j, struct err *e)
{
    struct install_push_result *r = j->out;

    for (size_t i = 0; i < r->count; i++)
        r->by_state[r->items[i].state]++;
    if (!j->failed || r->by_state[INSTALL_SHARED] ||
        (r->by_state[INSTALL_WAS_THERE] && j->failed->code != ERR_REFUSED))
        return true;
    *e = *j->failed;
    return err_wrap(e, "cannot push to %.*s", STR_ARG(r->to));
}

static bool push_registry(struct job *j, struct err *e)
{
    struct team_remote to;
    struct team_push push = {.remotes = &j->remotes,
                             .to = &to,
                             .limits = &j->all.whole.limits,
                             .names = j->names,
                             .count = j->count,
                             .again = j->request->again,
                             .make = make,
                             .done = done,
                             .ctx = j};

    if (!choose_remote(j, &to, e))
        return false;
    j->out->to = to.url;
    if (to.kind != TEAM_REGISTRY) {
        err_set(e, ERR_USAGE, "%.*s is a folder: mapm only reads it",
                STR_ARG(to.url));
        return err_hint(e, "mapm store push --to DIR writes the files that "
                           "belong there");
    }
    if (j->cx->is_offline)
        return err_set(e, ERR_OFFLINE, "a push needs the network");
    return j->count == 0 || fetch_push(&push, e);
}

/* --- to a folder ----------------------------------------------------------------------- */

static bool write_file(struct job *j, struct fs_batch *to, size_t i,
                       struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct install_shared *s = item_of(j, i);
    const char *name = arena_printf(&a, "%.*s.tar.gz", STR_ARG(s->object)).p;
    struct install_team_object object;
    struct err why = {0};
    struct stat st;

    if (!j->request->again &&
        fstatat(to->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(st.st_mode) && st.st_size > 0) {
        s->state = INSTALL_WAS_THERE;
        return true;
    }
    if (write_part(j, i, &a, &object, &why))
        return fs_batch_add(to, name, FILE_MODE, object.layer, e) &&
               (to->count < FS_BATCH_MAX || fs_batch_end(to, e));
    fail_item(j, s, &why);
    return true;
}

static bool write_files(struct job *j, int dirfd, struct err *e)
{
    CLEANUP(fs_batch_done) struct fs_batch to = {.dirfd = dirfd};

    fs_batch_sweep(dirfd);
    for (size_t i = 0; i < j->count; i++)
        if (!context_check_cancelled(j->cx, e) || !write_file(j, &to, i, e))
            return false;
    return fs_batch_end(&to, e);
}

static bool push_folder(struct job *j, struct err *e)
{
    struct str path = fs_join(j->cx->cwd, j->request->to, &j->cx->arena);
    const char *name = str_dup0(path, &j->cx->arena);
    CLEANUP_FD int fd = -1;

    j->out->to = fs_normalize(path, &j->cx->arena);
    return (fs_make_dirs(name, FOLDER_MODE, e) && fs_open_dir(name, &fd, e) &&
            write_files(j, fd, e)) ||
           err_wrap(e, "cannot write to %.*s", STR_ARG(path));
}

static bool push(struct job *j, struct err *e)
{
    const struct layer *l = &j->all.whole;

    return layer_check_there(l, j->cx, e) &&
           authorize_stores(j->cx, j->store, l->path, &l->user, &l->project,
                            &j->remotes, e) &&
           list_parts(j, e) &&
           (j->request->to.n ? push_folder(j, e) : push_registry(j, e)) &&
           count_states(j, e);
}

bool install_push(struct context *cx,
                  const struct install_push_request *request,
                  struct install_push_result *out, struct err *e)
{
    struct job j = {.cx = cx, .request = request, .out = out};
    bool ok;

    *out = (struct install_push_result){0};
    if (!open_store(cx, &j.store, e))
        return false;
    j.trees.store = j.store;
    ok = layer_open_all(cx, LAYER_READ, &j.all, e);
    if (ok) {
        ok = push(&j, e);
        layer_close_all(&j.all);
    }
    install_trees_done(&j.trees);
    close_store(cx, j.store);
    return ok;
}
