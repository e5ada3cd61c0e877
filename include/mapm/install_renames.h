#ifndef MAPM_INSTALL_RENAMES_H
#define MAPM_INSTALL_RENAMES_H

#include "mapm/install.h"

/* install_renames: what an update learned of names of repositories, written to
 * mapm.yaml [D2]. */

/*
 * Origins that mapm.yaml (and those of members) has by a former name get the
 * one of now, in place, together with mapm.lock. `plan` is closed already.
 * `is_consented` as in struct install_request.
 */
MUST_CHECK bool install_rewrite_origins(struct context *cx,
                                        const struct install_plan *plan,
                                        bool is_consented, struct err *e);

#endif
