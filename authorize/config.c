#include "base/env.h"
#include "base/fs.h"
#include "base/owner.h"
#include "base/path.h"
#include "mapm/authorize.h"
#include "mapm/host_config.h"

#define CONFIG_LOCK_MS 10000

/* Reads the user's configuration and checks the ownership of files. Both are in
 * one file because they depend on each other: config.yaml names trusted folders
 * of other users, and the owner of config.yaml is checked. */

static bool is_within(struct context *cx, struct str path, struct str folder)
{
    struct err ignored = {0};
    struct str real;

    if (str_is(folder, "*"))
        return true;
    if (cx->home.n && str_starts(folder, STR("~/")))
        folder = fs_join(cx->home, str_from_index(folder, 2), &cx->arena);
    return str_starts(folder, STR("/")) &&
           fs_real_path(str_dup0(folder, &cx->arena), &cx->arena, &real,
                        &ignored) &&
           fs_path_is_within(path, real);
}

static bool environment_covers(void *ctx, struct str path)
{
    return is_within(ctx, path, env_get("MAPM_TRUSTED_FOLDER"));
}

/* --- configuration ------------------------------------------------------------ */

struct str authorize_config_path(struct context *cx)
{
    struct str folder = env_config_folder(cx->home, &cx->arena);

    return folder.n ? fs_join(folder, STR("mapm/config.yaml"), &cx->arena)
                    : folder;
}

/* config.yaml and its folder are accepted from another user only if
 * MAPM_TRUSTED_FOLDER covers them. What others may write is never accepted. */
static struct owner_rules config_rules(struct context *cx)
{
    return (struct owner_rules){
        .flags = OWNER_UNSHARED, .covers = environment_covers, .ctx = cx};
}

static const char *config_folder(struct str path, struct arena *a)
{
    return str_dup0(path_folder(path), a);
}

/* Others could put another file of the user into their folder. */
static bool check_folder(struct context *cx, struct str path, struct err *e)
{
    const char *folder = config_folder(path, &cx->arena);
    const struct owner_rules rules = config_rules(cx);
    struct stat st;

    return stat(folder, &st) == 0
               ? owner_check_stat(&st, folder, &rules, e)
               : err_errno(e, "cannot determine the owner of %s", folder);
}

static bool check_file(struct context *cx, int fd, struct str path,
                       struct err *e)
{
    const struct owner_rules rules = config_rules(cx);

    return owner_check(fd, str_dup0(path, &cx->arena), &rules, e);
}

/* Reads config.yaml; `*found` is false if the file does not exist. */
static bool read_text(struct context *cx, struct str path, bool *found,
                      struct str *text, struct err *e)
{
    CLEANUP_FD int fd = -1;

    *found = path.n && fs_open_user_file(path.p, &fd, e);
    if (!*found) {
        if (path.n && e->code != ERR_NOT_FOUND)
            return false;
        err_clear(e);
        return true;
    }
    return check_folder(cx, path, e) && check_file(cx, fd, path, e) &&
           (fs_read_fd(fd, PROJECT_MAX_BYTES, &cx->arena, text, e) ||
            err_wrap(e, "cannot read %s", path.p));
}

static bool read_file(struct context *cx, struct project *user,
                      struct limits *limits, struct err *e)
{
    struct str path = authorize_config_path(cx), text;
    bool found;

    if (!read_text(cx, path, &found, &text, e))
        return false;
    if (!found)
        return true;
    return project_parse(text, PROJECT_USER, path.p, NULL, &cx->arena, user,
                         e) &&
           limits_apply(limits, user, PROJECT_USER, path.p, &cx->arena, e);
}

/* Collects the hosts in the user's config.yaml and the GitHub hosts in the
 * environment. */
static void collect_hosts(struct context *cx, const struct project *user,
                          struct origin_rules *rules)
{
    struct str rest = env_get(git_hosts[0].hosts_variable), word;
    struct host_config *hosts = NULL;
    size_t count = 0, capacity = 0;

    for (size_t i = 0; i < user->host_count; i++) {
        hosts = arena_grow(&cx->arena, hosts, count, &capacity, sizeof *hosts);
        hosts[count++] = user->hosts[i];
    }
    rest = arena_str(&cx->arena, rest);
    for (size_t i = 0; i < rest.n; i++)
        if (rest.p[i] == ',')
            ((char *)(uintptr_t)rest.p)[i] = ' ';
    while (str_cut(&rest, ' ', &word)) {
        if (word.n == 0)
            continue;
        hosts = arena_grow(&cx->arena, hosts, count, &capacity, sizeof *hosts);
        hosts[count++] = (struct host_config){
            .host = str_lower(word, &cx->arena), .kind = &git_hosts[0]};
    }
    rules->hosts = hosts;
    rules->host_count = count;
}

bool authorize_config_read(struct context *cx, struct project *user,
                           struct limits *limits, struct origin_rules *rules,
                           struct err *e)
{
    *user = (struct project){0};
    *limits = limits_default;
    if (!read_file(cx, user, limits, e))
        return false;
    collect_hosts(cx, user, rules);
    return true;
}

/* Locks the configuration for an edit. The lock is on the folder, because the
 * file is replaced. */
static bool lock_folder(struct str path, struct arena *a, int *fd,
                        struct err *e)
{
    const char *folder = config_folder(path, a);

    return fs_make_dirs(folder, 0700, e) && fs_open_dir(folder, fd, e) &&
           fs_lock(*fd, true, CONFIG_LOCK_MS, NULL, NULL, e);
}

bool authorize_config_edit(struct context *cx,
                           bool (*change)(void *ctx, struct str text,
                                          struct arena *a, struct str *out,
                                          struct err *e),
                           void *ctx, struct err *e)
{
    struct str path = authorize_config_path(cx), before = STR(""), after;
    CLEANUP_FD int folder = -1;
    bool found;

    if (path.n == 0)
        return err_set(e, ERR_NOT_FOUND,
                       "no folder for config.yaml: HOME is not set");
    if (!lock_folder(path, &cx->arena, &folder, e) ||
        !read_text(cx, path, &found, &before, e) ||
        (!found && !check_folder(cx, path, e)))
        return false;
    if (!change(ctx, before, &cx->arena, &after, e))
        return err_wrap(e, "cannot change %s", path.p);
    if (str_eq(before, after))
        return true;
    if (found && !fs_real_path(path.p, &cx->arena, &path, e))
        return false;
    return fs_replace_user_file(str_dup0(path, &cx->arena), 0600, after, e) ||
           err_wrap(e, "cannot write %s", path.p);
}

/* --- files of others ----------------------------------------------------------- */

static bool user_covers(void *ctx, struct str path)
{
    struct context *cx = ctx;
    struct origin_rules rules;
    struct limits limits;
    struct project user;
    struct err ignored = {0}; /* reported by the command that needs it */

    if (environment_covers(cx, path))
        return true;
    if (!authorize_config_read(cx, &user, &limits, &rules, &ignored))
        return false;
    for (size_t i = 0; i < user.trusted_folder_count; i++)
        if (is_within(cx, path, user.trusted_folders[i]))
            return true;
    return false;
}

static struct owner_rules rules_for(struct context *cx, struct str folder)
{
    return (struct owner_rules){.folder = str_dup0(folder, &cx->arena),
                                .covers = user_covers,
                                .ctx = cx};
}

bool authorize_file(struct context *cx, int fd, struct str path,
                    struct str folder, struct err *e)
{
    const struct owner_rules rules = rules_for(cx, folder);

    return owner_check(fd, str_dup0(path, &cx->arena), &rules, e);
}

bool authorize_file_stat(struct context *cx, const struct stat *st,
                         struct str path, struct str folder, struct err *e)
{
    const struct owner_rules rules = rules_for(cx, folder);

    return owner_check_stat(st, str_dup0(path, &cx->arena), &rules, e);
}

bool authorize_folder(struct context *cx, struct str path, struct err *e)
{
    CLEANUP_FD int fd = -1;

    return fs_open_dir(str_dup0(path, &cx->arena), &fd, e) &&
           authorize_file(cx, fd, path, path, e);
}
