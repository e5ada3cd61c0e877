#include "base/fs.h"

#include "../../provision/record.h"
#include "../../provision/swap.h"
#include "../../provision/writable.h"
#include "tap.h"

#define H "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define F "f - 644 " H " 5 10 11 7 SKILL.md\n"
#define T "tree " H " .agents/skills/writer\n"

/* [row 15, row 16] a record is mapm's own writing, or nothing is known */
TEST(records_are_read_strictly)
{
    static const struct {
        const char *body;
        bool good;
    } rows[] = {
        {"", true},
        {T F, true},
        {T F "f x 755 " H " 1 2 3 4 a b/c d.sh\n", true},
        {"link ../../.agents/skills/w .claude/skills/w\n", true},
        {"file " H " .claude/agents/w.md\nf - 644 " H " 5 10 0 7 .\n", true},
        {"shared 1 5 10 7 .mcp.json\nk a " H " " H " io-example-mcp\n", true},
        {"dir .agents\ndir .claude/skills\ndir .codex\n", true},
        {"file " H " .github/agents/w.agent.md\nf - 644 " H " 5 10 0 7 .\n",
         true},
        {"file " H " .github/agents/w.agent.md\n", false},
        {T, false},
        /* places that are not mapm's */
        {"tree " H " .agents/skills/Writer\n", false},
        {"tree " H " .agents/skills/../../x\n", false},
        {"tree " H " .agents/skills\n", false},
        {"tree " H " src\n", false},
        {"tree " H " /etc\n", false},
        {"tree " H " .mcp.json\n", false},
        {"file " H " .bashrc\n", false},
        {"file " H " mapm.yaml\n", false},
        {"file " H " .agents/.mapm/state\n", false},
        {"file " H " .claude/settings.json\n", false},
        {"link x src/x\n", false},
        {"link /a%20b/c%25 .claude/skills/w\n", true},
        {"link /a%21b .claude/skills/w\n", false},
        {"link /a% .claude/skills/w\n", false},
        {"link ../%21 .claude/skills/w\n", true},
        {"link  .claude/skills/w\n", false},
        {"link x\n", false},
        {"shared 1 5 10 7 package.json\n", false},
        {"dir src\n", false},
        {"dir .\n", false},
        {"dir .agents/skills/writer\n", false},
        {"dir .agents\ndir .agents\n", false},
        /* files that leave their folder */
        {T "f - 644 " H " 1 2 3 4 ../x\n", false},
        {T "f - 644 " H " 1 2 3 4 /x\n", false},
        {T "f - 644 " H " 1 2 3 4 a//x\n", false},
        {T "f - 644 " H " 1 2 3 4 \n", false},
        /* shape */
        {T T, false},
        {F, false},
        {T F F, false},
        {T "f - 644 " H " 5 10 11 7 b\nf - 644 " H " 5 10 11 7 a\n", false},
        {T "f y 644 " H " 5 10 11 7 b\n", false},
        {T "f - 648 " H " 5 10 11 7 b\n", false},
        {T "f - 10644 " H " 5 10 11 7 b\n", false},
        {T "f - 644 " H " -5 10 11 7 b\n", false},
        {T "f - 644 " H " 18446744073709551615 10 11 7 b\n", true},
        {T "f - 644 " H " 18446744073709551616 10 11 7 b\n", false},
        {T "f - 644 0123 5 10 11 7 b\n", false},
        {"k a " H " " H " x\n", false},
        {"shared 1 5 10 7 .mcp.json\nk a " H " " H " a/b\n", false},
        {"shared 2 5 10 7 .mcp.json\n", false},
        {"shared s 5 10 7 .mcp.json\n", true},
        {"shared b 5 10 7 .mcp.json\n", true},
        {"shared 0 5 10 7 .mcp.json\n", true},
        {"shared  5 10 7 .mcp.json\n", false},
        {"shared 0 5 10 7 .mcp.json\ngap sstnr\nk a " H " " H " x\n", true},
        {"shared 0 5 10 7 .mcp.json\nk a " H " " H " x\ngap s\n", false},
        {"shared 0 5 10 7 .mcp.json\ngap s{n}\nk a " H " " H " x\n", true},
        {"shared 0 5 10 7 .mcp.json\ngap s[]\nk a " H " " H " x\n", true},
        {"shared 0 5 10 7 .mcp.json\ngap s()\n", false},
        {"shared 0 5 10 7 .mcp.json\ngap s\ngap s\n", false},
        {"shared 0 5 10 7 .mcp.json\ngap \n", false},
        {"shared 0 5 10 7 .mcp.json\ngap sx\n", false},
        {"shared 0 5 10 7 .mcp.json\ngap  \n", false},
        {"shared 0 5 10 7 .mcp.json\ngap\n", false},
        {T F "gap s\n", false},
        {"gap s\n", false},
        {"here 2 10 11 7\n", true},
        {"here 2 10 11\n", false},
        {"here 2 10 11 7 8\n", false},
        {"here 2 10 11 7\nhere 2 10 11 7\n", false},
        {"here 2 10 11 7\n" F, false},
        {"other\n", false},
        {"\n", false},
        {"end\n", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct str text =
            arena_printf(&a, "mapm-state 1\n%send\n", rows[i].body);
        struct record r;
        struct buf out;

        CHECK(record_parse(text, &client_scope_workspace, &a, &r) ==
              rows[i].good);
        if (record_parse(text, &client_scope_workspace, &a, &r) != rows[i].good)
            printf("# %s\n", rows[i].body);
        if (rows[i].good) {
            buf_init(&out, STATE_MAX_BYTES);
            for (size_t at = 0; record_format(&r, &at, &out);) {
            }
            CHECK_STR(out.p, text.p);
            buf_done(&out);
        }
        arena_done(&a);
    }
}

TEST(records_of_other_versions_and_torn_ones_are_none)
{
    static const char *const texts[] = {
        "",
        "mapm-state 2\nend\n",
        "mapm-state 1",
        "mapm-state 1\n",
        "mapm-state 1\nend",
        "mapm-state 1\nend\n\n",
        "mapm-state 1\nend\nend\n",
        "mapm-state 1\n" T "f - 644 " H " 5",
        "mapm-state 1\r\nend\r\n",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct arena a = {0};
        struct record r;

        CHECK(
            !record_parse(str_cstr(texts[i]), &client_scope_workspace, &a, &r));
        arena_done(&a);
    }
}

/* A file changed after the record was written is looked into. */
TEST(numbers_vouch_only_for_older_files)
{
    struct stat st = {.st_mode = S_IFREG | 0644, .st_size = 5, .st_ino = 7};
    struct record r = {.written = 2000000000};
    struct file_stat cached;

    st.st_mtim.tv_sec = st.st_ctim.tv_sec = 1;
    cached = file_stat_of(&st, true);
    CHECK(record_vouches(&r, &cached, &st));
    st.st_mtim.tv_nsec = 1;
    CHECK(!record_vouches(&r, &cached, &st));
    st.st_mtim.tv_nsec = 0;
    st.st_ctim.tv_nsec = 1;
    CHECK(!record_vouches(&r, &cached, &st));
    cached = file_stat_of(&st, false);
    CHECK(record_vouches(&r, &cached, &st));
    st.st_ino = 8;
    CHECK(!record_vouches(&r, &cached, &st));
    st.st_ino = 7;
    st.st_mode = S_IFLNK | 0777;
    CHECK(!record_vouches(&r, &cached, &st));
    st.st_mode = S_IFREG | 0644;
    r.written = 1000000000;
    CHECK(record_vouches(&r, &cached, &st));
    r.written--;
    CHECK(!record_vouches(&r, &cached, &st));
    r.written = 0;
    CHECK(!record_vouches(&r, &cached, &st));
}

/* A time that the clock still shows can be that of a later change, too. */
TEST(numbers_of_this_instant_are_not_kept)
{
    static const struct {
        uint64_t mtime, ctime;
        bool kept;
    } rows[] = {
        {999999999, 999999999, true},
        {1000000000, 999999999, false},
        {999999999, 1000000000, false},
        {1000000001, 999999999, false},
    };
    uint64_t now = file_stat_now();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stat st = {.st_mode = S_IFREG | 0644, .st_ino = 7};
        struct file_stat seen;

        st.st_mtim.tv_sec = (time_t)(rows[i].mtime / 1000000000);
        st.st_mtim.tv_nsec = (long)(rows[i].mtime % 1000000000);
        st.st_ctim.tv_sec = (time_t)(rows[i].ctime / 1000000000);
        st.st_ctim.tv_nsec = (long)(rows[i].ctime % 1000000000);
        seen = file_stat_seen(&st, 1000000000, true);
        CHECK((seen.ino == 7) == rows[i].kept);
    }
    file_stat_wait(now);
    CHECK(file_stat_now() != now);
}

#define SECOND "mapm-journal 2\nstage stage-0123456789abcdef\nbackup 0\n"
#define FOURTH "mapm-journal 4\nstage stage-0123456789abcdef\nbackup 0\n"
#define FIFTH  "mapm-journal 5\nstage stage-0123456789abcdef\nbackup 0\n"
#define HEAD   "mapm-journal 1\nstage stage-0123456789abcdef\nbackup 0\n"
#define OP     "op 5 " H " 6 " H " - "

/* [row 15] a stranger's journal moves nothing but known places */
TEST(journals_are_read_strictly)
{
    static const struct {
        const char *text;
        bool good;
    } rows[] = {
        {HEAD, true},
        {HEAD "make .claude\n" OP "mapm.lock\ndrop .codex/agents\n", true},
        {HEAD OP ".agents/skills/x\n" OP ".agents/.mapm/state\n", true},
        {HEAD OP ".agents/skills/x\n" OP ".agents/skills/x\n", false},
        {HEAD OP "../x\n", false},
        {HEAD OP "/etc/passwd\n", false},
        {HEAD OP "src/main.c\n", false},
        {HEAD OP ".git/config\n", false},
        {HEAD "make src\n", false},
        {HEAD "drop .git\n", false},
        {HEAD "op 5 " H " 5 " H " - mapm.lock\n", false},
        {HEAD "op 0 " H " 0 " H " - mapm.lock\n", false},
        {HEAD "op 5 " H " 6 " H " k mapm.lock\n", false},
        {HEAD "op 5 " H " 6 " H " - \n", false},
        {"mapm-journal 1\nstage ../../x\nbackup 0\n", false},
        {"mapm-journal 1\nstage stage-0123456789abcdeg\nbackup 0\n", false},
        {"mapm-journal 1\nstage stage-0123456789abcdef\nbackup 10000\n", false},
        {"mapm-journal 1\nstage stage-0123456789abcdef\nbackup 9999\n", true},
        {SECOND OP "apps/web/.agents/skills/x\n" OP "mapm.lock\n", true},
        {SECOND OP "apps/web/src/main.c\n", false},
        {SECOND OP "apps/../.agents/skills/x\n", false},
        {SECOND OP "mapm.lock\n", false},
        {HEAD OP "apps/web/.agents/skills/x\n", false},
        {SECOND, false},
        {"mapm-journal 3\nstage stage-0123456789abcdef\nbackup 0\n", false},
        {FOURTH "beside .claude\nop 5 " H " 6 " H " -1 .claude/skills/x\n",
         true},
        {FOURTH "beside .\nbeside .claude\n" OP "mapm.lock\n", true},
        {FOURTH "beside .\n", true},
        {FOURTH, false},
        {FOURTH "beside .git\n", false},
        {FOURTH "beside ../x\n", false},
        {FOURTH "beside /etc\n", false},
        {FOURTH "beside src\nop 5 " H " 6 " H " -2 mapm.lock\n", false},
        {FOURTH "beside src\nop 5 " H " 6 " H " -01 mapm.lock\n", false},
        {FOURTH OP "mapm.lock\nbeside .\n", false},
        {HEAD "op 5 " H " 6 " H " -1 mapm.lock\n", false},
        {HEAD "beside .claude\n" OP "mapm.lock\n", false},
        {FIFTH "lift 7 0 .agents/skills/x\nlift 8 0 .claude/skills/x\n", true},
        {FIFTH "beside .\nlift 7 1 .agents/skills/x\n", true},
        {FIFTH, false},
        {FIFTH "lift 7 1 .agents/skills/x\n", false},
        {FIFTH "lift 7 0 ../x\n", false},
        {FIFTH "lift 7 0 .git/hooks\n", false},
        {FIFTH "lift x 0 .agents/skills/x\n", false},
        {FIFTH "lift 7 0\n", false},
        {FIFTH OP "mapm.lock\nlift 7 0 .agents/skills/x\n", false},
        {FIFTH "lift 7 0 .agents/skills/x\n" OP "mapm.lock\n", false},
        {HEAD "lift 7 0 .agents/skills/x\n", false},
        {HEAD "\n", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct hash h = hash_of(str_cstr(rows[i].text));
        struct str text =
            arena_printf(&a, "%send %s\n", rows[i].text, hash_hex(&h, &a).p);
        struct journal_at part = {0};
        struct swap s;
        struct buf out;

        CHECK(journal_parse(text, &client_scope_workspace, &a, &s) ==
              rows[i].good);
        if (rows[i].good) {
            buf_init(&out, JOURNAL_MAX_BYTES);
            CHECK(!journal_format(&s, &part, &out));
            CHECK_STR(out.p, text.p);
            buf_done(&out);
        }
        /* torn, or with another sum */
        CHECK(!journal_parse(str_slice(text, 0, text.n - 1),
                             &client_scope_workspace, &a, &s));
        CHECK(!journal_parse(str_cstr(rows[i].text), &client_scope_workspace,
                             &a, &s));
        /* [F2] one bit of a line, or of the sum, is another one */
        for (size_t at = 0; at < text.n; at++) {
            char *changed = arena_alloc(&a, text.n);

            memcpy(changed, text.p, text.n);
            changed[at] ^= 1;
            CHECK(!journal_parse(str_make(changed, text.n),
                                 &client_scope_workspace, &a, &s));
        }
        arena_done(&a);
    }
}

/* [F7] A long journal comes in parts, with one sum over all of them. */
TEST(long_journals_come_in_blocks)
{
    enum { OPS = 5000 };
    CLEANUP(arena_done) struct arena a = {0};
    struct swap_op *ops = arena_array(&a, OPS, sizeof *ops);
    struct swap s = {.scope = &client_scope_workspace,
                     .stage_name = STR("stage-0123456789abcdef"),
                     .stage_count = 1,
                     .ops = ops,
                     .count = OPS};
    struct journal_at at = {0};
    struct swap again;
    struct buf all, block;
    size_t blocks = 0;
    bool more = true;

    for (size_t i = 0; i < OPS; i++)
        ops[i] = (struct swap_op){
            .path = arena_printf(&a, ".agents/skills/skill-%zu", i),
            .new_ino = i + 1};
    buf_init(&all, JOURNAL_MAX_BYTES);
    buf_init(&block, 2 * JOURNAL_BLOCK_BYTES);
    while (more) {
        buf_clear(&block);
        more = journal_format(&s, &at, &block);
        CHECK(!block.overflowed);
        buf_append(&all, buf_str(&block));
        blocks++;
    }
    CHECK(blocks == all.n / JOURNAL_BLOCK_BYTES + 1 && blocks > 2);
    CHECK(journal_parse(buf_str(&all), &client_scope_workspace, &a, &again) &&
          again.count == OPS);
    buf_done(&all);
    buf_done(&block);
}

/* [X21] what a key may be, 37 and 38 */
TEST(keys_and_places)
{
    char key[40];

    memset(key, 'a', sizeof key);
    CHECK(place_is_server_key(str_make(key, 37)));
    CHECK(!place_is_server_key(str_make(key, 38)));
    CHECK(!place_is_server_key(STR("")));
    CHECK(!place_is_server_key(STR("a.b")));
    CHECK(place_is_known(&client_scope_workspace, STR(".codex/config.toml")));
    CHECK(place_is_known(&client_scope_workspace, STR(".codex/agents/x.toml")));
    CHECK(!place_is_known(&client_scope_workspace, STR(".codex/agents/x.md")));
    CHECK(!place_is_known(&client_scope_workspace, STR(".codex/agents/.toml")));
    CHECK(!place_is_known(&client_scope_workspace,
                          STR(".claude/skills/x/SKILL.md")));
    CHECK(place_is_folder(&client_scope_workspace, STR(".codex")) &&
          place_is_folder(&client_scope_workspace, STR(".github")));
    CHECK(!place_is_folder(&client_scope_workspace, STR(".mcp.json")) &&
          !place_is_folder(&client_scope_workspace, STR("")));
}
