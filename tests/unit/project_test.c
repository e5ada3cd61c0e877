#include "mapm/doc_kind.h"
#include "mapm/origin.h"
#include "mapm/project.h"

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
