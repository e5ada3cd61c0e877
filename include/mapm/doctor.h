#ifndef MAPM_DOCTOR_H
#define MAPM_DOCTOR_H

#include "base/context.h"
#include "mapm/backend.h"

/*
 * doctor: checks the installation, the clients and the workspace.
 *
 * The checks change nothing and make no network request. An error does
 * not prevent later checks: each one runs with the data that earlier
 * ones could read.
 *
 * Source: DESIGN.md 8; REQUIREMENTS K23, K25, H7.
 */

enum doctor_state {
    DOCTOR_OK,
    DOCTOR_WARN,    /* works, but with a warning */
    DOCTOR_MISSING, /* optional part that is missing */
    DOCTOR_BROKEN,  /* something does not work */
};

struct doctor_check {
    const char *group; /* "files" */
    struct str name;   /* "store" */
    enum doctor_state state;
    struct str text; /* result of the check */
    struct str hint; /* command or action; or "" */
};

struct doctor_report {
    struct doctor_check *checks; /* ordered by group */
    size_t count, capacity;
    unsigned counts[DOCTOR_BROKEN + 1];
    struct backend *backend; /* backend that answers ask(); or NULL */
};

/* Runs the checks. With `runs`, also executes the list command of each client
 * in use. Allocated in the arena of `cx`. */
void doctor_examine(struct context *cx, bool runs, struct doctor_report *out);

#endif
