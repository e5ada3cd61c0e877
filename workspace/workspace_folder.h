#ifndef WORKSPACE_WORKSPACE_FOLDER_H
#define WORKSPACE_WORKSPACE_FOLDER_H

#include "base/context.h"

/* folder: the files of a workspace, each read after checking its owner. */

struct folder {
    struct context *cx;
    struct str path; /* absolute */
    int fd;
};

/* Reads a file, "" if it does not exist. Allocated in the arena of `cx`.
 * Errors: ERR_REFUSED for a file of another user. */
MUST_CHECK bool folder_read_text(const struct folder *f, const char *name,
                                 size_t max_bytes, struct str *out,
                                 struct err *e);
/* Reads a lock likewise; Errors: also ERR_FORMAT for an empty file. */
MUST_CHECK bool folder_read_lock(const struct folder *f, const char *name,
                                 struct str *out, struct err *e);

#endif
