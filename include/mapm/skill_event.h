#ifndef MAPM_SKILL_EVENT_H
#define MAPM_SKILL_EVENT_H

#include "mapm/library.h"
#include "mapm/store.h"

/* skill_event: skill.loaded, once for each body that was given (T23). */

enum skill_loaded {
    SKILL_LOADED_ALWAYS,    /* preloaded */
    SKILL_LOADED_ON_DEMAND, /* by name */
    SKILL_LOADED_SUGGESTED, /* found by its description */
};

/* `tool_use_id` "" = no tool call asked for it. The body is not in it. */
MUST_CHECK bool skill_event_put(struct store *store, struct str session_id,
                                const struct library_loaded *loaded,
                                enum skill_loaded reason,
                                struct str tool_use_id, struct err *e);

#endif
