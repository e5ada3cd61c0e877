#include "base/buf.h"
#include "mapm/project.h"

#include <string.h>

#include "tap.h"

/* The settings for runs of metaskills: [K25, X27, row 15]. */

#define W PROJECT_WORKSPACE
#define L PROJECT_LOCAL
#define U PROJECT_USER

#define OWN     "it belongs in your own ~/.config/mapm/config.yaml"
#define PRESETS "claude, codex, gemini, opencode, copilot, qwen, cline"
#define BASE                                                                   \
    "it has a host, perhaps a port and a path, and nothing else: "             \
    "https://api.example.com/v1"

static struct arena arena;

static bool parse(const char *text, enum project_role role, struct project *p,
                  struct err *e)
{
    return project_parse(str_cstr(text), role, "m", NULL, &arena, p, e);
}

/* clang-format off */
static const struct {
    enum project_role role;
    const char *text, *message, *hint; /* message NULL: it is accepted */
} rows[] = {
    /* sandbox */
    {W, "policy: {sandbox: on}\n", NULL, NULL},
    {W, "policy: {sandbox: \"on\"}\n", NULL, NULL},
    {W, "policy:\n  sandbox: off\n", "m:2: \"sandbox: off\" may not stand here", OWN},
    {W, "policy: {sandbox: home}\n", "m:1: \"sandbox: home\" may not stand here", OWN},
    {W, "policy: {sandbox: of}\n", "m:1: sandbox must be on", "did you mean \"on\"?"},
    {U, "policy: {sandbox: off}\n", NULL, NULL},
    {U, "policy: {sandbox: home}\n", NULL, NULL},
    {U, "policy: {sandbox: hom}\n", "m:1: sandbox must be one of on, home, off", "did you mean \"home\"?"},
    {U, "policy: {sandbox: false}\n", "m:1: sandbox must be one of on, home, off", ""},
    {U, "policy: {sandbox: Off}\n", "m:1: sandbox must be one of on, home, off", "did you mean \"off\"?"},
    {U, "policy: {sandbox: [on]}\n", "m:1: sandbox must be one of on, home, off", ""},
    {U, "policy: {sandbox: }\n", "m:1: sandbox must be one of on, home, off", ""},
    {L, "policy: {sandbox: on}\n", "m:1: \"policy\" may not stand here", OWN},
    /* network */
    {W, "policy: {network: true}\n", NULL, NULL},
    {W, "policy: {network: no}\n", NULL, NULL},
    {W, "policy: {network: maybe}\n", "m:1: network must be true or false", ""},
    {W, "policy: {network: \"true\"}\n", "m:1: network must be true or false", ""},
    /* runtime */
    {W, "runtime: {metaskills: off, keep: none}\n", NULL, NULL},
    {W, "runtime: {metaskills: local}\n", NULL, NULL},
    {W, "runtime: {metaskills: trusted}\n", NULL, NULL},
    {W, "runtime: {metaskills: all}\n", "m:1: \"metaskills: all\" may not stand here", OWN},
    {U, "runtime: {metaskills: all, keep: full}\n", NULL, NULL},
    {W, "runtime: {keep: full}\n", "m:1: \"keep: full\" may not stand here", OWN},
    {W, "runtime: {keep: sumary}\n", "m:1: keep must be one of none, summary", "did you mean \"summary\"?"},
    {U, "runtime: {metaskills: trust}\n", "m:1: metaskills must be one of off, local, trusted, all", "did you mean \"trusted\"?"},
    {U, "runtime: {metaskills: no}\n", "m:1: metaskills must be one of off, local, trusted, all", ""},
    {W, "runtime: {keep: [a]}\n", "m:1: keep must be one of none, summary", ""},
    {W, "runtime: {kep: none}\n", "m:1: unknown key \"kep\"", "did you mean \"keep\"?"},
    /* ask: presets */
    {W, "ask: cline\n", NULL, NULL},
    {U, "ask: openai\n", NULL, NULL},
    {W, "ask: openai\n", "m:1: \"ask: openai\" may not stand here", OWN},
    {W, "\nask: claud\n", "m:2: ask must be one of " PRESETS, "did you mean \"claude\"?"},
    {U, "ask: other\n", "m:1: ask must be one of " PRESETS ", anthropic, openai", ""},
    {W, "ask: {preset: claude}\n", "m:1: ask must be one of " PRESETS, "programs and URLs belong in your own ~/.config/mapm/config.yaml"},
    {U, "ask: {preset: claude, model: opus}\n", NULL, NULL},
    {U, "ask: {preset: openai, model: m, key_env: KEY}\n", NULL, NULL},
    {U, "ask: {preset: claude, key_env: KEY}\n", "m:1: key_env does not go with claude", ""},
    {U, "ask: {preset: claude, key_file: /k}\n", "m:1: key_file does not go with claude", ""},
    {U, "ask: {preset: openai, api: openai}\n", "m:1: api does not go with openai", ""},
    {U, "ask: {preset: x}\n", "m:1: preset must be one of " PRESETS ", anthropic, openai", ""},
    /* ask: one way */
    {U, "ask: {}\n", "m:1: ask has one of preset, exec and http", ""},
    {U, "ask: {model: x}\n", "m:1: ask has one of preset, exec and http", ""},
    {U, "ask: {exec: [a], http: \"https://b\"}\n", "m:1: ask has one of preset, exec and http", ""},
    {U, "ask: {exec: [a], model: x}\n", "m:1: model does not go with exec", ""},
    {U, "ask: {exec: [a], key_env: X}\n", "m:1: key_env does not go with exec", ""},
    {U, "ask: {exec: [a, 1]}\n", "m:1: an argument must be text: put it in quotes", ""},
    /* ask: http */
    {U, "ask: {http: \"https://api.example.com\"}\n", NULL, NULL},
    {U, "ask: {http: \"https://api.example.com:8443/v1/\", api: anthropic, key_file: ~/.k}\n", NULL, NULL},
    {U, "ask: {http: \"http://127.0.0.1:8080/v1\"}\n", NULL, NULL},
    {U, "ask: {http: \"http://127.9.9.9\"}\n", NULL, NULL},
    {U, "ask: {http: \"http://[::1]:11434\"}\n", NULL, NULL},
    {U, "ask: {http: \"https://[2001:db8::1]/v1\"}\n", NULL, NULL},
    {U, "ask: {http: ftp}\n", "m:1: not an http: or https: URL: \"ftp\"", ""},
    {U, "ask: {http: \"http://api.example.com\"}\n", "m:1: http: is for this machine alone: \"http://api.example.com\"", "write https: for any other host"},
    {U, "ask: {http: \"http://127.0.0.1.example.com\"}\n", "m:1: http: is for this machine alone: \"http://127.0.0.1.example.com\"", NULL},
    {U, "ask: {http: \"http://localhost.example.com\"}\n", "m:1: http: is for this machine alone: \"http://localhost.example.com\"", NULL},
    {U, "ask: {http: \"http://127.1\"}\n", "m:1: http: is for this machine alone: \"http://127.1\"", NULL},
    {U, "ask: {http: \"http://0.0.0.0\"}\n", "m:1: http: is for this machine alone: \"http://0.0.0.0\"", NULL},
    {U, "ask: {http: \"http://localhost@example.com\"}\n", "m:1: not the base URL of an API: \"http://localhost@example.com\"", BASE},
    {U, "ask: {http: \"http://localhost:80@example.com\"}\n", "m:1: not the base URL of an API: \"http://localhost:80@example.com\"", BASE},
    {U, "ask: {http: \"https://u:p@example.com\"}\n", "m:1: not the base URL of an API: \"https://u:p@example.com\"", BASE},
    {U, "ask: {http: \"https://\"}\n", "m:1: not the base URL of an API: \"https://\"", BASE},
    {U, "ask: {http: \"https:///v1\"}\n", "m:1: not the base URL of an API: \"https:///v1\"", BASE},
    {U, "ask: {http: \"https://a:0\"}\n", "m:1: not the base URL of an API: \"https://a:0\"", BASE},
    {U, "ask: {http: \"https://a:65536\"}\n", "m:1: not the base URL of an API: \"https://a:65536\"", BASE},
    {U, "ask: {http: \"https://a:65535\"}\n", NULL, NULL},
    {U, "ask: {http: \"https://a?key=1\"}\n", "m:1: not the base URL of an API: \"https://a?key=1\"", BASE},
    {U, "ask: {http: \"https://a/v1?key=1\"}\n", "m:1: not the base URL of an API: \"https://a/v1?key=1\"", BASE},
    {U, "ask: {http: \"https://a/v1#x\"}\n", "m:1: not the base URL of an API: \"https://a/v1#x\"", BASE},
    {U, "ask: {http: \"https://a b\"}\n", "m:1: not the base URL of an API: \"https://a b\"", BASE},
    {U, "ask: {http: \"https://a\\\\b\"}\n", "m:1: not the base URL of an API: \"https://a\\b\"", BASE},
    {U, "ask: {http: \"https://a\", api: opnai}\n", "m:1: api must be one of anthropic, openai", "did you mean \"openai\"?"},
    {U, "ask: {http: \"https://a\", key_env: A, key_file: /b}\n", "m:1: ask has either key_env or key_file", ""},
    {U, "ask: {http: \"https://a\", key_env: sk-secret}\n", "m:1: key_env is not the name of a variable", "the key itself has no place here: name the variable or the file that holds it"},
    {U, "ask: {http: \"https://a\", key_env: 1A}\n", "m:1: key_env is not the name of a variable", NULL},
    {U, "ask: {http: \"https://a\", key_file: k}\n", "m:1: key_file must be an absolute path, or begin with ~/", ""},
    /* rules */
    {W, "policy: {commands: {allow: , deny: []}}\n", NULL, NULL},
    {W, "policy: {commands: {allow: [git]}}\n", "m:1: a rule is a list of words: [git, diff, \"*\"]", ""},
    {W, "policy: {commands: {allow: [[]]}}\n", "m:1: a rule is a list of words: [git, diff, \"*\"]", ""},
    {W, "policy: {commands: {allow: git}}\n", "m:1: allow must be a list", ""},
    {W, "policy: {commands: {alow: []}}\n", "m:1: unknown key \"alow\"", "did you mean \"allow\"?"},
    {W, "policy:\n  commands:\n    deny:\n      - [git, 1]\n", "m:4: a word of a command must be text: put it in quotes", ""},
    {W, "policy: {commands: {allow: [[git, [diff]]]}}\n", "m:1: a word of a command must be text", ""},
    {W, "policy: {commands: {allow: [[git, ]]}}\n", NULL, NULL},
    {W, "policy: {commands: {allow: [[git, \"\"]]}}\n", NULL, NULL},
    {W, "policy: {commands: {allow: [[\"\", git]]}}\n", "m:1: a rule begins with a program: \"\"", ""},
    {W, "policy: {commands: {allow: [[git, \"a\\nb\"]]}}\n", NULL, NULL},
    {W, "policy: {commands: {allow: [[\"*\"]]}}\n", NULL, NULL},
    {W, "policy: {commands: {deny: [[\"*\", --force]]}}\n", NULL, NULL},
    {W, "policy: {commands: {allow: [[./scripts/*]]}}\n", "m:1: a program is named in full: \"./scripts/*\"", "\"*\" alone stands for any program"},
    {W, "policy: {commands: {deny: [[rm*]]}}\n", "m:1: a program is named in full: \"rm*\"", NULL},
    {W, "policy: {commands: {allow: [[git diff]]}}\n", "m:1: a rule has each word by itself: \"git diff\"", "write [git, diff], not [git diff]"},
    {W, "policy: {commands: {allow: [[./my scripts/x]]}}\n", NULL, NULL},
};
/* clang-format on */

TEST(what_each_file_may_say) /* [K25, X27, row 15] */
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct project p = {.rule_count = 42};
        struct err e = {0};
        bool ok = parse(rows[i].text, rows[i].role, &p, &e);

        CHECK(ok == !rows[i].message);
        CHECK_STR(err_first(&e), rows[i].message ? rows[i].message : "");
        CHECK(ok || p.rule_count == 42);
        if (rows[i].hint)
            CHECK_STR(e.hint, rows[i].hint);
        if (tap_failed) {
            printf("# row %zu: %s", i, rows[i].text);
            break;
        }
    }
    arena_done(&arena);
}

static const char *text_of(struct str s)
{
    return str_dup0(s, &arena);
}

TEST(all_of_it_is_there)
{
    static const char text[] = "ask: {http: \"https://a.example/v1//\",\n"
                               "  model: m, key_file: ~/key}\n"
                               "policy:\n"
                               "  network: yes\n"
                               "  sandbox: home\n"
                               "  commands:\n"
                               "    deny: [[git, push, \"*\"]]\n"
                               "    allow:\n"
                               "      - [git, diff, \"*\"]\n"
                               "      - - make\n"
                               "runtime: {metaskills: local, keep: full}\n";
    struct project p;
    struct err e = {0};

    CHECK(parse(text, U, &p, &e));
    CHECK_STR(err_first(&e), "");
    CHECK(p.setting_count == 0 && p.network == PROJECT_TRUE);
    CHECK(p.ask.line == 1 && p.ask.name.n == 0 && p.ask.argc == 0);
    CHECK_STR(text_of(p.ask.url), "https://a.example/v1");
    CHECK_STR(text_of(p.ask.api), "openai");
    CHECK_STR(text_of(p.ask.model), "m");
    CHECK_STR(text_of(p.ask.key_file), "~/key");
    CHECK_STR(text_of(p.sandbox), "home");
    CHECK_STR(text_of(p.metaskills), "local");
    CHECK_STR(text_of(p.keep), "full");
    CHECK(p.rule_count == 3);
    CHECK(!p.rules[0].allow && p.rules[0].count == 3 && p.rules[0].line == 7);
    CHECK(p.rules[1].allow && p.rules[1].count == 3 && p.rules[1].line == 9);
    CHECK(p.rules[2].allow && p.rules[2].count == 1 && p.rules[2].line == 10);
    CHECK_STR(text_of(p.rules[1].words[2]), "*");

    CHECK(parse("", U, &p, &e));
    CHECK(p.ask.line == 0 && p.network == PROJECT_UNSAID && !p.sandbox.n);
    CHECK(parse("ask: {exec: [llm, -p]}\npolicy: {network: off}", U, &p, &e));
    CHECK(p.ask.argc == 2 && p.network == PROJECT_FALSE);
    CHECK_STR(text_of(p.ask.argv[1]), "-p");
    CHECK(parse("ask: {exec: llm}", U, &p, &e));
    CHECK(p.ask.argc == 1);
    CHECK_STR(text_of(p.ask.argv[0]), "llm");
    arena_done(&arena);
}

static bool rules_parse(size_t count, size_t words)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct project p;
    struct err e = {0};

    buf_init(&b, 1 << 20);
    buf_text(&b, "policy: {commands: {allow: [");
    for (size_t i = 0; i < count; i++) {
        buf_text(&b, "[a");
        for (size_t k = 1; k < words; k++)
            buf_text(&b, ",b");
        buf_text(&b, "],");
    }
    buf_text(&b, "]}}");
    return parse(str_dup0(buf_str(&b), &arena), W, &p, &e);
}

TEST(rules_are_bounded) /* [row 15] */
{
    CHECK(rules_parse(RULES_MAX, 1));
    CHECK(!rules_parse(RULES_MAX + 1, 1));
    CHECK(rules_parse(1, COMMAND_MAX_WORDS));
    CHECK(!rules_parse(1, COMMAND_MAX_WORDS + 1));
    arena_done(&arena);
}

/* --- what has to be accepted ---------------------------------------------- */

#define ALLOW "[git, diff, \"*\"]"

/* "" if no value is required. */
static const char *digest(const char *policy)
{
    struct str text = arena_printf(&arena, "policy: {%s}\n", policy);
    struct project p;
    struct hash h;
    struct err e = {0};

    if (!parse(text.p, W, &p, &e))
        return err_first(&e);
    return project_policy_digest(&p, &h) ? hash_hex(&h, &arena).p : "";
}

TEST(what_widens_has_to_be_accepted) /* [row 15] */
{
    static const char *const same[] = {
        "commands: {allow: [" ALLOW ", [make]]}",
        "commands: {allow: [[make], " ALLOW "]}",
        "commands: {allow: [[make], " ALLOW ", [\"make\"]], deny: []}",
        "sandbox: on, network: false, commands: {allow: [[make], " ALLOW "]}",
    };
    static const char *const other[] = {
        "commands: {allow: [" ALLOW "]}",
        "commands: {allow: [" ALLOW ", [make, \"*\"]]}",
        "commands: {allow: [[git, diff], [\"*\"], [make]]}",
        "commands: {allow: [[git, diff, \"* 4:make\"]]}",
        "commands: {allow: [" ALLOW ", [make]], deny: [[make, x]]}",
        "commands: {allow: [" ALLOW "], deny: [[make]]}",
        "network: true, commands: {allow: [" ALLOW ", [make]]}",
        "network: true",
    };
    static const char *const none[] = {
        "",
        "network: false",
        "sources: []",
        "sandbox: on",
        "commands: {deny: [[make]]}",
    };
    const char *first = digest(same[0]);

    CHECK(strlen(first) == HASH_HEX_CHARS);
    for (size_t i = 1; i < sizeof same / sizeof *same; i++)
        CHECK_STR(digest(same[i]), first);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        CHECK(strlen(digest(other[i])) == HASH_HEX_CHARS);
        CHECK(strcmp(digest(other[i]), first) != 0);
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(digest(other[i]), digest(other[k])) != 0);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        CHECK_STR(digest(none[i]), "");
    arena_done(&arena);
}
