#ifndef MAPM_SKILL_EVENT_H
#define MAPM_SKILL_EVENT_H

#include "mapm/library.h"
#include "mapm/store.h"

/* skill_event: the event skill.loaded, recorded once for each body that
 * was returned (T23). */

enum skill_loaded {
    SKILL_LOADED_ALWAYS,    /* preloaded */
    SKILL_LOADED_ON_DEMAND, /* requested by name */
    SKILL_LOADED_SUGGESTED, /* found by its description */
};

/* Records the event. `tool_use_id` is "" without a tool call. The body
 * is not recorded. */
MUST_CHECK bool skill_event_put(struct store *store, struct str session_id,
                                const struct library_loaded *loaded,
                                enum skill_loaded reason,
                                struct str tool_use_id, struct err *e);

#endif
