#ifndef RUNTIME_ENVELOPE_H
#define RUNTIME_ENVELOPE_H

#include "mapm/runtime.h"

#include "trace.h"

/*
 * envelope: serializes the return value of run() as the string that a run
 * returns (K31, K32, K35). Header and trace come from the host; a program
 * cannot forge them.
 */

struct envelope {
    struct str name;
    const struct limits *limits;
    struct trace *trace; /* without its last entry, which is added here */
    unsigned asks, commands;
    uint64_t took_ms;
};

/*
 * From `value`, the JSON of null, a string or an object. Sets text, envelope
 * and status of `out`, in `a`. False with the reason in `e`: ERR_LIMIT when it
 * is too long even without trace and with half an answer, ERR_FORMAT.
 */
MUST_CHECK bool envelope_make(const struct envelope *in, struct str value,
                              struct arena *a, struct runtime_result *out,
                              struct err *e);

/* Returns the data of the entry metaskill_start,
 * {"name":…,"language":"starlark"}. Allocated in `a`. */
struct str envelope_start(struct str name, struct arena *a);

#endif
