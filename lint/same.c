#include "same.h"

#include "base/fs.h"
#include "base/path.h"
#include "mapm/limits.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

/* Two folders, and how much of them is compared. */
struct comparison {
    struct arena a;
    struct str one, two;
    struct str *folders; /* folders still to compare, from the top, which is
                          * "" */
    size_t count, capacity, files;
};

static bool open_file(struct str path, int *fd, off_t *size)
{
    struct err ignored = {0};
    struct stat st;

    if (!fs_open_user_file(path.p, fd, &ignored) || fstat(*fd, &st) < 0)
        return false;
    *size = st.st_size;
    return *size <= (off_t)PACKAGE_MAX_BYTES;
}

/* Compares two files of one size. */
static bool same_bytes(int one, int two)
{
    char x[16384], y[sizeof x];
    size_t n, other;
    struct err ignored = {0};

    do {
        n = other = 0;
        if (!fs_read_upto(one, x, sizeof x, &n, &ignored) ||
            !fs_read_upto(two, y, sizeof y, &other, &ignored) || n != other ||
            memcmp(x, y, n) != 0)
            return false;
    } while (n == sizeof x);
    return true;
}

static bool same_file(struct comparison *c, struct str path)
{
    CLEANUP_FD int one = -1;
    CLEANUP_FD int two = -1;
    off_t size, other;

    return open_file(fs_join(c->one, path, &c->a), &one, &size) &&
           open_file(fs_join(c->two, path, &c->a), &two, &other) &&
           size == other && same_bytes(one, two);
}

static bool list(struct comparison *c, struct str top, struct str path,
                 struct fs_entry **entries, size_t *count)
{
    struct err ignored = {0};
    CLEANUP_FD int fd = -1;

    return fs_open_dir(fs_join(top, path, &c->a).p, &fd, &ignored) &&
           fs_list_open(fd, PACKAGE_MAX_FILES, &c->a, entries, count, &ignored);
}

static bool same_entries(struct comparison *c, struct str folder)
{
    struct fs_entry *one, *two;
    size_t count, others;

    if (!list(c, c->one, folder, &one, &count) ||
        !list(c, c->two, folder, &two, &others) || count != others ||
        (c->files += count) > PACKAGE_MAX_FILES)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct str path =
            folder.n ? fs_join(folder, one[i].name, &c->a) : one[i].name;
        bool is_folder = one[i].type == DT_DIR;

        if (!str_eq(one[i].name, two[i].name) ||
            is_folder != (two[i].type == DT_DIR) ||
            (!is_folder && !same_file(c, path)))
            return false;
        if (!is_folder)
            continue;
        c->folders = arena_grow(&c->a, c->folders, c->count, &c->capacity,
                                sizeof *c->folders);
        c->folders[c->count++] = path;
    }
    return true;
}

bool same_folders(struct str one, struct str two)
{
    struct comparison c = {.one = one, .two = two};
    bool same = same_entries(&c, STR(""));

    while (same && c.count)
        same = same_entries(&c, c.folders[--c.count]);
    arena_done(&c.a);
    return same;
}
