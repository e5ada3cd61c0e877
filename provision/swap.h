#ifndef PROVISION_SWAP_H
#define PROVISION_SWAP_H

#include "base/buf.h"
#include "base/hash.h"
#include "mapm/clients_scope.h"

#include <sys/types.h>

/*
 * swap: many places of a workspace changed as one.
 *
 *     stage-<16 hex>/n<i>   the new node of change i
 *     journal               what goes where, and who is who by inode
 *     stage-<16 hex>/o<i>   the node displaced by it (or under n<i>, after
 *                           an exchange)
 *
 * Each step is a rename, so where a node is tells what was done: that makes
 * both directions repeatable, from any instant. Once the journal is on the
 * disk the swap goes forward, unless somebody changed one of the places in
 * the meantime: then it goes back, and their bytes stay.
 *
 * The journal may come from a stranger's repository, too: it names only
 * known places, and nodes by inode, which a repository cannot choose.
 *
 *     mapm-journal 1                 2: with places of members [D10]
 *                                    3: of user level [H8]
 *                                    4: with stages beside the first
 *                                    5: with lifts
 *     stage stage-<16 hex>
 *     backup <n>                     0: nothing is kept
 *     make <path>                    folders, parents first
 *     beside <folder>                4: stages on other mounts [H8]
 *     lift <inode> <n> <path>        5, without op: it is in the n-th of them
 *     op <new> <print> <old> <print> <k|-> <path>
 *                                    4: "k1", "-1": in the first of them
 *     drop <path>                    folders to remove if empty
 *     end <sha256 of the lines before>
 */

#define JOURNAL_MAX_BYTES   (128u * 1024 * 1024) /* 100,000 packages, twice */
#define JOURNAL_BLOCK_BYTES (256u * 1024)
#define BACKUP_MAX_COUNT    9999
#define SWAP_MAX_STAGES     32 /* mounts that the places of one swap are on */

struct swap_op {
    struct str path;
    uint64_t new_ino; /* 0 if the path is removed */
    uint64_t old_ino; /* 0 if the path did not exist */
    struct hash new_print, old_print;
    bool keep;    /* move the displaced node to the backup */
    size_t stage; /* number of its stage */
};

/* Where new nodes are written, and displaced ones go: stages.h. */
struct swap_stage {
    struct str folder; /* that holds it, NUL-terminated; of the first "" */
    int fd;            /* -1: it is gone */
    bool exact_modes;  /* neither umask nor an ACL changes mode 0755 */
};

/* A folder that is moved into l<i> of its stage entry by entry: lift.c. */
struct swap_lift {
    struct str path; /* NUL-terminated */
    uint64_t ino;    /* of l<i> */
    size_t stage, op;
};

struct swap {
    const struct client_scope *scope;
    int root, mapm;        /* workspace, .agents/.mapm; borrowed */
    struct str stage_name; /* NUL-terminated */
    /* The first one is borrowed, the others belong to the swap. */
    struct swap_stage stages[SWAP_MAX_STAGES];
    size_t stage_count;
    unsigned backup;
    struct str *make, *drop; /* NUL-terminated */
    size_t make_count, drop_count, make_capacity, drop_capacity;
    struct swap_op *ops;
    size_t count, capacity;
    size_t files; /* number of staged files, without the journal */
    struct swap_lift *lifts;
    size_t lift_count, lift_capacity;
    bool is_stuck; /* the next command needs the stage and the journal */
    /* Called if the file of an operation was written since it was read: renews
     * the operation, its staged node and the journal. NULL to fail instead. */
    bool (*rebase)(void *ctx, size_t index, struct err *e);
    void *rebase_ctx;
};

/* A file, folder or link below a path; "" is the path itself. */
struct print_node {
    struct str path;
    mode_t mode;               /* kind and permissions */
    uint64_t ino, size, mtime; /* mtime in ns; ignored for folders */
};

/* Hashes names, kinds, sizes, times and inodes without reading files. Equal
 * prints mean that nothing was written. Sorts the nodes in place. */
struct hash print_of(struct print_node *nodes, size_t count);

/* Computes the print of a path below `dirfd` without following links. An absent
 * path has print zero and `*ino` 0. */
MUST_CHECK bool swap_print(int dirfd, const char *path, uint64_t *ino,
                           struct hash *print, struct err *e);

/* Appends the journal from `*at` on, which starts zeroed. Returns true if it
 * stopped because it appended JOURNAL_BLOCK_BYTES and more follows. */
struct journal_at {
    size_t op;
    bool has_begun;
    struct hash_state sum; /* of the text before */
};
bool journal_format(const struct swap *s, struct journal_at *at,
                    struct buf *out);
/* Writes it to s->mapm in the place of the one that is there. Synced. */
MUST_CHECK bool journal_replace(const struct swap *s, struct err *e);
/* Parses a journal; strings are copied into `a`. Returns false for anything
 * that mapm could not have written. */
bool journal_parse(struct str text, const struct client_scope *scope,
                   struct arena *a, struct swap *out);

/* Returns whether the name is "stage-" and 16 hex digits. */
bool swap_is_stage_name(struct str name);

MUST_CHECK bool swap_unlink_journal(const struct swap *s, struct err *e);

/* Syncs, writes the journal, makes all changes, syncs, and removes the journal
 * and the stage. On failure all changes are undone and the stage is removed.
 * ERR_EDITED if a path changed after the plan. `s->backup` is the folder with
 * displaced nodes. */
MUST_CHECK bool swap_run(struct swap *s, struct err *e);

/* Before swap_run: removes the stages, and the journal that names them. Returns
 * false. */
bool swap_give_up(struct swap *s);

/* Completes or undoes the swap of a journal below `mapm`, sets `*recovered`,
 * and removes leftover stages. Succeeds if there is nothing to do. */
MUST_CHECK bool swap_recover(int root, int mapm,
                             const struct client_scope *scope, bool *recovered,
                             struct err *e);

#endif
