#ifndef RUNTIME_PROTECT_H
#define RUNTIME_PROTECT_H

#include "base/err.h"

#include "places.h"

/*
 * Protects files of a workspace that other programs execute or obey without a
 * prompt: hooks and settings of git, of agents and of editors, provisioned
 * files, and skills. A command must not change them, nor create missing ones,
 * which no mount can prevent. So their state is compared before and after,
 * changes are undone, and the call fails. Source: THREATS.md 2, row 19.
 */

struct protect;

struct protect_job {
    struct str folder; /* workspace, with links resolved */
    int fd;            /* descriptor of the workspace; must stay open */
    /* bubblewrap mounts protected paths read-only, so a change there comes
     * from another program and is reported but not undone; otherwise copies
     * are kept */
    bool isolated;
    /* absolute paths of further protected folders, used if in the workspace */
    const struct str *more;
    size_t more_count;
};

/*
 * Records the present state. Errors: ERR_LIMIT if there are too many files to
 * watch without isolation; ERR_IO.
 */
MUST_CHECK bool protect_scan(const struct protect_job *job, struct arena *a,
                             struct protect **out, struct err *e);

/* Adds the read-only places, and the folders that must not be moved. */
void protect_places(const struct protect *p, struct places *places);

/* Paths for messages: joined with ", ", printable, at most ten; "" if none. */
struct protect_report {
    struct str undone; /* changed by the command and restored */
    struct str left;   /* changed by the command and not restored */
    struct str others; /* changed by another program */
};

/* Compares the state and undoes changes. Call it when no process of the command
 * is left. */
void protect_restore(struct protect *p, struct arena *a,
                     struct protect_report *out);

#endif
