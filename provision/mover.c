#include "mover.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void mover_done(struct mover *m)
{
    for (size_t i = 0; i < m->parent_count; i++)
        fs_close(&m->parents[i].fd);
    m->parent_count = 0;
}

struct str path_folder(struct str path)
{
    size_t at = str_find_last(path, '/');

    return at == SIZE_MAX ? STR("") : str_slice(path, 0, at);
}

const char *path_leaf(struct str path)
{
    size_t at = str_find_last(path, '/');

    return at == SIZE_MAX ? path.p : path.p + at + 1;
}

/* The folder that holds `path`, or -1 when it is not there. */
bool mover_find_parent(struct mover *m, struct str path, int *fd, struct err *e)
{
    struct str folder = path_folder(path);
    struct mover_parent *p = NULL;
    char name[4096];

    for (size_t i = 0; i < m->parent_count && !p; i++)
        if (str_eq(m->parents[i].path, folder))
            p = &m->parents[i];
    if (!p && m->parent_count == MOVER_MAX_PARENTS)
        return err_set(e, ERR_LIMIT, "more than %d folders", MOVER_MAX_PARENTS);
    if (!p) {
        p = &m->parents[m->parent_count++];
        *p = (struct mover_parent){folder, -1};
    }
    if (p->fd < 0) {
        snprintf(name, sizeof name, "%.*s", STR_ARG(folder));
        if (!fs_open_dir_at(m->s->root, name, &p->fd, e)) {
            /* A link in the way is not our folder either. */
            if (e->code != ERR_NOT_FOUND && e->code != ERR_REFUSED)
                return false;
            err_clear(e);
            p->fd = -1;
        }
    }
    *fd = p->fd;
    return true;
}

uint64_t inode_at(int dirfd, const char *name)
{
    struct stat st;

    if (dirfd < 0 || fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    return st.st_ino;
}

/* --- where one change stands ---------------------------------------------- */

bool mover_look_at(struct mover *m, size_t index, struct site *site,
                   struct err *e)
{
    const struct swap_op *op = &m->s->ops[index];

    site->op = op;
    site->leaf = path_leaf(op->path);
    snprintf(site->new_name, sizeof site->new_name, "n%zu", index);
    snprintf(site->old_name, sizeof site->old_name, "o%zu", index);
    if (!mover_find_parent(m, op->path, &site->parent, e))
        return false;
    site->here = inode_at(site->parent, site->leaf);
    site->new_at = inode_at(m->s->stage, site->new_name);
    site->old_at = inode_at(m->s->stage, site->old_name);
    return true;
}

enum progress site_progress(const struct site *site)
{
    const struct swap_op *op = site->op;

    if (!op->new_ino) {
        if (site->here == 0)
            return DONE;
        return site->here == op->old_ino ? PENDING : UNKNOWN;
    }
    if (site->here == op->new_ino)
        return DONE;
    if (site->new_at != op->new_ino)
        return UNKNOWN;
    if (site->here == op->old_ino)
        return PENDING;
    return site->here == 0 && site->old_at == op->old_ino ? BETWEEN : UNKNOWN;
}

/* Whether what stands there is still what was planned for. */
bool mover_check_untouched(struct mover *m, const struct site *site,
                           struct err *e)
{
    struct hash print;
    uint64_t ino;

    if (!site->op->old_ino)
        return true;
    if (!swap_print(m->s->root, site->op->path.p, &ino, &print, e))
        return false;
    if (ino != site->op->old_ino || !hash_eq(&print, &site->op->old_print))
        return err_set(e, ERR_EDITED, "%.*s was changed in the meantime",
                       STR_ARG(site->op->path));
    return true;
}

/* --- moving --------------------------------------------------------------- */

static bool lacks_flags(void)
{
    return errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
}

static bool cannot(struct err *e, const char *verb, struct str what)
{
    bool layered = errno == EXDEV;

    err_errno(e, "%s %.*s", verb, STR_ARG(what));
    /* A folder of a lower layer cannot be renamed on an overlay. */
    return layered &&
           err_hint(e, "it lies on another file system or image layer than "
                       ".agents: move it out of the way, then try again");
}

bool mover_move(int from_fd, const char *from, int to_fd, const char *to,
                struct str what, struct err *e)
{
    if (renameat2(from_fd, from, to_fd, to, RENAME_NOREPLACE) == 0)
        return true;
    if (lacks_flags()) {
        if (inode_at(to_fd, to) != 0)
            errno = EEXIST;
        else if (renameat(from_fd, from, to_fd, to) == 0)
            return true;
    }
    return cannot(e, "move", what);
}

/* One file system cannot exchange: then the old one steps aside first. */
static bool replace(struct mover *m, struct site *site, struct err *e)
{
    struct str path = site->op->path;
    int stage = m->s->stage;

    if (renameat2(stage, site->new_name, site->parent, site->leaf,
                  RENAME_EXCHANGE) == 0)
        return true;
    if (!lacks_flags())
        return cannot(e, "replace", path);
    return mover_move(site->parent, site->leaf, stage, site->old_name, path,
                      e) &&
           mover_move(stage, site->new_name, site->parent, site->leaf, path, e);
}

/* A new place in a swap that nothing has interrupted: one rename, which never
 * hits anything. False when it did not work: then it is looked at. */
static bool step_quickly(struct mover *m, size_t index)
{
    const struct swap_op *op = &m->s->ops[index];
    char name[MOVER_NAME_BYTES];
    struct err ignored = {0};
    int parent;

    if (!m->is_first || op->old_ino || !op->new_ino ||
        !mover_find_parent(m, op->path, &parent, &ignored) || parent < 0)
        return false;
    snprintf(name, sizeof name, "n%zu", index);
    return renameat2(m->s->stage, name, parent, path_leaf(op->path),
                     RENAME_NOREPLACE) == 0;
}

static bool step_forward(struct mover *m, size_t index, struct err *e)
{
    struct site site;
    int stage = m->s->stage;

    if (step_quickly(m, index))
        return true;
    if (!mover_look_at(m, index, &site, e))
        return false;
    switch (site_progress(&site)) {
    case DONE:
        return true;
    case UNKNOWN:
        return err_set(e, ERR_EDITED, "%.*s was changed in the meantime",
                       STR_ARG(site.op->path));
    case BETWEEN:
        return mover_move(stage, site.new_name, site.parent, site.leaf,
                          site.op->path, e);
    case PENDING:
        break;
    }
    if (!mover_check_untouched(m, &site, e))
        return false;
    if (!site.op->new_ino)
        return mover_move(site.parent, site.leaf, stage, site.old_name,
                          site.op->path, e);
    if (site.op->old_ino)
        return replace(m, &site, e);
    if (site.parent < 0)
        return err_set(e, ERR_EDITED, "the folder of %.*s is gone",
                       STR_ARG(site.op->path));
    return mover_move(stage, site.new_name, site.parent, site.leaf,
                      site.op->path, e);
}

static bool make_folders(struct mover *m, struct err *e)
{
    struct swap *s = m->s;
    int fd;

    for (size_t i = 0; i < s->make_count; i++)
        if (!mover_find_parent(m, s->make[i], &fd, e) ||
            !fs_make_dirs_at(s->root, s->make[i].p, 0755, e))
            return false;
    return true;
}
bool mover_go_forward(struct mover *m, struct err *e)
{
    if (!make_folders(m, e))
        return false;
    for (size_t i = 0; i < m->s->count; i++)
        if (!step_forward(m, i, e))
            return false;
    return true;
}
