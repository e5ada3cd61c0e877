#ifndef MAPM_STATE_TRUST_H
#define MAPM_STATE_TRUST_H

#include "base/hash.h"

/* state_trust: decisions of the user about trust, on this machine (X27,
 * DESIGN.md 3.1, 8). */

struct state;

/* --- trust (X27, DESIGN.md 3.1, 8): decisions of the user, on this machine ---- */

enum state_trust_kind {
    STATE_TRUST_METASKILL, /* subject: FQN; digest: of the package */
    STATE_TRUST_POLICY,    /* subject: workspace; digest: of its rules */
    STATE_TRUST_WORKSPACE, /* subject: workspace; digest: none (zeros) */
    STATE_TRUST_SERVER,    /* subject: workspace; digest: of a server's key and
                            * package */
    STATE_TRUST_STORE,     /* subject: workspace; digest: of the stores that
                            * its mapm.yaml proposes */
    STATE_TRUST_INDEX, /* subject: "host[:port]" that skills of an index, and
                            * their artifacts, may come from; digest: none */
    STATE_TRUST_KINDS, /* so many */
    /* No trust, and never listed: a text of prereqs that a person has seen;
     * subject: "prereqs"; digest: of the text. */
    STATE_SEEN_PREREQS = 16,
    STATE_SEEN_PATCH, /* likewise, of a patch; subject: "patch" */
    STATE_SEEN_HINT   /* likewise, of an optional offer; subject: "hint" */
};

struct state_trust {
    enum state_trust_kind kind;
    struct str subject;
    struct hash digest;
    int64_t since_s; /* seconds since 1970 */
    /* identity of the folder of a workspace (the caller's own text); "" = none */
    struct str folder;
};

/* Not a cache: never rebuilt, never guessed. False, with `e` clear, when it is
 * not trusted. `*folder` in `a`; "" when an older version trusted it. */
bool state_find_trust(struct state *s, enum state_trust_kind kind,
                      struct str subject, const struct hash *digest,
                      struct arena *a, struct str *folder, struct err *e);
/* Once more with another folder: from then on it is that one. */
MUST_CHECK bool state_put_trust(struct state *s, enum state_trust_kind kind,
                                struct str subject, const struct hash *digest,
                                struct str folder, struct err *e);
/* All digests of the subject; `*count` is their number. Changes are durable
 * when these two return. */
MUST_CHECK bool state_forget_trust(struct state *s, enum state_trust_kind kind,
                                   struct str subject, size_t *count,
                                   struct err *e);
/* By kind, subject, newest first. In `a`. */
MUST_CHECK bool state_list_trust(struct state *s, struct arena *a,
                                 struct state_trust **out, size_t *count,
                                 struct err *e);

#endif
