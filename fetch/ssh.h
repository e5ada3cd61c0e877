#ifndef FETCH_SSH_H
#define FETCH_SSH_H

#include <poll.h>
#include <sys/types.h>

#include "ssh_command.h"
#include "ssh_failure.h"

/*
 * ssh: the ssh processes that mapm starts for mapm-fetch, which may not execute
 * anything and sees neither keys nor agent.
 *
 *     ssh_start() --> one end of a socket pair is its stdin and stdout, the
 *                     other one is for mapm-fetch; its stderr is read here
 *     ssh_end()   --> kills its process group; what its end means
 *
 * Source: H2; HOSTS 8; THREATS.md 1.2.
 */

#define SSH_MAX_LINES        64 /* at once */
#define SSH_TAIL_MAX_BYTES   8192
#define SSH_TYPE_MAX_SECONDS 300 /* to answer a prompt */

struct ssh_line {
    size_t id; /* mapm-fetch's */
    struct ssh_address to;
    bool may_prompt;
    pid_t pid;
    int err; /* its stderr; -1: it has ended */
    char tail[SSH_TAIL_MAX_BYTES];
    size_t tail_size;
};

struct ssh {
    struct arena arena;
    struct ssh_settings settings;
    struct ssh_program program;
    bool has_program;
    bool may_prompt; /* a person sits at a terminal */
    int lifeline[2]; /* its groups end with this process */
    struct ssh_line *lines[SSH_MAX_LINES];
    size_t count;
};

void ssh_init(struct ssh *s, bool may_prompt);
void ssh_done(struct ssh *s); /* kills all; twice is harmless */

/* `*fd`: to be closed by the caller. `*may_prompt`: a person may have to type
 * first. Errors: those of ssh_program_find and ssh_argv; ERR_LIMIT. */
MUST_CHECK bool ssh_start(struct ssh *s, size_t id,
                          const struct ssh_address *to, int *fd,
                          bool *may_prompt, struct err *e);

/* A line may have a person type into the terminal now. */
bool ssh_is_prompting(const struct ssh *s);

/* `out` has room for SSH_MAX_LINES. */
size_t ssh_poll(const struct ssh *s, struct pollfd *out);
/* Reads what they wrote to stderr, without blocking. */
void ssh_drain(struct ssh *s);

/* The line is over. `why` is set unless `end` is SSH_DONE; in its words ssh had
 * its say. `*may_retry`: as ssh_explain. False: there is no such line. */
bool ssh_end(struct ssh *s, size_t id, enum ssh_end end, unsigned seconds,
             bool *may_retry, struct err *why);

#endif
