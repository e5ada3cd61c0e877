#include "base/buf.h"
#include "mapm/policy.h"

#include <stdlib.h>
#include <string.h>

#include "case_file.h"

/* Which commands a policy lets through: [K25, row 15, row 19]. */

#define WORDS_MAX 16

static struct arena arena;

/* "git|diff|a b" -> three words; "" is none. */
static const struct str *split(const char *text, size_t *count)
{
    struct str *words = arena_array(&arena, WORDS_MAX, sizeof *words);
    struct str rest = str_cstr(text);

    *count = 0;
    while (*text && *count < WORDS_MAX && str_cut(&rest, '|', &words[*count]))
        ++*count;
    return words;
}

/* "+git|diff|*  -git|push": as rules of a file "m", lines 1, 2 … */
static void add_rules(struct policy *p, const char *text)
{
    struct project_rule rules[WORDS_MAX];
    struct project from = {.rules = rules};
    struct str rest = str_cstr(text), one;

    while (*text && str_cut(&rest, ' ', &one)) {
        struct project_rule *rule = &rules[from.rule_count];

        if (one.n == 0)
            continue;
        rule->allow = one.p[0] == '+';
        rule->words =
            split(str_dup0(str_from_index(one, 1), &arena), &rule->count);
        rule->line = (unsigned)++from.rule_count;
    }
    policy_add_project(p, &from, "m", true);
}

static const char *judge(const char *rules, const char *command)
{
    const struct policy_rule *rule;
    const struct str *argv;
    struct policy p;
    size_t argc;

    policy_init(&p, &arena);
    add_rules(&p, rules);
    argv = split(command, &argc);
    switch (policy_evaluate(&p, argv, argc, &rule)) {
    case VERDICT_ALLOW:
        return arena_printf(&arena, "+%.*s", STR_ARG(rule->from)).p;
    case VERDICT_DENY:
        return arena_printf(&arena, "-%.*s", STR_ARG(rule->from)).p;
    case VERDICT_UNRULED:
        break;
    }
    return rule ? "a rule" : "";
}

TEST(rules_and_commands) /* [K25, row 19] */
{
    size_t count;
    const struct case_row *rows =
        case_rows("tests/cases/policy.txt", '\\', " ; ", 3, &arena, &count);

    CHECK(count > 50);
    for (size_t i = 0; i < count; i++) {
        const char *got = judge(rows[i].cells[1].p, rows[i].cells[2].p);

        if (strcmp(*got ? got : "none", rows[i].cells[0].p) != 0)
            printf("# policy.txt:%u\n", rows[i].line);
        CHECK_STR(*got ? got : "none", rows[i].cells[0].p);
    }
    arena_done(&arena);
}

TEST(an_allow_of_others_may_not_count) /* [row 15] */
{
    static const struct str words[] = {STR_INIT("git")};
    struct project_rule rules[] = {{true, words, 1, 3}, {false, words, 1, 4}};
    struct project from = {.rules = rules, .rule_count = 2};
    const struct policy_rule *rule;
    struct policy p;

    policy_init(&p, &arena);
    policy_add_project(&p, &from, "mapm.yaml", false);
    CHECK(p.count == 1);
    CHECK(policy_evaluate(&p, words, 1, &rule) == VERDICT_DENY);
    CHECK_STR(str_dup0(rule->from, &arena), "mapm.yaml:4");
    arena_done(&arena);
}

/* --- as typed ---------------------------------------------------------------- */

/* The words of a rule, "|" between them; or the error. */
static const char *typed(const char *text)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct policy p;
    struct err e = {0};

    policy_init(&p, &arena);
    if (!policy_add_option(&p, str_cstr(text), &e)) {
        CHECK(p.count == 0 && e.code == ERR_USAGE && e.hint[0]);
        return arena_printf(&arena, "%s", err_first(&e)).p;
    }
    CHECK(p.count == 1 && p.rules[0].allow && p.rules[0].count > 0);
    CHECK_STR(str_dup0(p.rules[0].from, &arena), "--allow");
    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < p.rules[0].count; i++)
        buf_printf(&b, "%s%.*s", i ? "|" : "", STR_ARG(p.rules[0].words[i]));
    return str_dup0(buf_str(&b), &arena);
}

/* clang-format off */
static const struct {
    const char *text, *words;
} options[] = {
    {"*", "*"},
    {"git", "git"},
    {"  git\tdiff \n *  ", "git|diff|*"},
    {"git 'a  b' \"c d\"", "git|a  b|c d"},
    {"git ''", "git|"},
    {"git \"\" x", "git||x"},
    {"git a'b'\"c\"d", "git|abcd"},
    {"ls *.c '*.c' \"*.c\" \\*.c", "ls|*.c|\\*.c|\\*.c|\\*.c"},
    {"ls a\\ b \\\\ '\\'", "ls|a b|\\\\|\\\\"},
    {"ls \"a\\\"b\\$\\`\\\\c\\d\"", "ls|a\"b$`\\\\c\\\\d"},
    {"ls $'a\\n\\t\\r\\\\\\'\\\"\\x1b\\x2A'", "ls|a\n\t\r\\\\'\"\x1b\\*"},
    {"ls $HOME $ a$'b'", "ls|$HOME|$|ab"},
    {"git diff; rm #x", "git|diff;|rm|#x"},
    {"./x y", "./x|y"},
    {"ls \\", "ls|\\\\"},
    {"", "--allow : it names no program"},
    {"  ", "--allow   : it names no program"},
    {"'' x", "--allow '' x: it names no program"},
    {"git 'x", "--allow git 'x: a quote is not closed"},
    {"git \"x\\\"", "--allow git \"x\\\": a quote is not closed"},
    {"git $'x", "--allow git $'x: a quote is not closed"},
    {"git $'\\", "--allow git $'\\: in $'...' it knows \\n, \\t, \\r, \\\\, \\', \\\" and \\xNN"},
    {"git $'\\q'", "--allow git $'\\q': in $'...' it knows \\n, \\t, \\r, \\\\, \\', \\\" and \\xNN"},
    {"git $'\\x1'", "--allow git $'\\x1': \\x has two digits, and is not 00"},
    {"git $'\\x00'", "--allow git $'\\x00': \\x has two digits, and is not 00"},
    {"git* diff", "--allow git* diff: a program is named in full"},
    {"'*' diff", "--allow '*' diff: a program is named in full"},
};
/* clang-format on */

TEST(options_are_typed_as_in_a_shell)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        CHECK_STR(typed(options[i].text), options[i].words);
    arena_done(&arena);
}

TEST(options_are_bounded)
{
    char *text = arena_alloc(&arena, 2 * COMMAND_MAX_WORDS + 3);

    for (size_t i = 0; i < 2 * COMMAND_MAX_WORDS; i += 2) {
        text[i] = 'a';
        text[i + 1] = ' ';
    }
    CHECK(strncmp(typed(text), "a|a", 3) == 0);
    memcpy(text + (size_t)2 * COMMAND_MAX_WORDS, "a", 1);
    CHECK(strstr(typed(text), "it has too many words"));
    arena_done(&arena);
}

/* --- as shown ---------------------------------------------------------------- */

/* clang-format off */
static const struct {
    const char *words, *line, *suggestion;
} lines[] = {
    {"git", "git", "--allow git"},
    {"git|diff|--stat=a,b:c%d@e_f", "git diff --stat=a,b:c%d@e_f", "--allow 'git diff --stat=a,b:c%d@e_f'"},
    {"git||x y", "git '' 'x y'", "--allow \"git '' 'x y'\""},
    {"ls|*.c|*", "ls '*.c' '*'", "--allow \"ls '*.c' '*'\""},
    {"ls|it's", "ls \"it's\"", "--allow $'ls \"it\\'s\"'"},
    {"ls|$HOME|`x`|!!", "ls '$HOME' '`x`' '!!'", "--allow $'ls \\'$HOME\\' \\'`x`\\' \\'!!\\''"},
    {"ls|'\"$", "ls $'\\'\"$'", "--allow $'ls $\\'\\\\\\'\"$\\''"},
    {"sh|-c|a\nb\tc\x1b[2J\x7f", "sh -c $'a\\nb\\tc\\x1b[2J\\x7f'", "--allow $'sh -c $\\'a\\\\nb\\\\tc\\\\x1b[2J\\\\x7f\\''"},
    {"ls|\xc3\xa9", "ls \xc3\xa9", "--allow 'ls \xc3\xa9'"},
    {"ls|\xe2\x80\xaex", "ls $'\\xe2\\x80\\xaex'", "--allow $'ls $\\'\\\\xe2\\\\x80\\\\xaex\\''"},
    {"ls|\xff", "ls $'\\xff'", "--allow $'ls $\\'\\\\xff\\''"},
    {"ls|\xc2\x9b", "ls $'\\xc2\\x9b'", "--allow $'ls $\\'\\\\xc2\\\\x9b\\''"},
    {"ls|~|#|&&|;|>x", "ls '~' '#' '&&' ';' '>x'", NULL},
};
/* clang-format on */

TEST(lines_hide_nothing) /* [K25, row 7] */
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        size_t argc;
        const struct str *argv = split(lines[i].words, &argc);

        CHECK_STR(str_dup0(policy_line(argv, argc, &arena), &arena),
                  lines[i].line);
        if (lines[i].suggestion)
            CHECK_STR(str_dup0(policy_suggest(argv, argc, &arena), &arena),
                      lines[i].suggestion);
    }
    arena_done(&arena);
}

TEST(rules_are_shown_as_in_a_file)
{
    size_t count;
    const struct str *words = split("git|diff|*|--x|a b|\\*.c", &count);

    CHECK_STR(str_dup0(project_rule_text(words, count, &arena), &arena),
              "[git, diff, \"*\", \"--x\", a b, \"\\\\*.c\"]");
    CHECK_STR(str_dup0(project_rule_text(words, 0, &arena), &arena), "[]");
    arena_done(&arena);
}

/* --- there and back ----------------------------------------------------------- */

static uint32_t seed = 1;

static size_t below(size_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (size_t)((uint64_t)(seed >> 8) * n >> 24);
}

static struct str random_word(bool program)
{
    static const char chars[] = "ab*\\'\"$` \n\t/.-!\x1b\xc3\xa9\xff";
    size_t n = program ? 1 + below(3) : below(6);
    char *word = arena_alloc(&arena, n + 1);

    for (size_t i = 0; i < n; i++)
        word[i] = program ? "ab/."[below(4)] : chars[below(sizeof chars - 1)];
    return str_make(word, n);
}

static bool argv_eq(const struct str *x, size_t count, const struct str *y,
                    size_t others)
{
    for (size_t i = 0; i < count && count == others; i++)
        if (!str_eq(x[i], y[i]))
            return false;
    return count == others;
}

/* What is suggested lets just the command through, and nothing else: as does
 * the rule for "always". */
TEST(a_suggestion_is_for_one_command) /* [K25, row 19] */
{
    for (size_t i = 0; i < 20000 && !tap_failed; i++) {
        struct str argv[4], other[4];
        size_t argc = 1 + below(4), others = 1 + below(4);
        const struct policy_rule *rule;
        struct policy typed_one, exact;
        struct err e = {0};

        for (size_t k = 0; k < 4; k++) {
            argv[k] = random_word(k == 0);
            other[k] = below(2) ? random_word(k == 0) : argv[k];
        }
        policy_init(&typed_one, &arena);
        policy_init(&exact, &arena);
        CHECK(
            policy_add_option(&typed_one, policy_line(argv, argc, &arena), &e));
        policy_add_words(&exact, policy_exact(argv, argc, &arena), argc,
                         "always");
        CHECK(policy_evaluate(&typed_one, argv, argc, &rule) == VERDICT_ALLOW);
        CHECK(policy_evaluate(&exact, argv, argc, &rule) == VERDICT_ALLOW);
        CHECK(policy_evaluate(&typed_one, other, others, &rule) ==
              policy_evaluate(&exact, other, others, &rule));
        if (str_eq(argv[0], other[0]))
            CHECK(argv_eq(argv, argc, other, others) ==
                  (policy_evaluate(&exact, other, others, &rule) ==
                   VERDICT_ALLOW));
        arena_done(&arena);
    }
}

/* What a workspace and a program can agree on costs no more than its length. */
TEST(long_words_are_quick) /* [row 15, row 17] */
{
    size_t length = 200000;
    char *many = arena_alloc(&arena, length + 1);
    char *text = arena_alloc(&arena, length + 1);
    struct str words[2] = {STR_INIT("x")}, argv[2] = {STR_INIT("x")};
    struct project_rule one = {false, words, 2, 1};
    struct project from = {.rules = &one, .rule_count = 1};
    const struct policy_rule *rule;
    struct policy p;

    memset(text, 'a', length);
    memset(many, 'a', length);
    many[0] = '*';
    many[length / 2] = 'b';
    policy_init(&p, &arena);
    words[1] = str_make(many, length / 2 + 1);
    argv[1] = str_make(text, length);
    for (size_t i = 0; i < 10; i++) /* as many as a file can hold */
        policy_add_project(&p, &from, "m", false);
    CHECK(policy_evaluate(&p, argv, 2, &rule) == VERDICT_UNRULED);
    text[length - 1] = 'b';
    CHECK(policy_evaluate(&p, argv, 2, &rule) == VERDICT_DENY);
    for (size_t i = 0; i < length; i += 2)
        many[i] = '*';
    CHECK(policy_evaluate(&p, argv, 2, &rule) == VERDICT_DENY);
    arena_done(&arena);
}

/* [D19] Of a command the rule that "always" writes. */
static const struct {
    const char *command, *rule;
} usual[] = {
    {"make", "make"},
    {"make test", "make test"},
    {"make test V=1", "make test *"},
    {"git diff HEAD~1 a.txt", "git diff *"},
    {"git push origin main", "git push origin *"},
    {"npm run test:unit -- --all", "npm run test:unit *"},
    {"python3 tests/run.py 3 4", "python3 tests/run.py *"},
    {"./check.sh a.txt b.txt", "./check.sh a.txt *"},
    {"tool A* x y", "tool A\\* *"},
    {"python3 -c x y", "python3 -c x y"},
    {"env A=1 rm x", "env A=1 rm x"},
    {"/usr/bin/xargs rm x y", "/usr/bin/xargs rm x y"},
    {"sh script.sh a b", "sh script.sh a b"},
};

TEST(always_is_for_such_commands)
{
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        struct str rest = str_cstr(usual[i].command), argv[8];
        CLEANUP(buf_done) struct buf b = {0};
        const struct str *words;
        size_t argc = 0, count;

        while (rest.n && str_cut(&rest, ' ', &argv[argc]))
            argc++;
        words = policy_usual(argv, argc, &arena, &count);
        buf_init(&b, 1024);
        for (size_t k = 0; k < count; k++)
            buf_printf(&b, "%s%.*s", k ? " " : "", STR_ARG(words[k]));
        CHECK_STR(str_dup0(buf_str(&b), &arena), usual[i].rule);
        arena_done(&arena);
    }
}
