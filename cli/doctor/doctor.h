#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "mapm/layer.h"
#include "mapm/store.h"

#include "../command.h"

/*
 * doctor: checks the installation, the clients and the workspace.
 *
 *     doctor.c       the list of findings, shown
 *     doctor_look.c  files, programs, sandbox, policy
 *     doctor_clients.c  the clients
 *     doctor_ask.c   the model backend
 *     doctor_restore.c  --restore-user, instead of all these
 *
 * The checks change nothing and ask no network. One thing that is broken hides no
 * other: each check runs with what the ones before it could read.
 *
 * Source: DESIGN.md 8; REQUIREMENTS K23, K25.
 */

enum doctor_state {
    DOCTOR_OK,
    DOCTOR_WARN,    /* works, with a warning */
    DOCTOR_MISSING, /* is not there, and need not be */
    DOCTOR_BROKEN,  /* something will fail: the exit is 1 */
};

struct doctor_check {
    const char *group; /* "files" */
    struct str name;   /* "store" */
    enum doctor_state state;
    struct str text; /* the finding */
    struct str hint; /* a command or an action; "" = none */
};

struct doctor {
    struct invocation *inv;
    struct doctor_check *checks; /* in the order they are shown */
    size_t count, capacity;
    unsigned counts[DOCTOR_BROKEN + 1];

    struct project user;     /* config.yaml, or nothing */
    struct str user_file;    /* its path; "" = nowhere */
    struct layer layer;      /* the workspace */
    bool has_layer;          /* … could be read */
    struct backend *backend; /* NULL: none */
};

/* `format` may be followed by one hint: doctor_hint. */
void doctor_add(struct doctor *d, const char *group, struct str name,
                enum doctor_state state, const char *format, ...) PRINTF(5, 6);
/* Of the check added last. */
void doctor_hint(struct doctor *d, const char *format, ...) PRINTF(2, 3);
/* All messages of an error, and its hint. */
void doctor_add_err(struct doctor *d, const char *group, struct str name,
                    enum doctor_state state, const struct err *e);

void doctor_look_files(struct doctor *d);
void doctor_look_programs(struct doctor *d);
void doctor_look_sandbox(struct doctor *d);
void doctor_look_policy(struct doctor *d);
void doctor_look_ask(struct doctor *d);
/* With `runs`, also executes the list command of each client in use. */
void doctor_look_clients(struct doctor *d, bool runs);

/* --restore-user. */
MUST_CHECK bool doctor_restore(struct invocation *inv, int *exit_code,
                               struct err *e);

#endif
