#include "mapm/config.h"

#include "base/fs.h"
#include "mapm/git_host.h"
#include "mapm/manifest.h"
#include "mapm/owned.h"

#include <stdlib.h>

struct str user_config_path(struct context *cx)
{
    const char *xdg = getenv("XDG_CONFIG_HOME");
    struct str folder = str_from(xdg && xdg[0] == '/' ? xdg : NULL);

    if (folder.n == 0 && cx->home.n)
        folder = fs_join(cx->home, STR(".config"), &cx->arena);
    if (folder.n == 0)
        return folder;
    return fs_join(folder, STR("mapm/config.yaml"), &cx->arena);
}

static bool read_config(struct context *cx, struct project *user,
                        struct limits *limits, struct err *e)
{
    struct str path = user_config_path(cx), text;
    CLEANUP_FD int fd = -1;

    if (path.n == 0)
        return true;
    if (!fs_open_user_file(path.p, &fd, e)) {
        if (e->code != ERR_NOT_FOUND)
            return err_wrap(e, "cannot read %s", path.p);
        err_clear(e);
        return true;
    }
    if (!owned_check_config(cx, fd, path, e))
        return false;
    if (!fs_read_fd(fd, PROJECT_MAX_BYTES, &cx->arena, &text, e))
        return err_wrap(e, "cannot read %s", path.p);
    return project_parse(text, PROJECT_USER, path.p, NULL, &cx->arena, user,
                         e) &&
           limits_apply(limits, user, PROJECT_USER, path.p, &cx->arena, e);
}

/* GitHub hosts besides github.com: the user's own file and environment. */
static void collect_hosts(struct context *cx, const struct project *user,
                          struct origin_rules *rules)
{
    struct str rest = str_from(getenv(git_hosts[0].hosts_variable)), word;
    struct str *hosts = NULL;
    size_t count = 0, capacity = 0;

    for (size_t i = 0; i < user->host_count; i++) {
        hosts = arena_grow(&cx->arena, hosts, count, &capacity, sizeof *hosts);
        hosts[count++] = str_lower(user->hosts[i], &cx->arena);
    }
    rest = arena_str(&cx->arena, rest);
    for (size_t i = 0; i < rest.n; i++)
        if (rest.p[i] == ',')
            ((char *)(uintptr_t)rest.p)[i] = ' ';
    while (str_cut(&rest, ' ', &word)) {
        if (word.n == 0)
            continue;
        hosts = arena_grow(&cx->arena, hosts, count, &capacity, sizeof *hosts);
        hosts[count++] = str_lower(word, &cx->arena);
    }
    rules->hosts = hosts;
    rules->host_count = count;
}

bool user_read(struct context *cx, struct project *user, struct limits *limits,
               struct origin_rules *rules, struct err *e)
{
    *user = (struct project){0};
    *limits = limits_default;
    if (!read_config(cx, user, limits, e))
        return false;
    collect_hosts(cx, user, rules);
    return true;
}
