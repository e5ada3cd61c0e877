#include "base/fs.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "transaction.h"

static bool choose_backup(struct swap *s, struct err *e)
{
    char path[64];

    for (unsigned n = 1; !s->backup && n <= BACKUP_MAX_COUNT; n++) {
        snprintf(path, sizeof path, "backup/%u", n);
        if (!fs_exists_at(s->mapm, path))
            s->backup = n;
    }
    return s->backup ||
           err_set(e, ERR_LIMIT, "more than %d backups below .agents/.mapm",
                   BACKUP_MAX_COUNT);
}

/* Formats "backup/3/a/b" for "a/b/c" and for "/a/b/c". */
static void name_folder(const struct swap *s, struct str path, char *out,
                        size_t size)
{
    struct str folder = path_folder(path);

    while (str_starts(folder, STR("/")))
        folder = str_from_index(folder, 1);
    snprintf(out, size, "backup/%u%s%.*s", s->backup, folder.n ? "/" : "",
             STR_ARG(folder));
}

/* Opens the folder of the backup for `path`. */
static bool open_backup(struct swap *s, struct str path, int *fd, struct err *e)
{
    char folder[4096];

    name_folder(s, path, folder, sizeof folder);
    return (fs_make_dirs_at(s->mapm, folder, 0755, e) &&
            fs_open_dir_at(s->mapm, folder, fd, e)) ||
           err_wrap(e, "keep a backup of %.*s", STR_ARG(path));
}

/* A copy that was cut short is made again: the node stays in its stage. */
static bool copy_to(int stage, const char *name, int fd, const char *leaf,
                    struct err *e)
{
    return fs_remove_tree_at(fd, leaf, e) &&
           fs_copy_tree_at(stage, name, fd, leaf, e);
}

bool backup_keep(struct swap *s, const char *name, const struct swap_op *op,
                 struct err *e)
{
    CLEANUP_FD int fd = -1;
    int stage = s->stages[op->stage].fd;
    const char *leaf = path_leaf(op->path);

    if (!choose_backup(s, e) || !open_backup(s, op->path, &fd, e))
        return false;
    if (op->stage ? !copy_to(stage, name, fd, leaf, e)
                  : !transaction_rename(stage, name, fd, leaf, op->path, e))
        return err_wrap(e, "keep a backup of %.*s", STR_ARG(op->path));
    return fs_sync(fd, "the backup", e);
}

/* Creates the folders beforehand, when a failure has no cost. */
bool backup_prepare(struct swap *s, struct err *e)
{
    for (size_t i = 0; i < s->count; i++) {
        CLEANUP_FD int fd = -1;

        if (s->ops[i].keep &&
            (!choose_backup(s, e) || !open_backup(s, s->ops[i].path, &fd, e)))
            return false;
    }
    return true;
}

/* Removes empty parent folders of `path` in the backup. */
static void drop_backup(struct swap *s, struct str path)
{
    char folder[4096];
    size_t n;

    name_folder(s, path, folder, sizeof folder);
    n = strlen(folder);

    while (n > 0) {
        if (folder[n] == '\0' && unlinkat(s->mapm, folder, AT_REMOVEDIR) < 0 &&
            errno != ENOENT)
            return;
        while (n > 0 && folder[n] != '/')
            n--;
        folder[n] = '\0';
    }
}

void backup_drop_empty(struct swap *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->ops[i].keep)
            drop_backup(s, s->ops[i].path);
}

/* Undoes an operation after its backup: moves the old node back. */
void backup_take_back(struct swap *s, struct op_state *state)
{
    struct err ignored = {0};
    CLEANUP_FD int fd = -1;
    struct str path = state->op->path;
    char folder[4096];

    if (!state->op->keep || state->op->stage)
        return;
    name_folder(s, path, folder, sizeof folder);
    if (!fs_open_dir_at(s->mapm, folder, &fd, &ignored) ||
        inode_at(fd, path_leaf(path)) != state->op->old_ino ||
        !transaction_rename(fd, path_leaf(path), state->stage, state->old_name,
                            path, &ignored))
        return;
    state->old_at = state->op->old_ino;
}

bool backup_keep_displaced(struct transaction *tx, struct err *e)
{
    for (size_t i = 0; i < tx->s->count; i++) {
        struct op_state state;

        if (!tx->s->ops[i].keep)
            continue;
        if (!transaction_read_op(tx, i, &state, e))
            return false;
        if (state.new_at == state.op->old_ino &&
            !backup_keep(tx->s, state.new_name, state.op, e))
            return false;
        if (state.old_at == state.op->old_ino &&
            !backup_keep(tx->s, state.old_name, state.op, e))
            return false;
    }
    return true;
}
