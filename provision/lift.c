#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "transaction.h"

#define LIFT_MAX_ENTRIES 1000000
#define LIFT_MAX_ROUNDS  16 /* another process may add files meanwhile */

/* --- moving ----------------------------------------------------------------- */

struct pair {
    struct str from, to;
};

/* Moves the content of one folder into another one; the list of pairs is a
 * queue in which parents come first. */
struct move {
    int from_fd, to_fd;
    unsigned flags; /* of renameat2 */
    struct arena arena;
    struct pair *folders;
    size_t count, capacity;
};

static void move_done(struct move *m)
{
    arena_done(&m->arena);
}

/* Not a link to one. */
static bool is_folder(int dirfd, struct str path)
{
    struct stat st;

    return fs_stat_at(dirfd, path.p, &st) && S_ISDIR(st.st_mode);
}

static bool copy_mode(const struct move *m, struct pair at, mode_t also,
                      struct err *e)
{
    struct stat st;

    return (fs_stat_at(m->from_fd, at.from.p, &st) &&
            fchmodat(m->to_fd, at.to.p, (st.st_mode & 07777) | also, 0) == 0) ||
           err_errno(e, "set the mode of %s", at.to.p);
}

static bool add_folder(struct move *m, struct str from, struct str to,
                       struct err *e)
{
    if (mkdirat(m->to_fd, to.p, 0700) == 0) {
        if (!copy_mode(m, (struct pair){from, to}, S_IRWXU, e))
            return false;
    } else if (errno != EEXIST || !is_folder(m->to_fd, to)) {
        return err_errno(e, "create the folder %s", to.p);
    }
    m->folders = arena_grow(&m->arena, m->folders, m->count, &m->capacity,
                            sizeof *m->folders);
    m->folders[m->count++] = (struct pair){from, to};
    return true;
}

static bool move_entries(struct move *m, struct pair at, struct err *e)
{
    struct fs_entry *entries;
    size_t count;

    if (!fs_list_at(m->from_fd, at.from.p, LIFT_MAX_ENTRIES, &m->arena,
                    &entries, &count, e))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct str from = fs_join(at.from, entries[i].name, &m->arena);
        struct str to = fs_join(at.to, entries[i].name, &m->arena);

        if (entries[i].type == DT_DIR) {
            if (!add_folder(m, from, to, e))
                return false;
        } else if (renameat2(m->from_fd, from.p, m->to_fd, to.p, m->flags) <
                       0 &&
                   errno != ENOENT && errno != EEXIST) {
            return err_errno(e, "move %s", from.p);
        }
    }
    return true;
}

/* Moves all in the folder `from` into the folder `to`, and removes the emptied
 * folders in `from`. With RENAME_NOREPLACE a name that is there stays. */
static bool move_content(int from_fd, struct str from, int to_fd, struct str to,
                         unsigned flags, struct err *e)
{
    CLEANUP(move_done)
    struct move m = {.from_fd = from_fd, .to_fd = to_fd, .flags = flags};

    if (!add_folder(&m, from, to, e))
        return false;
    for (size_t i = 0; i < m.count; i++)
        if (!move_entries(&m, m.folders[i], e))
            return false;
    for (size_t i = m.count; i-- > 0;) {
        if (!flags && !copy_mode(&m, m.folders[i], 0, e))
            return false;
        if (i > 0)
            unlinkat(from_fd, m.folders[i].from.p, AT_REMOVEDIR);
    }
    return true;
}

/* --- which folders ------------------------------------------------------------ */

static void name_lift(size_t index, char *out, size_t size)
{
    snprintf(out, size, "l%zu", index);
}

static bool is_overlay(int dirfd)
{
    struct statfs st;

    return fstatfs(dirfd, &st) == 0 && st.f_type == OVERLAYFS_SUPER_MAGIC;
}

/* Whether an overlay refuses to rename the folder. The target is a folder that
 * is not empty, so no rename succeeds. */
static bool is_of_lower_layer(const struct swap *s, const struct swap_op *op)
{
    int stage = s->stages[op->stage].fd;

    if (!is_folder(s->root, op->path))
        return false;
    if ((mkdirat(stage, "full", 0700) < 0 && errno != EEXIST) ||
        (mkdirat(stage, "full/x", 0700) < 0 && errno != EEXIST))
        return false;
    return renameat(s->root, op->path.p, stage, "full") < 0 && errno == EXDEV;
}

/* Prepares the lift of the folder of operation `index`. */
static bool add_lift(struct transaction *tx, size_t index, struct err *e)
{
    struct swap *s = tx->s;
    char name[TRANSACTION_NAME_BYTES];
    struct op_state state;
    int stage;

    if (!transaction_read_op(tx, index, &state, e) ||
        !transaction_check_unmodified(tx, &state, e))
        return false;
    stage = state.stage;
    name_lift(s->lift_count, name, sizeof name);
    if (mkdirat(stage, name, 0755) < 0)
        return err_errno(e, "create the folder %s", name);
    s->lifts[s->lift_count++] = (struct swap_lift){
        s->ops[index].path, inode_at(stage, name), s->ops[index].stage, index};
    return true;
}

static bool find_lifts(struct transaction *tx, struct arena *a, struct err *e)
{
    struct swap *s = tx->s;
    bool layered[SWAP_MAX_STAGES] = {false}, any = false;

    for (size_t i = 0; i < s->stage_count; i++)
        any |= layered[i] = is_overlay(s->stages[i].fd);
    if (!any)
        return true;
    s->lifts = arena_array(a, s->count, sizeof *s->lifts);
    for (size_t i = 0; i < s->count; i++)
        if (s->ops[i].old_ino && layered[s->ops[i].stage] &&
            is_of_lower_layer(s, &s->ops[i]) && !add_lift(tx, i, e))
            return false;
    return true;
}

/* --- lifting ------------------------------------------------------------------ */

/* An empty folder may be replaced, also one of a lower layer. */
static bool lift_folder(struct transaction *tx, size_t index, struct err *e)
{
    const struct swap_lift *l = &tx->s->lifts[index];
    struct swap_op *op = &tx->s->ops[l->op];
    int stage = tx->s->stages[l->stage].fd;
    char name[TRANSACTION_NAME_BYTES];
    CLEANUP_FD int fd = -1;
    int parent;

    name_lift(index, name, sizeof name);
    if (!transaction_find_parent(tx, l->path, &parent, e) ||
        !fs_open_dir_at(parent, path_leaf(l->path), &fd, e))
        return false;
    for (unsigned i = 0; i < LIFT_MAX_ROUNDS; i++) {
        if (!move_content(fd, STR("."), stage, str_cstr(name), 0, e))
            return false;
        if (renameat(stage, name, parent, path_leaf(l->path)) == 0)
            return swap_print(tx->s->root, l->path.p, &op->old_ino,
                              &op->old_print, e);
        if (errno != ENOTEMPTY && errno != EEXIST)
            break;
    }
    return err_errno(e, "move %s", l->path.p);
}

/* Moves one folder back. One that is in place, or was never made, is not in the
 * stage. */
static bool undo_lift(const struct swap *s, size_t index, struct err *e)
{
    const struct swap_lift *l = &s->lifts[index];
    int stage = s->stages[l->stage].fd;
    char name[TRANSACTION_NAME_BYTES];
    CLEANUP_FD int fd = -1;

    name_lift(index, name, sizeof name);
    if (inode_at(stage, name) != l->ino)
        return true;
    if (!fs_open_dir_at(s->root, l->path.p, &fd, e)) {
        /* the user has removed or replaced it */
        err_clear(e);
        return true;
    }
    return move_content(stage, str_cstr(name), fd, STR("."), RENAME_NOREPLACE,
                        e);
}

bool lift_undo(struct swap *s, struct err *e)
{
    for (size_t i = 0; i < s->lift_count; i++)
        if (!undo_lift(s, i, e))
            return false;
    s->lift_count = 0;
    return true;
}

/* Writes the journal as it is before the operations. */
static bool write_lifts(const struct swap *s, struct err *e)
{
    struct swap none = *s;

    none.count = none.make_count = none.drop_count = 0;
    return journal_replace(&none, e);
}

static bool lift_all(struct transaction *tx, struct err *e)
{
    struct swap *s = tx->s;

    for (size_t i = 0; i < s->stage_count; i++)
        if (!fs_sync(s->stages[i].fd, s->stage_name.p, e))
            return false;
    if (!write_lifts(s, e))
        return false;
    for (size_t i = 0; i < s->lift_count; i++)
        if (!lift_folder(tx, i, e))
            return false;
    return fs_sync_all(s->stages[0].fd, e);
}

/* Only stages on other mounts need a journal now. */
static bool end_lifts(struct swap *s, struct err *e)
{
    s->lift_count = 0;
    return s->stage_count > 1 ? write_lifts(s, e) : swap_unlink_journal(s, e);
}

bool lift_folders(struct swap *s, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    CLEANUP(transaction_done) struct transaction tx = {.s = s};
    struct err again = {0};
    bool ok = find_lifts(&tx, &scratch, e);

    if (s->lift_count == 0)
        return ok;
    ok = ok && lift_all(&tx, e);
    if (!ok && !lift_undo(s, &again)) {
        err_also(e, "moving it back: %s", err_first(&again));
        err_hint(e, "the next mapm command here moves it back");
        s->is_stuck = true;
    } else if (!end_lifts(s, ok ? e : &again)) {
        ok = false;
    }
    s->lifts = NULL; /* those of `scratch` */
    s->lift_count = 0;
    return ok;
}
