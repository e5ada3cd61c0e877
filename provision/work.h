#ifndef PROVISION_WORK_H
#define PROVISION_WORK_H

#include "desired_state.h"
#include "record.h"
#include "swap.h"

/*
 * work: what the parts of the module share.
 *
 *     desired state + record + disk --> plan (plan.c) --> stage (stage.c) --> swap
 */

#define EDITS_NAMED_MAX 20

/* Edits of the user that block the plan. */
struct edits {
    struct err why; /* one message per file */
    size_t count;
    bool keeping; /* edits that are found are preserved */
    struct str *preserved;
    size_t preserved_count, preserved_capacity;
    struct provision_skipped *skipped; /* edits of packages that are kept */
    size_t skipped_count, skipped_capacity;
};

enum node { NODE_NONE, NODE_TREE, NODE_LINK, NODE_FILE };

struct node_print {
    uint64_t ino;
    struct hash print;
};

/* A change of the workspace, one operation of the swap. */
struct change {
    enum node node; /* kind of the new node; NODE_NONE to remove */
    mode_t mode;
    struct target *target;
    struct str path;
    struct str content;           /* NODE_FILE */
    size_t entry;                 /* entry in the next record; SIZE_MAX if
                                   * none */
    bool keep;                    /* move the old node to the backup */
    bool is_edited;               /* an entry in it keeps edits of the user */
    size_t stage;                 /* number of its stage in the swap */
    const struct str *before;     /* the file of a user, of which a copy is kept
                               * before mapm edits it; or NULL */
    const struct node_print *old; /* NULL if there was none */
    const struct node_print *new; /* NODE_TREE: set when it is staged */
};

struct plan {
    struct provision *p;
    struct arena *arena;
    struct desired_state desired;
    struct record next; /* the record afterwards */
    struct change *changes;
    size_t count, capacity;
    struct provision_change *shown;
    size_t shown_count, shown_capacity;
    struct edits edits;
    struct str *taken; /* folders of the user in the place of links */
    size_t taken_count, taken_capacity;
    struct map parents; /* folders that were checked */
    struct map absent;  /* folder -> NULL if it exists, non-NULL if not */
    char *linked;       /* per client: 'y', 'n', or 0 if not checked yet */
    struct str *make, *drop;
    size_t make_count, make_capacity, drop_count, drop_capacity;
    struct provision_untouched *untouched;
    size_t untouched_count, untouched_capacity;
    bool texts_only; /* record and folders do not change */
    bool stale;      /* write the record although nothing changes */
    bool restoring;  /* the current target belongs to provision_item.restore */
};

struct stage_early;

struct provision {
    int root;
    const struct client_scope *scope;
    struct str path;
    bool read_only;
    struct arena arena; /* owns the text of the record and the path */
    struct record record;
    bool loaded, has_record; /* the record was read; it is valid */
    bool is_copy;            /* its original was found */
    struct plan *plan;
    char *marked; /* per client: 'y' or 'n' once its markers were checked */
    struct stage_early *early; /* packages staged before the plan, or NULL */
    struct str backup;         /* the backup of the last apply */
    struct str copies;         /* folder of the copies that it wrote
                                * (copies.c) */
    struct str absolute;       /* files that the last apply wrote with absolute
                          * paths */
    const struct str *preserved; /* edits preserved by the last plan */
    size_t preserved_count;
    const struct str *taken;
    size_t taken_count;
    const struct provision_skipped *skipped;
    size_t skipped_count;
    const struct provision_untouched *untouched;
    size_t untouched_count;
};

/*
 * Reads the record once. A broken record counts as absent; an unreadable one
 * is an error, so that it is not replaced. Errors: ERR_IO, ERR_INTERRUPTED.
 */
MUST_CHECK bool provision_load(struct provision *p, struct err *e);
/* Returns the entry of `path` in the record, or NULL. */
const struct record_entry *provision_recorded(const struct provision *p,
                                              struct str path);
/*
 * Whether mapm wrote the record on this disk: its inode is the recorded one,
 * which no other program can know. False for a record from a checkout, and of a
 * copied workspace unless provision_find_original() found the original.
 */
bool provision_record_is_from_here(const struct provision *p);
/* Initializes an empty desired state for this workspace. */
void provision_desired_state(const struct provision *p,
                             const struct provision_options *o, struct arena *a,
                             struct desired_state *out);

/* --- disk.c: the actual state ---------------------------------------------- */

/* A file, folder or link as it is on disk now. */
struct disk_node {
    struct str path; /* relative to the folder; "." for a single file */
    struct stat st;
    uint64_t seen;    /* file_stat_now() before it was read */
    struct hash hash; /* of a regular file */
};

/* Lists all nodes below the folder `path`, sorted. Regular files are hashed,
 * unless their status matches `known` (may be NULL) and `always_hash` is
 * false. */
MUST_CHECK bool disk_read_tree(const struct provision *p, const char *path,
                               const struct record_entry *known,
                               bool always_hash, struct arena *a,
                               struct disk_node **out, size_t *count,
                               struct err *e);
MUST_CHECK bool disk_read_file(const struct provision *p, const char *path,
                               const struct record_entry *known,
                               bool always_hash, struct disk_node *out,
                               struct err *e);
/* Reads a symbolic link below `dirfd`. Returns false for other nodes. */
bool disk_read_link(int dirfd, const char *path, struct arena *a,
                    struct str *out);

/* Returns whether the file is executable exactly if it should be. `r` may be
 * NULL. */
bool disk_has_mode(const struct disk_node *node, const struct desired_file *f,
                   const struct record_file *r);
/* Returns whether the client's folder of skills is a link to .agents/skills, so
 * that no links are needed. */
bool disk_is_linked(const struct provision *p, const struct client *c);

/* A parallel walk over desired files and existing nodes, both sorted by
 * path. */
struct disk_walk {
    const struct desired_file *files;
    size_t file_count;
    const struct disk_node *nodes;
    size_t node_count;
    size_t file, node; /* next indexes */
};
/* Returns the next path: `*file` is NULL if it is not desired, `*node` is NULL
 * if it does not exist. */
bool disk_next_pair(struct disk_walk *w, const struct desired_file **file,
                    const struct disk_node **node);
/* Returns whether content and mode are as desired; `known` may be NULL. */
bool disk_is_as_desired(const struct disk_node *node,
                        const struct desired_file *f,
                        const struct record_entry *known);

/* Returns whether every file of `t` is as recorded and as desired, with one
 * lstat per file. */
bool disk_is_recorded(const struct provision *p, const struct target *t,
                      const struct record_entry *known);

/* --- plan*.c, stage.c ------------------------------------------------------ */

/* Returns whether edits of the current target may be overwritten. */
bool plan_forces(const struct plan *plan);
/* Calls lstat for a target, unless its folder is known not to exist: thousands
 * of packages may be new. */
bool plan_stat(struct plan *plan, struct str path, struct stat *st);
/* Records that the user's `path` (and `name` in it) would be lost. */
void plan_add_edit(struct plan *plan, struct str path, struct str name,
                   const char *how);
/* Records that `what` of the package keeps edits of the user. */
void plan_add_skipped(struct plan *plan, const struct provision_item *item,
                      struct str what);
struct change *plan_add_change(struct plan *plan, enum node node,
                               struct target *t, struct str path);
void plan_show(struct plan *plan, enum provision_change_kind kind,
               struct str path, const struct client *c);
void plan_mark_repair(struct plan *plan, const struct hash *recorded,
                      const struct hash *wanted);
MUST_CHECK bool plan_remember(struct plan *plan, struct change *c,
                              struct err *e);
/* Describes the kind of a node for a message: "is a symbolic link that …". */
const char *plan_kind_of(const struct stat *st);

MUST_CHECK bool plan_tree(struct plan *plan, struct target *t, struct err *e);
MUST_CHECK bool plan_link(struct plan *plan, struct target *t, struct err *e);
MUST_CHECK bool plan_file(struct plan *plan, struct target *t, struct err *e);
MUST_CHECK bool plan_shared(struct plan *plan, struct target *t, struct err *e);
/* Finds, for each server of `t`, whether the file has a different entry with
 * its key that mapm did not write. */
MUST_CHECK bool plan_find_foreign(struct provision *p, struct desired_state *w,
                                  struct target *t, bool *foreign,
                                  struct err *e);
/* Plans a target of a client at user level, or leaves its file alone. */
typedef bool planner(struct plan *plan, struct target *t, struct err *e);
MUST_CHECK bool plan_or_leave(struct plan *plan, struct target *t,
                              const struct record_entry *known, planner *make,
                              struct err *e);
/* copies.c: makes sure that a file of the user has a copy, or gets one with the
 * change; on error the file is not edited. `text` is its current content, in
 * the arena of the plan. */
MUST_CHECK bool copies_plan(struct plan *plan, struct change *c,
                            struct str text, bool is_recorded, struct err *e);
MUST_CHECK bool copies_write(struct provision *p, const struct plan *plan,
                             struct err *e);
/* Plans a recorded path that is no longer desired. */
MUST_CHECK bool plan_leaving(struct plan *plan,
                             const struct record_entry *known, struct err *e);
/* Plans the folders to create and to remove. ERR_REFUSED if a link or a file is
 * in the place of one. */
MUST_CHECK bool plan_folders(struct plan *plan, struct err *e);

/* Stages all changes and the records, then swaps: provision_apply_all. */
struct stage_site {
    struct provision *p;
    struct plan *plan; /* NULL if nothing changes there */
    struct str path;   /* path below the last site */
};
MUST_CHECK bool stage_run(const struct stage_site *sites, size_t count,
                          struct err *e);

/* stage_early.c: returns whether `folder` was created for the early stage. */
bool stage_early_made(const struct provision *p, struct str folder);
void stage_early_drop(struct provision *p);

#endif
