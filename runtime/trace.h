#ifndef RUNTIME_TRACE_H
#define RUNTIME_TRACE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "mapm/limits.h"

/*
 * The events of a run, as the text of a JSON array without its brackets,
 * bounded in number and size (K28).
 */

struct trace {
    const struct limits *limits;
    struct buf entries; /* {"kind":…,"data":…},… on one line */
    unsigned count;     /* number of the program's own events */
};

void trace_init(struct trace *t, const struct limits *limits);
void trace_done(struct trace *t);

/* Adds an event of the host, which is not counted. `data` is JSON. */
void trace_note(struct trace *t, const char *kind, struct str data);

/* Adds an event of the program; `data` is NULL or an object. Returns false at
 * the limit. `*text`, allocated in `a`, is the stored form, "" if empty. */
bool trace_add(struct trace *t, struct str kind, const struct json *data,
               struct arena *a, struct str *text);

#endif
