#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "mapm/diagnostics.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/limits.h"
#include "mapm/mcp_file.h"

#include "document_case.h"

/* MCP files: [M11, M16, M17, M18, M19, M20, M21, M22, M23, X19, X20, X21, X22]
 * [row 5, row 8, row 9]. */

#define META "{\n  \"_meta\": {\n    \"name\": \"acme/cli\"\n  },\n"
/* One member a line, so that its line is 5. */
#define MCP(members)   META "  " members "\n}\n"
#define STDIO(members) MCP("\"command\": \"npx\", " members)
#define ARG(text)      STDIO("\"args\": [" text "]")
#define COMMAND(text)  MCP("\"command\": " text)
#define URL(text)      MCP("\"url\": " text)

static void read_mcp_text(struct reading *r, struct str text, const char *file)
{
    reading_of(r, (struct manifest_input){
                      .kind = DOC_MCP, .text = text, .folder = str_cstr(file)});
}

/* clang-format off */
static const struct {
    const char *text, *diagnostics;
} rows[] = {
    {STDIO("\"x\": 1"), ""},
    {URL("\"https://mcp.example.com/x?y=1\""), ""},

    /* [row 5] JSON */
    {"", "mcp-json:1!"},
    {"[]", "mcp-json:1!"},
    {"{\n  \"a\": 1,\n  \"a\": 2\n}\n", "mcp-json:3!"},
    {"{\n  \"a\": \"\\ud800\"\n}\n", "mcp-json:2!"},
    {"{\n  \"a\": NaN\n}\n", "mcp-json:2!"},
    {"{\n  \"a\": 1, // x\n}\n", "mcp-json:2!"},
    {"\xef\xbb\xbf{}", "mcp-json:1!"},
    {"{} x", "mcp-json:1!"},
    {STDIO("\"x\": \"a\\u0000b\""), "nul-bytes:5!"},
    {STDIO("\"a\\u0000b\": 1"), "nul-bytes:5!"},

    /* [M16, M17] */
    {"{\n  \"command\": \"npx\"\n}\n", "mcp-meta:1!"},
    {"{\n  \"_meta\": 1,\n  \"command\": \"npx\"\n}\n", "mcp-meta:2!"},
    {"{\n  \"_meta\": {\"plugin\": {}},\n  \"command\": \"npx\"\n}\n",
     "mcp-meta:2! mcp-name-missing:2!"},
    {"{\n  \"mcpServers\": {}\n}\n", "mcp-meta:1! mcp-type:1!"},
    {"{\n  \"_meta\": {},\n  \"command\": \"npx\"\n}\n", "mcp-name-missing:2!"},
    {"{\n  \"_meta\": {\"name\": \"\"},\n  \"command\": \"npx\"\n}\n", "mcp-name-missing:2!"},
    {"{\n  \"_meta\": {\"name\": 1},\n  \"command\": \"npx\"\n}\n", "mcp-name-missing:2!"},
    {"{\n  \"_meta\": {\"name\": \"cli\"},\n  \"command\": \"npx\"\n}\n", "mcp-name:2!"},
    {"{\n  \"_meta\": {\"name\": \"a_b/cli\"},\n  \"command\": \"npx\"\n}\n", "mcp-name:2!"},
    {"{\n  \"_meta\": {\"name\": \"../cli\"},\n  \"command\": \"npx\"\n}\n", "mcp-name:2!"},
    {"{\n  \"_meta\": {\"name\": \"a/b/c\"},\n  \"command\": \"npx\"\n}\n", "mcp-name:2!"},
    {"{\n  \"_meta\": {\"name\": \"acme/Cli\"},\n  \"command\": \"npx\"\n}\n", "mcp-filename:2!"},

    /* [M11, M28] */
    {STDIO("\"dependencies\": {}"), "mcp-leaf:5!"},
    {STDIO("\"dependencies\": null"), "mcp-leaf:5!"},

    /* REQUIREMENTS 4.4 */
    {STDIO("\"type\": \"stdio\""), ""},
    {STDIO("\"type\": \"local\""), ""},
    {STDIO("\"type\": \"http\""), "mcp-type:5!"},
    {STDIO("\"type\": \"other\""), "mcp-type:5!"},
    {STDIO("\"type\": 1"), "mcp-type:5!"},
    {STDIO("\"url\": \"https://x.example\""), "mcp-type:1!"},
    {MCP("\"x\": 1"), "mcp-type:1!"},
    {URL("\"https://x.example\", \"type\": \"http\""), ""},
    {URL("\"https://x.example\", \"type\": \"sse\""), ""},
    {URL("\"https://x.example\", \"type\": \"streamable-http\""), ""},
    {URL("\"https://x.example\", \"type\": \"stdio\""), "mcp-type:5!"},

    /* [M19, X20, row 8] command */
    {COMMAND("\"npx\""), ""},
    {COMMAND("\"npx.cmd\""), ""},
    {COMMAND("\"python3.12\""), ""},
    {COMMAND("\"uvx\""), ""},
    {COMMAND("\"docker\""), ""},
    {COMMAND("\"g++\""), ""},
    {COMMAND("\"${workspaceDir}/tools/server\""), ""},
    {COMMAND("\"${sharedDir}/bin/server.exe\""), ""},
    {COMMAND("\"${workspaceDir}/a/../b\""), ""},
    {ARG("\"${workspaceDir}x\""), "mcp-placeholder:5!"},
    {COMMAND("\"\""), "mcp-command:5!"},
    {COMMAND("[\"npx\"]"), "mcp-command:5!"},
    {COMMAND("null"), "mcp-command:5!"},
    {COMMAND("\"npx -y x\""), "mcp-command:5!"},
    {COMMAND("\"-x\""), "mcp-command:5!"},
    {COMMAND("\"..\""), "mcp-command:5!"},
    {COMMAND("\"$SHELL\""), "mcp-command:5!"},
    {COMMAND("\"a;b\""), "mcp-command:5!"},
    {COMMAND("\"n\xc3\xb6\""), "mcp-command:5!"},
    {COMMAND("\"/usr/bin/node\""), "mcp-command-path:5!"},
    {COMMAND("\"./x\""), "mcp-command-path:5!"},
    {COMMAND("\"C:\\\\x.exe\""), "mcp-command-path:5!"},
    {COMMAND("\"~/x\""), "mcp-command-path:5!"},
    {COMMAND("\"${workspaceDir}\""), "mcp-command-path:5!"},
    {COMMAND("\"${workspaceDir}/\""), "mcp-command-path:5!"},
    {COMMAND("\"${workspaceDir}/../x\""), "mcp-command-path:5! mcp-placeholder:5!"},
    {COMMAND("\"x/${workspaceDir}\""), "mcp-command-path:5!"},
    {COMMAND("\"${HOME}/x\""), "mcp-command-path:5! mcp-placeholder:5!"},
    {COMMAND("\"bash\""), "mcp-shell:5!"},
    {COMMAND("\"BASH.EXE\""), "mcp-shell:5!"},
    {COMMAND("\"sh\""), "mcp-shell:5!"},
    {COMMAND("\"cmd.exe\""), "mcp-shell:5!"},
    {COMMAND("\"powershell\""), "mcp-shell:5!"},
    {COMMAND("\"pwsh.cmd\""), "mcp-shell:5!"},
    {COMMAND("\"bash-5.2\""), "mcp-shell:5!"},
    {COMMAND("\"ksh93\""), "mcp-shell:5!"},
    {COMMAND("\"/bin/bash\""), "mcp-shell:5!"},
    {COMMAND("\"${workspaceDir}/bash\""), "mcp-shell:5!"},
    {COMMAND("\"env\""), "mcp-shell:5!"},
    {COMMAND("\"busybox\""), "mcp-shell:5!"},
    {COMMAND("\"sudo\""), "mcp-shell:5!"},

    /* [M19, row 8, row 9] args */
    {ARG(""), ""},
    {ARG("\"-y\", \"@a/b@latest\", \"--x=1\""), ""},
    {ARG("\"~\", \"$5\", \"$\", \"a$\", \"$$\", \"a~/b\""), ""},
    {ARG("\"${workspaceDir}/x\", \"--d=${sharedDir}\""), ""},
    {STDIO("\"args\": \"x\""), "mcp-args:5!"},
    {ARG("1"), "mcp-args:5!"},
    {ARG("[\"x\"]"), "mcp-args:5!"},
    {ARG("\"$HOME/x\""), "mcp-arg-expansion:5!"},
    {ARG("\"--x=$HOME\""), "mcp-arg-expansion:5!"},
    {ARG("\"$_\""), "mcp-arg-expansion:5!"},
    {ARG("\"~/x\""), "mcp-arg-expansion:5!"},
    {ARG("\"{env:X}\""), "mcp-arg-expansion:5"},
    {ARG("\"a{file:x}\""), "mcp-arg-expansion:5"},
    {ARG("\"-c\", \"rm -rf x\""), "mcp-shell:5!"},
    {ARG("\"-y\", \"-c\", \"x\""), "mcp-shell:5!"},
    {ARG("\"-yc\", \"x\""), "mcp-shell:5!"},
    {ARG("\"--call=x\""), "mcp-shell:5!"},
    {ARG("\"--shell-mode\", \"x\""), "mcp-shell:5!"},
    {ARG("\"--script-shell\", \"x\""), "mcp-shell:5!"},
    {ARG("\"--script-shell=x\""), "mcp-shell:5!"},
    {ARG("\"--shell\", \"x\""), "mcp-shell:5!"},
    {ARG("\"--shell=x\""), "mcp-shell:5!"},
    {ARG("\"-y\", \"--shells\", \"--callx\", \"--no-c\", \"-p=c\", \"x\""), ""},
    {ARG("\"-\", \"-y\", \"c\""), ""},
    {ARG("\"-p\", \"pkg\", \"-c\", \"x\""), "mcp-shell:5!"},
    {ARG("\"--package=pkg\", \"--call\", \"x\""), "mcp-shell:5!"},
    {ARG("\"-y\", \"pkg\", \"-c\", \"config.json\""), ""},
    {ARG("\"pkg\", \"-c\", \"config.json\""), ""},
    {ARG("\"--\", \"-c\""), ""},
    {MCP("\"command\": \"npm\", \"args\": [\"exec\", \"pkg\", \"-c\", \"x\"]"), "mcp-shell:5!"},
    {MCP("\"command\": \"npm\", \"args\": [\"exec\", \"pkg\", \"--\", \"-c\"]"), ""},
    /* [row 8] interpreters that run the text of an argument */
    {MCP("\"command\": \"node\", \"args\": [\"-e\", \"x\"]"), "mcp-shell:5!"},
    {MCP("\"command\": \"node\", \"args\": [\"--eval=x\"]"), "mcp-shell:5!"},
    {MCP("\"command\": \"node\", \"args\": [\"--evax\", \"--evax=x\", \"--prinx\", \"--watch\", \"x.js\"]"), ""},
    {MCP("\"command\": \"node\", \"args\": [\"--no-warnings\", \"-pe\", \"x\"]"), "mcp-shell:5!"},
    {MCP("\"command\": \"python\", \"args\": [\"-\", \"-Wc\", \"-mc\", \"x\"]"), ""},
    {MCP("\"command\": \"python\", \"args\": [\"-W\", \"x\", \"y.py\", \"-c\"]"), ""},
    {MCP("\"command\": \"python\", \"args\": [\"-W\", \"x\", \"-c\", \"y\"]"), "mcp-shell:5!"},
    {MCP("\"command\": \"python\", \"args\": [\"-W\", \"x\", \"-W\", \"y\", \"-c\"]"), "mcp-shell:5!"},
    {MCP("\"command\": \"python\", \"args\": [\"--\", \"-c\"]"), ""},
    {MCP("\"command\": \"PHP8.3\", \"args\": [\"--run\", \"x\"]"), "mcp-shell:5!"},
    {MCP("\"command\": \"php\", \"args\": [\"--process-end=x\"]"), "mcp-shell:5!"},
    {MCP("\"command\": \"groovy\", \"args\": [\"-e\", \"x\"]"), "mcp-shell:5!"},
    {MCP("\"command\": \"python3.11\", \"args\": [\"-Ic\", \"x\"]"), "mcp-shell:5!"},
    {MCP("\"command\": \"deno\", \"args\": [\"eval\", \"x\"]"), "mcp-shell:5!"},
    {MCP("\"command\": \"perl\", \"args\": [\"-we\", \"x\"]"), "mcp-shell:5!"},
    {MCP("\"command\": \"node\", \"args\": [\"--import\", \"./x.mjs\", \"-e\", \"x\"]"), "mcp-shell:5!"},
    {MCP("\"command\": \"node\", \"args\": [\"--import=data:text/javascript,x\", \"y\"]"), "mcp-shell:5!"},
    {MCP("\"command\": \"node\", \"args\": [\"data:text/javascript,x\"]"), "mcp-shell:5!"},
    {MCP("\"command\": \"node\", \"args\": [\"--import\", \"data:text/javascript,x\", \"y\"]"), "mcp-shell:5!"},
    {MCP("\"command\": \"node\", \"args\": [\"x.js\", \"data:text/javascript,x\"]"), ""},
    {MCP("\"command\": \"python\", \"args\": [\"-u\", \"server.py\", \"-c\", \"x\"]"), ""},
    {MCP("\"command\": \"node\", \"args\": [\"server.js\", \"-e\", \"x\"]"), ""},
    {MCP("\"command\": \"node\", \"args\": [\"--experimental-x\", \"server.js\"]"), ""},
    {MCP("\"command\": \"python\", \"args\": [\"-m\", \"server\", \"-c\", \"x\"]"), ""},
    {MCP("\"command\": \"python\", \"args\": [\"-um\", \"server\"]"), ""},
    {MCP("\"command\": \"deno\", \"args\": [\"run\", \"eval\"]"), ""},
    {MCP("\"command\": \"npx.cmd\", \"args\": [\"-c\", \"x\"]"), "mcp-shell:5!"},
    {MCP("\"command\": \"python\", \"args\": [\"-c\", \"x\"]"), "mcp-shell:5!"},
    {MCP("\"command\": \"docker\", \"args\": [\"run\", \"x\", \"sh\", \"-c\"]"), ""},

    /* [row 8] env */
    {STDIO("\"env\": {\"API_KEY\": \"x\", \"D\": \"${sharedDir}/x\"}"), ""},
    {STDIO("\"env\": {\"ProgramFiles(x86)\": \"x\"}"), ""},
    {STDIO("\"env\": [\"A=b\"]"), "mcp-env:5!"},
    {STDIO("\"env\": {\"A\": 1}"), "mcp-env:5!"},
    {STDIO("\"env\": {\"\": \"x\"}"), "mcp-env:5!"},
    {STDIO("\"env\": {\"A=B\": \"x\"}"), "mcp-env:5!"},
    {STDIO("\"env\": {\"LD_PRELOAD\": \"x\"}"), "mcp-env:5!"},
    {STDIO("\"env\": {\"LD_AUDIT\": \"x\"}"), "mcp-env:5!"},
    {STDIO("\"env\": {\"DYLD_INSERT_LIBRARIES\": \"x\"}"), "mcp-env:5!"},
    {STDIO("\"env\": {\"node_options\": \"x\"}"), "mcp-env:5!"},
    {STDIO("\"env\": {\"PATH\": \"x\"}"), "mcp-env:5!"},
    {STDIO("\"env\": {\"BASH_ENV\": \"x\"}"), "mcp-env:5!"},
    {STDIO("\"env\": {\"BASH_FUNC_x%%\": \"x\"}"), "mcp-env:5!"},
    {STDIO("\"env\": {\"GIT_SSH_COMMAND\": \"x\"}"), "mcp-env:5!"},
    {STDIO("\"env\": {\"npm_config_script_shell\": \"x\"}"), "mcp-env:5!"},
    {STDIO("\"environment\": {\"LD_PRELOAD\": \"x\"}"), "mcp-env:5!"},
    {STDIO("\"env\": {\"PATHS\": \"x\", \"MY_LD_PRELOAD\": \"x\"}"), ""},
    {STDIO("\"env\": {\"LDFLAGS\": \"x\", \"MALLOCATOR\": \"x\"}"), ""},

    /* urls and headers */
    {URL("\"http://localhost:3000/x\""), ""},
    {URL("\"http://127.0.0.1/\""), ""},
    {URL("\"http://127.9.9.9:1\""), ""},
    {URL("\"http://[::1]:80/x\""), ""},
    {URL("\"HTTPS://x.example:8443\""), ""},
    {URL("\"http://x.example\""), "mcp-url:5!"},
    {URL("\"http://localhost.evil.example\""), "mcp-url:5!"},
    {URL("\"http://127.0.0.1.evil.example\""), "mcp-url:5!"},
    {URL("\"http://128.0.0.1\""), "mcp-url:5!"},
    {URL("\"https://user:pw@x.example\""), "mcp-url:5!"},
    {URL("\"https://\""), "mcp-url:5!"},
    {URL("\"https://x.example:99999\""), "mcp-url:5!"},
    {URL("\"https://x.example:65536\""), "mcp-url:5!"},
    {URL("\"https://x.example:65535?x=@#\""), ""},
    {URL("\"https://x.example:#\""), "mcp-url:5!"},
    {URL("\"https://:1/\""), "mcp-url:5!"},
    {URL("\"https://[::1\""), "mcp-url:5!"},
    {URL("\"https://x_y.example/!\""), ""},
    {URL("\"https://x!y.example/\""), "mcp-url:5!"},
    {URL("\"https://x.example/\\u007f\""), "mcp-url:5! hidden-characters:5!"},
    {URL("\"https:/x.example\""), "mcp-url:5!"},
    {URL("\"https://x.example\\\\@y\""), "mcp-url:5!"},
    {URL("\"https://x.example/a b\""), "mcp-url:5!"},
    {URL("\"file:///etc/passwd\""), "mcp-url:5!"},
    {URL("1"), "mcp-url:5!"},
    {URL("\"https://x.example\", \"headers\": {\"Authorization\": \"x\"}"), ""},
    {URL("\"https://x.example\", \"headers\": {\"A\": 1}"), "mcp-url:5!"},
    {URL("\"https://x.example\", \"headers\": {\"A B\": \"x\"}"), "mcp-url:5!"},
    {URL("\"https://x.example\", \"headers\": {\"A\": \"x\\r\\ny\"}"), "mcp-url:5!"},
    {URL("\"https://x.example\", \"headers\": []"), "mcp-url:5!"},
    {URL("\"https://x.example\", \"headers\": {\"\": \"x\"}"), "mcp-url:5!"},
    {URL("\"https://x.example\", \"headers\": {\"A\\u0000\": \"x\"}"), "mcp-url:5! nul-bytes:5!"},
    {URL("\"https://x.example\", \"headers\": {\"x-9!~\": \"y\", \"B:\": \"x\"}"), "mcp-url:5!"},
    {URL("\"https://x.example\", \"headers\": {\"x-9!~\": \"y\"}"), ""},

    /* [row 8, row 15] what would do away with the user's yes */
    {STDIO("\"autoApprove\": [\"*\"]"), "mcp-consent:5"},
    {STDIO("\"trust\": true"), "mcp-consent:5"},

    /* [M20, M22, X19, row 9] placeholders in any string */
    {STDIO("\"x\": {\"y\": [1, \"${workspaceDir}\", true]}"), ""},
    {STDIO("\"x\": {\"y\": [\"${workspceDir}\"]}"), "mcp-placeholder:5!"},
    {STDIO("\"x\": \"${}\""), "mcp-placeholder:5!"},
    {STDIO("\"x\": \"a${workspaceDir\""), "mcp-placeholder:5!"},
    {STDIO("\"x\": \"${HOME:-x}\""), "mcp-placeholder:5!"},
    {STDIO("\"x\": \"${WorkspaceDir}\""), "mcp-placeholder:5!"},
    {STDIO("\"x\": \"${ workspaceDir }\""), "mcp-placeholder:5!"},
    {STDIO("\"x\": \"${${workspaceDir}}\""), "mcp-placeholder:5!"},
    {STDIO("\"${workspaceDir}\": 1"), "mcp-placeholder:5!"},
    {STDIO("\"x\": {\"${y}\": 1}"), "mcp-placeholder:5!"},
    {ARG("\"${HOME}\""), "mcp-placeholder:5!"},
    {STDIO("\"env\": {\"A\": \"${API_KEY}\"}"), "mcp-placeholder:5!"},
    {STDIO("\"x\": \"${workspaceDir}/../y\""), "mcp-placeholder:5!"},
    {STDIO("\"x\": \"${workspaceDir}/a/../../y\""), "mcp-placeholder:5!"},
    {STDIO("\"x\": \"${workspaceDir}\\\\..\\\\y\""), "mcp-placeholder:5!"},
    {STDIO("\"x\": \"${workspaceDir}/./..\""), "mcp-placeholder:5!"},
    {STDIO("\"x\": \"${workspaceDir}-evil/y\""), "mcp-placeholder:5!"},
    {STDIO("\"x\": \"${workspaceDir}../y\""), "mcp-placeholder:5!"},
    {STDIO("\"x\": \"${sharedDir}/a/../y:${workspaceDir}\""), ""},
    {STDIO("\"x\": \"$workspaceDir $x\""), ""},

    /* [row 7] */
    {STDIO("\"description\": \"a\\u202eb\""), "hidden-characters:5!"},
    {ARG("\"a\\u001b[2Jb\""), "hidden-characters:5!"},
    {STDIO("\"a\\u202e\": 1"), "hidden-characters:5!"},
    {STDIO("\"x\": \"a\\u200bb\""), "zero-width:5"},

    /* [M18] */
    {META "  \"command\": \"npx\"\n}", "mcp-format:6"},
    {META "    \"command\": \"npx\"\n}\n", "mcp-format:5"},
    {META "\t\"command\": \"npx\"\n}\n", "mcp-format:5"},
    {META "\n  \"command\": \"npx\"\n}\n", "mcp-format:5"},
    {META "  \"command\": \"npx\"\n}\n\n", "mcp-format:7"},
    {META "  \"command\": \"npx\",\n  \"args\": [\n    \"a\\\"]\"\n  ]\n}\n", ""},
    {"{\"_meta\": {\"name\": \"acme/cli\"}, \"command\": \"npx\"}\n", "mcp-format:1"},
    {"{\r\n  \"_meta\": {\"name\": \"acme/cli\"},\r\n  \"command\": \"npx\"\r\n}\r\n", ""},
};
/* clang-format on */

TEST(what_an_mcp_file_may_say) /* [row 8, row 9] */
{
    for (size_t i = 0; i < ROWS(rows); i++) {
        CLEANUP(reading_done) struct reading r;

        read_mcp_text(&r, str_cstr(rows[i].text), "acme_cli.json");
        if (strcmp(diagnostics_text(&r), rows[i].diagnostics) != 0)
            printf("# %s\n", rows[i].text);
        CHECK_STR(diagnostics_text(&r), rows[i].diagnostics);
    }
}

/* [M18] is a MUST of MetaAgents; an install does not fail for it. */
TEST(layout_is_an_error_for_publishers) /* [M18] */
{
    for (enum profile p = PROFILE_INSTALL; p <= PROFILE_PUBLISH; p++) {
        CLEANUP(reading_done) struct reading r;

        reading_of(&r, (struct manifest_input){
                           .kind = DOC_MCP,
                           .text = STR(META "  \"command\": \"npx\"\n}"),
                           .folder = STR("acme_cli.json"),
                           .profile = p});
        CHECK(level_said(&r, "mcp-format") == "WWWWEWWE"[p]);
    }
}

TEST(parts_of_an_mcp) /* [M16] */
{
    CLEANUP(reading_done) struct reading r;

    read_mcp_text(&r, STR(STDIO("\"description\": \" x \"")), "");
    CHECK_STR(diagnostics_text(&r), "");
    CHECK(str_is(r.doc.fqn, "acme/cli") && str_is(r.doc.scope, "acme"));
    CHECK(str_is(r.doc.name, "cli") && str_is(r.doc.description, "x"));
    CHECK(r.doc.mcp != NULL && r.doc.frontmatter == NULL);
}

TEST(an_mcp_file_has_limits) /* [row 5] */
{
    CLEANUP(reading_done) struct reading large;
    CLEANUP(reading_done) struct reading deep;
    struct str text = {heap_alloc(MCP_MAX_BYTES + 1), MCP_MAX_BYTES + 1};

    read_mcp_text(&large, text, "");
    CHECK_STR(diagnostics_text(&large), "too-large:0!");
    read_mcp_text(&deep, STR("{\"a\": " X10("[[[[[[[") X10("]]]]]]]") "}"), "");
    CHECK(level_said(&deep, "mcp-json") == 'E');
    heap_free((void *)(uintptr_t)text.p);
}

/* [X21, M17] */
static const struct {
    const char *fqn, *key, *file;
} keys[] = {
    {"io.playwright/mcp", "io-playwright-mcp", "io.playwright_mcp.json"},
    {"acme/cli", "acme-cli", "acme_cli.json"},
    {"A.b-_c/__d", "A-b-c-d", "A.b-_c___d.json"},
    {"abcdefghijklmnopqr/abcdefghijklmnopqr",
     "abcdefghijklmnopqr-abcdefghijklmnopqr",
     "abcdefghijklmnopqr_abcdefghijklmnopqr.json"},
    {"abcdefghijklmnopqr/abcdefghijklmnopqrs",
     "abcdefghijklmnopqr-abcdefghi-ca09963e",
     "abcdefghijklmnopqr_abcdefghijklmnopqrs.json"},
};

TEST(keys_and_file_names) /* [X21, M17] */
{
    struct arena a = {0};

    for (size_t i = 0; i < ROWS(keys); i++) {
        struct str fqn = str_cstr(keys[i].fqn);

        CHECK_STR(str_dup0(mcp_key(fqn, &a), &a), keys[i].key);
        CHECK_STR(str_dup0(mcp_file_name(fqn, &a), &a), keys[i].file);
        CHECK(mcp_key(fqn, &a).n <= 37);
    }
    CHECK(str_starts(mcp_key_hashed(STR("a/b"), &a), STR("a-b-")));
    CHECK(mcp_key_hashed(STR("a/b"), &a).n == 12);
    CHECK(!str_eq(mcp_key_hashed(STR("a/b"), &a),
                  mcp_key_hashed(STR("a.b"), &a)));
    arena_done(&a);
}

static const char *format(struct reading *r, const char *workspace,
                          bool with_meta, struct err *e)
{
    struct str out;

    if (!mcp_format(&r->doc, str_cstr(workspace), STR("/home/u/shared"),
                    with_meta, &r->a, &out, e))
        return "";
    return str_dup0(out, &r->a);
}

/* [M20, M21, M23] */
TEST(bodies_for_clients) /* [M20, M21] */
{
    static const char text[] =
        "{\"_meta\": {\"name\": \"acme/cli\", \"x\": {\"y\": 1.50}},\n"
        " \"command\": \"npx\", \"args\": [\"${workspaceDir}/a\\\\b\", "
        "\"${sharedDir}:${workspaceDir}\", \"$5\", []],\n"
        " \"n\": [1e3, true, null, {}], \"\xc3\xa9\": \"\\u00e9\"}";
    CLEANUP(reading_done) struct reading r;
    struct err e = {0};

    read_mcp_text(&r, str_cstr(text), "");
    CHECK_STR(format(&r, "C:\\w\\", false, &e),
              "{\n  \"command\": \"npx\",\n  \"args\": [\n"
              "    \"C:/w/a\\\\b\",\n    \"/home/u/shared:C:/w\",\n"
              "    \"$5\",\n    []\n  ],\n  \"n\": [\n    1e3,\n    true,\n"
              "    null,\n    {}\n  ],\n  \"\xc3\xa9\": \"\xc3\xa9\"\n}");
    CHECK(strstr(format(&r, "/w", true, &e),
                 "{\n  \"_meta\": {\n    \"name\": \"acme/cli\",\n"
                 "    \"x\": {\n      \"y\": 1.50\n    }\n  },\n") != NULL);
}

/* [D20] The folders are arguments of a process: nothing reads them again. */
TEST(processes_of_servers) /* [D20] */
{
    static const char text[] =
        "{\"_meta\": {\"name\": \"acme/cli\"}, \"command\": \"npx\",\n"
        " \"args\": [\"${workspaceDir}/a\", \"$5\"], \"timeout\": 7,\n"
        " \"env\": {\"A\": \"${sharedDir}:b\"}, \"cwd\": "
        "\"${workspaceDir}\"}";
    CLEANUP(reading_done) struct reading r;
    struct mcp_process p = {0};
    struct err e = {0};
    struct str out;

    read_mcp_text(&r, str_cstr(text), "");
    CHECK(mcp_read_process(&r.doc, STR("/w\\ ${sharedDir}"), STR("/s"), &r.a,
                           &p, &e));
    CHECK_STR(p.argv[0], "npx");
    CHECK_STR(p.argv[1], "/w\\ ${sharedDir}/a");
    CHECK_STR(p.argv[2], "$5");
    CHECK(p.argv[3] == NULL && p.env_count == 1);
    CHECK_STR(p.env[0].name, "A");
    CHECK_STR(p.env[0].value, "/s:b");
    CHECK_STR(p.cwd, "/w\\ ${sharedDir}");
    CHECK(mcp_format_start(&r.doc, STR("acme-cli"), STR(""), &r.a, &out, &e));
    CHECK_STR(str_dup0(out, &r.a),
              "{\n  \"command\": \"mapm\",\n  \"args\": [\n    \"start\",\n"
              "    \"acme-cli\"\n  ],\n  \"timeout\": 7\n}");
}

static const struct {
    const char *text, *message;
} no_process[] = {
    {"{\"url\": \"https://x.example\"}", "has no command"},
    {"{\"command\": 1}", "has no command"},
    {"{\"command\": \"a\", \"args\": [1]}", "is not text"},
    {"{\"command\": \"a\", \"args\": [\"b\\u0000c\"]}", "holds NUL"},
    {"{\"command\": \"a\", \"args\": [\"${HOME}\"]}", "is neither"},
    {"{\"command\": \"a\", \"args\": [\"${workspaceDir}/../x\"]}", "leaves"},
    {"{\"command\": \"a\", \"env\": {\"A=B\": \"c\"}}", "is not the name"},
    {"{\"command\": \"a\", \"env\": {\"A\": true}}", "is not text"},
    {"{\"command\": \"a\", \"cwd\": \"${x}\"}", "is neither"},
};

TEST(files_that_are_no_process) /* [D20, M22] */
{
    for (size_t i = 0; i < ROWS(no_process); i++) {
        CLEANUP(reading_done) struct reading r;
        struct mcp_process p = {0};
        struct err e = {0};

        read_mcp_text(&r, str_cstr(no_process[i].text), "");
        CHECK(!mcp_read_process(&r.doc, STR("/w"), STR("/s"), &r.a, &p, &e));
        CHECK(strstr(err_first(&e), no_process[i].message) != NULL);
    }
}

/* [row 9] one pass, and nothing that the next reader would expand. */
TEST(folders_that_look_like_placeholders) /* [row 9] */
{
    CLEANUP(reading_done) struct reading r;
    struct err e = {0};

    read_mcp_text(&r, STR(ARG("\"${workspaceDir}/x\"")), "");
    CHECK_STR(format(&r, "/w/${sharedDir}", false, &e), "");
    CHECK(e.code == ERR_MCP);
    CHECK_STR(format(&r, "/w\n", false, &e), "");
    CHECK(strstr(format(&r, "/w$", false, &e), "\"/w$/x\"") != NULL);
}

TEST(a_bad_placeholder_is_not_written) /* [M22] */
{
    CLEANUP(reading_done) struct reading value;
    CLEANUP(reading_done) struct reading key;
    struct err e = {0};

    read_mcp_text(&value, STR(ARG("\"${workspceDir}/x\"")), "");
    CHECK_STR(format(&value, "/w", false, &e), "");
    CHECK(e.code == ERR_MCP && strstr(err_first(&e), "acme/cli") &&
          strstr(err_first(&e), "${workspceDir}"));
    read_mcp_text(&key, STR(STDIO("\"a${x}\": 1")), "");
    CHECK_STR(format(&key, "/w", false, &e), "");
}

/* [row 8] the whole of it, and where one word ends. */
static const struct {
    const char *text, *line;
} lines[] = {
    {ARG("\"-y\", \"@a/b@1\""), "npx -y @a/b@1"},
    {ARG("\"a b\", \"\", \"it's\", \"$(x)\""),
     "npx 'a b' '' 'it'\\''s' '$(x)'"},
    {ARG("\"a'\\n  + skill x\\\\\", \"\\u202e\""),
     "npx $'a\\'\\n  + skill x\\\\' $'\\xe2\\x80\\xae'"},
    {STDIO("\"env\": {\"A\": \"secret\", \"B\": \"\"}"), "npx (env: A, B)"},
    {STDIO("\"env\": {}, \"cwd\": \"${workspaceDir}\""),
     "npx (in '${workspaceDir}')"},
    {URL("\"https://x.example/a\", \"headers\": {\"Authorization\": \"x\"}"),
     "https://x.example/a (headers: Authorization)"},
    {URL("\"https://x.example/a\", \"headers\": "
         "{\"A\": \"Bearer ${TOKEN}\", \"B\": \"b\"}"),
     "https://x.example/a (headers: A: 'Bearer ${TOKEN}', B)"},
    {STDIO("\"trust\": true"), "npx (asks clients not to ask: trust)"},
    {COMMAND("\"https://x.example/a\""), "'https://x.example/a'"},
};

TEST(command_lines_for_consent) /* [row 8] */
{
    for (size_t i = 0; i < ROWS(lines); i++) {
        CLEANUP(reading_done) struct reading r;

        read_mcp_text(&r, str_cstr(lines[i].text), "");
        CHECK_STR(str_dup0(mcp_command_line(&r.doc, &r.a), &r.a),
                  lines[i].line);
    }
}

/* [row 8] A program does not look like a remote server. */
TEST(remote_lines)
{
    CHECK(mcp_line_is_remote(STR("https://x.example/a (headers: A)")));
    CHECK(mcp_line_is_remote(STR("http://127.0.0.1:3000")));
    CHECK(!mcp_line_is_remote(STR("'https://x.example/a'")));
    CHECK(!mcp_line_is_remote(STR("npx https://x.example/a")));
}

/* [M18] what --fix writes has nothing to complain about, and stays. */
TEST(pretty_is_idempotent) /* [M18] */
{
    for (size_t i = 0; i < ROWS(rows); i++) {
        CLEANUP(reading_done) struct reading r = {0};
        struct str once, twice;
        struct err e = {0};

        if (!mcp_pretty(str_cstr(rows[i].text), &r.a, &once, &e))
            continue;
        CHECK(mcp_pretty(once, &r.a, &twice, &e) && str_eq(once, twice));
        diagnostics_init(&r.why, &r.a);
        manifest_read(&(struct manifest_input){.kind = DOC_MCP, .text = once},
                      &r.a, &r.doc, &r.why);
        CHECK(level_said(&r, "mcp-format") == '-');
    }
}

TEST(pretty_keeps_what_it_does_not_know) /* [M18] */
{
    struct arena a = {0};
    struct str out;
    struct err e;

    CHECK(mcp_pretty(STR("{\"b\":1.50,\"a\":[\"\\u00e9\",1e400],\"c\":{}}"), &a,
                     &out, &e));
    CHECK_STR(str_dup0(out, &a),
              "{\n  \"b\": 1.50,\n  \"a\": [\n    \"\xc3\xa9\","
              "\n    1e400\n  ],\n  \"c\": {}\n}\n");
    CHECK(!mcp_pretty(STR("{"), &a, &out, &e));
    arena_done(&a);
}
