#ifndef RUNTIME_TAPE_H
#define RUNTIME_TAPE_H

#include "base/diff.h"
#include "base/json.h"
#include "mapm/limits.h"

/*
 * tape: shared by the files about tapes: values as comparable text.
 *
 *     JSON --> tape_value() --> lines: equal values have equal ones
 *     two texts --> tape_difference() --> a readable difference
 */

#define TAPE_VERSION              1
#define TAPE_MAX_DEPTH            (2 * INPUT_MAX_DEPTH)
#define TAPE_DIFFERENCE_MAX_BYTES (64 * 1024)

/* The limits that affect the result of a run, which a tape contains. */
extern const char *const tape_limits[];
extern const size_t tape_limit_count;

enum tape_part {
    TAPE_ANY,
    TAPE_ENVELOPE,          /* without the durations that the host measured */
    TAPE_ENVELOPE_NO_TRACE, /* also without the trace */
};

/*
 * Returns JSON in canonical form: keys sorted, numbers by value, indented by
 * two spaces, strings with line ends over several lines. Other text is returned
 * unchanged. Allocated in `a`.
 */
struct str tape_value(struct str json, enum tape_part part, struct arena *a);

/* Returns the error without the source of its limit, " (run_max_asks,
 * x.yaml:3)", which differs between machines. Allocated in `a`. */
struct str tape_error(struct str text, struct arena *a);

/* Returns the differing lines below "--- " and "+++ " with these names. Very
 * long lines are shown around the difference. Allocated in `a`. */
struct str tape_difference(struct str headline, struct str before_name,
                           struct str before, struct str after_name,
                           struct str after, struct arena *a);

#endif
