#ifndef MAPM_LIMITS_H
#define MAPM_LIMITS_H

/*
 * limits: how much an input may cost. One page, so that one look answers it.
 * Only the user's own configuration may raise them, a workspace may lower
 * them. Source: THREATS.md 7 unless a line says otherwise.
 */

/* clang-format off */
#define NAME_MAX_CHARS             64      /* MetaAgents, naming rules */
#define SCOPE_MAX_CHARS            64      /* MetaAgents, naming rules */
#define MCP_NAME_MAX_CHARS         200     /* MetaAgents, MCP names */
#define DESCRIPTION_MAX_CHARS      1024    /* Agent Skills */
#define COMPATIBILITY_MAX_CHARS    500     /* Agent Skills */
#define BODY_WARN_TOKENS           5000    /* Metis, T12 */
#define BODY_WARN_LINES            500     /* Agent Skills, A5 */
#define BODY_WARN_CHARS            20000   /* metaSKILL, K7 */
#define PROGRAM_MAX_BYTES          (64u * 1024)          /* metaSKILL, 3 */
#define MCP_KEY_MAX_CHARS          37      /* X21 */

#define FRONTMATTER_MAX_BYTES      (64u * 1024)
#define FRONTMATTER_MAX_DEPTH      16
#define FRONTMATTER_MAX_NODES      10000
#define ANCHOR_MAX_BYTES           (1024u * 1024)        /* SKILL.md, AGENTS.md */
#define MCP_MAX_BYTES              (256u * 1024)
#define MCP_MAX_DEPTH              64
#define CHANGELOG_MAX_BYTES        (1024u * 1024)
#define PROJECT_MAX_BYTES          (1024u * 1024)        /* mapm.yaml, config.yaml */
#define PROJECT_MAX_NODES          100000
#define LOCK_MAX_BYTES             (16u * 1024 * 1024)
#define CLIENT_FILE_MAX_BYTES      (16u * 1024 * 1024)   /* .mcp.json … */
#define CLIENT_FILE_MAX_DEPTH      64
#define ORIGIN_MAX_BYTES           2048

#define PACKAGE_MAX_FILES          5000
#define PACKAGE_MAX_BYTES          (64ull * 1024 * 1024)
#define FILE_MAX_BYTES             (32ull * 1024 * 1024)
#define PACKAGE_MAX_DEPTH          32
#define PACKAGE_PATH_MAX_BYTES     512
#define LISTING_MAX_BYTES          (4u * 1024 * 1024)    /* 5,000 lines of 600 */

#define TRANSFER_MAX_BYTES         (256ull * 1024 * 1024)
#define TRANSFER_MAX_OBJECTS       1000000
#define TRANSFER_MAX_REFS          100000
#define TRANSFER_MAX_SECONDS       600
#define TRANSFER_STALL_SECONDS     30
#define CONNECT_MAX_SECONDS        15

#define GRAPH_MAX_PACKAGES         20000
#define GRAPH_MAX_DEPTH            1000
#define GRAPH_MAX_EDGES            200000
#define ERROR_MAX_LINES            20

#define WORKSPACE_WAIT_SECONDS     60      /* DESIGN.md 7 */
#define STORE_GC_MIN_AGE_SECONDS   3600    /* DESIGN.md 4 */
#define CHECK_MAX_FILES            1000000
/* clang-format on */

#endif
