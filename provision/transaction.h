#ifndef PROVISION_TRANSACTION_H
#define PROVISION_TRANSACTION_H

#include "swap.h"

/* transaction: the execution of one swap. Before each step, the state of the
 * operation is read from the disk by inode, so no state is lost with the
 * process. */

#define TRANSACTION_MAX_PARENTS 32
#define TRANSACTION_NAME_BYTES  24

/* A parent folder of an operation. */
struct transaction_parent {
    struct str path;
    int fd; /* -1: absent */
};

struct transaction {
    struct swap *s;
    /* Open parents; operations of one member are consecutive. All are synced at
     * the end, or their file system if there were more. */
    struct transaction_parent parents[TRANSACTION_MAX_PARENTS];
    size_t parent_count, oldest;
    bool has_more;
    bool is_first; /* not a recovery: all nodes are where the plan expects
                    * them */
};

enum op_progress {
    PENDING,
    IN_PROGRESS, /* the old node was moved away, the new one is not in place
                  * yet */
    DONE,
    UNKNOWN, /* another process changed the path */
};

struct op_state {
    const struct swap_op *op;
    int stage; /* its stage; -1: it is gone */
    int parent;
    const char *leaf;
    char new_name[TRANSACTION_NAME_BYTES], old_name[TRANSACTION_NAME_BYTES];
    uint64_t here, new_at, old_at; /* inodes that were found */
};

void transaction_done(struct transaction *tx);

/* Opens the parent folder of `path`, valid until the next call; -1 if it is
 * absent. */
MUST_CHECK bool transaction_find_parent(struct transaction *tx, struct str path,
                                        int *fd, struct err *e);
MUST_CHECK bool transaction_read_op(struct transaction *tx, size_t index,
                                    struct op_state *state, struct err *e);
enum op_progress op_progress(const struct op_state *state);

/* ERR_EDITED if the path differs from the state in the plan. */
MUST_CHECK bool transaction_check_unmodified(struct transaction *tx,
                                             const struct op_state *state,
                                             struct err *e);

/* Renames without replacing a node. `what` is for messages. */
MUST_CHECK bool transaction_rename(int from_fd, const char *from, int to_fd,
                                   const char *to, struct str what,
                                   struct err *e);
/* Creates the folders, then applies each operation that is not done yet. */
MUST_CHECK bool transaction_roll_forward(struct transaction *tx, struct err *e);

/* Return "a/b" and "c" of "a/b/c". */
const char *path_leaf(struct str path);

/* Returns 0 if the node is absent. */
uint64_t inode_at(int dirfd, const char *name);

/*
 * --- lift.c: folders that an overlay cannot rename ---------------------------
 *
 * An overlay renames no folder of a lower layer, such as one of a container's
 * image; files it does. So such a folder, of an operation that moves it away, is
 * replaced first by one with the same content: each file is moved to l<i> of the
 * stage, which takes the place of the emptied folder. The journal names these
 * folders until then, so that the next command moves the files back.
 */

/* Lifts the folders of all operations, and corrects the state of the plan in
 * these. If that fails, all files are in place again, or s->is_stuck. */
MUST_CHECK bool lift_folders(struct swap *s, struct err *e);
/* Moves back what an interrupted process has lifted. */
MUST_CHECK bool lift_undo(struct swap *s, struct err *e);

/* --- backup.c: displaced nodes with edits of the user ---------------------- */

/* If an operation needs a backup, chooses s->backup and creates its folders,
 * before the first change, when a failure has no cost. */
MUST_CHECK bool backup_prepare(struct swap *s, struct err *e);
/* Moves the node `name` of the stage of `op` to the backup of its path; copies
 * it from a stage on another mount. */
MUST_CHECK bool backup_keep(struct swap *s, const char *name,
                            const struct swap_op *op, struct err *e);
MUST_CHECK bool backup_keep_displaced(struct transaction *tx, struct err *e);
/* Moves the old node back from the backup, to undo an operation. */
void backup_take_back(struct swap *s, struct op_state *state);
/* Removes empty folders of the backup. */
void backup_drop_empty(struct swap *s);

#endif
