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
