#include "mapm/install_renames.h"

/* Plans with the renamed manifests, so that mapm.yaml and mapm.lock change in
 * one swap. */

bool install_rewrite_origins(struct context *cx,
                             const struct install_plan *plan, bool is_consented,
                             struct err *e)
{
    const struct install_request request = {.command = INSTALL_INSTALL,
                                            .renames = plan->renames,
                                            .rename_count = plan->rename_count,
                                            .is_consented = is_consented};
    struct install_result ignored;
    struct install_plan *anew;
    bool ok;

    if (!install_plan(cx, &request, &anew, e))
        return false;
    ok = install_apply(anew, &ignored, e);
    install_close(anew);
    return ok;
}

static struct str join_renames(const struct install_plan *plan, bool is_new,
                               struct arena *a)
{
    struct str out = STR("");

    for (size_t i = 0; i < plan->rename_count; i++) {
        struct str from = plan->renames[i].from;

        /* Without its host, as the one of now. */
        out = arena_join(
            out, ", ",
            is_new ? plan->renames[i].to
                   : str_from_index(from, str_find_char(from, '/') + 1),
            a);
    }
    return out;
}

bool install_confirm_renames(struct context *cx,
                             const struct install_plan *plan,
                             const struct install_request *r, bool rewrites,
                             bool asks, struct err *e)
{
    struct arena *a = &cx->arena;
    bool yes = rewrites && !r->dry_run;
    struct str from, to;

    if (plan->settled_count && !yes)
        context_note(cx,
                     "mapm.lock %s %zu package%s by the new name of %s "
                     "repository, and the former one as formerly",
                     r->dry_run ? "would have" : "has", plan->settled_count,
                     plan->settled_count > 1 ? "s" : "",
                     plan->settled_count > 1 ? "their" : "its");
    if (plan->rename_count == 0)
        return true;
    from = join_renames(plan, false, a);
    to = join_renames(plan, true, a);
    if (!yes && !r->dry_run && asks &&
        !context_confirm(cx, QUESTION_CONSENT,
                         arena_printf(a,
                                      "mapm.yaml has %.*s, which is %.*s now: "
                                      "write that instead?",
                                      STR_ARG(from), STR_ARG(to))
                             .p,
                         &yes, e))
        return false;
    if (yes)
        return install_rewrite_origins(cx, plan, r->is_consented, e) &&
               (context_note(cx, "mapm.yaml has %.*s instead of %.*s now",
                             STR_ARG(to), STR_ARG(from)),
                true);
    context_note(cx,
                 "mapm.yaml has %.*s by a former name: mapm update "
                 "--rewrite-origins writes the one of now",
                 STR_ARG(to));
    return true;
}
