#ifndef MAPM_DOCTOR_H
#define MAPM_DOCTOR_H

#include "base/context.h"
#include "mapm/backend.h"

/*
 * doctor: checks the installation, the clients and the workspace.
 *
 * The checks change nothing and ask no network. One thing that is broken hides no
 * other: each check runs with what the ones before it could read.
 *
 * Source: DESIGN.md 8; REQUIREMENTS K23, K25, H7.
 */

enum doctor_state {
    DOCTOR_OK,
    DOCTOR_WARN,    /* works, with a warning */
    DOCTOR_MISSING, /* is not there, and need not be */
    DOCTOR_BROKEN,  /* something will fail */
};

struct doctor_check {
    const char *group; /* "files" */
    struct str name;   /* "store" */
    enum doctor_state state;
    struct str text; /* the finding */
    struct str hint; /* a command or an action; "" = none */
};

struct doctor_report {
    struct doctor_check *checks; /* group by group */
    size_t count, capacity;
    unsigned counts[DOCTOR_BROKEN + 1];
    struct backend *backend; /* that answers ask(); NULL: none */
};

/* With `runs`, also executes the list command of each client in use. In the arena
 * of `cx`. */
void doctor_examine(struct context *cx, bool runs, struct doctor_report *out);

#endif
