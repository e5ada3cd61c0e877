#ifndef MAPM_INSTALL_CLIENTS_H
#define MAPM_INSTALL_CLIENTS_H

#include "base/context.h"
#include "mapm/clients.h"

/*
 * install_clients: which clients a workspace is for, and what each of them sees
 * of its packages [H7].
 *
 * A client is here when the workspace has a marker of it, and on this machine when
 * its program or a folder of its user's is there. Which of them are in use says
 * struct client_choice.
 */

struct install_client {
    const struct client *client;
    bool is_here;
    bool is_on_machine;
    bool is_used;
    size_t skills, agents, servers; /* that it sees */
    bool has_servers;               /* or will see, when it is told to */
    struct str missing; /* what it does not see, and why; "" = nothing */
    bool is_untrusted;  /* it does not trust the folder yet, as far as it can
                         * be read from its files */
};

struct install_clients {
    struct str workspace;
    const struct install_client *items; /* as many as clients_count */
    bool is_decided;                    /* by `clients:` */
};

/* Of the packages in mapm.lock. In the arena of `cx`. */
MUST_CHECK bool install_list_clients(struct context *cx,
                                     struct install_clients *out,
                                     struct err *e);

/* " 9 skills 3 servers, …": what it sees, and what not. In `a`. */
struct str install_client_sight(const struct install_client *c,
                                struct arena *a);

/* Where an edit of `clients:` goes. */
enum install_clients_file {
    CLIENTS_BY_MARKER, /* the workspace where the client is here, else the user */
    CLIENTS_WORKSPACE, /* mapm.yaml: the team's choice */
    CLIENTS_USER,      /* config.yaml: for all workspaces of the user */
};

struct install_clients_edit {
    struct str_list workspace, user; /* names that changed in each file */
};

/*
 * Adds clients to the lists, or takes them out of both; one that would be in use
 * without a list gets "-name" in mapm.yaml. What is in the clients' folders
 * changes with the next install.
 * Errors: ERR_USAGE for a name that no client has, with the nearest one.
 */
MUST_CHECK bool install_edit_clients(struct context *cx, struct str_list names,
                                     bool add, enum install_clients_file file,
                                     struct install_clients_edit *out,
                                     struct err *e);

#endif
