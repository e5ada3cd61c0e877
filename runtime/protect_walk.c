#include "base/fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <time.h>

#include "protect_inner.h"

/*
 * All folders of the workspace. A command is looked at before and after it ran:
 * the second time only folders are read in which a name came or went since,
 * which the kernel stamps on them; the others cost one stat.
 */

#define FOLDERS_MAX_COUNT 200000

/* File systems have clocks as coarse as this. A folder that was changed less
 * long ago than that may change again and look the same. */
#define CLOCK_COARSE_SECONDS 2

struct walk {
    struct protect *p;
    struct arena *a;
    bool again;
    struct str *todo; /* not yet read */
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

/* The state before it is read: entries added meanwhile count as new. */
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
    map_put(&p->folder_paths, f.path, p); /* found: it is known */
}

/* No name in it came or went, nor did it become another folder. A link on the
 * way to it does not matter: then it was moved, and is new where it is now. */
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

static bool look_at(struct walk *w, struct str folder, int fd,
                    const struct dirent *d, struct err *e)
{
    struct str name = str_cstr(d->d_name), path;

    if (str_is(name, ".") || str_is(name, ".."))
        return true;
    /* Not in any case: where names have none, it is the same one. */
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

    /* An unreadable folder is unreadable to git, too; but the command may
     * change its permissions, while the folder around it stays the same. */
    (void)!fs_open_dir_at(w->p->fd, str_dup0(folder, w->a), &fd, &ignored);
    if (!w->again)
        remember(w->p, folder, fd);
    dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        fs_close(&fd);
        return true;
    }
    while (ok && (d = readdir(dir)))
        ok = look_at(w, folder, dirfd(dir), d, e);
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
