#ifndef SERVE_RETENTION_H
#define SERVE_RETENTION_H

#include "mapm/mcp.h"

#include <stddef.h>
#include <stdint.h>

/*
 * retention: limits of the folder of the journal (journal.c). The first line
 * of a file is its expiry; an empty last line marks the end of its call, after
 * which the file serves late retries only.
 *
 *     expired          --> deleted
 *     ended            --> deleted when a waiting call needs the space
 *     held by a process --> kept in any case
 *
 * Source: REQUIREMENTS K19; THREATS row 23.
 */

#define KEPT_MAX_FILES      1000
#define KEPT_MAX_BYTES      (256u * 1024 * 1024)
#define KEPT_FILE_MAX_BYTES (8 * (uint64_t)MCP_RECORDS_MAX_BYTES)
#define KEPT_SUFFIX         ".jsonl"
/* Suffix of incomplete files, of the same length. */
#define KEPT_DRAFT_SUFFIX ".draft"

struct kept {
    size_t files;
    uint64_t bytes;
};

/* Deletes expired files, then the oldest ended ones until there is space for
 * the given number and size. Returns what remains. */
struct kept kept_scan(int dirfd, size_t more_files, uint64_t more_bytes);

#endif
