#include "mapm/authorize.h"

#include "show.h"

/* Decides whether the program of a metaskill may run (X27, row 21). */

static const char *const policies[] = {"off", "local", "trusted", "all"};

static enum metaskill_policy policy_find(struct str word,
                                         enum metaskill_policy other)
{
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        if (str_is(word, policies[i]))
            return (enum metaskill_policy)i;
    return other;
}

const char *authorize_policy_name(enum metaskill_policy p)
{
    return policies[p];
}

enum metaskill_policy authorize_policy(const struct project *user,
                                       const struct project *workspace)
{
    enum metaskill_policy own =
        policy_find(user->metaskills, METASKILLS_TRUSTED);
    enum metaskill_policy lower =
        policy_find(workspace->metaskills, METASKILLS_ALL);

    return lower < own ? lower : own;
}

/* --- a fetched one ----------------------------------------------------------------- */

static bool ask(struct context *cx, struct store *store,
                const struct trust_request *q, struct err *e)
{
    const char *question =
        arena_printf(&cx->arena,
                     "Trust this version of %.*s to run on this machine, now "
                     "and later?",
                     STR_ARG(q->subject))
            .p;
    bool yes = false;

    if (!authorize_show(cx, store, q, NULL, e))
        return false;
    if (!cx->is_verbose)
        context_note(cx, "mapm trust --verbose %.*s shows all of it",
                     STR_ARG(q->subject));
    if (!context_confirm(cx, QUESTION_TRUST, question, &yes, e))
        return false;
    if (yes)
        return authorize_put(cx, store, q, e);
    return err_set(e, ERR_REFUSED, "%.*s was not trusted: it did not run",
                   STR_ARG(q->subject));
}

static bool refuse_untrusted(struct context *cx, struct store *store,
                             const struct trust_request *q, struct err *e)
{
    struct state_trust earlier;
    bool changed;

    if (!show_find_earlier(store, q, &changed, &earlier, &cx->arena, e))
        return false;
    err_set(e, ERR_REFUSED,
            changed ? "%.*s has changed since it was trusted on this machine"
                    : "%.*s came by install and is not trusted on this machine",
            STR_ARG(q->subject));
    return err_hint(e, "mapm trust %.*s shows %s, and asks",
                    STR_ARG(q->subject),
                    changed ? "what changed" : "its program");
}

static bool check_fetched(struct context *cx, struct store *store,
                          enum metaskill_policy policy, const struct program *p,
                          struct err *e)
{
    struct trust_request q;
    enum trust_state state;

    if (policy == METASKILLS_LOCAL) {
        err_set(e, ERR_REFUSED, "%.*s is not of this workspace",
                STR_ARG(p->name));
        return err_hint(e, "runtime.metaskills is local: see mapm.yaml(5)");
    }
    if (!authorize_request_entry(store, p->entry, &q, e))
        return false;
    if (!authorize_trust(cx, store, &q, &state, e))
        return err_wrap(e, "cannot determine whether %.*s is trusted",
                        STR_ARG(q.subject));
    if (state == TRUST_GIVEN)
        return true;
    return context_can_ask(cx) ? ask(cx, store, &q, e)
                               : refuse_untrusted(cx, store, &q, e);
}

/* --- one of the workspace ------------------------------------------------------------ */

static bool check_workspace(struct context *cx, struct store *store,
                            struct str path, struct err *e)
{
    const struct trust_request q = {.kind = STATE_TRUST_WORKSPACE,
                                    .subject = path};
    enum trust_state state;

    if (!authorize_trust(cx, store, &q, &state, e))
        return err_wrap(e,
                        "cannot determine whether this workspace is trusted");
    if (state == TRUST_GIVEN)
        return true;
    if (!authorize_folder(cx, path, e))
        return err_wrap(e, "this workspace is not trusted on this machine");
    err_set(e, ERR_REFUSED, "this workspace is not trusted on this machine%s%s",
            *authorize_reason(state) ? ": " : "", authorize_reason(state));
    return err_hint(e,
                    "mapm trust --workspace, in %.*s, lets agents run its "
                    "metaskills",
                    STR_ARG(path));
}

bool authorize_program(struct context *cx, struct store *store,
                       enum metaskill_policy policy, const struct program *p,
                       bool for_model, struct err *e)
{
    if (policy == METASKILLS_OFF) {
        err_set(e, ERR_REFUSED, "metaskills are disabled here");
        return err_hint(e, "set by runtime.metaskills: see mapm.yaml(5)");
    }
    if (policy == METASKILLS_ALL)
        return true;
    if (p->is_external)
        return check_fetched(cx, store, policy, p, e);
    return !for_model || p->is_global ||
           check_workspace(cx, store, p->workspace, e);
}
