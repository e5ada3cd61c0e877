#ifndef PROVISION_DESIRED_STATE_H
#define PROVISION_DESIRED_STATE_H

#include "base/map.h"
#include "mapm/clients_scope.h"
#include "mapm/document.h"
#include "mapm/provision.h"

#include "merge.h"
#include "record.h"
#include "writable.h"

/*
 * desired_state: the content that the workspace should have, as a list of
 * targets. Generated content (a renamed SKILL.md, a sub-agent, a server's
 * entry) is rendered on demand: a record with the hash of the same sources
 * makes that unnecessary.
 */

enum target_kind {
    TARGET_TREE,   /* a package's folder */
    TARGET_LINK,   /* a link to one */
    TARGET_FILE,   /* a rendered agent */
    TARGET_SHARED, /* servers in a client's file */
    TARGET_TEXT,   /* a text of the caller */
};

/* A file of a package that the workspace should have. */
struct desired_file {
    struct str path;
    bool executable;
    struct hash hash;   /* zero if generated and not rendered yet */
    struct str content; /* generated content; p is NULL for an object of the
                         * store */
};

struct desired_server {
    const struct provision_item *item;
    struct hash source; /* hash of the sources of the entry */
    bool absolute;      /* contains absolute paths; set by
                         * desired_state_make_server() */
    bool is_started;    /* contains none, because `mapm start` substitutes
                         * them */
    bool names_mapm;    /* the command is "mapm" */
    struct str entry;
    struct hash hash;
};

struct target {
    enum target_kind kind;
    bool gives_way;  /* LINK: a folder of the user in its place is kept */
    bool is_copied;  /* LINK: written as a copy */
    bool is_prompt;  /* FILE: the instructions of the sub-agent */
    struct str path; /* NUL-terminated */
    const struct client *client;   /* NULL if for all clients */
    const struct mcp_shape *shape; /* SHARED */
    const struct provision_item *item;
    struct hash source;
    struct str link;
    struct desired_file *files; /* TREE: sorted by path; FILE: one, "." */
    size_t file_count;
    struct desired_server *servers;
    size_t server_count;
    struct str content; /* TEXT; p NULL: remove it */
};

struct desired_state {
    struct arena *arena;
    const struct provision_options *options;
    struct str workspace;
    const struct client_scope *scope;
    int root;
    char *marked; /* provision.marked; NULL: markers are looked for each time */
    struct target *targets;
    size_t count, capacity;
    struct map by_path;
    struct map documents; /* index of the item -> struct document */
};

/*
 * All targets of `items`, for the clients in use. Folders of clients that mapm
 * created, as the record shows, do not count as in use. ERR_NAME, ERR_CONFLICT
 * or ERR_REFUSED for items that cannot coexist.
 */
MUST_CHECK bool desired_state_build(struct desired_state *w,
                                    const struct provision_item *items,
                                    size_t item_count,
                                    const struct record *known, struct err *e);
/* The targets of one skill or agent for all clients, in use or not. */
MUST_CHECK bool desired_state_add_package(struct desired_state *w,
                                          const struct provision_item *item,
                                          struct err *e);
/* Adds a file with the servers of `items` for each client in use. */
void desired_state_add_servers(struct desired_state *w,
                               const struct provision_item *items, size_t count,
                               const struct record *known);
/* Returns the client's file for servers, see clients_mcp_file(); an unverified
 * one only if a person named the client, or if it has servers of mapm. */
struct str desired_state_mcp_file(const struct desired_state *w,
                                  const struct client *c,
                                  const struct record *known);
bool desired_state_is_marked(const struct desired_state *w,
                             const struct client *c,
                             const struct record *known);
bool desired_state_is_in_use(const struct desired_state *w,
                             const struct client *c,
                             const struct record *known);
MUST_CHECK bool desired_state_add_texts(struct desired_state *w,
                                        const struct provision_text *texts,
                                        size_t count, struct err *e);

/* Adds the client's file without servers: entries that mapm wrote are removed. */
struct target *desired_state_add_shared(struct desired_state *w,
                                        const struct client *c,
                                        struct str path);

/* Opens the text of that file, "" if it does not exist, with merge_open(). */
MUST_CHECK bool desired_state_open_shared(const struct target *t,
                                          struct str text, struct arena *a,
                                          struct merge *out, struct err *e);

/* Returns the document of an item and its text, which are read once. */
MUST_CHECK bool desired_state_read_document(struct desired_state *w,
                                            const struct provision_item *item,
                                            const struct document **out,
                                            struct str *text, struct err *e);
/* Renders generated files: sets their hash and content. */
MUST_CHECK bool desired_state_make_files(struct desired_state *w,
                                         struct target *t, struct err *e);
/* Checks that a server can be installed at user level, where there is no
 * workspace folder. Errors: ERR_MCP. */
MUST_CHECK bool desired_state_check_server(struct desired_state *w,
                                           const struct provision_item *item,
                                           struct err *e);
MUST_CHECK bool desired_state_make_server(struct desired_state *w,
                                          const struct target *t,
                                          struct desired_server *s,
                                          struct err *e);

/*
 * Whether the entry with the hash `found`, in the client's file `text`, is the
 * generated entry of `s` with absolute paths of another machine or of another
 * location of the workspace, or as the other value of `servers:` has it: the
 * file was committed. It has no edits of a user. With `takes_over` also whether
 * it is the entry as people write it: without _meta and "type": "stdio".
 */
bool desired_state_is_from_elsewhere(struct desired_state *w,
                                     const struct target *t,
                                     const struct desired_server *s,
                                     struct str text, const struct hash *found);

/* Whether mapm generates the entry with the hash `found` for `item`, here or
 * elsewhere. Of an item whose file is not in the store, only entries that run
 * `mapm start` are known. */
bool desired_state_may_have_put(struct desired_state *w, const struct target *t,
                                const struct provision_item *item,
                                struct str text, const struct hash *found);

#endif
