#include "base/yaml.h"
#include "mapm/clients.h"
#include "mapm/limits.h"

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
        CHECK(!c->prompts == !c->prompts_home && (c->agents || !c->prompts));
        CHECK(!c->mcp.shape == !(c->mcp.path || c->mcp.others[0]));
        CHECK(!c->mcp_user.shape ==
              !(c->mcp_user.path || c->mcp_user.others[0]));
        CHECK(!c->markers[0] || c->protected_paths[0]);
        CHECK(!c->mcp.path || c->mcp.shape);
        CHECK(clients_find_backend(str_cstr(c->name)) == c->backend);
    }
    CHECK(!clients_find(STR("emacs")) && !clients_find(STR("")));
    CHECK(!clients_find_backend(STR("emacs")));
    CHECK(clients_count >= 40);
    CHECK(clients_find(STR("zoo")) == clients_find(STR("roo")));
    CHECK(str_starts(clients_join_names(" ", &a),
                     STR("claude codex gemini opencode copilot qwen cline amp "
                         "vscode cursor windsurf ")));
    CHECK_STR(clients_join_backends(", ", &a).p,
              "claude, codex, gemini, opencode, copilot, qwen, cline");
    arena_done(&a);
}

static void add_items(struct fixture *d)
{
    fixture_item(d, DOC_AGENT, "reviewer", "AGENTS.md",
                 AGENT("name: reviewer\ndescription: R", "Do.\n"), NULL);
    fixture_item(d, DOC_MCP, "io-e-m", "x.json",
                 "{\"_meta\": {\"name\": \"io.e/m\"}, \"command\": \"npx\"}\n",
                 NULL);
}

static const char *agent_of(const struct client *c, struct arena *a)
{
    return c->agents ? arena_printf(a, "%s/reviewer%s", c->agents, c->suffix).p
                     : NULL;
}

/* [H6] Clients in use are those that are listed or detected by one of their
 * markers; unverified ones only if listed. */
static void check_use(const struct client *c, const char *marker)
{
    struct fixture *d = &fixture;
    const char *none, *agent, *servers;
    bool listed = !marker, used = listed || clients_is_verified(c);

    fixture_init(d);
    if (listed)
        fixture_client(d, c->name);
    else
        fixture_write(d, arena_printf(&d->arena, "%s/x", marker).p, "x\n");
    none = fixture_snapshot(d, false);
    agent = agent_of(c, &d->arena);
    servers = c->mcp.unverified && !listed ? NULL : c->mcp.path;
    add_items(d);
    FIXTURE_OK(d, 0);
    CHECK(fixture_has(d, ".claude/agents/reviewer.md"));
    CHECK(fixture_has(d, ".mcp.json"));
    CHECK(!agent || fixture_has(d, agent) == used);
    CHECK(!c->prompts ||
          fixture_has(
              d, arena_printf(&d->arena, "%s/mapm-reviewer.md", c->prompts).p));
    CHECK(!servers ||
          fixture_has(d, servers) == (used || c->mcp.shape == &shape_shared));
    FIXTURE_OK(d, 0);
    CHECK(d->change_count == 0);
    /* A client that is no longer listed: files of mapm do not keep it in
     * use. */
    d->options.clients.count = 0;
    d->options.clients.is_decided = true;
    FIXTURE_OK(d, 0);
    CHECK(!agent || c->always || fixture_has(d, agent) == (used && !listed));
    fixture_clear(d);
    FIXTURE_OK(d, 0);
    CHECK_STR(fixture_snapshot(d, true), none);
    fixture_done(d);
}

TEST(clients_in_use)
{
    for (size_t i = 0; i < clients_count; i++) {
        const struct client *c = &clients_table[i];

        check_use(c, NULL);
        for (size_t k = 0; k < CLIENT_MAX_MARKERS && c->markers[k]; k++)
            if (!clients_mcp_is_at(&c->mcp, str_cstr(c->markers[k])))
                check_use(c, c->markers[k]);
    }
}

/* [H6] Common folders are not markers. */
TEST(common_folders_are_no_markers)
{
    struct fixture *d = &fixture;
    static const char *const folders[] = {".github/x", ".agents/x", "skills/x"};

    fixture_init(d);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        fixture_write(d, folders[i], "x\n");
    for (size_t i = 0; i < clients_count; i++)
        CHECK(!clients_is_here(&clients_table[i], d->fd));
    fixture_done(d);
}

enum in_the_way { BROKEN, LINK, FIFO, FOREIGN, TOO_LARGE, WAYS };

static void put_in_the_way(struct fixture *d, const struct client *c,
                           const char *path, enum in_the_way how)
{
    struct arena *a = &d->arena;
    struct err e = {0};
    struct str text;

    fixture_write(d, path, "{ \"x\n");
    if (how == LINK || how == FIFO)
        CHECK(unlinkat(d->fd, path, 0) == 0);
    if (how == LINK)
        CHECK(symlinkat("/etc/hosts", d->fd, path) == 0);
    if (how == FIFO)
        CHECK(mkfifoat(d->fd, path, 0600) == 0);
    if (how == FOREIGN &&
        provision_format_server(c, STR("io-e-m"),
                                STR("{\"command\": \"evil\"}"), a, &text, &e))
        fixture_write(d, path, text.p);
    if (how == TOO_LARGE) {
        char *large = arena_array(a, CLIENT_FILE_MAX_BYTES + 2, 1);

        memset(large, '\n', CLIENT_FILE_MAX_BYTES + 1);
        large[CLIENT_FILE_MAX_BYTES + 1] = 0;
        fixture_write(d, path, large);
    }
}

/* [H6] A file that mapm cannot or must not edit stays, and so do all others. */
TEST(what_is_in_the_way_stays)
{
    static const enum err_code codes[] = {ERR_FORMAT, ERR_REFUSED, ERR_REFUSED,
                                          ERR_CONFLICT, ERR_LIMIT};

    for (size_t i = 0; i < clients_count; i++)
        for (int how = 0; how < WAYS; how++) {
            const struct client *c = &clients_table[i];
            const char *path = c->mcp.path ? c->mcp.path : c->mcp.others[0];
            struct fixture *d = &fixture;
            const char *before;

            if (!path || (how == TOO_LARGE && !c->backend))
                continue;
            fixture_init(d);
            fixture_client(d, c->name);
            put_in_the_way(d, c, path, (enum in_the_way)how);
            before =
                arena_str(&d->arena, str_cstr(fixture_snapshot(d, false))).p;
            add_items(d);
            CHECK(!fixture_run(d, 0));
            CHECK(d->err.code == codes[how]);
            CHECK_STR(fixture_snapshot(d, false), before);
            fixture_done(d);
        }
}

/* [X19, X20, X21, X22, X23] The same servers, in the format of each client. */
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

/* [H6, G12] variables of a plugin's remote server, as each client names them */
TEST(variables_in_the_words_of_each_client)
{
    static const char entry[] =
        "{\"url\": \"https://h/${A}\", \"headers\": {\"Authorization\": "
        "\"Bearer ${T}\", \"X\": \"${B_1}\", \"Y\": \"a ${B:-d} $C\"}, "
        "\"oauth\": {\"clientId\": \"i\"}}";
    static const struct {
        const char *client, *out;
    } rows[] = {
        {"claude", "{\"url\":\"https://h/${A}\",\"headers\":{\"Authorization\":"
                   "\"Bearer ${T}\",\"X\":\"${B_1}\",\"Y\":\"a ${B:-d} $C\"},"
                   "\"oauth\":{\"clientId\":\"i\"}}"},
        {"gemini", "{\"headers\":{\"Authorization\":\"Bearer ${T}\",\"X\":"
                   "\"${B_1}\",\"Y\":\"a ${B:-d} $C\"},\"httpUrl\":"
                   "\"https://h/${A}\"}"},
        {"cursor",
         "{\"url\":\"https://h/${env:A}\",\"headers\":{\"Authorization\":"
         "\"Bearer ${env:T}\",\"X\":\"${env:B_1}\",\"Y\":\"a ${B:-d} $C\"}}"},
        {"kilo",
         "{\"type\":\"remote\",\"url\":\"https://h/{env:A}\",\"headers\":{"
         "\"Authorization\":\"Bearer {env:T}\",\"X\":\"{env:B_1}\",\"Y\":\"a "
         "${B:-d} $C\"},\"enabled\":true}"},
        {"continue",
         "{\"url\":\"https://h/${{ secrets.A }}\",\"headers\":{"
         "\"Authorization\":\"Bearer ${{ secrets.T }}\",\"X\":\"${{ "
         "secrets.B_1 }}\",\"Y\":\"a ${B:-d} $C\"}}"},
        {"codex",
         "{\"url\":\"https://h/${A}\",\"http_headers\":{\"Y\":\"a ${B:-d} $C\"}"
         ",\"env_http_headers\":{\"X\":\"B_1\"},\"bearer_token_env_var\":"
         "\"T\"}"},
        {"junie", "{\"url\":\"https://h/${A}\",\"headers\":{\"Authorization\":"
                  "\"Bearer ${T}\",\"X\":\"${B_1}\",\"Y\":\"a ${B:-d} $C\"}}"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct json_options o = {.max_depth = 8};
        struct arena a = {0};
        struct err e = {0};
        const struct json *mcp, *made;
        struct str out = {0};
        struct json_writer w;
        struct buf b;

        buf_init(&b, 10000);
        CHECK(json_parse(str_cstr(entry), &o, &a, &mcp, NULL, &e) &&
              render_plugin_server(clients_find(str_cstr(rows[i].client)),
                                   STR("k"), mcp, &a, &out, &e) &&
              json_parse(out, &o, &a, &made, NULL, &e));
        json_writer_init(&w, &b, 0);
        json_value(&w, made);
        CHECK_STR(str_dup0(buf_str(&b), &a), rows[i].out);
        buf_done(&b);
        arena_done(&a);
    }
}

/* [D20] with `servers: start` each client gets `mapm start`, also an editor that
 * has a variable for the workspace: without mapm nobody would be asked */
TEST(the_workspace_in_committed_files)
{
    struct fixture *d = &fixture;

    fixture_init(d);
    fixture_client(d, "vscode");
    fixture_client(d, "kiro");
    d->options.start_servers = true;
    fixture_item(d, DOC_MCP, "io-e-m", "x.json",
                 "{\"_meta\": {\"name\": \"io.e/m\"}, \"command\": "
                 "\"${workspaceDir}/x\"}\n",
                 NULL);
    fixture_item(d, DOC_MCP, "io-e-n", "x.json",
                 "{\"_meta\": {\"name\": \"io.e/n\"}, \"command\": "
                 "\"${workspaceDir}/x\", \"args\": [\"${sharedDir}\"]}\n",
                 NULL);
    FIXTURE_OK(d, 0);
    CHECK(strstr(fixture_content(d, ".vscode/mcp.json"), "\"io-e-m\"\n") !=
          NULL);
    CHECK(strstr(fixture_content(d, ".vscode/mcp.json"), "\"io-e-n\"\n") !=
          NULL);
    CHECK(strstr(fixture_content(d, ".kiro/settings/mcp.json"),
                 "\"io-e-m\"\n") != NULL);
    /* Entries written by `servers: direct` and committed are not edits. */
    d->options.start_servers = false;
    FIXTURE_OK(d, 0);
    CHECK(strstr(fixture_content(d, ".vscode/mcp.json"), d->path) != NULL);
    CHECK(fs_remove_tree_at(d->fd, ".agents/.mapm", &d->err));
    d->options.start_servers = true;
    FIXTURE_OK(d, 0);
    CHECK(!strstr(fixture_content(d, ".vscode/mcp.json"), d->path));
    fixture_done(d);
}

/* [row 9] the path of a folder that a client would read as another one */
TEST(a_folder_is_written_only_where_it_stays_that)
{
    static const struct {
        const char *folder, *why; /* NULL: it is written */
    } rows[] = {
        {"/h/a b$", NULL},
        {"/h/$1/$(x)/$$", NULL},
        {"/h/\xc3\xa9", NULL},
        {"/h/a$b", "would expand the \"$\" in ${sharedDir}"},
        {"/h/a$_", "would expand the \"$\" in ${sharedDir}"},
        {"/h/${x}", "would expand the \"$\" in ${sharedDir}"},
        {"$a", "would expand the \"$\" in ${sharedDir}"},
        {"/h\\a", "the path has a backslash"},
        {"/h/\x01", "the path is not printable UTF-8"},
        {"/h/\xff", "the path is not printable UTF-8"},
    };
    struct fixture *d = &fixture;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool ok;

        fixture_init(d);
        fixture_client(d, "claude");
        d->options.shared_dir = str_cstr(rows[i].folder);
        fixture_item(d, DOC_MCP, "io-e-m", "x.json",
                     "{\"_meta\": {\"name\": \"io.e/m\"}, \"command\": "
                     "\"${sharedDir}/x\"}\n",
                     NULL);
        ok = fixture_run(d, 0);
        CHECK(ok == !rows[i].why);
        if (ok)
            CHECK(strstr(fixture_content(d, ".mcp.json"), rows[i].folder));
        else if (rows[i].why)
            CHECK(d->err.code == ERR_MCP &&
                  strstr(err_first(&d->err), rows[i].why));
        if (ok != !rows[i].why)
            printf("# %s: %s\n", rows[i].folder, err_first(&d->err));
        fixture_done(d);
    }
}

/* [row 9] opencode expands its own placeholders, and has no escape for them. */
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

/* Names, descriptions and bodies cannot leave their field. */
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

/* The body of each format mentions the files beside AGENTS.md. */
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

/* [H6] Kiro refuses keys that it does not know. */
TEST(agents_have_the_keys_of_their_client)
{
    static const struct {
        const char *client, *head;
    } rows[] = {
        {"kiro", "description: d\n---\n"},
        {"opencode", "description: d\nmode: subagent\n---\n"},
        {"droid", "name: x\ndescription: d\n---\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct document doc = {.description = STR("d"), .body = STR("Body.\n")};
        struct arena a = {0};
        struct str out = render_agent(clients_find(str_cstr(rows[i].client)),
                                      &doc, STR("x"), false, &a);

        out = str_from_index(out, 4);
        CHECK(str_starts(str_from_index(out, str_find_char(out, '\n') + 1),
                         str_cstr(rows[i].head)));
        arena_done(&a);
    }
}

/* [H6] Vibe reads the instructions from a file of their own, by its name. */
TEST(agents_of_vibe_name_their_prompt)
{
    struct document doc = {.description = STR("a \"b\""), .body = STR("Do.")};
    struct arena a = {0};
    struct str out =
        render_agent(clients_find(STR("vibe")), &doc, STR("x-y"), true, &a);

    CHECK(str_ends(out, STR("there.\ndescription = \"a \\\"b\\\"\"\n"
                            "agent_type = \"subagent\"\n"
                            "system_prompt_id = \"mapm-x-y\"\n")));
    CHECK_STR(render_agent_prompt(&doc, STR("x-y"), false, &a).p, "Do.\n");
    CHECK_STR(render_agent_prompt(&doc, STR("x-y"), true, &a).p,
              "Do.\n\nThe files that these instructions name are in "
              "`.agents/agents/x-y/`.\n");
    doc.body = STR("");
    CHECK_STR(render_agent_prompt(&doc, STR("x-y"), false, &a).p, "");
    arena_done(&a);
}

/* Packages are in the folder where Antigravity looks for files. */
TEST(an_agent_of_a_client_is_a_file)
{
    static const struct {
        const char *client, *path;
        bool is_at;
    } rows[] = {
        {"antigravity", ".agents/agents/x.md", true},
        {"antigravity", ".agents/agents/x", false},
        {"antigravity", ".agents/agents/x/y.md", false},
        {"antigravity", ".agents/agents.md", false},
        {"vibe", ".vibe/agents/x.toml", true},
        {"vibe", ".vibe/prompts/mapm-x.md", true},
        {"vibe", ".vibe/prompts/mapm-x.toml", false},
        {"amp", ".agents/agents/x.md", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(clients_agent_is_at(clients_find(str_cstr(rows[i].client)),
                                  str_cstr(rows[i].path)) == rows[i].is_at);
}

/* Codex: a TOML parser must read identical texts. */
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
