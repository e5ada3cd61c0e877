#include "mapm/folder_trust.h"

#include "base/fs.h"
#include "mapm/owned.h"
#include "mapm/provision.h"
#include "mapm/state_trust.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#define WANTED (STATX_INO | STATX_UID | STATX_BTIME)

/* Some file systems claim to know it and say 1970. */
static bool is_born(const struct statx *s)
{
    return (s->stx_mask & STATX_BTIME) &&
           (s->stx_btime.tv_sec || s->stx_btime.tv_nsec);
}

static bool format_identity(int fd, bool make, struct arena *a, struct str *out,
                            struct err *e)
{
    struct statx s;
    struct str id;

    if (statx(fd, "", AT_EMPTY_PATH, WANTED, &s) < 0)
        return err_errno(e, "examine the folder");
    if (is_born(&s)) {
        *out = arena_printf(a, "inode %" PRIu64 " owner %u born %lld.%09u",
                            (uint64_t)s.stx_ino, s.stx_uid,
                            (long long)s.stx_btime.tv_sec, s.stx_btime.tv_nsec);
        return true;
    }
    if (!provision_read_id(fd, make, a, &id, e))
        return false;
    *out = arena_printf(a, "inode %" PRIu64 " owner %u id %.*s",
                        (uint64_t)s.stx_ino, s.stx_uid, STR_ARG(id));
    return true;
}

/* The folder that is checked is the one that is told apart. */
static bool identify(struct context *cx, struct str path, bool make,
                     struct str *out, struct err *e)
{
    CLEANUP_FD int fd = -1;

    return fs_open_dir(str_c(path, &cx->arena), &fd, e) &&
           owned_check(cx, fd, path, path, e) &&
           format_identity(fd, make, &cx->arena, out, e);
}

bool folder_trust_find(struct context *cx, struct store *store,
                       enum state_trust_kind kind, struct str path,
                       const struct hash *digest, enum folder_trust *out,
                       struct err *e)
{
    struct err ignored = {0}; /* then no folder is the one that was trusted */
    struct str known, identity = STR("");

    *out = FOLDER_UNTRUSTED;
    err_clear(e);
    if (!state_find_trust(store_state(store), kind, path, digest, &cx->arena,
                          &known, e))
        return e->code == ERR_NONE;
    if (known.n == 0)
        *out = FOLDER_UNBOUND;
    else if (!identify(cx, path, false, &identity, &ignored) ||
             !str_eq(known, identity))
        *out = FOLDER_REPLACED;
    else
        *out = FOLDER_TRUSTED;
    return true;
}

bool folder_trust_put(struct context *cx, struct store *store,
                      enum state_trust_kind kind, struct str path,
                      const struct hash *digest, struct err *e)
{
    struct str identity;

    return identify(cx, path, true, &identity, e) &&
           state_put_trust(store_state(store), kind, path, digest, identity, e);
}

const char *folder_trust_reason(enum folder_trust t)
{
    static const char *const reasons[] = {
        [FOLDER_REPLACED] = "the folder was replaced, or has another owner, "
                            "since it was trusted",
        [FOLDER_UNBOUND] = "it was trusted by an older mapm, which did not "
                           "record which folder that was",
    };

    return t == FOLDER_REPLACED || t == FOLDER_UNBOUND ? reasons[t] : "";
}
