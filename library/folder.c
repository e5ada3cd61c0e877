#include "folder.h"

#include "base/fs.h"
#include "base/hash.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "catalog.h"

/* Source: T31, A4; THREATS.md decision 9. */

/* --- a root ------------------------------------------------------------------------- */

static bool is_allowed(const struct root_bounds *s, struct str real)
{
    return (s->real.n && fs_path_is_within(real, s->real)) ||
           (s->allowed_link_root.n &&
            fs_path_is_within(real, s->allowed_link_root));
}

bool root_open(const struct library_root *root, struct arena *a,
               struct root_bounds *out, int *fd, struct err *e)
{
    struct root_bounds s = {STR(""), STR("")};
    struct err ignored = {0};
    struct str real;

    *out = s;
    if (!fs_real_path(str_dup0(root->path, a), a, &real, e))
        return false;
    if (root->allowed_link_root.n &&
        !fs_real_path(str_dup0(root->allowed_link_root, a), a,
                      &s.allowed_link_root, &ignored))
        s.allowed_link_root = STR("");
    if (root->confined && !is_allowed(&s, real)) {
        err_set(e, ERR_REFUSED, "it is a link that leads out of %.*s",
                STR_ARG(root->allowed_link_root));
        return err_hint(e, "name the folder that it leads to, if you mean it");
    }
    if (!fs_open_dir_at(AT_FDCWD, real.p, fd, e))
        return false;
    s.real = real;
    *out = s;
    return true;
}

uint64_t root_bounds_hash(const struct root_bounds *s)
{
    struct hash_state state;
    struct hash hash;
    uint64_t n;

    hash_init(&state);
    hash_add(&state, s->real);
    hash_add(&state, str_make("", 1));
    hash_add(&state, s->allowed_link_root);
    hash = hash_end(&state);
    memcpy(&n, hash.b, sizeof n);
    return n;
}

/* --- a folder in it -------------------------------------------------------------------- */

static bool follow(const struct root_bounds *s, struct str path,
                   struct arena *a, int *fd, struct str *real, struct err *e)
{
    struct str at;

    if (!fs_real_path(path.p, a, &at, e))
        return false;
    if (!is_allowed(s, at)) {
        err_set(
            e, ERR_REFUSED, "its folder is a link that leads out of %.*s",
            STR_ARG(s->allowed_link_root.n ? s->allowed_link_root : s->real));
        return err_hint(e, "links of skills stay in there: keep the skill's "
                           "own files where the link is");
    }
    if (!fs_open_dir_at(AT_FDCWD, at.p, fd, e))
        return false;
    *real = at;
    return true;
}

/* In most cases the path contains no link. */
bool folder_open(const struct root_bounds *s, struct str name, struct arena *a,
                 int *fd, struct str *real, struct err *e)
{
    struct str path = fs_join(s->real, name, a);

    if (fs_open_dir_at(AT_FDCWD, path.p, fd, e)) {
        *real = path;
        return true;
    }
    if (e->code != ERR_REFUSED)
        return false;
    err_clear(e);
    return follow(s, path, a, fd, real, e);
}

bool library_open_in(const struct library_root *root, struct str name,
                     struct arena *a, int *fd, struct str *real, struct err *e)
{
    CLEANUP_FD int top = -1;
    struct root_bounds s;

    return root_open(root, a, &s, &top, e) &&
           folder_open(&s, name, a, fd, real, e);
}

bool folder_id_of(int fd, struct folder_id *out, struct err *e)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return err_errno(e, "examine it");
    *out = (struct folder_id){st.st_dev, st.st_ino};
    return true;
}

/* --- of a skill ---------------------------------------------------------------------------- */

/* Device numbers change when the machine restarts; then the folder is
 * identified by the fingerprint of its SKILL.md. */
static bool is_found(int fd, const struct folder_id *id, const struct record *r)
{
    struct fingerprint now;
    struct stat st;

    if (folder_id_eq(id, &r->in))
        return true;
    if (fstatat(fd, "SKILL.md", &st, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    now = fingerprint_of(&st);
    return fingerprint_eq(&now, &r->skill);
}

bool library_open_folder(const struct library *l, const struct library_skill *s,
                         struct arena *a, int *fd, struct str *real,
                         struct err *e)
{
    const struct place *p = &l->catalog->places[catalog_index(l, s)];
    struct record r = catalog_record(l, s);
    CLEANUP_FD int opened = -1;
    struct folder_id id;

    if (!folder_open(&l->catalog->batches[p->root].bounds,
                     r.field[RECORD_FOLDER], a, &opened, real, e) ||
        !folder_id_of(opened, &id, e))
        return err_wrap(e, "open the folder of skill '%.*s'", STR_ARG(s->name));
    if (!is_found(opened, &id, &r)) {
        err_set(e, ERR_STALE,
                "skill '%.*s' lies in another folder than the one that was "
                "found",
                STR_ARG(s->name));
        return err_hint(e, "start a fresh session to see what it is now");
    }
    *fd = opened;
    opened = -1;
    return true;
}

bool library_covers(const struct library *l, struct str path)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err ignored = {0};

    for (size_t i = 0; i < l->options.root_count; i++) {
        const struct root_bounds *s = &l->catalog->batches[i].bounds;
        struct str root = l->options.roots[i].path, real;
        CLEANUP_FD int fd = -1;

        if (!s->real.n)
            continue;
        if (str_eq(path, root))
            return true;
        if (fs_path_is_within(path, root) &&
            fs_path_is_relative_clean(str_from_index(path, root.n + 1)))
            return folder_open(s, str_from_index(path, root.n + 1), &a, &fd,
                               &real, &ignored);
    }
    return false;
}
