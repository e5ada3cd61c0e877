#include "base/yaml.h"
#include "mapm/clients.h"

#include "../../provision/render.h"
#include "tap.h"
#include "workspace_fixture.h"

static struct fixture fixture;

#define AGENT(head, body) "---\n" head "\n---\n" body

TEST(every_client_is_found_by_its_name)
{
    struct arena a = {0};

    for (size_t i = 0; i < clients_count; i++) {
        const struct client *c = &clients_table[i];

        CHECK(clients_find(str_cstr(c->name)) == c);
        CHECK(c->seen && c->title && c->known <= KNOWN_LISTED);
        CHECK(!c->agents == !c->suffix && !c->agents == !c->agent_keys[0]);
        CHECK(!c->mcp.shape == !(c->mcp.path || c->mcp.others[0]));
        CHECK(!c->mcp_user.shape ==
              !(c->mcp_user.path || c->mcp_user.others[0]));
        CHECK(!c->markers[0] || c->protected_paths[0]);
        CHECK(!c->mcp.path ||
              (clients_find_mcp_file(str_cstr(c->mcp.path)) && c->mcp.shape));
        CHECK(clients_find_backend(str_cstr(c->name)) == c->backend);
    }
    CHECK(!clients_find(STR("emacs")) && !clients_find(STR("")));
    CHECK(!clients_find_backend(STR("emacs")));
    CHECK(!clients_find_mcp_file(STR("mcp.json")));
    CHECK(clients_count >= 40);
    CHECK(clients_find(STR("zoo")) == clients_find(STR("roo")));
    CHECK(str_starts(clients_join_names(" ", &a),
                     STR("claude codex gemini opencode copilot qwen cline amp "
                         "vscode cursor windsurf ")));
    CHECK_STR(clients_join_backends(", ", &a).p,
              "claude, codex, gemini, opencode, copilot, qwen, cline");
    arena_done(&a);
}

/* CLIENTS 2: who is in use is listed, or there already */
TEST(clients_in_use)
{
    static const struct {
        const char *name, *marker, *agent, *servers;
    } rows[] = {
        {"codex", ".codex/x", ".codex/agents/reviewer.toml",
         ".codex/config.toml"},
        {"gemini", ".gemini/x", ".gemini/agents/reviewer.md",
         ".gemini/settings.json"},
        {"opencode", ".opencode/x", ".opencode/agents/reviewer.md",
         "opencode.json"},
        {"qwen", ".qwen/x", ".qwen/agents/reviewer.md", NULL},
        {"vscode", ".vscode/x", ".github/agents/reviewer.agent.md",
         ".vscode/mcp.json"},
        {"cursor", ".cursor/x", ".cursor/agents/reviewer.md",
         ".cursor/mcp.json"},
        {"copilot", ".github/prompts/x", ".github/agents/reviewer.agent.md",
         NULL},
        {"cline", ".clinerules/x", NULL, NULL},
        {"amp", ".amp/x", NULL, NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int listed = 0; listed < 2; listed++) {
            struct fixture *d = &fixture;
            const char *none;

            if (!listed && !rows[i].marker)
                continue;
            fixture_init(d);
            if (listed)
                fixture_client(d, rows[i].name);
            else
                fixture_write(d, rows[i].marker, "x\n");
            none = fixture_snapshot(d, false);
            fixture_item(d, DOC_AGENT, "reviewer", "AGENTS.md",
                         AGENT("name: reviewer\ndescription: R", "Do.\n"),
                         NULL);
            fixture_item(d, DOC_MCP, "io-e-m", "x.json",
                         "{\"_meta\": {\"name\": \"io.e/m\"}, \"command\": "
                         "\"npx\"}\n",
                         NULL);
            FIXTURE_OK(d, 0);
            CHECK(fixture_has(d, ".claude/agents/reviewer.md"));
            CHECK(fixture_has(d, ".mcp.json"));
            CHECK(!rows[i].agent || fixture_has(d, rows[i].agent));
            CHECK(!rows[i].servers || fixture_has(d, rows[i].servers));
            FIXTURE_OK(d, 0);
            CHECK(d->change_count == 0);
            /* No longer listed: what mapm made does not keep it in use. */
            d->options.clients.count = 0;
            FIXTURE_OK(d, 0);
            CHECK(!rows[i].agent || fixture_has(d, rows[i].agent) == !listed);
            fixture_clear(d);
            FIXTURE_OK(d, 0);
            CHECK_STR(fixture_snapshot(d, true), none);
            fixture_done(d);
        }
}

/* [X19, X20, X21, X22, X23] per client: the same servers, in each one's own words */
TEST(servers_in_the_words_of_each_client)
{
    static const char local[] =
        "{\"type\": \"stdio\", \"command\": \"npx\", \"args\": [\"-y\", "
        "\"a \\\"b\\\"\"], \"env\": {\"K\": \"v\"}, \"timeout\": 1500, "
        "\"odd\": [1.50]}";
    static const char remote[] =
        "{\"type\": \"http\", \"url\": \"https://x/\", \"headers\": "
        "{\"H\": \"h\"}}";
    static const char sse[] = "{\"type\": \"sse\", \"url\": \"https://x/\"}";
    static const struct {
        const char *client, *entry, *out;
    } rows[] = {
        {"gemini", local,
         "{\"command\":\"npx\",\"args\":[\"-y\",\"a \\\"b\\\"\"],"
         "\"env\":{\"K\":\"v\"},\"timeout\":1500}"},
        {"gemini", remote,
         "{\"headers\":{\"H\":\"h\"},\"httpUrl\":\"https://x/\"}"},
        {"gemini", sse, "{\"url\":\"https://x/\"}"},
        {"opencode", local,
         "{\"type\":\"local\",\"command\":[\"npx\",\"-y\",\"a \\\"b\\\"\"],"
         "\"environment\":{\"K\":\"v\"},\"enabled\":true,\"timeout\":1500}"},
        {"opencode", remote,
         "{\"type\":\"remote\",\"url\":\"https://x/\","
         "\"headers\":{\"H\":\"h\"},\"enabled\":true}"},
        {"vscode", "{\"command\": \"npx\"}",
         "{\"type\":\"stdio\",\"command\":\"npx\"}"},
        {"vscode", "{\"url\": \"https://x/\"}",
         "{\"type\":\"http\",\"url\":\"https://x/\"}"},
        {"vscode", sse, "{\"type\":\"sse\",\"url\":\"https://x/\"}"},
        {"codex", local,
         "[mcp_servers.\"k\"]\ncommand = \"npx\"\n"
         "args = [\"-y\", \"a \\\"b\\\"\"]\nenv = { \"K\" = \"v\" }\n"
         "tool_timeout_sec = 2\n"},
        {"codex", remote,
         "[mcp_servers.\"k\"]\nurl = \"https://x/\"\n"
         "http_headers = { \"H\" = \"h\" }\n"},
        {"cursor", sse, "{\"type\":\"sse\",\"url\":\"https://x/\"}"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct client *c = clients_find(str_cstr(rows[i].client));
        struct json_options o = {.max_depth = 64};
        struct arena a = {0};
        struct err e = {0};
        struct str out = {0};
        const struct json *j;
        struct json_writer w;
        struct buf b;

        buf_init(&b, 100000);
        CHECK(
            render_server(c, STR("k"), str_cstr(rows[i].entry), &a, &out, &e));
        if (c->mcp.shape->format == SHAPE_TOML) {
            CHECK(provision_format_server(c, STR("k"), str_cstr(rows[i].entry),
                                          &a, &out, &e));
            buf_append(&b, out);
        } else if (json_parse(out, &o, &a, &j, NULL, &e)) {
            json_writer_init(&w, &b, 0);
            json_value(&w, j);
        }
        CHECK_STR(b.p ? b.p : "", rows[i].out);
        buf_done(&b);
        arena_done(&a);
    }
}

/* [row 9] opencode expands forms of its own, and has no escape for them */
TEST(what_opencode_would_expand_is_refused)
{
    const struct client *c = clients_find(STR("opencode"));
    static const char *const bad[] = {
        "{\"command\": \"x\", \"args\": [\"{env:TOKEN}\"]}",
        "{\"url\": \"https://x/{file:~/.ssh/id_rsa}\"}",
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct arena a = {0};
        struct err e = {0};
        struct str out;

        CHECK(!render_server(c, STR("k"), str_cstr(bad[i]), &a, &out, &e));
        CHECK(e.code == ERR_MCP);
        arena_done(&a);
    }
}

/* Names, descriptions and bodies cannot break out of their place. */
TEST(agents_are_quoted)
{
    static const char *const texts[] = {
        "plain",
        "two\nlines",
        "a: b # c",
        "\"quoted\" 'x' \\ back",
        "---\nname: evil\n---",
        "\"\"\"\ndeveloper_instructions = \"\"\"",
        "tab\tbell\a\x7f",
        "\xc3\xa9\xe2\x80\xa8\xf0\x9f\x99\x82",
        "yes",
        "1.0",
        "",
        "\r\n",
        "trailing \\",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct yaml_options o = {.max_depth = 8};
        struct document doc = {.description = str_cstr(texts[i]),
                               .body = str_cstr("Body.\n")};
        struct arena a = {0};
        struct err e = {0};
        const struct yaml *y;
        struct str out = render_agent(clients_find(STR("gemini")), &doc,
                                      STR("x"), false, &a);
        size_t end;

        CHECK(str_starts(out, STR("---\n# Generated by mapm")));
        out = str_from_index(out, 4);
        end = str_find(out, STR("\n---\n\nBody.\n"));
        CHECK(end != SIZE_MAX);
        CHECK(yaml_parse(str_slice(out, 0, end), &o, &a, &y, NULL, &e));
        CHECK(y && y->count == 2);
        CHECK_STR(yaml_get(y, "description")->text.p, texts[i]);
        arena_done(&a);
    }
}

/* The files beside AGENTS.md are told of, in each format's body. */
TEST(agents_know_where_their_files_are)
{
    static const struct {
        const char *client, *body, *end;
    } rows[] = {
        {"claude", "Body.", "\n---\n\nBody.\n\nThe files that "},
        {"claude", "", "\n---\n\nThe files that "},
        {"gemini", "Body.\n", "\n---\n\nBody.\n\nThe files that "},
        {"opencode", "\nBody.\n", "\n---\n\nBody.\n\nThe files that "},
        {"codex", "Body.\n",
         "developer_instructions = \"\"\"\nBody.\n\nThe files that "},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct client *c = clients_find(str_cstr(rows[i].client));
        struct document doc = {.description = STR("d"),
                               .body = str_cstr(rows[i].body)};
        struct arena a = {0};
        struct str want = arena_printf(
            &a, "%sthese instructions name are in `.agents/agents/x/`.\n%s",
            rows[i].end, str_is(STR(".toml"), c->suffix) ? "\"\"\"\n" : "");

        CHECK(str_ends(render_agent(c, &doc, STR("x"), true, &a), want));
        CHECK(!str_has_char(render_agent(c, &doc, STR("x"), false, &a), '`'));
        arena_done(&a);
    }
}

/* Codex: a TOML reader must find the very same texts. */
TEST(agents_are_good_toml)
{
    static const char body[] = "One \"\"\" two \\ \"\"\"\"\n'''\n\r\n\x01\t"
                               "\xc3\xa9 end\"";
    struct document doc = {.description = STR("a \"b\"\n\\ \x02 \xc3\xa9"),
                           .body = str_cstr(body)};
    struct arena a = {0};
    struct str out =
        render_agent(clients_find(STR("codex")), &doc, STR("x"), false, &a);

    CHECK_STR(out.p,
              "# Generated by mapm from .agents/agents/x/AGENTS.md: change it "
              "there.\nname = \"x\"\n"
              "description = \"a \\\"b\\\"\\n\\\\ \\u0002 \xc3\xa9\"\n"
              "developer_instructions = \"\"\"\n"
              "One \\\"\\\"\\\" two \\\\ \\\"\\\"\\\"\\\"\n'''\n\\u000D\n"
              "\\u0001\t\xc3\xa9 end\\\"\"\"\"\n");
    arena_done(&a);
}
