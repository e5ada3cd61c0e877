#include "base/buf.h"
#include "mapm/project.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* A rule written into mapm.yaml: what must change does, and no other byte.
 * [K25, row 15]. */

#define N "[ls, \"*\"]" /* what is added */

static struct arena arena;

static const char *added_words(const char *text, bool allow,
                               const struct str *words, size_t count)
{
    struct str out = STR("untouched");
    struct err e = {0};

    if (!project_add_rule(str_cstr(text), allow, words, count, &arena, &out,
                          &e)) {
        CHECK(str_is(out, "untouched"));
        CHECK(e.code == ERR_FORMAT || e.code == ERR_LIMIT);
        return arena_printf(&arena, "refused: %s", err_first(&e)).p;
    }
    return str_dup0(out, &arena);
}

static const char *added(const char *text)
{
    static const struct str words[] = {STR_INIT("ls"), STR_INIT("*")};

    return added_words(text, true, words, 2);
}

/* clang-format off */
static const struct {
    const char *before, *after;
} rows[] = {
    /* nothing there yet */
    {"", "policy:\n  commands:\n    allow:\n      - " N "\n"},
    {"# mine\n", "# mine\npolicy:\n  commands:\n    allow:\n      - " N "\n"},
    {"# mine", "# mine\npolicy:\n  commands:\n    allow:\n      - " N "\n"},
    {"---\n", "---\npolicy:\n  commands:\n    allow:\n      - " N "\n"},
    {"clients: [claude] # c\n# end\n", "clients: [claude] # c\n# end\n\npolicy:\n  commands:\n    allow:\n      - " N "\n"},
    {"limits: {}\n\n# a\n\n# b", "limits: {}\n\n# a\n\n# b\n\npolicy:\n  commands:\n    allow:\n      - " N "\n"},
    {"limits: {}\n\n", "limits: {}\npolicy:\n  commands:\n    allow:\n      - " N "\n\n"},
    {"limits: {}\n# a\n...\n", "limits: {}\npolicy:\n  commands:\n    allow:\n      - " N "\n# a\n...\n"},
    {"clients: [claude]", "clients: [claude]\npolicy:\n  commands:\n    allow:\n      - " N},
    {"  clients: [claude]\n...\n", "  clients: [claude]\n  policy:\n    commands:\n      allow:\n        - " N "\n...\n"},
    {"{clients: [claude]}\n", "{clients: [claude], policy: {commands: {allow: [" N "]}}}\n"},
    {"{}\n", "{policy: {commands: {allow: [" N "]}}}\n"},
    {"clients:\r\n", "clients:\r\npolicy:\r\n  commands:\r\n    allow:\r\n      - " N "\r\n"},
    /* a part of the way is there */
    {"policy:\n", "policy:\n  commands:\n    allow:\n      - " N "\n"},
    {"policy: # p\nclients: []\n", "policy: # p\n  commands:\n    allow:\n      - " N "\nclients: []\n"},
    {"policy: null\n", "policy: {commands: {allow: [" N "]}}\n"},
    {"policy: ~ # p\n", "policy: {commands: {allow: [" N "]}} # p\n"},
    {"policy: {}\n", "policy: {commands: {allow: [" N "]}}\n"},
    {"{policy: }\n", "{policy: {commands: {allow: [" N "]}}}\n"},
    {"policy: {network: true}\n", "policy: {network: true, commands: {allow: [" N "]}}\n"},
    {"policy:\n  network: true # n\n  # end\nlimits: {}\n", "policy:\n  network: true # n\n  commands:\n    allow:\n      - " N "\n  # end\nlimits: {}\n"},
    {"policy:\n    sources:\n    - a/b/c\n", "policy:\n    sources:\n    - a/b/c\n    commands:\n      allow:\n        - " N "\n"},
    {"policy:\n  commands:\n", "policy:\n  commands:\n    allow:\n      - " N "\n"},
    {"policy:\n  commands:", "policy:\n  commands:\n    allow:\n      - " N},
    {"policy: {commands: , network: true}\n", "policy: {commands: {allow: [" N "]}, network: true}\n"},
    {"policy:\n  commands: {deny: [[rm]]}\n", "policy:\n  commands: {deny: [[rm]], allow: [" N "]}\n"},
    {"policy:\n  commands:\n    deny: [[rm]]\n", "policy:\n  commands:\n    deny: [[rm]]\n    allow: [" N "]\n"},
    {"policy:\n  commands:\n    deny: []\n", "policy:\n  commands:\n    deny: []\n    allow:\n      - " N "\n"},
    {"policy:\n  commands:\n    deny:\n    - [rm] # r\n  network: no\n", "policy:\n  commands:\n    deny:\n    - [rm] # r\n    allow:\n    - " N "\n  network: no\n"},
    {"policy:\n  commands:\n    deny:\n          - - rm\n            - x\n", "policy:\n  commands:\n    deny:\n          - - rm\n            - x\n    allow:\n          - " N "\n"},
    /* an empty list */
    {"policy:\n  commands:\n    allow:\n", "policy:\n  commands:\n    allow:\n      - " N "\n"},
    {"policy:\n  commands:\n    allow: # a\n    deny: []\n", "policy:\n  commands:\n    allow: # a\n      - " N "\n    deny: []\n"},
    {"policy:\n  commands:\n    allow: []\n", "policy:\n  commands:\n    allow:\n      - " N "\n"},
    {"policy:\n  commands: {allow: [], deny: []}\n", "policy:\n  commands: {allow: [" N "], deny: []}\n"},
    {"policy: {commands: {allow: }}\n", "policy: {commands: {allow: [" N "]}}\n"},
    {"policy:\n  commands:\n    allow: null # a\n", "policy:\n  commands:\n    allow: [" N "] # a\n"},
    /* a list with something in it */
    {"policy: {commands: {allow: [[git, diff]]}}\n", "policy: {commands: {allow: [[git, diff], " N "]}}\n"},
    {"policy: {commands: {allow: [[git, diff], ]}}\n", "policy: {commands: {allow: [[git, diff], " N ", ]}}\n"},
    {"policy:\n  commands:\n    allow: [\n      [git, diff], # d\n      [make] # m\n    ]\n", "policy:\n  commands:\n    allow: [\n      [git, diff], # d\n      [make], # m\n      " N "\n    ]\n"},
    {"policy:\n  commands:\n    allow:\n      # reviewed\n      - [git, diff, \"*\"] # d\n      # end\n    deny: []\n", "policy:\n  commands:\n    allow:\n      # reviewed\n      - [git, diff, \"*\"] # d\n      - " N "\n      # end\n    deny: []\n"},
    {"policy:\n  commands:\n    allow:\n    -   [make]", "policy:\n  commands:\n    allow:\n    -   [make]\n    -   " N},
    {"policy:\n  commands:\n    allow:\n    - - make\n      - all\n    deny:\n", "policy:\n  commands:\n    allow:\n    - - make\n      - all\n    - " N "\n    deny:\n"},
    {"policy:\n  commands:\n    allow:\n    - [make,\n       all]\n", "policy:\n  commands:\n    allow:\n    - [make,\n       all]\n    - " N "\n"},
    {"policy:\r\n  commands:\r\n    allow:\r\n    - [make]\r\n", "policy:\r\n  commands:\r\n    allow:\r\n    - [make]\r\n    - " N "\r\n"},
    {"policy:\n  commands:\n    deny:\n      - " N "\n    allow:\n      - [x]\n", "policy:\n  commands:\n    deny:\n      - " N "\n    allow:\n      - [x]\n      - " N "\n"},
    /* it is there */
    {"policy: {commands: {allow: [[x], ['ls', '*']]}}\n", "policy: {commands: {allow: [[x], ['ls', '*']]}}\n"},
    /* it cannot be */
    {"- a\n", "refused: its policy is written in a way that cannot be changed in place"},
    {"text\n", "refused: its policy is written in a way that cannot be changed in place"},
    {"policy: text\n", "refused: its policy is written in a way that cannot be changed in place"},
    {"policy: []\n", "refused: its policy is written in a way that cannot be changed in place"},
    {"policy: {commands: [a]}\n", "refused: its policy is written in a way that cannot be changed in place"},
    {"policy: {commands: {allow: text}}\n", "refused: its policy is written in a way that cannot be changed in place"},
    {"policy: {commands: {allow: {a: b}}}\n", "refused: its policy is written in a way that cannot be changed in place"},
    {"a: *x\n", "refused: line 1: aliases (\"*\") are not allowed"},
};
/* clang-format on */

TEST(a_rule_is_added) /* [K25, row 15] */
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *after = added(rows[i].before);

        CHECK_STR(after, rows[i].after);
        if (strncmp(after, "refused", 7) != 0)
            CHECK_STR(added(after), after);
    }
    arena_done(&arena);
}

TEST(words_are_quoted)
{
    static const struct str words[] = {
        STR_INIT("./a b"), STR_INIT("--x=1"),
        STR_INIT(""),      STR_INIT("no"),
        STR_INIT("it's"),  STR_INIT("a\nb\x1b[1m"),
        STR_INIT("[a]"),   STR_INIT("\\*.c"),
        STR_INIT("#"),     STR_INIT("1.0"),
        STR_INIT("-"),     STR_INIT("\xc3\xa9"),
        STR_INIT("a: b"),  STR_INIT("\xe2\x80\xae"),
    };
    size_t count = sizeof words / sizeof *words;
    const char *text = added_words("", false, words, count);
    struct project p;
    struct err e = {0};

    CHECK(project_parse(str_cstr(text), PROJECT_WORKSPACE, "m", NULL, &arena,
                        &p, &e));
    CHECK_STR(err_first(&e), "");
    CHECK(p.rule_count == 1 && !p.rules[0].allow && p.rules[0].count == count);
    for (size_t i = 0; i < count; i++)
        CHECK(str_eq(p.rules[0].words[i], words[i]));
    arena_done(&arena);
}

TEST(words_that_are_no_text_are_refused) /* [row 15] */
{
    for (size_t at = 0; at < 3; at++)
        for (size_t i = 0; i < 2; i++) {
            struct str rule[] = {STR("git"), STR("diff"), STR("x")}, out;
            struct err e = {0};

            rule[at] = i ? STR("a\xff") : STR("a\0b");
            CHECK(!project_add_rule(STR(""), true, rule, 3, &arena, &out, &e));
            CHECK(e.code == ERR_FORMAT);
        }
    arena_done(&arena);
}

TEST(what_no_file_may_hold_is_refused)
{
    static const struct {
        struct str word;
        const char *why;
    } odd[] = {
        {STR_INIT(""), "refused: a rule begins with a program: \"\""},
        {STR_INIT("a*"), "refused: a program is named in full: \"a*\""},
        {STR_INIT("\\*"), "refused: a program is named in full: \"\\*\""},
        {STR_INIT("git diff"),
         "refused: a rule has each word by itself: \"git diff\""},
        {STR_INIT("\xff"),
         "refused: a word of the command is no text in UTF-8"},
        {STR_INIT("a\0b"),
         "refused: a word of the command is no text in UTF-8"},
    };
    struct str *many = arena_array(&arena, COMMAND_MAX_WORDS + 1, sizeof *many);
    CLEANUP(buf_done) struct buf b = {0};

    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        CHECK_STR(added_words("", true, &odd[i].word, 1), odd[i].why);
    for (size_t i = 0; i <= COMMAND_MAX_WORDS; i++)
        many[i] = STR("a");
    CHECK_STR(added_words("", true, many, COMMAND_MAX_WORDS + 1),
              "refused: a rule has 1 to 1000 words");
    CHECK(strncmp(added_words("", true, many, COMMAND_MAX_WORDS),
                  "policy:", 7) == 0);
    CHECK_STR(added_words("", true, many, 0),
              "refused: a rule has 1 to 1000 words");

    buf_init(&b, 1 << 20);
    buf_text(&b, "policy:\n  commands:\n    allow:\n");
    for (size_t i = 0; i < RULES_MAX - 1; i++)
        buf_text(&b, "    - [a]\n");
    many[0] = str_cstr(added(str_dup0(buf_str(&b), &arena)));
    CHECK(str_ends(many[0], STR("    - [a]\n    - " N "\n")));
    CHECK_STR(added_words(many[0].p, true, &many[1], 1), many[0].p);
    CHECK_STR(added_words(many[0].p, true, &many[1], 2),
              "refused: it has 1000 rules, and may not have more");
    arena_done(&arena);
}

/* --- random files --------------------------------------------------------- */

static uint32_t seed = 1;

static size_t below(size_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (size_t)((uint64_t)(seed >> 8) * n >> 24);
}

static const char *const remarks[] = {"", "", "", "  # why",
                                      " # [a, b] - c: d"};
static const char *const words[] = {"git", "\"*\"", "--x",  "'a b'",
                                    "./x", "\"\"",  "diff", "\"#\""};

static const char *remark(void)
{
    return remarks[below(sizeof remarks / sizeof *remarks)];
}

static void put_rule(struct buf *b, size_t number, size_t indent, bool tall)
{
    size_t count = below(4);

    buf_printf(b, tall ? "- p%zu\n" : "[p%zu", number);
    for (size_t i = 0; i < count; i++) {
        const char *word = words[below(sizeof words / sizeof *words)];

        if (tall)
            buf_printf(b, "%*s- %s%s\n", (int)indent, "", word, remark());
        else
            buf_printf(b, ", %s", word);
    }
    buf_text(b, tall ? "" : "]");
}

static void put_gap(struct buf *b, size_t indent)
{
    if (below(4) == 0)
        buf_text(b, "\n");
    if (below(4) == 0)
        buf_printf(b, "%*s# apart\n", (int)indent, "");
}

static void put_rules(struct buf *b, size_t indent)
{
    size_t count = below(4), offset = below(3) * 2;

    if (below(2)) {
        buf_text(b, " [");
        for (size_t i = 0; i < count; i++) {
            buf_text(b, i ? ", " : "");
            put_rule(b, i, 0, false);
        }
        buf_printf(b, "]%s\n", remark());
        return;
    }
    buf_printf(b, "%s\n", remark());
    for (size_t i = 0; i < count; i++) {
        bool tall = below(3) == 0;

        if (i)
            put_gap(b, indent + offset);
        buf_printf(b, "%*s- ", (int)(indent + offset), "");
        put_rule(b, i, indent + offset + 2, tall);
        if (!tall)
            buf_printf(b, "%s\n", remark());
    }
}

static void put_policy(struct buf *b)
{
    size_t indent = 1 + below(4), deeper = indent + 1 + below(4);
    bool deny_first = below(2);

    buf_printf(b, "policy:%s\n", remark());
    if (below(2))
        buf_printf(b, "%*snetwork: true%s\n", (int)indent, "", remark());
    put_gap(b, indent);
    if (below(6)) {
        buf_printf(b, "%*scommands:%s\n", (int)indent, "", remark());
        for (size_t i = 0; i < 2; i++) {
            if (below(3) == 0)
                continue;
            put_gap(b, deeper);
            buf_printf(b, "%*s%s:", (int)deeper, "",
                       (i == 0) == deny_first ? "deny" : "allow");
            put_rules(b, deeper);
        }
    }
    if (below(2))
        buf_printf(b, "%*ssandbox: on%s\n", (int)indent, "", remark());
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
        buf_printf(&b, "clients: [claude, codex]%s\n", remark());
    put_gap(&b, 0);
    if (below(8))
        put_policy(&b);
    put_gap(&b, 0);
    if (below(2))
        buf_printf(&b, "limits:%s\n  package_max_files: 10\n", remark());
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

/* Each line of `before` is in `after`, in order; but one may have changed. */
static size_t lines_lost(struct str before, struct str after)
{
    struct str line, other, rest = after;
    size_t lost = 0;

    while (str_line(&before, &line)) {
        struct str here = rest;
        bool found = false;

        while (!found && str_line(&here, &other))
            found = str_eq(line, other);
        if (found)
            rest = here;
        else
            lost++;
    }
    return lost;
}

static bool rule_eq(const struct project_rule *x, const struct project_rule *y)
{
    if (x->allow != y->allow || x->count != y->count)
        return false;
    for (size_t i = 0; i < x->count; i++)
        if (!str_eq(x->words[i], y->words[i]))
            return false;
    return true;
}

/* The rules of `p` in `q`, in their order, and one more, the last of its
 * list. */
static void check_rules(const struct project *p, const struct project *q,
                        bool allow)
{
    const struct project_rule *last = NULL;
    size_t k = 0;

    CHECK(q->rule_count == p->rule_count + 1);
    for (size_t i = 0; i < q->rule_count; i++) {
        if (q->rules[i].allow == allow)
            last = &q->rules[i];
        if (k < p->rule_count && rule_eq(&p->rules[k], &q->rules[i]))
            k++;
    }
    CHECK(k == p->rule_count);
    CHECK(last && last->count == 2 && str_is(last->words[0], "new") &&
          str_is(last->words[1], "a *"));
    CHECK(q->network == p->network && str_eq(q->sandbox, p->sandbox));
}

TEST(random_files_keep_all_other_lines)
{
    static const struct str rule[] = {STR_INIT("new"), STR_INIT("a *")};

    for (size_t i = 0; i < 20000 && !tap_failed; i++) {
        struct str before = random_file(), after = {0};
        struct project p, q;
        struct err e = {0};
        bool allow = below(2);

        CHECK(project_parse(before, PROJECT_WORKSPACE, "m", NULL, &arena, &p,
                            &e));
        CHECK(project_add_rule(before, allow, rule, 2, &arena, &after, &e));
        CHECK(
            project_parse(after, PROJECT_WORKSPACE, "m", NULL, &arena, &q, &e));
        check_rules(&p, &q, allow);
        CHECK(lines_lost(before, after) <= 1);
        if (tap_failed)
            printf("# %s with this file:\n%.*s<<<\n%.*s<<<\n", err_first(&e),
                   STR_ARG(before), STR_ARG(after));
        arena_done(&arena);
    }
}
