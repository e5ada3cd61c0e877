#ifndef WORKSPACE_WORKSPACE_FOLDER_H
#define WORKSPACE_WORKSPACE_FOLDER_H

#include "base/context.h"

/* folder: the files of a workspace, each read after its owner was checked. */

struct folder {
    struct context *cx;
    struct str path; /* absolute */
    int fd;
};

/* "" where there is none. In the arena of `cx`. Errors: ERR_REFUSED for a file
 * of another user. */
MUST_CHECK bool folder_read_text(const struct folder *f, const char *name,
                                 size_t max_bytes, struct str *out,
                                 struct err *e);
/* Likewise; an existing lock has content: ERR_FORMAT for an empty file. */
MUST_CHECK bool folder_read_lock(const struct folder *f, const char *name,
                                 struct str *out, struct err *e);

#endif
