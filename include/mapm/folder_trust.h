#ifndef MAPM_FOLDER_TRUST_H
#define MAPM_FOLDER_TRUST_H

#include "base/context.h"
#include "mapm/state_trust.h"
#include "mapm/store.h"

/*
 * folder_trust: trust of a workspace, or of its rules, bound to its folder.
 *
 *     path, inode, owner, birth time              where the file system
 *                                                 records a real one
 *     path, inode, owner, id in .agents/.mapm/id  elsewhere
 *
 * A folder that replaced the trusted one, or has another owner since, is not
 * trusted. Device numbers are left out: they change with a restart on overlay,
 * btrfs and NFS. Source: F3 (b).
 *
 * A folder of another user (owned.h) is never trusted.
 */

enum folder_trust {
    FOLDER_UNTRUSTED,
    FOLDER_TRUSTED,
    FOLDER_REPLACED, /* another folder at this path was trusted */
    FOLDER_UNBOUND,  /* by a version of mapm that did not record the folder */
};

/* `digest` is that of the rules; zeros for STATE_TRUST_WORKSPACE. Errors: the
 * store's; a folder that cannot be opened is FOLDER_UNTRUSTED. */
MUST_CHECK bool folder_trust_find(struct context *cx, struct store *store,
                                  enum state_trust_kind kind, struct str path,
                                  const struct hash *digest,
                                  enum folder_trust *out, struct err *e);

/* Errors: ERR_REFUSED for a folder of another user. */
MUST_CHECK bool folder_trust_put(struct context *cx, struct store *store,
                                 enum state_trust_kind kind, struct str path,
                                 const struct hash *digest, struct err *e);

/* Why it is asked for again, as the end of a sentence; "" when it is not. */
const char *folder_trust_reason(enum folder_trust t);

#endif
