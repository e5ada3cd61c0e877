#include "base/arena.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/str.h"
#include "mapm/doc_kind.h"

#include "tap.h"
#include "workspace_fixture.h"

/* Our servers in files that are the user's: [X21, X22, M18, M20, M21, M22, M23] */

static struct fixture fixture;

#define SERVER(name, rest)                                                     \
    "{\"_meta\": {\"name\": \"" name "\", \"io.x/y\": {\"n\": 1.50}}, "        \
    "\"command\": \"npx\"" rest "}\n"

static void add_server(struct fixture *d, const char *rest)
{
    struct str text = arena_printf(
        &d->arena,
        "{\"_meta\": {\"name\": \"io.e/m\"}, \"command\": \"npx\"%s}", rest);

    fixture_item(d, DOC_MCP, "io-e-m", "x.json", text.p, NULL);
}

/* Foreign entries, comments and formatting: every byte outside ours stays. */
TEST(foreign_bytes_survive)
{
    static const struct {
        const char *client, *path, *text;
    } rows[] = {
        {"claude", ".mcp.json",
         "{\n    \"mcpServers\" : {\n        \"mine\": {\"command\":\"a\" , "
         "\"args\":[ ]}\n    },\n    \"x\": 1.50\n}"},
        {"claude", ".mcp.json", "{\"mcpServers\":{\"mine\":{}},\"z\":[]}\n"},
        {"vscode", ".vscode/mcp.json",
         "// mine\n{\n\t/* a */ \"servers\": {\n\t\t\"mine\": {}, // last\n"
         "\t},\n}\n"},
        {"gemini", ".gemini/settings.json",
         "{\n  \"theme\": \"x\", // c\n  \"mcpServers\": {\"a\": {}}\n}\n"},
        {"opencode", "opencode.json",
         "{\r\n  \"$schema\": \"s\",\r\n  \"mcp\": {\r\n    \"mine\": {}\r\n"
         "  }\r\n}\r\n"},
        {"codex", ".codex/config.toml",
         "model = 'x' # c\n\n[mcp_servers.mine]\ncommand = \"y\"\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture *d = &fixture;
        const char *after;

        fixture_init(d);
        fixture_client(d, rows[i].client);
        fixture_write(d, rows[i].path, rows[i].text);
        CHECK(fchmodat(d->fd, rows[i].path, 0600, 0) == 0);
        add_server(d, "");
        FIXTURE_OK(d, 0);
        after = fixture_content(d, rows[i].path);
        CHECK(strstr(after, "io-e-m") &&
              strstr(after, "mine") != strstr(after, "io-e-m"));
        struct stat st;
        CHECK(fs_stat_at(d->fd, rows[i].path, &st) &&
              (st.st_mode & 07777) == 0600);
        fixture_clear(d);
        FIXTURE_OK(d, 0);
        CHECK_STR(fixture_content(d, rows[i].path), rows[i].text);
        fixture_done(d);
    }
}

/* [F3] a file that its client cannot read gets no servers, and no other file
 * of the workspace changes */
TEST(what_a_client_cannot_read_is_refused)
{
    static const struct {
        const char *client, *path, *text, *where; /* NULL: accepted */
    } rows[] = {
        {"claude", ".mcp.json", "{\"mcpServers\": {\"a\": {}}}\n", NULL},
        {"claude", ".mcp.json", "{\n\"mcpServers\": {\"a\": {},\n}}\n",
         "cannot read .mcp.json:3"},
        {"claude", ".mcp.json", "{\"mcpServers\": {}}\n// mine\n",
         "cannot read .mcp.json:2"},
        {"claude", ".mcp.json", "/* mine */ {\"mcpServers\": {}}",
         "cannot read .mcp.json:1"},
        {"cursor", ".cursor/mcp.json", "{\"mcpServers\": {\"a\": {}},}\n",
         "cannot read .cursor/mcp.json:1"},
        {"cursor", ".cursor/mcp.json", "{\n// mine\n}\n",
         "cannot read .cursor/mcp.json:2"},
        {"gemini", ".gemini/settings.json", "{ // mine\n}\n", NULL},
        {"gemini", ".gemini/settings.json", "{\n\"ui\": [1,],\n}\n",
         "cannot read .gemini/settings.json:2"},
        {"opencode", "opencode.json", "{ // mine\n\"mcp\": {},\n}\n", NULL},
        {"vscode", ".vscode/mcp.json", "{ // mine\n\"servers\": {},\n}\n",
         NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture *d = &fixture;
        const char *before;
        bool ok;

        fixture_init(d);
        fixture_client(d, rows[i].client);
        fixture_write(d, rows[i].path, rows[i].text);
        add_server(d, "");
        fixture_item(d, DOC_SKILL, "writer", "SKILL.md",
                     "---\nname: writer\ndescription: d\n---\n", NULL);
        before = arena_str(&d->arena, str_cstr(fixture_snapshot(d, false))).p;
        ok = fixture_run(d, 0);
        CHECK(ok == !rows[i].where);
        if (!ok && rows[i].where) {
            CHECK(d->err.code == ERR_FORMAT);
            CHECK_STR(err_prev(&d->err, NULL), rows[i].where);
            CHECK(strstr(d->err.hint, rows[i].client) &&
                  strstr(d->err.hint, "ignores the whole file"));
            CHECK_STR(fixture_snapshot(d, false), before);
        }
        fixture_done(d);
    }
}

/* [X21] never overwrite a foreign server, unless it is the same */
TEST(a_foreign_server_of_the_same_key)
{
    static const struct {
        const char *client, *path, *foreign, *equal;
    } rows[] = {
        {"claude", ".mcp.json",
         "{\"mcpServers\": {\"io-e-m\": {\"command\": \"evil\"}}}",
         "{\"mcpServers\": {\"io-e-m\": {\"_meta\":{\"name\":\"io.e/m\"},"
         "\"command\":\n\"npx\"}}}"},
        {"codex", ".codex/config.toml",
         "[mcp_servers.io-e-m]\ncommand = \"evil\"\n",
         "[mcp_servers.\"io-e-m\"]\ncommand = \"npx\"\n\n# c\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture *d = &fixture;
        const char *before;

        fixture_init(d);
        fixture_client(d, rows[i].client);
        fixture_write(d, rows[i].path, rows[i].foreign);
        before = fixture_snapshot(d, true);
        add_server(d, "");
        CHECK(!fixture_run(d, 0));
        CHECK(d->err.code == ERR_CONFLICT);
        CHECK_STR(fixture_snapshot(d, true), before);
        FIXTURE_OK(d, FIXTURE_FORCE);
        CHECK_STR(
            fixture_content(
                d, arena_printf(&d->arena, "%s/%s", d->backup, rows[i].path).p),
            rows[i].foreign);
        CHECK(!strstr(fixture_content(d, rows[i].path), "evil"));
        fixture_done(d);

        fixture_init(d);
        fixture_client(d, rows[i].client);
        fixture_write(d, rows[i].path, rows[i].equal);
        add_server(d, "");
        FIXTURE_OK(d, 0);
        CHECK_STR(fixture_content(d, rows[i].path), rows[i].equal);
        fixture_done(d);
    }
}

/* [M20, M21, row 9] placeholders, where they may stand, and what they become */
TEST(placeholders)
{
    static const struct {
        const char *rest;
        enum err_code code;
        const char *found; /* %s: the workspace */
    } rows[] = {
        {", \"args\": [\"${workspaceDir}/a\"]", ERR_NONE, "%s/a"},
        {", \"args\": [\"x=${sharedDir}/a\"]", ERR_NONE, "/home/u/shared/a"},
        {", \"env\": {\"A\": \"${workspaceDir}\"}", ERR_NONE, "\"A\": \"%s\""},
        {", \"odd\": [{\"a\": [\"${sharedDir}\"]}]", ERR_NONE,
         "/home/u/shared"},
        {", \"args\": [\"\\u0024{workspaceDir}\"]", ERR_NONE, "%s"},
        {", \"args\": [\"${workspceDir}\"]", ERR_MCP, "workspceDir"},
        {", \"args\": [\"${HOME}\"]", ERR_MCP, "HOME"},
        {", \"args\": [\"${\"]", ERR_MCP, ""},
        {", \"args\": [\"${}\"]", ERR_MCP, ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture *d = &fixture;
        char want[512], *at;
        const char *before;

        fixture_init(d);
        add_server(d, rows[i].rest);
        before = fixture_snapshot(d, true);
        CHECK(fixture_run(d, 0) == (rows[i].code == ERR_NONE));
        CHECK(d->err.code == rows[i].code);
        snprintf(want, sizeof want, "%s", rows[i].found);
        at = strstr(want, "%s");
        if (at)
            snprintf(at, sizeof want - (size_t)(at - want), "%s%s", d->path,
                     strstr(rows[i].found, "%s") + 2);
        if (rows[i].code == ERR_NONE) {
            CHECK(strstr(fixture_content(d, ".mcp.json"), want) != NULL);
            CHECK(d->absolute);
        } else {
            CHECK_STR(fixture_snapshot(d, true), before);
        }
        fixture_done(d);
    }
}

/* [row 29, row 9] a path that no client would take as it is */
TEST(paths_that_cannot_be_written)
{
    static const struct {
        const char *shared, *rest;
        bool good;
    } rows[] = {
        {"/home/\xff/s", ", \"args\": [\"${sharedDir}\"]", false},
        {"/home/\xff/s", "", true},
        {"/home/${x}/s", ", \"args\": [\"${sharedDir}\"]", false},
        {"/home/$x/s", ", \"args\": [\"${sharedDir}\"]", false},
        {"/home/a\nb/s", ", \"args\": [\"${sharedDir}\"]", false},
        {"/home/$5 \"q\" \xc3\xa9/s", ", \"args\": [\"${sharedDir}\"]", true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture *d = &fixture;

        fixture_init(d);
        d->options.shared_dir = str_cstr(rows[i].shared);
        add_server(d, rows[i].rest);
        CHECK(fixture_run(d, 0) == rows[i].good);
        if (rows[i].good && d->err.code)
            printf("# %zu: %s\n", i, err_first(&d->err));
        if (!rows[i].good)
            CHECK(d->err.code == ERR_MCP);
        fixture_done(d);
    }
}

/* [row 16] files that cannot be read are named and left alone */
TEST(broken_files_are_left_alone)
{
    static const struct {
        const char *client, *path, *text;
        enum err_code code;
    } rows[] = {
        {"claude", ".mcp.json", "{\"mcpServers\": ", ERR_FORMAT},
        {"claude", ".mcp.json", "{\"mcpServers\": [1]}", ERR_FORMAT},
        {"claude", ".mcp.json", "[]", ERR_FORMAT},
        {"claude", ".mcp.json", "{\"a\": 1, \"a\": 2}", ERR_FORMAT},
        {"claude", ".mcp.json", "\xff\xfe", ERR_FORMAT},
        {"codex", ".codex/config.toml", "a = \"x\n", ERR_FORMAT},
        {"codex", ".codex/config.toml", "mcp_servers = {}\n", ERR_FORMAT},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture *d = &fixture;
        const char *before;

        fixture_init(d);
        fixture_client(d, rows[i].client);
        fixture_write(d, rows[i].path, rows[i].text);
        before = fixture_snapshot(d, true);
        add_server(d, "");
        CHECK(!fixture_run(d, FIXTURE_FORCE));
        CHECK(d->err.code == rows[i].code);
        CHECK_STR(fixture_snapshot(d, true), before);
        fixture_done(d);
    }
}

/* [X22, M18] `_meta` goes with the entry where the client allows it */
TEST(meta_stays_where_it_may)
{
    struct fixture *d = &fixture;

    fixture_init(d);
    fixture_client(d, "gemini");
    fixture_client(d, "cursor");
    fixture_item(d, DOC_MCP, "io-e-m", "x.json", SERVER("io.e/m", ""), NULL);
    FIXTURE_OK(d, 0);
    CHECK(strstr(fixture_content(d, ".mcp.json"), "_meta") != NULL);
    CHECK(strstr(fixture_content(d, ".mcp.json"), "1.50") != NULL);
    CHECK(!strstr(fixture_content(d, ".gemini/settings.json"), "_meta"));
    CHECK(!strstr(fixture_content(d, ".cursor/mcp.json"), "_meta"));
    fixture_done(d);
}

/* The object around our servers goes with them when it came with them. */
TEST(an_object_of_ours_goes_with_its_last_server)
{
    static const struct {
        const char *before;
    } rows[] = {
        {"{\n  \"theme\": \"x\"\n}\n"},
        {"{\"theme\": \"x\"}"},
        {"{\n  \"theme\": \"x\",\n  \"mcpServers\": {}\n}\n"},
        {"{}\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture *d = &fixture;

        fixture_init(d);
        fixture_client(d, "gemini");
        fixture_write(d, ".gemini/settings.json", rows[i].before);
        add_server(d, "");
        FIXTURE_OK(d, 0);
        fixture_item(d, DOC_MCP, "io-e-n", "x.json", SERVER("io.e/n", ""),
                     NULL);
        FIXTURE_OK(d, 0);
        fixture_clear(d);
        FIXTURE_OK(d, 0);
        CHECK_STR(fixture_content(d, ".gemini/settings.json"), rows[i].before);
        fixture_done(d);
    }
}

/* Nor when somebody put something of their own into it. */
TEST(an_object_in_use_stays)
{
    static const char text[] =
        "{\"theme\": \"x\", \"mcpServers\": { /* mine */ }}";
    struct fixture *d = &fixture;

    fixture_init(d);
    fixture_client(d, "gemini");
    fixture_write(d, ".gemini/settings.json", "{\"theme\": \"x\"}");
    add_server(d, "");
    FIXTURE_OK(d, 0);
    fixture_write(d, ".gemini/settings.json", text);
    fixture_clear(d);
    FIXTURE_OK(d, 0);
    CHECK_STR(fixture_content(d, ".gemini/settings.json"), text);
    fixture_done(d);
}

/* A formatter of the user's is no edit: entries are compared by meaning. */
TEST(another_layout_is_no_edit)
{
    struct fixture *d = &fixture;

    fixture_init(d);
    add_server(d, ", \"args\": [\"a\"]");
    FIXTURE_OK(d, 0);
    fixture_write(
        d, ".mcp.json",
        "{\"mcpServers\":{\"io-e-m\":{\"_meta\":{\"name\":\"io.e/m\"},"
        "\"command\":\"npx\",\"args\":[\"a\"]}}}");
    FIXTURE_OK(d, 0);
    CHECK(d->change_count == 0);
    fixture_clear(d);
    FIXTURE_OK(d, 0);
    CHECK(!fixture_has(d, ".mcp.json"));
    fixture_done(d);
}
