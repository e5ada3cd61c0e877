#include "base/text.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/limits.h"
#include "mapm/member.h"
#include "mapm/name.h"

#include <string.h>

#include "tap.h"

#define C10 "abcdefghij"
#define C60 C10 C10 C10 C10 C10 C10
#define M100                                                                   \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"                       \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* [M3, K5, T5, X1, row 6] */
static const struct {
    const char *name;
    bool valid;
} names[] = {
    {"a", true},          {"a1", true},       {"0", true},
    {"pdf-2-text", true}, {C60 "abcd", true}, {C60 "abcde", false},
    {"", false},          {"-a", false},      {"a-", false},
    {"a--b", false},      {"A", false},       {"a_b", false},
    {"a b", false},       {"a/b", false},     {"a.b", false},
    {"..", false},        {".", false},       {"\xc3\xa9", false},
    {"a\n", false},       {"a\t", false},     {"\xef\xbd\x81", false},
};

/* [M4] */
static const struct {
    const char *scope;
    bool valid;
} scopes[] = {
    {"acme", true},     {"io.example", true}, {"a-b.c-d", true},
    {"a1.b2.c3", true}, {"Acme", false},      {"a..b", false},
    {".a", false},      {"a.", false},        {"", false},
    {"a-.b", false},    {"a/b", false},       {"a_b", false},
    {C60 ".abc", true}, {C60 ".abcd", false},
};

/* [M16] */
static const struct {
    const char *name;
    bool valid;
} mcp_names[] = {
    {"io.playwright/mcp", true},
    {"acme/cli", true},
    {"A.b-C/x_Y.z", true},
    {"a/b", true},
    {"ab", false},
    {"a/b/c", false},
    {"/b", false},
    {"a/", false},
    {"a_b/c", false},
    {"a b/c", false},
    {"../x", false},
    {"a/..", false},
    {"./x", false},
    {"a\\b/c", false},
    {"", false},
    {M100 "/" M100, false},
    {M100 "/" C60 C10 C10 C10 "abcdefghi", true},
};

/* [M7] */
static const struct {
    const char *text;
    bool valid;
} versions[] = {
    {"1.0.0", true},
    {"0.0.0", true},
    {"10.20.30", true},
    {"1.0", false},
    {"1", false},
    {"1.0.0.0", false},
    {"01.0.0", false},
    {"1.0.0-rc1", false},
    {"v1.0.0", false},
    {"1.0.0 ", false},
    {"", false},
    {"1..0", false},
    {"1.0.-1", false},
    {"1.0.", false},
    {"18446744073709551615.0.0", true},
    {"18446744073709551616.0.0", false},
};

#define ROWS(table) (sizeof(table) / sizeof *(table))

TEST(each_of_the_names) /* [M3, X1] */
{
    for (size_t i = 0; i < ROWS(names); i++) {
        struct str s = str_cstr(names[i].name);
        bool ok = name_is_kebab(s);

        if (ok != names[i].valid)
            printf("# \"%s\"\n", names[i].name);
        CHECK(ok == names[i].valid);
        CHECK((name_fault(s) == NULL) == names[i].valid);
    }
}

TEST(names_with_a_nul_are_no_names) /* [row 5] */
{
    CHECK(!name_is_kebab(STR("foo\0bar")));
    CHECK(!name_scope_is_valid(STR("foo\0bar")));
    CHECK(!name_mcp_is_valid(STR("a/b\0c")));
}

TEST(each_of_the_scopes) /* [M4] */
{
    for (size_t i = 0; i < ROWS(scopes); i++) {
        if (name_scope_is_valid(str_cstr(scopes[i].scope)) != scopes[i].valid)
            printf("# row %zu\n", i);
        CHECK(name_scope_is_valid(str_cstr(scopes[i].scope)) ==
              scopes[i].valid);
    }
}

TEST(variables_of_the_environment)
{
    static const char *const valid[] = {"A", "_", "a_B", "KEY_2"};
    static const char *const invalid[] = {"",    "2KEY", "A-B",     "A B",
                                          "A=B", "A.B",  "\xc3\xa4"};
    char text[130];

    for (size_t i = 0; i < sizeof valid / sizeof *valid; i++)
        CHECK(name_is_variable(str_cstr(valid[i])));
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
        CHECK(!name_is_variable(str_cstr(invalid[i])));
    CHECK(!name_is_variable(STR("A\0B")));
    memset(text, 'A', sizeof text);
    CHECK(name_is_variable(str_make(text, 128)));
    CHECK(!name_is_variable(str_make(text, 129)));
}

TEST(each_of_the_mcp_names) /* [M16] */
{
    for (size_t i = 0; i < ROWS(mcp_names); i++) {
        if (name_mcp_is_valid(str_cstr(mcp_names[i].name)) !=
            mcp_names[i].valid)
            printf("# row %zu\n", i);
        CHECK(name_mcp_is_valid(str_cstr(mcp_names[i].name)) ==
              mcp_names[i].valid);
    }
}

TEST(each_of_the_versions) /* [M7] */
{
    for (size_t i = 0; i < ROWS(versions); i++) {
        struct version v = {{7, 7, 7}};
        bool ok = version_parse(str_cstr(versions[i].text), &v);

        if (ok != versions[i].valid)
            printf("# \"%s\"\n", versions[i].text);
        CHECK(ok == versions[i].valid);
        CHECK(ok || v.part[0] == 7);
    }
}

TEST(versions_compare_as_numbers)
{
    struct version x, y;

    CHECK(version_parse(STR("1.9.0"), &x) && version_parse(STR("1.10.0"), &y));
    CHECK(version_cmp(&x, &y) < 0);
    CHECK(version_cmp(&y, &x) > 0);
    CHECK(version_cmp(&x, &x) == 0);
}

TEST(name_faults_say_why)
{
    CHECK_STR(name_fault(STR("")), "is empty");
    CHECK(strstr(name_fault(STR("a--b")), "\"--\""));
    CHECK(strstr(name_fault(STR("a/b")), "two fields"));
    CHECK(strstr(name_fault(STR("Foo")), "upper-case"));
    CHECK(strstr(name_fault(STR("foO")), "upper-case"));
    CHECK(strstr(name_fault(STR("a b")), "blank"));
    CHECK(strstr(name_fault(STR("a_b")), "\"_\""));
    CHECK(strstr(name_fault(STR("!ab")), "other than"));
    CHECK(strstr(name_fault(STR("ab!")), "other than"));
    CHECK(strstr(name_fault(STR("-a")), "starts"));
    CHECK(strstr(name_fault(STR("a-")), "ends"));
    CHECK(strstr(name_fault(STR(C60 "abcde")), "64"));
}

TEST(kinds_and_profiles_have_names)
{
    enum doc_kind kind = DOC_MCP;
    enum profile p = PROFILE_METIS;

    CHECK_STR(doc_kind_name(DOC_AGENT), "agent");
    CHECK_STR(doc_kind_plural(DOC_MCP), "mcps");
    CHECK_STR(doc_entry_file(DOC_SKILL), "SKILL.md");
    CHECK(doc_entry_file(DOC_MCP) == NULL);
    CHECK(doc_kind_find(STR("skill"), &kind) && kind == DOC_SKILL);
    CHECK(!doc_kind_find(STR("skills"), &kind) && kind == DOC_SKILL);
    CHECK(document_profile_find(STR("lm-kit"), &p) && p == PROFILE_LM_KIT);
    CHECK(!document_profile_find(STR("LM-Kit"), &p));
}

TEST(members_are_folders_in_the_workspace) /* [D10] */
{
    static const struct {
        const char *text;
        bool is_path, is_pattern;
    } rows[] = {
        {"a", true, true},        {"apps/web", true, true},
        {"a/.", false, false},    {"../a", false, false},
        {"/a", false, false},     {"a/", false, false},
        {"a//b", false, false},   {"", false, false},
        {"a/.git", false, false}, {"a/-b", false, false},
        {"a\\b", false, false},   {"a\n", false, false},
        {"a\xff", false, false},  {"a\xe2\x80\x8b", false, false},
        {"apps/*", false, true},  {"a*/b", false, true},
        {"**", false, false},     {"a/**/b", false, false},
    };
    char longest[MEMBER_MAX_BYTES + 2];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(member_path_is_valid(str_cstr(rows[i].text)) == rows[i].is_path);
        CHECK(member_pattern_is_valid(str_cstr(rows[i].text)) ==
              rows[i].is_pattern);
    }
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    CHECK(!member_path_is_valid(str_cstr(longest)));
    CHECK(member_path_is_valid(str_cstr(longest + 1)));
    CHECK(member_matches(STR("apps/*"), STR("apps/web")));
    CHECK(!member_matches(STR("apps/*"), STR("apps/web/x")));
    CHECK(!member_matches(STR("apps/*"), STR("apps")));
    CHECK(!member_matches(STR("apps/w*"), STR("libs/web")));
}
