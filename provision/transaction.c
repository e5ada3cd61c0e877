#include "transaction.h"

#include "base/fs.h"
#include "base/invariant.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#define REBASE_MAX_TRIES 20

void transaction_done(struct transaction *tx)
{
    for (size_t i = 0; i < tx->parent_count; i++)
        fs_close(&tx->parents[i].fd);
    tx->parent_count = 0;
}

const char *path_leaf(struct str path)
{
    size_t at = str_find_last(path, '/');

    return at == SIZE_MAX ? path.p : path.p + at + 1;
}

/* Opens the parent folder of `path`, or returns -1 if it does not exist. */
bool transaction_find_parent(struct transaction *tx, struct str path, int *fd,
                             struct err *e)
{
    struct str folder = path_folder(path);
    struct transaction_parent *p = NULL;
    char name[4096];

    for (size_t i = 0; i < tx->parent_count && !p; i++)
        if (str_eq(tx->parents[i].path, folder))
            p = &tx->parents[i];
    if (!p) {
        tx->has_more |= tx->parent_count == TRANSACTION_MAX_PARENTS;
        p = tx->has_more ? &tx->parents[tx->oldest++ % TRANSACTION_MAX_PARENTS]
                         : &tx->parents[tx->parent_count++];
        if (tx->has_more)
            fs_close(&p->fd);
        *p = (struct transaction_parent){folder, -1};
    }
    if (p->fd < 0) {
        snprintf(name, sizeof name, "%.*s", STR_ARG(folder));
        if (!fs_open_dir_at(tx->s->root, name, &p->fd, e)) {
            /* a link in its place is not a folder of mapm */
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

/* --- the state of one operation -------------------------------------------- */

bool transaction_read_op(struct transaction *tx, size_t index,
                         struct op_state *state, struct err *e)
{
    const struct swap_op *op = &tx->s->ops[index];

    INVARIANT(index < tx->s->count &&
              tx->parent_count <= TRANSACTION_MAX_PARENTS);
    state->op = op;
    state->stage = tx->s->stages[op->stage].fd;
    state->leaf = path_leaf(op->path);
    snprintf(state->new_name, sizeof state->new_name, "n%zu", index);
    snprintf(state->old_name, sizeof state->old_name, "o%zu", index);
    if (!transaction_find_parent(tx, op->path, &state->parent, e))
        return false;
    state->here = inode_at(state->parent, state->leaf);
    state->new_at = inode_at(state->stage, state->new_name);
    state->old_at = inode_at(state->stage, state->old_name);
    return true;
}

enum op_progress op_progress(const struct op_state *state)
{
    const struct swap_op *op = state->op;

    INVARIANT(op->new_ino != op->old_ino);
    if (!op->new_ino) {
        if (state->here == 0)
            return DONE;
        return state->here == op->old_ino && state->stage >= 0 ? PENDING
                                                               : UNKNOWN;
    }
    if (state->here == op->new_ino)
        return DONE;
    if (state->new_at != op->new_ino)
        return UNKNOWN;
    if (state->here == op->old_ino)
        return PENDING;
    return state->here == 0 && state->old_at == op->old_ino ? IN_PROGRESS
                                                            : UNKNOWN;
}

/* Checks that the path still has the node of the plan. */
bool transaction_check_unmodified(struct transaction *tx,
                                  const struct op_state *state, struct err *e)
{
    struct hash print;
    uint64_t ino;

    if (!state->op->old_ino)
        return true;
    if (!swap_print(tx->s->root, state->op->path.p, &ino, &print, e))
        return false;
    if (ino != state->op->old_ino || !hash_eq(&print, &state->op->old_print))
        return err_set(e, ERR_EDITED, "%.*s was changed in the meantime",
                       STR_ARG(state->op->path));
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
    /* an overlay cannot rename a folder of a lower layer */
    return layered &&
           err_hint(e,
                    "it lies in a lower layer of an overlay, as in an image: "
                    "copy it there (cp -a it, mv the copy over it), or leave "
                    "its client out with \"clients: [-NAME]\" in config.yaml");
}

bool transaction_rename(int from_fd, const char *from, int to_fd,
                        const char *to, struct str what, struct err *e)
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

/* Another program may have written the file since it was checked. The displaced
 * node shows that, and is put back. If the program has replaced the new file by
 * then, its file is the latest and is kept. */
static bool check_displaced(struct op_state *state, struct err *e)
{
    int stage = state->stage;
    struct hash print;
    uint64_t ino;

    if (!swap_print(stage, state->new_name, &ino, &print, e))
        return false;
    if (ino == state->op->old_ino && hash_eq(&print, &state->op->old_print))
        return true;
    for (int i = 0; i < 2; i++) {
        if (renameat2(stage, state->new_name, state->parent, state->leaf,
                      RENAME_EXCHANGE) < 0)
            return err_errno(e, "restore %s", state->op->path.p);
        if (inode_at(stage, state->new_name) == state->op->new_ino)
            break;
    }
    return err_set(e, ERR_EDITED, "%s was changed in the meantime",
                   state->op->path.p);
}

/* If the file system cannot exchange nodes, moves the old one away first. */
static bool replace(struct transaction *tx, struct op_state *state,
                    struct err *e)
{
    struct str path = state->op->path;
    int stage = state->stage;

    if (renameat2(stage, state->new_name, state->parent, state->leaf,
                  RENAME_EXCHANGE) == 0)
        return !tx->s->scope->is_user || check_displaced(state, e);
    if (!lacks_flags())
        return cannot(e, "replace", path);
    return transaction_rename(state->parent, state->leaf, stage,
                              state->old_name, path, e) &&
           transaction_rename(stage, state->new_name, state->parent,
                              state->leaf, path, e);
}

/* Creates a path in an uninterrupted swap with one rename that never replaces
 * anything. Returns false if it failed, so that the state is examined. */
static bool step_quickly(struct transaction *tx, size_t index)
{
    const struct swap_op *op = &tx->s->ops[index];
    char name[TRANSACTION_NAME_BYTES];
    struct err ignored = {0};
    int parent;

    if (!tx->is_first || op->old_ino || !op->new_ino ||
        !transaction_find_parent(tx, op->path, &parent, &ignored) || parent < 0)
        return false;
    snprintf(name, sizeof name, "n%zu", index);
    return renameat2(tx->s->stages[op->stage].fd, name, parent,
                     path_leaf(op->path), RENAME_NOREPLACE) == 0;
}

static bool step_once(struct transaction *tx, size_t index, struct err *e)
{
    struct op_state state;
    int stage;

    if (step_quickly(tx, index))
        return true;
    if (!transaction_read_op(tx, index, &state, e))
        return false;
    stage = state.stage;
    switch (op_progress(&state)) {
    case DONE:
        return true;
    case UNKNOWN:
        return err_set(e, ERR_EDITED, "%.*s was changed in the meantime",
                       STR_ARG(state.op->path));
    case IN_PROGRESS:
        return transaction_rename(stage, state.new_name, state.parent,
                                  state.leaf, state.op->path, e);
    case PENDING:
        break;
    }
    if (!transaction_check_unmodified(tx, &state, e))
        return false;
    if (!state.op->new_ino)
        return transaction_rename(state.parent, state.leaf, stage,
                                  state.old_name, state.op->path, e);
    if (state.op->old_ino)
        return replace(tx, &state, e);
    if (state.parent < 0)
        return err_set(e, ERR_EDITED, "the folder of %.*s is gone",
                       STR_ARG(state.op->path));
    return transaction_rename(stage, state.new_name, state.parent, state.leaf,
                              state.op->path, e);
}

/* Retries for a file that its client writes at the same time. */
static bool step_forward(struct transaction *tx, size_t index, struct err *e)
{
    struct swap *s = tx->s;

    for (unsigned tries = 0; !step_once(tx, index, e); tries++) {
        if (e->code != ERR_EDITED || !tx->is_first || !s->rebase ||
            tries == REBASE_MAX_TRIES)
            return false;
        err_clear(e);
        if (!s->rebase(s->rebase_ctx, index, e))
            return false;
    }
    return true;
}

/* Creates a folder whose parents exist or were created before. */
static bool make_folder(struct transaction *tx, struct str path, struct err *e)
{
    int fd;

    if (!transaction_find_parent(tx, path, &fd, e))
        return false;
    if (!tx->s->scope->is_user)
        return fs_make_dirs_at(tx->s->root, path.p, 0755, e);
    if (fd < 0)
        return err_set(e, ERR_EDITED, "the folder of %s is gone", path.p);
    return mkdirat(fd, path_leaf(path), 0700) == 0 || errno == EEXIST ||
           err_errno(e, "create the folder %s", path.p);
}

static bool make_folders(struct transaction *tx, struct err *e)
{
    struct swap *s = tx->s;

    for (size_t i = 0; i < s->make_count; i++)
        if (!make_folder(tx, s->make[i], e))
            return false;
    return true;
}

bool transaction_roll_forward(struct transaction *tx, struct err *e)
{
    if (!make_folders(tx, e))
        return false;
    for (size_t i = 0; i < tx->s->count; i++)
        if (!step_forward(tx, i, e))
            return false;
    return true;
}
