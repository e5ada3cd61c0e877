#include "base/env.h"
#include "mapm/authorize.h"

/* Selects the team stores to use: those in the user's configuration, and those
 * that mapm.yaml proposes if the user has accepted them. */

#define VARIABLE "MAPM_STORE"

static bool add_environment(struct context *cx, struct team_remotes *list,
                            struct err *e)
{
    struct team_remotes named;

    return (team_remotes_parse(env_get(VARIABLE), TEAM_FROM_ENVIRONMENT,
                               &cx->arena, &named, e) &&
            team_remotes_add(list, named.items, named.count, &cx->arena, e)) ||
           err_wrap(e, "cannot use " VARIABLE);
}

bool authorize_check_stores(struct context *cx, struct err *e)
{
    struct team_remotes ignored = {0};

    return add_environment(cx, &ignored, e);
}

/* Adds the proposed stores if accepted. The list is accepted as a whole, so a
 * changed list must be accepted again. */
static bool add_proposed(struct context *cx, struct store *store,
                         struct str path, const struct project *workspace,
                         struct team_remotes *list, struct err *e)
{
    struct trust_request q = {.kind = STATE_TRUST_STORE, .subject = path};
    enum trust_state state;

    if (!project_store_digest(workspace, &q.digest))
        return true;
    if (!authorize_trust(cx, store, &q, &state, e))
        return false;
    if (state != TRUST_GIVEN) {
        context_note(cx,
                     "mapm.yaml names stores that are not accepted on this "
                     "machine%s%s: mapm trust --workspace shows them",
                     *authorize_reason(state) ? ", as " : "",
                     authorize_reason(state));
        return true;
    }
    list->only |= workspace->store.only;
    return team_remotes_add(list, workspace->store.items,
                            workspace->store.count, &cx->arena, e);
}

bool authorize_stores(struct context *cx, struct store *store, struct str path,
                      const struct project *user,
                      const struct project *workspace, struct team_remotes *out,
                      struct err *e)
{
    struct team_remotes list = {.only = user->store.only};

    if (!add_environment(cx, &list, e) ||
        !team_remotes_add(&list, user->store.items, user->store.count,
                          &cx->arena, e) ||
        !add_proposed(cx, store, path, workspace, &list, e))
        return false;
    *out = list;
    return true;
}
