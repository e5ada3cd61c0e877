#include "stages.h"

#include "base/fs.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "transaction.h"

/* "<folder>/.mapm-stage-<16 hex>". */
static const char *path_of(struct str folder, const char *stage,
                           struct arena *a)
{
    return arena_printf(a, "%.*s/.mapm-%s", STR_ARG(folder), stage).p;
}

/* --- which mount ------------------------------------------------------------ */

/* The folder that holds `folder`; "." for the workspace. */
static struct str go_up(struct str folder, struct arena *a)
{
    struct str up = path_folder(folder);

    return up.n ? arena_str(a, up) : STR(".");
}

static bool is_top(struct str folder)
{
    return str_is(folder, ".") || str_is(folder, "/");
}

/* The folder itself, or the nearest one above it that is there. */
static bool find_existing(const struct stages *st, struct str *folder,
                          struct fs_mount *mount, struct err *e)
{
    struct str first = *folder;

    while (!fs_find_mount(st->swap->root, folder->p, mount)) {
        if (is_top(*folder))
            return err_errno(e, "look at %.*s", STR_ARG(first));
        *folder = go_up(*folder, st->arena);
    }
    return true;
}

/* Whether mapm may make a folder in it: of a user's folders, those in the home. */
static bool may_hold(const struct swap *s, struct str folder)
{
    return (!s->scope->is_user ||
            fs_path_is_within(folder, str_cstr(s->scope->home))) &&
           faccessat(s->root, folder.p, W_OK | X_OK, AT_EACCESS) == 0;
}

/* As far up as the mount goes: one stage for all places on it, and no client
 * looks for skills there. */
static struct str find_top(const struct stages *st, struct str folder,
                           const struct fs_mount *mount)
{
    for (;;) {
        struct fs_mount above;
        struct str up;

        if (is_top(folder))
            return folder;
        up = go_up(folder, st->arena);
        if (!may_hold(st->swap, up) ||
            !fs_find_mount(st->swap->root, up.p, &above) ||
            !fs_mount_eq(mount, &above))
            return folder;
        folder = up;
    }
}

bool stages_has_exact_modes(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && (st.st_mode & 07777) == 0755;
}

/* --- making one --------------------------------------------------------------- */

/* Makes the stage of `mount`, as high above `folder` as possible. */
static bool make_stage(struct stages *st, struct str folder,
                       const struct fs_mount *mount, struct swap_stage **out,
                       struct err *e)
{
    struct swap *s = st->swap;
    struct swap_stage *stage;
    CLEANUP_FD int fd = -1;
    const char *name;

    if (s->stage_count == SWAP_MAX_STAGES)
        return err_set(e, ERR_LIMIT, "the places are on more than %d mounts",
                       SWAP_MAX_STAGES);
    folder = find_top(st, folder, mount);
    st->mounts[s->stage_count] = *mount;
    *out = stage = &s->stages[s->stage_count++];
    *stage = (struct swap_stage){arena_str(st->arena, folder), -1, false};
    name = path_of(STR("."), s->stage_name.p, st->arena);
    /* no link may lead elsewhere */
    if (!fs_open_dir_at(s->root, folder.p, &fd, e) || !journal_replace(s, e))
        return false;
    if (mkdirat(fd, name, 0755) < 0)
        return err_errno(e, "create the folder %s",
                         path_of(folder, s->stage_name.p, st->arena));
    if (!fs_open_dir_at(fd, name, &stage->fd, e))
        return false;
    stage->exact_modes = stages_has_exact_modes(stage->fd);
    return true;
}

void stages_init(struct stages *st, struct swap *s, struct arena *a)
{
    *st = (struct stages){.swap = s, .arena = a};
    map_init(&st->by_folder, a);
}

bool stages_find(struct stages *st, struct str path, struct swap_stage **out,
                 struct err *e)
{
    struct swap *s = st->swap;
    struct str key = path_folder(path), folder;
    struct fs_mount mount;

    if ((*out = map_find(&st->by_folder, key)))
        return true;
    if (!st->mounts[0].device &&
        !fs_find_mount(s->mapm, s->stage_name.p, &st->mounts[0]))
        return err_errno(e, "look at .agents/.mapm/%s", s->stage_name.p);
    folder = key.n ? arena_str(st->arena, key) : STR(".");
    if (!find_existing(st, &folder, &mount, e))
        return false;
    for (size_t i = 0; i < s->stage_count && !*out; i++)
        if (fs_mount_eq(&st->mounts[i], &mount))
            *out = &s->stages[i];
    if (!*out && !make_stage(st, folder, &mount, out, e))
        return false;
    map_put(&st->by_folder, arena_str(st->arena, key), *out);
    return true;
}

/* --- all of them -------------------------------------------------------------- */

void stages_open(struct swap *s)
{
    CLEANUP(arena_done) struct arena a = {0};

    for (size_t i = 1; i < s->stage_count; i++) {
        struct err ignored = {0};

        (void)!fs_open_dir_at(s->root,
                              path_of(s->stages[i].folder, s->stage_name.p, &a),
                              &s->stages[i].fd, &ignored);
    }
}

void stages_close(struct swap *s)
{
    for (size_t i = 1; i < s->stage_count; i++)
        fs_close(&s->stages[i].fd);
}

void stages_remove(struct swap *s)
{
    CLEANUP(arena_done) struct arena a = {0};

    stages_close(s);
    for (size_t i = 1; i < s->stage_count; i++) {
        struct err ignored = {0};

        (void)!fs_remove_tree_at(
            s->root, path_of(s->stages[i].folder, s->stage_name.p, &a),
            &ignored);
    }
}
