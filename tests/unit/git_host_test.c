#include "base/text.h"
#include "mapm/host_config.h"

#include <string.h>

#include "tap.h"

static const struct host_config named[] = {
    {.host = STR_INIT("git.example"), .kind = &git_hosts[0]}};

TEST(rows_of_the_table_are_complete) /* [H1, M13] */
{
    for (size_t i = 0; i < git_host_count; i++) {
        const struct git_host *g = &git_hosts[i];
        struct str home = str_cstr(g->homes[0]);

        CHECK(g->names[0] && g->title && g->tree && g->suffix && g->user);
        CHECK(g->addresses[0].from);
        CHECK(!g->pages[GIT_HOST_MAX_PAGES - 1].shows); /* ends the list */
        CHECK(git_host_of_kind(str_cstr(g->names[0])) == g);
        if (home.n && !str_has_char(home, '*'))
            CHECK(git_host_find(home, NULL, 0) == g);
    }
}

TEST(hosts_are_found_by_name) /* [H1, row 50] */
{
    static const struct {
        const char *host, *kind; /* NULL: none */
    } rows[] = {
        {"GitHub.com", "github"},
        {"git.example", "github"},
        {"gitlab.com", "gitlab"},
        {"bitbucket.org", "bitbucket"},
        {"codeberg.org", "gitea"},
        {"dev.azure.com", "azure"},
        {"o.visualstudio.com", "azure"},
        {"git.sr.ht", "sourcehut"},
        {"huggingface.co", "huggingface"},
        {"git-codecommit.eu-west-1.amazonaws.com", "codecommit"},
        {"raw.githubusercontent.com", "github"},
        {"", NULL},
        {"visualstudio.com", NULL},
        {".visualstudio.com", NULL},
        {"a.b.visualstudio.com", NULL},
        {"git-codecommit.x.evil.org.amazonaws.com", NULL},
        {"gitlab.com.evil.org", NULL},
        {"xgitlab.com", NULL},
        {"gitlab.com.", NULL},
        {"x.git.example", NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct git_host *g =
            git_host_find(str_cstr(rows[i].host), named, 1);

        if (!g != !rows[i].kind)
            printf("# %s\n", rows[i].host);
        CHECK(!g == !rows[i].kind);
        CHECK(!g || strcmp(g->names[0], rows[i].kind) == 0);
    }
}

TEST(a_token_for_hosts_that_the_user_names_stays_there) /* [row 13] */
{
    const struct git_host *g = &git_hosts[0];

    CHECK_STR(git_host_variable(g, STR("github.com")), "GH_TOKEN");
    CHECK_STR(git_host_variable(g, STR("git.example")), "GH_ENTERPRISE_TOKEN");
    for (size_t i = 0; i < GIT_HOST_MAX_TOKENS; i++) {
        const struct git_host_token *t = &g->tokens[i];
        bool is_enterprise = strstr(t->variable, "ENTERPRISE") != NULL;

        CHECK(git_host_takes(g, t, STR("github.com")) == !is_enterprise);
        CHECK(git_host_takes(g, t, STR("git.example")));
    }
}
