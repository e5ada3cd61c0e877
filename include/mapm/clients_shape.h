#ifndef MAPM_CLIENTS_SHAPE_H
#define MAPM_CLIENTS_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * clients_shape: the layout of MCP servers in a client's configuration file.
 * provision writes the members of an entry as described by its shape, in the
 * format of the file, and edits the file in place.
 *
 *     {"command": "npx", …} --> members --> {"type": "local", …}   JSON
 *                                           [mcp_servers."k"]      TOML
 *                                           extensions: k: …       YAML
 *
 * Source: docs/clients.md 5.
 */

/* The format of a file, with the deviations from RFC 8259 that the
 * client accepts. */
enum shape_format {
    SHAPE_JSON,
    SHAPE_JSON_COMMENTED, /* comments, but no trailing commas */
    SHAPE_JSON_RELAXED,   /* comments and trailing commas */
    SHAPE_TOML,
    SHAPE_YAML,
};

/* The kinds of servers that clients distinguish. */
#define SERVER_LOCAL  1u
#define SERVER_HTTP   2u
#define SERVER_SSE    4u
#define SERVER_REMOTE (SERVER_HTTP | SERVER_SSE)
#define SERVER_ANY    (SERVER_LOCAL | SERVER_REMOTE)

enum shape_value {
    VALUE_SAME,         /* value of the member `from` of the MCP file */
    VALUE_TEXT,         /* the text of `from` */
    VALUE_TRUE,         /* true */
    VALUE_KEY,          /* the key of the server */
    VALUE_COMMAND_LINE, /* a list of the command and its arguments */
    VALUE_BEARER,       /* variable X of the header "Bearer ${X}" */
    VALUE_HEADERS,      /* object with the member `headers` */
    VALUE_HEADER_NAMES, /* variables of headers that consist of one, by
                           header */
};

struct shape_member {
    const char *name; /* name in the client's file */
    unsigned on;      /* kinds of servers that have it */
    enum shape_value value;
    const char *from; /* NULL means `name` */
};

#define SHAPE_MAX_MEMBERS      15
#define SHAPE_MAX_USER_MEMBERS 3

struct mcp_shape {
    enum shape_format format;
    const char *section; /* object that contains the servers */
    /* Object in the section that contains the servers instead, if it exists;
     * those servers do not have `enabled`. */
    const char *inner;
    bool is_list;     /* servers form a list, with their key in `name` */
    bool is_verbatim; /* copies the MCP file, including `_meta` */
    bool keeps_rest;  /* copies other members of the MCP file, except `_meta` */
    bool is_local;    /* supports no remote servers */
    const char *off;  /* member that the user sets to disable a server … */
    bool off_value;   /* … to this value */
    /* Members that the user may add to an entry; they are preserved. */
    const char *user_members[SHAPE_MAX_USER_MEMBERS];
    struct shape_member members[SHAPE_MAX_MEMBERS + 1];
};

extern const struct mcp_shape shape_shared, shape_plain, shape_typed,
    shape_local, shape_vscode, shape_gemini, shape_opencode, shape_windsurf,
    shape_amp, shape_zed, shape_codex, shape_grok, shape_vibe, shape_goose,
    shape_hermes, shape_continue, shape_kimi, shape_crush;

#endif
