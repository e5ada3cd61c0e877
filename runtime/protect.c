#include "base/fs.h"
#include "base/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "protect_inner.h"

#define WATCH_MAX_ENTRIES 20000
#define FOLDER_MAX_NAMES  20000
#define COPY_MAX_BYTES    (16u << 20)  /* kept to undo changes */
#define HASH_MAX_BYTES    (256u << 20) /* read at all */
#define NAMES_SHOWN       10
#define PATH_SHOWN_BYTES  200

/* --- before -------------------------------------------------------------------- */

static bool read_link(const struct protect *p, const char *path,
                      struct arena *a, struct str *out)
{
    CLEANUP_FD int fd = -1;
    struct err ignored = {0};
    struct str parent = str_from(path);
    size_t slash = str_find_last(parent, '/');
    char text[4096];
    ssize_t n;

    parent = slash == SIZE_MAX ? STR(".") : str_slice(parent, 0, slash);
    if (!fs_open_dir_at(p->fd, str_c(parent, a), &fd, &ignored))
        return false;
    n = readlinkat(fd, path + (slash == SIZE_MAX ? 0 : slash + 1), text,
                   sizeof text);
    if (n < 0 || n == (ssize_t)sizeof text)
        return false;
    *out = arena_str(a, str_of(text, (size_t)n));
    return true;
}

static bool hash_file(const struct protect *p, const char *path,
                      struct hash *out, struct err *e)
{
    CLEANUP_FD int fd = -1;
    struct hash_state s;
    struct stat st;
    char block[16384];
    ssize_t n;

    if (!fs_open_file_at(p->fd, path, &fd, &st, e))
        return false;
    hash_init(&s);
    while ((n = read(fd, block, sizeof block)) > 0)
        hash_add(&s, str_of(block, (size_t)n));
    if (n < 0)
        return err_errno(e, "read %s", path);
    *out = hash_end(&s);
    return true;
}

/* What cannot be read is known by its size and times alone. */
static bool remember_file(struct protect *p, struct watched *w, struct err *e)
{
    struct err ignored = {0};

    w->can_undo = false;
    p->hashed += w->size;
    if (p->hashed > HASH_MAX_BYTES && !p->walled)
        return err_set(e, ERR_LIMIT,
                       "%s and what else must be watched is larger than %u MiB",
                       w->path.p, HASH_MAX_BYTES >> 20);
    if (p->copied + w->size > COPY_MAX_BYTES) {
        (void)!hash_file(p, w->path.p, &w->hash, &ignored);
        return true;
    }
    if (!fs_read_file_at(p->fd, w->path.p, COPY_MAX_BYTES, p->arena, &w->copy,
                         &ignored))
        return true;
    p->copied += w->copy.n;
    w->hash = hash_of(w->copy);
    w->can_undo = true;
    return true;
}

static void remember_stat(struct watched *w, const struct stat *st)
{
    w->mode = st->st_mode;
    w->mtime = st->st_mtim;
    w->ctime = st->st_ctim;
    w->size = (uint64_t)st->st_size;
    w->ino = st->st_ino;
}

/* A bound file that has a second name is changed through that one. A link is
 * no mount point. What is not there is no mount point, either. */
static bool is_walled(const struct protect *p, const struct stat *st,
                      enum watch_as as)
{
    if (!p->walled || as == WATCH_OPEN ||
        (as == WATCH_ROOT && S_ISLNK(st->st_mode)))
        return false;
    return !S_ISREG(st->st_mode) || st->st_nlink == 1;
}

/* A mount stays where it is, but who moves a folder around it makes way for
 * another one. */
static bool can_be_walled(const struct protect *p, struct str path)
{
    size_t slash = str_find_last(path, '/');

    if (slash == SIZE_MAX)
        return true;
    path = str_slice(path, 0, slash);
    return map_has(&p->by_path, path) &&
           map_find(&p->by_path, path) != &p->kinds[WATCH_OPEN];
}

bool protect_watch(struct protect *p, struct str path, unsigned how,
                   enum watch_as as, struct err *e)
{
    struct watched w = {.how = how, .can_undo = true};
    struct stat st;

    if (map_has(&p->by_path, path))
        return true;
    w.as = as = can_be_walled(p, path) ? as : WATCH_OPEN;
    if (p->count == WATCH_MAX_ENTRIES)
        return (p->walled && as != WATCH_OPEN) ||
               err_set(e, ERR_LIMIT,
                       "more than %d files must be watched in the workspace",
                       WATCH_MAX_ENTRIES);
    w.path = arena_str(p->arena, path);
    if (fs_stat_at(p->fd, w.path.p, &st)) {
        remember_stat(&w, &st);
        if (!S_ISDIR(st.st_mode))
            w.how = WHOLE; /* of a .git that is a file, or a link */
        w.can_undo = !is_walled(p, &st, as);
        if (S_ISLNK(st.st_mode) && !read_link(p, w.path.p, p->arena, &w.copy))
            w.can_undo = false;
        if (w.can_undo && S_ISREG(st.st_mode) && !remember_file(p, &w, e))
            return false;
    }
    p->all =
        arena_grow(p->arena, p->all, p->count, &p->capacity, sizeof *p->all);
    p->all[p->count++] = w;
    map_put(&p->by_path, w.path, &p->kinds[as]);
    return true;
}

/* A submodule may be called "refs". */
static bool is_repository(const struct protect *p, struct str path)
{
    return fs_exists_at(p->fd, fs_join(path, STR("config"), p->arena).p);
}

static bool watch_children(struct protect *p, const struct watched *w,
                           struct err *e)
{
    struct fs_entry *entries = NULL;
    size_t count = 0;
    struct str folder = w->path;
    unsigned how = w->how;
    enum watch_as as = w->as;

    if (!fs_list_at(p->fd, folder.p, FOLDER_MAX_NAMES, p->arena, &entries,
                    &count, e))
        return (p->walled && as != WATCH_OPEN) || e->code != ERR_LIMIT;
    for (size_t i = 0; i < count; i++) {
        struct str name = entries[i].name;
        bool is_folder = entries[i].type == DT_DIR;

        struct str path = fs_join(folder, name, p->arena);

        if (!protect_is_watched(how, name, is_folder) &&
            !(is_folder && is_repository(p, path)))
            continue;
        if (!protect_watch(p, path, str_is(name, "hooks") ? WHOLE : how,
                           as == WATCH_OPEN ? WATCH_OPEN : WATCH_CHILD, e))
            return false;
    }
    return true;
}

bool protect_inside(const struct protect *p, struct str path, struct arena *a,
                    struct str *out)
{
    struct str real = path_real(fs_join(p->folder, path, a), a);

    if (!real.n || !path_is_within(real, p->folder))
        return false;
    *out = str_from_index(real, p->folder.n + (real.n > p->folder.n));
    return true;
}

/* Where a link of the table leads inside of the workspace, there the files
 * are: they are watched, too. A hook is often a link to a script; a folder
 * that a link in a folder leads to is sources. */
static bool watch_target(struct protect *p, const struct watched *w,
                         struct err *e)
{
    struct str real;
    struct stat st;

    if (str_ends(w->path, STR(".git")) || /* see protect_git.c */
        !protect_inside(p, w->path, p->arena, &real) || !real.n)
        return true;
    if (w->as != WATCH_ROOT &&
        (!fs_stat_at(p->fd, real.p, &st) || !S_ISREG(st.st_mode)))
        return true;
    return protect_watch(p, real, WHOLE,
                         w->as == WATCH_CHILD ? WATCH_ROOT : w->as, e);
}

bool protect_look(struct str folder, int fd, bool walled, struct arena *a,
                  struct protect **out, struct err *e)
{
    struct protect *p = arena_new(a, struct protect);

    *p = (struct protect){
        .folder = folder, .fd = fd, .walled = walled, .arena = a};
    map_init(&p->by_path, a);
    for (const struct protect_row *row = protect_table; row->path; row++)
        if (!protect_watch(p, str_from(row->path), row->how, WATCH_ROOT, e))
            return false;
    if (!protect_git_look(p, e))
        return false;
    /* Grows while we go: folders add what is in them. */
    for (size_t i = 0; i < p->count; i++) {
        struct watched w = p->all[i];

        if (S_ISDIR(w.mode) && w.how != STAY && !watch_children(p, &w, e))
            return false;
        if (S_ISLNK(w.mode) && !watch_target(p, &w, e))
            return false;
    }
    *out = p;
    return true;
}

void protect_places(const struct protect *p, struct places *places)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct watched *w = &p->all[i];

        if (w->as == WATCH_ROOT && (S_ISDIR(w->mode) || S_ISREG(w->mode)))
            places_add(places,
                       w->how == STAY && S_ISDIR(w->mode) ? PLACE_WRITE
                                                          : PLACE_READ,
                       fs_join(p->folder, w->path, places->arena));
    }
}

/* --- after ---------------------------------------------------------------------- */

struct names {
    struct buf text;
    size_t count;
};

struct settling {
    struct protect *p;
    struct arena *a;
    struct names undone, left, others;
};

static void add_name(struct names *n, struct str path)
{
    n->count++;
    if (n->count > NAMES_SHOWN)
        return;
    if (n->count > 1)
        buf_text(&n->text, ", ");
    text_visible(&n->text, str_slice(path, 0, PATH_SHOWN_BYTES), false);
}

static struct str end_names(struct names *n, struct arena *a)
{
    struct str result;

    if (n->count > NAMES_SHOWN)
        buf_printf(&n->text, " and %zu more", n->count - NAMES_SHOWN);
    result = arena_str(a, buf_str(&n->text));
    buf_done(&n->text);
    return result;
}

static bool is_same_time(struct timespec x, struct timespec y)
{
    return x.tv_sec == y.tv_sec && x.tv_nsec == y.tv_nsec;
}

/* The clock of a file system is coarse: what has a copy is read again. */
static bool is_same_file(const struct protect *p, const struct watched *w,
                         const struct stat *st)
{
    struct err ignored = {0};
    struct hash now = {{0}};

    if ((uint64_t)st->st_size != w->size)
        return false;
    if (!hash_is_zero(&w->hash))
        return hash_file(p, w->path.p, &now, &ignored) &&
               hash_eq(&now, &w->hash);
    return st->st_ino == w->ino && is_same_time(st->st_mtim, w->mtime) &&
           is_same_time(st->st_ctim, w->ctime);
}

static bool is_same(const struct settling *s, const struct watched *w,
                    const struct stat *st)
{
    struct str target = STR("");

    if ((st->st_mode & S_IFMT) != (w->mode & S_IFMT))
        return false;
    if (S_ISLNK(w->mode))
        return read_link(s->p, w->path.p, s->a, &target) &&
               str_eq(target, w->copy);
    if (w->how != STAY && st->st_mode != w->mode)
        return false;
    return !S_ISREG(w->mode) || is_same_file(s->p, w, st);
}

static bool in_parent(const struct settling *s, const struct watched *w,
                      int *fd, const char **name)
{
    struct err ignored = {0};
    size_t slash = str_find_last(w->path, '/');

    *name = w->path.p + (slash == SIZE_MAX ? 0 : slash + 1);
    return fs_open_dir_at(
        s->p->fd,
        slash == SIZE_MAX ? "." : str_c(str_slice(w->path, 0, slash), s->a), fd,
        &ignored);
}

/* No process of the command is left: nothing moves while we are at it. */
static bool put_back(const struct settling *s, const struct watched *w,
                     const struct stat *now, bool is_there)
{
    CLEANUP_FD int fd = -1;
    const char *name;
    struct err ignored = {0};
    bool is_folder = S_ISDIR(w->mode);

    if (!w->can_undo)
        return false;
    /* What is there goes when the new one stands: the disk may be full. */
    if (S_ISREG(w->mode) && is_there && S_ISREG(now->st_mode) &&
        fs_replace_at(s->p->fd, w->path.p, w->mode & 07777, w->copy,
                      &ignored) &&
        in_parent(s, w, &fd, &name))
        return fchmodat(fd, name, w->mode & 07777, 0) == 0;
    fs_close(&fd);
    if (is_there && !(is_folder && S_ISDIR(now->st_mode)) &&
        !fs_remove_tree_at(s->p->fd, w->path.p, &ignored))
        return false;
    if (!w->mode)
        return true; /* it was not there, and is not */
    if (!in_parent(s, w, &fd, &name))
        return false;
    if (S_ISREG(w->mode))
        return fs_create_at(fd, name, w->mode & 07777, w->copy, &ignored);
    if (S_ISLNK(w->mode))
        return symlinkat(w->copy.p, fd, name) == 0;
    if (!is_folder)
        return false;
    if (!(is_there && S_ISDIR(now->st_mode)) && mkdirat(fd, name, 0700) < 0)
        return false;
    return fchmodat(fd, name, w->mode & 07777, 0) == 0;
}

static void note(struct settling *s, struct str path, bool by_command,
                 bool is_undone)
{
    if (!by_command)
        add_name(&s->others, path);
    else
        add_name(is_undone ? &s->undone : &s->left, path);
}

/* Behind walls, what was there cannot have been changed by the command. */
static bool is_by_command(const struct settling *s, const struct watched *w)
{
    return !s->p->walled || w->can_undo || w->how == STAY ||
           w->as == WATCH_OPEN;
}

/* What is new in a folder that was there. */
static void remove_new(struct settling *s, const struct watched *w)
{
    struct fs_entry *entries = NULL;
    size_t count = 0;
    struct err ignored = {0};

    if (!fs_list_at(s->p->fd, w->path.p, FOLDER_MAX_NAMES, s->a, &entries,
                    &count, &ignored)) {
        note(s, w->path, is_by_command(s, w), false);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct str path = fs_join(w->path, entries[i].name, s->a);

        if (map_has(&s->p->by_path, path) ||
            !protect_is_watched(w->how, entries[i].name,
                                entries[i].type == DT_DIR))
            continue;
        note(s, path, is_by_command(s, w),
             is_by_command(s, w) &&
                 fs_remove_tree_at(s->p->fd, path.p, &ignored));
    }
}

static bool has_parent(const struct settling *s, const struct watched *w)
{
    CLEANUP_FD int fd = -1;
    const char *name;

    return in_parent(s, w, &fd, &name);
}

static void settle(struct settling *s, const struct watched *w)
{
    struct stat now = {0};
    bool is_there = fs_stat_at(s->p->fd, w->path.p, &now);

    if (!is_there && !w->mode)
        return;
    /* A folder that is gone, with the repository that was in it. */
    if (w->as == WATCH_OPEN && !is_there && !has_parent(s, w))
        return;
    /* A repository that is begun or given up is the command's own affair: its
     * settings and hooks have rows of their own. */
    if (w->how == STAY && (w->mode ? !is_there : S_ISDIR(now.st_mode)))
        return;
    if (!is_there || !w->mode || !is_same(s, w, &now)) {
        bool by_command = is_by_command(s, w);
        bool is_back = by_command && put_back(s, w, &now, is_there);

        /* A folder that was moved is not back with all that was in it. */
        note(s, w->path, by_command, is_back && (w->how != STAY || !w->mode));
    }
    if (S_ISDIR(w->mode) && w->how != STAY &&
        fs_stat_at(s->p->fd, w->path.p, &now) && S_ISDIR(now.st_mode))
        remove_new(s, w);
}

/*
 * A new repository in the workspace that has programs started. It may be one
 * that was moved there, so it is put aside and not removed.
 */
static void settle_repository(void *ctx, struct str path)
{
    struct settling *s = ctx;
    struct watched w = {.path = path};
    CLEANUP_FD int fd = -1;
    const char *name;
    char aside[32];
    bool is_aside = false;

    for (int i = 1; i < 10 && !is_aside && in_parent(s, &w, &fd, &name); i++) {
        snprintf(aside, sizeof aside, ".git.refused-%d", i);
        is_aside = renameat2(fd, name, fd, aside, RENAME_NOREPLACE) == 0;
        fs_close(&fd);
    }
    if (is_aside)
        path = arena_printf(s->a, "%.*s (now %s)", STR_ARG(path), aside);
    note(s, path, true, is_aside);
}

void protect_settle(struct protect *p, struct arena *a,
                    struct protect_report *out)
{
    struct settling s = {.p = p, .a = a};

    buf_init(&s.undone.text, 1u << 16);
    buf_init(&s.left.text, 1u << 16);
    buf_init(&s.others.text, 1u << 16);
    for (size_t i = 0; i < p->count; i++)
        settle(&s, &p->all[i]);
    if (!protect_git_new(p, a, settle_repository, &s))
        add_name(&s.left, STR("too many folders to look for .git in"));
    *out = (struct protect_report){
        .undone = end_names(&s.undone, a),
        .left = end_names(&s.left, a),
        .others = end_names(&s.others, a),
    };
}
