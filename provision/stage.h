#ifndef PROVISION_STAGE_H
#define PROVISION_STAGE_H

#include "work.h"

/*
 * stage: new nodes made beside the workspace's own, where nobody looks.
 * Folders by several threads, since many small files mostly wait.
 */

#define STAGE_MAX_THREADS 4

/* One folder to fill: its files are placed by one thread. */
struct stage_job {
    struct change *change;
    struct str folder;   /* below the stage; NUL-terminated */
    size_t prefix;       /* bytes of a file's path before its name */
    size_t first, count; /* indices into `files` */
};

struct stage_files {
    const struct provision_objects *objects;
    int stage;
    struct stage_job *jobs;
    size_t job_count;
    struct wish_file **files;     /* by job */
    struct record_file **records; /* to be filled in, beside them */
};

MUST_CHECK bool stage_place(struct stage_files *f, struct err *e);

#endif
