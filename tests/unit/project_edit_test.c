#include "mapm/manifest.h"

#include <stdlib.h>

#include "tap.h"

/* mapm.yaml is the user's: an edit changes what it must and no other byte. */

#define O "file:/o" /* what is there */
#define N "file:/n" /* what is added or removed */

static struct arena arena;

/* clang-format off */
/* From `before`, adding N gives `after`; from `after`, removing it gives
 * `back`, or `before` when that is NULL. */
static const struct {
    enum doc_kind kind;
    const char *before, *after, *back;
} rows[] = {
    /* nothing there yet */
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
    {DOC_SKILL, "dependencies:\n  skills: []\n", "dependencies:\n  skills: [" N "]\n", NULL},
    {DOC_SKILL, "dependencies:\n  skills: [ ] # s\n", "dependencies:\n  skills: [" N " ] # s\n", NULL},
    {DOC_SKILL, "dependencies:\n  skills: [\n    # none\n  ]\n", "dependencies:\n  skills: [" N "\n    # none\n  ]\n", NULL},
    {DOC_SKILL, "dependencies: {skills: []}\n", "dependencies: {skills: [" N "]}\n", NULL},
    {DOC_SKILL, "dependencies: {skills: , mcps: []}\n", "dependencies: {skills: [" N "], mcps: []}\n", "dependencies: {skills: [], mcps: []}\n"},
    {DOC_SKILL, "dependencies: {skills: }\n", "dependencies: {skills: [" N "]}\n", "dependencies: {skills: []}\n"},
    {DOC_SKILL, "dependencies: {\"skills\":}\n", "dependencies: {\"skills\": [" N "]}\n", "dependencies: {\"skills\": []}\n"},
    {DOC_SKILL, "dependencies:\n  skills: null # s\n", "dependencies:\n  skills: [" N "] # s\n", "dependencies:\n  skills: [] # s\n"},
    {DOC_SKILL, "dependencies: {skills: ~}\n", "dependencies: {skills: [" N "]}\n", "dependencies: {skills: []}\n"},
    /* a list with something in it */
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

/* What stands elsewhere than at the end of a list. */
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
    /* not there, or elsewhere */
    {"dependencies:\n  mcps: [" N "]\n", "dependencies:\n  mcps: [" N "]\n"},
    {"", ""},
    {"# x\nclients: []", "# x\nclients: []"},
};

static const char *const refused[] = {
    "- a\n", "text\n", "dependencies: text\n", "dependencies: [a]\n",
    "dependencies: {skills: text}\n", "dependencies: {skills: {a: b}}\n",
    "dependencies: {agents: text}\n", "dependencies: {skills: [[a]]}\n",
    "dependencies: {skills: [{origin: a}]}\n", "a: *x\n", "a: [\n",
    "a: 1\n---\nb: 1\n",
};
/* clang-format on */

static const char *added(const char *text, enum doc_kind kind,
                         const char *origin)
{
    struct str out = STR("untouched");
    struct err e = {0};

    if (!project_add_root(str_from(text), kind, str_from(origin), &arena, &out,
                          &e)) {
        CHECK(str_is(out, "untouched") && e.code == ERR_FORMAT);
        return err_first(&e)[0] ? "refused" : "no reason";
    }
    return str_c(out, &arena);
}

static const char *removed(const char *text, enum doc_kind kind,
                           const char *key)
{
    struct str out = STR("untouched");
    struct err e = {0};

    if (!project_remove_root(str_from(text), kind, str_from(key), NULL, &arena,
                             &out, &e)) {
        CHECK(str_is(out, "untouched") && e.code == ERR_FORMAT);
        return err_first(&e)[0] ? "refused" : "no reason";
    }
    return str_c(out, &arena);
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

TEST(one_origin_written_in_two_ways) /* M14 */
{
    static const char text[] =
        "dependencies:\n  skills:\n"
        "  - https://GitHub.com/Acme/Tools.git/tree/main/x/\n"
        "  - https://ghe.example.com/a/b/tree/main\n";

    CHECK_STR(
        added(text, DOC_SKILL, "https://github.com/acme/tools/tree/main/x"),
        text);
    CHECK_STR(added(text, DOC_SKILL, "https://ghe.example.com/A/B/tree/main"),
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
