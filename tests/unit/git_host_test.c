#include "base/text.h"
#include "mapm/host_config.h"

#include <string.h>

#include "tap.h"

static const struct host_config named[] = {
    {.host = STR_INIT("git.example"), .kind = &git_hosts[0]}};

TEST(every_host_of_the_table_is_found) /* [M13] */
{
    for (size_t i = 0; i < git_host_count; i++) {
        const struct git_host *g = &git_hosts[i];
        struct str host = str_cstr(g->host);

        CHECK(g->name && g->tree && g->suffix && g->user);
        CHECK(git_host_find(host, NULL, 0) == g && git_host_get(host) == g);
        CHECK(git_host_variable(g, host) != NULL);
    }
    CHECK(git_host_find(STR("GitHub.com"), NULL, 0) == &git_hosts[0]);
    CHECK(!git_host_find(STR(""), NULL, 0));
    CHECK(!git_host_find(STR("git.example"), NULL, 0));
    CHECK(!git_host_find(STR("x.git.example"), named, 1));
}

TEST(a_host_that_the_user_names_is_one_of_the_first_kind) /* [X13] */
{
    const struct git_host *g = git_host_find(STR("git.example"), named, 1);
    struct arena a = {0};

    CHECK(g == &git_hosts[0] && git_host_get(STR("git.example")) == g);
    CHECK_STR(git_host_url(STR("git.example"), STR("o"), STR("r"), &a).p,
              "https://git.example/o/r.git");
    arena_done(&a);
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
        CHECK(str_ends(str_cstr(t->source), str_cstr(t->variable)));
    }
}
