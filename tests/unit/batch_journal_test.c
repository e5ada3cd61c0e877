#include "base/fs.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../batch/input.h"
#include "../../batch/journal.h"
#include "tap.h"

/* [S6] the journal of a batch as a file: what is cut off, what is damage, and
 * what several workers write at once. */

struct rig {
    char top[64], file[128];
    struct arena arena;
    struct batch_journal journal;
    struct err err;
    size_t counts[4]; /* of each kind of record */
};

static void rig_init(struct rig *r)
{
    *r = (struct rig){.journal = {.fd = -1}};
    snprintf(r->top, sizeof r->top, "/tmp/mapm-batch-test-XXXXXX");
    if (!mkdtemp(r->top)) {
        printf("Bail out! %s\n", r->top);
        exit(1);
    }
    snprintf(r->file, sizeof r->file, "%s/j/1-of-3.journal", r->top);
}

static void rig_done(struct rig *r)
{
    batch_journal_close(&r->journal);
    arena_done(&r->arena);
    CHECK(fs_remove_tree_at(AT_FDCWD, r->top, &r->err));
}

static bool open_as(struct rig *r, const char *digest, unsigned shards)
{
    const struct batch_journal_head head = {
        .metaskill = STR("triage"),
        .digest = str_cstr(digest),
        .shard = 1,
        .shards = shards,
    };
    char dir[80];

    snprintf(dir, sizeof dir, "%s/j", r->top);
    batch_journal_close(&r->journal);
    r->err = (struct err){0};
    return batch_journal_open(dir, &head, &r->arena, &r->journal, &r->err);
}

static bool open_again(struct rig *r)
{
    return open_as(r, "sha256:1", 3);
}

static bool take(void *ctx, uint64_t at, const struct batch_journal_record *rec,
                 struct err *e)
{
    struct rig *r = ctx;

    (void)at, (void)e;
    r->counts[rec->kind]++;
    return true;
}

static bool read_all(struct rig *r)
{
    const struct batch_journal_each each = {take, r};
    uint64_t at = batch_journal_first(&r->journal);

    memset(r->counts, 0, sizeof r->counts);
    r->err = (struct err){0};
    return batch_journal_read(&r->journal, &at, batch_journal_size(&r->journal),
                              &each, &r->err);
}

static bool append(struct rig *r, enum batch_journal_kind kind, size_t bytes)
{
    CLEANUP_HEAP char *text = heap_alloc(bytes + 16);
    struct batch_journal_record rec = {.kind = kind, .key = hash_of(STR("a"))};

    snprintf(text, bytes + 16, "{\"a\":\"");
    memset(text + 6, 'x', bytes);
    memcpy(text + 6 + bytes, "\"}", 3);
    rec.text = str_cstr(text);
    return batch_journal_append(&r->journal, &rec, &r->err);
}

static void put_end(const struct rig *r, const char *bytes, size_t n)
{
    int fd = fs_openat(AT_FDCWD, r->file, O_WRONLY | O_APPEND, 0);

    CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    close(fd);
}

static off_t size_of(const struct rig *r)
{
    struct stat st = {0};

    CHECK(stat(r->file, &st) == 0);
    return st.st_size;
}

TEST(what_was_appended_is_there_again)
{
    struct rig r;

    rig_init(&r);
    CHECK(open_again(&r));
    CHECK(append(&r, JOURNAL_START, 0) && append(&r, JOURNAL_BEGIN, 0));
    CHECK(append(&r, JOURNAL_DID, 2000000) && append(&r, JOURNAL_END, 10));
    CHECK(open_again(&r) && read_all(&r));
    for (size_t i = 0; i < 4; i++)
        CHECK(r.counts[i] == 1);
    rig_done(&r);
}

TEST(a_record_that_was_cut_off_is_removed_at_each_byte)
{
    struct rig r;
    off_t before, after;

    rig_init(&r);
    CHECK(open_again(&r) && append(&r, JOURNAL_START, 0));
    before = size_of(&r);
    CHECK(append(&r, JOURNAL_DID, 40));
    after = size_of(&r);
    for (off_t n = after - 1; n > before; n--) {
        batch_journal_close(&r.journal);
        CHECK(truncate(r.file, n) == 0);
        CHECK(open_again(&r) && read_all(&r));
        CHECK(size_of(&r) == before && r.counts[JOURNAL_DID] == 0);
        CHECK(append(&r, JOURNAL_DID, 40) && size_of(&r) == after);
    }
    put_end(&r, "\0\0\0\0\0\0\0\0", 8);
    CHECK(open_again(&r) && read_all(&r) && size_of(&r) == after);
    rig_done(&r);
}

TEST(a_head_that_was_cut_off_begins_anew)
{
    struct rig r;

    rig_init(&r);
    CHECK(open_again(&r));
    for (off_t n = size_of(&r) - 1; n >= 0; n--) {
        batch_journal_close(&r.journal);
        CHECK(truncate(r.file, n) == 0);
        CHECK(open_again(&r) && read_all(&r));
    }
    rig_done(&r);
}

/* Nothing behind it would be found, and commands would be run again. */
TEST(damage_in_the_middle_is_no_end)
{
    struct rig r;
    off_t from, to;

    rig_init(&r);
    CHECK(open_again(&r));
    from = size_of(&r);
    CHECK(append(&r, JOURNAL_BEGIN, 0));
    to = size_of(&r);
    CHECK(append(&r, JOURNAL_END, 0));
    for (off_t at = from; at < to; at++) {
        char c, other;

        CHECK(pread(r.journal.fd, &c, 1, at) == 1);
        other = (char)(c ^ 1);
        CHECK(pwrite(r.journal.fd, &other, 1, at) == 1);
        CHECK(!read_all(&r) && r.err.code == ERR_DAMAGED);
        CHECK(pwrite(r.journal.fd, &c, 1, at) == 1);
    }
    CHECK(read_all(&r));
    put_end(&r, "\n", 1);
    CHECK(open_again(&r) && !read_all(&r) && r.err.code == ERR_DAMAGED);
    rig_done(&r);
}

TEST(another_package_or_number_of_shards_is_refused)
{
    struct rig r;

    rig_init(&r);
    CHECK(open_again(&r) && append(&r, JOURNAL_START, 0));
    CHECK(!open_as(&r, "sha256:2", 3) && r.err.code == ERR_REFUSED);
    CHECK(!open_as(&r, "sha256:1", 4) && r.err.code == ERR_REFUSED);
    CHECK(open_again(&r) && read_all(&r) && r.counts[JOURNAL_START] == 1);
    rig_done(&r);
}

TEST(a_link_or_a_pipe_in_its_place_is_refused)
{
    struct rig r;

    rig_init(&r);
    CHECK(open_again(&r));
    batch_journal_close(&r.journal);
    CHECK(unlink(r.file) == 0 && symlink("/etc/passwd", r.file) == 0);
    CHECK(!open_again(&r));
    CHECK(unlink(r.file) == 0 && mkfifo(r.file, 0600) == 0);
    CHECK(!open_again(&r) && r.err.code == ERR_REFUSED);
    rig_done(&r);
}

static void write_many(struct rig *r, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!append(r, JOURNAL_DID, i * 37 % 5000))
            _exit(1);
    _exit(0);
}

TEST(records_of_several_workers_stay_whole)
{
    struct rig r;
    pid_t pids[4];
    int status;

    rig_init(&r);
    CHECK(open_again(&r));
    for (size_t i = 0; i < 4; i++)
        if ((pids[i] = fork()) == 0)
            write_many(&r, 200);
    for (size_t i = 0; i < 4; i++)
        CHECK(waitpid(pids[i], &status, 0) == pids[i] && status == 0);
    CHECK(read_all(&r) && r.counts[JOURNAL_DID] == 800);
    rig_done(&r);
}

/* Killed at any point, also while it holds the lock or has written half. */
TEST(a_worker_that_is_killed_leaves_whole_records)
{
    struct rig r;

    rig_init(&r);
    CHECK(open_again(&r));
    for (unsigned i = 0; i < 20; i++) {
        uint64_t before = batch_journal_size(&r.journal);
        pid_t pid = fork();

        if (pid == 0)
            write_many(&r, UINT32_MAX);
        AWAIT(batch_journal_size(&r.journal) > before + i * 1000);
        CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
        CHECK(append(&r, JOURNAL_END, 0) && read_all(&r));
        CHECK(r.counts[JOURNAL_END] == i + 1);
    }
    rig_done(&r);
}

/* --- the input -------------------------------------------------------------- */

static bool read_input(struct rig *r, const char *text, struct batch_input *in)
{
    char path[96];

    snprintf(path, sizeof path, "%s/q.jsonl", r->top);
    r->err = (struct err){0};
    CHECK(fs_replace_at(AT_FDCWD, path, 0644, str_cstr(text), &r->err));
    return batch_input_open(arena_text(&r->arena, path, strlen(path)), in,
                            &r->err);
}

TEST(lines_are_found_by_their_ids)
{
    struct rig r;
    struct batch_input in;
    struct batch_item item;
    struct hash key = hash_of(STR("4")), none = hash_of(STR("5"));

    rig_init(&r);
    CHECK(read_input(&r,
                     "{\"id\":\"a\",\"input\":{ \"x\": 1 }}\r\n"
                     "\n  \n"
                     "{\"input\":{\"x\":4}}",
                     &in));
    CHECK_STR(err_first(&r.err), "");
    CHECK(in.count == 2 && in.lines[1].number == 4);
    CHECK(batch_input_find(&in, &key) == &in.lines[1]);
    CHECK(!batch_input_find(&in, &none));
    CHECK(batch_input_read(&in, &in.lines[0], &r.arena, &item, &r.err));
    CHECK(str_is(item.id, "a") && str_is(item.input, "{\"x\":1}"));
    in.lines[0].input = none;
    CHECK(!batch_input_read(&in, &in.lines[0], &r.arena, &item, &r.err));
    CHECK(r.err.code == ERR_EDITED);
    batch_input_close(&in);
    rig_done(&r);
}

TEST(what_is_no_input_is_refused_with_its_line)
{
    static const char *const bad[] = {
        "",
        "[]",
        "{\"id\":\"a\"}",
        "{\"id\":\"a\",\"input\":[]}",
        "{\"id\":\"\",\"input\":{}}",
        "{\"id\":null,\"input\":{}}",
        "{\"id\":\"a\\u0000\",\"input\":{}}",
        "{\"id\":\"a\",\"input\":{},\"more\":1}",
        "{\"id\":\"a\",\"input\":{}} x",
        "{\"id\":\"a\",\"input\":{}}\n{\"id\":\"a\",\"input\":{\"x\":1}}",
        "{\"id\":\"2\",\"input\":{}}\n{\"input\":{}}",
        "{\"id\":1,\"input\":{\"a\":1,\"a\":2}}",
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct rig r;
        struct batch_input in;

        rig_init(&r);
        CHECK(!read_input(&r, bad[i], &in));
        CHECK(r.err.code == ERR_REFUSED);
        batch_input_close(&in);
        rig_done(&r);
    }
}

TEST(a_shard_does_not_depend_on_other_lines)
{
    struct hash key = hash_of(STR("pr-17"));
    size_t counts[8] = {0};
    char id[16];

    /* SHA-256, as other machines count. */
    CHECK(batch_shard_of(&key, 1) == 0);
    CHECK(batch_shard_of(&key, 8) == 6 && batch_shard_of(&key, 5) == 3);
    for (int i = 0; i < 8000; i++) {
        snprintf(id, sizeof id, "id-%d", i);
        key = hash_of(str_cstr(id));
        counts[batch_shard_of(&key, 8)]++;
    }
    for (size_t i = 0; i < 8; i++)
        CHECK(counts[i] > 800 && counts[i] < 1200);
}
