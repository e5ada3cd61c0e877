#ifndef FETCH_SSH_COMMAND_H
#define FETCH_SSH_COMMAND_H

#include "ssh_address.h"

/*
 * ssh_command: finds and calls the user's ssh as git does.
 *
 *     GIT_SSH_COMMAND, core.sshCommand   a shell command
 *     GIT_SSH, else "ssh"                a program
 *     GIT_SSH_VARIANT, ssh.variant       the kind of its options; if unset, the
 *                                        name of the program decides, else
 *                                        whether it has -G
 *
 * known_hosts, keys, the agent and ~/.ssh/config are left to ssh; no option set
 * here weakens them. Tokens are removed from the environment of ssh.
 *
 * Source: H2; HOSTS 8; git's connect.c, git-config core.sshCommand.
 */

enum ssh_variant {
    SSH_UNKNOWN,
    SSH_OPENSSH,
    SSH_PLINK,
    SSH_PUTTY,
    SSH_TORTOISEPLINK,
    SSH_SIMPLE, /* takes a host and a command, but no options */
};

/* Settings of the user's and the system's git configuration; "" if unset. */
struct ssh_settings {
    struct str command; /* core.sshCommand */
    struct str variant; /* ssh.variant */
};

struct ssh_program {
    struct str command; /* an absolute path, or a shell command if `is_line` */
    bool is_line;
    enum ssh_variant variant;
};

/* Finds the ssh program, allocated in `a`. Runs a program of unknown variant
 * once with -G, as git does. Errors: ERR_NOT_FOUND if there is no ssh,
 * ERR_REFUSED for a relative path. */
MUST_CHECK bool ssh_program_find(const struct ssh_settings *s,
                                 const struct ssh_address *to, struct arena *a,
                                 struct ssh_program *out, struct err *e);

/* Builds the arguments that run git-upload-pack on the server, allocated in `a`
 * and ended by NULL. `may_prompt` if the user can type a passphrase. Errors:
 * ERR_REFUSED for a port that the variant cannot take. */
MUST_CHECK bool ssh_argv(const struct ssh_program *p,
                         const struct ssh_address *to, bool may_prompt,
                         struct arena *a, const char *const **argv,
                         struct err *e);

/* Returns the environment of ssh, allocated in `a` and ended by NULL. */
const char *const *ssh_env(struct arena *a);

#endif
