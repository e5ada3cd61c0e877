#include "base/env.h"

#include <stdlib.h>

#include "tap.h"

#define NAME "MAPM_ENV_TEST"

TEST(values_of_variables)
{
    CHECK(unsetenv(NAME) == 0);
    CHECK(!env_is_set(NAME) && env_get(NAME).n == 0);
    CHECK(setenv(NAME, "", 1) == 0);
    CHECK(env_is_set(NAME) && env_get(NAME).n == 0);
    CHECK(setenv(NAME, "a=b", 1) == 0);
    CHECK(str_is(env_get(NAME), "a=b"));
}

TEST(a_relative_folder_is_ignored)
{
    CHECK(setenv(NAME, "/a", 1) == 0);
    CHECK(str_is(env_folder(NAME), "/a"));
    CHECK(setenv(NAME, "a/b", 1) == 0);
    CHECK(env_folder(NAME).n == 0);
    CHECK(unsetenv(NAME) == 0);
    CHECK(env_folder(NAME).n == 0);
}

/* [row 29] */
TEST(folder_of_configuration_is_absolute_or_unknown)
{
    CLEANUP(arena_done) struct arena a = {0};
    static const struct {
        const char *variable, *home, *folder;
    } rows[] = {
        {"/x", "/h", "/x"},         {"/x", "", "/x"}, {"x", "/h", "/h/.config"},
        {NULL, "/h", "/h/.config"}, {"x", "", ""},    {NULL, "", ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(rows[i].variable
                  ? setenv("XDG_CONFIG_HOME", rows[i].variable, 1) == 0
                  : unsetenv("XDG_CONFIG_HOME") == 0);
        CHECK(str_is(env_config_folder(str_cstr(rows[i].home), &a),
                     rows[i].folder));
    }
}

static bool is_kept(struct str variable)
{
    return !str_starts(variable, STR(NAME "="));
}

static size_t count_of(const char *const *list, const char *variable)
{
    size_t n = 0;

    for (; *list; list++)
        n += str_is(str_cstr(*list), variable);
    return n;
}

TEST(lists_of_variables)
{
    CLEANUP(arena_done) struct arena a = {0};
    const char **all, **rest;

    CHECK(setenv(NAME, "x", 1) == 0);
    CHECK(setenv(NAME "_2", "y", 1) == 0);
    all = env_with(NULL, NULL, &a);
    rest = env_with(is_kept, "ADDED=1", &a);
    CHECK(count_of(all, NAME "=x") == 1 && count_of(all, NAME "_2=y") == 1);
    CHECK(count_of(rest, NAME "=x") == 0 && count_of(rest, NAME "_2=y") == 1);
    CHECK(count_of(rest, "ADDED=1") == 1);
}
