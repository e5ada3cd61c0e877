#ifndef BASE_OWNER_H
#define BASE_OWNER_H

#include "base/err.h"
#include "base/str.h"

#include <sys/stat.h>

/*
 * owner: whether a file that can widen rights counts. Its owner decides.
 *
 *     the effective user, root --> counts
 *     the user who ran sudo    --> counts while mapm runs as root
 *     any other user           --> counts in a folder that the user trusts
 *
 * Every such file is checked here: mapm.yaml, mapm.local.yaml, their locks,
 * config.yaml, the folders of metaskills, mapm's data folder. The opened
 * descriptor is checked, so that the file that is read is the one checked.
 *
 * Source: THREATS.md rows 15, 24, 25; safe.directory of git-config(1).
 */

enum owner_flag {
    OWNER_EXCLUSIVE = 1, /* the effective user alone, not root either */
    OWNER_UNSHARED = 2,  /* and no other user may write, as ssh_config(5) */
};

struct owner_rules {
    unsigned flags;
    const char *folder; /* absolute; the hint says how to trust this one */
    /* Whether the user trusts the folder of `path`, which is absolute and has
     * no link in it. NULL: no folder. */
    bool (*covers)(void *ctx, struct str path);
    void *ctx;
};

/*
 * `path` is absolute: it is shown, and looked up for `covers`.
 * Errors: ERR_REFUSED with the path, the owner and the way out.
 */
MUST_CHECK bool owner_check(int fd, const char *path,
                            const struct owner_rules *rules, struct err *e);

/* The same for a file that is looked for, and not read yet. */
MUST_CHECK bool owner_check_stat(const struct stat *st, const char *path,
                                 const struct owner_rules *rules,
                                 struct err *e);

#endif
