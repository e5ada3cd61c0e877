#ifndef MAPM_TRUST_SHOW_H
#define MAPM_TRUST_SHOW_H

#include "base/context.h"
#include "mapm/state_trust.h"
#include "mapm/store.h"

/*
 * trust_show: what a person is asked to trust, and what has changed since they
 * last did. All text of the package is shown with what is hidden made visible,
 * and indented, so that none of it looks like ours.
 */

struct trust_wish {
    struct str fqn;
    struct hash digest;
    struct str origin, commit, version; /* "" = not known */
};

enum trust_style {
    TRUST_PLAIN,
    TRUST_TITLE,
    TRUST_PLACE,
    TRUST_ADDED,
    TRUST_REMOVED
};
/* Where the lines go: `ctx` is the writer's own. NULL: to the host, as notices
 * of a question. */
struct trust_output {
    void (*line)(void *ctx, enum trust_style style, struct str line);
    void *ctx;
};

/* The program as the store has it. ERR_NOT_FOUND when it has it not; ERR_FAILED
 * when the skill has no program. */
MUST_CHECK bool trust_find_program(struct store *store,
                                   const struct hash *digest, struct arena *a,
                                   struct str *path, struct str *program,
                                   struct err *e);

/* What was trusted of that name before, the newest that is not `digest`. */
MUST_CHECK bool trust_find_earlier(struct store *store, struct str fqn,
                                   const struct hash *digest, bool *found,
                                   struct state_trust *out, struct arena *a,
                                   struct err *e);

/* Name, origin, digest, size of the program (with is_verbose all of it), and
 * the changes. */
MUST_CHECK bool trust_show(struct context *cx, struct store *store,
                           const struct trust_wish *w,
                           const struct trust_output *out, struct err *e);

/* "2026-11-20", and "2026-11-20T17:00:00Z". */
struct str trust_date(int64_t seconds, struct arena *a);
struct str trust_time(int64_t seconds, struct arena *a);

/* "sha256:" and its first 12 digits. */
struct str trust_short_digest(const struct hash *digest, struct arena *a);

#endif
