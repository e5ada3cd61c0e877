#ifndef FETCH_SSH_COMMAND_H
#define FETCH_SSH_COMMAND_H

#include "ssh_address.h"

/*
 * ssh_command: the user's own ssh, found and called as git does it.
 *
 *     GIT_SSH_COMMAND, core.sshCommand   a line for the shell
 *     GIT_SSH, else "ssh"                a program
 *     GIT_SSH_VARIANT, ssh.variant       which options it takes; else its name
 *                                        tells, else whether it knows -G
 *
 * known_hosts, keys, agent and ~/.ssh/config are the matter of ssh; no option
 * here weakens what they say. Tokens are taken out of its environment.
 *
 * Source: H2; HOSTS 8; git's connect.c, git-config core.sshCommand.
 */

enum ssh_variant {
    SSH_UNKNOWN,
    SSH_OPENSSH,
    SSH_PLINK,
    SSH_PUTTY,
    SSH_TORTOISEPLINK,
    SSH_SIMPLE, /* host and command, no option */
};

/* What the git configuration of user and system says; "" = nothing. */
struct ssh_settings {
    struct str command; /* core.sshCommand */
    struct str variant; /* ssh.variant */
};

struct ssh_program {
    struct str command; /* an absolute path, or a line for the shell */
    bool is_line;
    enum ssh_variant variant;
};

/* Runs a program of unknown variant once with -G, as git does. In `a`.
 * Errors: ERR_NOT_FOUND without ssh, ERR_REFUSED for a relative path. */
MUST_CHECK bool ssh_program_find(const struct ssh_settings *s,
                                 const struct ssh_address *to, struct arena *a,
                                 struct ssh_program *out, struct err *e);

/* What to execute: git-upload-pack on the other side. `may_prompt`: a person
 * can type a passphrase. NULL at the end, in `a`. Errors: ERR_REFUSED for a
 * port that the variant cannot take. */
MUST_CHECK bool ssh_argv(const struct ssh_program *p,
                         const struct ssh_address *to, bool may_prompt,
                         struct arena *a, const char *const **argv,
                         struct err *e);

/* Its environment; NULL at the end. In `a`. */
const char *const *ssh_env(struct arena *a);

#endif
