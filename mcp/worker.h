#ifndef MCP_WORKER_H
#define MCP_WORKER_H

#include "jobs.h"

/*
 * worker: the other end of a job, in its process. Both ends exchange frames: a
 * length, a kind, a body.
 */

enum frame_kind {
    /* from the process */
    FRAME_PROGRESS, /* two doubles, text */
    FRAME_LOG,      /* a level, JSON */
    FRAME_ASK,      /* used_ms; a JSON array of {key, method, params} */
    FRAME_ONCE,     /* used_ms; description */
    FRAME_NOTED,    /* used_ms; text */
    FRAME_RESULT,   /* members */
    FRAME_ERROR,    /* struct frame_error; data; message */
    /* to it */
    FRAME_ANSWERS, /* a JSON object by keys */
    FRAME_STATE,   /* an enum mcp_once in a byte; text */
    FRAME_KEPT,    /* nothing */
    FRAME_FAILED,  /* an enum err_code in an int32_t; message */
};

struct frame_head {
    uint32_t n, kind;
};
struct frame_error {
    int32_t code;
    uint32_t data_n;
};
struct frame_progress {
    double done, total;
};

/* Runs the task of `c` in the child process. Does not return. */
NORETURN void worker_live(struct job *j, struct mcp_call *c, int fd,
                          pid_t parent);

#endif
