
#include "base/arena.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/str.h"
#include "mapm/doc_kind.h"

#include <sys/un.h>

#include "tap.h"
#include "workspace_fixture.h"

/* Workspaces from untrusted sources: [row 15, row 16] */

static struct fixture fixture;

#define SKILL "---\nname: writer\ndescription: Writes.\n---\nWrite.\n"
#define AGENT "---\nname: reviewer\ndescription: R\nversion: 1.0.0\n---\nDo.\n"
#define HASH  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void add_all(struct fixture *d)
{
    fixture_item(d, DOC_SKILL, "writer", "SKILL.md", SKILL, "a/b", "b\n", NULL);
    fixture_item(d, DOC_AGENT, "reviewer", "AGENTS.md", AGENT, NULL);
    fixture_item(d, DOC_MCP, "io-e-m", "x.json",
                 "{\"_meta\": {\"name\": \"io.e/m\"}, \"command\": \"npx\"}\n",
                 NULL);
    fixture_text(d, "mapm.yaml", "a\n");
    fixture_text(d, "mapm.lock", "a\n");
}

enum made { LINK_TO_FOLDER, LINK_TO_FILE, DANGLING, FIFO, FOLDER, PLAIN };

static void make_thing(struct fixture *d, const char *path, enum made what,
                       const char *outside)
{
    struct str whole = str_cstr(path);
    size_t at = str_find_last(whole, '/');
    struct err e = {0};

    if (at != SIZE_MAX)
        CHECK(fs_make_dirs_at(
            d->fd, str_dup0(str_slice(whole, 0, at), &d->arena), 0755, &e));
    if (what == LINK_TO_FOLDER)
        CHECK(symlinkat(outside, d->fd, path) == 0);
    else if (what == LINK_TO_FILE)
        CHECK(symlinkat(arena_printf(&d->arena, "%s/file", outside).p, d->fd,
                        path) == 0);
    else if (what == DANGLING)
        CHECK(symlinkat("/nonexistent/x", d->fd, path) == 0);
    else if (what == FIFO)
        CHECK(mkfifoat(d->fd, path, 0644) == 0);
    else if (what == FOLDER)
        fixture_write(d, arena_printf(&d->arena, "%s/mine", path).p, "mine\n");
    else
        fixture_write(d, path, "{}");
}

/* [row 16] Links, FIFOs, folders and files in place of files that mapm writes
 * are rejected with a message, and nothing is written through them. */
TEST(things_in_the_way)
{
    static const char *const paths[] = {
        ".agents",
        ".agents/skills",
        ".agents/skills/writer",
        ".agents/agents",
        ".agents/.mapm",
        ".claude",
        ".claude/skills",
        ".claude/skills/writer",
        ".claude/agents",
        ".claude/agents/reviewer.md",
        ".mcp.json",
        "mapm.yaml",
        "mapm.lock",
    };
    static struct fixture other;
    struct fixture *d = &fixture;

    fixture_init(&other);
    fixture_write(&other, "file", "outside\n");
    const char *outside = fixture_snapshot(&other, true);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        for (enum made what = LINK_TO_FOLDER; what <= PLAIN; what++) {
            const char *before;
            bool ok;

            fixture_init(d);
            make_thing(d, paths[i], what, other.path);
            before = fixture_snapshot(d, true);
            add_all(d);
            ok = fixture_run(d, 0);
            if (ok) {
                /* Folders where folders belong, texts to be replaced, and
                 * a merge into "{}" are what it is for. */
                CHECK(what == FOLDER || what == PLAIN);
            } else {
                CHECK(d->err.code == ERR_REFUSED || d->err.code == ERR_EDITED);
                CHECK(strstr(err_first(&d->err), paths[i]) != NULL);
                CHECK_STR(fixture_snapshot(d, true), before);
            }
            CHECK_STR(fixture_snapshot(&other, true), outside);
            fixture_run(d, FIXTURE_FORCE);
            CHECK_STR(fixture_snapshot(&other, true), outside);
            fixture_done(d);
        }
    fixture_done(&other);
}

/* Workspaces with a link to one folder of skills: all files exist already. */
TEST(a_linked_skills_folder_is_enough)
{
    struct fixture *d = &fixture;

    fixture_init(d);
    fixture_write(d, ".agents/skills/own/SKILL.md", SKILL);
    fixture_write(d, ".claude/settings.json", "{}");
    CHECK(symlinkat("../.agents/skills", d->fd, ".claude/skills") == 0);
    add_all(d);
    FIXTURE_OK(d, 0);
    CHECK_STR(fixture_content(d, ".agents/skills/writer/SKILL.md"), SKILL);
    FIXTURE_OK(d, 0);
    CHECK(d->change_count == 0);
    fixture_clear(d);
    FIXTURE_OK(d, 0);
    CHECK(!fixture_has(d, ".agents/skills/writer"));
    CHECK(fixture_has(d, ".agents/skills/own") &&
          fixture_has(d, ".claude/skills"));
    fixture_done(d);
}

/* [row 15] A forged record never makes mapm destroy or trust a file. */
TEST(records_that_lie)
{
    static const char state[] = "mapm-state 1\n"
                                "tree " HASH " .agents/skills/writer\n"
                                "f - 644 " HASH " 5 10 11 7 SKILL.md\n"
                                "f - 644 " HASH " 5 10 11 7 a/b\n"
                                "tree " HASH " .agents/skills/gone\n"
                                "f - 644 " HASH " 5 10 11 7 x\n"
                                "link ../../elsewhere .claude/skills/writer\n"
                                "file " HASH " .claude/agents/reviewer.md\n"
                                "f - 644 " HASH " 5 10 0 7 .\n"
                                "shared 1 5 10 7 .mcp.json\n"
                                "k - " HASH " " HASH " io-e-m\n"
                                "dir .agents\ndir .claude\nend\n";
    struct fixture *d = &fixture;
    const char *before;

    fixture_init(d);
    fixture_write(d, ".agents/.mapm/state", state);
    fixture_write(d, ".agents/skills/writer/SKILL.md", "mine\n");
    fixture_write(d, ".agents/skills/gone/x", "mine\n");
    fixture_write(d, ".claude/agents/reviewer.md", "mine\n");
    fixture_write(d, ".claude/own", "mine\n");
    fixture_write(d, ".mcp.json",
                  "{\"mcpServers\": {\"io-e-m\": {\"command\": \"mine\"}}}");
    before = fixture_snapshot(d, true);
    add_all(d);
    CHECK(!fixture_run(d, 0));
    CHECK(d->err.code == ERR_EDITED);
    CHECK_STR(fixture_snapshot(d, true), before);
    fixture_clear(d);
    CHECK(!fixture_run(d, 0));
    CHECK(d->err.code == ERR_EDITED);
    CHECK_STR(fixture_snapshot(d, true), before);
    fixture_done(d);
}

/* A record that lists forged bytes: the desired state decides, not the
 * record. */
TEST(a_record_cannot_vouch_for_other_bytes)
{
    struct fixture *d = &fixture;
    struct hash evil = hash_of(STR("evil\n")), right;
    char evil_hex[65], right_hex[65];

    fixture_init(d);
    fixture_item(d, DOC_SKILL, "writer", "SKILL.md", SKILL, NULL);
    right = d->items[0].files[0].hash;
    hash_format(&evil, evil_hex);
    hash_format(&right, right_hex);
    fixture_write(d, ".agents/skills/writer/SKILL.md", "evil\n");
    /* The record has the right hash for the file, but its size and times
     * differ. */
    fixture_write(d, ".agents/.mapm/state",
                  arena_printf(&d->arena,
                               "mapm-state 1\ntree %s .agents/skills/writer\n"
                               "f - 644 %s 5 10 11 7 SKILL.md\nend\n",
                               right_hex, right_hex)
                      .p);
    CHECK(!fixture_run(d, 0));
    CHECK(d->err.code == ERR_EDITED);
    /* The record states that mapm wrote the forged file, which is then
     * replaced. */
    fixture_write(d, ".agents/.mapm/state",
                  arena_printf(&d->arena,
                               "mapm-state 1\ntree %s .agents/skills/writer\n"
                               "f - 644 %s 5 10 11 7 SKILL.md\nend\n",
                               right_hex, evil_hex)
                      .p);
    FIXTURE_OK(d, 0);
    CHECK_STR(fixture_content(d, ".agents/skills/writer/SKILL.md"), SKILL);
    fixture_done(d);
}

/* [row 15] A journal from another workspace names nodes by inodes that do not
 * match. */
TEST(journals_from_elsewhere_do_nothing)
{
    static const char *const ops[] = {
        "op 5 " HASH " 6 " HASH " - mapm.yaml\n",
        "op 0 " HASH " 6 " HASH " - mapm.yaml\n",
        "op 5 " HASH " 0 " HASH " - .mcp.json\n",
        "op 0 " HASH " 6 " HASH " - src/main.c\n",
        "make .codex\nop 5 " HASH " 0 " HASH " - .codex/config.toml\n",
        "drop .claude\n",
        "torn",
    };
    struct fixture *d = &fixture;

    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        struct provision *p = NULL;
        struct str text;
        struct hash h;
        const char *before;

        fixture_init(d);
        fixture_write(d, "mapm.yaml", "mine\n");
        fixture_write(d, "src/main.c", "mine\n");
        fixture_write(d, ".claude/own", "mine\n");
        fixture_write(d, ".agents/own", "mine\n");
        before = fixture_snapshot(d, false);
        fixture_write(d, ".agents/.mapm/stage-0123456789abcdef/n0", "evil\n");
        text = arena_printf(&d->arena,
                            "mapm-journal 1\nstage stage-0123456789abcdef\n"
                            "backup 0\n%s",
                            ops[i]);
        h = hash_of(text);
        fixture_write(d, ".agents/.mapm/journal",
                      arena_printf(&d->arena, "%send %s\n", text.p,
                                   hash_hex(&h, &d->arena).p)
                          .p);
        CHECK(provision_open(str_cstr(d->path), &client_scope_workspace, i % 2,
                             NULL, NULL, &d->recovered, &p, &d->err));
        provision_close(p);
        CHECK_STR(fixture_snapshot(d, false), before);
        CHECK(!fixture_has(d, ".agents/.mapm/journal"));
        fixture_done(d);
    }
}

/* [row 16] The files of mapm itself may be of any kind. */
TEST(own_files_that_are_none)
{
    static const char *const paths[] = {
        ".agents/.mapm/state",
        ".agents/.mapm/journal",
        ".agents/.mapm/.gitignore",
        ".agents/.mapm/backup",
    };
    struct fixture *d = &fixture;
    static struct fixture other;

    fixture_init(&other);
    fixture_write(&other, "file", "outside\n");
    const char *outside = fixture_snapshot(&other, true);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        for (enum made what = LINK_TO_FOLDER; what <= PLAIN; what++) {
            fixture_init(d);
            make_thing(d, paths[i], what, other.path);
            add_all(d);
            /* The command succeeds or reports the reason; it neither hangs nor
             * leaves the workspace. */
            if (!fixture_run(d, 0))
                CHECK(err_first(&d->err)[0]);
            fixture_write(d, ".agents/skills/writer/SKILL.md", "mine\n");
            fixture_run(d, FIXTURE_FORCE);
            CHECK_STR(fixture_snapshot(&other, true), outside);
            fixture_done(d);
        }
    fixture_done(&other);
}

/* A link in a folder of mapm that leads outside is an edit, and is not
 * followed. */
TEST(links_inside_a_package)
{
    struct fixture *d = &fixture;
    static struct fixture other;

    fixture_init(&other);
    fixture_write(&other, "b", "outside\n");
    fixture_init(d);
    add_all(d);
    FIXTURE_OK(d, 0);
    struct err e = {0};
    CHECK(fs_remove_tree_at(d->fd, ".agents/skills/writer/a", &e));
    CHECK(symlinkat(other.path, d->fd, ".agents/skills/writer/a") == 0);
    CHECK(!fixture_run(d, 0));
    CHECK(d->err.code == ERR_EDITED);
    fixture_clear(d);
    CHECK(!fixture_run(d, 0));
    FIXTURE_OK(d, FIXTURE_FORCE);
    CHECK_STR(fixture_content(&other, "b"), "outside\n");
    fixture_done(d);
    fixture_done(&other);
}
