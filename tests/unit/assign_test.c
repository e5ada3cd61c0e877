#include "base/hash.h"
#include "mapm/name.h"
#include "mapm/resolver.h"

#include "graph.h"
#include "tap.h"

/* [X9] folders, [X21] keys of MCP servers. Who comes first keeps the name. */

#define A         DOC_AGENT
#define S         DOC_SKILL
#define M         DOC_MCP
#define STEPS_MAX 8

/* 64 characters, and what they are cut to when 9 more must fit. */
#define N64 "a23456789-123456789-123456789-123456789-123456789-123456789-1234"
#define C55 "acme-a23456789-123456789-123456789-123456789-123456789"

static struct arena arena;

struct row {
    enum doc_kind kind;
    const char *fqn, *recorded, *want; /* want "#x": "x-" and the hash */
};

/* clang-format off */
static const struct {
    const char *what;
    struct row rows[STEPS_MAX];
    const char *message;
} cases[] = {
    {"nothing", {{0}}, NULL},
    {"each its own name", {{S, "acme/foo", 0, "foo"}, {S, "bar", 0, "bar"}}, NULL},
    {"the later one gets its scope [X9]",
     {{S, "acme/foo", 0, "foo"}, {S, "beta/foo", 0, "beta-foo"}, {S, "io.ex-a/foo", 0, "io-ex-a-foo"}}, NULL},
    {"agents and skills have folders of their own [X9]",
     {{S, "acme/foo", 0, "foo"}, {A, "beta/foo", 0, "foo"}, {M, "beta/foo", 0, "beta-foo"}}, NULL},
    {"keys and folders of one name [X9, X21]",
     {{S, "foo", 0, "foo"}, {M, "foo", 0, "foo"}, {A, "foo", 0, "foo"}}, NULL},
    {"a recorded name never changes [X9]",
     {{S, "acme/foo", 0, "acme-foo"}, {S, "beta/foo", "foo", "foo"}}, NULL},
    {"a recorded one stays though its rival has gone [X9]",
     {{S, "beta/foo", "beta-foo", "beta-foo"}, {S, "gamma/foo", 0, "foo"}}, NULL},
    {"no scope to tell by [X9]",
     {{S, "acme/foo", 0, "foo"}, {S, "foo", 0, "#foo"}}, NULL},
    {"the longer name is taken as well [X9]",
     {{S, "beta-foo", 0, "beta-foo"}, {S, "acme/foo", 0, "foo"}, {S, "beta/foo", 0, "#beta-foo"}}, NULL},
    {"two scopes that look alike [X9]",
     {{S, "foo", 0, "foo"}, {S, "a.b/foo", 0, "a-b-foo"}, {S, "a-b/foo", 0, "#a-b-foo"}}, NULL},
    {"a name that another took as its longer one [X9]",
     {{S, "foo", 0, "foo"}, {S, "beta/foo", 0, "beta-foo"}, {S, "x/beta-foo", 0, "x-beta-foo"}}, NULL},
    {"64 characters fit, 65 do not [X9]",
     {{S, "x/" "a23456789-123456789-123456789-123456789-123456789-123456789", 0, "a23456789-123456789-123456789-123456789-123456789-123456789"},
      {S, "acme/" "a23456789-123456789-123456789-123456789-123456789-123456789", 0, "acme-a23456789-123456789-123456789-123456789-123456789-123456789"},
      {S, "acmee/" "a23456789-123456789-123456789-123456789-123456789-123456789", 0, "#acmee-a23456789-123456789-123456789-123456789-123456789"}},
     NULL},
    {"cut at a hyphen: still a name [X9]",
     {{S, "x/" N64, 0, N64}, {S, "acme/" N64, 0, "#" C55}}, NULL},
    {"keys of MCP servers [X21]",
     {{M, "io.playwright/mcp", 0, "io-playwright-mcp"}, {M, "acme/cli", 0, "acme-cli"}}, NULL},
    {"keys alike without case [X21]",
     {{M, "acme/cli", 0, "acme-cli"}, {M, "Acme/CLI", 0, "#Acme-CLI"}, {M, "acme.cli/x", 0, "acme-cli-x"}}, NULL},
    {"keys alike by their signs [X21]",
     {{M, "a.b/c", 0, "a-b-c"}, {M, "a-b/c", 0, "#a-b-c"}}, NULL},
    {"a recorded key never changes [X21]",
     {{M, "a.b/c", 0, "#a-b-c"}, {M, "a-b/c", "a-b-c", "a-b-c"}}, NULL},
    {"a recorded key in other case is taken [X21]",
     {{M, "acme/cli", 0, "#acme-cli"}, {M, "x/y", "ACME-Cli", "ACME-Cli"}}, NULL},
    {"37 characters fit, 38 do not [X21]",
     {{M, "io.example/a23456789-123456789-123456", 0, "io-example-a23456789-123456789-123456"},
      {M, "io.example/a23456789-123456789-1234567", 0, "#io-example-a23456789-1234567"}}, NULL},
    {"a lock that records one folder twice [row 15]",
     {{S, "acme/foo", "foo", 0}, {S, "beta/foo", "foo", 0}},
     "skill beta/foo: another one is recorded as \"foo\", too"},
};
/* clang-format on */

struct records {
    const struct row *rows;
};

static struct str recorded(void *ctx, const struct package *p)
{
    const struct records *r = ctx;

    for (const struct row *row = r->rows; row->fqn; row++)
        if (row->kind == p->kind && str_is(p->fqn, row->fqn))
            return str_cstr(row->recorded);
    return STR("");
}

static size_t make_plan(const struct row *rows, struct plan *plan)
{
    struct graph g;
    size_t n = 0;

    graph_init(&g, &arena);
    *plan = (struct plan){0};
    plan->steps = arena_array(&arena, STEPS_MAX, sizeof *plan->steps);
    for (; rows[n].fqn; n++)
        plan->steps[n].package =
            &graph_add(&g, arena_printf(&arena, "%zu", n), rows[n].kind,
                       str_cstr(rows[n].fqn), STR("x"))
                 ->package;
    plan->count = n;
    return n;
}

static const char *wanted(const struct row *row)
{
    struct hash hash = hash_of(str_cstr(row->fqn));

    if (row->want[0] != '#')
        return row->want;
    return arena_printf(&arena, "%s-%.8s", row->want + 1,
                        hash_hex(&hash, &arena).p)
        .p;
}

TEST(names_of_a_layer) /* [X9, X21, row 11] */
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct records records = {cases[i].rows};
        struct str names[STEPS_MAX + 1] = {{0}};
        struct plan plan;
        struct err e = {0};
        size_t n = make_plan(cases[i].rows, &plan);
        bool ok;

        names[n] = STR("behind");
        ok =
            resolver_assign_names(&plan, recorded, &records, &arena, names, &e);
        CHECK_STR(str_dup0(names[n], &arena), "behind");
        CHECK_STR(err_first(&e), cases[i].message ? cases[i].message : "");
        CHECK(ok == !cases[i].message);
        for (size_t k = 0; k < n; k++) {
            if (!ok) {
                CHECK(!names[k].p && e.code == ERR_CONFLICT); /* untouched */
                continue;
            }
            CHECK_STR(str_dup0(names[k], &arena), wanted(&cases[i].rows[k]));
            CHECK(cases[i].rows[k].kind == M ? names[k].n <= MCP_KEY_MAX_CHARS
                                             : name_is_kebab(names[k]));
        }
    }
    arena_done(&arena);
}

/* A name that one install has assigned stays, in any order of packages and with
 * any others. */
TEST(what_is_recorded_stays) /* [X9, X21] */
{
    struct row rows[STEPS_MAX + 1] = {
        {S, "acme/foo", 0, 0}, {S, "beta/foo", 0, 0}, {S, "foo", 0, 0},
        {M, "a.b/c", 0, 0},    {M, "a-b/c", 0, 0},    {A, "acme/foo", 0, 0},
    };
    struct row turned[STEPS_MAX + 1] = {{S, "gamma/foo", 0, 0}};
    struct records records = {rows};
    struct str names[STEPS_MAX], again[STEPS_MAX];
    struct plan plan;
    struct err e = {0};

    make_plan(rows, &plan);
    CHECK(resolver_assign_names(&plan, NULL, NULL, &arena, names, &e));
    for (size_t i = 0; i < 6; i++)
        rows[i].recorded = str_dup0(names[i], &arena);
    for (size_t i = 0; i < 6; i++)
        turned[6 - i] = rows[i];
    make_plan(turned, &plan);
    CHECK(resolver_assign_names(&plan, recorded, &records, &arena, again, &e));
    for (size_t i = 0; i < 6; i++)
        CHECK(str_eq(again[6 - i], names[i]));
    CHECK_STR(str_dup0(again[0], &arena), "gamma-foo");
    arena_done(&arena);
}

TEST(no_name_left_is_a_conflict)
{
    struct row rows[STEPS_MAX + 1] = {
        {S, "a", "foo", 0}, {S, "b", 0, 0}, {S, "foo", 0, 0}};
    struct records records = {rows};
    struct hash hash = hash_of(STR("foo"));
    struct str names[STEPS_MAX];
    struct plan plan;
    struct err e = {0};

    rows[1].recorded =
        arena_printf(&arena, "foo-%.8s", hash_hex(&hash, &arena).p).p;
    make_plan(rows, &plan);
    CHECK(!resolver_assign_names(&plan, recorded, &records, &arena, names, &e));
    CHECK_STR(err_first(&e), "skill foo finds no free name: other packages "
                             "have \"foo\" and all that could stand for it");
    arena_done(&arena);
}
