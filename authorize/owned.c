#include "mapm/owned.h"

#include "base/fs.h"
#include "base/owner.h"
#include "mapm/config.h"
#include "mapm/manifest.h"

#include <stdlib.h>

static bool is_within(struct context *cx, struct str path, struct str folder)
{
    struct err ignored = {0};
    struct str real;

    if (str_is(folder, "*"))
        return true;
    if (cx->home.n && str_starts(folder, STR("~/")))
        folder = fs_join(cx->home, str_from_index(folder, 2), &cx->arena);
    return str_starts(folder, STR("/")) &&
           fs_real_path(str_c(folder, &cx->arena), &cx->arena, &real,
                        &ignored) &&
           fs_path_is_within(path, real);
}

static bool environment_covers(void *ctx, struct str path)
{
    return is_within(ctx, path, str_from(getenv("MAPM_TRUSTED_FOLDER")));
}

static bool user_covers(void *ctx, struct str path)
{
    struct context *cx = ctx;
    struct origin_rules rules;
    struct limits limits;
    struct project user;
    struct err ignored = {0}; /* reported by the command that needs it */

    if (environment_covers(cx, path))
        return true;
    if (!user_read(cx, &user, &limits, &rules, &ignored))
        return false;
    for (size_t i = 0; i < user.trusted_folder_count; i++)
        if (is_within(cx, path, user.trusted_folders[i]))
            return true;
    return false;
}

static struct owner_rules rules_for(struct context *cx, struct str folder)
{
    return (struct owner_rules){
        .folder = str_c(folder, &cx->arena), .covers = user_covers, .ctx = cx};
}

bool owned_check(struct context *cx, int fd, struct str path, struct str folder,
                 struct err *e)
{
    const struct owner_rules rules = rules_for(cx, folder);

    return owner_check(fd, str_c(path, &cx->arena), &rules, e);
}

bool owned_check_stat(struct context *cx, const struct stat *st,
                      struct str path, struct str folder, struct err *e)
{
    const struct owner_rules rules = rules_for(cx, folder);

    return owner_check_stat(st, str_c(path, &cx->arena), &rules, e);
}

bool owned_check_folder(struct context *cx, struct str path, struct err *e)
{
    CLEANUP_FD int fd = -1;

    return fs_open_dir(str_c(path, &cx->arena), &fd, e) &&
           owned_check(cx, fd, path, path, e);
}

bool owned_check_config(struct context *cx, int fd, struct str path,
                        struct err *e)
{
    const struct owner_rules rules = {
        .flags = OWNER_UNSHARED, .covers = environment_covers, .ctx = cx};

    return owner_check(fd, str_c(path, &cx->arena), &rules, e);
}
