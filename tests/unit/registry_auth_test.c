/* What registries ask of their users: S3; TEAM.md 1.4. */

#include "../../fetch/worker/registry_auth.h"
#include "tap.h"

static const char *const schemes[] = {"none", "basic", "bearer"};

static const struct {
    const char *lines, *want;
} challenges[] = {
    {"Bearer realm=\"https://a/token\",service=\"s\",scope=\"repository:x:"
     "pull\"",
     "bearer https://a/token s repository:x:pull"},
    {"bearer  realm = \"https://a\" , scope=pull", "bearer https://a  pull"},
    {"Basic realm=\"x\"", "basic   "},
    {"Basic realm=\"x\"\nBearer realm=\"https://a\"", "bearer https://a  "},
    {"Bearer realm=\"https://a\"\nBasic realm=\"x\"", "bearer https://a  "},
    {"Bearer realm=\"a\\\"b\"", "bearer a\"b  "},
    {"Bearer realm=\"https://a\", Basic realm=\"x\"", "bearer https://a  "},
    {"Bearer", "none   "},
    {"Bearer realm=\"", "none   "},
    {"Bearer realm=\"a\\", "none   "},
    {"Bearer realm=\"a\tb\"", "none   "},
    {"Bearer service=\"s\"", "none   "},
    {"Bearer =", "none   "},
    {"Negotiate", "none   "},
    {"", "none   "},
};

TEST(a_challenge_says_where_a_token_is_to_be_had)
{
    for (size_t i = 0; i < sizeof challenges / sizeof *challenges; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct registry_challenge c;

        registry_challenge_parse(str_cstr(challenges[i].lines), &a, &c);
        CHECK_STR(arena_printf(&a, "%s %.*s %.*s %.*s", schemes[c.scheme],
                               STR_ARG(c.realm), STR_ARG(c.service),
                               STR_ARG(c.scope))
                      .p,
                  challenges[i].want);
    }
}

static const struct {
    const char *body, *want;
} tokens[] = {
    {"{\"token\":\"a.b\",\"expires_in\":60}", "a.b"},
    {"{\"access_token\":\"c\"}", "c"},
    {"{\"access_token\":\"c\",\"token\":\"a\"}", "a"},
    {"{\"token\":\"a b\"}", "none"},
    {"{\"token\":\"a\\r\\nX: y\"}", "none"},
    {"{\"token\":\"\"}", "none"},
    {"{\"token\":1}", "none"},
    {"{}", "none"},
    {"[]", "none"},
    {"<html>", "none"},
};

TEST(a_token_may_stand_in_a_header)
{
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct str token;

        CHECK_STR(registry_token_parse(str_cstr(tokens[i].body), &a, &token)
                      ? str_dup0(token, &a)
                      : "none",
                  tokens[i].want);
    }
}

static const struct {
    const char *realm, *registry;
    bool good;
} realms[] = {
    {"https://auth.example/token", "https://r.example", true},
    {"http://auth.example/token", "https://r.example", false},
    {"http://r.example/token", "https://r.example", false},
    {"http://127.0.0.1:1/token", "http://127.0.0.1:2", true},
    {"http://127.0.0.1:1/token", "https://127.0.0.1:2", false},
    {"http://localhost:1/token", "http://127.0.0.1:2", false},
    {"https://me:pw@auth.example/", "https://r.example", false},
};

TEST(credentials_go_to_https_or_stay_on_this_machine)
{
    for (size_t i = 0; i < sizeof realms / sizeof *realms; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct url realm, registry;

        CHECK(url_parse(str_cstr(realms[i].realm), &a, &realm) &&
              url_parse(str_cstr(realms[i].registry), &a, &registry));
        CHECK(registry_realm_is_good(&realm, &registry) == realms[i].good);
    }
}

TEST(a_push_asks_for_the_right_to_push)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str repository = STR("acme/mapm"), pull, other;

    pull = STR("repository:acme/mapm:pull");
    other = STR("repository:b:pull");
    CHECK(str_eq(registry_scope(pull, repository, false, &a), pull));
    CHECK(str_is(registry_scope(pull, repository, true, &a),
                 "repository:acme/mapm:pull,push"));
    CHECK(str_is(registry_scope(STR(""), repository, true, &a),
                 "repository:acme/mapm:pull,push"));
    CHECK(str_eq(registry_scope(STR(""), repository, false, &a), pull));
    CHECK(str_eq(registry_scope(other, repository, true, &a), other));
}

TEST(the_address_of_a_token_server_gets_service_and_scope)
{
    CLEANUP(arena_done) struct arena a = {0};

    CHECK(str_is(
        registry_token_address(STR("https://a/t"), STR("my s&x"),
                               STR("repository:x:pull,push"), &a),
        "https://a/t?service=my%20s%26x&scope=repository:x:pull%2Cpush"));
    CHECK(str_is(
        registry_token_address(STR("https://a/t?k=1"), STR(""), STR("p"), &a),
        "https://a/t?k=1&scope=p"));
}
