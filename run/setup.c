#include "mapm/run_setup.h"
#include "mapm/trusted.h"

static const char *const policies[] = {"off", "local", "trusted", "all"};

static enum run_policy policy_find(struct str word, enum run_policy other)
{
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        if (str_is(word, policies[i]))
            return (enum run_policy)i;
    return other;
}

const char *run_policy_name(enum run_policy p)
{
    return policies[p];
}

enum run_policy run_policy_of(const struct layer *l)
{
    enum run_policy user = policy_find(l->user.metaskills, RUN_TRUSTED);
    enum run_policy workspace = policy_find(l->project.metaskills, RUN_ALL);

    return workspace < user ? workspace : user;
}

static bool check_fetched(struct context *cx, struct store *store,
                          enum run_policy policy, const struct run_skill *found,
                          struct err *e)
{
    if (policy == RUN_TRUSTED)
        return trusted_check(cx, store, found->entry, e);
    err_set(e, ERR_REFUSED, "%.*s is not of this workspace",
            STR_ARG(found->fqn));
    return err_hint(e, "runtime.metaskills is local: see mapm.yaml(5)");
}

static bool check_workspace(struct context *cx, struct store *store,
                            const struct layer *l, struct err *e)
{
    enum folder_trust state;

    if (layer_is_trusted(l, cx, store, &state, e))
        return true;
    if (e->code != ERR_NONE)
        return err_wrap(e, "cannot tell whether this workspace is trusted");
    if (!layer_check_own(l, cx, e))
        return err_wrap(e, "this workspace is not trusted on this machine");
    err_set(e, ERR_REFUSED, "this workspace is not trusted on this machine%s%s",
            *folder_trust_reason(state) ? ": " : "",
            folder_trust_reason(state));
    return err_hint(e,
                    "mapm trust --workspace, in %.*s, lets agents run its "
                    "metaskills",
                    STR_ARG(l->path));
}

bool run_check_allowed(struct context *cx, struct store *store,
                       const struct layer *l, const struct run_skill *found,
                       bool for_model, struct err *e)
{
    enum run_policy policy = run_policy_of(l);

    if (policy == RUN_OFF) {
        err_set(e, ERR_REFUSED, "metaskills are switched off here");
        return err_hint(e, "runtime.metaskills says so: see mapm.yaml(5)");
    }
    if (policy == RUN_ALL)
        return true;
    if (found->is_external)
        return check_fetched(cx, store, policy, found, e);
    return !for_model || found->is_global || check_workspace(cx, store, l, e);
}

enum run_keep run_keep_of(const struct layer *l)
{
    enum run_keep user = run_keep_find(l->user.keep);
    enum run_keep workspace =
        l->project.keep.n ? run_keep_find(l->project.keep) : user;

    return workspace < user ? workspace : user;
}
