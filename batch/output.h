#ifndef BATCH_OUTPUT_H
#define BATCH_OUTPUT_H

#include "base/buf.h"
#include "base/err.h"

#include "batch_record.h"

/*
 * output: one line per input.
 *
 *     {"id":…,"shard":…,"end":"completed","tape":…,   and the envelope's members}
 *     {"id":…,"shard":…,"end":"failed","status":"error","error":"error: …"}
 *
 * `id`, `shard`, `end` and `tape` are set by mapm: members of an envelope with
 * one of these names are omitted.
 */

#define BATCH_OUT_MAX_BYTES (BATCH_RECORD_MAX_BYTES - 4096)

struct batch_result {
    struct str id;
    unsigned shard;
    enum batch_end how;
    struct str tape;     /* path of the tape, or "" */
    struct str envelope; /* JSON, for BATCH_COMPLETED */
    struct str error;    /* "error: …", for the others */
};

/* Appends the line of a result. Errors: ERR_LIMIT. */
MUST_CHECK bool batch_put_result(struct buf *out, const struct batch_result *r,
                                 struct err *e);

/* Parses a line of the output strictly. The result borrows from `a` and
 * `line`. */
MUST_CHECK bool batch_read_result(struct str line, struct arena *a,
                                  struct batch_result *out, struct err *e);

struct batch_output {
    int fd;
    bool is_ours;     /* `fd` was opened by batch_output_open() for a file */
    const char *path; /* for messages */
    struct buf lines; /* lines not yet written */
};

/* Opens the output: standard output if `path` is NULL, else a file, which is
 * truncated. */
MUST_CHECK bool batch_output_open(struct batch_output *o, const char *path,
                                  struct err *e);
MUST_CHECK bool batch_output_line(struct batch_output *o, struct str line,
                                  struct err *e);
MUST_CHECK bool batch_output_flush(struct batch_output *o, struct err *e);
/* Flushes the output and syncs it to disk. */
MUST_CHECK bool batch_output_end(struct batch_output *o, struct err *e);
void batch_output_close(struct batch_output *o);

#endif
