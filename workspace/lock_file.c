#include "lock_file.h"

#include "base/fs.h"
#include "mapm/limits.h"

bool lock_file_read(int dirfd, struct str folder, const char *name,
                    struct arena *a, struct lock *out, struct err *e)
{
    struct str text = {"", 0};

    if (!fs_read_file_at(dirfd, name, LOCK_MAX_BYTES, a, &text, e)) {
        if (e->code != ERR_NOT_FOUND)
            return err_wrap(e, "%.*s/%s", STR_ARG(folder), name);
        err_clear(e);
        *out = (struct lock){.count = 0};
        return true;
    }
    if (lock_parse(text, name, a, out, e))
        return true;
    err_wrap(e, "cannot tell what %.*s needs", STR_ARG(folder));
    return err_hint(e, "mend or remove %.*s/%s", STR_ARG(folder), name);
}
