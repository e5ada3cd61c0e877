#include "base/fs.h"
#include "base/threads.h"
#include "mapm/limits.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "stage.h"

/* A thread costs about as much as a few files. */
#define FILES_PER_THREAD 8
#define PLACE_MAX_BYTES  (STAGE_NODE_NAME_BYTES + PACKAGE_PATH_MAX_BYTES + 2)

/* Sets the mode of a folder if a umask or an ACL changed it. */
static bool fix_mode(const struct stage_tree *t, const char *path,
                     struct err *e)
{
    struct stat st;

    if (t->exact_modes ||
        (fstatat(t->stage, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
         (st.st_mode & 07777) == 0755) ||
        fchmodat(t->stage, path, 0755, 0) == 0)
        return true;
    return err_errno(e, "set the mode of the folder %s", path);
}

static bool make_folder(const struct stage_tree *t, const char *path,
                        struct err *e)
{
    if (mkdirat(t->stage, path, 0755) < 0)
        return err_errno(e, "create the folder %s", path);
    return fix_mode(t, path, e);
}

/* A package's files in order, so that a folder's files follow each other. */
struct place {
    const struct provision_objects *objects;
    const struct stage_tree *tree;
    struct arena arena;
    char path[PLACE_MAX_BYTES]; /* path of the current file, relative to the
                                 * stage */
    size_t root;                /* length of "n<i>/" */
    struct str folder;          /* folder of the previous file, with "/" */
    struct print_node *nodes;
    size_t count, capacity;
};

static void place_done(struct place *p)
{
    arena_done(&p->arena);
}

static struct print_node *add_node(struct place *p, struct str path)
{
    p->nodes = arena_grow(&p->arena, p->nodes, p->count, &p->capacity,
                          sizeof *p->nodes);
    p->nodes[p->count] = (struct print_node){.path = path};
    return &p->nodes[p->count++];
}

/* Creates the folders of `path` that the previous file did not have. */
static bool make_folders(struct place *p, struct str path, struct err *e)
{
    for (size_t i = 0; i < path.n; i++) {
        struct str folder = str_slice(path, 0, i + 1);

        if (path.p[i] != '/' || str_starts(p->folder, folder))
            continue;
        p->path[p->root + i] = '\0';
        if (!make_folder(p->tree, p->path, e))
            return false;
        p->path[p->root + i] = '/';
        add_node(p, str_slice(path, 0, i))->mode = S_IFDIR | 0755;
        p->folder = folder;
    }
    return true;
}

/* Sorted by bytes, "a/x" precedes "a0" and "a0" precedes "ab": the files of a
 * folder are adjacent, and share its name as prefix. */
static bool enter(struct place *p, struct str path, struct err *e)
{
    size_t slash = str_find_last(path, '/');
    struct str folder = str_slice(path, 0, slash == SIZE_MAX ? 0 : slash + 1);

    while (!str_starts(folder, p->folder)) {
        size_t up =
            str_find_last(str_slice(p->folder, 0, p->folder.n - 1), '/');

        p->folder = str_slice(p->folder, 0, up == SIZE_MAX ? 0 : up + 1);
    }
    memcpy(p->path + p->root, path.p, path.n);
    p->path[p->root + path.n] = '\0';
    return make_folders(p, path, e);
}

static bool write_made(int stage, const char *path,
                       const struct desired_file *f, struct stat *st,
                       struct err *e)
{
    if (!fs_create_at(stage, path, f->executable ? 0755 : 0644, f->content, e))
        return false;
    return fstatat(stage, path, st, AT_SYMLINK_NOFOLLOW) == 0 ||
           err_errno(e, "look at %s", path);
}

static bool do_file(struct place *p, const struct desired_file *f,
                    struct record_file *r, struct err *e)
{
    const struct provision_objects *o = p->objects;
    int stage = p->tree->stage;
    struct print_node *node;
    struct stat st;

    if (p->root + f->path.n >= sizeof p->path)
        return err_set(e, ERR_LIMIT, "the path is too long");
    if (!enter(p, f->path, e) ||
        !(f->content.p ? write_made(stage, p->path, f, &st, e)
                       : o->place(o->ctx, &f->hash, stage, p->path,
                                  f->executable, &st, e)))
        return false;
    *r = (struct record_file){
        .path = f->path,
        .executable = f->executable,
        .mode = st.st_mode & 07777,
        .hash = f->hash,
        .stat = file_stat_of(&st, true),
    };
    node = add_node(p, f->path);
    node->mode = st.st_mode;
    node->ino = r->stat.ino;
    node->size = r->stat.size;
    node->mtime = r->stat.mtime;
    return true;
}

bool stage_place_tree(const struct provision_objects *objects,
                      struct stage_tree *t, struct err *e)
{
    CLEANUP(place_done) struct place p = {.objects = objects, .tree = t};
    struct stat st;

    if (!make_folder(t, t->name, e))
        return false;
    p.root = strlen(t->name) + 1;
    snprintf(p.path, sizeof p.path, "%s/", t->name);
    add_node(&p, STR(""));
    for (size_t i = 0; i < t->count; i++)
        if (!do_file(&p, &t->files[i], &t->records[i], e))
            return err_wrap(e, "write %.*s/%.*s", STR_ARG(t->shown),
                            STR_ARG(t->files[i].path));
    if (!t->exact_modes)
        return swap_print(t->stage, t->name, &t->ino, &t->print, e);
    if (fstatat(t->stage, t->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return err_errno(e, "look at %s", t->name);
    p.nodes[0].mode = st.st_mode;
    t->ino = st.st_ino;
    t->print = print_of(p.nodes, p.count);
    return true;
}

static bool place_tree(void *ctx, size_t thread, size_t index, struct err *e)
{
    const struct stage_work *w = ctx;

    (void)thread;
    return stage_place_tree(w->objects, &w->jobs[index].tree, e);
}

static size_t choose_threads(const struct stage_work *w)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    size_t files = 0, n;

    for (size_t i = 0; i < w->count; i++)
        files += w->jobs[i].change->target->file_count;
    n = files / FILES_PER_THREAD;
    if (n > w->count)
        n = w->count;
    if (cpus > 0 && n > (size_t)cpus * 2)
        n = (size_t)cpus * 2;
    if (n > STAGE_MAX_THREADS)
        n = STAGE_MAX_THREADS;
    return n;
}

bool stage_place(struct stage_work *w, struct err *e)
{
    return threads_each(w->count, choose_threads(w), place_tree, w, e);
}
