#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "fs_open.h"

#define COPY_MAX_ENTRIES 1000000
#define COPY_BLOCK_BYTES (64u * 1024)

/* A folder to copy. The list of pairs is a queue in which parents come
 * first. */
struct pair {
    struct str from, to;
};

struct copy {
    int from_fd, to_fd;
    struct arena arena;
    struct pair *folders;
    size_t count, capacity;
};

static void copy_done(struct copy *c)
{
    arena_done(&c->arena);
}

static bool copy_bytes(int from, int to, struct err *e)
{
    char block[COPY_BLOCK_BYTES];
    size_t n;

    for (;;) {
        n = 0;
        if (!fs_read_upto(from, block, sizeof block, &n, e))
            return false;
        if (n == 0)
            return true;
        if (!fs_write_all(to, str_make(block, n), e))
            return false;
    }
}

static bool copy_stat(int fd, const struct stat *st, const char *path,
                      struct err *e)
{
    const struct timespec times[] = {st->st_atim, st->st_mtim};

    return (fchmod(fd, st->st_mode & 07777) == 0 && futimens(fd, times) == 0) ||
           err_errno(e, "set mode and time of %s", path);
}

static bool copy_file(const struct copy *c, const char *from, const char *to,
                      struct err *e)
{
    CLEANUP_FD int in = -1;
    CLEANUP_FD int out = -1;
    struct stat st;

    if (!fs_open_file_at(c->from_fd, from, &in, &st, e))
        return false;
    out = fs_beneath(c->to_fd, to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
                     0600);
    if (out < 0)
        return fs_failed(e, "create", to);
    return copy_bytes(in, out, e) && copy_stat(out, &st, to, e) &&
           fs_sync(out, to, e) && fs_close_checked(&out, to, e);
}

static bool copy_link(const struct copy *c, const char *from, const char *to,
                      struct err *e)
{
    char text[4096];
    ssize_t n = readlinkat(c->from_fd, from, text, sizeof text);

    if (n < 0 || n == (ssize_t)sizeof text)
        return fs_failed(e, "read the link", from);
    text[n] = '\0';
    return symlinkat(text, c->to_fd, to) == 0 || fs_failed(e, "link", to);
}

static bool copy_node(struct copy *c, unsigned char type, struct str from,
                      struct str to, struct err *e)
{
    if (type == DT_REG)
        return copy_file(c, from.p, to.p, e);
    if (type == DT_LNK)
        return copy_link(c, from.p, to.p, e);
    if (type != DT_DIR)
        return err_set(e, ERR_REFUSED,
                       "copy %s: neither a file, a link nor a folder", from.p);
    c->folders = arena_grow(&c->arena, c->folders, c->count, &c->capacity,
                            sizeof *c->folders);
    c->folders[c->count++] = (struct pair){from, to};
    return mkdirat(c->to_fd, to.p, 0700) == 0 ||
           fs_failed(e, "create the folder", to.p);
}

static bool copy_folder(struct copy *c, struct pair at, struct err *e)
{
    struct fs_entry *entries;
    size_t count;

    if (!fs_list_at(c->from_fd, at.from.p, COPY_MAX_ENTRIES, &c->arena,
                    &entries, &count, e))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!copy_node(c, entries[i].type,
                       fs_join(at.from, entries[i].name, &c->arena),
                       fs_join(at.to, entries[i].name, &c->arena), e))
            return false;
    return true;
}

/* Sets mode and time of a folder after everything else, because creating a file
 * in it changes its time. */
static bool end_folder(const struct copy *c, struct pair at, struct err *e)
{
    CLEANUP_FD int fd = -1;
    struct stat st;

    return (fs_stat_at(c->from_fd, at.from.p, &st) ||
            fs_failed(e, "look at", at.from.p)) &&
           fs_open_dir_at(c->to_fd, at.to.p, &fd, e) &&
           copy_stat(fd, &st, at.to.p, e) && fs_sync_dir(fd, at.to.p, e);
}

bool fs_copy_tree_at(int from_fd, const char *from, int to_fd, const char *to,
                     struct err *e)
{
    CLEANUP(copy_done) struct copy c = {.from_fd = from_fd, .to_fd = to_fd};
    struct stat st;

    if (!fs_stat_at(from_fd, from, &st))
        return fs_failed(e, "look at", from);
    if (!copy_node(&c, IFTODT(st.st_mode), str_cstr(from), str_cstr(to), e))
        return false;
    for (size_t i = 0; i < c.count; i++)
        if (!copy_folder(&c, c.folders[i], e))
            return false;
    for (size_t i = c.count; i-- > 0;)
        if (!end_folder(&c, c.folders[i], e))
            return false;
    return true;
}
