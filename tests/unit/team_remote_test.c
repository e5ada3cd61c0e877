#include "mapm/project.h"
#include "mapm/team_remote.h"

#include "tap.h"

/* URLs of a team's stores, and who may name which. [S1] */

#define C TEAM_FROM_CONFIG
#define E TEAM_FROM_ENVIRONMENT
#define W TEAM_FROM_WORKSPACE

static struct arena arena;

/* clang-format off */
static const struct {
    enum team_remote_source source;
    const char *text, *url, *base, *host, *repository;
} good[] = {
    {W, "oci://ghcr.io/acme/mapm", "oci://ghcr.io/acme/mapm", "https://ghcr.io", "ghcr.io", "acme/mapm"},
    {W, "OCI://GHCR.io/acme/mapm/", "oci://ghcr.io/acme/mapm", "https://ghcr.io", "ghcr.io", "acme/mapm"},
    {W, "oci://r.example:5000/a__b/c--d.e_f", "oci://r.example:5000/a__b/c--d.e_f", "https://r.example:5000", "r.example:5000", "a__b/c--d.e_f"},
    {W, "oci://r.example:443/a", "oci://r.example:443/a", "https://r.example:443", "r.example:443", "a"},
    {W, "https://store.acme.example/mapm", "https://store.acme.example/mapm", "https://store.acme.example/mapm", "store.acme.example", ""},
    {W, "https://store.acme.example:443/", "https://store.acme.example", "https://store.acme.example", "store.acme.example", ""},
    {W, "https://b.example/%7Eteam/A+b", "https://b.example/%7Eteam/A+b", "https://b.example/%7Eteam/A+b", "b.example", ""},
    {W, "https://140.82.121.4/x", "https://140.82.121.4/x", "https://140.82.121.4/x", "140.82.121.4", ""},
    {W, "https://10.0.0.1.example/x", "https://10.0.0.1.example/x", "https://10.0.0.1.example/x", "10.0.0.1.example", ""},
    {C, "https://10.0.0.1/x", "https://10.0.0.1/x", "https://10.0.0.1/x", "10.0.0.1", ""},
    {C, "oci://169.254.169.254/x", "oci://169.254.169.254/x", "https://169.254.169.254", "169.254.169.254", "x"},
    {E, "http://127.0.0.1:8080/x/", "http://127.0.0.1:8080/x", "http://127.0.0.1:8080/x", "127.0.0.1:8080", ""},
    {E, "http://localhost:80", "http://localhost", "http://localhost", "localhost", ""},
    {E, "oci://localhost:5000/mapm", "oci://localhost:5000/mapm", "http://localhost:5000", "localhost:5000", "mapm"},
    {C, "oci://[::1]:5000/mapm", "oci://[::1]:5000/mapm", "http://[::1]:5000", "[::1]:5000", "mapm"},
    {C, "https://[fd00::7]/mapm", "https://[fd00::7]/mapm", "https://[fd00::7]/mapm", "[fd00::7]", ""},
    {C, "oci://registry/mapm", "oci://registry/mapm", "https://registry", "registry", "mapm"},
};

static const struct {
    enum team_remote_source source;
    const char *text;
} bad[] = {
    {C, ""}, {C, "ghcr.io/acme/mapm"}, {C, "oci:ghcr.io/acme"}, {C, "ftp://a.example/x"},
    {C, "oci://ghcr.io"}, {C, "oci://ghcr.io/"}, {C, "oci://ghcr.io/Acme/mapm"},
    {C, "oci://ghcr.io/acme//mapm"}, {C, "oci://ghcr.io/acme/-m"}, {C, "oci://ghcr.io/acme/m-"},
    {C, "oci://ghcr.io/a___b"}, {C, "oci://ghcr.io/acme/mapm:latest"}, {C, "oci://ghcr.io/a@sha256:0"},
    {C, "oci:///acme"}, {C, "oci://-x/acme"}, {C, "oci://a..b/acme"}, {C, "oci://a_b/acme"},
    {C, "oci://a:0/acme"}, {C, "oci://a:65536/acme"}, {C, "oci://a:/acme"}, {C, "oci://[::1/acme"},
    {C, "oci://[::1]x/acme"}, {C, "https://me:secret@a.example/x"}, {C, "https://a.example/x?y"},
    {C, "https://a.example/x#y"}, {C, "https://a.example/x/../y"}, {C, "https://a.example/./y"},
    {C, "https://a.example//y"}, {C, "https://a.example/x y"}, {C, "https://a.example/x\ty"},
    {C, "https://a.example/\"y"}, {C, "http://a.example/x"}, {C, "http://10.0.0.1/x"},
    {W, "http://localhost/x"}, {W, "https://127.0.0.1/x"}, {W, "oci://localhost:5000/x"},
    {W, "https://[::1]/x"},
    {W, "https://10.0.0.1/x"}, {E, "https://10.0.0.1/x"}, {E, "oci://192.168.0.9:5000/x"},
    {W, "https://169.254.169.254/x"}, {W, "https://[fd00::1]/x"}, {W, "https://[::ffff:10.0.0.1]/x"},
    {W, "https://2130706433/x"}, {W, "https://10.1/x"}, {W, "https://0x0a.1/x"}, {W, "https://0/x"},
};

static const struct {
    enum project_role role;
    const char *text, *message;
    size_t count;
    bool only;
} files[] = {
    {PROJECT_WORKSPACE, "store: {remote: [\"oci://ghcr.io/acme/mapm\"]}\n", NULL, 1, false},
    {PROJECT_USER, "store:\n  remote:\n    - http://localhost:9/x\n    - https://a.example\n  only: true\n", NULL, 2, true},
    {PROJECT_USER, "store: {only: yes}\n", NULL, 0, true},
    {PROJECT_USER, "store: {remote: []}\n", NULL, 0, false},
    {PROJECT_USER, "store:\n", NULL, 0, false},
    {PROJECT_WORKSPACE, "store: {only: true}\n", "m:1: \"only\" without \"remote\"", 0, false},
    {PROJECT_LOCAL, "store: {}\n", "m:1: \"store\" may not stand here", 0, false},
    {PROJECT_USER, "store: https://a.example\n", "m:1: store must be a mapping", 0, false},
    {PROJECT_USER, "store: {remote: https://a.example}\n", "m:1: remote must be a list", 0, false},
    {PROJECT_USER, "store: {remote: [1]}\n", "m:1: a store must be text: put it in quotes", 0, false},
    {PROJECT_USER, "store: {remotes: []}\n", "m:1: unknown key \"remotes\"", 0, false},
    {PROJECT_USER, "store: {only: maybe}\n", "m:1: only must be true or false", 0, false},
    {PROJECT_USER, "store:\n  remote:\n    - https://a.example\n    - https://A.example/\n", "m:4: https://a.example is listed twice", 0, false},
    {PROJECT_WORKSPACE, "store: {remote: [\"http://localhost/x\"]}\n", "m:1: not the URL of a store: \"http://localhost/x\": only config.yaml and MAPM_STORE may name this machine", 0, false},
    {PROJECT_WORKSPACE, "store: {remote: [\"oci://169.254.169.254/x\"]}\n", "m:1: not the URL of a store: \"oci://169.254.169.254/x\": only config.yaml may name a private address", 0, false},
    {PROJECT_USER, "store: {remote: [\"oci://169.254.169.254/x\"]}\n", NULL, 1, false},
};
/* clang-format on */

TEST(urls_are_taken_apart)
{
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct team_remote t, again;
        struct err e = {0};

        CHECK(team_remote_parse(str_cstr(good[i].text), good[i].source, &arena,
                                &t, &e));
        CHECK_STR(str_dup0(t.url, &arena), good[i].url);
        CHECK_STR(str_dup0(t.base, &arena), good[i].base);
        CHECK_STR(str_dup0(t.host, &arena), good[i].host);
        CHECK_STR(str_dup0(t.repository, &arena), good[i].repository);
        CHECK((t.kind == TEAM_REGISTRY) == (t.repository.n > 0));
        CHECK(t.is_plain == str_starts(t.base, STR("http://")));
        CHECK(team_remote_parse(t.url, t.source, &arena, &again, &e));
        CHECK(str_eq(t.url, again.url) && str_eq(t.base, again.base));
    }
}

TEST(urls_that_name_no_store_are_refused)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct team_remote t = {.url = STR("untouched")};
        struct err e = {0};

        CHECK(!team_remote_parse(str_cstr(bad[i].text), bad[i].source, &arena,
                                 &t, &e));
        CHECK_STR(str_dup0(t.url, &arena), "untouched");
        CHECK(e.code == ERR_FORMAT && e.hint[0]);
        CHECK(str_find(str_cstr(err_first(&e)), STR("secret")) == SIZE_MAX);
    }
}

TEST(rights_depend_on_where_the_url_stands)
{
    struct team_remotes list = {0}, more;
    struct err e = {0};

    CHECK(team_remotes_parse(STR(" https://a.example  oci://b.example/x "), W,
                             &arena, &list, &e));
    CHECK(list.count == 2);
    CHECK(!team_remote_may_be_loopback(&list.items[0]) &&
          !team_remote_may_be_private(&list.items[0]) &&
          !team_remote_may_have_token(&list.items[0]));
    CHECK(team_remotes_parse(STR("https://c.example https://a.example"), E,
                             &arena, &more, &e));
    CHECK(team_remotes_add(&list, more.items, more.count, &arena, &e));
    CHECK(list.count == 3);
    CHECK(team_remote_may_be_loopback(&list.items[0]) &&
          !team_remote_may_be_private(&list.items[0]) &&
          team_remote_may_have_token(&list.items[0]));
    CHECK(team_remotes_parse(STR("https://a.example"), C, &arena, &more, &e));
    CHECK(team_remotes_add(&list, more.items, more.count, &arena, &e));
    CHECK(list.count == 3 && team_remote_may_be_private(&list.items[0]));
    CHECK(!team_remote_may_have_token(&list.items[1]));
}

TEST(no_more_stores_than_the_limit)
{
    struct team_remotes list = {0};
    struct err e = {0};

    for (unsigned i = 0; i < TEAM_REMOTES_MAX; i++) {
        struct team_remotes one;
        struct str url = arena_printf(&arena, "https://a.example/%u", i);

        CHECK(team_remotes_parse(url, C, &arena, &one, &e));
        CHECK(team_remotes_add(&list, one.items, one.count, &arena, &e));
    }
    CHECK(!team_remotes_add(
        &list, &(struct team_remote){.url = STR("https://b")}, 1, &arena, &e));
    CHECK(e.code == ERR_LIMIT && list.count == TEAM_REMOTES_MAX);
}

TEST(files_name_stores)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct project p = {0};
        struct err e = {0};
        bool ok = project_parse(str_cstr(files[i].text), files[i].role, "m",
                                NULL, &arena, &p, &e);

        CHECK(ok == (files[i].message == NULL));
        if (!ok)
            CHECK_STR(err_first(&e), files[i].message);
        CHECK(p.store.count == files[i].count);
        CHECK(p.store.only == files[i].only);
    }
}

/* Another URL, another order, another `only`: another proposal. */
TEST(a_proposal_is_exactly_its_urls)
{
    static const char *const texts[] = {
        "store: {remote: [\"https://a.example\", \"https://b.example\"]}",
        "store: {remote: [\"https://b.example\", \"https://a.example\"]}",
        "store: {remote: [\"https://a.example\"]}",
        "store: {remote: [\"https://a.example\"], only: true}",
    };
    struct hash hashes[4];
    struct project p;
    struct err e = {0};

    for (size_t i = 0; i < 4; i++) {
        CHECK(project_parse(str_cstr(texts[i]), PROJECT_WORKSPACE, "m", NULL,
                            &arena, &p, &e));
        CHECK(project_store_digest(&p, &hashes[i]));
        for (size_t k = 0; k < i; k++)
            CHECK(!hash_eq(&hashes[i], &hashes[k]));
    }
    CHECK(project_parse(STR("store: {}"), PROJECT_WORKSPACE, "m", NULL, &arena,
                        &p, &e));
    CHECK(!project_store_digest(&p, &hashes[0]));
}
