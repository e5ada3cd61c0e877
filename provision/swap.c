#include "swap.h"

#include "base/fs.h"
#include "base/invariant.h"
#include "base/path.h"
#include "mapm/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "stages.h"
#include "transaction.h"

#define JOURNAL "journal"

/* --- ending --------------------------------------------------------------- */

static bool sync_mounts(const struct swap *s, struct err *e)
{
    for (size_t i = 1; i < s->stage_count; i++)
        if (s->stages[i].fd >= 0 && !fs_sync_all(s->stages[i].fd, e))
            return false;
    return true;
}

/* Syncs the folder of the journal first: a file system that orders names by the
 * time of their change must not persist a change without the journal. */
static bool sync_folders(struct transaction *tx, struct err *e)
{
    int fds[TRANSACTION_MAX_PARENTS];
    size_t count = 0;

    if (tx->has_more)
        return fs_sync(tx->s->mapm, ".agents/.mapm", e) &&
               fs_sync_all(tx->s->root, e) && sync_mounts(tx->s, e);
    for (size_t i = 0; i < tx->parent_count; i++)
        if (tx->parents[i].fd >= 0)
            fds[count++] = tx->parents[i].fd;
    return fs_sync(tx->s->mapm, ".agents/.mapm", e) &&
           fs_sync_folders(fds, count, e);
}

/* Removes empty folders and syncs their parents. */
static bool drop_folders(struct transaction *tx, const struct str *paths,
                         size_t count, bool backwards, struct err *e)
{
    for (size_t i = 0; i < count; i++) {
        struct str path = paths[backwards ? count - 1 - i : i];
        int fd;

        if (!transaction_find_parent(tx, path, &fd, e))
            return false;
        if (fd >= 0 && unlinkat(fd, path_leaf(path), AT_REMOVEDIR) < 0 &&
            errno != ENOTEMPTY && errno != EEXIST && errno != ENOENT &&
            errno != ENOTDIR)
            return err_errno(e, "remove the folder %.*s", STR_ARG(path));
    }
    return true;
}

bool journal_replace(const struct swap *s, struct err *e)
{
    CLEANUP(buf_done) struct buf text = {0};
    struct journal_at at = {0};

    buf_init(&text, JOURNAL_MAX_BYTES);
    while (journal_format(s, &at, &text)) {
    }
    return buf_check(&text, "the journal", e) &&
           fs_replace_at(s->mapm, JOURNAL, 0644, buf_str(&text), e);
}

/* All operations are done, or undone. The stages that only the journal names go
 * before it; by then it must not tell of nodes that were in them. */
static bool end_stages(struct swap *s, struct err *e)
{
    struct swap none = *s;

    if (s->stage_count == 1)
        return true;
    none.count = none.make_count = none.drop_count = 0;
    if (!journal_replace(&none, e))
        return false;
    stages_remove(s);
    return true;
}

bool swap_unlink_journal(const struct swap *s, struct err *e)
{
    return unlinkat(s->mapm, JOURNAL, 0) == 0 || errno == ENOENT ||
           err_errno(e, "remove .agents/.mapm/" JOURNAL);
}

static bool drop_journal(struct swap *s, struct err *e)
{
    return end_stages(s, e) && swap_unlink_journal(s, e) &&
           fs_sync(s->mapm, ".agents/.mapm", e);
}

static void remove_stage(struct swap *s)
{
    struct err ignored = {0};

    /* leftovers are not referenced and are removed by the next command */
    if (!fs_remove_tree_at(s->mapm, s->stage_name.p, &ignored))
        return;
}

static bool finish(struct transaction *tx, struct err *e)
{
    struct swap *s = tx->s;

    if (s->backup && (!fs_sync(s->stages[0].fd, s->stage_name.p, e) ||
                      !backup_keep_displaced(tx, e)))
        return false;
    return drop_folders(tx, s->drop, s->drop_count, false, e) &&
           sync_folders(tx, e);
}

/* --- and back ------------------------------------------------------------- */

/* Keeps a node that was moved back to the stage if it was edited meanwhile. */
static bool keep_if_edited(struct transaction *tx, const struct op_state *state,
                           struct err *e)
{
    struct hash print;
    uint64_t ino;

    if (!swap_print(state->stage, state->new_name, &ino, &print, e))
        return false;
    if (hash_eq(&print, &state->op->new_print))
        return true;
    return backup_keep(tx->s, state->new_name, state->op, e);
}

static bool undo_done(struct transaction *tx, struct op_state *state,
                      struct err *e)
{
    const struct swap_op *op = state->op;
    struct str path = op->path;
    int stage = state->stage;

    if (op->old_ino && state->new_at != op->old_ino &&
        state->old_at != op->old_ino)
        backup_take_back(tx->s, state);
    if (!op->new_ino)
        return state->old_at != op->old_ino || state->parent < 0 ||
               transaction_rename(stage, state->old_name, state->parent,
                                  state->leaf, path, e);
    if (op->old_ino && state->new_at == op->old_ino) {
        if (renameat2(stage, state->new_name, state->parent, state->leaf,
                      RENAME_EXCHANGE) < 0)
            return err_errno(e, "restore %.*s", STR_ARG(path));
        return keep_if_edited(tx, state, e);
    }
    if (op->old_ino && state->old_at != op->old_ino)
        return true; /* the old node is gone: keep the new one */
    if (!transaction_rename(state->parent, state->leaf, stage, state->new_name,
                            path, e))
        return false;
    if (op->old_ino && !transaction_rename(stage, state->old_name,
                                           state->parent, state->leaf, path, e))
        return false;
    return keep_if_edited(tx, state, e);
}

static bool roll_back(struct transaction *tx, struct err *e)
{
    struct swap *s = tx->s;

    for (size_t i = s->count; i-- > 0;) {
        struct op_state state;
        enum op_progress at;

        if (!transaction_read_op(tx, i, &state, e))
            return false;
        at = op_progress(&state);
        if (at == DONE && !undo_done(tx, &state, e))
            return false;
        if (at == IN_PROGRESS &&
            !transaction_rename(state.stage, state.old_name, state.parent,
                                state.leaf, state.op->path, e))
            return false;
    }
    backup_drop_empty(s);
    return drop_folders(tx, s->make, s->make_count, true, e) &&
           sync_folders(tx, e);
}

static void undo(struct transaction *tx, struct err *e)
{
    struct err again = {0};

    if (!roll_back(tx, &again) || !drop_journal(tx->s, &again)) {
        err_also(e, "undoing it: %s", err_first(&again));
        err_hint(e, "the next mapm command here finishes the work");
        return; /* the rollback needs the stage */
    }
    remove_stage(tx->s);
}

static bool sync_stages(const struct swap *s, struct err *e)
{
    for (size_t i = 0; i < s->stage_count; i++)
        if (s->files <= SYNC_MAX_FILES ? !fs_sync_tree(s->stages[i].fd, e)
                                       : !fs_sync_all(s->stages[i].fd, e))
            return false;
    return true;
}

struct journal_blocks {
    const struct swap *swap;
    struct journal_at at;
};

static bool next_block(void *ctx, struct buf *block)
{
    struct journal_blocks *b = ctx;

    return journal_format(b->swap, &b->at, block);
}

/* All that is staged is synced, the journal among it. Its name follows: it
 * reaches the disk with the changes that come after it, or before them. No file
 * system orders what happens on another one. */
static bool write_journal(struct swap *s, struct err *e)
{
    struct journal_blocks blocks = {.swap = s};

    if (!fs_create_blocks_at(s->stages[0].fd, JOURNAL, 0644, JOURNAL_MAX_BYTES,
                             next_block, &blocks, e) ||
        !sync_stages(s, e))
        return false;
    if (renameat(s->stages[0].fd, JOURNAL, s->mapm, JOURNAL) < 0)
        return err_errno(e, "create .agents/.mapm/" JOURNAL);
    return s->stage_count == 1 || fs_sync(s->mapm, ".agents/.mapm", e);
}

bool swap_give_up(struct swap *s)
{
    struct err ignored = {0};

    backup_drop_empty(s);
    if (s->is_stuck)
        return false;
    if (s->stage_count == 1 || drop_journal(s, &ignored))
        remove_stage(s);
    return false;
}

static size_t count_folder(struct str path, struct str *seen, size_t n)
{
    struct str folder = path_folder(path);

    for (size_t i = 0; i < n; i++)
        if (str_eq(seen[i], folder))
            return n;
    if (n < TRANSACTION_MAX_PARENTS)
        seen[n++] = folder;
    return n;
}

/* Checks that enough descriptors are free for a rollback, by opening and
 * closing as many as it needs. */
static bool check_descriptors(const struct swap *s, struct err *e)
{
    struct str folders[TRANSACTION_MAX_PARENTS];
    int fds[TRANSACTION_MAX_PARENTS + 4];
    size_t max = 0, n = 0;
    bool ok = true;

    for (size_t i = 0; i < s->count; i++)
        max = count_folder(s->ops[i].path, folders, max);
    for (size_t i = 0; i < s->make_count; i++)
        max = count_folder(s->make[i], folders, max);
    for (size_t i = 0; i < s->drop_count; i++)
        max = count_folder(s->drop[i], folders, max);
    max += 4; /* for creating folders and comparing */
    while (ok && n < max) {
        fds[n] = fcntl(s->root, F_DUPFD_CLOEXEC, 0);
        ok = fds[n] >= 0 || err_errno(e, "open the folders to change");
        n += ok;
    }
    while (n > 0)
        fs_close(&fds[--n]);
    return ok;
}

bool swap_run(struct swap *s, struct err *e)
{
    CLEANUP(transaction_done)
    struct transaction tx = {.s = s, .is_first = true};

    INVARIANT(s->stages[0].fd >= 0 && s->mapm >= 0 && s->root >= 0);
    if (!check_descriptors(s, e) || !backup_prepare(s, e) ||
        !lift_folders(s, e) || !write_journal(s, e))
        return swap_give_up(s);
    if (!transaction_roll_forward(&tx, e) || !finish(&tx, e)) {
        undo(&tx, e);
        return false;
    }
    if (!end_stages(s, e) || !swap_unlink_journal(s, e)) {
        undo(&tx, e);
        return false;
    }
    /* Not synced: after a power cut, a journal that reappears finds all
     * operations done (is_complete). */
    remove_stage(s);
    return true;
}

/* --- the next start ------------------------------------------------------- */

/* Returns whether this change is still to be made: both nodes are at their old
 * places. */
static bool is_to_be_made(struct transaction *tx, size_t index)
{
    struct err ignored = {0};
    struct op_state state;

    if (!transaction_read_op(tx, index, &state, &ignored))
        return false;
    return op_progress(&state) == IN_PROGRESS ||
           (op_progress(&state) == PENDING &&
            transaction_check_unmodified(tx, &state, &ignored));
}

/* Changes are made in order, so after the last one nothing is left to do and
 * other differences are later changes. But a power cut may persist the last
 * change, which is in the folder of the journal, and lose others. */
static bool is_complete(struct transaction *tx)
{
    struct err ignored = {0};
    struct op_state state;

    if (!tx->s->count ||
        !transaction_read_op(tx, tx->s->count - 1, &state, &ignored) ||
        op_progress(&state) != DONE)
        return false;
    for (size_t i = 0; i + 1 < tx->s->count; i++)
        if (is_to_be_made(tx, i))
            return false;
    return true;
}

/* Returns whether each path is as the interrupted process left it. */
static bool can_roll_forward(struct transaction *tx)
{
    struct err ignored = {0};

    for (size_t i = 0; i < tx->s->count; i++) {
        struct op_state state;

        if (!transaction_read_op(tx, i, &state, &ignored))
            return false;
        switch (op_progress(&state)) {
        case UNKNOWN:
            return false;
        case PENDING:
            if (!transaction_check_unmodified(tx, &state, &ignored))
                return false;
            break;
        case IN_PROGRESS:
        case DONE:
            break;
        }
    }
    return true;
}

static bool recover_swap(struct swap *s, bool *recovered, struct err *e)
{
    CLEANUP(transaction_done) struct transaction tx = {.s = s};
    CLEANUP_FD int stage = -1;
    bool done;

    if (!fs_open_dir_at(s->mapm, s->stage_name.p, &stage, e)) {
        /* without the stage nothing can be moved */
        err_clear(e);
        return drop_journal(s, e);
    }
    s->stages[0].fd = stage;
    stages_open(s);
    if (!lift_undo(s, e))
        done = false;
    else if (is_complete(&tx))
        done = finish(&tx, e);
    else if (can_roll_forward(&tx))
        done = transaction_roll_forward(&tx, e) && finish(&tx, e);
    else
        done = roll_back(&tx, e);
    if (!done || !drop_journal(s, e))
        return err_wrap(e, "finish an interrupted installation");
    *recovered = s->count > 0;
    return true;
}

static bool sweep_stages(int mapm, struct err *e)
{
    struct arena a = {0};
    struct fs_entry *entries;
    size_t count;
    bool ok;

    ok = fs_list_at(mapm, ".", 100000, &a, &entries, &count, e);
    for (size_t i = 0; ok && i < count; i++)
        if (swap_is_stage_name(entries[i].name) ||
            str_starts(entries[i].name, STR(".mapm-tmp-")))
            ok = fs_remove_tree_at(mapm, entries[i].name.p, e);
    arena_done(&a);
    return ok;
}

static bool read_journal(int mapm, struct arena *a, struct str *text,
                         struct err *e)
{
    return fs_read_file_at(mapm, JOURNAL, JOURNAL_MAX_BYTES, a, text, e) ||
           (e->code == ERR_IO && fs_repair_at(mapm, JOURNAL, S_IFREG, 0600) &&
            fs_read_file_at(mapm, JOURNAL, JOURNAL_MAX_BYTES, a, text, e));
}

bool swap_recover(int root, int mapm, const struct client_scope *scope,
                  bool *recovered, struct err *e)
{
    struct arena a = {0};
    struct swap s;
    struct str text;
    struct stat st;
    bool ok = true;

    *recovered = false;
    if (read_journal(mapm, &a, &text, e)) {
        bool ours = journal_parse(text, scope, &a, &s);

        s.root = root;
        s.mapm = mapm;
        ok = ours ? recover_swap(&s, recovered, e) : drop_journal(&s, e);
    } else if (e->code != ERR_NOT_FOUND) {
        /* a link is in its place, which provision_plan() refuses */
        ok = e->code == ERR_REFUSED || e->code == ERR_LIMIT;
        if (ok && fs_stat_at(mapm, JOURNAL, &st) && !S_ISLNK(st.st_mode))
            fs_set_aside_at(mapm, JOURNAL);
    }
    if (ok) {
        err_clear(e);
        ok = sweep_stages(mapm, e);
    }
    arena_done(&a);
    return ok;
}
