#ifndef MAPM_CLIENTS_H
#define MAPM_CLIENTS_H

#include "base/arena.h"
#include "base/str.h"
#include "mapm/clients_preset.h"
#include "mapm/clients_shape.h"

/*
 * clients: the table of client programs, which read skills, sub-agents and MCP
 * servers. Everything that mapm knows of a client is in its row; every list of
 * clients is derived from the rows.
 *
 *     provision    detection, folders, MCP file       what to write
 *     manifest     backends, body paths               what a document may name
 *     runtime      backend, protected paths, secrets  isolation of commands
 *     cli          MCP configuration, budget, names   what to print
 *
 * Clients change over time, so each row has the month in which it
 * was last verified.
 *
 * Source: docs/clients.md.
 */

/* Evidence for the facts of a row. */
enum client_known {
    KNOWN_OBSERVED,   /* observed with the program itself */
    KNOWN_SOURCE,     /* found in its public source code */
    KNOWN_DOCUMENTED, /* documented by its publisher */
    KNOWN_LISTED,     /* listed by another tool; unverified */
};

/* Steps that the user has to take before a client uses the packages
 * of a workspace. */
#define CLIENT_TRUST_SERVERS 1u /* trust the folder to use its servers */
#define CLIENT_TRUST_SKILLS  2u /* trust the folder to use its skills */
#define CLIENT_TRUST_SWITCH  4u /* enable the servers of projects */

#define CLIENT_MAX_PROGRAMS   2
#define CLIENT_MAX_MARKERS    5
#define CLIENT_MAX_FOLDERS    6
#define CLIENT_MAX_TEXTS      3
#define CLIENT_MAX_PATHS      5
#define CLIENT_MAX_OTHERS     3
#define CLIENT_MAX_EXPANDED   2
#define CLIENT_MAX_AGENT_KEYS 3
#define CLIENT_MAX_WORDS      2
/* no prompt of a client itself has such a name */
#define CLIENT_PROMPT_PREFIX "mapm-"
#define CLIENT_PROMPT_SUFFIX ".md"

/* A configuration file with MCP servers. */
struct client_mcp {
    const char *path; /* NULL if only `others` apply */
    /* Alternatives: the first one that exists is used instead of `path`. */
    const char *others[CLIENT_MAX_OTHERS];
    const struct mcp_shape *shape; /* NULL if the client has no such file */
    bool unverified; /* used only on request, as for unverified clients */
    /* In a user file: its path below the folder of home_env, if it moves there
     * when that variable is set; otherwise NULL. */
    const char *moved;
    /* Syntax of a reference to an environment variable, with "%" for its name;
     * NULL if the client does not expand variables. */
    const char *env_ref;
    /* An additional member of each entry: its name, and its value in JSON. */
    struct {
        const char *name, *value;
    } extra;
};

/* How an entry sets the timeout of a call. */
struct client_timeout {
    const char *member;   /* NULL if not supported */
    bool in_seconds;      /* otherwise in milliseconds */
    unsigned max_seconds; /* 0: no maximum is known */
};

/* An environment variable that moves a folder of the client. */
struct client_home_env {
    const char *name; /* or NULL */
    const char *is;   /* folder that it replaces; "" for the home folder */
};

/* Limits of the text that a client loads into its context at startup. Unused
 * elements are NULL, as in all arrays of a row. */
struct client_budget {
    size_t max_chars; /* limit of the list of skills; 0 if unknown */
    /* … or a percentage of the context window, in characters */
    unsigned window_percent;
    const char *max_variable; /* environment variable that overrides it */
    size_t description_max;   /* maximum of a description; 0 if unknown */
    /* Skills over the limit lose their description but keep their name. */
    bool names_stay;
    unsigned max_tools; /* limit of the tools of all servers; 0 if unknown */
    bool hides;         /* supports disable-model-invocation */
    bool nested;        /* also finds skills in nested folders */
    const char *workspace[CLIENT_MAX_FOLDERS]; /* highest priority first */
    const char *home[CLIENT_MAX_FOLDERS];
    /* Files with instructions; "x|y" means the first one that exists. */
    const char *workspace_texts[CLIENT_MAX_TEXTS];
    const char *home_texts[CLIENT_MAX_TEXTS];
};

/* A client. Paths are relative to the workspace; those of `home`, `*_home`,
 * `mcp_user`, `secrets` and the `home` parts of the budget are relative to the
 * home folder, see clients_home_path. */
struct client {
    const char *name;
    const char *alias; /* alternative name; or NULL */
    const char *title;
    const char *seen; /* month of the last verification */
    enum client_known known;

    /* Detection on this machine: a program on PATH, or a folder or file in
     * the home folder. */
    const char *programs[CLIENT_MAX_PROGRAMS];
    const char *home[CLIENT_MAX_PATHS];
    struct client_home_env home_env;

    /* Provisioning. */
    bool always;    /* used in every workspace */
    unsigned trust; /* CLIENT_TRUST_… */
    /* File of the user with the absolute paths of trusted folders in
     * quotes; or NULL. */
    const char *trust_file;
    bool is_graphical; /* has a GUI: its PATH is often that of the desktop
                          session */
    /* The client is in use if one of these exists in the workspace. */
    const char *markers[CLIENT_MAX_MARKERS];
    const char *skills;      /* NULL if it reads .agents/skills */
    const char *skills_home; /* NULL if it reads ~/.agents/skills, or none */
    bool copies_skills;      /* does not follow symbolic links to folders */
    const char *agents;      /* folder for sub-agents; or NULL */
    const char *agents_home; /* the same at user level; or NULL */
    /* Step for the user after new agents are installed; or NULL. */
    const char *agents_note;
    const char *suffix; /* extension of a sub-agent's file */
    /* The only members that the file may have: name, description and, in TOML,
     * developer_instructions; "x=y" is a constant, in which "%" is the name. */
    const char *agent_keys[CLIENT_MAX_AGENT_KEYS];
    /* Folder for their instructions, if these are files of their own, named
     * CLIENT_PROMPT_PREFIX "<name>" CLIENT_PROMPT_SUFFIX; or NULL. */
    const char *prompts;
    const char *prompts_home;   /* the same at user level; or NULL */
    struct client_mcp mcp;      /* servers of a workspace */
    struct client_mcp mcp_user; /* servers of the user, in all workspaces */

    struct client_timeout timeout;
    const char *list[CLIENT_MAX_WORDS]; /* arguments of the command that lists
                                           its servers */
    /* Syntax that it expands anywhere in an entry, and that cannot be
     * escaped. */
    const char *expands[CLIENT_MAX_EXPANDED];

    struct client_budget budget;

    /* Paths that commands of metaskills must not change, or must not read. */
    const char *protected_paths[CLIENT_MAX_PATHS];
    const char *secrets[CLIENT_MAX_PATHS];
    const char *secret_variable; /* variable that names a folder of secrets; or
                                    NULL */

    const char *body_paths[CLIENT_MAX_PATHS]; /* M31: must not occur in
                                                 bodies */

    const struct preset *backend; /* NULL if it cannot answer ask() */
};

/*
 * The selection of clients for a workspace [H7]. `names` has the items of
 * `clients:`; "-x" excludes a client even if its folder exists. A client
 * without an item is in use if it is `always`, if one of its markers
 * exists, or, as long as no file has `clients:`, if packages were
 * provisioned for it before.
 */
struct client_choice {
    const struct str *names;
    size_t count;
    size_t found;    /* of these, the last ones that nobody named: on this
                      * machine, or provisioned before */
    bool is_decided; /* mapm.yaml or config.yaml has `clients:` */
    /* Set by --client: these clients, and those that packages were
     * provisioned for before. */
    bool is_for_run;
};

enum client_selection { CLIENT_UNSET, CLIENT_YES, CLIENT_NO };
/* Returns what `choice` says about a client. A "yes" overrides a "no": the team
 * may select a client that a user excludes. */
enum client_selection clients_selection(const struct client_choice *choice,
                                        const struct client *c);

/* Returns whether a person named the client. */
bool clients_is_named(const struct client_choice *choice,
                      const struct client *c);

/* Returns the file for the MCP servers of the client below `root`, the first one
 * that exists. p is NULL if there is none. */
struct str clients_mcp_file(const struct client *c, int root);

extern const struct client clients_table[];
extern const size_t clients_count;

const struct client *clients_find(struct str name); /* or NULL */
bool clients_mcp_is_at(const struct client_mcp *m, struct str path);
/* Returns whether a sub-agent of the client may be in this file. */
bool clients_agent_is_at(const struct client *c, struct str path);

/* Returns whether the facts of a client are verified; others are used
 * only on request. */
bool clients_is_verified(const struct client *c);

/*
 * Resolves the `path` of a file or folder in a row for a user with the home
 * folder `home`: a path in ".config/" is below XDG_CONFIG_HOME, and a path in
 * `home_env.is` below the folder of that variable. Allocated in `a`.
 * Errors: ERR_REFUSED for a variable that is not an absolute path, and for a
 * path in the home folder if `home` is "".
 */
MUST_CHECK bool clients_home_path(const struct client *c, const char *path,
                                  struct str home, struct arena *a,
                                  struct str *out, struct err *e);
/* The same for a path of mcp_user, which is `moved` if the variable is set. */
MUST_CHECK bool clients_user_file_at(const struct client *c, const char *path,
                                     struct str home, struct arena *a,
                                     struct str *out, struct err *e);
/* Returns the limit of a client's list of skills in characters, from its
 * environment variable, the context window of its model in tokens, or its fixed
 * maximum; 0 if no limit is known. */
#define CLIENT_WINDOW_TOKENS 200000 /* context window of common models */
size_t clients_list_limit(const struct client_budget *c, size_t window);
/* Returns whether a marker of the client exists in the workspace `root`. */
bool clients_is_here(const struct client *c, int root);
/* Returns whether the client is installed on this machine: a program is on
 * PATH, a folder or file of the user exists, or its variable is set. A folder
 * for which `is_ours` (may be NULL) returns true is ignored. */
bool clients_is_on_machine(const struct client *c, struct str home,
                           bool (*is_ours)(void *ctx, struct str path),
                           void *ctx);

/* Returns the clients with a backend in the order of preference;
 * NULL past the last. */
const struct client *clients_backend_at(size_t index);
const struct preset *clients_find_backend(struct str name); /* or NULL */

/* Return the names of all clients, or of those with a backend, joined by
 * `separator`. Allocated in `a`. */
struct str clients_join_names(const char *separator, struct arena *a);
struct str clients_join_backends(const char *separator, struct arena *a);

#endif
