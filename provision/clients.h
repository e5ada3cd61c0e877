#ifndef PROVISION_CLIENTS_H
#define PROVISION_CLIENTS_H

#include "base/str.h"

/*
 * clients: which program reads what, as a table, and with it the closed list
 * of places below a workspace that mapm may ever write to. A record or a
 * journal that names any other place was not written by mapm.
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

/* What a client's parser accepts beside RFC 8259. */
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

#define CLIENT_MARKERS_MAX 2

struct client {
    const char *name;
    const char *seen;                        /* when the row was last checked */
    bool always;                             /* provisioned in any workspace */
    const char *markers[CLIENT_MARKERS_MAX]; /* any there: it is in use */
    const char *skills;                      /* NULL: reads .agents/skills */
    const char *mcp;                         /* its file, or NULL */
    const char *section;                     /* the object that holds servers */
    enum mcp_style mcp_style;
    enum json_syntax mcp_syntax;
    const char *agents; /* folder of sub-agents, or NULL */
    const char *suffix; /* of a sub-agent's file */
    enum agent_style agent_style;
};

extern const struct client clients[];
extern const size_t client_count;

#define SKILLS_FOLDER ".agents/skills"
#define AGENTS_FOLDER ".agents/agents"
#define STATE_FOLDER  ".agents/.mapm"
#define STATE_FILE    ".agents/.mapm/state"

const struct client *client_find(struct str name);        /* NULL: unknown */
const struct client *client_of_mcp_file(struct str path); /* NULL: no such */

/* Whether mapm may ever write `path`: a package's folder or link, a rendered
 * agent, a client's file, one of the texts, the record. */
bool place_is_known(struct str path);
bool place_is_text(struct str path);
/* Whether `path` is a folder that holds such places. */
bool place_is_folder(struct str path);
/* Whether `key` can be the key of a server: X21. */
bool place_is_server_key(struct str key);

#endif
