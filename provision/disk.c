#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "work.h"

#define TREE_MAX_NODES  200000
#define HASH_BLOCK      (64 * 1024)
#define LINK_TEXT_BYTES 4096

struct reading {
    const struct provision *p;
    const struct record_entry *known;
    bool always_hash;
    struct arena *arena;
    struct disk_node *nodes;
    size_t count, capacity;
    struct str *todo;
    size_t todo_count, todo_capacity;
};

static bool hash_fd(int fd, const char *path, struct hash *out, struct err *e)
{
    char *block = heap_alloc(HASH_BLOCK);
    struct hash_state s;
    ssize_t n;

    hash_init(&s);
    do {
        n = read(fd, block, HASH_BLOCK);
        if (n > 0)
            hash_add(&s, str_make(block, (size_t)n));
    } while (n > 0 || (n < 0 && errno == EINTR));
    heap_free(block);
    *out = hash_end(&s);
    return n == 0 || err_errno(e, "read %s", path);
}

/* Sets node->hash from the record or by hashing the file. */
static bool find_hash(const struct reading *r, int dirfd, const char *name,
                      struct disk_node *node, struct err *e)
{
    const struct record_file *f = record_find(r->known, node->path);
    CLEANUP_FD int fd = -1;

    if (!r->always_hash && f &&
        record_vouches(&r->p->record, &f->stat, &node->st)) {
        node->hash = f->hash;
        node->seen = UINT64_MAX; /* unchanged since it was recorded */
        return true;
    }
    /* The status of the open file belongs to the bytes that are read. */
    node->seen = file_stat_now();
    return fs_open_file_at(dirfd, name, &fd, &node->st, e) &&
           hash_fd(fd, name, &node->hash, e);
}

static void push(struct reading *r, struct str folder)
{
    r->todo = arena_grow(r->arena, r->todo, r->todo_count, &r->todo_capacity,
                         sizeof *r->todo);
    r->todo[r->todo_count++] = folder;
}

static bool read_folder(struct reading *r, int tree, struct str folder,
                        struct err *e)
{
    CLEANUP_FD int fd = -1;
    struct fs_entry *entries;
    size_t count;

    if (!fs_open_dir_at(tree, folder.n ? folder.p : ".", &fd, e) ||
        !fs_list_at(fd, ".", TREE_MAX_NODES, r->arena, &entries, &count, e))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct disk_node node = {.path = entries[i].name};

        if (folder.n)
            node.path = arena_printf(r->arena, "%s/%s", folder.p, node.path.p);
        if (fstatat(fd, entries[i].name.p, &node.st, AT_SYMLINK_NOFOLLOW) < 0)
            return err_errno(e, "look at %s", node.path.p);
        if (S_ISDIR(node.st.st_mode)) {
            push(r, node.path);
            continue;
        }
        if (S_ISREG(node.st.st_mode) &&
            !find_hash(r, fd, entries[i].name.p, &node, e))
            return false;
        if (r->count == TREE_MAX_NODES)
            return err_set(e, ERR_LIMIT, "more than %d files", TREE_MAX_NODES);
        r->nodes = arena_grow(r->arena, r->nodes, r->count, &r->capacity,
                              sizeof *r->nodes);
        r->nodes[r->count++] = node;
    }
    return true;
}

bool disk_read_tree(const struct provision *p, const char *path,
                    const struct record_entry *known, bool always_hash,
                    struct arena *a, struct disk_node **out, size_t *count,
                    struct err *e)
{
    struct reading r = {
        .p = p, .known = known, .always_hash = always_hash, .arena = a};
    CLEANUP_FD int tree = -1;

    if (!fs_open_dir_at(p->root, path, &tree, e))
        return false;
    push(&r, STR(""));
    while (r.todo_count)
        if (!read_folder(&r, tree, r.todo[--r.todo_count], e))
            return err_wrap(e, "read %s", path);
    STR_SORT_BY(r.nodes, r.count, path);
    *out = r.nodes;
    *count = r.count;
    return true;
}

bool disk_read_file(const struct provision *p, const char *path,
                    const struct record_entry *known, bool always_hash,
                    struct disk_node *out, struct err *e)
{
    struct reading r = {.p = p, .known = known, .always_hash = always_hash};

    out->path = STR(".");
    if (!fs_stat_at(p->root, path, &out->st)) {
        errno = ENOENT;
        return err_errno(e, "read %s", path);
    }
    return find_hash(&r, p->root, path, out, e);
}

bool disk_read_link(int dirfd, const char *path, struct arena *a,
                    struct str *out)
{
    char text[LINK_TEXT_BYTES];
    struct str whole = str_cstr(path), folder = STR(".");
    CLEANUP_FD int fd = -1;
    struct err ignored = {0};
    size_t at = str_find_last(whole, '/');
    ssize_t n;

    if (at != SIZE_MAX)
        folder = arena_str(a, str_slice(whole, 0, at));
    if (!fs_open_dir_at(dirfd, folder.p, &fd, &ignored))
        return false;
    n = readlinkat(fd, at == SIZE_MAX ? path : path + at + 1, text,
                   sizeof text);
    if (n <= 0 || n == sizeof text)
        return false;
    *out = arena_str(a, str_make(text, (size_t)n));
    return true;
}

bool disk_has_mode(const struct disk_node *node, const struct desired_file *f,
                   const struct record_file *r)
{
    if (r && r->executable == f->executable &&
        (node->st.st_mode & 07777) == r->mode)
        return true; /* the mode that the file system set when it was created */
    return ((node->st.st_mode & 0100) != 0) == f->executable;
}

bool disk_is_linked(const struct provision *p, const struct client *c)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str text;

    if (!disk_read_link(p->root, c->skills, &a, &text))
        return false;
    while (text.n && text.p[text.n - 1] == '/')
        text.n--;
    return str_is(text, "../" SKILLS_FOLDER);
}

/* --- nothing changed? ----------------------------------------------------- */

/* The recorded hash of a generated file is used if its status matches, because
 * then mapm wrote this record on this disk. */
static bool matches_desired(const struct target *t,
                            const struct desired_file *f,
                            const struct record_entry *known,
                            const struct record_file *r)
{
    if (!str_eq(f->path, r->path) || f->executable != r->executable)
        return false;
    if (hash_is_zero(&f->hash))
        return hash_eq(&t->source, &known->source);
    return hash_eq(&f->hash, &r->hash);
}

static bool stat_file(const struct provision *p, const struct target *t,
                      int tree, struct str path, struct arena *a,
                      struct stat *st)
{
    if (tree < 0)
        return fs_stat_at(p->root, t->path.p, st);
    if (!str_has_char(path, '/'))
        return fstatat(tree, str_dup0(path, a), st, AT_SYMLINK_NOFOLLOW) == 0;
    return fs_stat_at(tree, str_dup0(path, a), st);
}

bool disk_is_recorded(const struct provision *p, const struct target *t,
                      const struct record_entry *known)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP_FD int tree = -1;
    struct err ignored = {0};

    if (!known || known->file_count != t->file_count ||
        (known->kind == RECORD_TREE) != (t->kind != TARGET_FILE))
        return false;
    if (known->kind == RECORD_TREE &&
        !fs_open_dir_at(p->root, t->path.p, &tree, &ignored))
        return false;
    for (size_t i = 0; i < t->file_count; i++) {
        const struct record_file *r = &known->files[i];
        struct stat st;

        if (!matches_desired(t, &t->files[i], known, r) ||
            !stat_file(p, t, tree, r->path, &a, &st) ||
            !record_vouches(&p->record, &r->stat, &st))
            return false;
    }
    return true;
}

bool disk_next_pair(struct disk_walk *w, const struct desired_file **file,
                    const struct disk_node **node)
{
    const struct desired_file *f =
        w->file < w->file_count ? &w->files[w->file] : NULL;
    const struct disk_node *n =
        w->node < w->node_count ? &w->nodes[w->node] : NULL;
    int order = !f ? -1 : !n ? 1 : str_cmp(n->path, f->path);

    *file = order >= 0 ? f : NULL;
    *node = order <= 0 ? n : NULL;
    w->file += *file != NULL;
    w->node += *node != NULL;
    return *file || *node;
}

bool disk_is_as_desired(const struct disk_node *node,
                        const struct desired_file *f,
                        const struct record_entry *known)
{
    return S_ISREG(node->st.st_mode) && hash_eq(&node->hash, &f->hash) &&
           disk_has_mode(node, f, record_find(known, f->path));
}
