#include "base/buf.h"
#include "mapm/doc_kind.h"
#include "mapm/limits.h"
#include "mapm/member.h"
#include "mapm/origin.h"
#include "mapm/project.h"
#include "mapm/replace.h"

#include "tap.h"

/* [M13, M15, row 10, row 15] what mapm.yaml and its kin may say. */

#define URL "https://github.com/acme/catalog/tree/main/"
#define W   PROJECT_WORKSPACE
#define L   PROJECT_LOCAL
#define U   PROJECT_USER

static struct arena arena;

/* clang-format off */
static const struct {
    enum project_role role;
    const char *text, *message, *hint; /* message NULL: it is accepted */
} rows[] = {
    {W, "", NULL, NULL},
    {W, "# nothing yet\n", NULL, NULL},
    {W, "dependencies:\n", NULL, NULL},
    {W, "dependencies: {}\n", NULL, NULL},
    {W, "dependencies: {agents: [], skills: , mcps: null}\n", NULL, NULL},
    {W, "dependencies:\r\n  skills:\r\n    - " URL "skills/x\r\n", NULL, NULL},
    {W, "dependencies: {skills: [file:/home/me/x]}\n", NULL, NULL}, /* [M15] the cli warns */
    {L, "dependencies: {skills: [file:/home/me/x]}\n", NULL, NULL},
    {W, "clients: [claude, vscode]\nask: codex\n", NULL, NULL},
    /* catalogs [D11] */
    {W, "dependencies: {catalogs: [" URL "a, {origin: " URL "b}, {origin: ./c}]}\n", NULL, NULL},
    {W, "dependencies: {catalogs: [{origin: " URL "a, include: [pdf-*, skill x, plugins/y/], exclude: []}]}\n", NULL, NULL},
    {L, "dependencies: {catalogs: [{origin: \"file:/a\"}]}\n", NULL, NULL},
    {W, "dependencies: {catalogs: [\"https://h.example/.well-known/agent-skills/index.json\"]}\n", NULL, NULL},
    {W, "dependencies: {catalogs: [\"https://h.example/.well-known/agent-skills/index.json?skill=pdf\"]}\n", "m:1: https://h.example/.well-known/agent-skills/index.json?skill=pdf is a skill of an index, no catalog", "list it below dependencies: skills:"},
    {L, "dependencies: {catalogs: [./c]}\n", "m:1: ./c is of the workspace: it belongs in mapm.yaml", ""},
    {U, "dependencies: {}\n", "m:1: \"dependencies\" may not stand here", NULL},
    {W, "dependencies: {catalogs: x}\n", "m:1: catalogs must be a list", ""},
    {W, "dependencies: {catalogs: [acme/catalog]}\n", "m:1: origin \"acme/catalog\": is neither an https: URL nor a file: path", NULL},
    {W, "dependencies:\n  catalogs:\n    - " URL "a\n    - {origin: " URL "a/}\n", "m:4: " URL "a is listed twice", ""},
    {W, "dependencies:\n  catalogs:\n    - {include: [x]}\n", "m:3: no \"origin\" in {...}", ""},
    {W, "dependencies:\n  catalogs:\n    - {origin: " URL "a, includes: [x]}\n", "m:3: unknown key \"includes\"", "did you mean \"include\"?"},
    {W, "dependencies:\n  catalogs:\n    - origin: " URL "a\n      include: []\n", "m:4: include chooses nothing", "leave it out to take everything"},
    {W, "dependencies:\n  catalogs:\n    - origin: " URL "a\n      include: [1]\n", "m:4: a pattern must be text: put it in quotes", ""},
    {W, "dependencies:\n  catalogs:\n    - origin: " URL "a\n      exclude: [/x]\n", "m:4: not a pattern: \"/x\"", "write a name, or a path below the folder of the catalog, as in skills/pdf-*"},
    {W, "dependencies:\n  catalogs:\n    - origin: " URL "a\n      exclude: [../x]\n", "m:4: not a pattern: \"../x\"", NULL},
    {U, "clients: [claude]\nhosts: [ghe.example.com]\nask: {exec: [my-llm, -p]}\n", NULL, NULL},
    {U, "hosts:\n  - a.example\n  - {host: b.example, kind: github, transport: ssh, port: 2222, token: env:B_TOKEN, ports: [8443, 9443]}\n", NULL, NULL},
    {U, "hosts: [{host: github.com, token: none}, {host: b.example, kind: github, token: git, transport: https}]\n", NULL, NULL},
    {U, "ask: {exec: my-llm}\n", NULL, NULL},
    {U, "ask: {http: \"http://localhost:11434\", model: qwen3, key_env: MY_KEY}\n", NULL, NULL},
    {U, "limits: {run_max_commands: 0, run_max_traces: 0}\n", NULL, NULL},
    {W, "policy:\n  sources: [github.com/acme/*, \"*/*/*\"]\n  commands: {allow: [[git, diff, \"*\"]], deny: []}\n  network: no\n", NULL, NULL},
    {W, "runtime: {metaskills: off, keep: summary}\nlimits: {package_max_files: 5000}\n", NULL, NULL},
    {U, "limits: {package_max_files: 9000}\n", NULL, NULL},
    {W, "limits: {package_max_files: 1}\n", NULL, NULL},
    {U, "limits: {package_max_files: 100000}\n", NULL, NULL},
    /* shape */
    {W, "- a\n", "m:1: expected keys and values", ""},
    {W, "text\n", "m:1: expected keys and values", ""},
    {W, "clients: [a\n", "m:2: did not find expected ',' or ']'", NULL},
    {W, "dependencies:\n  \tskills: []\n", "m:2: found character that cannot start any token", "indent with blanks: YAML takes no tabs"},
    {W, "dependencies:\n  skills: a: b\tc\n", "m:2: mapping values are not allowed in this context", "put text that holds \": \" or \" #\" in quotes, and give the lines of a list the same indentation"},
    {W, "clients: []\n<<<<<<< a\nask: x\n=======\nask: y\n>>>>>>> b\n", "m:2: a merge conflict", "keep the lines of both sides that you want, then run mapm install"},
    {W, "a: 1\na: 1\n", "m:2: \"a\" is given twice", "give it once, with the lines of both"},
    {W, "a: &x 1\n", "m:1: anchors (\"&\") are not allowed", ""},
    {W, "a: [[[[[[[[[]]]]]]]]]\n", "m:1: nested more than 8 deep", ""},
    {W, "dependencies: [x]\n", "m:1: dependencies must be a mapping", ""},
    {W, "dependencies: x\n", "m:1: dependencies must be a mapping", ""},
    {W, "dependencies:\n  skills: x\n", "m:2: skills must be a list", ""},
    {W, "dependencies:\n  skills: {a: b}\n", "m:2: skills must be a list", ""},
    {W, "dependencies:\n  skills:\n    - {as: x}\n", "m:3: no \"origin\" in {...}", ""},
    {W, "dependencies:\n  plugins:\n    - {origin: \"file:/x\", without: [slack]}\n", "m:3: not a part of a plugin: \"slack\"", "write its kind and its name: [mcp slack, skill review, agent tester]"},
    {W, "dependencies:\n  plugins:\n    - {catalog: \"file:/x\", plugin: y}\n", NULL, NULL},
    {W, "dependencies:\n  plugins:\n    - {catalog: \"file:/x\"}\n", "m:3: no \"plugin\" in {catalog: ...}", ""},
    {W, "dependencies:\n  plugins:\n    - {origin: \"file:/x\", catalog: \"file:/x\", plugin: y}\n", "m:3: \"origin\" and \"catalog\" in one plugin", ""},
    {W, "dependencies:\n  plugins:\n    - {origin: \"file:/x\", without: [plugin y]}\n", "m:3: not a part of a plugin: \"plugin y\"", "write its kind and its name: [mcp slack, skill review, agent tester]"},
    {W, "dependencies:\n  skills:\n    - {origin: \"file:/x\", without: [mcp y]}\n", "m:3: unknown key \"without\"", NULL},
    {W, "dependencies:\n  skills:\n    - {origin: \"file:/x\", as_: x}\n", "m:3: unknown key \"as_\"", "did you mean \"as\"?"},
    {W, "dependencies:\n  skills:\n    - {origin: \"file:/x\", as: X}\n", "m:3: not a name of a skill: \"X\"", ""},
    {W, "dependencies:\n  skills:\n    -\n", "m:3: an origin must be text", ""},
    {W, "dependencies:\n  skills:\n    - 12\n", "m:3: an origin must be text: put it in quotes", ""},
    {W, "clients: claude\n", "m:1: clients must be a list", ""},
    {W, "clients: [On]\n", "m:1: a client must be text: put it in quotes", ""},
    {W, "clients: [Claude]\n", "m:1: not a client's name: \"Claude\"", ""},
    {W, "clients: [../x]\n", "m:1: not a client's name: \"../x\"", ""},
    /* keys */
    {W, "dependency: {}\n", "m:1: unknown key \"dependency\"", ""},
    {W, "\ndependencie: {}\n", "m:2: unknown key \"dependencie\"", "did you mean \"dependencies\"?"},
    {W, "dependencies: {skill: []}\n", "m:1: unknown key \"skill\"", "did you mean \"skills\"?"},
    {W, "policy: {source: []}\n", "m:1: unknown key \"source\"", "did you mean \"sources\"?"},
    {W, "limits: {package_max_file: 1}\n", "m:1: unknown key \"package_max_file\"", "did you mean \"package_max_files\"?"},
    {W, "limits: {sky: 1}\n", "m:1: unknown key \"sky\"", ""},
    {W, "host: [a.b]\n", "m:1: unknown key \"host\"", ""}, /* not: "hosts" */
    /* origins [M13, row 10] */
    {W, "dependencies:\n  skills: [" URL "x, " URL "x]\n", "m:2: " URL "x is listed twice", ""},
    {W, "dependencies:\n  skills:\n  - " URL "x\n  - https://GitHub.com/Acme/Catalog.git/tree/main/x/\n", "m:4: https://github.com/Acme/Catalog/tree/main/x is listed twice", ""},
    {W, "dependencies:\n  skills:\n  - https://evil.example/acme/x/tree/main\n", "m:3: origin \"https://evil.example/acme/x/tree/main\": its host is neither built in nor one of `hosts` in your own configuration", NULL},
    {W, "dependencies:\n  skills:\n  - acme/catalog/skills/x\n", "m:3: origin \"acme/catalog/skills/x\": is neither an https: URL nor a file: path", NULL},
    /* what a workspace may not [row 15] */
    {W, "hosts: [ghe.example.com]\n", "m:1: \"hosts\" may not stand here", "it belongs in your own ~/.config/mapm/config.yaml"},
    {L, "hosts: [ghe.example.com]\n", "m:1: \"hosts\" may not stand here", "it belongs in your own ~/.config/mapm/config.yaml"},
    {W, "trusted_folders: [/x]\n", "m:1: \"trusted_folders\" may not stand here", "it belongs in your own ~/.config/mapm/config.yaml"}, /* [F3] (a) */
    {U, "trusted_folders: [/x, ~/y, '*']\n", NULL, NULL},
    {U, "trusted_folders:\n- x\n", "m:2: not an absolute path, \"~/...\" or \"*\": \"x\"", ""},
    {U, "trusted_folders: ['']\n", "m:1: a folder must be text", ""},
    {U, "trusted_folders: [~root]\n", "m:1: not an absolute path, \"~/...\" or \"*\": \"~root\"", ""},
    {L, "limits: {}\n", "m:1: \"limits\" may not stand here", "it belongs in your own ~/.config/mapm/config.yaml"},
    {U, "dependencies: {}\n", "m:1: \"dependencies\" may not stand here", "it belongs in mapm.yaml"},
    {W, "ask: {exec: [sh, -c, x]}\n", "m:1: ask must be one of claude, codex, gemini, opencode, copilot, qwen, cline", "programs and URLs belong in your own ~/.config/mapm/config.yaml"},
    {W, "ask: {http: \"https://evil.example\"}\n", "m:1: ask must be one of claude, codex, gemini, opencode, copilot, qwen, cline", "programs and URLs belong in your own ~/.config/mapm/config.yaml"},
    {W, "ask: /bin/sh\n", "m:1: ask must be one of claude, codex, gemini, opencode, copilot, qwen, cline", "programs and URLs belong in your own ~/.config/mapm/config.yaml"},
    {W, "limits: {package_max_files: 0}\n", "m:1: package_max_files must be from 1 to 100000", ""},
    {U, "limits: {package_max_files: 100001}\n", "m:1: package_max_files must be from 1 to 100000", ""},
    {U, "limits: {name_max_chars: 10}\n", "m:1: unknown key \"name_max_chars\"", ""},
    /* the rest */
    {U, "ask: {exec: []}\n", "m:1: exec names no program", ""},
    {U, "ask: {exec: }\n", "m:1: a program must be text", ""},
    {U, "ask: {exec: [a], modle: x}\n", "m:1: unknown key \"modle\"", "did you mean \"model\"?"},
    {U, "hosts: [GHE.example.com]\n", "m:1: not a host's name in lower case, without port: \"GHE.example.com\"", ""},
    {U, "hosts: [ghe.example.com:443]\n", "m:1: not a host's name in lower case, without port: \"ghe.example.com:443\"", ""},
    {U, "hosts: [localhost]\n", "m:1: not a host's name in lower case, without port: \"localhost\"", ""},
    {U, "hosts: [-a.b]\n", "m:1: not a host's name in lower case, without port: \"-a.b\"", ""},
    {U, "hosts: [{kind: github}]\n", "m:1: no \"host\" in {host: ...}", ""},
    {U, "hosts: [{host: b.example}]\n", "m:1: no \"kind\" for b.example", NULL},
    {U, "hosts:\n  - host: b.example\n    kind: gitlub\n", "m:3: kind must be one of github, gitlab, bitbucket, bitbucket-dc, gitea, azure, codecommit, sourcehut, huggingface, gitiles, git", NULL},
    {U, "hosts:\n  - a.example\n  - {host: a.example, kind: github}\n", "m:3: a.example is named twice", ""},
    {U, "hosts: [{host: a.example., kind: github}]\n", "m:1: not a host's name in lower case, without port: \"a.example.\"", ""},
    {U, "hosts: [{host: me@a.example, kind: github}]\n", "m:1: not a host's name in lower case, without port: \"me@a.example\"", ""},
    {U, "hosts: [{host: a.example, kind: github, transport: telnet}]\n", "m:1: transport must be https or ssh", ""},
    {U, "hosts: [{host: a.example, kind: github, port: 0}]\n", "m:1: port must be a number from 1 to 65535", ""},
    {U, "hosts: [{host: a.example, kind: github, port: 65536}]\n", "m:1: port must be a number from 1 to 65535", ""},
    {U, "hosts: [{host: a.example, kind: github, ports: 80}]\n", "m:1: ports must be a list", ""},
    {U, "hosts: [{host: a.example, kind: github, ports: [x]}]\n", "m:1: a port must be a number from 1 to 65535", ""},
    {U, "hosts: [{host: a.example, kind: github, ports: [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]}]\n", "m:1: more than 16 ports", ""},
    {U, "hosts: [{host: a.example, kind: github, token: ghp_abc}]\n", "m:1: token must be env:NAME, git or none", "the token itself must not be written here: name the variable of the environment that has it"},
    {U, "hosts: [{host: a.example, kind: github, token: \"env:A B\"}]\n", "m:1: token must be env:NAME, git or none", NULL},
    {U, "hosts: [{host: a.example, kind: github, tokens: x}]\n", "m:1: unknown key \"tokens\"", "an item of hosts may have host, kind, transport, port, token and ports"},
    /* replace [D9] */
    {W, "replace: [{from: " URL "a, to: ../a}]\n", NULL, NULL},
    {W, "replace: {}\n", "m:1: replace must be a list", ""},
    {W, "replace:\n  - a\n", "m:2: expected {from: ..., to: ...}", ""},
    {W, "replace:\n  - {from: x}\n", "m:2: no \"to\" in {from: ..., to: ...}", ""},
    {W, "replace:\n  - {to: x}\n", "m:2: no \"from\" in {from: ..., to: ...}", ""},
    {W, "replace:\n  - {from: [x], to: y}\n", "m:2: from must be text", ""},
    {W, "replace:\n  - {from: x, to: 1}\n", "m:2: to must be text: put it in quotes", ""},
    {W, "replace:\n  - {from: x, top: y}\n", "m:2: unknown key \"top\"", "did you mean \"to\"?"},
    {W, "policy: {sources: }\n", "m:1: sources must be a list; [] allows none", ""},
    {W, "policy: {sources: [github.com/acme]}\n", "m:1: not a pattern of sources: \"github.com/acme\"", "write host/owner/repository, with \"*\" for any: github.com/acme/*"},
    {W, "policy: {sources: [\"github.com//x\"]}\n", "m:1: not a pattern of sources: \"github.com//x\"", NULL},
    {W, "limits: {package_max_files: -1}\n", "m:1: package_max_files must be a whole number", ""},
    {W, "limits: {package_max_files: 1.5}\n", "m:1: package_max_files must be a whole number", ""},
    {W, "limits: {package_max_files: 0777}\n", "m:1: package_max_files must be a whole number", ""},
    {W, "limits: {package_max_files: many}\n", "m:1: package_max_files must be a whole number", ""},
    {U, "limits: {package_max_files: 18446744073709551615}\n", "m:1: package_max_files must be from 1 to 100000", ""},
    {U, "limits: {package_max_files: 18446744073709551616}\n", "m:1: package_max_files must be a whole number", ""},
};
/* clang-format on */

static bool parse(const char *text, enum project_role role, struct project *p,
                  struct err *e)
{
    return project_parse(str_cstr(text), role, "m", NULL, &arena, p, e);
}

TEST(what_each_file_may_say) /* [M13, M15, row 10, row 15] */
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct project p = {.root_count = 42};
        struct err e = {0};
        bool ok = parse(rows[i].text, rows[i].role, &p, &e);

        CHECK(ok == !rows[i].message);
        CHECK_STR(err_first(&e), rows[i].message ? rows[i].message : "");
        CHECK(ok || p.root_count == 42);
        if (rows[i].hint)
            CHECK_STR(e.hint, rows[i].hint);
    }
    arena_done(&arena);
}

TEST(roots_come_by_kind_then_as_written)
{
    static const char text[] = "dependencies:\n"
                               "  mcps:\n"
                               "    - " URL "mcps/a.json\n"
                               "  skills: [" URL "skills/b, " URL "skills/a]\n"
                               "  agents:\n"
                               "    # mine\n"
                               "    - " URL "agents/z\n"
                               "    - file:/home/me/agent\n";
    static const struct {
        enum doc_kind kind;
        const char *origin;
        unsigned line;
    } want[] = {
        {DOC_AGENT, URL "agents/z", 7},  {DOC_AGENT, "file:/home/me/agent", 8},
        {DOC_SKILL, URL "skills/b", 4},  {DOC_SKILL, URL "skills/a", 4},
        {DOC_MCP, URL "mcps/a.json", 3},
    };
    struct project p;
    struct err e = {0};

    CHECK(parse(text, W, &p, &e));
    CHECK_STR(err_first(&e), "");
    CHECK(p.root_count == 5);
    for (size_t i = 0; i < p.root_count && i < 5; i++) {
        CHECK(p.roots[i].kind == want[i].kind);
        CHECK(p.roots[i].line == want[i].line);
        CHECK_STR(str_dup0(p.roots[i].origin.text, &arena), want[i].origin);
    }
    arena_done(&arena);
}

TEST(a_host_of_the_users_own) /* [row 10] */
{
    struct host_config hosts[] = {
        {.host = STR_INIT("ghe.example.com"), .kind = &git_hosts[0]}};
    struct origin_rules rules = {.hosts = hosts, .host_count = 1};
    struct project p;
    struct err e = {0};

    CHECK(project_parse(STR("dependencies: {skills: "
                            "[\"https://ghe.example.com/a/b/tree/main\"]}"),
                        W, "m", &rules, &arena, &p, &e));
    CHECK(p.root_count == 1);
    arena_done(&arena);
}

TEST(what_config_says_of_a_host) /* [row 47] */
{
    static const char text[] =
        "hosts:\n"
        "  - a.example\n"
        "  - {host: b.example, kind: github, transport: ssh, port: 2222,\n"
        "     token: env:B_TOKEN, ports: [8443, 9443]}\n"
        "  - {host: c.example, kind: github, token: git}\n"
        "  - {host: d.example, kind: github, token: none}\n";
    struct project p;
    struct err e = {0};
    const struct host_config *b;

    CHECK(parse(text, U, &p, &e));
    CHECK(p.host_count == 4);
    CHECK(p.hosts[0].kind == &git_hosts[0]);
    CHECK(p.hosts[0].token == HOST_TOKEN_USUAL && p.hosts[0].port == 0);
    b = host_config_find(STR("B.Example"), p.hosts, p.host_count);
    CHECK(b == &p.hosts[1] && b->transport == HOST_OVER_SSH);
    CHECK(b->port == 2222 && b->port_count == 2 && b->ports[1] == 9443);
    CHECK(b->token == HOST_TOKEN_VARIABLE);
    CHECK_STR(str_dup0(b->variable, &arena), "B_TOKEN");
    CHECK(p.hosts[2].token == HOST_TOKEN_GIT);
    CHECK(p.hosts[3].token == HOST_TOKEN_NONE);
    CHECK(!host_config_find(STR("x.b.example"), p.hosts, p.host_count));
    arena_done(&arena);
}

TEST(limits_are_settings)
{
    static const char text[] = "ask: {exec: [llm, -p]}\n"
                               "limits:\n"
                               "  package_max_files: 10\n"
                               "  run_max_commands: 0\n";
    struct project p;
    struct err e = {0};

    CHECK(parse(text, U, &p, &e));
    CHECK(p.setting_count == 2);
    CHECK_STR(str_dup0(p.settings[0].name, &arena), "limits.package_max_files");
    CHECK_STR(str_dup0(p.settings[0].value, &arena), "10");
    CHECK(p.settings[0].line == 3);
    CHECK_STR(str_dup0(p.settings[1].name, &arena), "limits.run_max_commands");
    arena_done(&arena);
}

/* clang-format off */
static const struct {
    const char *sources, *origin;
    bool allowed;
} policies[] = {
    {NULL, URL "x", true},
    {"[]", URL "x", false},
    {"[]", "file:/x", true},
    {"[github.com/acme/*]", URL "x", true},
    {"[github.com/Acme/Catalog]", URL "x", true},
    {"[github.com/acme/catalog]", "https://github.com/ACME/Catalog/tree/main/x", true},
    {"[github.com/acme/cat]", URL "x", false},
    {"[github.com/acme/c*g]", URL "x", true},
    {"[github.com/acme/*a*a*]", URL "x", true},
    {"[github.com/acme/*a*a*a*]", URL "x", false},
    {"[github.com/acm*/catalog]", "https://github.com/acme-evil/catalog/tree/main", true},
    {"[github.com/acme/*]", "https://github.com/acme-evil/catalog/tree/main", false},
    {"[github.com/*/catalog]", "https://github.com/a/other/tree/main", false},
    {"[ghe.example.com/*/*]", URL "x", false},
    {"[ghe.example.com/*/*, \"*/acme/*\"]", URL "x", true},
    {"[\"*/*/*\"]", URL "x", true},
};
/* clang-format on */

TEST(sources_that_policy_allows) /* [row 15] */
{
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        const char *text = policies[i].sources
                               ? arena_printf(&arena, "policy: {sources: %s}",
                                              policies[i].sources)
                                     .p
                               : "";
        struct project p;
        struct origin o;
        struct err e = {0};

        CHECK(parse(text, W, &p, &e));
        CHECK(origin_parse(str_cstr(policies[i].origin), NULL, &arena, &o, &e));
        CHECK(project_source_allowed(&p, &o) == policies[i].allowed);
    }
    arena_done(&arena);
}

TEST(too_large_is_a_limit) /* [row 15] */
{
    char *text = arena_alloc(&arena, PROJECT_MAX_BYTES + 1);
    struct project p;
    struct err e = {0};

    memset(text, '\n', PROJECT_MAX_BYTES + 1);
    CHECK(project_parse(str_make(text, PROJECT_MAX_BYTES), W, "m", NULL, &arena,
                        &p, &e));
    CHECK(!project_parse(str_make(text, PROJECT_MAX_BYTES + 1), W, "m", NULL,
                         &arena, &p, &e));
    CHECK(e.code == ERR_LIMIT);
    arena_done(&arena);
}

/* --- members [D10] ------------------------------------------------------------ */

TEST(members_are_folders_below)
{
    static const struct {
        const char *text, *members; /* joined by blanks; or the message */
    } members[] = {
        {"members: [apps/web, libs/*]\n", "apps/web libs/*"},
        {"ask: 1\nmembers:\n- a\nunknown: {}\n", "a"},
        {"members: []\n", ""},
        {"# members\n", ""},
        {"", ""},
        {"- members\n", ""},
        {"members: x\n", "m:1: members must be a list"},
        {"members: [1]\n", "m:1: a folder must be text: put it in quotes"},
        {"a: [\nmembers: x\n", "m:3: did not find expected ',' or ']'"},
        {"members:\n- a\n- a/\n", "m:3: not a folder of members: \"a/\""},
        {"members: ['']\n", "m:1: a folder must be text"},
        {"members: [/a]\n", "m:1: not a folder of members: \"/a\""},
        {"members: [a//b]\n", "m:1: not a folder of members: \"a//b\""},
        {"members: [../a]\n", "m:1: not a folder of members: \"../a\""},
        {"members: [a/.b]\n", "m:1: not a folder of members: \"a/.b\""},
        {"members: [a/-b]\n", "m:1: not a folder of members: \"a/-b\""},
        {"members: ['a/**']\n", "m:1: not a folder of members: \"a/**\""},
        {"members: ['a\\b']\n", "m:1: not a folder of members: \"a\\b\""},
        {"members: [\"a\\e\"]\n", "m:1: a folder must be text"},
        {"members: [\"a\\u200bb\"]\n",
         "m:1: not a folder of members: \"a\u200bb\""},
    };

    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        struct project p;
        struct err e = {0};
        struct str all = STR("");
        bool ok = project_parse_members(str_cstr(members[i].text), "m", &arena,
                                        &p, &e);

        for (size_t k = 0; ok && k < p.member_count; k++)
            all = arena_join(all, " ", p.members[k], &arena);
        CHECK_STR(ok ? str_dup0(all, &arena) : err_first(&e),
                  members[i].members);
        CHECK(!ok || (p.members_line > 0) ==
                         (strstr(members[i].text, "members:") != NULL));
    }
    arena_done(&arena);
}

static bool members_of(size_t count, size_t bytes)
{
    CLEANUP(buf_done) struct buf b;
    struct project p;
    struct err e = {0};

    buf_init(&b, 1u << 20);
    buf_text(&b, "members:\n");
    for (size_t i = 0; i < count; i++) {
        buf_text(&b, "- ");
        for (size_t k = 0; k < bytes; k++)
            buf_char(&b, 'a');
        buf_char(&b, '\n');
    }
    return project_parse_members(buf_str(&b), "m", &arena, &p, &e) &&
           p.member_count == count;
}

TEST(members_have_bounds) /* [row 15] */
{
    CHECK(members_of(MEMBER_PATTERNS_MAX, 1) &&
          !members_of(MEMBER_PATTERNS_MAX + 1, 1));
    CHECK(members_of(1, MEMBER_MAX_BYTES) &&
          !members_of(1, MEMBER_MAX_BYTES + 1));
    CHECK(member_path_is_valid(STR("a/b")) &&
          !member_path_is_valid(STR("a/*")));
    CHECK(member_matches(STR("a/*"), STR("a/b")) &&
          !member_matches(STR("a/*"), STR("a")) &&
          !member_matches(STR("a/*"), STR("a/b/c")) &&
          !member_matches(STR("a/*"), STR("b/b")) &&
          member_matches(STR("a*c/d"), STR("abc/d")));
    arena_done(&arena);
}

/* The settings of a member of a workspace, in one line. */
static const char *joined(const char *root, const char *member)
{
    struct project *r = arena_new(&arena, struct project);
    struct project m;
    struct err e = {0};
    struct str rules = STR("");

    if (!parse(root, W, r, &e) || !parse(member, W, &m, &e))
        return err_first(&e);
    project_join_member(r, &m, &arena);
    CHECK(m.root == r);
    for (size_t i = 0; i < m.rule_count; i++)
        rules = arena_join(rules, " ", m.rules[i].words[0], &arena);
    return arena_printf(&arena,
                        "%zu %.*s; servers %d; store %zu; searched %d; rules "
                        "%.*s; network %d; sandbox %.*s; %.*s %.*s; ask %.*s",
                        m.client_count,
                        STR_ARG(m.client_count ? m.clients[0] : STR("-")),
                        m.start_servers, m.store.count,
                        project_is_searched(&m, STR("acme/x")), STR_ARG(rules),
                        (int)m.network, STR_ARG(m.sandbox),
                        STR_ARG(m.metaskills), STR_ARG(m.keep),
                        STR_ARG(m.ask.name))
        .p;
}

TEST(settings_of_the_root_and_of_a_member)
{
    static const char root[] =
        "clients: [codex]\nservers: start\nlisting: search\nask: codex\n"
        "policy: {commands: {deny: [[rm]]}, network: no, sandbox: on}\n"
        "runtime: {metaskills: off, keep: none}\n";
    static const char member[] =
        "clients: []\nlisting: client\nask: claude\n"
        "policy: {commands: {deny: [[mv], [cp]]}}\n"
        "runtime: {metaskills: local, keep: summary}\n";

    CHECK_STR(joined(root, ""),
              "1 codex; servers 1; store 0; searched 1; rules rm; network 1; "
              "sandbox on; off none; ask codex");
    CHECK_STR(joined("", member),
              "0 -; servers 0; store 0; searched 0; rules mv cp; network 0; "
              "sandbox ; local summary; ask claude");
    CHECK_STR(joined(root, member),
              "0 -; servers 1; store 0; searched 0; rules rm mv cp; network "
              "1; sandbox on; off none; ask claude");
    CHECK_STR(joined("", "policy: {network: no}\n"),
              "0 -; servers 0; store 0; searched 0; rules ; network 1; "
              "sandbox ;  ; ask ");
    arena_done(&arena);
}

/* --- listing [G4] ------------------------------------------------------------- */

TEST(skills_that_are_searched)
{
    static const struct {
        const char *listing, *message; /* or which of pdf, acme/aws-x, z */
    } listings[] = {
        {"search", "111"},
        {"client", "000"},
        {"{search: [aws-*]}", "010"},
        {"{search: [acme/*]}", "010"},
        {"{search: [pdf, aws-x]}", "110"},
        {"{client: [pdf]}", "011"},
        {"{search: ['*'], client: [acme/*]}", "101"},
        {"{search: [], client: []}", "000"},
        {"", "m:1: listing must be client, search, or both with patterns"},
        {"{}", "m:1: listing must be client, search, or both with patterns"},
        {"other", "m:1: listing must be client, search, or both with patterns"},
        {"[search]",
         "m:1: listing must be client, search, or both with patterns"},
        {"{search: x}", "m:1: search must be a list"},
        {"{search: [1]}",
         "m:1: a pattern of names must be text: put it in quotes"},
        {"{search: [A B]}", "m:1: no skill has such a name: \"A B\""},
        {"{search: ['a *']}", "m:1: no skill has such a name: \"a *\""},
        {"{searched: [a]}", "m:1: unknown key \"searched\""},
    };

    for (size_t i = 0; i < sizeof listings / sizeof *listings; i++) {
        struct project p;
        struct err e = {0};
        bool ok =
            parse(arena_printf(&arena, "listing: %s\n", listings[i].listing).p,
                  W, &p, &e);
        const char *got =
            ok ? arena_printf(&arena, "%d%d%d",
                              project_is_searched(&p, STR("pdf")),
                              project_is_searched(&p, STR("acme/aws-x")),
                              project_is_searched(&p, STR("z")))
                     .p
               : err_first(&e);

        CHECK_STR(got, listings[i].message);
        CHECK(!ok || p.listing.line == 1);
    }
    arena_done(&arena);
}

TEST(parts_of_a_plugin_are_sorted_and_once) /* [X45] */
{
    struct str words[] = {STR_INIT("skill b"), STR_INIT("mcp x"),
                          STR_INIT("skill b"), STR_INIT("agent: c")};
    struct str_list list =
        project_sort_parts((struct str_list){words, 4}, &arena);
    struct str_list two = {list.items, 2};

    CHECK(list.count == 3);
    CHECK_STR(str_dup0(project_parts_text(list, &arena), &arena),
              "\"agent: c\", mcp x, skill b");
    CHECK(project_same_parts(list, list) && !project_same_parts(list, two) &&
          !project_same_parts(two, list));
    CHECK(!project_same_parts(two, (struct str_list){list.items + 1, 2}));
    CHECK(project_same_parts((struct str_list){NULL, 0},
                             (struct str_list){NULL, 0}));
    CHECK(project_sort_parts((struct str_list){NULL, 0}, &arena).count == 0);
    arena_done(&arena);
}

/* --- catalogs [D11] ------------------------------------------------------------ */

TEST(packages_that_a_catalog_chooses)
{
    static const struct {
        const char *include, *exclude; /* lists of YAML; include may be NULL */
        enum doc_kind kind;
        const char *path, *name;
        bool chosen;
    } choices[] = {
        {NULL, "[]", DOC_SKILL, "skills/pdf", "pdf", true},
        {NULL, "[pdf]", DOC_SKILL, "skills/pdf", "pdf", false},
        {NULL, "[pdf]", DOC_SKILL, "skills/pdfs", "pdfs", true},
        {"[pdf-*]", "[]", DOC_SKILL, "skills/pdf-x", "pdf-x", true},
        {"[pdf-*]", "[]", DOC_SKILL, "skills/pdf", "pdf", false},
        {"[pdf-*]", "[pdf-x]", DOC_SKILL, "skills/pdf-x", "pdf-x", false},
        {"[skill x]", "[]", DOC_SKILL, "a/x", "x", true},
        {"[skill x]", "[]", DOC_AGENT, "a/x", "x", false},
        {"[agent x*]", "[]", DOC_AGENT, "a/xy", "xy", true},
        {"[agent x*]", "[]", DOC_SKILL, "a/xy", "xy", false},
        {"[skill x, agent x]", "[]", DOC_AGENT, "a/x", "x", true},
        {"[skills/]", "[]", DOC_SKILL, "skills/a/b", "b", true},
        {"[skills/]", "[]", DOC_SKILL, "skill/a/b", "b", false},
        {"[skills/a]", "[]", DOC_SKILL, "skills/a", "z", true},
        {"[skills/a/b/c]", "[]", DOC_SKILL, "skills/a/b", "b", false},
        {"[skill skills/a]", "[]", DOC_AGENT, "skills/a", "a", false},
        {"['skills/*-x']", "[]", DOC_SKILL, "skills/a-x", "z", true},
        {"['skills/*-x']", "[]", DOC_SKILL, "skills/a-x/b", "z", true},
        {"['skills/*-x']", "[]", DOC_SKILL, "skills/a/b-x", "z", false},
        {"['agent skills/*-x']", "[]", DOC_SKILL, "skills/a-x", "z", false},
        {"[a.json]", "[]", DOC_MCP, "mcps/a.json", "a", true},
        {"[a.json]", "[]", DOC_SKILL, "mcps/a.json", "a", false},
        {"[a]", "[]", DOC_MCP, "mcps/a.json", "a", true},
        {"[x]", "[]", DOC_SKILL, "", "x", true},
    };

    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        struct project p = {0};
        struct err e = {0};
        const char *include =
            choices[i].include
                ? arena_printf(&arena, ", include: %s", choices[i].include).p
                : "";

        CHECK(parse(arena_printf(&arena,
                                 "dependencies: {catalogs: [{origin: " URL
                                 "a%s, exclude: %s}]}\n",
                                 include, choices[i].exclude)
                        .p,
                    W, &p, &e) &&
              p.catalog_count == 1);
        if (p.catalog_count &&
            catalog_chooses(&p.catalogs[0], choices[i].kind,
                            str_cstr(choices[i].path),
                            str_cstr(choices[i].name)) != choices[i].chosen)
            CHECK_STR(choices[i].include ? choices[i].include : "(all)",
                      choices[i].path);
    }
    arena_done(&arena);
}

TEST(packages_that_a_catalog_holds)
{
    static const struct {
        const char *catalog, *origin;
        enum doc_kind kind;
        const char *held; /* "PATH NAME", NULL: it does not */
    } holds[] = {
        {URL "a", URL "a/b", DOC_SKILL, "b b"},
        {URL "a", URL "a/b/c", DOC_SKILL, "b/c c"},
        {URL "a", URL "a", DOC_SKILL, " a"},
        {URL "a", URL "ab", DOC_SKILL, NULL},
        {URL "a/b", URL "a", DOC_SKILL, NULL},
        {URL "a", "https://github.com/acme/other/tree/main/a/b", DOC_SKILL,
         NULL},
        {URL "a", "https://github.com/acme/catalog/tree/dev/a/b", DOC_SKILL,
         NULL},
        {"https://github.com/acme/catalog/tree/main",
         "https://github.com/acme/catalog/tree/main", DOC_SKILL, " catalog"},
        {"https://github.com/acme/catalog/tree/main", URL "a/b.json", DOC_MCP,
         "a/b.json b"},
        {"https://github.com/acme/catalog/tree/main", URL "a/b.json", DOC_SKILL,
         "a/b.json b.json"},
        {"file:/c", "file:/c/x/y", DOC_AGENT, "x/y y"},
        {"file:/c", "file:/c", DOC_AGENT, " c"},
        {"file:/c", "file:/cx", DOC_AGENT, NULL},
        {"file:/c", URL "a", DOC_AGENT, NULL},
        {"https://h.example/.well-known/agent-skills/index.json",
         "https://h.example/.well-known/agent-skills/index.json?skill=pdf",
         DOC_SKILL, " pdf"},
        {"https://g.example/.well-known/agent-skills/index.json",
         "https://h.example/.well-known/agent-skills/index.json?skill=pdf",
         DOC_SKILL, NULL},
    };

    for (size_t i = 0; i < sizeof holds / sizeof *holds; i++) {
        struct catalog c = {0};
        struct origin o;
        struct err e = {0};
        struct str path, name;

        CHECK((strstr(holds[i].catalog, "index.json")
                   ? origin_parse_index(str_cstr(holds[i].catalog), &arena,
                                        &c.origin, &e)
                   : origin_parse(str_cstr(holds[i].catalog), NULL, &arena,
                                  &c.origin, &e)) &&
              origin_parse(str_cstr(holds[i].origin), NULL, &arena, &o, &e));
        CHECK_STR(catalog_holds(&c, holds[i].kind, &o, &path, &name)
                      ? arena_printf(&arena, "%.*s %.*s", STR_ARG(path),
                                     STR_ARG(name))
                            .p
                      : "no",
                  holds[i].held ? holds[i].held : "no");
    }
    CHECK(
        str_is(catalog_word(DOC_SKILL, STR(""), STR("x"), &arena), "skill x"));
    CHECK(str_is(catalog_word(DOC_SKILL, STR("x"), STR("x"), &arena), "x/"));
    CHECK(str_is(catalog_word(DOC_SKILL, STR("a/[x]*"), STR("x"), &arena),
                 "a/\\[x]\\*"));
    arena_done(&arena);
}

/* --- replace [D9] --------------------------------------------------------------- */

#define REPO "https://github.com/acme/catalog"
#define FORK "https://gitlab.com/me/fork"

/* What takes the place of an origin, or "-"; or why the file is refused. */
static const char *replaced(const char *local, const char *workspace,
                            const char *origin)
{
    const char *const texts[] = {workspace, local};
    struct replacements *all = arena_new(&arena, struct replacements);
    const struct replacement *found;
    struct origin o, out;
    struct err e = {0};

    replacements_init(all, &arena);
    for (int i = 0; i < 2; i++) {
        struct project *p = arena_new(&arena, struct project);
        enum project_role role = i ? L : W;

        if (!parse(arena_printf(&arena, "replace: [%s]\n", texts[i]).p, role, p,
                   &e) ||
            !replacements_add(all, p, role, i ? "l" : "w", STR("/w/x"), NULL,
                              &e)) {
            CHECK(e.code == ERR_FORMAT || e.code == ERR_ORIGIN);
            return arena_printf(&arena, "%s", err_first(&e)).p;
        }
    }
    if (!origin_parse_argument(str_cstr(origin), STR("/w/x"), STR("/home/u"),
                               NULL, &arena, &o, &e))
        return "not an origin";
    found = replacements_find(all, &o);
    CHECK(!found || found->role == L || replacements_find_team(all, &o));
    if (!found)
        return "-";
    replacement_apply(found, &o, &arena, &out);
    return str_dup0(out.text, &arena);
}

TEST(origins_that_are_replaced)
{
    static const struct {
        const char *local, *workspace, *origin, *out;
    } rows_of[] = {
        /* a repository: ref and path stay */
        {"", "{from: " REPO ", to: " FORK "}", REPO "/tree/main/a/b",
         FORK "/-/tree/main/a/b"},
        {"", "{from: " REPO ", to: " FORK "}", REPO "/tree/main",
         FORK "/-/tree/main"},
        {"", "{from: " REPO ", to: " FORK "}",
         "https://github.com/acme/other/tree/main/a", "-"},
        {"", "{from: " REPO ", to: " FORK "}", "file:/a", "-"},
        {"", "{from: " REPO ", to: " FORK "//x}", REPO "/tree/main/a",
         "w:1: replace: a repository is replaced by a repository, not "
         "by " FORK "//x"},
        {"", "{from: " REPO ", to: " FORK "}", "acme/catalog/a",
         "gitlab.com/me/fork (for acme/catalog/a)"},
        /* a path, at any ref */
        {"", "{from: " REPO "//a, to: " FORK "//b/c}", REPO "/tree/main/a",
         FORK "/-/tree/main/b/c"},
        {"", "{from: " REPO "//a, to: " FORK "//b/c}", REPO "/tree/dev/a",
         FORK "/-/tree/dev/b/c"},
        {"", "{from: " REPO "//a, to: " FORK "}", REPO "/tree/main/a",
         FORK "/-/tree/main/a"},
        {"", "{from: " REPO "//a, to: " FORK "//b}", REPO "/tree/main/a/b",
         "-"},
        {"", "{from: " REPO "//, to: " FORK "}", REPO "/tree/main/a",
         "w:1: replace: origin \"" REPO "//\": has no path"},
        /* one package */
        {"", "{from: " REPO "/tree/main/a, to: " FORK "/-/tree/v1/z}",
         REPO "/tree/main/a", FORK "/-/tree/v1/z"},
        {"", "{from: " REPO "/tree/main/a, to: " FORK "/-/tree/v1/z}",
         REPO "/tree/dev/a", "-"},
        {"", "{from: " REPO "/tree/main/a, to: " FORK "}", REPO "/tree/main/a",
         FORK "/-/tree/main/a"},
        /* the longest form first, then the file of this machine */
        {"",
         "{from: " REPO ", to: " FORK "}, {from: " REPO "//a, to: " FORK
         "//b}, {from: " REPO "/tree/main/a, to: " FORK "/-/tree/v1/z}",
         REPO "/tree/main/a", FORK "/-/tree/v1/z"},
        {"",
         "{from: " REPO ", to: " FORK "}, {from: " REPO "//a, to: " FORK "//b}",
         REPO "/tree/main/a", FORK "/-/tree/main/b"},
        {"{from: " REPO ", to: /f}", "{from: " REPO ", to: " FORK "}",
         REPO "/tree/main/a", "file:/f/a"},
        {"{from: " REPO ", to: /f}", "{from: " REPO "//a, to: " FORK "//b}",
         REPO "/tree/main/a", FORK "/-/tree/main/b"},
        /* folders */
        {"{from: " REPO ", to: ../y}", "", REPO "/tree/main", "file:/w/y"},
        {"{from: " REPO ", to: ./y}", "", REPO "/tree/main/a", "file:/w/x/y/a"},
        {"{from: " REPO ", to: ..}", "", REPO "/tree/main/a", "file:/w/a"},
        {"{from: " REPO ", to: \"file:/z\"}", "", REPO "/tree/main/a",
         "file:/z/a"},
        {"{from: " REPO "//a, to: /z}", "", REPO "/tree/main/a", "file:/z"},
        {"", "{from: " REPO ", to: /f}", REPO "/tree/main/a",
         "w:1: replace: \"/f\" is a folder of one machine"},
        /* refused */
        {"", "{from: " REPO ", to: x}", REPO "/tree/main/a",
         "w:1: replace: origin \"x\": is no https: URL"},
        {"", "{from: x, to: " FORK "}", REPO "/tree/main/a",
         "w:1: replace: origin \"x\": is no https: URL"},
        {"", "{from: " REPO ", to: " FORK "}, {from: " REPO "/, to: " FORK "}",
         REPO "/tree/main/a", "w:1: replace: " REPO "/ is replaced twice"},
    };

    for (size_t i = 0; i < sizeof rows_of / sizeof *rows_of; i++)
        CHECK_STR(
            replaced(rows_of[i].local, rows_of[i].workspace, rows_of[i].origin),
            rows_of[i].out);
    arena_done(&arena);
}
