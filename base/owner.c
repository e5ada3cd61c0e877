#include "base/owner.h"

#include "base/buf.h"
#include "base/env.h"
#include "base/fs.h"
#include "base/text.h"

#include <unistd.h>

#define SHARED_BITS 022 /* writable by the group, by all */

/* Like git, root accepts files of the user who called sudo. */
static bool is_sudo_user(uid_t owner)
{
    uint64_t uid;

    return geteuid() == 0 &&
           str_number(env_get("SUDO_UID"), (uid_t)-1 - 1, &uid) && uid == owner;
}

static bool is_own(uid_t owner, unsigned flags)
{
    if (owner == geteuid())
        return true;
    return !(flags & OWNER_EXCLUSIVE) && (owner == 0 || is_sudo_user(owner));
}

/* The path may refer to another file by now, so pass it on only if it still
 * refers to this file. */
static bool is_covered(const struct stat *st, const char *path,
                       const struct owner_rules *rules)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err ignored = {0};
    struct stat now;
    struct str real;

    return rules->covers && fs_real_path(path, &a, &real, &ignored) &&
           stat(real.p, &now) == 0 && now.st_ino == st->st_ino &&
           now.st_dev == st->st_dev && rules->covers(rules->ctx, real);
}

/* Quotes text for a shell and for a YAML flow list. */
static void quote(struct buf *b, const char *text)
{
    buf_char(b, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            buf_text(b, "'\\'");
        buf_char(b, *text);
    }
    buf_char(b, '\'');
}

static bool refuse_owner(uid_t owner, const char *path,
                         const struct owner_rules *rules, struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};

    err_set(e, ERR_REFUSED, "%s belongs to another user (uid %u)", path,
            (unsigned)owner);
    if (rules->flags & OWNER_EXCLUSIVE)
        return err_hint(e, "run mapm as its owner, or set MAPM_HOME to a "
                           "folder of your own");
    if (!rules->folder)
        return err_hint(e, "make it yours: chown %u %s", (unsigned)geteuid(),
                        path);
    buf_init(&b, ERR_HINT_MAX_BYTES);
    if (text_is_shell_word(str_cstr(rules->folder)))
        buf_text(&b, rules->folder);
    else
        quote(&b, rules->folder);
    return err_hint(e,
                    "if you trust it: export MAPM_TRUSTED_FOLDER=%.*s (or "
                    "trusted_folders in your config.yaml)",
                    STR_ARG(buf_str(&b)));
}

bool owner_check_stat(const struct stat *st, const char *path,
                      const struct owner_rules *rules, struct err *e)
{
    if (!is_own(st->st_uid, rules->flags) && !is_covered(st, path, rules))
        return refuse_owner(st->st_uid, path, rules, e);
    if (!(rules->flags & OWNER_UNSHARED) || !(st->st_mode & SHARED_BITS))
        return true;
    err_set(e, ERR_REFUSED, "others may write to %s (mode %03o)", path,
            (unsigned)(st->st_mode & 0777));
    return err_hint(e, "chmod go-w %s", path);
}

bool owner_check(int fd, const char *path, const struct owner_rules *rules,
                 struct err *e)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return err_errno(e, "cannot determine the owner of %s", path);
    return owner_check_stat(&st, path, rules, e);
}
