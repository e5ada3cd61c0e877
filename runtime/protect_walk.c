#include "base/fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <time.h>

#include "protect_inner.h"

/*
 * Lists all folders of the workspace, before and after a command. The second
 * time only folders whose timestamps show added or removed names are read; the
 * others cost one stat.
 */

#define FOLDERS_MAX_COUNT 200000

/* Resolution of the coarsest file system clocks. A folder changed more recently
 * may change again without a new timestamp. */
#define CLOCK_COARSE_SECONDS 2

struct walk {
    struct protect *p;
    struct arena *a;
    bool again;
    struct str *todo; /* folders still to read */
    size_t count, capacity, seen;
    protect_visit *visit;
    void *ctx;
};

static bool put_folder(struct walk *w, struct str path, struct err *e)
{
    if (w->seen++ == FOLDERS_MAX_COUNT)
        return err_set(e, ERR_LIMIT,
                       "more than %d folders are in the workspace",
                       FOLDERS_MAX_COUNT);
    w->todo =
        arena_grow(w->a, w->todo, w->count, &w->capacity, sizeof *w->todo);
    w->todo[w->count++] = path;
    return true;
}

/* Records the state before reading, so that entries added meanwhile count as
 * new. */
static void remember(struct protect *p, struct str path, int fd)
{
    struct protect_folder f = {.path = arena_str(p->arena, path)};
    struct stat st;

    if (fstat(fd, &st) == 0) {
        f.changed = st.st_ctim;
        f.device = st.st_dev;
        f.number = st.st_ino;
    }
    p->folders = arena_grow(p->arena, p->folders, p->folder_count,
                            &p->folder_capacity, sizeof *p->folders);
    p->folders[p->folder_count++] = f;
    map_put(&p->folder_paths, f.path, p); /* already known */
}

/* Returns true if no name was added or removed and it is the same folder. A
 * link on the path does not matter: the folder was then moved, and is new at
 * its present path. */
static bool is_unchanged(const struct protect *p,
                         const struct protect_folder *f)
{
    struct stat st;

    if (f->changed.tv_sec + CLOCK_COARSE_SECONDS >= p->walked.tv_sec)
        return false;
    return fstatat(p->fd, f->path.n ? f->path.p : ".", &st,
                   AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(st.st_mode) && st.st_dev == f->device &&
           st.st_ino == f->number && st.st_ctim.tv_sec == f->changed.tv_sec &&
           st.st_ctim.tv_nsec == f->changed.tv_nsec;
}

static bool is_folder(int fd, const struct dirent *d)
{
    struct stat st;

    if (d->d_type != DT_UNKNOWN)
        return d->d_type == DT_DIR;
    return fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(st.st_mode);
}

static bool scan_folder(struct walk *w, struct str folder, int fd,
                        const struct dirent *d, struct err *e)
{
    struct str name = str_cstr(d->d_name), path;

    if (str_is(name, ".") || str_is(name, ".."))
        return true;
    /* Case-insensitive, for file systems on which ".GIT" is the same file. */
    if (str_eq_nocase(name, STR(".git")))
        return !folder.n || w->visit(w->ctx, fs_join(folder, name, w->a), e);
    if (!is_folder(fd, d))
        return true;
    path = fs_join(folder, name, w->a);
    /* An existing folder is visited separately. */
    return (w->again && map_has(&w->p->folder_paths, path)) ||
           put_folder(w, path, e);
}

static bool read_folder(struct walk *w, struct str folder, struct err *e)
{
    int fd = -1;
    struct err ignored = {0};
    struct dirent *d;
    DIR *dir;
    bool ok = true;

    /* git cannot read an unreadable folder either. The command may change its
     * permissions, though, which does not change its parent. */
    (void)!fs_open_dir_at(w->p->fd, str_dup0(folder, w->a), &fd, &ignored);
    if (!w->again)
        remember(w->p, folder, fd);
    dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        fs_close(&fd);
        return true;
    }
    while (ok && (d = readdir(dir)))
        ok = scan_folder(w, folder, dirfd(dir), d, e);
    closedir(dir);
    return ok;
}

static bool read_all(struct walk *w, struct err *e)
{
    while (w->count)
        if (!read_folder(w, w->todo[--w->count], e))
            return false;
    return true;
}

bool protect_walk(struct protect *p, protect_visit *visit, void *ctx,
                  struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct walk w = {.p = p, .a = &a, .visit = visit, .ctx = ctx};

    map_init(&p->folder_paths, p->arena);
    clock_gettime(CLOCK_REALTIME, &p->walked);
    return put_folder(&w, STR(""), e) && read_all(&w, e);
}

bool protect_walk_again(struct protect *p, protect_visit *visit, void *ctx,
                        struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct walk w = {
        .p = p, .a = &a, .again = true, .visit = visit, .ctx = ctx};

    for (size_t i = 0; i < p->folder_count; i++) {
        w.seen++;
        if (is_unchanged(p, &p->folders[i]))
            continue;
        if (!read_folder(&w, p->folders[i].path, e) || !read_all(&w, e))
            return false;
    }
    return true;
}
