#include "base/fs.h"

#include <dirent.h>
#include <fcntl.h>

#include "swap.h"

#define PRINT_MAX_ENTRIES 1000000

struct walk {
    struct arena arena;
    struct str *todo; /* folders to visit, relative to the path */
    size_t count, capacity;
    struct print_node *nodes;
    size_t node_count, node_capacity;
};

static void walk_done(struct walk *w)
{
    arena_done(&w->arena);
}

static void add_to_hash(struct hash_state *s, const struct print_node *n)
{
    bool folder = S_ISDIR(n->mode);
    /* The status of a folder adds nothing to the names in it. */
    uint64_t facts[] = {
        n->path.n,
        n->mode,
        folder ? 0 : n->ino,
        folder ? 0 : n->size,
        folder ? 0 : n->mtime,
    };

    hash_add(s, str_make((const char *)facts, sizeof facts));
    hash_add(s, n->path);
}

struct hash print_of(struct print_node *nodes, size_t count)
{
    struct hash_state s;

    STR_SORT_BY(nodes, count, path);
    hash_init(&s);
    for (size_t i = 0; i < count; i++)
        add_to_hash(&s, &nodes[i]);
    return hash_end(&s);
}

static void add_node(struct walk *w, struct str path, const struct stat *st)
{
    w->nodes = arena_grow(&w->arena, w->nodes, w->node_count, &w->node_capacity,
                          sizeof *w->nodes);
    w->nodes[w->node_count++] = (struct print_node){
        .path = path,
        .mode = st->st_mode,
        .ino = st->st_ino,
        .size = (uint64_t)st->st_size,
        .mtime = (uint64_t)st->st_mtim.tv_sec * 1000000000u +
                 (uint64_t)st->st_mtim.tv_nsec,
    };
}

static void push(struct walk *w, struct str path)
{
    w->todo =
        arena_grow(&w->arena, w->todo, w->count, &w->capacity, sizeof *w->todo);
    w->todo[w->count++] = path;
}

/* Adds `folder`, opened below dirfd, with `prefix` as its name in the print. */
static bool add_folder(struct walk *w, int dirfd, struct str folder,
                       size_t prefix, struct err *e)
{
    CLEANUP_FD int fd = -1;
    struct fs_entry *entries;
    size_t count;

    if (!fs_open_dir_at(dirfd, folder.p, &fd, e) ||
        !fs_list_at(fd, ".", PRINT_MAX_ENTRIES, &w->arena, &entries, &count, e))
        return false;
    if (w->node_count + count > PRINT_MAX_ENTRIES)
        return err_set(e, ERR_LIMIT, "%s: more than %d entries", folder.p,
                       PRINT_MAX_ENTRIES);
    for (size_t i = 0; i < count; i++) {
        struct str path =
            arena_printf(&w->arena, "%s/%s", folder.p, entries[i].name.p);
        struct stat st;

        if (fstatat(fd, entries[i].name.p, &st, AT_SYMLINK_NOFOLLOW) < 0)
            return err_errno(e, "look at %s", path.p);
        add_node(w, str_from_index(path, prefix), &st);
        if (S_ISDIR(st.st_mode))
            push(w, path);
    }
    return true;
}

bool swap_print(int dirfd, const char *path, uint64_t *ino, struct hash *print,
                struct err *e)
{
    CLEANUP(walk_done) struct walk w = {0};
    struct str whole = str_cstr(path);
    struct stat st;

    *ino = 0;
    *print = (struct hash){0};
    if (!fs_stat_at(dirfd, path, &st))
        return true;
    add_node(&w, STR(""), &st);
    if (S_ISDIR(st.st_mode))
        push(&w, whole);
    while (w.count)
        if (!add_folder(&w, dirfd, w.todo[--w.count], whole.n + 1, e))
            return false;
    *ino = st.st_ino;
    *print = print_of(w.nodes, w.node_count);
    return true;
}
