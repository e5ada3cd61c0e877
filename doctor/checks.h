#ifndef DOCTOR_CHECKS_H
#define DOCTOR_CHECKS_H

#include "mapm/doctor.h"
#include "mapm/layer.h"
#include "mapm/store.h"

/*
 *     doctor.c          the report
 *     checks.c          files, programs, sandbox, policy
 *     doctor_clients.c  the clients
 *     backend.c         the model backend
 */

struct doctor {
    struct context *cx;
    struct doctor_report *report;
    struct project user;  /* config.yaml, or an empty document */
    struct str user_file; /* its path; "" if there is no home */
    struct layer layer;   /* the workspace */
    bool has_layer;       /* whether `layer` could be read */
};

/* `format` may be followed by one hint: doctor_hint. */
void doctor_add(struct doctor *d, const char *group, struct str name,
                enum doctor_state state, const char *format, ...) PRINTF(5, 6);
/* Adds a hint to the check added last. */
void doctor_hint(struct doctor *d, const char *format, ...) PRINTF(2, 3);
/* Adds a check with all messages of an error and its hint. */
void doctor_add_err(struct doctor *d, const char *group, struct str name,
                    enum doctor_state state, const struct err *e);

void doctor_check_files(struct doctor *d);
void doctor_check_programs(struct doctor *d);
void doctor_check_sandbox(struct doctor *d);
void doctor_check_policy(struct doctor *d);
void doctor_check_ask(struct doctor *d);
void doctor_check_clients(struct doctor *d, bool runs);

#endif
