#include "base/fs.h"

#include <fcntl.h>
#include <unistd.h>

#include "work.h"

/*
 * The shortest way to "nothing to do": what the record says, and one lstat a
 * file. It believes the record no more than the plan does: a file counts when
 * its numbers are those that mapm saw, and these no checkout can forge.
 */

struct checking {
    const struct provision *p;
    struct arena *arena;
    struct str folder; /* of the link before */
    int folder_fd;
    const struct client *linked; /* its whole folder is a link of ours */
    size_t seen;                 /* entries of the record */
};

static void checking_done(struct checking *c)
{
    fs_close(&c->folder_fd);
}

/* A folder's files follow each other: each folder is opened once. */
static bool is_tree_intact(struct checking *c, const struct record_entry *known)
{
    CLEANUP_FD int tree = -1;
    CLEANUP_FD int inner = -1;
    const struct record *r = &c->p->record;
    struct str before = STR("");
    struct err ignored = {0};

    if (!fs_open_dir_at(c->p->root, str_c(known->path, c->arena), &tree,
                        &ignored))
        return false;
    for (size_t i = 0; i < known->file_count; i++) {
        const struct record_file *f = &known->files[i];
        size_t slash = str_find_last(f->path, '/');
        size_t name = slash == SIZE_MAX ? 0 : slash + 1;
        struct str folder = str_slice(f->path, 0, name);
        struct stat st;

        if (!str_eq(folder, before)) {
            before = folder;
            fs_close(&inner);
            if (folder.n && !fs_open_dir_at(tree, str_c(folder, c->arena),
                                            &inner, &ignored))
                return false;
        }
        if (!f->stat.ctime ||
            fstatat(folder.n ? inner : tree,
                    str_c(str_from_index(f->path, name), c->arena), &st,
                    AT_SYMLINK_NOFOLLOW) < 0 ||
            !record_vouches(r, &f->stat, &st))
            return false;
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
    struct err ignored = {0};
    size_t slash = str_find_last(path, '/');
    struct str folder = str_slice(path, 0, slash);
    ssize_t n;

    if (!str_eq(folder, c->folder)) {
        fs_close(&c->folder_fd);
        c->folder = folder;
        if (!fs_open_dir_at(c->p->root, str_c(folder, c->arena), &c->folder_fd,
                            &ignored))
            return false;
    }
    n = readlinkat(c->folder_fd, path.p + slash + 1, text, sizeof text);
    return n > 0 && str_eq(str_of(text, (size_t)n), wanted);
}

static bool check_link(struct checking *c, const struct target *t,
                       const struct record_entry *known)
{
    if (known && known->kind == RECORD_TREE)
        return check_tree(c, t, known); /* a copy, where links cannot be made */
    if (!known && (c->linked == t->client || disk_is_linked(c->p, t->client))) {
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

/* Keys are recorded in the order of the servers, for as long as both are the
 * same ones. */
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
        if (!str_eq(known->keys[i].key, t->servers[i].item->place) ||
            !hash_eq(&known->keys[i].source, &t->servers[i].source))
            return false;
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
    struct checking c = {.p = p, .arena = a, .folder_fd = -1};
    struct err ignored = {0};
    struct wish wish;

    if (!provision_load(p, &ignored) || !p->has_record)
        return false;
    provision_wish(p, o, a, &wish);
    if (!wish_build(&wish, items, item_count, &p->record, &ignored))
        return false;
    for (size_t i = 0; i < wish.count; i++)
        if (!check_target(&c, &wish.targets[i]))
            return false;
    /* What else is recorded would have to go. */
    return c.seen == p->record.count;
}
