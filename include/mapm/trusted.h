#ifndef MAPM_TRUSTED_H
#define MAPM_TRUSTED_H

#include "mapm/authorize.h"
#include "mapm/layer.h"
#include "mapm/state_trust.h"

/*
 * trusted: trust by the names that people use, for mapm trust and libmapm.
 * What a kind of trust is bound to, and whether it holds, says authorize.
 */

/*
 * The request of the metaskill `name`, as mapm run finds it: in `l`, then in the
 * user's library; and whether it is trusted already.
 *
 * Errors: those of layer_resolve_name; ERR_FAILED for a package that is no
 * metaskill or runs without trust; what the store lacks.
 */
MUST_CHECK bool trusted_request(struct context *cx, struct store *store,
                                const struct layer *l, struct str name,
                                struct trust_request *out,
                                enum trust_state *state, struct err *e);

struct trusted {
    struct state_trust trust;
    const struct trust_kind *kind;
    bool is_valid;        /* of a folder: it is the one at that path now */
    struct str workspace; /* the first that has the package; "" = none has */
    struct str server;    /* of consent to one: its name; "" = no lock has it */
};

/* --- a workspace ------------------------------------------------------------- */

/* What trust in a workspace includes: the rules of its mapm.yaml that need
 * consent, in order of their kind, and last the workspace itself. */
struct trusted_workspace {
    struct trust_request items[STATE_TRUST_KINDS];
    enum trust_state states[STATE_TRUST_KINDS];
    size_t count;
    bool is_known; /* all are trusted already */
};

/* Errors: no workspace is there; ERR_REFUSED if it belongs to another user. */
MUST_CHECK bool trusted_workspace_read(struct context *cx, struct store *store,
                                       const struct layer *l,
                                       struct trusted_workspace *out,
                                       struct err *e);
/* Records the requests that are not trusted yet. */
MUST_CHECK bool trusted_workspace_put(struct context *cx, struct store *store,
                                      const struct trusted_workspace *w,
                                      struct err *e);

/* A workspace in the home folder offers skills that any program put there. */
bool trusted_workspace_is_home(struct context *cx, const struct layer *l);

struct trusted_metaskill {
    struct str name, path; /* relative to the workspace */
    struct str target;     /* of the link at `path`; "" for a folder */
};

/* Lists the metaskills that trust in the workspace offers to clients: those
 * that were not fetched. In cx->arena. */
MUST_CHECK bool trusted_workspace_metaskills(struct context *cx,
                                             const struct layer *l,
                                             struct trusted_metaskill **out,
                                             size_t *count, struct err *e);

/* --- the list ---------------------------------------------------------------- */

/* All that is trusted on this machine. In cx->arena. */
MUST_CHECK bool trusted_list(struct context *cx, struct store *store,
                             struct trusted **out, size_t *count,
                             struct err *e);

/* By its qualified name, else by a short one that only one subject has. Errors:
 * ERR_NOT_FOUND with near names; ERR_USAGE for several. */
MUST_CHECK bool trusted_find(const struct state_trust *list, size_t count,
                             struct str name, const struct state_trust **out,
                             struct err *e);

#endif
