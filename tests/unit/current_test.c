
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "mapm/doc_kind.h"

#include <sys/time.h>

#include "tap.h"
#include "workspace_fixture.h"

/* "Is all in place?" by record and lstat: DESIGN 7, §2 "nothing to do". */

static struct fixture fixture;

static void add_all(struct fixture *d)
{
    fixture_item(d, DOC_SKILL, "writer", "SKILL.md",
                 "---\nname: writer\ndescription: Writes.\n---\n",
                 "+scripts/run.sh", "#!/bin/sh\n", "data/a/b.txt", "b\n", NULL);
    fixture_item(d, DOC_AGENT, "reviewer", "AGENTS.md",
                 "---\nname: reviewer\ndescription: Reviews.\n---\nReview.\n",
                 NULL);
    fixture_item(d, DOC_MCP, "io-example-mcp", "io.example_mcp.json",
                 "{\n  \"_meta\": {\"name\": \"io.example/mcp\"},\n"
                 "  \"command\": \"npx\",\n  \"args\": []\n}\n",
                 NULL);
    fixture_client(d, "codex");
}

/* With the digests alone, as from a lock. */
static bool is_current(struct fixture *d)
{
    struct provision_item items[8];
    struct provision *p = NULL;
    bool recovered, current;

    if (!provision_open(str_cstr(d->path), &client_scope_workspace, true, NULL,
                        NULL, &recovered, &p, &d->err))
        return false;
    for (size_t i = 0; i < d->item_count; i++) {
        items[i] = d->items[i];
        items[i].files = NULL;
        items[i].file_count = 0;
    }
    d->reads = 0;
    current =
        provision_is_current(p, &d->options, items, d->item_count, &d->arena);
    CHECK(d->reads == 0);
    provision_close(p);
    return current;
}

static void set_up(struct fixture *d)
{
    fixture_init(d);
    add_all(d);
    FIXTURE_OK(d, 0);
}

TEST(what_was_just_put_there_is_current)
{
    struct fixture *d = &fixture;
    const char *before;

    set_up(d);
    before = fixture_snapshot(d, true);
    CHECK(is_current(d));
    CHECK_STR(fixture_snapshot(d, true), before);
    fixture_done(d);
}

TEST(without_a_record_nothing_is_known)
{
    struct fixture *d = &fixture;

    fixture_init(d);
    add_all(d);
    CHECK(!is_current(d));
    FIXTURE_OK(d, 0);
    unlinkat(d->fd, ".agents/.mapm/state", 0);
    CHECK(!is_current(d));
    fixture_done(d);
}

/* Every kind of place, changed, replaced by the like, or gone. */
TEST(a_change_on_the_disk_is_noticed)
{
    static const char *const paths[] = {
        ".agents/skills/writer/SKILL.md",
        ".agents/skills/writer/scripts/run.sh",
        ".agents/skills/writer/data/a/b.txt",
        ".agents/agents/reviewer/AGENTS.md",
        ".claude/skills/writer",
        ".claude/agents/reviewer.md",
        ".codex/agents/reviewer.toml",
        ".mcp.json",
        ".codex/config.toml",
    };

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct fixture *d = &fixture;
        const char *text;

        set_up(d);
        text = fixture_content(d, paths[i]);
        CHECK(unlinkat(d->fd, paths[i], 0) == 0);
        CHECK(!is_current(d));
        fixture_write(d, paths[i], text);
        CHECK(!is_current(d));
        fixture_done(d);
    }
}

/* Same size and times as before: the inode's own time tells. */
TEST(an_edit_that_hides_its_time_is_noticed)
{
    struct fixture *d = &fixture;
    struct timespec times[2];
    struct stat st;
    int fd;

    set_up(d);
    fd = openat(d->fd, ".agents/skills/writer/data/a/b.txt", O_WRONLY);
    CHECK(fd >= 0 && fstat(fd, &st) == 0);
    times[0] = st.st_atim;
    times[1] = st.st_mtim;
    CHECK(write(fd, "x\n", 2) == 2);
    CHECK(futimens(fd, times) == 0);
    close(fd);
    CHECK(!is_current(d));
    fixture_done(d);
}

TEST(another_wish_is_noticed)
{
    struct fixture *d = &fixture;

    set_up(d);
    d->items[0].digest.b[0] ^= 1;
    CHECK(!is_current(d));
    d->items[0].digest.b[0] ^= 1;
    CHECK(is_current(d));
    /* The lock was edited: another name, the same bytes and place. */
    d->items[0].fqn = STR("other/writer");
    CHECK(!is_current(d));
    d->items[0].fqn = STR("writer");
    d->items[0].place = STR("author");
    CHECK(!is_current(d));
    d->items[0].place = STR("writer");
    d->items[0].rename = true;
    CHECK(!is_current(d));
    d->items[0].rename = false;
    /* One that goes, one that comes. */
    d->item_count--;
    CHECK(!is_current(d));
    d->item_count++;
    fixture_item(d, DOC_SKILL, "second", "SKILL.md", "x", NULL);
    CHECK(!is_current(d));
    d->item_count--;
    /* Another client, another place for shared files. */
    fixture_client(d, "gemini");
    CHECK(!is_current(d));
    d->options.clients.count = 0;
    CHECK(!is_current(d));
    d->options.clients.count = 1;
    CHECK(is_current(d));
    d->options.shared_dir = STR("/elsewhere");
    CHECK(!is_current(d));
    d->options.shared_dir = STR("/home/u/shared");
    CHECK(is_current(d));
    CHECK(mkdirat(d->fd, ".gemini", 0755) == 0);
    CHECK(!is_current(d));
    fixture_done(d);
}

TEST(a_link_that_leads_elsewhere_is_noticed)
{
    struct fixture *d = &fixture;

    set_up(d);
    CHECK(unlinkat(d->fd, ".claude/skills/writer", 0) == 0 &&
          symlinkat("../../elsewhere", d->fd, ".claude/skills/writer") == 0);
    CHECK(!is_current(d));
    CHECK(unlinkat(d->fd, ".claude/skills/writer", 0) == 0 &&
          symlinkat("../../.agents/skills/writer", d->fd,
                    ".claude/skills/writer") == 0);
    CHECK(is_current(d));
    fixture_done(d);
}

/* A link to a folder that moved away is no folder of ours. */
TEST(a_link_in_the_place_of_a_folder_is_noticed)
{
    struct fixture *d = &fixture;

    set_up(d);
    CHECK(renameat(d->fd, ".agents/skills/writer/data", d->fd, "moved") == 0);
    CHECK(symlinkat("../../../moved", d->fd, ".agents/skills/writer/data") ==
          0);
    CHECK(!is_current(d));
    fixture_done(d);
}

/* All of a client's skills behind one link of the user's: nothing is ours. */
TEST(a_linked_folder_of_skills_is_current)
{
    struct fixture *d = &fixture;

    fixture_init(d);
    add_all(d);
    CHECK(mkdirat(d->fd, ".claude", 0755) == 0);
    CHECK(symlinkat("../.agents/skills", d->fd, ".claude/skills") == 0);
    FIXTURE_OK(d, 0);
    CHECK(is_current(d));
    fixture_done(d);
}

/* [row 9] a record from a stranger's repository, its numbers all right but
 * for the one that no checkout sets. */
TEST(a_record_that_leaves_out_the_inodes_time_is_not_believed)
{
    struct fixture *d = &fixture;
    struct str text, line;
    struct buf out;

    set_up(d);
    text = str_cstr(fixture_content(d, ".agents/.mapm/state"));
    buf_init(&out, 1u << 20);
    while (str_line(&text, &line)) {
        struct str word;
        bool file = str_starts(line, STR("f "));

        for (int i = 0; file && i < 6 && str_cut(&line, ' ', &word); i++)
            buf_printf(&out, "%.*s ", STR_ARG(word));
        if (file && str_cut(&line, ' ', &word))
            buf_text(&out, "0 ");
        buf_printf(&out, "%.*s\n", STR_ARG(line));
    }
    fixture_write(d, ".agents/.mapm/state",
                  arena_str(&d->arena, buf_str(&out)).p);
    buf_done(&out);
    CHECK(!is_current(d));
    fixture_done(d);
}
