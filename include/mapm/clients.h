#ifndef MAPM_CLIENTS_H
#define MAPM_CLIENTS_H

#include "base/arena.h"
#include "base/str.h"
#include "mapm/clients_preset.h"

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

enum mcp_style {
    MCP_NONE,     /* reads .mcp.json, or nothing of a project's */
    MCP_SHARED,   /* .mcp.json itself: `_meta` stays */
    MCP_PLAIN,    /* the same shape without `_meta` */
    MCP_GEMINI,   /* known keys only, `httpUrl` */
    MCP_OPENCODE, /* type local or remote, command as one list */
    MCP_VSCODE,   /* type is required */
    MCP_CODEX,    /* TOML tables */
};

/* Deviations from RFC 8259 that a client's parser accepts. */
enum json_syntax {
    JSON_STRICT,
    JSON_COMMENTED, /* comments, no trailing comma */
    JSON_RELAXED,   /* both */
};

enum agent_style {
    AGENT_NONE,
    AGENT_NAMED,    /* frontmatter: name, description */
    AGENT_OPENCODE, /* frontmatter: description, mode */
    AGENT_CODEX,    /* TOML: name, description, developer_instructions */
};

/* The unit of "timeout" of a server, if a call has a timeout. */
enum client_timeout {
    TIMEOUT_NONE,
    TIMEOUT_SECONDS,
    TIMEOUT_MILLISECONDS,
};

#define CLIENT_MAX_MARKERS 2
#define CLIENT_MAX_FOLDERS 6
#define CLIENT_MAX_TEXTS   3
#define CLIENT_MAX_PATHS   4

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

/* Paths are relative to the workspace, of `secrets` and of the `home` parts of
 * the budget to the home folder. */
struct client {
    const char *name;
    const char *seen; /* month */

    /* provisioning */
    bool always;       /* in any workspace */
    bool is_graphical; /* its PATH is often that of the desktop session */
    /* if one exists, the client is in use */
    const char *markers[CLIENT_MAX_MARKERS];
    const char *skills; /* NULL: reads .agents/skills */
    const char *agents; /* folder of sub-agents, or NULL */
    const char
        *agents_note;   /* after new agents: what a person has to do; or NULL */
    const char *suffix; /* of a sub-agent's file */
    enum agent_style agent_style;
    const char *mcp;     /* its MCP file that mapm writes, or NULL */
    const char *section; /* the object that holds servers */
    enum mcp_style mcp_style;
    enum json_syntax mcp_syntax;

    /* `mapm mcp --print-config` */
    struct {
        const char *files; /* where it goes, for people */
        enum client_timeout timeout;
        bool lists_tools; /* a server needs "tools" */
    } config;

    struct client_budget budget;

    /* paths that commands of metaskills may not change, or not read */
    const char *protected_paths[CLIENT_MAX_PATHS];
    const char *secrets[CLIENT_MAX_PATHS];
    const char *secret_variable; /* names a folder of secrets; or NULL */

    const char *body_paths[CLIENT_MAX_PATHS]; /* M31: not for bodies */

    const struct preset *backend; /* NULL: cannot answer an ask */
};

extern const struct client clients_table[];
extern const size_t clients_count;

const struct client *clients_find(struct str name);          /* or NULL */
const struct client *clients_find_mcp_file(struct str path); /* or NULL */

/* Clients with a backend, in the order in which they are looked for; NULL
 * behind the last. */
const struct client *clients_backend_at(size_t index);
const struct preset *clients_find_backend(struct str name); /* or NULL */

/* Names of all clients, or of those with a backend, with `separator` between
 * them. In `a`. */
struct str clients_join_names(const char *separator, struct arena *a);
struct str clients_join_backends(const char *separator, struct arena *a);

#endif
