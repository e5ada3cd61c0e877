#ifndef FETCH_SSH_FAILURE_H
#define FETCH_SSH_FAILURE_H

#include "ssh_address.h"

/*
 * ssh_failure: explains why ssh ended, from its exit status and stderr. Source:
 * H2; HOSTS 8.
 */

#define SSH_SHOWN_LINES 10 /* number of last lines of stderr to report */

enum ssh_end {
    SSH_DONE,      /* the connection is no longer needed */
    SSH_HUNG_UP,   /* ssh ended before the response was complete */
    SSH_NO_ANSWER, /* no byte arrived in time */
    SSH_SILENT,    /* the transfer stalled */
};

struct ssh_failure {
    const struct ssh_address *to;
    enum ssh_end end;
    unsigned seconds; /* time waited, for NO_ANSWER and SILENT */
    int exit_code;    /* 255 from ssh itself; 128 + signal; else from the
                       * server */
    struct str words; /* the last bytes of stderr */
    bool has_agent, may_prompt;
};

/* Sets `e` to the reason, with a hint and the last lines of stderr. Returns
 * whether a retry may succeed. Errors: ERR_HOST, ERR_AUTH, ERR_NOT_FOUND,
 * ERR_FETCH. */
bool ssh_explain(const struct ssh_failure *f, struct arena *a, struct err *e);

#endif
