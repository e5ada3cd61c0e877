#ifndef RUNTIME_PROTECT_H
#define RUNTIME_PROTECT_H

#include "base/err.h"

#include "places.h"

/*
 * protect: files of a workspace that other programs obey without a question:
 * hooks and settings of git, of agents and of editors, provisioned files, and
 * skills. A command may not change them. It may not create missing ones
 * either, which no mount can prevent: so they are compared before and after,
 * changes are undone, and the call fails. Source: THREATS.md 2, row 19.
 */

struct protect;

struct protect_job {
    struct str folder; /* the workspace, without links */
    int fd;            /* of it; must stay open */
    /* bubblewrap will show it read-only, so that a change comes from another
     * program and is reported, never undone; otherwise copies are taken. */
    bool isolated;
    /* absolute: further protected folders, if they are in the workspace */
    const struct str *more;
    size_t more_count;
};

/*
 * Records the present state. Errors: ERR_LIMIT when there are too many files
 * to watch without isolation; ERR_IO.
 */
MUST_CHECK bool protect_look(const struct protect_job *job, struct arena *a,
                             struct protect **out, struct err *e);

/* Read-only places, and folders that must stay where they are. */
void protect_places(const struct protect *p, struct places *places);

/* Paths, for people: joined with ", ", visible, at most ten; "" = none. */
struct protect_report {
    struct str undone; /* was changed by the command, is as before */
    struct str left;   /* was changed by it, and could not be undone */
    struct str others; /* was changed by another program */
};

/* Compares, and undoes. Call it when no process of the command is left. */
void protect_restore(struct protect *p, struct arena *a,
                     struct protect_report *out);

#endif
