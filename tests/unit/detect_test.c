#include "base/fs.h"
#include "mapm/clients.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tap.h"

/* [H6] where each client keeps what is its user's */

static const char *const variables[] = {"XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR",
                                        "GEMINI_CLI_HOME", "CODEX_HOME"};

static void clear_variables(void)
{
    for (size_t i = 0; i < clients_count; i++)
        if (clients_table[i].home_env.name)
            unsetenv(clients_table[i].home_env.name);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
}

TEST(files_of_the_user_move_with_variables)
{
    /* clang-format off */
    static const struct {
        const char *client, *name, *value, *file; /* NULL: refused */
    } rows[] = {
        {"claude", NULL, NULL, "/h/.claude.json"},
        {"claude", "CLAUDE_CONFIG_DIR", "/c", "/c/.claude.json"},
        {"claude", "CLAUDE_CONFIG_DIR", "", "/h/.claude.json"},
        {"claude", "CLAUDE_CONFIG_DIR", "c", NULL},
        {"codex", NULL, NULL, "/h/.codex/config.toml"},
        {"codex", "CODEX_HOME", "/c/x", "/c/x/config.toml"},
        {"codex", "CODEX_HOME", "../c", NULL},
        {"gemini", "GEMINI_CLI_HOME", "/g", "/g/.gemini/settings.json"},
        {"opencode", "XDG_CONFIG_HOME", "/x", "/x/opencode/opencode.json"},
        {"opencode", "XDG_CONFIG_HOME", "x", "/h/.config/opencode/opencode.json"},
        {"amp", NULL, NULL, "/h/.config/amp/settings.json"},
        {"cursor", "XDG_CONFIG_HOME", "/x", "/h/.cursor/mcp.json"},
    };
    /* clang-format on */

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct client *c = clients_find(str_cstr(rows[i].client));
        struct arena a = {0};
        struct err e = {0};
        struct str path;
        bool ok;

        clear_variables();
        if (rows[i].name)
            setenv(rows[i].name, rows[i].value, 1);
        ok =
            clients_user_file_at(c, c->mcp_user.path, STR("/h"), &a, &path, &e);
        CHECK(ok == (rows[i].file != NULL));
        if (ok && rows[i].file)
            CHECK_STR(path.p, rows[i].file);
        arena_done(&a);
    }
    clear_variables();
}

/* [row 29] A relative path would name a file of the current folder. */
TEST(without_home_only_variables_name_folders_of_the_user)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err e = {0};
    struct str path = {0};

    clear_variables();
    for (size_t i = 0; i < clients_count; i++)
        for (size_t k = 0; k < CLIENT_MAX_PATHS && clients_table[i].home[k];
             k++)
            CHECK(!clients_home_path(&clients_table[i],
                                     clients_table[i].home[k], STR(""), &a,
                                     &path, &e));
    setenv("XDG_CONFIG_HOME", "/x", 1);
    CHECK(clients_home_path(clients_find(STR("amp")), ".config/amp", STR(""),
                            &a, &path, &e));
    CHECK_STR(path.p, "/x/amp");
    clear_variables();
}

static void touch(struct str home, const char *path, struct arena *a)
{
    struct str rest = str_cstr(path), name, at = home;

    while (str_cut(&rest, '/', &name)) {
        at = fs_join(at, name, a);
        CHECK(mkdir(at.p, 0700) == 0 || rest.p != NULL);
    }
}

/* Returns the names of the clients that the home folder `h` shows. */
static struct str found_in(struct str h, struct arena *a)
{
    struct str names = STR("");

    for (size_t i = 0; i < clients_count; i++)
        if (clients_is_on_machine(&clients_table[i], h, NULL, NULL))
            names = arena_join(names, " ", str_cstr(clients_table[i].name), a);
    return names;
}

/* What the programs themselves create in a home. */
TEST(homes_of_clients)
{
    /* clang-format off */
    static const struct {
        const char *path, *found;
    } rows[] = {
        {".claude", "claude"}, {".codex", "codex"}, {".gemini", "gemini"},
        {".config/opencode", "opencode"}, {".copilot", "copilot"},
        {".qwen", "qwen"}, {".cline", "cline"},
        {".config/amp", "amp"}, {".config/Code", "vscode"},
        {".config/Code/User/globalStorage/saoudrizwan.claude-dev", "cline vscode"},
        {".config/Code/User/globalStorage/rooveterinaryinc.roo-cline", "vscode roo"},
        {".cursor", "cursor"}, {".codeium/windsurf", "windsurf"},
        {".config/devin", "devin"}, {".gemini/config", "gemini antigravity"},
        {".kiro", "kiro"}, {".junie", "junie"},
        {".config/JetBrains", "jetbrains-ai"},
        {".config/github-copilot/intellij", "intellij-copilot"},
        {".config/goose", "goose"}, {".grok", "grok"}, {".config/kilo", "kilo"},
        {".roo", "roo"}, {".config/zed", "zed"}, {".warp", "warp"},
        {".config/warp-terminal", "warp"}, {".factory", "droid"},
        {".config/crush", "crush"}, {".continue", "continue"},
        {".qoder", "qoder"}, {".commandcode", "commandcode"},
        {".pi/agent", "pi"}, {".openhands", "openhands"}, {".vibe", "vibe"},
        {".kimi-code", "kimi"}, {".kimi", "kimi"}, {".augment", "auggie"},
        {".trae", "trae"}, {".config/Trae", "trae"}, {".hermes", "hermes"},
        {".openclaw", "openclaw"}, {".aider.conf.yml", "aider"},
        {".agents/skills", ""}, {".github", ""}, {".vscode", ""},
    };
    /* clang-format on */

    setenv("PATH", "/nowhere", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char home[] = "/tmp/mapm-detect-XXXXXX";
        struct arena a = {0};
        struct err e = {0};

        CHECK(mkdtemp(home) != NULL);
        clear_variables();
        touch(str_cstr(home), rows[i].path, &a);
        CHECK_STR(found_in(str_cstr(home), &a).p, rows[i].found);
        CHECK(fs_remove_tree_at(AT_FDCWD, home, &e));
        arena_done(&a);
    }
}

/* A program, a marker in the home, a variable: each alone. */
TEST(clients_on_this_machine)
{
    for (size_t i = 0; i < clients_count; i++) {
        const struct client *c = &clients_table[i];
        char home[] = "/tmp/mapm-detect-XXXXXX";
        struct arena a = {0};
        struct err e = {0};
        struct str h, bin;
        FILE *f;

        CHECK(mkdtemp(home) != NULL);
        h = str_cstr(home);
        bin = fs_join(h, STR("bin"), &a);
        clear_variables();
        setenv("PATH", bin.p, 1);
        CHECK(!clients_is_on_machine(c, h, NULL, NULL));
        if (c->programs[0]) {
            struct str program = fs_join(bin, str_cstr(c->programs[0]), &a);

            CHECK(mkdir(bin.p, 0700) == 0);
            f = fopen(program.p, "w");
            CHECK(f && fclose(f) == 0 && chmod(program.p, 0700) == 0);
            CHECK(clients_is_on_machine(c, h, NULL, NULL));
            CHECK(remove(program.p) == 0 &&
                  !clients_is_on_machine(c, h, NULL, NULL));
        }
        if (c->home_env.name) {
            setenv(c->home_env.name, "/x", 1);
            CHECK(clients_is_on_machine(c, h, NULL, NULL));
            clear_variables();
        }
        if (c->home[0]) {
            touch(h, c->home[0], &a);
            CHECK(clients_is_on_machine(c, h, NULL, NULL));
        }
        CHECK(fs_remove_tree_at(AT_FDCWD, home, &e));
        arena_done(&a);
    }
}
