#include "tape_file.h"

#include "base/fs.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define TAPE_MODE 0644

bool tape_file_check(struct context *cx, struct str file, struct err *e)
{
    struct str folder = file;
    const char *name = str_dup0(file, &cx->arena), *place;
    size_t slash = str_find_last(folder, '/');
    struct stat st;

    if (stat(name, &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(e, ERR_USAGE, "--record %s: that is no file", name);
    folder = slash == SIZE_MAX ? STR(".") : str_slice(folder, 0, slash + 1);
    place = str_dup0(folder, &cx->arena);
    if (access(place, W_OK | X_OK) == 0)
        return true;
    if (errno != ENOENT)
        return err_errno(e, "--record %s: %s", name, place);
    err_set(e, ERR_NOT_FOUND, "--record %s: there is no folder %s", name,
            place);
    return err_hint(e, "mkdir -p %s", place);
}

bool tape_file_write(struct str file, struct tape_recorder *r,
                     const struct runtime_result *result, struct arena *a,
                     struct err *e)
{
    const char *name = str_dup0(file, a);

    return (tape_end(r, result, e) &&
            fs_replace_user_file(name, TAPE_MODE, buf_str(&r->lines), e)) ||
           err_wrap(e, "cannot record %s", name);
}
