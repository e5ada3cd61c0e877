#ifndef PROVISION_STAGES_H
#define PROVISION_STAGES_H

#include "base/fs.h"
#include "base/map.h"

#include "swap.h"

/*
 * stages: the folders in which the nodes of a swap are staged. The first one is
 * .agents/.mapm/stage-<16 hex>. A rename cannot lead to another mount, so a
 * place on another one has a stage of its own there [H8]:
 *
 *     <folder>/.mapm-stage-<16 hex>     one for each mount
 *
 * Before one is made, a journal that names it is on the disk, without operations
 * as yet; and the journal goes after it. So the next command removes those of a
 * process that was killed.
 */

/* Chooses stages while a swap is prepared. */
struct stages {
    struct swap *swap;
    struct arena *arena;
    struct map by_folder; /* folder of an operation -> struct swap_stage */
    struct fs_mount mounts[SWAP_MAX_STAGES];
};

/* `s` has its first stage, its root and its scope. `st` borrows both. */
void stages_init(struct stages *st, struct swap *s, struct arena *a);

/*
 * The stage for the operation on `path`, which is made when it is the first one
 * on its mount. Errors: ERR_IO where no folder can be made there; ERR_LIMIT
 * past SWAP_MAX_STAGES.
 */
MUST_CHECK bool stages_find(struct stages *st, struct str path,
                            struct swap_stage **out, struct err *e);

/* Whether the folder `fd` got the mode 0755 that was asked for: neither a umask
 * nor an ACL changed it. */
bool stages_has_exact_modes(int fd);

/* Opens the stages of a journal but for the first; one that is gone stays -1. */
void stages_open(struct swap *s);
/* Closes all but the first. */
void stages_close(struct swap *s);
/* Removes all but the first, as far as that is possible. */
void stages_remove(struct swap *s);

#endif
