#ifndef MAPM_INSTALL_RENAMES_H
#define MAPM_INSTALL_RENAMES_H

#include "mapm/install.h"

/* install_renames: writes new names of repositories, which an update detected,
 * to mapm.yaml [D2]. */

/* Replaces former names of repositories in the mapm.yaml of the workspace and
 * its members by the new ones, together with mapm.lock. `plan` must be closed
 * already. `is_consented` as in struct install_request. */
MUST_CHECK bool install_rewrite_origins(struct context *cx,
                                        const struct install_plan *plan,
                                        bool is_consented, struct err *e);

/*
 * Notes the entries of mapm.lock that have a new name. Where mapm.yaml has former
 * ones: writes those of now when it `rewrites`, or after
 * a yes of a person when it `asks`; else notes how to. Not in a dry run. Errors:
 * those of install_rewrite_origins; ERR_INTERRUPTED.
 */
MUST_CHECK bool install_confirm_renames(struct context *cx,
                                        const struct install_plan *plan,
                                        const struct install_request *r,
                                        bool rewrites, bool asks,
                                        struct err *e);

#endif
