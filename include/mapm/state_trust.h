#ifndef MAPM_STATE_TRUST_H
#define MAPM_STATE_TRUST_H

#include "base/hash.h"

/* state_trust: stores the trust decisions of the user on this machine (X27,
 * DESIGN.md 3.1, 8). */

struct state;

/* --- trust (X27, DESIGN.md 3.1, 8): decisions of the user, on this machine ---- */

enum state_trust_kind {
    STATE_TRUST_METASKILL, /* subject: FQN; digest of the package */
    STATE_TRUST_POLICY,    /* subject: workspace; digest of its rules */
    STATE_TRUST_WORKSPACE, /* subject: workspace; digest zero */
    STATE_TRUST_SERVER,    /* subject: workspace; digest of a server's key and
                              package */
    STATE_TRUST_STORE,     /* subject: workspace; digest of the stores that its
                              mapm.yaml proposes */
    /* Subject: "host[:port]" of indexes and their artifacts; digest zero. */
    STATE_TRUST_INDEX,
    STATE_TRUST_KINDS, /* number of kinds of trust */
    /* Not trust, and never listed: a text of prerequisites that the user has
     * seen; subject: "prereqs"; digest of the text. */
    STATE_SEEN_PREREQS = 16,
    STATE_SEEN_PATCH, /* the same for a patch; subject: "patch" */
    STATE_SEEN_HINT   /* the same for an optional offer; subject: "hint" */
};

struct state_trust {
    enum state_trust_kind kind;
    struct str subject;
    struct hash digest;
    int64_t since_s; /* seconds since 1970 */
    /* Identity of the folder of a workspace (a text of the caller), or "". */
    struct str folder;
};

/* Finds trust, which is not a cache and is never reconstructed. Returns false
 * with `e` clear if it is not trusted. `*folder` is allocated in `a`; "" if an
 * older version recorded the trust. */
bool state_find_trust(struct state *s, enum state_trust_kind kind,
                      struct str subject, const struct hash *digest,
                      struct arena *a, struct str *folder, struct err *e);
/* Records trust; a later call replaces the folder. */
MUST_CHECK bool state_put_trust(struct state *s, enum state_trust_kind kind,
                                struct str subject, const struct hash *digest,
                                struct str folder, struct err *e);
/* Removes all digests of the subject and sets `*count` to their number. Changes
 * by these two functions are durable on return. */
MUST_CHECK bool state_forget_trust(struct state *s, enum state_trust_kind kind,
                                   struct str subject, size_t *count,
                                   struct err *e);
/* Lists trust, sorted by kind and subject, newest first. Allocated in `a`. */
MUST_CHECK bool state_list_trust(struct state *s, struct arena *a,
                                 struct state_trust **out, size_t *count,
                                 struct err *e);

#endif
