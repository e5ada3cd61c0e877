#include "mapm/run_setup.h"
#include "mapm/trusted.h"

#include <stdlib.h>

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

bool run_check_allowed(struct context *cx, struct store *store,
                       const struct layer *l, const struct run_skill *found,
                       struct err *e)
{
    enum run_policy policy = run_policy_of(l);

    if (policy == RUN_OFF) {
        err_set(e, ERR_REFUSED, "metaskills are switched off here");
        return err_hint(e, "runtime.metaskills says so: see mapm.yaml(5)");
    }
    if (!found->is_external || policy == RUN_ALL)
        return true;
    if (policy == RUN_LOCAL) {
        err_set(e, ERR_REFUSED, "%.*s is not of this workspace",
                STR_ARG(found->fqn));
        return err_hint(e, "runtime.metaskills is local: see mapm.yaml(5)");
    }
    return trusted_check(cx, store, found->entry, e);
}

struct asker_wishes run_wishes(struct context *cx, struct str option,
                               const struct layer *l)
{
    return (struct asker_wishes){
        .option = option,
        .environment = str_from(getenv("MAPM_ASK")),
        .user = &l->user,
        .workspace = &l->project,
        .user_name = "config.yaml",
        .workspace_name = "mapm.yaml",
        .dir = l->path,
        .offline = cx->is_offline,
    };
}

enum run_keep run_keep_of(const struct layer *l)
{
    enum run_keep user = run_keep_find(l->user.keep);
    enum run_keep workspace =
        l->project.keep.n ? run_keep_find(l->project.keep) : user;

    return workspace < user ? workspace : user;
}
