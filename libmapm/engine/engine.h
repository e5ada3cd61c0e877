#ifndef LIBMAPM_ENGINE_H
#define LIBMAPM_ENGINE_H

#include "base/context.h"
#include "mapm/store.h"

#include "../engine_wire.h"

/* engine: mapm-engine, the process that performs one operation of mapm.h. Its
 * host (base/context.h) is the process of the library. */

struct engine {
    struct context cx;
    struct host host;
    bool can_choose;
    int fd, lifeline;
    struct store *store; /* NULL until engine_store() */
};

/* Makes the process of the library the host of g->cx. */
void engine_host(struct engine *g, const struct wire_options *o);

/* Sends a message to the library. Errors: ERR_IO if its process has ended. */
MUST_CHECK bool engine_send(struct engine *g, enum wire_kind kind,
                            enum wire_type type, const void *records,
                            size_t count, struct err *e);

/* Waits for a reply. Errors: ERR_INTERRUPTED by mapm_cancel() or the end of the
 * library's process; ERR_FAILED after `deadline_ms` (proc_now_ms; 0: none). */
MUST_CHECK bool engine_wait(struct engine *g, uint64_t deadline_ms,
                            struct wire_answer *out, struct err *e);

/* Opens g->store unless it is open; it is closed at the end. */
MUST_CHECK bool engine_store(struct engine *g, struct err *e);

/* Returns a copy terminated by NUL, allocated in the arena of the context. */
const char *engine_text(struct engine *g, struct str s);
/* Returns "" for NULL. */
struct str engine_str(const char *text);

/* --- operations ---------------------------------------------------------------- */

typedef bool engine_call(struct engine *g, const struct wire_call *c,
                         struct err *e);
engine_call engine_list, engine_verify, engine_lint, engine_skills,
    engine_search, engine_match, engine_load, engine_read_resource,
    engine_list_trust, engine_trust, engine_revoke_trust;

MUST_CHECK bool engine_change(struct engine *g,
                              const struct mapm_change_request *r,
                              struct err *e);
MUST_CHECK bool engine_run(struct engine *g, const struct wire_run_request *r,
                           struct err *e);

#endif
