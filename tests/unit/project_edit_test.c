#include "base/buf.h"
#include "mapm/doc_kind.h"
#include "mapm/project.h"

#include <stdlib.h>

#include "../../manifest/project.h"
#include "tap.h"

/* mapm.yaml belongs to the user: an edit changes no byte without need. */

#define O "file:/o" /* present before the edit */
#define N "file:/n" /* added or removed */

static struct arena arena;

/* clang-format off */
/* From `before`, adding N gives `after`; from `after`, removing it gives
 * `back`, or `before` when that is NULL. */
static const struct {
    enum doc_kind kind;
    const char *before, *after, *back;
} rows[] = {
    /* empty */
    {DOC_SKILL, "", "dependencies:\n  skills:\n    - " N "\n", "dependencies:\n  skills:\n"},
    {DOC_SKILL, "# mine\n", "# mine\ndependencies:\n  skills:\n    - " N "\n", "# mine\ndependencies:\n  skills:\n"},
    {DOC_SKILL, "# mine", "# mine\ndependencies:\n  skills:\n    - " N "\n", "# mine\ndependencies:\n  skills:\n"},
    {DOC_SKILL, "---\n", "---\ndependencies:\n  skills:\n    - " N "\n", "---\ndependencies:\n  skills:\n"},
    {DOC_AGENT, "clients: [claude] # c\n# end\n", "clients: [claude] # c\ndependencies:\n  agents:\n    - " N "\n# end\n", "clients: [claude] # c\ndependencies:\n  agents:\n# end\n"},
    {DOC_AGENT, "clients: [claude]", "clients: [claude]\ndependencies:\n  agents:\n    - " N, "clients: [claude]\ndependencies:\n  agents:"},
    {DOC_AGENT, "  clients: [claude]\n  limits: {}\n...\n", "  clients: [claude]\n  limits: {}\n  dependencies:\n    agents:\n      - " N "\n...\n", "  clients: [claude]\n  limits: {}\n  dependencies:\n    agents:\n...\n"},
    {DOC_AGENT, "{clients: [claude]}\n", "{clients: [claude], dependencies: {agents: [" N "]}}\n", "{clients: [claude], dependencies: {agents: []}}\n"},
    {DOC_AGENT, "{}\n", "{dependencies: {agents: [" N "]}}\n", "{dependencies: {agents: []}}\n"},
    {DOC_AGENT, "clients:\n", "clients:\ndependencies:\n  agents:\n    - " N "\n", "clients:\ndependencies:\n  agents:\n"},
    /* no list of the kind */
    {DOC_SKILL, "dependencies:\n", "dependencies:\n  skills:\n    - " N "\n", "dependencies:\n  skills:\n"},
    {DOC_SKILL, "dependencies: # d\nclients: []\n", "dependencies: # d\n  skills:\n    - " N "\nclients: []\n", "dependencies: # d\n  skills:\nclients: []\n"},
    {DOC_SKILL, "dependencies: null\n", "dependencies: {skills: [" N "]}\n", "dependencies: {skills: []}\n"},
    {DOC_SKILL, "dependencies: ~ # d\n", "dependencies: {skills: [" N "]} # d\n", "dependencies: {skills: []} # d\n"},
    {DOC_SKILL, "dependencies: {}\n", "dependencies: {skills: [" N "]}\n", "dependencies: {skills: []}\n"},
    {DOC_SKILL, "dependencies: {agents: [" O "]}\n", "dependencies: {agents: [" O "], skills: [" N "]}\n", "dependencies: {agents: [" O "], skills: []}\n"},
    {DOC_SKILL, "dependencies: {agents: [" O "], }\n", "dependencies: {agents: [" O "], skills: [" N "], }\n", "dependencies: {agents: [" O "], skills: [], }\n"},
    {DOC_SKILL, "{dependencies: }\n", "{dependencies: {skills: [" N "]}}\n", "{dependencies: {skills: []}}\n"},
    {DOC_SKILL, "dependencies:\n  agents: [" O "]\n", "dependencies:\n  agents: [" O "]\n  skills: [" N "]\n", "dependencies:\n  agents: [" O "]\n  skills: []\n"},
    {DOC_SKILL, "dependencies:\n    # all\n    agents:\n      - " O " # a\n    mcps:\n      - " O "\n", "dependencies:\n    # all\n    agents:\n      - " O " # a\n    skills:\n      - " N "\n    mcps:\n      - " O "\n", "dependencies:\n    # all\n    agents:\n      - " O " # a\n    skills:\n    mcps:\n      - " O "\n"},
    {DOC_AGENT, "dependencies:\n  # skills\n  skills:\n  - " O "\n", "dependencies:\n  agents:\n  - " N "\n  # skills\n  skills:\n  - " O "\n", "dependencies:\n  agents:\n  # skills\n  skills:\n  - " O "\n"},
    {DOC_MCP, "dependencies:\n  agents:\n  skills:\n\nclients: []\n", "dependencies:\n  agents:\n  skills:\n  mcps:\n    - " N "\n\nclients: []\n", "dependencies:\n  agents:\n  skills:\n  mcps:\n\nclients: []\n"},
    /* an empty list */
    {DOC_SKILL, "dependencies:\n  skills:\n", "dependencies:\n  skills:\n    - " N "\n", NULL},
    {DOC_SKILL, "dependencies:\n  skills: # s\n  mcps: []\n", "dependencies:\n  skills: # s\n    - " N "\n  mcps: []\n", NULL},
    {DOC_SKILL, "dependencies:\n  skills:", "dependencies:\n  skills:\n    - " N, NULL},
    {DOC_SKILL, "dependencies:\r\n  skills:\r\n", "dependencies:\r\n  skills:\r\n    - " N "\r\n", NULL},
    {DOC_SKILL, "dependencies:\r\n  skills:", "dependencies:\r\n  skills:\r\n    - " N, NULL},
    {DOC_SKILL, "dependencies:\n  skills: []\n", "dependencies:\n  skills:\n    - " N "\n", "dependencies:\n  skills:\n"},
    {DOC_SKILL, "dependencies:\n  agents:\n  - " O "\n  skills: []\n", "dependencies:\n  agents:\n  - " O "\n  skills:\n  - " N "\n", "dependencies:\n  agents:\n  - " O "\n  skills:\n"},
    {DOC_SKILL, "dependencies:\r\n  skills:   []", "dependencies:\r\n  skills:\r\n    - " N, "dependencies:\r\n  skills:"},
    {DOC_SKILL, "dependencies:\n  skills: [ ] # s\n", "dependencies:\n  skills: # s\n    - " N "\n", "dependencies:\n  skills: # s\n"},
    {DOC_SKILL, "dependencies:\n  skills: [\n    # none\n  ]\n", "dependencies:\n  skills: [" N "\n    # none\n  ]\n", NULL},
    {DOC_SKILL, "dependencies: {skills: []}\n", "dependencies: {skills: [" N "]}\n", NULL},
    {DOC_SKILL, "dependencies: {skills: , mcps: []}\n", "dependencies: {skills: [" N "], mcps: []}\n", "dependencies: {skills: [], mcps: []}\n"},
    {DOC_SKILL, "dependencies: {skills: }\n", "dependencies: {skills: [" N "]}\n", "dependencies: {skills: []}\n"},
    {DOC_SKILL, "dependencies: {\"skills\":}\n", "dependencies: {\"skills\": [" N "]}\n", "dependencies: {\"skills\": []}\n"},
    {DOC_SKILL, "dependencies:\n  skills: null # s\n", "dependencies:\n  skills: [" N "] # s\n", "dependencies:\n  skills: [] # s\n"},
    {DOC_SKILL, "dependencies: {skills: ~}\n", "dependencies: {skills: [" N "]}\n", "dependencies: {skills: []}\n"},
    /* a list with an item */
    {DOC_SKILL, "dependencies: {skills: [" O "]}\n", "dependencies: {skills: [" O ", " N "]}\n", NULL},
    {DOC_SKILL, "dependencies: {skills: [" O ", ]}\n", "dependencies: {skills: [" O ", " N ", ]}\n", NULL},
    {DOC_SKILL, "dependencies:\n  skills: [\n    " O "\n  ]\n", "dependencies:\n  skills: [\n    " O ",\n    " N "\n  ]\n", NULL},
    {DOC_SKILL, "dependencies:\n  skills: [\n    " O ", # o\n  ]\n", "dependencies:\n  skills: [\n    " O ", # o\n    " N ",\n  ]\n", NULL},
    {DOC_SKILL, "dependencies:\n  skills: [\n    " O " # o\n    # more\n  ]\n", "dependencies:\n  skills: [\n    " O ", # o\n    " N "\n    # more\n  ]\n", NULL},
    {DOC_SKILL, "dependencies:\r\n  skills: [\r\n    " O "\r\n  ]\r\n", "dependencies:\r\n  skills: [\r\n    " O ",\r\n    " N "\r\n  ]\r\n", NULL},
    {DOC_SKILL, "dependencies:\n  skills: [" O ",\n    'file:/p']\n", "dependencies:\n  skills: [" O ",\n    'file:/p', " N "]\n", NULL},
    {DOC_SKILL, "dependencies:\n  skills:\n    - " O "\n", "dependencies:\n  skills:\n    - " O "\n    - " N "\n", NULL},
    {DOC_SKILL, "dependencies:\n  skills:\n    - " O " # o\n    # end\n\n# more\nclients: []\n", "dependencies:\n  skills:\n    - " O " # o\n    - " N "\n    # end\n\n# more\nclients: []\n", NULL},
    {DOC_SKILL, "dependencies:\n  skills:\n  -   \"" O "\"\n", "dependencies:\n  skills:\n  -   \"" O "\"\n  -   " N "\n", NULL},
    {DOC_SKILL, "dependencies:\n  skills:\n    - " O, "dependencies:\n  skills:\n    - " O "\n    - " N, NULL},
    {DOC_SKILL, "dependencies:\r\n  skills:\r\n    - " O, "dependencies:\r\n  skills:\r\n    - " O "\r\n    - " N, NULL},
    {DOC_SKILL, "dependencies:\n  skills:\n    -\n      " O "\n", "dependencies:\n  skills:\n    -\n      " O "\n    - " N "\n", NULL},
    {DOC_SKILL, "dependencies:\n  skills:\n    - >-\n      " O "\n", "dependencies:\n  skills:\n    - >-\n      " O "\n    - " N "\n", NULL},
    {DOC_SKILL, "? dependencies\n: ? skills\n  : - " O "\n", "? dependencies\n: ? skills\n  : - " O "\n    - " N "\n", NULL},
    {DOC_SKILL, "dependencies:\n  skills:\n    - " O "\n  agents:\n    - " N "\n", "dependencies:\n  skills:\n    - " O "\n    - " N "\n  agents:\n    - " N "\n", NULL},
};

/* Items that are not at the end of a list. */
static const struct {
    const char *before, *after;
} removals[] = {
    {"dependencies: {skills: [" N ", " O "]}\n", "dependencies: {skills: [" O "]}\n"},
    {"dependencies: {skills: [file:/a, " N ", " O "]}\n", "dependencies: {skills: [file:/a, " O "]}\n"},
    {"dependencies: {skills: [ " N " ]}\n", "dependencies: {skills: [  ]}\n"},
    {"dependencies: {skills: [" N ", ]}\n", "dependencies: {skills: [ ]}\n"},
    {"dependencies:\n  skills: [\n    " N ", # n\n    " O "\n  ]\n", "dependencies:\n  skills: [\n    " O "\n  ]\n"},
    {"dependencies:\n  skills: [\n    " N "\n  ]\n", "dependencies:\n  skills: [\n  ]\n"},
    {"dependencies:\n  skills: [" O ", # o\n    " N "]\n", "dependencies:\n  skills: [" O " # o\n    ]\n"},
    {"dependencies:\n  skills: [" N ", # n\n    " O "]\n", "dependencies:\n  skills: [ # n\n    " O "]\n"},
    {"dependencies:\n  skills: [" O "\n    , " N "\n  ]\n", "dependencies:\n  skills: [" O "\n  ]\n"},
    {"dependencies:\n  skills:\n    # n\n    - " N " # n\n    # o\n    - " O "\n", "dependencies:\n  skills:\n    # n\n    # o\n    - " O "\n"},
    {"dependencies:\n  skills:\n    -\n      " N "\n    - " O "\n", "dependencies:\n  skills:\n    - " O "\n"},
    {"dependencies:\n  skills:\n    - # why\n      " N "\n    - " O "\n", "dependencies:\n  skills:\n    - " O "\n"},
    {"dependencies:\n  skills:\n    - >-\n      " N "\n    - " O "\n", "dependencies:\n  skills:\n    - " O "\n"},
    {"dependencies:\n  skills:\n    - \"file:\\\n      /n\"\n    - " O "\n", "dependencies:\n  skills:\n    - " O "\n"},
    {"dependencies:\n  skills:\n    - file:///n/\n", "dependencies:\n  skills:\n"},
    /* with a name [D9] */
    {"dependencies:\n  skills:\n    - {origin: \"" N "\", as: x}\n    - " O "\n", "dependencies:\n  skills:\n    - " O "\n"},
    {"dependencies:\n  skills:\n    - origin: " N "\n      as: a/x # why\n    - " O "\n", "dependencies:\n  skills:\n    - " O "\n"},
    {"dependencies:\n  skills: [{origin: \"" N "\", as: x}, " O "]\n", "dependencies:\n  skills: [" O "]\n"},
    /* absent, or in another list */
    {"dependencies:\n  mcps: [" N "]\n", "dependencies:\n  mcps: [" N "]\n"},
    {"", ""},
    {"# x\nclients: []", "# x\nclients: []"},
};

static const char *const refused[] = {
    "- a\n", "text\n", "dependencies: text\n", "dependencies: [a]\n",
    "dependencies: {skills: text}\n", "dependencies: {skills: {a: b}}\n",
    "dependencies: {agents: text}\n", "dependencies: {skills: [[a]]}\n",
    "dependencies: {skills: [{origin: a, b: c}]}\n", "a: *x\n", "a: [\n",
    "a: 1\n---\nb: 1\n",
};
/* clang-format on */

static bool add_one(struct str text, enum doc_kind kind, struct str origin,
                    struct str *out, struct err *e)
{
    return project_add_roots(text, kind, &origin, NULL, NULL, 1, &arena, out,
                             e);
}

static bool remove_one(struct str text, enum doc_kind kind, struct str key,
                       struct str *out, struct err *e)
{
    return project_remove_roots(text, kind, &key, 1, NULL, &arena, out, e);
}

static const char *added(const char *text, enum doc_kind kind,
                         const char *origin)
{
    struct str out = STR("untouched");
    struct err e = {0};

    if (!add_one(str_cstr(text), kind, str_cstr(origin), &out, &e)) {
        CHECK(str_is(out, "untouched") && e.code == ERR_FORMAT);
        return err_first(&e)[0] ? "refused" : "no reason";
    }
    return str_dup0(out, &arena);
}

static const char *removed(const char *text, enum doc_kind kind,
                           const char *key)
{
    struct str out = STR("untouched");
    struct err e = {0};

    if (!remove_one(str_cstr(text), kind, str_cstr(key), &out, &e)) {
        CHECK(str_is(out, "untouched") && e.code == ERR_FORMAT);
        return err_first(&e)[0] ? "refused" : "no reason";
    }
    return str_dup0(out, &arena);
}

TEST(add_then_remove)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *after = added(rows[i].before, rows[i].kind, N);

        CHECK_STR(after, rows[i].after);
        CHECK_STR(added(after, rows[i].kind, N), after);
        CHECK_STR(removed(after, rows[i].kind, N),
                  rows[i].back ? rows[i].back : rows[i].before);
    }
    arena_done(&arena);
}

TEST(remove_from_anywhere)
{
    for (size_t i = 0; i < sizeof removals / sizeof *removals; i++)
        CHECK_STR(removed(removals[i].before, DOC_SKILL, N), removals[i].after);
    arena_done(&arena);
}

TEST(what_cannot_be_edited_is_refused)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        CHECK_STR(added(refused[i], DOC_SKILL, N), "refused");
    arena_done(&arena);
}

TEST(one_origin_written_in_two_ways) /* [M14] */
{
    static const char text[] =
        "dependencies:\n  skills:\n"
        "  - https://GitHub.com/Acme/Tools.git/tree/main/x/\n"
        "  - https://ghe.example.com/a/b/tree/main\n";

    CHECK_STR(
        added(text, DOC_SKILL, "https://github.com/acme/tools/tree/main/x"),
        text);
    CHECK_STR(
        added(text, DOC_SKILL, "https://ghe.example.com/a/b.git/tree/main"),
        text);
    CHECK_STR(
        removed(text, DOC_SKILL, "https://github.com/acme/tools/tree/main/x"),
        "dependencies:\n  skills:\n"
        "  - https://ghe.example.com/a/b/tree/main\n");
    CHECK_STR(removed(text, DOC_SKILL, "https://ghe.example.com/a/b/tree/main"),
              "dependencies:\n  skills:\n"
              "  - https://GitHub.com/Acme/Tools.git/tree/main/x/\n");
    arena_done(&arena);
}

TEST(odd_paths_are_quoted)
{
    const char *text = added("dependencies: {skills: []}\n", DOC_SKILL,
                             "file:/a b/it's, [x]: #1");

    CHECK_STR(text, "dependencies: {skills: [\"file:/a b/it's, [x]: #1\"]}\n");
    CHECK_STR(removed(text, DOC_SKILL, "file:/a b/it's, [x]: #1"),
              "dependencies: {skills: []}\n");
    arena_done(&arena);
}

/* --- catalogs --------------------------------------------------------------- */

#define CAT(name) "https://github.com/acme/" name "/tree/main"

/* Splits words separated by ",". */
static struct str_list words(const char *text)
{
    struct str rest = str_cstr(text), word;
    struct str *items = arena_array(&arena, 8, sizeof *items);
    size_t count = 0;

    while (rest.n && str_cut(&rest, ',', &word))
        items[count++] = word;
    return (struct str_list){items, count};
}

/* clang-format off */
static const struct {
    const char *before, *include, *exclude; /* NULL: it is removed */
    const char *after; /* of CAT("b") */
} catalogs[] = {
    {"", "", "", "dependencies:\n  catalogs:\n    - origin: " CAT("b") "\n"},
    {"dependencies:\n  catalogs:\n    - " CAT("a") "\n", "x", "",
     "dependencies:\n  catalogs:\n    - " CAT("a") "\n    - origin: " CAT("b") "\n      include:\n        - x\n"},
    {"dependencies: {catalogs: [" CAT("a") "]}\n", "x", "w,z",
     "dependencies: {catalogs: [" CAT("a") ", {origin: " CAT("b") ", include: [x], exclude: [w, z]}]}\n"},
    {"dependencies:\n  catalogs:\n    - " CAT("b") "\n    - " CAT("c") "\n", "", "w",
     "dependencies:\n  catalogs:\n    - origin: " CAT("b") "\n      exclude:\n        - w\n    - " CAT("c") "\n"},
    {"dependencies:\n  catalogs:\n    - origin: " CAT("b") "\n      include: [x] # some\n", "x,w", "",
     "dependencies:\n  catalogs:\n    - origin: " CAT("b") "\n      include: [x, w] # some\n"},
    {"dependencies:\n  catalogs:\n    - origin: " CAT("b") "\n      exclude:\n        - x # old\n    - " CAT("c") "\n", "", "x,w",
     "dependencies:\n  catalogs:\n    - origin: " CAT("b") "\n      exclude:\n        - x # old\n        - w\n    - " CAT("c") "\n"},
    {"dependencies:\n  catalogs:\n    - origin: " CAT("b") "\n      include: [x, w]\n", "w", "",
     "dependencies:\n  catalogs:\n    - origin: " CAT("b") "\n      include:\n        - w\n"},
    {"dependencies: {catalogs: [{origin: " CAT("b") ", include: [x, w]}]}\n", "", "",
     "dependencies: {catalogs: [{origin: " CAT("b") "}]}\n"},
    {"dependencies: {catalogs: [{origin: " CAT("b") "}]}\n", "", "x",
     "dependencies: {catalogs: [{origin: " CAT("b") ", exclude: [x]}]}\n"},
    {"dependencies:\n  catalogs:\n    - " CAT("a") "\n    - " CAT("b") "\n    - " CAT("c") "\n", NULL, NULL,
     "dependencies:\n  catalogs:\n    - " CAT("a") "\n    - " CAT("c") "\n"},
    {"dependencies: {catalogs: [" CAT("a") ", {origin: " CAT("b") "}, " CAT("c") "]}\n", NULL, NULL,
     "dependencies: {catalogs: [" CAT("a") ", " CAT("c") "]}\n"},
    {"dependencies: {catalogs: [" CAT("a") ", " CAT("b") "]}\n", NULL, NULL,
     "dependencies: {catalogs: [" CAT("a") "]}\n"},
    {"dependencies: {catalogs: [" CAT("b") ", " CAT("a") "]}\n", NULL, NULL,
     "dependencies: {catalogs: [" CAT("a") "]}\n"},
    {"dependencies: {catalogs: [" CAT("a") "]}\n", NULL, NULL, NULL},
    {"dependencies: {catalogs: [" CAT("b") "]}\n", NULL, NULL, "dependencies: {catalogs: []}\n"},
    /* the key goes with its last item, and no comment with it */
    {"dependencies:\n  skills: []\n  catalogs:\n    - origin: " CAT("b") "\n      exclude:\n        - x\nclients: []\n", NULL, NULL,
     "dependencies:\n  skills: []\nclients: []\n"},
    {"dependencies:\n  catalogs:\n  - " CAT("b") " # b\n  mcps: []\n", NULL, NULL,
     "dependencies:\n  mcps: []\n"},
    {"dependencies:\n  catalogs:\n    - " CAT("b"), NULL, NULL, "dependencies:\n"},
    {"dependencies:\n  catalogs: # ours\n    - " CAT("b") "\n", NULL, NULL, "dependencies:\n  catalogs: # ours\n"},
    {"dependencies:\n  catalogs:\n    # all\n    - " CAT("b") "\n", NULL, NULL, "dependencies:\n  catalogs:\n    # all\n"},
    {"? dependencies\n: ? catalogs\n  : - " CAT("b") "\n", NULL, NULL, "? dependencies\n: ? catalogs\n"},
};
/* clang-format on */

/* The final check of an edit: only the roots of the change are new. */
TEST(what_an_edit_added_is_compared)
{
    static const struct str origins[] = {STR_INIT("o/x"), STR_INIT("o/y")};
    static const struct str names[] = {STR_INIT(""), STR_INIT("n")};
    const struct project_change change = {DOC_SKILL, origins, names, NULL, 2};
    static const struct {
        const char *before, *after;
        bool same;
    } pairs[] = {
        {"", "dependencies: {skills: [o/x, {origin: o/y, as: n}]}", true},
        {"dependencies: {skills: [o/a, o/b], mcps: [o/x]}",
         "dependencies: {skills: [o/x, o/a, {origin: o/y, as: n}, o/b], "
         "mcps: [o/x]}",
         true},
        {"", "dependencies: {skills: [{origin: o/y, as: n}, o/x]}", false},
        {"", "dependencies: {skills: [o/x, o/y]}", false},
        {"", "dependencies: {skills: [o/x, {origin: o/z, as: n}]}", false},
        {"", "dependencies: {agents: [o/x, {origin: o/y, as: n}]}", false},
        {"", "dependencies: {skills: [o/x]}", false},
        {"dependencies: {skills: [o/a, o/b]}",
         "dependencies: {skills: [o/b, o/a, o/x, {origin: o/y, as: n}]}",
         false},
        {"dependencies: {skills: [o/a]}",
         "dependencies: {skills: [o/c, o/x, {origin: o/y, as: n}]}", false},
        {"dependencies: {skills: [o/a]}",
         "dependencies: {mcps: [o/a], skills: [o/x, {origin: o/y, as: n}]}",
         false},
        {"ask: {a: bc}",
         "{ask: {ab: c}, dependencies: {skills: [o/x, {origin: o/y, as: n}]}}",
         false},
        {"ask: off",
         "{ask: on, dependencies: {skills: [o/x, {origin: o/y, as: n}]}}",
         false},
    };
    const struct yaml_options options = {.max_depth = 8};

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct arena a = {0};
        struct err e = {0};
        const struct yaml *x, *y;

        CHECK(
            yaml_parse(str_cstr(pairs[i].before), &options, &a, &x, NULL, &e) &&
            yaml_parse(str_cstr(pairs[i].after), &options, &a, &y, NULL, &e));
        if (project_differs_by(x, y, &change, &a) != pairs[i].same)
            printf("# %s\n", pairs[i].after);
        CHECK(project_differs_by(x, y, &change, &a) == pairs[i].same);
        arena_done(&a);
    }
}

TEST(a_catalog_is_set_in_place) /* [D11] */
{
    for (size_t i = 0; i < sizeof catalogs / sizeof *catalogs; i++) {
        bool is_gone = !catalogs[i].include;
        struct project_catalog want = {.origin = STR(CAT("b"))};
        struct str before = str_cstr(catalogs[i].before), out = {0}, again;
        struct err e = {0};

        if (!is_gone) {
            want.include = words(catalogs[i].include);
            want.exclude = words(catalogs[i].exclude);
        }
        CHECK(project_set_catalog(before, STR(CAT("b")), is_gone ? NULL : &want,
                                  NULL, &arena, &out, &e));
        CHECK_STR(str_dup0(out, &arena),
                  catalogs[i].after ? catalogs[i].after : catalogs[i].before);
        CHECK(project_set_catalog(out, STR(CAT("b")), is_gone ? NULL : &want,
                                  NULL, &arena, &again, &e));
        CHECK(str_eq(again, out));
    }
    arena_done(&arena);
}

/* --- random files --------------------------------------------------------- */

static uint32_t seed = 1;

static size_t below(size_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (size_t)((uint64_t)(seed >> 8) * n >> 24);
}

static const char *pick(const char *const *texts)
{
    size_t n = 0;

    while (texts[n])
        n++;
    return texts[below(n)];
}

static const char *const remarks[] = {
    "", "", "", "  # why", " # [a, b] - c: d", NULL};
static const char *const gaps[] = {"",  "", "", "\n", "#\n", "#", " # remark\n",
                                   NULL};

/* Comments and blank lines that belong to no item. */
static void put_gap(struct buf *b, size_t indent)
{
    const char *gap = pick(gaps);

    if (*gap == '\n')
        buf_text(b, gap);
    else if (*gap)
        buf_printf(b, "%*s# apart\n", (int)indent, "");
}

static void put_item(struct buf *b, size_t i)
{
    static const char *const quotes[] = {"", "", "", "\"", "'", NULL};
    const char *quote = pick(quotes);

    buf_printf(b, "%sfile:/i/%zu%s", quote, i, quote);
}

enum style { NONE, BLOCK, BRACKETS, TALL, STYLES };

static void put_list(struct buf *b, size_t indent, size_t first)
{
    enum style style = (enum style)below(STYLES);
    size_t count = style == NONE ? 0 : below(4), offset = below(2) * 2;
    bool comma = below(2);

    if (style == BLOCK && count == 0)
        style = NONE;
    if (style == NONE || style == BLOCK)
        buf_printf(b, "%s\n", pick(remarks));
    if (style == BLOCK) {
        for (size_t i = 0; i < count; i++) {
            if (i) /* before the first one it may belong to the key */
                put_gap(b, indent + offset);
            buf_printf(b, "%*s- ", (int)(indent + offset), "");
            put_item(b, first + i);
            buf_printf(b, "%s\n", pick(remarks));
        }
        return;
    }
    if (style == NONE)
        return;
    buf_text(b, style == TALL ? " [\n" : " [");
    for (size_t i = 0; i < count; i++) {
        bool last = i + 1 == count;

        if (style == TALL)
            buf_printf(b, "%*s", (int)indent + 4, "");
        put_item(b, first + i);
        if (!last || (style == TALL && comma))
            buf_char(b, ',');
        if (style == TALL)
            buf_printf(b, "%s\n", pick(remarks));
        else if (!last)
            buf_char(b, ' ');
    }
    if (style == TALL)
        buf_printf(b, "%*s", (int)indent + 2, "");
    buf_printf(b, "]%s\n", pick(remarks));
}

static void put_dependencies(struct buf *b)
{
    static const char *const kinds[][4] = {{"agents", "skills", "mcps"},
                                           {"mcps", "agents", "skills"},
                                           {"skills", "mcps", "agents"}};
    const char *const *order = kinds[below(3)];
    size_t indent = 1 + below(4);

    buf_printf(b, "dependencies:%s\n", pick(remarks));
    for (size_t i = 0; i < 3; i++) {
        if (below(3) == 0)
            continue;
        put_gap(b, indent);
        buf_printf(b, "%*s%s:", (int)indent, "", order[i]);
        put_list(b, indent, i * 10);
    }
}

static struct str random_file(void)
{
    CLEANUP(buf_done) struct buf b = {0};
    CLEANUP(buf_done) struct buf crlf = {0};
    bool with_crlf = below(4) == 0;

    buf_init(&b, 1 << 16);
    buf_init(&crlf, 1 << 16);
    put_gap(&b, 0);
    if (below(2))
        buf_printf(&b, "clients: [claude, codex]%s\n", pick(remarks));
    put_gap(&b, 0);
    if (below(8))
        put_dependencies(&b);
    put_gap(&b, 0);
    if (below(2))
        buf_printf(&b, "limits:%s\n  package_max_files: 10\n", pick(remarks));
    put_gap(&b, 0);
    for (size_t i = 0; i < b.n; i++) {
        if (b.p[i] == '\n' && with_crlf)
            buf_char(&crlf, '\r');
        buf_char(&crlf, b.p[i]);
    }
    if (crlf.n && below(4) == 0)
        crlf.n -= with_crlf ? 2 : 1;
    return arena_str(&arena, buf_str(&crlf));
}

/* Counts the lines of both texts between their equal lines. */
static void count_changed(struct str x, struct str y, size_t *in_x,
                          size_t *in_y)
{
    struct str xs[256], ys[256];
    size_t nx = 0, ny = 0, same = 0;

    while (x.n && nx < 256 && str_line(&x, &xs[nx]))
        nx++;
    while (y.n && ny < 256 && str_line(&y, &ys[ny]))
        ny++;
    while (same < nx && same < ny && str_eq(xs[same], ys[same]))
        same++;
    while (nx > same && ny > same && str_eq(xs[nx - 1], ys[ny - 1])) {
        nx--;
        ny--;
    }
    *in_x = nx - same;
    *in_y = ny - same;
}

static bool has_root(const struct project *p, enum doc_kind kind,
                     struct str key)
{
    for (size_t i = 0; i < p->root_count; i++)
        if (p->roots[i].kind == kind && str_eq(p->roots[i].origin.key, key))
            return true;
    return false;
}

static bool parse(struct str text, struct project *p)
{
    struct err e = {0};

    return project_parse(text, PROJECT_WORKSPACE, "m", NULL, &arena, p, &e);
}

static bool has_words(struct str text, enum doc_kind kind, const char *tail)
{
    struct str words =
        arena_printf(&arena, "%s:%s", doc_kind_plural(kind), tail);

    return str_find(text, words) != SIZE_MAX;
}

/* Returns whether the list existed in block form, so that an addition can be
 * undone: "[]" becomes lines and stays so. */
static bool list_existed(struct str text, enum doc_kind kind)
{
    return has_words(text, kind, "") && !has_words(text, kind, " []");
}

static void check_addition(struct str before, enum doc_kind kind)
{
    size_t old_lines, new_lines;
    struct str after = {0}, back = {0};
    struct project p, q;
    struct err e = {0};

    CHECK(parse(before, &p));
    CHECK(add_one(before, kind, STR(N), &after, &e));
    CHECK(parse(after, &q) && q.root_count == p.root_count + 1);
    CHECK(has_root(&q, kind, STR(N)));
    count_changed(before, after, &old_lines, &new_lines);
    CHECK(old_lines <= 1 && new_lines <= 3);
    CHECK(remove_one(after, kind, STR(N), &back, &e));
    if (list_existed(before, kind))
        CHECK(str_eq(back, before));
}

static void check_removal(struct str before)
{
    size_t old_lines, new_lines;
    struct str after = {0};
    struct project p, q;
    const struct root *root;
    struct err e = {0};

    CHECK(parse(before, &p));
    if (p.root_count == 0)
        return;
    root = &p.roots[below(p.root_count)];
    CHECK(remove_one(before, root->kind, root->origin.key, &after, &e));
    CHECK(parse(after, &q) && q.root_count == p.root_count - 1);
    CHECK(!has_root(&q, root->kind, root->origin.key));
    count_changed(before, after, &old_lines, &new_lines);
    CHECK(old_lines <= 2 && new_lines <= 1);
}

/* Several additions at once give the same bytes as single ones. */
static void check_additions(struct str before, enum doc_kind kind)
{
    static const struct str origins[] = {STR_INIT(N), STR_INIT("file:/m, [x]"),
                                         STR_INIT("file:/i/10"),
                                         STR_INIT(N "/"), STR_INIT("file:/l")};
    const size_t count = sizeof origins / sizeof *origins;
    struct str together = {0}, one_by_one = before;
    struct err e = {0};

    CHECK(project_add_roots(before, kind, origins, NULL, NULL, count, &arena,
                            &together, &e));
    for (size_t i = 0; i < count; i++)
        CHECK(add_one(one_by_one, kind, origins[i], &one_by_one, &e));
    CHECK_STR(str_dup0(together, &arena), str_dup0(one_by_one, &arena));
}

/* Several removals at once leave the same roots as single ones. */
static void check_removals(struct str before)
{
    struct str keys[64], together = {0}, one_by_one = before;
    struct project p, q, r;
    enum doc_kind kind = (enum doc_kind)(1u << below(3));
    size_t count = 0;
    struct err e = {0};

    CHECK(parse(before, &p));
    for (size_t i = 0; i < p.root_count; i++)
        if (p.roots[i].kind == kind && below(3))
            keys[count++] = p.roots[i].origin.key;
    CHECK(project_remove_roots(before, kind, keys, count, NULL, &arena,
                               &together, &e));
    for (size_t i = 0; i < count; i++)
        CHECK(remove_one(one_by_one, kind, keys[i], &one_by_one, &e));
    CHECK(parse(together, &q) && parse(one_by_one, &r));
    CHECK(q.root_count == p.root_count - count && q.root_count == r.root_count);
    for (size_t i = 0; i < q.root_count && i < r.root_count; i++)
        CHECK(str_eq(q.roots[i].origin.key, r.roots[i].origin.key));
    if (str_find(before, STR("[\n")) == SIZE_MAX &&
        str_find(before, STR("[\r")) == SIZE_MAX)
        CHECK_STR(str_dup0(together, &arena), str_dup0(one_by_one, &arena));
}

TEST(a_renamed_repository_keeps_lines_order_and_style)
{
    static const char before[] =
        "# ours\r\ndependencies:\r\n"
        "  skills: # two\r\n"
        "    - \"https://github.com/Old/kit/tree/main/skills/b\" # last "
        "year's\r\n"
        "    - https://github.com/old/kit-2/tree/main/skills/c\r\n"
        "    - {origin: 'https://github.com/old/kit/tree/^1.2/a', as: x/y}\r\n"
        "  catalogs: [{origin: https://github.com/old/kit/tree/main, "
        "include: [https://github.com/old/kit]}]\r\n"
        "  agents:\r\n  - https://gitlab.com/old/kit/-/tree/main/a\r\n";
    static const char after[] =
        "# ours\r\ndependencies:\r\n"
        "  skills: # two\r\n"
        "    - https://github.com/new/kit/tree/main/skills/b # last year's\r\n"
        "    - https://github.com/old/kit-2/tree/main/skills/c\r\n"
        "    - {origin: https://github.com/new/kit/tree/^1.2/a, as: x/y}\r\n"
        "  catalogs: [{origin: https://github.com/new/kit/tree/main, "
        "include: [https://github.com/old/kit]}]\r\n"
        "  agents:\r\n  - https://gitlab.com/old/kit/-/tree/main/a\r\n";
    struct project_rename r = {.from = STR("github.com/old/kit"),
                               .to = STR("new/kit")};
    struct err e = {0};
    struct str out;

    CHECK(project_rename(str_cstr(before), &r, 1, NULL, &arena, &out, &e));
    CHECK_STR(str_dup0(out, &arena), after);
    CHECK(r.origins == 3);
    CHECK(project_rename(out, &r, 1, NULL, &arena, &out, &e));
    CHECK_STR(str_dup0(out, &arena), after);
    CHECK(!project_rename(str_cstr("a: [\n"), &r, 1, NULL, &arena, &out, &e));
}

TEST(random_files_keep_all_other_lines)
{
    for (size_t i = 0; i < 20000 && !tap_failed; i++) {
        struct str text = random_file();

        check_addition(text, (enum doc_kind)(1u << below(3)));
        check_removal(text);
        check_additions(text, (enum doc_kind)(1u << below(3)));
        check_removals(text);
        if (tap_failed)
            printf("# with this file:\n%.*s<<<\n", STR_ARG(text));
        arena_done(&arena);
    }
}
