#ifndef BASE_OWNER_H
#define BASE_OWNER_H

#include "base/err.h"
#include "base/str.h"

#include <sys/stat.h>

/*
 * owner: decides by its owner whether a file that can grant rights is used.
 *
 *     the effective user, root --> used
 *     the user who ran sudo    --> used while mapm runs as root
 *     any other user           --> used in a folder that the user trusts
 *
 * All such files are checked here: mapm.yaml, mapm.local.yaml, their
 * locks, config.yaml and its folder, the folders of metaskills, and mapm's
 * data folder.
 * The check uses the open descriptor, so the file that is read is the file
 * that was checked.
 *
 * Source: THREATS.md rows 15, 24, 25; safe.directory of git-config(1).
 */

enum owner_flag {
    OWNER_EXCLUSIVE = 1, /* only the effective user, not root */
    OWNER_UNSHARED = 2,  /* not writable by others, as ssh_config(5) */
};

struct owner_rules {
    unsigned flags;
    const char *folder; /* absolute; the hint tells how to trust it */
    /* Returns whether the user trusts the folder of `path`, which is absolute
     * and free of symbolic links. NULL means that no folder is trusted. */
    bool (*covers)(void *ctx, struct str path);
    void *ctx;
};

/* Checks the owner of `fd`. `path` is absolute; it is used in messages and
 * passed to `covers`.
 * Errors: ERR_REFUSED with the path, the owner and a hint. */
MUST_CHECK bool owner_check(int fd, const char *path,
                            const struct owner_rules *rules, struct err *e);

/* The same for a file that was found but is not opened yet. */
MUST_CHECK bool owner_check_stat(const struct stat *st, const char *path,
                                 const struct owner_rules *rules,
                                 struct err *e);

#endif
