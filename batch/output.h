#ifndef BATCH_OUTPUT_H
#define BATCH_OUTPUT_H

#include "base/buf.h"
#include "base/err.h"

#include "batch_record.h"

/*
 * output: one line an input.
 *
 *     {"id":…,"shard":…,"end":"completed","tape":…,   and the envelope's members}
 *     {"id":…,"shard":…,"end":"failed","status":"error","error":"error: …"}
 *
 * `id`, `shard`, `end` and `tape` are the host's: a member of an envelope that
 * has one of these names is left out.
 */

#define BATCH_OUT_MAX_BYTES (BATCH_RECORD_MAX_BYTES - 4096)

struct batch_result {
    struct str id;
    unsigned shard;
    enum batch_end how;
    struct str tape;     /* "" = none */
    struct str envelope; /* COMPLETED: JSON */
    struct str error;    /* else: "error: …" */
};

/* ERR_LIMIT. */
MUST_CHECK bool batch_put_result(struct buf *out, const struct batch_result *r,
                                 struct err *e);

/* What a line says of itself; strict. Borrows from `a` and `line`. */
MUST_CHECK bool batch_read_result(struct str line, struct arena *a,
                                  struct batch_result *out, struct err *e);

struct batch_output {
    int fd;
    bool is_ours;     /* it was opened here */
    const char *path; /* for messages */
    struct buf lines; /* not written yet */
};

/* `path` NULL: standard output. A file is emptied. */
MUST_CHECK bool batch_output_open(struct batch_output *o, const char *path,
                                  struct err *e);
MUST_CHECK bool batch_output_line(struct batch_output *o, struct str line,
                                  struct err *e);
MUST_CHECK bool batch_output_flush(struct batch_output *o, struct err *e);
/* What was flushed is on the disk when it returns true. */
MUST_CHECK bool batch_output_end(struct batch_output *o, struct err *e);
void batch_output_close(struct batch_output *o);

#endif
