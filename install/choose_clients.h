#ifndef INSTALL_CHOOSE_CLIENTS_H
#define INSTALL_CHOOSE_CLIENTS_H

#include "install_session.h"

/*
 * choose_clients: the clients of one command [H7]: what --client says, else
 * `clients:`, else those that are here, claude, and those that were given
 * something before; and the question about the others.
 */

MUST_CHECK bool session_choose_clients(struct install_session *s,
                                       struct client_choice *out,
                                       struct err *e);

/* Which of them are on this machine: hundreds of lookups along PATH. For
 * closure_options.on_idle, else session_list_clients does it; `session` is an
 * install_session. */
void session_find_on_machine(void *session);

/* What the plan says of them, when its changes are known. */
MUST_CHECK bool session_list_clients(struct install_session *s, struct err *e);

/* "for claude, codex (yes), or also gemini (all)", and the answers to it. */
struct str session_ask_about_clients(const struct install_session *s);
#define CLIENTS_ANSWERS 3 /* yes, all, no */
extern const char *const clients_answers[CLIENTS_ANSWERS];

/* After the plan was applied: the answer is remembered. */
MUST_CHECK bool session_remember_clients(struct install_session *s,
                                         struct err *e);

#endif
