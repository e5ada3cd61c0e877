#ifndef PROVISION_STAGE_H
#define PROVISION_STAGE_H

#include "work.h"

/*
 * stage: new nodes made beside the workspace's own, where nobody looks.
 * Folders by several threads, since many small files mostly wait.
 */

#define STAGE_MAX_THREADS     4
#define STAGE_NODE_NAME_BYTES 24

/* One package's folder, made and filled by one thread. Nobody else knows the
 * stage, so what stands in it is what was made there: it is reached by paths
 * below the stage, and its print is computed from what was written. */
struct stage_job {
    char name[STAGE_NODE_NAME_BYTES]; /* in the stage */
    struct change *change;       /* gets inode and print of what was made */
    struct record_file *records; /* one a file, to be filled in */
};

struct stage_work {
    const struct provision_objects *objects;
    int stage;
    bool exact_modes; /* a folder gets the mode that is asked for */
    struct stage_job *jobs;
    size_t count;
};

MUST_CHECK bool stage_place(struct stage_work *w, struct err *e);

#endif
