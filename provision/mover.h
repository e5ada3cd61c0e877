#ifndef PROVISION_MOVER_H
#define PROVISION_MOVER_H

#include "swap.h"

/*
 * mover: one swap at work. Where each change stands is read off the disk, by
 * inode, before every step; nothing is remembered that a kill could lose.
 */

#define MOVER_MAX_PARENTS 32
#define MOVER_NAME_BYTES  24

/* The folders that changes happen in: few, and each synced at the end. */
struct mover_parent {
    struct str path;
    int fd; /* -1: not there */
};

struct mover {
    struct swap *s;
    struct mover_parent parents[MOVER_MAX_PARENTS];
    size_t parent_count;
    bool is_first; /* not a repair: everything stands where it was planned */
};

enum progress {
    PENDING,
    BETWEEN, /* the old node is away, the new one not yet there */
    DONE,
    UNKNOWN, /* somebody else was here */
};

struct site {
    const struct swap_op *op;
    int parent;
    const char *leaf;
    char new_name[MOVER_NAME_BYTES], old_name[MOVER_NAME_BYTES];
    uint64_t here, new_at, old_at; /* inodes found */
};

void mover_done(struct mover *m);

/* The folder that holds `path`; -1 when it is not there. */
MUST_CHECK bool mover_find_parent(struct mover *m, struct str path, int *fd,
                                  struct err *e);
MUST_CHECK bool mover_look_at(struct mover *m, size_t index, struct site *site,
                              struct err *e);
enum progress site_progress(const struct site *site);

/* ERR_EDITED when what stands there is not what was planned for. */
MUST_CHECK bool mover_check_untouched(struct mover *m, const struct site *site,
                                      struct err *e);

/* Never over anything. `what` is for the message. */
MUST_CHECK bool mover_move(int from_fd, const char *from, int to_fd,
                           const char *to, struct str what, struct err *e);
/* Folders, then every change; done ones are passed over. */
MUST_CHECK bool mover_go_forward(struct mover *m, struct err *e);

/* "a/b" of "a/b/c"; and "c". */
struct str path_folder(struct str path);
const char *path_leaf(struct str path);

/* 0: nothing is there. */
uint64_t inode_at(int dirfd, const char *name);

/* --- backup.c: what is displaced and not ours ----------------------------- */

/* Chooses s->backup and makes its folders, when anything will be kept: while
 * it costs nothing to give up. */
MUST_CHECK bool backup_prepare(struct swap *s, struct err *e);
/* Takes the node `name` of the stage to the backup of `path`. */
MUST_CHECK bool backup_keep(struct swap *s, const char *name, struct str path,
                            struct err *e);
MUST_CHECK bool backup_keep_displaced(struct mover *m, struct err *e);
/* An undo after the backup was filled: the old node comes out again. */
void backup_take_back(struct swap *s, struct site *site);
/* Removes the folders that stayed empty. */
void backup_drop_empty(struct swap *s);

#endif
