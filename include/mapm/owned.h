#ifndef MAPM_OWNED_H
#define MAPM_OWNED_H

#include "base/context.h"

#include <sys/stat.h>

/*
 * owned: base/owner.h with the folders that the user trusts although they
 * belong to others: trusted_folders of config.yaml, MAPM_TRUSTED_FOLDER. They
 * are read only when another user's file is met.
 *
 * `folder`, absolute, is the one that the hint of ERR_REFUSED names.
 */
MUST_CHECK bool owned_check(struct context *cx, int fd, struct str path,
                            struct str folder, struct err *e);
MUST_CHECK bool owned_check_stat(struct context *cx, const struct stat *st,
                                 struct str path, struct str folder,
                                 struct err *e);

/* `path` is a folder, opened and checked. ERR_IO when it cannot be opened. */
MUST_CHECK bool owned_check_folder(struct context *cx, struct str path,
                                   struct err *e);

/* config.yaml: only MAPM_TRUSTED_FOLDER can make that of another user count,
 * and nothing makes one count that others may write. */
MUST_CHECK bool owned_check_config(struct context *cx, int fd, struct str path,
                                   struct err *e);

#endif
