#include "mapm/install_renames.h"

/* A plan like any other, of manifests with the new names: mapm.yaml and
 * mapm.lock change in one swap. */

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
