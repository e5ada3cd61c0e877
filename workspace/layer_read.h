#ifndef WORKSPACE_LAYER_READ_H
#define WORKSPACE_LAYER_READ_H

#include "mapm/layer.h"

/*
 * layer_read: what reading one layer and reading those of members share.
 *
 *     layer.c      one layer: its files, its maps, questions about it
 *     members.c    which folders are members
 *     layers.c     the layers of a workspace with members
 */

/* Errors: ERR_REFUSED if there is a mapm.yaml that must not be used. */
bool layer_holds_project(struct context *cx, struct str folder, struct err *e);
/* Called before an interrupted command is completed or undone in a folder of
 * another user. */
MUST_CHECK bool layer_check_files(struct context *cx, enum layer_mode mode,
                                  struct str folder, struct err *e);
/* Reads the files of `out->path`. If layer_has_parts is true, the maps are not
 * filled. */
MUST_CHECK bool layer_open_path(struct context *cx, enum layer_mode mode,
                                struct layer *out, struct err *e);
/* Clears the text of a tracked file, which came with a clone [D9]. */
void layer_drop_tracked(const struct layer *l, struct context *cx,
                        const char *name, struct str *text);

void layer_init_maps(struct layer *l, struct arena *a);
MUST_CHECK bool layer_read_origins(struct layer *l, struct arena *a,
                                   struct err *e);
MUST_CHECK bool layer_collect_overrides(struct layer *l, struct arena *a,
                                        struct err *e);
/* Indexes the entries `numbers`, or the first `count` if NULL. Entries of
 * mapm.lock precede local ones. */
MUST_CHECK bool layer_index_entries(struct layer *l, bool is_local,
                                    const size_t *numbers, size_t count,
                                    struct arena *a, struct err *e);

/* Converts "./x" of a member's own documents to a path from the root. */
MUST_CHECK bool layer_rebase_own(const struct layer *l, struct origin *o,
                                 struct arena *a, struct err *e);

/* --- members.c -------------------------------------------------------------- */

/* Fills l->members of a root that was read; `fd` is its folder. Errors:
 * ERR_FORMAT, ERR_REFUSED for links and for members in members, ERR_LIMIT. */
MUST_CHECK bool layer_list_members(struct layer *l, struct context *cx, int fd,
                                   struct err *e);
/* Returns true if the manifest or the lock has members. */
bool layer_has_parts(const struct layer *l);

#endif
