#include "base/place.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#define FILE_MODE   0644
#define FOLDER_MODE 0755

/* A file or folder under a temporary name; removed unless it was renamed. */
struct draft {
    int dirfd;
    char name[40];
};

static void draft_discard(struct draft *d)
{
    struct err ignored = {0};

    if (d->name[0] && !fs_remove_tree_at(d->dirfd, d->name, &ignored))
        return; /* left behind, with a name that marks temporary files */
}

static void draft_init(struct draft *d, int dirfd)
{
    uint64_t number = 0;

    /* If the name is already in use, the next step fails, which is harmless. */
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) < 0)
        number = (uint64_t)getpid();
    d->dirfd = dirfd;
    snprintf(d->name, sizeof d->name, ".mapm-tmp-%016" PRIx64, number);
}

static bool is_there(const char *to, struct err *e)
{
    return err_set(e, ERR_FAILED, "%s already exists", to);
}

bool place_rename(int dirfd, const char *from, const char *to, struct err *e)
{
    int done = renameat2(dirfd, from, dirfd, to, RENAME_NOREPLACE);

    /* Some file systems do not support the flag. */
    if (done < 0 && (errno == EINVAL || errno == ENOSYS)) {
        if (fs_exists_at(dirfd, to))
            return is_there(to, e);
        done = renameat(dirfd, from, dirfd, to);
    }
    if (done < 0 && (errno == EEXIST || errno == ENOTEMPTY))
        return is_there(to, e);
    if (done < 0)
        return err_errno(e, "rename %s to %s", from, to);
    return fs_sync(dirfd, to, e);
}

static bool write_synced(int dirfd, const char *path, struct str text,
                         struct err *e)
{
    CLEANUP_FD int fd = -1;

    return fs_create_at(dirfd, path, FILE_MODE, text, e) &&
           fs_open_file_at(dirfd, path, &fd, NULL, e) && fs_sync(fd, path, e);
}

static bool put(struct draft *d, const char *name, struct err *e)
{
    if (!place_rename(d->dirfd, d->name, name, e))
        return false;
    d->name[0] = '\0';
    return true;
}

bool place_file(int dirfd, const char *name, struct str text, struct err *e)
{
    CLEANUP(draft_discard) struct draft d = {0};

    if (fs_exists_at(dirfd, name))
        return is_there(name, e);
    draft_init(&d, dirfd);
    return write_synced(dirfd, d.name, text, e) && put(&d, name, e);
}

static bool make_folder_of(int dirfd, const char *path, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    CLEANUP_FD int fd = -1;
    struct str folder = str_cstr(path);
    size_t slash = str_find_last(folder, '/');
    const char *name;

    if (slash == SIZE_MAX)
        return true;
    name = str_dup0(str_slice(folder, 0, slash), &scratch);
    return fs_make_dirs_at(dirfd, name, FOLDER_MODE, e) &&
           fs_open_dir_at(dirfd, name, &fd, e) && fs_sync(fd, name, e);
}

bool place_folder(int dirfd, const char *name, const struct place_file *files,
                  size_t count, struct err *e)
{
    CLEANUP(draft_discard) struct draft d = {0};
    CLEANUP_FD int fd = -1;

    if (fs_exists_at(dirfd, name))
        return is_there(name, e);
    draft_init(&d, dirfd);
    if (!fs_make_dirs_at(dirfd, d.name, FOLDER_MODE, e) ||
        !fs_open_dir_at(dirfd, d.name, &fd, e))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!make_folder_of(fd, files[i].name, e) ||
            !write_synced(fd, files[i].name, files[i].text, e))
            return false;
    return fs_sync(fd, name, e) && put(&d, name, e);
}
