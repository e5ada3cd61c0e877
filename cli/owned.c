#include "owned.h"

#include "base/fs.h"
#include "base/owner.h"

#include <stdlib.h>

#include "user.h"

static bool is_within(struct invocation *inv, struct str path,
                      struct str folder)
{
    struct err ignored = {0};
    struct str real;

    if (str_is(folder, "*"))
        return true;
    if (inv->home.n && str_starts(folder, STR("~/")))
        folder = fs_join(inv->home, str_from_index(folder, 2), &inv->arena);
    return str_starts(folder, STR("/")) &&
           fs_real_path(str_c(folder, &inv->arena), &inv->arena, &real,
                        &ignored) &&
           fs_path_is_within(path, real);
}

static bool environment_covers(void *ctx, struct str path)
{
    return is_within(ctx, path, str_from(getenv("MAPM_TRUSTED_FOLDER")));
}

static bool user_covers(void *ctx, struct str path)
{
    struct invocation *inv = ctx;
    struct origin_rules rules;
    struct limits limits;
    struct project user;
    struct err ignored = {0}; /* reported by the command that needs it */

    if (environment_covers(inv, path))
        return true;
    if (!user_read(inv, &user, &limits, &rules, &ignored))
        return false;
    for (size_t i = 0; i < user.trusted_folder_count; i++)
        if (is_within(inv, path, user.trusted_folders[i]))
            return true;
    return false;
}

static struct owner_rules rules_for(struct invocation *inv, struct str folder)
{
    return (struct owner_rules){.folder = str_c(folder, &inv->arena),
                                .covers = user_covers,
                                .ctx = inv};
}

bool owned_check(struct invocation *inv, int fd, struct str path,
                 struct str folder, struct err *e)
{
    const struct owner_rules rules = rules_for(inv, folder);

    return owner_check(fd, str_c(path, &inv->arena), &rules, e);
}

bool owned_check_stat(struct invocation *inv, const struct stat *st,
                      struct str path, struct str folder, struct err *e)
{
    const struct owner_rules rules = rules_for(inv, folder);

    return owner_check_stat(st, str_c(path, &inv->arena), &rules, e);
}

bool owned_check_folder(struct invocation *inv, struct str path, struct err *e)
{
    CLEANUP_FD int fd = -1;

    return fs_open_dir(str_c(path, &inv->arena), &fd, e) &&
           owned_check(inv, fd, path, path, e);
}

bool owned_check_config(struct invocation *inv, int fd, struct str path,
                        struct err *e)
{
    const struct owner_rules rules = {
        .flags = OWNER_UNSHARED, .covers = environment_covers, .ctx = inv};

    return owner_check(fd, str_c(path, &inv->arena), &rules, e);
}
