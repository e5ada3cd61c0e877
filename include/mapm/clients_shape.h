#ifndef MAPM_CLIENTS_SHAPE_H
#define MAPM_CLIENTS_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * shape: how a file of a client holds servers. provision writes an entry member
 * by member as its shape says, in the format of the file, and edits that in
 * place.
 *
 *     {"command": "npx", …} --> members --> {"type": "local", …}   JSON
 *                                           [mcp_servers."k"]      TOML
 *                                           extensions: k: …       YAML
 *
 * Source: docs/clients.md 5.
 */

/* The format of a file; deviations from RFC 8259 that its parser accepts. */
enum shape_format {
    SHAPE_JSON,
    SHAPE_JSON_COMMENTED, /* comments, no trailing comma */
    SHAPE_JSON_RELAXED,   /* both */
    SHAPE_TOML,
    SHAPE_YAML,
};

/* The kinds of server that clients tell apart. */
#define SERVER_LOCAL  1u
#define SERVER_HTTP   2u
#define SERVER_SSE    4u
#define SERVER_REMOTE (SERVER_HTTP | SERVER_SSE)
#define SERVER_ANY    (SERVER_LOCAL | SERVER_REMOTE)

enum shape_value {
    VALUE_SAME,         /* that of the member `from` of the MCP file */
    VALUE_TEXT,         /* `from` itself */
    VALUE_TRUE,         /* true */
    VALUE_KEY,          /* the key of the server */
    VALUE_COMMAND_LINE, /* a list: the command, then its arguments */
    VALUE_BEARER,       /* the variable in the header "Bearer ${X}" */
    VALUE_HEADERS,      /* an object with the member `headers` */
    VALUE_HEADER_NAMES, /* the variables of headers that are one, by header */
};

struct shape_member {
    const char *name; /* in the client's file */
    unsigned on;      /* kinds of server that have it */
    enum shape_value value;
    const char *from; /* NULL: `name` */
};

#define SHAPE_MAX_MEMBERS      15
#define SHAPE_MAX_USER_MEMBERS 3

struct mcp_shape {
    enum shape_format format;
    const char *section; /* the object that holds servers */
    /* an object in the section that holds them instead, where it is there: its
     * servers do without `enabled` */
    const char *inner;
    bool is_list;     /* [[section]], or a list: each has its key in `name` */
    bool is_verbatim; /* the MCP file as it is, with `_meta` */
    bool keeps_rest;  /* of other members of the MCP file but `_meta` */
    bool is_local;    /* has no remote servers */
    const char
        *off; /* the member that a person sets to switch a server off … */
    bool off_value; /* … to this value */
    /* members of the person's own in an entry, which stay */
    const char *user_members[SHAPE_MAX_USER_MEMBERS];
    struct shape_member members[SHAPE_MAX_MEMBERS + 1];
};

extern const struct mcp_shape shape_shared, shape_plain, shape_typed,
    shape_local, shape_vscode, shape_gemini, shape_opencode, shape_windsurf,
    shape_amp, shape_zed, shape_codex, shape_grok, shape_vibe, shape_goose,
    shape_hermes, shape_continue, shape_kimi, shape_crush;

#endif
