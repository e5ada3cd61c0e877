#include "base/fs.h"
#include "base/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "protect_inner.h"

/* Detects and undoes changes of a command: see protect.h. */

#define NAMES_SHOWN      10
#define PATH_SHOWN_BYTES 200

struct names {
    struct buf text;
    size_t count;
};

struct restoration {
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

/* Timestamps of file systems are coarse, so files with a copy are read
 * again. */
static bool is_same_file(const struct protect *p, const struct watched *w,
                         const struct stat *st)
{
    struct err ignored = {0};
    struct hash now = {{0}};

    if ((uint64_t)st->st_size != w->size)
        return false;
    if (!hash_is_zero(&w->hash))
        return protect_hash_file(p, w->path.p, &now, &ignored) &&
               hash_eq(&now, &w->hash);
    return st->st_ino == w->ino && is_same_time(st->st_mtim, w->mtime) &&
           is_same_time(st->st_ctim, w->ctime);
}

static bool is_same(const struct restoration *s, const struct watched *w,
                    const struct stat *st)
{
    struct str target = STR("");

    if ((st->st_mode & S_IFMT) != (w->mode & S_IFMT))
        return false;
    if (S_ISLNK(w->mode))
        return protect_read_link(s->p, w->path.p, s->a, &target) &&
               str_eq(target, w->copy);
    if (w->how != PROTECT_DIR_ONLY && st->st_mode != w->mode)
        return false;
    return !S_ISREG(w->mode) || is_same_file(s->p, w, st);
}

static bool in_parent(const struct restoration *s, const struct watched *w,
                      int *fd, const char **name)
{
    struct err ignored = {0};
    size_t slash = str_find_last(w->path, '/');

    *name = w->path.p + (slash == SIZE_MAX ? 0 : slash + 1);
    return fs_open_dir_at(
        s->p->fd,
        slash == SIZE_MAX ? "." : str_dup0(str_slice(w->path, 0, slash), s->a),
        fd, &ignored);
}

/* Restores one path. No process of the command is left, so nothing changes
 * meanwhile. */
static bool put_back(const struct restoration *s, const struct watched *w,
                     const struct stat *now, bool is_there)
{
    CLEANUP_FD int fd = -1;
    const char *name;
    struct err ignored = {0};
    bool is_folder = S_ISDIR(w->mode);

    if (!w->can_undo)
        return false;
    /* Write the old file before removing the present one: the disk may be
     * full. */
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
        return true; /* it did not exist and still does not */
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

static void note(struct restoration *s, struct str path, bool by_command,
                 bool is_undone)
{
    if (!by_command)
        add_name(&s->others, path);
    else
        add_name(is_undone ? &s->undone : &s->left, path);
}

/* With isolation the command cannot have changed existing files. */
static bool is_by_command(const struct restoration *s, const struct watched *w)
{
    return !s->p->isolated || w->can_undo || w->how == PROTECT_DIR_ONLY ||
           w->as == WATCH_OPEN;
}

static bool is_new(const struct restoration *s, const struct watched *w,
                   const char *name, struct str *path)
{
    struct stat st;

    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    *path = fs_join(w->path, str_cstr(name), s->a);
    return !map_has(&s->p->by_path, *path) &&
           fs_stat_at(s->p->fd, path->p, &st) &&
           protect_is_watched(w->how, str_cstr(name), S_ISDIR(st.st_mode));
}

/* Returns false if it cannot be removed, which is reported once. */
static bool remove_one(struct restoration *s, const struct watched *w,
                       struct str path)
{
    struct err ignored = {0};
    bool is_back =
        is_by_command(s, w) && fs_remove_tree_at(s->p->fd, path.p, &ignored);

    note(s, path, is_by_command(s, w), is_back);
    if (!is_back)
        map_put(&s->p->by_path, arena_str(s->p->arena, path), s->p->kinds);
    return is_back;
}

/* Removes new entries of an existing folder, without a limit. */
static void remove_new(struct restoration *s, const struct watched *w)
{
    struct dirent *d;
    DIR *dir;
    int fd = -1;
    bool is_moved = true;
    struct str path;
    struct err ignored = {0};

    dir = fs_open_dir_at(s->p->fd, w->path.p, &fd, &ignored) ? fdopendir(fd)
                                                             : NULL;
    if (!dir) {
        fs_close(&fd);
        note(s, w->path, is_by_command(s, w), false);
        return;
    }
    while (is_moved) { /* readdir may skip entries after a removal */
        is_moved = false;
        rewinddir(dir);
        while ((d = readdir(dir)))
            is_moved |=
                is_new(s, w, d->d_name, &path) && remove_one(s, w, path);
    }
    closedir(dir);
}

static bool has_parent(const struct restoration *s, const struct watched *w)
{
    CLEANUP_FD int fd = -1;
    const char *name;

    return in_parent(s, w, &fd, &name);
}

/* Restoring requires write permission for the folder; a new folder must not
 * leave protected paths readable by others. */
static void restore_mode(const struct restoration *s, const struct watched *w,
                         const struct stat *now)
{
    CLEANUP_FD int fd = -1;
    mode_t mode = w->mode ? w->mode : now->st_mode | 0700;
    const char *name;

    if (S_ISDIR(mode) && S_ISDIR(now->st_mode) && now->st_mode != mode &&
        in_parent(s, w, &fd, &name))
        (void)!fchmodat(fd, name, mode & 07777, 0);
}

static void restore(struct restoration *s, const struct watched *w)
{
    struct stat now = {0};
    bool is_there = fs_stat_at(s->p->fd, w->path.p, &now);

    if (!is_there && !w->mode)
        return;
    if (is_there && (w->how == PROTECT_DIR_ONLY || w->how == PROTECT_MODE))
        restore_mode(s, w, &now);
    if (w->how == PROTECT_MODE)
        return;
    /* A folder that is gone together with the repository that it contained. */
    if (w->as == WATCH_OPEN && !is_there && !has_parent(s, w))
        return;
    /* Creating or removing a repository is allowed: its settings and hooks are
     * watched separately. */
    if (w->how == PROTECT_DIR_ONLY &&
        (w->mode ? !is_there : S_ISDIR(now.st_mode)))
        return;
    if (!is_there || !w->mode || !is_same(s, w, &now)) {
        bool by_command = is_by_command(s, w);
        bool is_back = by_command && put_back(s, w, &now, is_there);

        /* A moved folder is not restored with its content. */
        note(s, w->path, by_command,
             is_back && (w->how != PROTECT_DIR_ONLY || !w->mode));
    }
    if (S_ISDIR(w->mode) && w->how != PROTECT_DIR_ONLY &&
        fs_stat_at(s->p->fd, w->path.p, &now) && S_ISDIR(now.st_mode))
        remove_new(s, w);
}

/*
 * Handles a new repository in the workspace that makes git start programs. It
 * may be an existing one that was moved there, so it is renamed instead of
 * removed.
 */
static void restore_repository(void *ctx, struct str path)
{
    struct restoration *s = ctx;
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

void protect_restore(struct protect *p, struct arena *a,
                     struct protect_report *out)
{
    struct restoration s = {.p = p, .a = a};
    struct stat now;

    buf_init(&s.undone.text, 1u << 16);
    buf_init(&s.left.text, 1u << 16);
    buf_init(&s.others.text, 1u << 16);
    if (fstat(p->fd, &now) == 0 && now.st_mode != p->mode)
        (void)!fchmod(p->fd, p->mode & 07777);
    for (size_t i = 0; i < p->count; i++)
        restore(&s, &p->all[i]);
    if (!protect_git_new(p, a, restore_repository, &s))
        add_name(&s.left, STR("too many folders to look for .git in"));
    *out = (struct protect_report){
        .undone = end_names(&s.undone, a),
        .left = end_names(&s.left, a),
        .others = end_names(&s.others, a),
    };
}
