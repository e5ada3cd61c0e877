#ifndef CLI_TRUST_H
#define CLI_TRUST_H

#include "base/json.h"
#include "mapm/authorize.h"
#include "mapm/layer.h"

#include "../command.h"

/*
 * trust: declarations shared in this command.
 *
 *     trust.c            the command, and programs by name
 *     trust_workspace.c  a workspace and what its mapm.yaml allows
 *     trust_list.c       lists and revokes trust
 */

struct trust_job {
    struct invocation *inv;
    struct store *store;
    bool is_json;
};

MUST_CHECK bool trust_workspace(struct trust_job *job, struct err *e);
MUST_CHECK bool trust_list(struct trust_job *job, struct err *e);
MUST_CHECK bool trust_revoke(struct trust_job *job, struct err *e);

/* "kind", "name" and "digest", of an object that is begun. */
void trust_put_json(struct json_writer *w, enum state_trust_kind kind,
                    struct str subject, const struct hash *digest,
                    struct arena *a);

#endif
