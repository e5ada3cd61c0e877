
#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/invariant.h"
#include "base/str.h"
#include "mapm/doc_kind.h"

#include <ftw.h>
#include <sys/wait.h>

#include "faults.h"
#include "tap.h"
#include "workspace_fixture.h"

/* An update of all parts at once, stopped at each of its steps. */

#define STEPS_MAX 2000
/* A sanitizer build sees the same code at each step, and forks slowly: of the
 * two longest tests it makes every third. */
#define STRIDE (INVARIANTS ? 3 : 1)
/* The same holds for the tests that repeat an update in another workspace. */
#define STEP (is_edited || is_layered ? STRIDE : 1)

static struct fixture fixture;

#define SKILL(name, body)                                                      \
    "---\nname: " name "\ndescription: What it does.\n---\n" body "\n"
#define SERVER(args)                                                           \
    "{\"_meta\": {\"name\": \"io.example/mcp\"}, \"command\": \"npx\", "       \
    "\"args\": [" args "]}\n"
#define AGENT(body)                                                            \
    "---\nname: reviewer\ndescription: Reviews.\nversion: 1.0.0\n---\n" body   \
    "\n"

static void wish_old(struct fixture *d)
{
    fixture_clear(d);
    fixture_item(d, DOC_SKILL, "writer", "SKILL.md", SKILL("writer", "Old."),
                 "a/b.txt", "old\n", NULL);
    fixture_item(d, DOC_SKILL, "leaves", "SKILL.md", SKILL("leaves", "Old."),
                 NULL);
    fixture_item(d, DOC_MCP, "io-example-mcp", "x.json", SERVER("\"old\""),
                 NULL);
    fixture_text(d, "mapm.yaml", "# old\n");
    fixture_text(d, "mapm.lock", "old: 1\n");
}

static void wish_new(struct fixture *d)
{
    fixture_clear(d);
    fixture_item(d, DOC_SKILL, "writer", "SKILL.md", SKILL("writer", "New."),
                 "a/c.txt", "new\n", NULL);
    fixture_item(d, DOC_SKILL, "comes", "SKILL.md", SKILL("comes", "New."),
                 NULL);
    fixture_item(d, DOC_AGENT, "reviewer", "AGENTS.md", AGENT("New."), NULL);
    fixture_item(d, DOC_MCP, "io-example-mcp", "x.json", SERVER("\"new\""),
                 NULL);
    fixture_text(d, "mapm.yaml", "# new\n");
    fixture_text(d, "mapm.lock", "new: 1\n");
    fixture_text(d, ".gitignore", "new\n");
}

#define PRECIOUS "{\"precious\": \"bytes\"}"

static bool is_edited; /* the update replaces what the user wrote (--force) */

static bool is_layered; /* each folder is in the lower layer of an overlay */

static int add_folder(const char *path, const struct stat *st, int type,
                      struct FTW *at)
{
    (void)path, (void)at;
    if (type == FTW_D && fault_folder_count < FAULT_FOLDERS_MAX)
        fault_folders[fault_folder_count++] = st->st_ino;
    return 0;
}

static void start(struct fixture *d, bool fresh)
{
    fault_folder_count = 0;
    fixture_init(d);
    fixture_client(d, "claude");
    fixture_client(d, "codex");
    fixture_write(d, "README", "the user's\n");
    if (!fresh) {
        wish_old(d);
        FIXTURE_OK(d, 0);
    }
    if (is_edited) {
        fixture_write(d, ".agents/skills/writer/SKILL.md", PRECIOUS);
        fixture_write(d, ".agents/skills/comes/SKILL.md", PRECIOUS);
    }
    if (is_layered)
        CHECK(nftw(d->path, add_folder, 10, FTW_PHYS) == 0);
    wish_new(d);
}

static bool update(struct fixture *d)
{
    return fixture_run(d, is_edited ? FIXTURE_FORCE : 0);
}

static struct arena outcomes;

/* Snapshots of the workspace before and after. */
static void find_outcomes(const char **old, const char **new, bool fresh)
{
    struct fixture *d = &fixture;

    start(d, fresh);
    *old = arena_str(&outcomes, str_cstr(fixture_snapshot(d, false))).p;
    CHECK(update(d));
    *new = arena_str(&outcomes, str_cstr(fixture_snapshot(d, false))).p;
    fixture_done(d);
}

/* True when it was killed. */
static bool run_killed_at(struct fixture *d, long step, bool recover_only)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        fault_arm(FAULT_KILL, step, 0);
        if (recover_only)
            d->text_count = d->item_count = 0;
        _exit(recover_only ? (void)fixture_run(d, FIXTURE_PLAN_ONLY),
              0            : !update(d));
    }
    waitpid(child, &status, 0);
    return WIFSIGNALED(status);
}

static bool is_either(const char *got, const char *x, const char *y)
{
    return strcmp(got, x) == 0 || strcmp(got, y) == 0;
}

static bool open_only(struct fixture *d)
{
    struct provision *p = NULL;

    err_clear(&d->err);
    if (!provision_open(str_cstr(d->path), &client_scope_workspace, false, NULL,
                        NULL, &d->recovered, &p, &d->err))
        return false;
    provision_close(p);
    return true;
}

/* As fixture_snapshot prints it. */
static const char *hash_text(const char *text)
{
    struct hash h = hash_of(str_cstr(text));
    char hex[HASH_HEX_CHARS + 1];

    hash_format(&h, hex);
    return arena_printf(&fixture.arena, "%.16s", hex).p;
}

/* The user's file is at its place, or backed up. */
static void check_edits(struct fixture *d)
{
    const char *at = fixture_snapshot(d, true), *hash = hash_text(PRECIOUS);
    int found = 0;

    while ((at = strstr(at, hash)) && at++)
        found++;
    CHECK(found == (is_edited ? 2 : 0));
}

static void kill_everywhere(bool fresh)
{
    struct fixture *d = &fixture;
    const char *old, *new, *now;
    long step;
    bool killed = true;
    int olds = 0, news = 0;

    find_outcomes(&old, &new, fresh);
    for (step = 1; killed && step < STEPS_MAX; step += STEP) {
        start(d, fresh);
        killed = run_killed_at(d, step, false);
        CHECK(open_only(d));
        now = fixture_snapshot(d, false);
        CHECK(is_either(now, old, new));
        if (!is_either(now, old, new))
            printf("# killed at %ld:\n%s\n# wanted:\n%s", step, now, old);
        olds += strcmp(now, old) == 0;
        news += strcmp(now, new) == 0;
        check_edits(d);
        CHECK(update(d));
        CHECK_STR(fixture_snapshot(d, false), new);
        CHECK(!fixture_has(d, ".agents/.mapm/journal"));
        fixture_done(d);
    }
    CHECK(!killed && olds > 20 / STEP && news > 20 / STEP);
    printf("# %ld steps: %d old, %d new\n", step, olds, news);
}

/* [F3] A signal while a file is opened does not fail the command. */
TEST(an_interrupted_open_is_repeated)
{
    struct fixture *d = &fixture;

    start(d, false);
    fault_arm(FAULT_SIGNAL, 0, 0);
    FIXTURE_OK(d, 0);
    CHECK(fault_count > 20);
    fault_arm(FAULT_NONE, 0, 0);
    fixture_done(d);
}

/* [row 27] After kill -9 at any step, the next command leaves the old or the
 * new state. */
TEST(killed_at_any_step_of_an_update)
{
    kill_everywhere(false);
}

TEST(killed_at_any_step_of_the_first_install)
{
    kill_everywhere(true);
}

/* [row 27] The recovery is also killed, several times. */
TEST(killed_while_repairing)
{
    struct fixture *d = &fixture;
    const char *old, *new, *now;
    bool killed = true;

    find_outcomes(&old, &new, false);
    for (long step = 1; killed && step < STEPS_MAX; step += STRIDE) {
        start(d, false);
        killed = run_killed_at(d, step, false);
        if (!fixture_has(d, ".agents/.mapm/journal")) {
            fixture_done(d);
            continue;
        }
        for (long again = 1; again < STEPS_MAX; again++)
            if (!run_killed_at(d, again, true))
                break;
        wish_new(d);
        CHECK(open_only(d));
        now = fixture_snapshot(d, false);
        CHECK(is_either(now, old, new));
        FIXTURE_OK(d, 0);
        CHECK_STR(fixture_snapshot(d, false), new);
        fixture_done(d);
    }
}

/* [row 27] The recovery fails at each of its calls in turn. */
TEST(an_error_while_repairing)
{
    struct fixture *d = &fixture;
    const char *old, *new;
    bool killed = true;

    find_outcomes(&old, &new, false);
    for (long step = 1; killed && step < STEPS_MAX; step += STRIDE) {
        start(d, false);
        killed = run_killed_at(d, step, false);
        for (long again = 1; fixture_has(d, ".agents/.mapm/journal"); again++) {
            fault_arm(FAULT_ONCE, again, EIO);
            if (open_only(d)) /* only a complete recovery succeeds */
                CHECK(!fixture_has(d, ".agents/.mapm/journal"));
            fault_arm(FAULT_NONE, 0, 0);
        }
        CHECK(open_only(d));
        CHECK(is_either(fixture_snapshot(d, false), old, new));
        FIXTURE_OK(d, 0);
        CHECK_STR(fixture_snapshot(d, false), new);
        fixture_done(d);
    }
}

/* A power cut after the end restores the journal; later changes stay, and
 * nothing is undone. */
TEST(a_journal_that_comes_back_undoes_nothing)
{
    struct fixture *d = &fixture;
    const char *old, *new;
    bool killed = true;
    int tried = 0;

    find_outcomes(&old, &new, false);
    for (long step = 1; killed && step < STEPS_MAX; step++) {
        start(d, false);
        killed = run_killed_at(d, step, false);
        if (killed && fixture_has(d, ".agents/.mapm/journal") &&
            strcmp(fixture_snapshot(d, false), new) == 0) {
            const char *record = fixture_content(d, ".agents/.mapm/state");

            fixture_write(d, "mapm.yaml", "the user's, later\n");
            CHECK(open_only(d));
            CHECK(!fixture_has(d, ".agents/.mapm/journal"));
            CHECK_STR(fixture_content(d, "mapm.yaml"), "the user's, later\n");
            CHECK_STR(fixture_content(d, ".agents/.mapm/state"), record);
            wish_new(d);
            FIXTURE_OK(d, 0);
            CHECK_STR(fixture_snapshot(d, false), new);
            tried++;
        }
        fixture_done(d);
    }
    CHECK(tried > 0);
}

/* [row 27, row 16] Files that the user writes before the recovery are not
 * lost. */
TEST(an_edit_between_kill_and_repair_survives)
{
    static const char *const paths[] = {
        ".agents/skills/writer/SKILL.md",
        "mapm.yaml",
        ".mcp.json",
        ".agents/skills/leaves/mine.txt",
        ".agents/skills/comes/SKILL.md",
    };
    struct fixture *d = &fixture;
    bool killed = true;

    for (long step = 1; killed && step < STEPS_MAX; step += STRIDE) {
        bool swapping = true;

        for (size_t i = 0; swapping && i < sizeof paths / sizeof *paths; i++) {
            start(d, false);
            killed = run_killed_at(d, step, false);
            swapping = fixture_has(d, ".agents/.mapm/journal");
            if (swapping) {
                fixture_write(d, paths[i], PRECIOUS);
                CHECK(open_only(d));
                CHECK(strstr(fixture_snapshot(d, true), hash_text(PRECIOUS)));
                CHECK(!fixture_has(d, ".agents/.mapm/journal"));
            }
            fixture_done(d);
        }
    }
}

static void fail_everywhere(enum fault_mode mode, int error, bool fresh)
{
    struct fixture *d = &fixture;
    const char *old, *new, *now;
    bool failed = true;
    long step;

    find_outcomes(&old, &new, fresh);
    for (step = 1; failed && step < STEPS_MAX; step += STEP) {
        start(d, fresh);
        fault_arm(mode, step, error);
        failed = !update(d);
        failed |= fault_count >= step;
        fault_arm(FAULT_NONE, 0, 0);
        now = fixture_snapshot(d, false);
        if (d->err.code != ERR_NONE &&
            !fixture_has(d, ".agents/.mapm/journal")) {
            CHECK(d->err.code == ERR_IO || d->err.code == ERR_INTERRUPTED ||
                  d->err.code == ERR_NOT_FOUND || d->err.code == ERR_REFUSED ||
                  (mode == FAULT_READ && d->err.code == ERR_EDITED));
            CHECK_STR(now, old);
            CHECK(!fixture_has(d, ".agents/.mapm/backup") ||
                  mode == FAULT_ONCE);
            if (fresh)
                CHECK(!fixture_has(d, ".agents/.mapm") || mode == FAULT_ONCE);
        }
        CHECK(open_only(d));
        CHECK(is_either(fixture_snapshot(d, false), old, new));
        check_edits(d);
        CHECK(update(d));
        CHECK_STR(fixture_snapshot(d, false), new);
        check_edits(d);
        fixture_done(d);
    }
    CHECK(!failed);
}

static const char *edit_path;
static bool edit_in_place; /* else another file takes its place */

static void edit(struct fixture *d)
{
    if (edit_in_place) {
        CLEANUP_FD int fd = openat(d->fd, edit_path, O_WRONLY | O_CLOEXEC);

        CHECK(fd >= 0 && write(fd, "X", 1) == 1);
    } else {
        fixture_write(d, edit_path, PRECIOUS);
    }
}

/* [F2, row 16] Edits between plan and swap are detected, and nothing changes;
 * also with --force, which is valid only for the edits in the plan. */
TEST(an_edit_between_plan_and_swap_refuses)
{
    static const struct {
        const char *path;
        bool is_new;
    } rows[] = {
        {".agents/skills/writer/SKILL.md", false},
        {".agents/skills/writer/a/b.txt", false},
        {"mapm.yaml", false},
        {"mapm.lock", false},
        {".mcp.json", false},
        {".agents/skills/leaves/SKILL.md", false},
        {".agents/skills/leaves/mine.txt", true},
        {".agents/skills/writer/mine.txt", true},
        {".agents/skills/comes/SKILL.md", true},
        {".gitignore", true},
    };
    struct fixture *d = &fixture;

    for (size_t i = 0; i < 4 * sizeof rows / sizeof *rows; i++) {
        bool in_place = i & 1, force = i & 2, ok;
        const char *before;

        if (in_place && rows[i / 4].is_new)
            continue;
        start(d, false);
        edit_path = rows[i / 4].path;
        edit_in_place = in_place;
        d->between = edit;
        ok = fixture_run(d, force ? FIXTURE_FORCE : 0);
        d->between = NULL;
        CHECK(!ok);
        if (ok)
            printf("# %s was edited, in place %d, force %d\n", edit_path,
                   in_place, force);
        CHECK(in_place ? fixture_content(d, edit_path)[0] == 'X'
                       : strcmp(fixture_content(d, edit_path), PRECIOUS) == 0);
        before = arena_str(&outcomes, str_cstr(fixture_snapshot(d, false))).p;
        fixture_done(d);
        /* the same edit of the old workspace: all other files are unchanged */
        start(d, false);
        edit(d);
        CHECK_STR(before, fixture_snapshot(d, false));
        fixture_done(d);
    }
}

/* [row 27] A refused command leaves each byte of the workspace unchanged. */
TEST(disk_full_at_any_step)
{
    fail_everywhere(FAULT_FULL, ENOSPC, false);
    fail_everywhere(FAULT_FULL, ENOSPC, true);
}

TEST(an_input_output_error_at_any_step)
{
    fail_everywhere(FAULT_ONCE, EIO, false);
    fail_everywhere(FAULT_ONCE, EIO, true);
}

/* [F2] It does not overwrite a file that it could not read. */
TEST(an_error_of_reading_at_any_step)
{
    fail_everywhere(FAULT_READ, EIO, false);
    fail_everywhere(FAULT_READ, EIO, true);
}

/* Returns false on error; `count` is the number of results. */
static bool verify(struct fixture *d, size_t *count)
{
    struct provision *p = NULL;
    struct provision_difference *found;
    bool ok;

    err_clear(&d->err);
    ok = provision_open(str_cstr(d->path), &client_scope_workspace, true, NULL,
                        NULL, &d->recovered, &p, &d->err) &&
         provision_verify(p, &d->options, d->items, d->item_count, &d->arena,
                          &found, count, &d->err);
    CHECK(ok == (d->err.code == ERR_NONE));
    provision_close(p);
    return ok;
}

/* [F2] verify reports no file as unchanged that it could not read. */
TEST(verify_of_what_cannot_be_read)
{
    static const char *const paths[] = {
        ".agents/skills/writer/SKILL.md", ".agents/skills/writer/mine.txt",
        ".claude/agents/reviewer.md",     ".mcp.json",
        ".claude/skills/comes",
    };
    struct fixture *d = &fixture;
    size_t count = 0;

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        bool reached = true;

        start(d, true);
        CHECK(update(d));
        CHECK(verify(d, &count) && count == 0);
        fixture_write(d, paths[i], "{}");
        for (long step = 1; reached && step < STEPS_MAX; step++) {
            fault_arm(FAULT_READ, step, EIO);
            CHECK(!verify(d, &count) || count > 0);
            reached = fault_count >= step;
            fault_arm(FAULT_NONE, 0, 0);
        }
        CHECK(!reached && d->err.code == ERR_NONE);
        fixture_done(d);
    }
}

/* [F2, row 16] An edit that --force replaces is backed up, even if a call
 * fails. */
TEST(an_edit_is_kept_at_any_step)
{
    is_edited = true;
    kill_everywhere(false);
    fail_everywhere(FAULT_ONCE, EIO, false);
    fail_everywhere(FAULT_FULL, ENOSPC, false);
    fail_everywhere(FAULT_READ, EIO, false);
    is_edited = false;
}

/* [H8, row 27] Folders of an image cannot be renamed: their content is moved,
 * under the journal. */
TEST(in_the_lower_layer_of_an_overlay)
{
    is_layered = true;
    kill_everywhere(false);
    fail_everywhere(FAULT_ONCE, EIO, false);
    fail_everywhere(FAULT_FULL, ENOSPC, false);
    is_layered = false;
}

/* File systems without RENAME_EXCHANGE: two renames, from which mapm recovers
 * as well. */
TEST(without_exchange)
{
    fault_lacks_flags = true;
    kill_everywhere(false);
    fail_everywhere(FAULT_ONCE, EIO, false);
    fault_lacks_flags = false;
}

__attribute__((destructor)) static void forget_outcomes(void)
{
    arena_done(&outcomes);
}
