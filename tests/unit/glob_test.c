#include "base/glob.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "tap.h"

/* [D11] patterns of catalogs, as a shell has them. */

/* clang-format off */
static const struct {
    const char *pattern, *text;
    bool matches, matches_path;
} rows[] = {
    {"", "", true, true},
    {"a", "a", true, true},
    {"a", "b", false, false},
    {"*", "", true, true},
    {"*", "a/b", true, false},
    {"*/*", "a/b", true, true},
    {"*/b", "a/b", true, true},
    {"*/b", "a/c/b", true, false},
    {"a*/b*", "ax/by", true, true},
    {"a/*", "a", false, false},
    {"a", "a/b", false, false},
    {"pdf-*", "pdf-", true, true},
    {"*-*-x", "a-b-c-x", true, true},
    {"*-*-x", "a-x", false, false},
    {"?", "/", true, false},
    {"a?c", "abc", true, true},
    {"[a-c]x", "bx", true, true},
    {"[!a-c]x", "bx", false, false},
    {"[^a-c]x", "dx", true, true},
    {"[]x]", "]", true, true},
    {"[a-]", "-", true, true},
    {"[ab", "[ab", true, true},
    {"\\*", "*", true, true},
    {"\\*", "a", false, false},
    {"a\\", "a\\", true, true},
    {"skills/*", "skills/", true, true},
};
/* clang-format on */

TEST(patterns_match_as_in_a_shell)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str pattern = str_cstr(rows[i].pattern);
        struct str text = str_cstr(rows[i].text);

        CHECK(glob_matches(pattern, text) == rows[i].matches);
        CHECK(glob_matches_path(pattern, text) == rows[i].matches_path);
    }
}

TEST(stars_alone) /* [D10] */
{
    CHECK(glob_star_matches(STR("a*c"), STR("abc")));
    CHECK(!glob_star_matches(STR("a*c"), STR("abC")));
    CHECK(glob_star_matches_nocase(STR("A*c"), STR("abC")));
    CHECK(glob_star_matches(STR("[a]?\\*"), STR("[a]?\\x")));
    CHECK(!glob_star_matches(STR("[a]"), STR("a")));
    CHECK(!glob_star_matches(STR("a?"), STR("ab")));
}

/* Of few letters, so that many match. */
static void fill(char *text, size_t size, const char *letters)
{
    size_t n = (size_t)rand() % size;

    for (size_t i = 0; i < n; i++)
        text[i] = letters[(size_t)rand() % strlen(letters)];
    text[n] = '\0';
}

TEST(patterns_match_as_fnmatch_does)
{
    char pattern[9], text[9];
    bool good = true;

    srand(1);
    for (int i = 0; i < 200000; i++) {
        fill(pattern, sizeof pattern, "ab*?*");
        fill(text, sizeof text, "aab");
        good &= glob_matches(str_cstr(pattern), str_cstr(text)) ==
                (fnmatch(pattern, text, 0) == 0);
        fill(pattern, sizeof pattern, "ab*?/");
        fill(text, sizeof text, "ab/");
        good &= glob_matches_path(str_cstr(pattern), str_cstr(text)) ==
                (fnmatch(pattern, text, FNM_PATHNAME) == 0);
    }
    CHECK(good);
}

/* fnmatch() would not end. */
TEST(many_stars_take_no_exponential_time)
{
    static const char pattern[] =
        "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b";
    char text[2001];

    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    CHECK(!glob_matches(str_cstr(pattern), str_cstr(text)));
    CHECK(!glob_matches_path(str_cstr(pattern), str_cstr(text)));
}
