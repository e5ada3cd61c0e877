#include "mapm/package_files.h"

#include "base/fs.h"

const struct package_file *package_files_find(const struct package_files *p,
                                              struct str path)
{
    for (size_t i = 0; i < p->count; i++)
        if (str_eq(p->files[i].path, path))
            return &p->files[i];
    return NULL;
}

static enum manifest_file read_beside(void *ctx, struct str path,
                                      size_t max_bytes, struct arena *a,
                                      struct str *content)
{
    const struct package_files *p = ctx;
    const struct package_file *f = package_files_find(p, path);
    struct err e = {0};

    if (!f)
        return MANIFEST_FILE_MISSING;
    if (max_bytes == 0)
        return MANIFEST_FILE_OK;
    if (store_read(p->store, &f->hash, max_bytes, a, content, &e))
        return MANIFEST_FILE_OK;
    return e.code == ERR_LIMIT ? MANIFEST_FILE_TOO_LARGE
                               : MANIFEST_FILE_UNREADABLE;
}

struct manifest_files package_files_reader(const struct package_files *p)
{
    return (struct manifest_files){read_beside, (void *)(uintptr_t)p};
}

enum manifest_file package_file_read(int fd, size_t max_bytes, struct arena *a,
                                     struct str *content)
{
    struct err e = {0};

    if (max_bytes == 0)
        return MANIFEST_FILE_OK;
    if (fs_read_fd(fd, max_bytes, a, content, &e))
        return MANIFEST_FILE_OK;
    return e.code == ERR_LIMIT ? MANIFEST_FILE_TOO_LARGE
                               : MANIFEST_FILE_UNREADABLE;
}
