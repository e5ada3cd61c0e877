#include "mapm/patches.h"

#include "base/digest.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/patch.h"
#include "mapm/authorize.h"
#include "mapm/limits.h"

#include <dirent.h>
#include <string.h>

#define SUFFIX STR(".patch")

struct str patches_file(enum doc_kind kind, struct str fqn, struct arena *a)
{
    size_t slash = str_find_char(fqn, '/');

    if (slash == SIZE_MAX)
        return arena_printf(a, PATCHES_FOLDER "/%s-%.*s.patch",
                            doc_kind_name(kind), STR_ARG(fqn));
    return arena_printf(a, PATCHES_FOLDER "/%s-%.*s__%.*s.patch",
                        doc_kind_name(kind), (int)slash, fqn.p,
                        STR_ARG(str_from_index(fqn, slash + 1)));
}

const struct package_patch *patches_find(const struct patches *p,
                                         struct str file)
{
    const struct package_patch *found =
        p->count ? map_find(&p->by_file, file) : NULL;

    return found && found->text.p ? found : NULL;
}

static void fill(struct package_patch *p, struct str file, struct str text,
                 struct arena *a)
{
    *p = (struct package_patch){file, text, digest_of(text, a)};
}

void patches_set(struct patches *p, struct str file, struct str text,
                 struct arena *a)
{
    struct package_patch *found = p->count ? map_find(&p->by_file, file) : NULL;

    if (!found) {
        struct package_patch *more = arena_array(a, p->count + 1, sizeof *more);

        if (p->count)
            memcpy(more, p->items, p->count * sizeof *more);
        p->items = more;
        found = &more[p->count++];
        *found = (struct package_patch){.file = file};
        map_init(&p->by_file, a);
        for (size_t i = 0; i < p->count; i++)
            map_put(&p->by_file, p->items[i].file, &p->items[i]);
    }
    if (text.n)
        fill(found, found->file, text, a);
    else
        found->text = (struct str){NULL, 0};
}

/* Opens the same file whose owner is checked. */
static bool read_patch(struct context *cx, int folder, struct str path,
                       struct str name, struct package_patch *out,
                       struct err *e)
{
    struct arena *a = &cx->arena;
    struct str file = fs_join(STR(PATCHES_FOLDER), name, a);
    CLEANUP_FD int fd = -1;
    struct str text = STR("");

    if (!fs_open_file_at(folder, name.p, &fd, NULL, e) ||
        !authorize_file(cx, fd, fs_join(path, file, a), path, e) ||
        !fs_read_fd(fd, PATCH_MAX_BYTES, a, &text, e))
        return err_wrap(e, "cannot read %.*s", STR_ARG(file));
    fill(out, file, text, a);
    return true;
}

static bool read_all(struct context *cx, struct str path, int folder,
                     struct patches *out, struct err *e)
{
    struct fs_entry *entries;
    size_t count, bytes = 0;

    if (!fs_list_at(folder, ".", PATCHES_MAX_FILES, &cx->arena, &entries,
                    &count, e))
        return err_wrap(e, "cannot read " PATCHES_FOLDER);
    out->items = arena_array(&cx->arena, count + 1, sizeof *out->items);
    for (size_t i = 0; i < count; i++) {
        struct package_patch *p = &out->items[out->count];

        if (!str_ends(entries[i].name, SUFFIX))
            continue;
        if (!read_patch(cx, folder, path, entries[i].name, p, e))
            return false;
        map_put(&out->by_file, p->file, p);
        out->count++;
        bytes += p->text.n;
        if (bytes > PATCHES_MAX_BYTES)
            return err_set(e, ERR_LIMIT, PATCHES_FOLDER ": more than %u bytes",
                           PATCHES_MAX_BYTES);
    }
    return true;
}

bool patches_read(struct context *cx, struct str path, struct patches *out,
                  struct err *e)
{
    CLEANUP_FD int root = -1;
    CLEANUP_FD int folder = -1;

    *out = (struct patches){.count = 0};
    map_init(&out->by_file, &cx->arena);
    if (!fs_open_dir(str_dup0(path, &cx->arena), &root, e))
        return false;
    if (!fs_open_dir_at(root, PATCHES_FOLDER, &folder, e)) {
        if (e->code != ERR_NOT_FOUND)
            return err_wrap(e, "cannot read " PATCHES_FOLDER);
        err_clear(e);
        return true;
    }
    return read_all(cx, path, folder, out, e);
}
