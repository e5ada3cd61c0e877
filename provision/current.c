#include "base/fs.h"
#include "base/path.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "work.h"

/* The fast path for "nothing to do": the record and one lstat per file. The
 * record is trusted no more than in the plan: a file counts as unchanged if its
 * inode and times are the recorded ones, which a checkout cannot forge. */

struct opened {
    struct str path;
    int fd;
};

struct checking {
    const struct provision *p;
    struct arena *arena;
    struct opened trees, links;  /* the folder of the previous file */
    const struct client *linked; /* client whose whole folder is a link of
                                  * mapm */
    size_t seen;                 /* number of matching entries of the record */
};

static void checking_done(struct checking *c)
{
    fs_close(&c->trees.fd);
    fs_close(&c->links.fd);
}

static bool open_folder(int dirfd, const char *path, int *fd)
{
    struct err ignored = {0};

    return fs_open_dir_at(dirfd, path, fd, &ignored);
}

/* Opens the folder of `path`, unless it is that of the previous path. */
static bool open_folder_of(struct checking *c, struct str path,
                           struct opened *at)
{
    struct str folder = str_slice(path, 0, str_find_last(path, '/'));

    if (at->fd >= 0 && str_eq(folder, at->path))
        return true;
    fs_close(&at->fd);
    at->path = folder;
    return open_folder(c->p->root, str_dup0(folder, c->arena), &at->fd);
}

/* Returns whether the path is a folder and not a link, so that the files below
 * it may be used. */
static bool is_folder(int dirfd, const char *path)
{
    struct stat st;

    return fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(st.st_mode);
}

/* Appends `file` to the name of the folder. Returns false if it is too long. */
static bool put_path(char *path, size_t at, struct str file)
{
    if (file.n >= PATH_MAX - at)
        return false;
    if (file.n)
        memcpy(path + at, file.p, file.n);
    path[at + file.n] = '\0';
    return true;
}

/* Checks the parent folders of the file that the previous file did not have. */
static bool has_folders(int dirfd, char *path, size_t at, struct str file,
                        struct str before)
{
    for (size_t i = 0; i < file.n; i++) {
        struct str folder = str_slice(file, 0, i);

        if (file.p[i] != '/' ||
            (str_starts(before, folder) && before.n > i && before.p[i] == '/'))
            continue;
        if (!put_path(path, at, folder) || !is_folder(dirfd, path))
            return false;
    }
    return true;
}

/* Calls lstat once per file and folder; only the common parent is opened. */
static bool is_tree_intact(struct checking *c, const struct record_entry *known)
{
    const struct record *r = &c->p->record;
    struct str name = path_last(known->path), before = STR("");
    char path[PATH_MAX];
    size_t at = name.n + 1;
    int dirfd;

    if (!open_folder_of(c, known->path, &c->trees) ||
        !put_path(path, 0, name) || !is_folder(c->trees.fd, path))
        return false;
    dirfd = c->trees.fd;
    for (size_t i = 0; i < known->file_count; i++) {
        const struct record_file *f = &known->files[i];
        struct stat st;

        path[name.n] = '/';
        if (!has_folders(dirfd, path, at, f->path, before) ||
            !put_path(path, at, f->path) || !f->stat.ctime ||
            fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            !record_vouches(r, &f->stat, &st))
            return false;
        before = f->path;
    }
    return true;
}

static bool check_tree(struct checking *c, const struct target *t,
                       const struct record_entry *known)
{
    c->seen++;
    return known && known->kind == RECORD_TREE &&
           hash_eq(&known->source, &t->source) && is_tree_intact(c, known);
}

static bool read_link(struct checking *c, struct str path, struct str wanted)
{
    char text[512];
    ssize_t n;

    if (!open_folder_of(c, path, &c->links))
        return false;
    n = readlinkat(c->links.fd, path_last(path).p, text, sizeof text);
    return n > 0 && str_eq(str_make(text, (size_t)n), wanted);
}

static bool check_link(struct checking *c, const struct target *t,
                       const struct record_entry *known)
{
    struct stat st;

    if (known && (known->kind == RECORD_TREE || t->is_copied) && !t->gives_way)
        return check_tree(c, t, known); /* a copy, if links are not supported */
    if (!known && t->gives_way && fs_stat_at(c->p->root, t->path.p, &st) &&
        S_ISDIR(st.st_mode))
        return true; /* it belongs to the user */
    if (!known && t->client &&
        (c->linked == t->client || disk_is_linked(c->p, t->client))) {
        c->linked = t->client;
        return true;
    }
    c->seen++;
    return known && known->kind == RECORD_LINK &&
           str_eq(known->link, t->link) && read_link(c, t->path, t->link);
}

static bool check_file(struct checking *c, const struct target *t,
                       const struct record_entry *known)
{
    struct stat st;

    c->seen++;
    return known && known->kind == RECORD_FILE && known->file_count == 1 &&
           hash_eq(&known->source, &t->source) &&
           fs_stat_at(c->p->root, t->path.p, &st) &&
           record_vouches(&c->p->record, &known->files[0].stat, &st);
}

static bool is_made_from(const struct record_key *key,
                         const struct desired_server *s)
{
    return key && str_eq(key->key, s->item->place) &&
           hash_eq(&key->source, &s->source);
}

/* Compares the servers of the file in any order: an install plans in the order
 * of the documents, later commands in that of the lock. */
static bool check_keys(struct checking *c, const struct target *t,
                       const struct record_entry *known)
{
    struct map keys;

    map_init(&keys, c->arena);
    for (size_t i = 0; i < known->key_count; i++)
        map_put(&keys, known->keys[i].key, &known->keys[i]);
    for (size_t i = 0; i < t->server_count; i++)
        if (!is_made_from(map_find(&keys, t->servers[i].item->place),
                          &t->servers[i]))
            return false;
    return keys.count == t->server_count;
}

static bool check_shared(struct checking *c, const struct target *t,
                         const struct record_entry *known)
{
    struct stat st;

    c->seen++;
    if (!known || known->kind != RECORD_SHARED ||
        known->key_count != t->server_count ||
        !fs_stat_at(c->p->root, t->path.p, &st) ||
        !record_vouches(&c->p->record, &known->stat, &st))
        return false;
    for (size_t i = 0; i < t->server_count; i++)
        if (!is_made_from(&known->keys[i], &t->servers[i]))
            return check_keys(c, t, known);
    return true;
}

static bool check_target(struct checking *c, const struct target *t)
{
    const struct record_entry *known = provision_recorded(c->p, t->path);

    switch (t->kind) {
    case TARGET_TREE:
        return check_tree(c, t, known);
    case TARGET_LINK:
        return check_link(c, t, known);
    case TARGET_FILE:
        return check_file(c, t, known);
    case TARGET_SHARED:
        return check_shared(c, t, known);
    case TARGET_TEXT:
        break;
    }
    return false;
}

bool provision_is_current(struct provision *p,
                          const struct provision_options *o,
                          const struct provision_item *items, size_t item_count,
                          struct arena *a)
{
    CLEANUP(checking_done)
    struct checking c = {
        .p = p, .arena = a, .trees = {.fd = -1}, .links = {.fd = -1}};
    struct err ignored = {0};
    struct desired_state desired;

    if (!provision_load(p, &ignored) || !p->has_record)
        return false;
    provision_desired_state(p, o, a, &desired);
    if (!desired_state_build(&desired, items, item_count, &p->record, &ignored))
        return false;
    for (size_t i = 0; i < desired.count; i++)
        if (!check_target(&c, &desired.targets[i]))
            return false;
    /* other recorded paths would have to be removed */
    return c.seen == p->record.count;
}
