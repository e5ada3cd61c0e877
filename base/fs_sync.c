#include "base/fs.h"
#include "base/threads.h"
#include "mapm/limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "fs_open.h"

bool fs_sync(int fd, const char *what, struct err *e)
{
    int result;

    do
        result = fsync(fd);
    while (result < 0 && errno == EINTR);
    if (result < 0)
        return err_errno(e, "sync %s", what);
    return true;
}

bool fs_sync_all(int fd, struct err *e)
{
    int result;

    do
        result = syncfs(fd);
    while (result < 0 && errno == EINTR);
    if (result < 0)
        return err_errno(e, "sync the file system");
    return true;
}

/* --- many at once ---------------------------------------------------------- */

/* Each fsync waits for the disk, and concurrent calls share one commit of its
 * journal. The threads therefore only wait. */
static bool sync_folder(void *ctx, size_t thread, size_t index, struct err *e)
{
    const int *fds = ctx;

    (void)thread;
    return fs_sync(fds[index], "the folders", e);
}

bool fs_sync_folders(const int *fds, size_t count, struct err *e)
{
    return threads_each(count, SYNC_MAX_THREADS, sync_folder,
                        (void *)(uintptr_t)fds, e);
}

/* --- a tree ---------------------------------------------------------------- */

#define SYNC_MAX_ENTRIES 1000000

struct paths {
    struct str *items;
    size_t count, capacity;
};

static void add_path(struct paths *p, struct arena *a, struct str path)
{
    p->items = arena_grow(a, p->items, p->count, &p->capacity, sizeof path);
    p->items[p->count++] = path;
}

/* Lists folders and files, parents first. */
static bool list_tree(int dirfd, struct arena *a, struct paths *folders,
                      struct paths *files, struct err *e)
{
    add_path(folders, a, STR("."));
    for (size_t i = 0; i < folders->count; i++) {
        const char *folder = folders->items[i].p;
        struct fs_entry *entries;
        size_t count;

        if (!fs_list_at(dirfd, folder, SYNC_MAX_ENTRIES, a, &entries, &count,
                        e))
            return false;
        for (size_t k = 0; k < count; k++) {
            struct str path =
                arena_printf(a, "%s/%s", folder, entries[k].name.p);

            if (entries[k].type == DT_DIR)
                add_path(folders, a, path);
            else if (entries[k].type == DT_REG)
                add_path(files, a, path);
        }
    }
    return true;
}

/* Starts to write the data without waiting, so that a file system with delayed
 * allocation allocates all files before the first one is waited for. */
static bool start_writing(int dirfd, const char *path, struct err *e)
{
    CLEANUP_FD int fd = -1;

    if (!fs_open_file_at(dirfd, path, &fd, NULL, e))
        return false;
    (void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    return true;
}

struct tree {
    int dirfd;
    struct paths files, folders;
};

static bool sync_entry(void *ctx, size_t thread, size_t index, struct err *e)
{
    const struct tree *t = ctx;
    CLEANUP_FD int fd = -1;
    const char *path;

    (void)thread;
    if (index < t->files.count) {
        path = t->files.items[index].p;
        return fs_open_file_at(t->dirfd, path, &fd, NULL, e) &&
               fs_sync(fd, path, e);
    }
    path = t->folders.items[index - t->files.count].p;
    return fs_open_dir_at(t->dirfd, path, &fd, e) && fs_sync_dir(fd, path, e);
}

static bool sync_entries(struct tree *t, struct err *e)
{
    for (size_t i = 0; i < t->files.count; i++)
        if (!start_writing(t->dirfd, t->files.items[i].p, e))
            return false;
    return threads_each(t->files.count + t->folders.count, SYNC_MAX_THREADS,
                        sync_entry, t, e);
}

bool fs_sync_tree(int dirfd, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct tree t = {.dirfd = dirfd};

    return list_tree(dirfd, &a, &t.folders, &t.files, e) && sync_entries(&t, e);
}

bool fs_sync_files(int dirfd, struct str *names, size_t count, struct err *e)
{
    struct tree t = {.dirfd = dirfd, .files = {names, count, count}};

    return sync_entries(&t, e);
}
