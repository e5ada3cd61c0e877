#ifndef MAPM_INSTALL_CLIENTS_H
#define MAPM_INSTALL_CLIENTS_H

#include "base/context.h"
#include "mapm/clients.h"

/*
 * install_clients: the clients that a workspace is provisioned for, and which
 * of its packages each of them can use [H7].
 *
 * A client is "here" if one of its markers is in the workspace, and "on this
 * machine" if its program or one of the user's folders for it exists. struct
 * client_choice decides which clients are in use.
 */

struct install_client {
    const struct client *client;
    bool is_here;
    bool is_on_machine;
    bool is_used;
    size_t skills, agents, servers; /* packages that it can use */
    bool has_servers;               /* or could use, after a step of the user */
    struct str missing;             /* what it cannot use, and why; or "" */
    /* According to its files, it does not trust the folder yet. */
    bool is_untrusted;
};

/* The clients of one layer. */
struct install_client_view {
    struct str member; /* of a workspace with members, "." for its root */
    bool has_packages;
    const struct install_client *items; /* clients_count elements */
};

struct install_clients {
    struct str workspace;
    const struct install_client *items; /* clients_count elements */
    bool is_decided;                    /* some file has `clients:` */
};

/* Lists the clients, with the packages of mapm.lock. Allocated in
 * the arena of `cx`. */
MUST_CHECK bool install_list_clients(struct context *cx,
                                     struct install_clients *out,
                                     struct err *e);

/* Describes the packages that a client can and cannot use: " 9 skills 3
 * servers, …". Allocated in `a`. */
struct str install_client_sight(const struct install_client *c,
                                struct arena *a);

/* The file in which `clients:` is edited. */
enum install_clients_file {
    CLIENTS_BY_MARKER, /* the workspace if the client is here, otherwise the
                          user's */
    CLIENTS_WORKSPACE, /* mapm.yaml: for the team */
    CLIENTS_USER,      /* config.yaml: for all workspaces of the user */
};

struct install_clients_edit {
    struct str_list workspace, user; /* names that changed in each file */
};

/*
 * Adds clients to a list, or removes them from both. A client that would be in
 * use without a list is added to mapm.yaml as "-name". The folders of the
 * clients change with the next install.
 * Errors: ERR_USAGE for an unknown client, suggesting the nearest name.
 */
MUST_CHECK bool install_edit_clients(struct context *cx, struct str_list names,
                                     bool add, enum install_clients_file file,
                                     struct install_clients_edit *out,
                                     struct err *e);

#endif
