#include "workspace_folder.h"

#include "base/fs.h"
#include "mapm/authorize.h"
#include "mapm/limits.h"

#include <unistd.h>

bool folder_read_text(const struct folder *f, const char *name,
                      size_t max_bytes, struct str *out, struct err *e)
{
    struct arena *a = &f->cx->arena;
    CLEANUP_FD int fd = -1;

    *out = str_make("", 0);
    if (!fs_open_file_at(f->fd, name, &fd, NULL, e)) {
        if (e->code != ERR_NOT_FOUND)
            return false;
        err_clear(e);
        return true;
    }
    if (!authorize_file(f->cx, fd, fs_join(f->path, str_cstr(name), a), f->path,
                        e))
        return false;
    return fs_read_fd(fd, max_bytes, a, out, e) ||
           err_wrap(e, "cannot read %s", name);
}

/* An existing lock has content, so an empty file is damaged. */
bool folder_read_lock(const struct folder *f, const char *name, struct str *out,
                      struct err *e)
{
    if (!folder_read_text(f, name, LOCK_MAX_BYTES, out, e))
        return false;
    if (str_trim(*out).n || faccessat(f->fd, name, F_OK, 0) < 0)
        return true;
    err_set(e, ERR_FORMAT, "%s:1: the file is empty", name);
    return err_hint(e, "take it from version control again, or delete it and "
                       "run mapm install");
}
