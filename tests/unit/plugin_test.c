#include "base/buf.h"
#include "mapm/doc_kind.h"
#include "mapm/plugin.h"
#include "mapm/plugin_market.h"

#include <stdio.h>

#include "plugin_text.h"
#include "tap.h"

/* Manifests of plugins and marketplaces: [G10, G11]. P and C: PLUGINS.md. */

#define SCHEMA                                                                 \
    "\"$schema\": "                                                            \
    "\"https://agent-plugins.org/schemas/1.0.0/plugin.schema.json\""
#define MCP_SCHEMA                                                             \
    "\"$schema\": "                                                            \
    "\"https://agent-plugins.org/schemas/1.0.0/mcp.schema.json\""
#define ROOT(rest)  "=== plugin.json\n{" SCHEMA ", " rest "}\n"
#define NAMED       ROOT("\"name\": \"x\"")
#define SKILL(path) "=== " path "/SKILL.md\ntext\n"
#define SERVERS(rest)                                                          \
    "=== mcp.json\n{" MCP_SCHEMA ", \"mcpServers\": {" rest "}}\n"
#define ONE(rest) NAMED SERVERS("\"s\": {" rest "}") "=== bin/x\nx\n"
#define STDIO     "\"type\": \"stdio\", "
#define HTTP      "\"type\": \"streamable-http\", "
#define CLAUDE(rest)                                                           \
    "=== .claude-plugin/plugin.json\n{\"name\": \"x\"" rest "}\n"
#define ENTRY(root, rest)                                                      \
    "=== .mapm-marketplace-entry.json\n{\"file\": "                            \
    "\".claude-plugin/marketplace.json\", \"at_root\": " root ", \"entry\": "  \
    "{\"name\": \"x\"" rest "}}\n"
#define AGENT(path) "=== " path "\n---\ndescription: d\n---\nbody\n"

/* "mcp s; skill a; -skill b; +hooks 1": parts, what is left out, others. */
static struct str sum_up(const struct plugin *p, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, 100000);
    for (size_t i = 0; i < p->part_count; i++)
        buf_printf(&b, "%s %.*s; ", doc_kind_name(p->parts[i].kind),
                   STR_ARG(p->parts[i].name));
    for (size_t i = 0; i < p->skipped_count; i++)
        buf_printf(&b, "-%s %.*s; ", doc_kind_name(p->skipped[i].kind),
                   STR_ARG(p->skipped[i].name));
    for (size_t i = 0; i < p->other_count; i++)
        buf_printf(&b, "+%.*s %zu; ", STR_ARG(p->others[i].kind),
                   p->others[i].count);
    return arena_str(a, buf_str(&b));
}

static bool read_text(const char *files, struct arena *a, struct plugin *out,
                      struct err *e)
{
    struct plugin_text *text = arena_new(a, struct plugin_text);
    struct plugin_files *list = arena_new(a, struct plugin_files);
    struct plugin_input in = {.files = list,
                              .folder = STR("folder"),
                              .digest = STR("sha256:0"),
                              .data = STR("github.com/acme/x")};

    plugin_text_read(str_cstr(files), a, text);
    *list = plugin_text_files(text);
    for (size_t i = 0; i < text->count; i++)
        if (str_is(text->paths[i], PLUGIN_ENTRY_FILE))
            in.entry = text->texts[i];
    return plugin_read(&in, a, out, e);
}

/* clang-format off */
static const struct {
    const char *what, *files, *expected; /* NULL: refused */
} rows[] = {
    /* the manifest of the standard */
    {"[V1] minimal", NAMED SKILL("skills/a"), "skill a; "},
    {"[V2] full", ROOT("\"name\": \"x\", \"version\": \"1\", \"description\": \"d\", \"homepage\": \"h\", \"repository\": \"r\", \"license\": \"MIT\", \"author\": {\"name\": \"n\", \"email\": \"e\", \"url\": \"u\"}, \"keywords\": [\"k\"], \"extensions\": {\"com.x.y\": {}}"), "+com.x.y 1; "},
    {"[V3, P12] an unknown field", ROOT("\"name\": \"x\", \"colour\": 1") SKILL("skills/a"), "skill a; "},
    {"[V4, P42] extensions no object", ROOT("\"name\": \"x\", \"extensions\": \"e\"") SKILL("skills/a"), "skill a; "},
    {"[V5] a namespace no object", ROOT("\"name\": \"x\", \"extensions\": {\"com.x\": 1}"), NULL},
    {"[V6, P19] author with more", ROOT("\"name\": \"x\", \"author\": {\"twitter\": \"t\"}"), NULL},
    {"[V7, P13] keywords", ROOT("\"name\": \"x\", \"keywords\": [1]"), NULL},
    {"[V8, P17] empty", ROOT("\"name\": \"\""), NULL},
    {"[V8] 64", ROOT("\"name\": \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\""), ""},
    {"[V8] 65", ROOT("\"name\": \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\""), NULL},
    {"[V8] A", ROOT("\"name\": \"A\""), NULL},
    {"[V8] -a", ROOT("\"name\": \"-a\""), NULL},
    {"[V8] a-", ROOT("\"name\": \"a-\""), NULL},
    {"[V8] a--b", ROOT("\"name\": \"a--b\""), NULL},
    {"[V8] a..b", ROOT("\"name\": \"a..b\""), NULL},
    {"[V8] a.-b", ROOT("\"name\": \"a.-b\""), ""},
    {"[V8] a umlaut", ROOT("\"name\": \"\xc3\xa4\""), NULL},
    {"[V9, P18]", ROOT("\"name\": \"x\", \"version\": \"banana\", \"license\": \"?\""), ""},
    {"[V10, P16] 1.1.0", "=== plugin.json\n{\"$schema\": \"https://agent-plugins.org/schemas/1.1.0/plugin.schema.json\", \"name\": \"x\", \"displayName\": \"X\"}\n", ""},
    {"[V10, P14] 9.0.0", "=== plugin.json\n{\"$schema\": \"https://agent-plugins.org/schemas/9.0.0/plugin.schema.json\", \"name\": \"x\"}\n" CLAUDE(""), NULL},
    {"[V10] a blank", "=== plugin.json\n{\"$schema\": \" https://agent-plugins.org/schemas/1.0.0/plugin.schema.json\", \"name\": \"x\"}\n", NULL},
    {"[V10] http:", "=== plugin.json\n{\"$schema\": \"http://agent-plugins.org/schemas/1.0.0/plugin.schema.json\", \"name\": \"x\"}\n", NULL},
    {"[V11, P11] a BOM", "=== plugin.json\n\xef\xbb\xbf{" SCHEMA ", \"name\": \"x\"}\n", NULL},
    {"[V11] a key twice", ROOT("\"name\": \"x\", \"name\": \"y\""), NULL},
    {"[V12, P5] a manifest outside", NAMED "=== .mapm-outside\nplugin.json\n", NULL},
    {"[P1] no manifest", SKILL("skills/a"), NULL},
    /* discovery */
    {"[V14, P21] nothing", NAMED, ""},
    {"[V15, P20, P22, P52] skills a file", NAMED "=== skills\nx\n" SERVERS("\"s\": {" HTTP "\"url\": \"https://e.com\"}"), "mcp s; -skill skills; "},
    {"[V15] mcp.json a folder", NAMED "=== mcp.json/x\nx\n" SKILL("skills/a"), "skill a; -mcp mcp.json; "},
    {"[V16, P24] a nested one", NAMED SKILL("skills/a") SKILL("skills/a/references/b"), "skill a; "},
    {"[V17] other spellings", NAMED "=== skills/a/skill.md\nx\n=== skills/b/SKILL.MD\nx\n", ""},
    {"[V19, P7] a skill outside", NAMED SKILL("skills/a") SKILL("skills/b") "=== .mapm-outside\nskills/b/SKILL.md\n", "skill a; -skill b; "},
    {"[P6] mcp.json outside", NAMED SKILL("skills/a") SERVERS("") "=== .mapm-outside\nmcp.json\n", "skill a; -mcp mcp.json; "},
    {"[P9, P23, P43] folders of clients", NAMED SKILL("skills/a") "=== com.github.copilot/agents/x.md\nx\n=== hooks/hooks.json\n{}\n", "skill a; +hooks 1; +com.github.copilot 1; "},
    /* mcp.json */
    {"[V22, P27] no JSON", NAMED SKILL("skills/a") "=== mcp.json\n{\n", "skill a; -mcp mcp.json; "},
    {"[V23] another key", NAMED "=== mcp.json\n{" MCP_SCHEMA ", \"mcpServers\": {}, \"x\": 1}\n", "-mcp mcp.json; "},
    {"[V24] another version", NAMED "=== mcp.json\n{\"$schema\": \"https://agent-plugins.org/schemas/1.1.0/mcp.schema.json\", \"mcpServers\": {}}\n", "-mcp mcp.json; "},
    {"[V25, P28] no type", ONE("\"url\": \"https://e.com\""), "-mcp s; "},
    {"[V25] http", ONE("\"type\": \"http\", \"url\": \"https://e.com\""), "-mcp s; "},
    {"[V26] stdio with url", ONE(STDIO "\"command\": \"n\", \"url\": \"https://e.com\""), "-mcp s; "},
    {"[V27] timeout", ONE(STDIO "\"command\": \"n\", \"timeout\": 1"), "-mcp s; "},
    {"[V28, P49] PLUGIN_ROOT", ONE(STDIO "\"command\": \"n\", \"env\": {\"PLUGIN_ROOT\": \"x\"}"), "-mcp s; "},
    {"[V28] in lower case", ONE(STDIO "\"command\": \"n\", \"env\": {\"plugin_root\": \"x\"}"), "mcp s; "},
    {"[V29] a number", ONE(STDIO "\"command\": \"n\", \"args\": [1]"), "-mcp s; "},
    {"[V30] none", NAMED SERVERS(""), ""},
    {"[V31, P35] a fragment", ONE(HTTP "\"url\": \"https://e.com/#x\""), "-mcp s; "},
    {"[V31] user", ONE(HTTP "\"url\": \"https://u@e.com\""), "-mcp s; "},
    {"[V31] http", ONE(HTTP "\"url\": \"http://example.com\""), "-mcp s; "},
    {"[V31] localhost", ONE(HTTP "\"url\": \"http://localhost/\""), "mcp s; "},
    {"[V31] 127.0.0.2", ONE(HTTP "\"url\": \"http://127.0.0.2/\""), "mcp s; "},
    {"[V31] [::1]", ONE(HTTP "\"url\": \"http://[::1]/\""), "mcp s; "},
    {"[V31] a name like it", ONE(HTTP "\"url\": \"http://localhost.example.com\""), "-mcp s; "},
    {"[row 41] 127.1", ONE(HTTP "\"url\": \"http://127.1/\""), "-mcp s; "},
    {"[row 41] mapped", ONE(HTTP "\"url\": \"http://[::ffff:127.0.0.1]/\""), "-mcp s; "},
    {"[V32, P36] twice", ONE(HTTP "\"url\": \"https://e.com\", \"headers\": {\"A\": \"1\", \"a\": \"2\"}"), "-mcp s; "},
    {"[V32] two lines", ONE(HTTP "\"url\": \"https://e.com\", \"headers\": {\"A\": \"1\\r\\nB: 2\"}"), "-mcp s; "},
    {"[V32] a blank", ONE(HTTP "\"url\": \"https://e.com\", \"headers\": {\"A B\": \"1\"}"), "-mcp s; "},
    {"[P36] a dollar stays", ONE(HTTP "\"url\": \"https://e.com/?v=$V\""), "-mcp s; "},
    {"[P29] a placeholder", ONE(STDIO "\"command\": \"${PLUGIN_ROOT}/bin/x\""), "-mcp s; "},
    {"[P29] a path", ONE(STDIO "\"command\": \"bin/x\""), "-mcp s; "},
    {"[P29] ./", ONE(STDIO "\"command\": \"./bin/x\""), "mcp s; "},
    {"[row 37] climbs", ONE(STDIO "\"command\": \"./bin/../../x\""), "-mcp s; "},
    {"[V38] no program", ONE(STDIO "\"command\": \"./plugin.json\""), "-mcp s; "},
    {"[row 36] a shell", ONE(STDIO "\"command\": \"sh\""), "-mcp s; "},
    {"[row 36] LD_PRELOAD", ONE(STDIO "\"command\": \"n\", \"env\": {\"LD_PRELOAD\": \"x\"}"), "-mcp s; "},
    {"[row 36] node -e", ONE(STDIO "\"command\": \"node\", \"args\": [\"-e\", \"1\"]"), "-mcp s; "},
    {"[V34] data", ONE(STDIO "\"command\": \"n\", \"cwd\": \"data\""), "-mcp s; "},
    {"[V34] ..", ONE(STDIO "\"command\": \"n\", \"cwd\": \"./..\""), "-mcp s; "},
    {"[V34] /tmp", ONE(STDIO "\"command\": \"n\", \"cwd\": \"/tmp\""), "-mcp s; "},
    {"[V34] a suffix", ONE(STDIO "\"command\": \"n\", \"cwd\": \"${PLUGIN_ROOT}x\""), "-mcp s; "},
    {"[V34] below the data", ONE(STDIO "\"command\": \"n\", \"cwd\": \"${PLUGIN_DATA}/w\""), "mcp s; "},
    /* formats of clients */
    {"[C2, C4] the default", CLAUDE("") SKILL("skills/a") AGENT("agents/d/b.md") "=== commands/c.md\nx\n=== .mcp.json\n{\"s\": {\"command\": \"n\"}}\n", "mcp s; skill a; agent b; +commands 1; "},
    {"[C2, V48] a skill at the root", CLAUDE("") "=== SKILL.md\nx\n", "skill folder; "},
    {"[V48] skills: [\"./\"]", CLAUDE(", \"skills\": [\"./\"]") "=== SKILL.md\nx\n", "skill folder; "},
    {"[C3, V45] skills add", CLAUDE(", \"skills\": \"./more\"") SKILL("skills/a") SKILL("more/b"), "skill a; skill b; "},
    {"[C3] agents replace", CLAUDE(", \"agents\": [\"./x/b.md\"]") AGENT("agents/a.md") AGENT("x/b.md"), "agent b; "},
    {"[C3, C4, V49] servers merge", CLAUDE(", \"mcpServers\": [\"./m.json\", {\"t\": {\"command\": \"n\"}}]") "=== m.json\n{\"mcpServers\": {\"u\": {\"command\": \"n\"}}}\n=== .mcp.json\n{\"s\": {\"command\": \"n\"}}\n", "mcp s; mcp u; mcp t; "},
    {"[C5, row 31] a path that climbs", CLAUDE(", \"skills\": [\"./../x\", \"./a/../../x\", \".\\\\x\", \"/x\", \"./%2e\"]") SKILL("skills/a"), "skill a; -skill ./../x; -skill ./a/../../x; -skill .\\x; -skill /x; -skill ./%2e; "},
    {"[C5] nothing there", CLAUDE(", \"skills\": [\"./b\"], \"agents\": [\"./c.md\"]"), "-skill b; -agent c.md; "},
    {"[V55] an empty url, a key with a blank", CLAUDE(", \"mcpServers\": {\"a b\": {\"type\": \"http\", \"url\": \"\"}}"), "-mcp a b; "},
    {"[C6, V50] userConfig", CLAUDE(", \"userConfig\": {\"k\": {}}, \"mcpServers\": {\"s\": {\"command\": \"n\", \"args\": [\"${user_config.k}\"]}}"), "-mcp s; +user-config 1; "},
    {"[row 36] a path outside", CLAUDE(", \"mcpServers\": {\"s\": {\"command\": \"../x\"}}"), "-mcp s; "},
    {"[V53] gemini", "=== gemini-extension.json\n{\"name\": \"g\", \"mcpServers\": {\"s\": {\"command\": \"node\", \"args\": [\"${extensionPath}${/}x.js\"]}}, \"contextFileName\": \"G.md\"}\n", "mcp s; +context 1; "},
    {"[V52] cursor", "=== .cursor-plugin/plugin.json\n{\"name\": \"Expo\"}\n=== mcp.json\n{\"mcpServers\": {\"s\": {\"url\": \"https://e.com\"}}}\n=== rules/r.mdc\nx\n", "mcp s; +rules 1; "},
    {"[V51] codex beside the standard", NAMED "=== .codex-plugin/plugin.json\n{\"name\": \"y\", \"skills\": \"./more\"}\n" SKILL("more/b") SKILL("skills/a"), "skill a; "},
    {"[V51] codex names the default folder", "=== .codex-plugin/plugin.json\n{\"name\": \"y\", \"skills\": \"./skills/\"}\n" SKILL("skills/a"), "skill a; "},
    {"[V51] a header of no variable", CLAUDE(", \"mcpServers\": {\"s\": {\"url\": \"https://e.com\", \"bearer_token_env_var\": \"1}\"}}"), "-mcp s; "},
    {"[V51] headers no texts", CLAUDE(", \"mcpServers\": {\"s\": {\"url\": \"https://e.com\", \"http_headers\": {\"a\": 1}}}"), "-mcp s; "},
    {"[V54] agents", CLAUDE("") AGENT("agents/a.agent.md") "=== agents/b.md\nno frontmatter\n=== agents/README.md\nx\n", "agent a; -agent b; "},
    {"two of one name", CLAUDE("") AGENT("agents/a.md") AGENT("agents/x/a.md"), "agent a; -agent a; "},
    {"[V65] a file that the manifest names is one", CLAUDE(", \"hooks\": \"./hooks/hooks.json\", \"apps\": \".app.json\"") "=== hooks/hooks.json\n{}\n=== .app.json\n{}\n", "+hooks 1; +apps 1; "},
    {"[V65] each kind", CLAUDE(", \"outputStyles\": \"./o\", \"hooks\": {\"X\": []}") "=== .lsp.json\n{}\n=== bin/b\nx\n=== .app.json\n{}\n=== settings.json\n{}\n=== x.mcpb\nx\n", "+hooks 1; +lsp-servers 1; +apps 1; +output-styles 1; +bin 1; +settings 1; +mcpb 1; "},
    /* an entry of a marketplace */
    {"[C15, V46] the entry is the manifest", ENTRY("false", ", \"mcpServers\": {\"s\": {\"command\": \"n\"}}") SKILL("skills/a"), "mcp s; skill a; "},
    {"[C15, V46] strict adds", ENTRY("false", ", \"skills\": [\"./b\"]") CLAUDE("") SKILL("skills/a") SKILL("b"), "skill a; skill b; "},
    {"[C15] an agent that manifest and entry list", ENTRY("false", ", \"agents\": [\"./agents/a.md\", \"./x/b.md\"]") CLAUDE(", \"agents\": [\"./x/b.md\"]") AGENT("agents/a.md") AGENT("x/b.md"), "agent b; agent a; "},
    {"[C15, V46] an agent of the default folder, listed", ENTRY("false", ", \"strict\": false, \"agents\": [\"./agents/a.md\"]") AGENT("agents/a.md"), "agent a; "},
    {"[C15] strict: false, and no list", ENTRY("false", ", \"strict\": false") CLAUDE(", \"skills\": [\"./b\"]") SKILL("b"), "skill b; "},
    {"[C15, V46] strict: false, twice", ENTRY("false", ", \"strict\": false, \"skills\": [\"./b\"]") CLAUDE(", \"skills\": [\"./b\"]") SKILL("b"), NULL},
    {"[C15, V46] servers of the entry do not count", ENTRY("false", ", \"mcpServers\": {\"s\": {\"command\": \"n\"}}") CLAUDE("") SKILL("skills/a"), "skill a; "},
    {"[C16, V47] only what is listed", ENTRY("true", ", \"skills\": [\"./skills/a\"]") SKILL("skills/a") SKILL("skills/b"), "skill a; "},
    {"[P10] the standard decides", ENTRY("false", ", \"skills\": [\"./b\"]") NAMED SKILL("skills/a") SKILL("b"), "skill a; "},
};
/* clang-format on */

/* [G10, row 31, row 36, row 37] [row 41] */
TEST(plugins_have_the_parts_of_their_format)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct plugin p;
        struct err e = {0};
        bool ok = read_text(rows[i].files, &a, &p, &e);
        struct str sum = ok ? sum_up(&p, &a) : STR("");

        if (ok != (rows[i].expected != NULL) ||
            !str_is(sum, rows[i].expected ? rows[i].expected : ""))
            printf("# %s: %s\n", rows[i].what, ok ? sum.p : err_first(&e));
        CHECK(ok == (rows[i].expected != NULL));
        CHECK_STR(str_dup0(sum, &a), rows[i].expected ? rows[i].expected : "");
    }
}

TEST(a_sub_agent_keeps_no_key_that_widens_its_rights) /* [C7, row 42] */
{
    CLEANUP(arena_done) struct arena a = {0};
    struct plugin p;
    struct err e = {0};

    CHECK(read_text(CLAUDE("") "=== agents/a.md\n---\nname: The Agent\n"
                               "description: does: x\ntools: Read\nhooks:\n"
                               "  X: [y]\npermissionMode: z\nmcpServers: {}\n"
                               "---\nbody\n",
                    &a, &p, &e));
    CHECK(p.part_count == 1);
    CHECK_STR(str_dup0(p.parts[0].document, &a),
              "---\nname: the-agent\ndescription: \"does: x\"\ntools: Read\n"
              "---\nbody\n");
}

TEST(a_remote_server_keeps_its_login) /* [G10] */
{
    /* clang-format off */
    static const struct {
        const char *members, *expected;
    } made[] = {
        {"\"bearer_token_env_var\": \"T\"", "\"headers\": {\n    \"Authorization\": \"Bearer ${T}\"\n  }"},
        {"\"bearer_token_env_var\": \"T\", \"http_headers\": {\"authorization\": \"x\"}", "\"headers\": {\n    \"authorization\": \"x\"\n  }"},
        {"\"headers\": {\"A\": \"1\"}, \"http_headers\": {\"B\": \"2\"}, \"env_http_headers\": {\"C\": \"V\"}", "\"headers\": {\n    \"A\": \"1\",\n    \"B\": \"2\",\n    \"C\": \"${V}\"\n  }"},
        {"\"oauth\": {\"clientId\": \"1.2\", \"callbackPort\": 3118, \"x\": 1}", "\"oauth\": {\n    \"clientId\": \"1.2\",\n    \"callbackPort\": 3118\n  }"},
    };
    /* clang-format on */

    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct plugin p;
        struct err e = {0};
        const char *files =
            arena_printf(&a,
                         CLAUDE(", \"mcpServers\": {\"s\": {\"url\": "
                                "\"https://e.com\", %s}}"),
                         made[i].members)
                .p;

        CHECK(read_text(files, &a, &p, &e));
        CHECK(p.part_count == 1);
        if (p.part_count)
            CHECK_STR(str_dup0(str_from_index(p.parts[0].document,
                                              str_find(p.parts[0].document,
                                                       STR("com\",\n  ")) +
                                                  8),
                               &a),
                      arena_printf(&a, "%s\n}\n", made[i].expected).p);
    }
}

/* mapm.lock has these names, and refuses what it could not have written.
 * [F13, row 7] */
TEST(names_of_what_is_left_out_are_visible)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct plugin p;
    struct err e = {0};

    CHECK(read_text(
        ROOT("\"name\": \"x\", \"extensions\": {\"a.b.\\u202ec\": {\"x\": 1}}")
            SERVERS("\"s\\t\\u001b[2J\\n\": 1"),
        &a, &p, &e));
    CHECK(p.skipped_count == 1 && p.other_count == 1);
    CHECK_STR(str_dup0(p.skipped[0].name, &a), "s \\x1b[2J");
    CHECK_STR(str_dup0(p.others[0].kind, &a), "a.b.\\u{202e}c");
}

TEST(more_parts_than_a_plugin_may_have_are_named) /* [V64, row 43] */
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b = {0};
    struct plugin p;
    struct err e = {0};

    buf_init(&b, 4 * 1024 * 1024);
    buf_text(&b, CLAUDE("") "=== .mcp.json\n{\"x\": {\"command\": \"n\"}");
    for (int i = 0; i < 150; i++)
        buf_printf(&b, ", \"s%d\": {\"command\": \"n\"}", i);
    buf_text(&b, "}\n");
    for (int i = 0; i < 1200; i++)
        buf_printf(&b, "=== skills/k%d/SKILL.md\nx\n", i);
    buf_char(&b, '\0');
    CHECK(read_text(b.p, &a, &p, &e));
    CHECK(p.part_count == 1100);
    CHECK(p.skipped_count == 201);
}

/* --- marketplaces ----------------------------------------------------------- */

/* clang-format off */
static const struct {
    const char *source, *expected; /* "here PATH", "URL PATH @REF", "- WHY" */
} sources[] = {
    {"\"./plugins/x\"", "here plugins/x"},
    {"\"plugins/x\"", "here plugins/x"},
    {"\"./\"", "here "},
    {"\".\"", "here "},
    {"\"bare\"", "here base/bare"},
    {"\"./../x\"", "-"},
    {"\"./a/../../x\"", "-"},
    {"\".\\\\x\"", "-"},
    {"\"/etc\"", "-"},
    {"\"./%2e%2e/x\"", "-"},
    {"\"file:/etc\"", "-"},
    {"{\"source\": \"local\", \"path\": \"./p\"}", "here p"},
    {"{\"source\": \"url\", \"url\": \"./\"}", "here "},
    {"{\"source\": \"github\", \"repo\": \"o/r\"}", "https://github.com/o/r  @"},
    {"{\"source\": \"github\", \"repo\": \"o/r\", \"ref\": \"v1\", \"path\": \"p\"}", "https://github.com/o/r p @v1"},
    {"{\"source\": \"github\", \"repo\": \"o/r\", \"ref\": \"v1\", \"sha\": \"0123456789012345678901234567890123456789\"}", "https://github.com/o/r  @0123456789012345678901234567890123456789"},
    {"{\"source\": \"github\", \"repo\": \"o/r\", \"sha\": \"0123\"}", "-"},
    {"{\"source\": \"github\", \"repo\": \"o/r\", \"sha\": \"ABCDEF6789012345678901234567890123456789\"}", "-"},
    {"{\"source\": \"github\", \"repo\": \"o/r/x\"}", "-"},
    {"{\"source\": \"git-subdir\", \"url\": \"https://github.com/o/r.git\", \"path\": \"a/b\"}", "https://github.com/o/r.git a/b @"},
    {"{\"source\": \"git-subdir\", \"url\": \"o/r\", \"path\": \"../b\"}", "-"},
    {"{\"source\": \"url\", \"url\": \"git@github.com:o/r.git\"}", "git@github.com:o/r.git  @"},
    {"{\"source\": \"url\", \"url\": \"http://github.com/o/r\"}", "-"},
    {"{\"source\": \"npm\", \"package\": \"x\"}", "-"},
    {"{\"source\": \"archive\", \"url\": \"https://e.com/x.zip\"}", "-"},
    {"{\"source\": \"command\", \"command\": \"rm\"}", "-"},
    {"{\"source\": \"new\"}", "-"},
    {"1", "-"},
};
/* clang-format on */

TEST(
    sources_lead_into_a_repository) /* [G11, C10, C11, C12, C13, C14, V55, V56, row 31, row 33] */
{
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct str text = arena_printf(
            &a,
            "{\"metadata\": {\"pluginRoot\": \"./base\"}, \"plugins\": "
            "[{\"name\": \"x\", \"source\": %s}, {\"name\": \"good\", "
            "\"source\": \"./g\"}]}",
            sources[i].source);
        const struct market_entry *x;
        struct market m;
        struct err e = {0};
        struct str got;

        CHECK(market_read(text, STR(".claude-plugin/marketplace.json"), &a, &m,
                          &e));
        CHECK(m.count == 2); /* one bad entry does not fail the file */
        x = &m.entries[0];
        got = x->source == MARKET_NONE ? STR("-")
              : x->source == MARKET_HERE
                  ? str_join(STR("here "), x->path, &a)
                  : arena_printf(&a, "%.*s %.*s @%.*s", STR_ARG(x->repository),
                                 STR_ARG(x->path),
                                 STR_ARG(x->sha.n ? x->sha : x->ref));
        CHECK_STR(str_dup0(got, &a), sources[i].expected);
    }
}

static const char names[] =
    "{\"renames\": {\"old\": \"mid\", \"mid\": \"new\", \"loop\": \"loop\", "
    "\"gone\": null}, \"plugins\": [{\"name\": \"new\", \"source\": \"./n\"}, "
    "{\"name\": \"mid\", \"source\": \"./m\"}, {\"name\": \"new\", \"source\": "
    "\"./other\"}, {\"source\": \"./x\"}, {\"name\": \"\xd0\xb0pple\", "
    "\"source\": \"./x\"}, 1]}";

TEST(renames_are_followed_once) /* [G11, C18, V55, V59, row 35] */
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct market_entry *x;
    struct market m;
    struct err e = {0};
    bool renamed;

    CHECK(market_read(str_cstr(names), STR("marketplace.json"), &a, &m, &e));
    CHECK(m.count == 2 && m.unnamed == 4);
    x = market_find(&m, STR("old"), &renamed);
    CHECK(x && renamed && str_is(x->name, "mid"));
    x = market_find(&m, STR("new"), &renamed);
    CHECK(x && !renamed && str_is(x->path, "n"));
    CHECK(!market_find(&m, STR("loop"), &renamed));
    CHECK(!market_find(&m, STR("gone"), &renamed));
}

TEST(a_marketplace_is_bounded) /* [V64, row 43] */
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b = {0};
    struct market m;
    struct err e = {0};

    buf_init(&b, 4 * 1024 * 1024);
    buf_text(&b, "{\"plugins\": [{}");
    for (int i = 0; i < 10000; i++)
        buf_text(&b, ",{}");
    buf_text(&b, "]}");
    CHECK(!market_read(buf_str(&b), STR("marketplace.json"), &a, &m, &e));
    CHECK(e.code == ERR_LIMIT);
    err_clear(&e);
    CHECK(!market_read(STR("{\"agents\": {}}"), STR("marketplace.json"), &a, &m,
                       &e));
    CHECK(e.code == ERR_FORMAT);
}
