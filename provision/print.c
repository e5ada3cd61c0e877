#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "swap.h"

#define PRINT_MAX_ENTRIES 1000000

struct walk {
    struct arena arena;
    struct str *todo; /* folders, below the place */
    size_t count, capacity, seen;
    struct hash_state hash;
};

static void walk_done(struct walk *w)
{
    arena_done(&w->arena);
}

static void add_bytes(struct walk *w, const void *p, size_t n)
{
    hash_add(&w->hash, str_of(p, n));
}

static void add_node(struct walk *w, struct str name, const struct stat *st)
{
    bool folder = S_ISDIR(st->st_mode);
    /* A folder's own size and time say nothing that its names do not. */
    uint64_t facts[] = {
        name.n,
        st->st_mode,
        st->st_ino,
        folder ? 0 : (uint64_t)st->st_size,
        folder ? 0 : (uint64_t)st->st_mtim.tv_sec,
        folder ? 0 : (uint64_t)st->st_mtim.tv_nsec,
    };

    add_bytes(w, facts, sizeof facts);
    hash_add(&w->hash, name);
}

static void push(struct walk *w, struct str path)
{
    w->todo =
        arena_grow(&w->arena, w->todo, w->count, &w->capacity, sizeof *w->todo);
    w->todo[w->count++] = path;
}

static bool add_folder(struct walk *w, int dirfd, const char *path,
                       struct err *e)
{
    CLEANUP_FD int fd = -1;
    struct fs_entry *entries;
    size_t count;

    if (!fs_open_dir_at(dirfd, path, &fd, e) ||
        !fs_list_at(fd, ".", PRINT_MAX_ENTRIES, &w->arena, &entries, &count, e))
        return false;
    w->seen += count;
    if (w->seen > PRINT_MAX_ENTRIES)
        return err_set(e, ERR_LIMIT, "%s: more than %d entries", path,
                       PRINT_MAX_ENTRIES);
    for (size_t i = 0; i < count; i++) {
        struct stat st;

        if (fstatat(fd, entries[i].name.p, &st, AT_SYMLINK_NOFOLLOW) < 0)
            return err_errno(e, "look at %s/%s", path, entries[i].name.p);
        add_node(w, entries[i].name, &st);
        if (S_ISDIR(st.st_mode))
            push(w, arena_printf(&w->arena, "%s/%s", path, entries[i].name.p));
    }
    return true;
}

bool swap_print(int dirfd, const char *path, uint64_t *ino, struct hash *print,
                struct err *e)
{
    CLEANUP(walk_done) struct walk w = {0};
    struct stat st;

    *ino = 0;
    *print = (struct hash){0};
    if (!fs_stat_at(dirfd, path, &st))
        return true;
    hash_init(&w.hash);
    add_node(&w, STR(""), &st);
    if (S_ISDIR(st.st_mode))
        push(&w, str_from(path));
    while (w.count)
        if (!add_folder(&w, dirfd, w.todo[--w.count].p, e))
            return false;
    *ino = st.st_ino;
    *print = hash_end(&w.hash);
    return true;
}
