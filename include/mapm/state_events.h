#ifndef MAPM_STATE_EVENTS_H
#define MAPM_STATE_EVENTS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* state_events: stores the events of the library (T23 to T25). */

struct state;

#define STATE_ID_CHARS 26 /* a ULID: sorts as text by creation time */

/* Makes a new id. Ids ascend within a process, even if the clock goes back. */
void state_make_id(struct state *s, char out[STATE_ID_CHARS + 1]);

struct state_event {
    struct str id;        /* a ULID; "" for a new one */
    int64_t timestamp_us; /* microseconds since 1970, UTC; 0: now */
    struct str session_id;
    struct str turn_id, parent_event_id; /* "" if none */
    struct str type;                     /* "skill.loaded", or any other type */
    struct str actor;                    /* user, agent, system, tool, worker */
    struct str sensitivity; /* private, user_controlled, pseudonymous,
                               aggregatable */
    struct str payload;     /* JSON object: no bodies, no prompts */
    int64_t row;            /* position in the order of writing */
};

/* Stores an event. Events beyond EVENTS_MAX are deleted, several at a time,
 * the oldest first.
 * Errors: ERR_LIMIT for a payload larger than EVENT_MAX_BYTES; ERR_FORMAT for
 * an invalid actor or sensitivity. */
MUST_CHECK bool state_put_event(struct state *s, const struct state_event *v,
                                struct err *e);

struct state_event_query {
    struct str type, session_id; /* "" for all */
    int64_t since_us;            /* 0 for all */
    bool follow;                 /* events after `after`, instead of the
                                    newest */
    int64_t after;               /* row of the last known event */
    size_t max;
};
/* Lists events in the order of writing: the newest `max`, or with `follow` the
 * first `max` after `after`. Allocated in `a`. */
MUST_CHECK bool state_list_events(struct state *s,
                                  const struct state_event_query *query,
                                  struct arena *a, struct state_event **out,
                                  size_t *count, struct err *e);

#endif
