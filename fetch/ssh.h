#ifndef FETCH_SSH_H
#define FETCH_SSH_H

#include <poll.h>
#include <sys/types.h>

#include "ssh_command.h"
#include "ssh_failure.h"

/*
 * ssh: runs ssh for mapm-fetch, which may not execute programs and can reach
 * neither keys nor the agent.
 *
 *     ssh_start() --> one end of a socket pair becomes stdin and stdout of ssh,
 *                     the other one goes to mapm-fetch; stderr is read here
 *     ssh_end()   --> kills the process group and explains the exit
 *
 * Source: H2; HOSTS 8; THREATS.md 1.2.
 */

#define SSH_MAX_LINES        64 /* concurrent connections */
#define SSH_TAIL_MAX_BYTES   8192
#define SSH_TYPE_MAX_SECONDS 300 /* time for the user to answer a prompt */

struct ssh_line {
    size_t id; /* chosen by mapm-fetch */
    struct ssh_address to;
    bool may_prompt;
    pid_t pid;
    int err; /* stderr of ssh; -1 at end of file */
    char tail[SSH_TAIL_MAX_BYTES];
    size_t tail_size;
};

struct ssh {
    struct arena arena;
    struct ssh_settings settings;
    struct ssh_program program;
    bool has_program;
    bool may_prompt; /* the user is at a terminal */
    int lifeline[2]; /* pipe whose closing ends the ssh processes when mapm
                      * exits */
    struct ssh_line *lines[SSH_MAX_LINES];
    size_t count;
};

void ssh_init(struct ssh *s, bool may_prompt);
void ssh_done(struct ssh *s); /* kills all ssh processes; may be called twice */

/* Starts ssh. The caller closes `*fd`. `*may_prompt` tells whether the user may
 * have to type a passphrase first. Errors: those of ssh_program_find and
 * ssh_argv; ERR_LIMIT. */
MUST_CHECK bool ssh_start(struct ssh *s, size_t id,
                          const struct ssh_address *to, int *fd,
                          bool *may_prompt, struct err *e);

/* Returns whether an ssh process may be prompting on the terminal. */
bool ssh_is_prompting(const struct ssh *s);

/* Fills `out`, which has room for SSH_MAX_LINES, and returns the count. */
size_t ssh_poll(const struct ssh *s, struct pollfd *out);
/* Reads the available stderr of all ssh processes without blocking. */
void ssh_drain(struct ssh *s);

/* Ends a connection. Unless `end` is SSH_DONE, sets `why`, which quotes the
 * stderr of ssh, and `*may_retry` as ssh_explain returns it. Returns false if
 * there is no connection `id`. */
bool ssh_end(struct ssh *s, size_t id, enum ssh_end end, unsigned seconds,
             bool *may_retry, struct err *why);

#endif
