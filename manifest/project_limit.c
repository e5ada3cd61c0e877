#include "project.h"

/* Each number of limits.h that a configuration may name. */

/* clang-format off */
const struct project_limit project_limits[] = {
    {STR_INIT("name_max_chars"),         NAME_MAX_CHARS},
    {STR_INIT("scope_max_chars"),        SCOPE_MAX_CHARS},
    {STR_INIT("mcp_name_max_chars"),     MCP_NAME_MAX_CHARS},
    {STR_INIT("description_max_chars"),  DESCRIPTION_MAX_CHARS},
    {STR_INIT("compatibility_max_chars"), COMPATIBILITY_MAX_CHARS},
    {STR_INIT("body_warn_tokens"),       BODY_WARN_TOKENS},
    {STR_INIT("body_warn_lines"),        BODY_WARN_LINES},
    {STR_INIT("body_warn_chars"),        BODY_WARN_CHARS},
    {STR_INIT("program_max_bytes"),      PROGRAM_MAX_BYTES},
    {STR_INIT("mcp_key_max_chars"),      MCP_KEY_MAX_CHARS},
    {STR_INIT("frontmatter_max_bytes"),  FRONTMATTER_MAX_BYTES},
    {STR_INIT("frontmatter_max_depth"),  FRONTMATTER_MAX_DEPTH},
    {STR_INIT("frontmatter_max_nodes"),  FRONTMATTER_MAX_NODES},
    {STR_INIT("anchor_max_bytes"),       ANCHOR_MAX_BYTES},
    {STR_INIT("mcp_max_bytes"),          MCP_MAX_BYTES},
    {STR_INIT("mcp_max_depth"),          MCP_MAX_DEPTH},
    {STR_INIT("changelog_max_bytes"),    CHANGELOG_MAX_BYTES},
    {STR_INIT("project_max_bytes"),      PROJECT_MAX_BYTES},
    {STR_INIT("project_max_nodes"),      PROJECT_MAX_NODES},
    {STR_INIT("lock_max_bytes"),         LOCK_MAX_BYTES},
    {STR_INIT("client_file_max_bytes"),  CLIENT_FILE_MAX_BYTES},
    {STR_INIT("client_file_max_depth"),  CLIENT_FILE_MAX_DEPTH},
    {STR_INIT("origin_max_bytes"),       ORIGIN_MAX_BYTES},
    {STR_INIT("package_max_files"),      PACKAGE_MAX_FILES},
    {STR_INIT("package_max_bytes"),      PACKAGE_MAX_BYTES},
    {STR_INIT("file_max_bytes"),         FILE_MAX_BYTES},
    {STR_INIT("package_max_depth"),      PACKAGE_MAX_DEPTH},
    {STR_INIT("package_path_max_bytes"), PACKAGE_PATH_MAX_BYTES},
    {STR_INIT("listing_max_bytes"),      LISTING_MAX_BYTES},
    {STR_INIT("transfer_max_bytes"),     TRANSFER_MAX_BYTES},
    {STR_INIT("transfer_max_objects"),   TRANSFER_MAX_OBJECTS},
    {STR_INIT("transfer_max_refs"),      TRANSFER_MAX_REFS},
    {STR_INIT("transfer_max_seconds"),   TRANSFER_MAX_SECONDS},
    {STR_INIT("transfer_stall_seconds"), TRANSFER_STALL_SECONDS},
    {STR_INIT("connect_max_seconds"),    CONNECT_MAX_SECONDS},
    {STR_INIT("graph_max_packages"),     GRAPH_MAX_PACKAGES},
    {STR_INIT("graph_max_depth"),        GRAPH_MAX_DEPTH},
    {STR_INIT("graph_max_edges"),        GRAPH_MAX_EDGES},
    {STR_INIT("error_max_lines"),        ERROR_MAX_LINES},
    {STR_INIT("workspace_wait_seconds"), WORKSPACE_WAIT_SECONDS},
    {STR_INIT("store_gc_min_age_seconds"), STORE_GC_MIN_AGE_SECONDS},
    {STR_INIT("check_max_files"),        CHECK_MAX_FILES},
    {{0}, 0},
};
/* clang-format on */

_Static_assert(sizeof project_limits / sizeof *project_limits ==
                   PROJECT_LIMIT_COUNT + 1,
               "PROJECT_LIMIT_COUNT counts the table");
