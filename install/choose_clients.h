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

/* Finds the clients on this machine, with hundreds of lookups in PATH. Called
 * through closure_options.on_idle, or else by session_list_clients(). `session`
 * is an install_session. */
void session_find_on_machine(void *session);

/* Fills the clients of the plan once its changes are known. */
MUST_CHECK bool session_list_clients(struct install_session *s, struct err *e);

/* Combines the views of the plan: a client in use in any layer is in use. */
struct install_client install_plan_client(const struct install_plan *p,
                                          size_t client);

/* Returns the part of the question about clients, such as "for claude, codex
 * (yes), or also gemini (all)". */
struct str session_ask_about_clients(const struct install_session *s);
#define CLIENTS_ANSWERS 3 /* yes, all, no */
extern const char *const clients_answers[CLIENTS_ANSWERS];

/* Records the answer after the plan was applied. */
MUST_CHECK bool session_remember_clients(struct install_session *s,
                                         struct err *e);

#endif
