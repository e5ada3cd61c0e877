#ifndef MAPM_CLIENTS_SHAPE_H
#define MAPM_CLIENTS_SHAPE_H

/*
 * shape: how a file of a client holds servers. Source: docs/clients.md.
 */

enum mcp_style {
    MCP_SHARED,   /* .mcp.json itself: `_meta` stays */
    MCP_PLAIN,    /* the same shape without `_meta` */
    MCP_GEMINI,   /* known keys only, `httpUrl` */
    MCP_OPENCODE, /* type local or remote, command as one list */
    MCP_VSCODE,   /* type is required */
    MCP_CODEX,    /* TOML tables */
};

/* The format of a file; deviations from RFC 8259 that its parser accepts. */
enum shape_format {
    SHAPE_JSON,
    SHAPE_JSON_COMMENTED, /* comments, no trailing comma */
    SHAPE_JSON_RELAXED,   /* both */
    SHAPE_TOML,
};

struct mcp_shape {
    enum mcp_style style;
    enum shape_format format;
    const char *section; /* the object that holds servers */
};

extern const struct mcp_shape shape_shared, shape_plain, shape_gemini,
    shape_opencode, shape_vscode, shape_codex, shape_amp;

#endif
