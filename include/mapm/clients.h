#ifndef MAPM_CLIENTS_H
#define MAPM_CLIENTS_H

#include "base/arena.h"
#include "base/str.h"
#include "mapm/clients_preset.h"
#include "mapm/clients_shape.h"

/*
 * clients: the programs that read skills, sub-agents and MCP servers, as one
 * table: all that mapm knows of a client stands in its row, and every list of
 * clients is derived from the rows.
 *
 *     provision    detection, folders, MCP file       what to write
 *     manifest     backends, body paths               what a document may name
 *     runtime      backend, protected paths, secrets  who answers, what to guard
 *     cli          MCP configuration, budget, names   what to print
 *
 * The clients change: each row has the month in which it was last checked.
 * Source: docs/clients.md.
 */

/* How the facts of a row are known. */
enum client_known {
    KNOWN_OBSERVED,   /* with the program itself */
    KNOWN_SOURCE,     /* read in its public repository */
    KNOWN_DOCUMENTED, /* on its page */
    KNOWN_LISTED,     /* in a table of another tool: unverified */
};

/* What a person has to do before a client takes what is in a workspace. */
#define CLIENT_TRUST_SERVERS 1u /* trust the folder: its servers */
#define CLIENT_TRUST_SKILLS  2u /* trust the folder: its skills */
#define CLIENT_TRUST_SWITCH  4u /* switch servers of projects on */

#define CLIENT_MAX_PROGRAMS   2
#define CLIENT_MAX_MARKERS    5
#define CLIENT_MAX_FOLDERS    6
#define CLIENT_MAX_TEXTS      3
#define CLIENT_MAX_PATHS      5
#define CLIENT_MAX_OTHERS     3
#define CLIENT_MAX_EXPANDED   2
#define CLIENT_MAX_AGENT_KEYS 3
#define CLIENT_MAX_WORDS      2

/* A file that holds servers. */
struct client_mcp {
    const char *path; /* NULL: only one of `others` */
    /* the first of these that exists is the file instead */
    const char *others[CLIENT_MAX_OTHERS];
    const struct mcp_shape *shape; /* NULL: there is no such file */
    bool unverified; /* taken on request alone, as all of such a client */
    /* of the user, if it moves with home_env from outside of that folder:
     * its path below it; or NULL */
    const char *moved;
    /* how it names a variable of the environment, which is at "%"; NULL: it
     * expands none */
    const char *env_ref;
    const char *workspace_ref; /* how it names the workspace; or NULL */
    /* a member that each entry has besides: its name, and a value in JSON */
    struct {
        const char *name, *value;
    } extra;
};

/* How an entry says how long a call may take, if it can. */
struct client_timeout {
    const char *member;   /* or NULL */
    bool in_seconds;      /* else in milliseconds */
    unsigned max_seconds; /* 0: none is known */
};

/* An environment variable that names a folder of the client. */
struct client_home_env {
    const char *name; /* or NULL */
    const char *is;   /* the folder it stands for, "" for the home folder */
};

/* Files that a client loads into its context at the start. Unused elements are
 * NULL, as in all arrays of a row. */
struct client_budget {
    size_t max_chars; /* of the list of skills; 0: no maximum is known */
    /* … or so many percent of the context window, in characters */
    unsigned window_percent;
    const char *max_variable; /* of the environment, which replaces it */
    size_t description_max;   /* characters of one; 0: no maximum is known */
    bool names_stay; /* what is too much loses its description, not its name */
    bool hides;      /* supports disable-model-invocation */
    bool nested;     /* looks for skills in folders of folders, too */
    const char *workspace[CLIENT_MAX_FOLDERS]; /* the strongest first */
    const char *home[CLIENT_MAX_FOLDERS];
    /* files of instructions; of "x|y" the first that exists */
    const char *workspace_texts[CLIENT_MAX_TEXTS];
    const char *home_texts[CLIENT_MAX_TEXTS];
};

/* Paths are relative to the workspace, those of `home`, `*_home`, `mcp_user`,
 * `secrets` and of the `home` parts of the budget to the home folder: see
 * clients_home_path. */
struct client {
    const char *name;
    const char *alias; /* another name for it; or NULL */
    const char *title;
    const char *seen; /* month */
    enum client_known known;

    /* on this machine: a program on PATH, or a folder or file of its user's */
    const char *programs[CLIENT_MAX_PROGRAMS];
    const char *home[CLIENT_MAX_PATHS];
    struct client_home_env home_env;

    /* provisioning */
    bool always;    /* in any workspace */
    unsigned trust; /* CLIENT_TRUST_… */
    /* of its user's, with the absolute paths of trusted folders in quotes; or
     * NULL */
    const char *trust_file;
    bool is_graphical; /* its PATH is often that of the desktop session */
    /* if one exists, the client is in use */
    const char *markers[CLIENT_MAX_MARKERS];
    const char *skills;      /* NULL: reads .agents/skills */
    const char *skills_home; /* NULL: reads ~/.agents/skills, or none */
    bool copies_skills;      /* it follows no links to folders */
    const char *agents;      /* folder of sub-agents, or NULL */
    const char *agents_home; /* of the user, or NULL */
    const char
        *agents_note;   /* after new agents: what a person has to do; or NULL */
    const char *suffix; /* of a sub-agent's file */
    /* the members that it has, and no other: of name, description and, in
     * TOML, developer_instructions; "x=y" is a constant */
    const char *agent_keys[CLIENT_MAX_AGENT_KEYS];
    struct client_mcp mcp;      /* of a workspace */
    struct client_mcp mcp_user; /* of the user, for all workspaces */

    struct client_timeout timeout;
    const char *list[CLIENT_MAX_WORDS]; /* arguments that list its servers */
    /* forms that it expands anywhere in an entry, and which nothing escapes */
    const char *expands[CLIENT_MAX_EXPANDED];

    struct client_budget budget;

    /* paths that commands of metaskills may not change, or not read */
    const char *protected_paths[CLIENT_MAX_PATHS];
    const char *secrets[CLIENT_MAX_PATHS];
    const char *secret_variable; /* names a folder of secrets; or NULL */

    const char *body_paths[CLIENT_MAX_PATHS]; /* M31: not for bodies */

    const struct preset *backend; /* NULL: cannot answer an ask */
};

/*
 * Which clients a workspace is for [H7]. `names`: items of `clients:`, "-x" for
 * one that gets nothing though its folder is there. Without an item a client is in
 * use in any workspace (`always`), where a marker of it is, or, when nobody has
 * decided yet, where it got something before.
 */
struct client_choice {
    const struct str *names;
    size_t count;
    bool is_decided; /* mapm.yaml or config.yaml has `clients:` */
    bool is_for_run; /* --client: these, and those that got something before */
};

enum client_say { CLIENT_UNSAID, CLIENT_YES, CLIENT_NO };
/* A yes before a no: the team may want what a user does not. */
enum client_say clients_say(const struct client_choice *choice,
                            const struct client *c);

extern const struct client clients_table[];
extern const size_t clients_count;

const struct client *clients_find(struct str name); /* or NULL */
bool clients_is_called(const struct client *c, struct str name);
bool clients_mcp_is_at(const struct client_mcp *m, struct str path);

/* A client that nobody verified is taken on request alone. */
bool clients_is_verified(const struct client *c);

/*
 * Where the file or folder `path` of a row is for a user with the home folder
 * `home`: a path in ".config/" is below XDG_CONFIG_HOME, one in `home_env.is`
 * below that variable. In `a`. Errors: ERR_REFUSED for a variable that is no
 * absolute path.
 */
MUST_CHECK bool clients_home_path(const struct client *c, const char *path,
                                  struct str home, struct arena *a,
                                  struct str *out, struct err *e);
/* The same of a path of mcp_user: that of `moved` with the variable. */
MUST_CHECK bool clients_user_file_at(const struct client *c, const char *path,
                                     struct str home, struct arena *a,
                                     struct str *out, struct err *e);
/* Characters that its list of skills may have, by its variable, the context
 * window of its model in tokens, or its maximum; 0: no bound is known. */
#define CLIENT_WINDOW_TOKENS 200000 /* of the models that most have */
size_t clients_list_limit(const struct client_budget *c, size_t window);
/* A marker is in the workspace `root`. */
bool clients_is_here(const struct client *c, int root);
/* A program on PATH, a folder of the user's, or the variable. A folder that
 * `is_ours` says yes to (NULL: none) proves nothing. */
bool clients_is_on_machine(const struct client *c, struct str home,
                           bool (*is_ours)(void *ctx, struct str path),
                           void *ctx);

/* Clients with a backend, in the order in which they are looked for; NULL
 * behind the last. */
const struct client *clients_backend_at(size_t index);
const struct preset *clients_find_backend(struct str name); /* or NULL */

/* Names of all clients, or of those with a backend, with `separator` between
 * them. In `a`. */
struct str clients_join_names(const char *separator, struct arena *a);
struct str clients_join_backends(const char *separator, struct arena *a);

#endif
