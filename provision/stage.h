#ifndef PROVISION_STAGE_H
#define PROVISION_STAGE_H

#include "work.h"

/* stage: new nodes, written beside those of the workspace. Several threads
 * write folders, since writing many small files is mostly waiting. */

#define STAGE_MAX_THREADS     4
#define STAGE_NODE_NAME_BYTES 24

/* --- stage_folder.c: where it is --------------------------------------------- */

/* Descriptors reserved for cleanup when staging runs out of them: removing the
 * stage and undoing the swap take three. */
#define STAGE_SPARE_COUNT 3

/* .agents/.mapm, and a stage in it. */
struct stage_folder {
    int mapm, stage; /* -1: not open */
    int spare[STAGE_SPARE_COUNT];
    struct str name; /* of the stage */
    bool made_agents, made_mapm, made_ignore;
    bool exact_modes; /* neither umask nor an ACL changes mode 0755 */
};

void stage_folder_init(struct stage_folder *f);
MUST_CHECK bool stage_folder_open(int root, struct stage_folder *f,
                                  struct err *e);
MUST_CHECK bool stage_folder_open_stage(struct stage_folder *f, struct arena *a,
                                        struct err *e);
void stage_folder_release(struct stage_folder *f); /* the reserve */
void stage_folder_remove_stage(struct stage_folder *f);
/* Removes the folders that were created, if they are empty. */
void stage_folder_undo(int root, struct stage_folder *f);
/* Closes the descriptors only. */
void stage_folder_close(struct stage_folder *f);

/* --- stage_place.c: the content of a folder
 * ---------------------------------- */

/* The folder of one package. No other process knows the stage, so its content
 * is trusted: files are opened by paths below the stage, and the print is
 * computed from the bytes written. */
struct stage_tree {
    int stage;
    bool exact_modes;                 /* of the stage: stage_folder */
    char name[STAGE_NODE_NAME_BYTES]; /* name in the stage */
    struct str shown;                 /* path in the workspace, for messages */
    const struct desired_file *files; /* sorted by path */
    struct record_file *records;      /* one per file, filled in by staging */
    size_t count;
    uint64_t ino; /* set when the folder exists */
    struct hash print;
};

/* A folder, created and filled by one thread. */
struct stage_job {
    struct stage_tree tree;
    struct change *change;
};

struct stage_work {
    const struct provision_objects *objects;
    struct stage_job *jobs;
    size_t count;
};

MUST_CHECK bool stage_place(struct stage_work *w, struct err *e);
MUST_CHECK bool stage_place_tree(const struct provision_objects *objects,
                                 struct stage_tree *t, struct err *e);

/* --- stage_early.c: packages staged before the plan
 * --------------------------- */

/* Transfers the early stage and its content to the caller. Returns false if
 * there is none. */
bool stage_early_take(struct provision *p, struct stage_folder *out);
/* Returns the tree that was staged early with exactly these files and was not
 * taken yet, or NULL. */
struct stage_tree *stage_early_find(struct provision *p,
                                    const struct target *target);

#endif
