#include "base/arena.h"
#include "mapm/project.h"

#include <stdio.h>

#include "../lib/tap.h"

/* Limits: who may change them, and what is said of them. THREATS.md 7. */

static struct arena arena;

static bool apply(struct limits *l, const char *text, enum project_role role,
                  const char *name, struct err *e)
{
    struct project p;

    return project_parse(str_cstr(text), role, name, NULL, &arena, &p, e) &&
           limits_apply(l, &p, role, name, &arena, e);
}

/* clang-format off */
static const struct {
    const char *user, *workspace;
    uint64_t files;    /* what package_max_files becomes */
    const char *from, *diagnostic;
} rows[] = {
    {"", "", 5000, "", NULL},
    {"", "9", 9, "mapm.yaml:2", NULL},
    {"", "5000", 5000, "mapm.yaml:2", NULL},
    {"", "5001", 0, "", "mapm.yaml:2: package_max_files: a workspace may only lower it (5000)"},
    {"9000", "", 9000, "/c.yaml:2", NULL},
    {"9000", "9", 9, "mapm.yaml:2", NULL},
    {"9000", "9000", 9000, "mapm.yaml:2", NULL},
    {"9000", "9001", 0, "", "mapm.yaml:2: package_max_files: a workspace may only lower it (9000, /c.yaml:2)"},
    {"10", "", 10, "/c.yaml:2", NULL},
    {"10", "11", 10, "/c.yaml:2", NULL},
    {"10", "5000", 10, "/c.yaml:2", NULL},
    {"10", "5001", 0, "", "mapm.yaml:2: package_max_files: a workspace may only lower it (10, /c.yaml:2)"},
    {"100000", "", 100000, "/c.yaml:2", NULL},
};
/* clang-format on */

static const char *section(const char *value)
{
    return *value ? arena_printf(&arena, "limits:\n  package_max_files: %s\n",
                                 value)
                        .p
                  : "limits: {}\n";
}

TEST(the_user_raises_a_workspace_lowers) /* [row 15] */
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct limits l = limits_default;
        struct err e = {0};
        bool ok;

        CHECK(apply(&l, section(rows[i].user), PROJECT_USER, "/c.yaml", &e));
        ok = apply(&l, section(rows[i].workspace), PROJECT_WORKSPACE,
                   "mapm.yaml", &e);
        CHECK(ok == !rows[i].diagnostic);
        CHECK_STR(err_first(&e), ok ? "" : rows[i].diagnostic);
        if (!ok) {
            CHECK(e.code == ERR_FORMAT);
            CHECK_STR(e.hint,
                      "raise it in your own ~/.config/mapm/config.yaml");
            continue;
        }
        CHECK(l.package_max_files.value == rows[i].files);
        CHECK_STR(str_dup0(l.package_max_files.from, &arena), rows[i].from);
        CHECK(l.package_max_bytes.value == PACKAGE_MAX_BYTES);
    }
    arena_done(&arena);
}

static const char *limits_text(const struct limit *l, uint64_t value)
{
    return arena_printf(&arena, "limits: {%s: %llu}", l->name,
                        (unsigned long long)value)
        .p;
}

TEST(each_has_its_name_its_ceiling_and_its_least)
{
    for (size_t i = 0; i < LIMITS_COUNT; i++) {
        struct limits l = limits_default;
        struct limit *one = &l.all[i];
        struct err e = {0};

        CHECK(one->value >= one->least && one->value <= one->ceiling);
        CHECK(limits_find(&l, str_cstr(one->name)) == one);
        CHECK(apply(&l, limits_text(one, one->ceiling), PROJECT_USER, "c", &e));
        CHECK(one->value == one->ceiling);
        CHECK(apply(&l, limits_text(one, one->least), PROJECT_WORKSPACE, "m",
                    &e));
        CHECK(one->value == one->least);
        CHECK(one->least == 0 || !apply(&l, limits_text(one, one->least - 1),
                                        PROJECT_USER, "c", &e));
        CHECK(!apply(&l, limits_text(one, one->ceiling + 1), PROJECT_USER, "c",
                     &e));
    }
    arena_done(&arena);
}

/* Each has the value of the constant that has its name. */
TEST(names_are_those_of_the_header)
{
    FILE *f = fopen("include/mapm/limits.h", "r");
    char line[256];
    size_t seen = 0;

    CHECK(f != NULL);
    while (f && fgets(line, sizeof line, f)) {
        struct limits l = limits_default;
        struct str rest = str_cstr(line), name;

        if (!str_starts(rest, STR("#define ")))
            continue;
        rest = str_from_index(rest, 8);
        if (str_cut(&rest, ' ', &name))
            seen += limits_find(&l, str_lower(name, &arena)) != NULL;
    }
    CHECK(seen == LIMITS_COUNT);
    if (f)
        fclose(f);

    arena_done(&arena);
}

TEST(an_error_names_the_limit_and_who_set_it)
{
    struct limit l = limits_default.graph_max_depth;
    struct err e = {0};

    CHECK(!limit_fail(&l, &e, "too deep: %d", 7));
    CHECK(e.code == ERR_LIMIT);
    CHECK_STR(err_first(&e), "too deep: 7 (graph_max_depth)");
    CHECK_STR(e.hint, "your own ~/.config/mapm/config.yaml may raise it: "
                      "limits: {graph_max_depth: 2000}");
    l.from = STR("mapm.yaml:3");
    CHECK(!limit_fail(&l, &e, "too deep"));
    CHECK_STR(err_first(&e), "too deep (graph_max_depth, mapm.yaml:3)");
    CHECK_STR(e.hint, "graph_max_depth is 1000 in mapm.yaml:3");
}
