#include "mapm/git_host.h"

#include "mapm/host_config.h"

#define TOKEN(name, own_host)                                                  \
    {                                                                          \
        name, "the token from " name, own_host                                 \
    }

/* clang-format off */
const struct git_host git_hosts[] = {
    {.name = "GitHub", .host = "github.com",
     .hosts_variable = "MAPM_GITHUB_HOSTS",
     .tree = "tree", .pages = {"blob", "raw"}, .suffix = ".git",
     .user = "x-access-token", /* as GitHub's own actions do */
     /* A token for GitHub Enterprise has names of its own, as gh reads them. */
     .tokens = {TOKEN("GH_ENTERPRISE_TOKEN", true),
                TOKEN("GITHUB_ENTERPRISE_TOKEN", true),
                TOKEN("GH_TOKEN", false),
                TOKEN("GITHUB_TOKEN", false)},
     .has_gh = true,
     .protocol = 2, .shallow = true, .filter = true},
};
/* clang-format on */
const size_t git_host_count = sizeof git_hosts / sizeof *git_hosts;

const struct git_host *git_host_find(struct str host,
                                     const struct host_config *named,
                                     size_t named_count)
{
    const struct host_config *h;

    for (size_t i = 0; i < git_host_count; i++)
        if (str_eq_nocase(host, str_cstr(git_hosts[i].host)))
            return &git_hosts[i];
    h = host_config_find(host, named, named_count);
    return h ? h->kind : NULL;
}

const struct git_host *git_host_get(struct str host)
{
    const struct git_host *g = git_host_find(host, NULL, 0);

    return g ? g : &git_hosts[0];
}

struct str git_host_url(struct str host, struct str owner,
                        struct str repository, struct arena *a)
{
    return arena_printf(a, "https://%.*s/%.*s/%.*s%s", STR_ARG(host),
                        STR_ARG(owner), STR_ARG(repository),
                        git_host_get(host)->suffix);
}

bool git_host_takes(const struct git_host *g, const struct git_host_token *t,
                    struct str host)
{
    return t->variable && !(t->own_host && str_is(host, g->host));
}

const char *git_host_variable(const struct git_host *g, struct str host)
{
    bool is_named = !str_is(host, g->host);

    for (size_t i = 0; i < GIT_HOST_MAX_TOKENS; i++)
        if (g->tokens[i].variable && g->tokens[i].own_host == is_named)
            return g->tokens[i].variable;
    return g->tokens[0].variable;
}
