#ifndef SERVE_RETENTION_H
#define SERVE_RETENTION_H

#include "mapm/mcp.h"

#include <stddef.h>
#include <stdint.h>

/*
 * mcp_kept: how much the folder of the journal (mcp_journal.c) may hold. A file
 * says by its first line until when it is kept, and by an empty last line that
 * its call has ended: then it is there for late retries alone.
 *
 *     expired           --> goes
 *     ended             --> goes where it takes the room of one that waits
 *     held by a process --> stays, whatever it says
 *
 * Source: REQUIREMENTS K19; THREATS row 23.
 */

#define KEPT_MAX_FILES      1000
#define KEPT_MAX_BYTES      (256u * 1024 * 1024)
#define KEPT_FILE_MAX_BYTES (8 * (uint64_t)MCP_RECORDS_MAX_BYTES)
#define KEPT_SUFFIX         ".jsonl"
#define KEPT_DRAFT_SUFFIX   ".draft" /* as long: not yet one */

struct kept {
    size_t files;
    uint64_t bytes;
};

/* What there is, after what has expired went, and the oldest of what has ended
 * until there is room for so many more. */
struct kept kept_look(int dirfd, size_t more_files, uint64_t more_bytes);

#endif
