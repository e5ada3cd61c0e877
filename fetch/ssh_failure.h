#ifndef FETCH_SSH_FAILURE_H
#define FETCH_SSH_FAILURE_H

#include "ssh_address.h"

/*
 * ssh_failure: what the end of an ssh means, from its status and its words.
 * Source: H2; HOSTS 8.
 */

#define SSH_SHOWN_LINES 10 /* the last ones of its stderr */

enum ssh_end {
    SSH_DONE,      /* nothing more is wanted of it */
    SSH_HUNG_UP,   /* it ended before an answer did */
    SSH_NO_ANSWER, /* not one byte came in time */
    SSH_SILENT,    /* no more bytes came */
};

struct ssh_failure {
    const struct ssh_address *to;
    enum ssh_end end;
    unsigned seconds; /* that it was waited for: NO_ANSWER, SILENT */
    int exit_code;    /* 255: ssh's own; 128 + signal; else the other side's */
    struct str words; /* the end of its stderr */
    bool has_agent, may_prompt;
};

/* Whether another try may go better. Errors: ERR_HOST, ERR_AUTH,
 * ERR_NOT_FOUND, ERR_FETCH, with a hint and the lines of its stderr. */
bool ssh_explain(const struct ssh_failure *f, struct arena *a, struct err *e);

#endif
