#include "base/fs.h"
#include "mapm/patched.h"
#include "mapm/state.h"
#include "mapm/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../store/download.h"
#include "tap.h"

/* errno that read() fails with while it is not zero, as on a broken disk. */
static int read_errno;
static bool read_ends; /* The file is truncated after it was opened. */

ssize_t read(int fd, void *p, size_t n)
{
    if (read_ends)
        return 0;
    errno = read_errno;
    return read_errno ? -1 : syscall(SYS_read, fd, p, n);
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
    errno = read_errno;
    return read_errno ? -1 : syscall(SYS_pread64, fd, p, n, at);
}

/* A separate home folder for each test, below the temporary folder. */
struct rig {
    char home[64];
    struct store *store;
    struct arena arena;
    struct err err;
};

static void rig_init(struct rig *r)
{
    *r = (struct rig){0};
    snprintf(r->home, sizeof r->home, "/tmp/mapm-store-test-XXXXXX");
    if (!mkdtemp(r->home) ||
        !store_open(str_cstr(r->home), &r->store, &r->err)) {
        printf("Bail out! %s: %s\n", r->home, err_first(&r->err));
        exit(1);
    }
}

static void rig_done(struct rig *r)
{
    struct err e = {0};

    store_close(r->store);
    arena_done(&r->arena);
    CHECK(fs_remove_tree_at(AT_FDCWD, r->home, &e));
}

static void object_file(const struct rig *r, const struct hash *h, char *out,
                        size_t size)
{
    char hex[HASH_HEX_CHARS + 1];

    hash_format(h, hex);
    snprintf(out, size, "%s/store/objects/%.2s/%s", r->home, hex, hex + 2);
}

static void spoil(const struct rig *r, const struct hash *h)
{
    char path[256];
    int fd;

    object_file(r, h, path, sizeof path);
    CHECK(chmod(path, 0644) == 0);
    fd = open(path, O_WRONLY);
    CHECK(fd >= 0 && pwrite(fd, "X", 1, 0) == 1);
    close(fd);
}

TEST(objects_are_written_once_and_read_only)
{
    struct rig r;
    struct hash h, again;
    struct str out;
    struct stat st;
    char path[256];

    rig_init(&r);
    CHECK(store_put(r.store, STR("hello"), &h, &r.err));
    CHECK(store_put(r.store, STR("hello"), &again, &r.err));
    CHECK(hash_eq(&h, &again));
    CHECK(store_has(r.store, &h));
    CHECK(store_read(r.store, &h, 100, &r.arena, &out, &r.err));
    CHECK(str_is(out, "hello"));
    object_file(&r, &h, path, sizeof path);
    CHECK(stat(path, &st) == 0 && (st.st_mode & 07777) == 0444);
    CHECK(!store_read(r.store, &h, 4, &r.arena, &out, &r.err));
    CHECK(r.err.code == ERR_LIMIT);
    rig_done(&r);
}

/* [row 26] Objects are hashed on every read and every provision. */
TEST(damaged_objects_are_set_aside_and_can_come_back)
{
    struct rig r;
    struct hash h;
    struct str out;
    struct store_stats stats;

    rig_init(&r);
    CHECK(store_put(r.store, STR("precious"), &h, &r.err));
    spoil(&r, &h);
    CHECK(!store_read(r.store, &h, 100, &r.arena, &out, &r.err));
    CHECK(r.err.code == ERR_DAMAGED);
    CHECK(!store_has(r.store, &h));
    CHECK(store_put(r.store, STR("precious"), &h, &r.err));
    spoil(&r, &h);
    CHECK(!store_place(r.store, &h, STORE_LINK_AUTO, AT_FDCWD, "never-written",
                       0644, NULL, &r.err));
    CHECK(r.err.code == ERR_DAMAGED);
    CHECK(access("never-written", F_OK) < 0);
    CHECK(store_stats(r.store, &stats, &r.err));
    CHECK(stats.damaged == 2 && stats.objects == 0);
    CHECK(stats.damaged_bytes == 16);
    CHECK(store_damaged(r.store) == 2);
    rig_done(&r);
}

/* [F2, row 26] In every link mode: a hard link is hashed before it is made. */
TEST(damaged_objects_are_placed_in_no_mode)
{
    static const enum store_link modes[] = {STORE_LINK_AUTO, STORE_LINK_COPY,
                                            STORE_LINK_HARDLINK};

    for (size_t i = 0; i < 6; i++) {
        CLEANUP_FD int fd = -1;
        struct rig r;
        struct hash h;

        rig_init(&r);
        CHECK(store_put(r.store, STR("precious"), &h, &r.err));
        spoil(&r, &h);
        CHECK(fs_open_dir(r.home, &fd, &r.err));
        CHECK(!store_place(r.store, &h, modes[i % 3], fd, "placed",
                           i < 3 ? 0644 : 0755, NULL, &r.err));
        CHECK(r.err.code == ERR_DAMAGED && !store_has(r.store, &h));
        CHECK(faccessat(fd, "placed", F_OK, AT_SYMLINK_NOFOLLOW) < 0);
        rig_done(&r);
    }
}

static void count_bad(void *ctx, const char *hex)
{
    ++*(int *)ctx;
    CHECK(strlen(hex) == HASH_HEX_CHARS);
}

/* [F2, row 26] EIO is not taken for the end of a file: nothing is hashed,
 * placed or added. */
TEST(a_disk_that_cannot_be_read)
{
    static const enum store_link modes[] = {STORE_LINK_AUTO, STORE_LINK_COPY,
                                            STORE_LINK_HARDLINK};
    struct hash empty = hash_of(STR("")), text = hash_of(STR("text"));
    struct hash h, hashes[] = {{{0}}, empty};
    CLEANUP_FD int fd = -1;
    struct store_session s;
    struct store_stats stats;
    struct rig r;
    struct str out;
    int bad = 0;

    rig_init(&r);
    CHECK(store_put(r.store, STR("precious"), &h, &r.err));
    CHECK(store_put(r.store, STR(""), &hashes[0], &r.err));
    CHECK(fs_open_dir(r.home, &fd, &r.err));
    CHECK(store_session_begin(r.store, &s, &r.err));
    CHECK(fs_create_at(s.dirfd, "part-0", 0600, STR("text"), &r.err));
    hashes[0] = h;
    read_errno = EIO;
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < 6; k++) {
            CHECK(!store_place(r.store, &hashes[i], modes[k % 3], fd, "placed",
                               k < 3 ? 0644 : 0755, NULL, &r.err));
            CHECK(r.err.code == ERR_IO);
            CHECK(faccessat(fd, "placed", F_OK, AT_SYMLINK_NOFOLLOW) < 0);
        }
        CHECK(!store_read(r.store, &hashes[i], 100, &r.arena, &out, &r.err));
        CHECK(r.err.code == ERR_IO && store_has(r.store, &hashes[i]));
    }
    CHECK(!store_adopt(r.store, &s, 0, 4, &text, &r.err));
    CHECK(r.err.code == ERR_IO && !store_has(r.store, &text));
    CHECK(store_verify(r.store, count_bad, &bad, &stats, &r.err));
    CHECK(bad == 2 && stats.damaged == 2);
    read_errno = 0;
    CHECK(!store_has(r.store, &h) && !store_has(r.store, &empty));
    store_session_end(r.store, &s);
    rig_done(&r);
}

/* [row 26] Another process truncates objects while the store reads them. */
TEST(an_object_that_is_cut_while_it_is_read_is_damaged)
{
    struct rig r;
    struct hash h;
    struct str out;

    rig_init(&r);
    CHECK(store_put(r.store, STR("precious"), &h, &r.err));
    read_ends = true;
    CHECK(!store_read(r.store, &h, 100, &r.arena, &out, &r.err));
    read_ends = false;
    CHECK(r.err.code == ERR_DAMAGED);
    rig_done(&r);
}

TEST(what_cannot_be_set_aside_is_removed)
{
    struct rig r;
    struct hash h;
    struct str out;
    char path[256];

    rig_init(&r);
    snprintf(path, sizeof path, "%s/store/damaged", r.home);
    CHECK(fs_create_at(AT_FDCWD, path, 0600, STR("no folder"), &r.err));
    CHECK(store_put(r.store, STR("precious"), &h, &r.err));
    spoil(&r, &h);
    CHECK(!store_read(r.store, &h, 100, &r.arena, &out, &r.err));
    CHECK(r.err.code == ERR_DAMAGED);
    object_file(&r, &h, path, sizeof path);
    CHECK(access(path, F_OK) < 0);
    CHECK(unlink(arena_printf(&r.arena, "%s/store/damaged", r.home).p) == 0);
    rig_done(&r);
}

/* [row 26] Links, FIFOs and folders in place of an object. */
TEST(what_is_no_regular_file_is_no_object)
{
    struct rig r;
    struct hash h;
    struct str out;
    char path[256];

    rig_init(&r);
    CHECK(store_put(r.store, STR("x"), &h, &r.err));
    object_file(&r, &h, path, sizeof path);
    CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0);
    CHECK(!store_has(r.store, &h));
    CHECK(!store_read(r.store, &h, 9, &r.arena, &out, &r.err));
    CHECK(store_put(r.store, STR("x"), &h, &r.err));
    CHECK(unlink(path) == 0 && symlink("/etc/passwd", path) == 0);
    CHECK(!store_read(r.store, &h, 9, &r.arena, &out, &r.err));
    CHECK(store_put(r.store, STR("x"), &h, &r.err));
    CHECK(store_read(r.store, &h, 9, &r.arena, &out, &r.err));
    CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0);
    CHECK(store_put(r.store, STR("x"), &h, &r.err));
    CHECK(store_read(r.store, &h, 9, &r.arena, &out, &r.err));
    rig_done(&r);
}

TEST(every_link_mode_places_the_same_bytes)
{
    static const enum store_link modes[] = {STORE_LINK_AUTO, STORE_LINK_COPY,
                                            STORE_LINK_HARDLINK};
    char big[200000];
    struct rig r;
    struct hash h;

    rig_init(&r);
    memset(big, 'b', sizeof big);
    CHECK(store_put(r.store, str_make(big, sizeof big), &h, &r.err));
    for (size_t i = 0; i < 6; i++) {
        CLEANUP_FD int fd = -1;
        mode_t mode = i < 3 ? 0644 : 0755;
        struct stat st, told;
        struct str out;

        CHECK(fs_open_dir(r.home, &fd, &r.err));
        CHECK(store_place(r.store, &h, modes[i % 3], fd, "placed", mode, &told,
                          &r.err));
        CHECK(fs_read_file_at(fd, "placed", 1000000, &r.arena, &out, &r.err));
        CHECK(str_eq(out, str_make(big, sizeof big)));
        CHECK(fs_stat_at(fd, "placed", &st));
        /* A hard link has the mode of the object; an executable file is a
         * copy. */
        CHECK((st.st_mode & 07777) == (i == 2 ? 0444u : mode));
        CHECK(told.st_mode == st.st_mode && told.st_ino == st.st_ino &&
              told.st_size == st.st_size);
        CHECK(unlinkat(fd, "placed", 0) == 0);
    }
    rig_done(&r);
}

TEST(a_session_takes_in_only_what_fits_its_hash)
{
    struct rig r;
    struct store_session s;
    struct hash good = hash_of(STR("good")), evil = hash_of(STR("evil"));
    struct hash empty = hash_of(STR(""));

    rig_init(&r);
    CHECK(store_session_begin(r.store, &s, &r.err));
    CHECK(fs_create_at(s.dirfd, "part-0", 0600, STR("..good"), &r.err));
    CHECK(symlinkat("/etc/passwd", s.dirfd, "part-1") == 0);
    CHECK(!store_adopt(r.store, &s, 2, 4, &evil, &r.err));
    CHECK(r.err.code == ERR_DAMAGED && !store_has(r.store, &evil));
    CHECK(!store_adopt(r.store, &s, 3, 4, &good, &r.err));
    CHECK(r.err.code == ERR_DAMAGED);
    CHECK(!store_adopt(r.store, &s, PART_MAX_BYTES, 4, &evil, &r.err));
    CHECK(!store_adopt(r.store, &s, 2 * PART_MAX_BYTES, 4, &evil, &r.err));
    CHECK(store_adopt(r.store, &s, 2, 4, &good, &r.err));
    CHECK(store_adopt(r.store, &s, 0, 0, &empty, &r.err));
    CHECK(store_has(r.store, &good) && store_has(r.store, &empty));
    CHECK(access(s.path.p, F_OK) == 0);
    store_session_end(r.store, &s);
    CHECK(access(s.path.p, F_OK) < 0);
    rig_done(&r);
}

/* The framing of DESIGN 3.2: two trees never collide. */
static struct store *open_again(struct rig *r)
{
    struct store *store = NULL;

    CHECK(store_open(str_cstr(r->home), &store, &r->err));
    return store;
}

/* THREATS 1.3, [row 28]: only the process that staged an object sees it. */
TEST(what_is_held_is_kept_or_forgotten)
{
    static const struct {
        const char *name;
        bool keep;
    } rows[] = {{"kept", true}, {"forgotten", false}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig r;
        struct store *other;
        struct store_session session;
        struct state_ref ref = {STR("main"), STR("c1"), STR("p")}, got;
        const struct state_proof proof = {STR("o/r"), STR("c1"), STR("p"),
                                          STR("0b"), hash_of(STR("d"))};
        struct store_stats stats;
        struct hash put, adopted, found;
        struct str out;
        uint64_t size;

        rig_init(&r);
        other = open_again(&r);
        store_begin_staging(r.store);
        CHECK(store_put(r.store, STR("put"), &put, &r.err));
        adopted = hash_of(STR("adopted"));
        CHECK(store_session_begin(r.store, &session, &r.err));
        CHECK(fs_create_at(session.dirfd, "part-0", 0600, STR("adopted"),
                           &r.err));
        CHECK(store_adopt(r.store, &session, 0, 7, &adopted, &r.err));
        store_session_end(r.store, &session);
        CHECK(store_put_blob(r.store, STR("b1"), &put, 3, &r.err));
        CHECK(store_put_ref(r.store, STR("o/r"), STR("main"), &ref, &r.err));
        CHECK(store_put_trees(r.store, STR("o/r"), STR("c1"), STR("trees"),
                              &r.err));
        CHECK(store_put_reachable(r.store, STR("o/r"), STR("c1"), &r.err));
        CHECK(store_put_proof(r.store, &proof, &r.err));

        /* visible to this process only */
        CHECK(store_has(r.store, &put) && store_has(r.store, &adopted));
        CHECK(store_read(r.store, &adopted, 100, &r.arena, &out, &r.err));
        CHECK(str_is(out, "adopted"));
        CHECK(store_find_blob(r.store, STR("b1"), &found, &size));
        CHECK(!store_find_blob(r.store, STR("b2"), &found, &size));
        CHECK(!store_has(other, &put) && !store_has(other, &adopted));

        if (rows[i].keep) {
            CHECK(store_publish(r.store, &r.err));
            CHECK(store_publish_notes(r.store, &r.err));
        }
        store_close(r.store);
        r.store = open_again(&r);
        CHECK(store_has(r.store, &put) == rows[i].keep);
        CHECK(store_has(other, &adopted) == rows[i].keep);
        CHECK(store_find_blob(other, STR("b1"), &found, &size) == rows[i].keep);
        CHECK(state_find_ref(store_state(other), STR("o/r"), STR("main"),
                             &r.arena, &got) == rows[i].keep);
        CHECK(store_find_trees(other, STR("o/r"), STR("c1"), &r.arena, &out) ==
              rows[i].keep);
        CHECK(state_is_reachable(store_state(other), STR("o/r"), STR("c1")) ==
              rows[i].keep);
        CHECK(state_has_proof(store_state(other), &proof) == rows[i].keep);
        CHECK(store_stats(r.store, &stats, &r.err));
        CHECK(stats.incoming == 0 && stats.objects == (rows[i].keep ? 3 : 0));
        store_close(other);
        rig_done(&r);
    }
}

TEST(a_damaged_held_object_is_gone)
{
    struct rig r;
    struct store_session session;
    static char large[PACK_OBJECT_MAX_BYTES];
    struct str content = str_make(large, sizeof large);
    char name[HASH_HEX_CHARS + 1];
    struct hash h = hash_of(content);
    struct str out;
    int fd;

    rig_init(&r);
    store_begin_staging(r.store);
    CHECK(store_session_begin(r.store, &session, &r.err));
    hash_format(&h, name);
    CHECK(fs_create_at(session.dirfd, name, 0600, content, &r.err));
    /* the writer still has it open */
    fd = openat(session.dirfd, name, O_WRONLY);
    CHECK(store_adopt(r.store, &session, 0, content.n, &h, &r.err));
    CHECK(fd >= 0 && pwrite(fd, "BAD", 3, 0) == 3);
    close(fd);
    store_session_end(r.store, &session);
    CHECK(!store_read(r.store, &h, content.n, &r.arena, &out, &r.err));
    CHECK(r.err.code == ERR_DAMAGED);
    CHECK(!store_has(r.store, &h));
    rig_done(&r);
}

TEST(listings_are_framed_sorted_and_strict)
{
    static const char *const bad[] = {
        "",
        "100644 abc x\n",
        "100644 "
        "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 x",
        "120000 "
        "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 x\n",
        "100644 "
        "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 "
        "../x\n",
        "100644 "
        "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 /x\n",
        "100644 "
        "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 b\n"
        "100644 "
        "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 a\n",
        "100644 "
        "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 a\n"
        "100644 "
        "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 a\n",
    };
    struct arena a = {0};
    struct err e = {0};
    struct package_file files[] = {
        {true, hash_of(STR("2")), STR("scripts/run")},
        {false, hash_of(STR("1")), STR("SKILL.md")},
    };
    char path[PACKAGE_PATH_MAX_BYTES + 2];
    struct package_file *back;
    size_t count;
    struct str text;
    struct hash digest = store_listing_format(files, 2, &a, &text), again;

    CHECK(str_starts(text, STR("100644 6b86b273ff34fce19d6b804eff5a3f5747ada4"
                               "eaa22f1d49c01e52ddb7875b4b SKILL.md\n")));
    again = hash_of(text);
    CHECK(hash_eq(&digest, &again));
    CHECK(store_listing_parse(text, &a, &back, &count, &e) && count == 2);
    CHECK(back[1].executable && str_is(back[1].path, "scripts/run"));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!store_listing_parse(str_cstr(bad[i]), &a, &back, &count, &e));

    /* [F2] the longest path, and one more */
    for (size_t i = 0; i < sizeof path - 1; i++)
        path[i] = i % 200 == 199 ? '/' : 'a';
    for (size_t n = PACKAGE_PATH_MAX_BYTES; n < sizeof path; n++) {
        files[0].path = str_make(path, n);
        store_listing_format(files, 1, &a, &text);
        CHECK(store_listing_parse(text, &a, &back, &count, &e) ==
              (n == PACKAGE_PATH_MAX_BYTES));
    }
    arena_done(&a);
}

TEST(files_of_a_listing_are_counted_by_lines) /* [row 5] */
{
    enum { FILES = 2000 };
    struct arena a = {0};
    struct err e = {0};
    struct package_file *files = arena_array(&a, FILES, sizeof *files), *out;
    char *lines = arena_alloc(&a, PACKAGE_FILES_CEILING + 1);
    struct str text;
    size_t n = 0;

    for (size_t i = 0; i < FILES; i++)
        files[i].path = arena_printf(&a, "file-%04zu", i);
    store_listing_format(files, FILES, &a, &text);
    CHECK(text.n > PACKAGE_FILES_CEILING);
    CHECK(store_listing_parse(text, &a, &out, &n, &e) && n == FILES);
    memset(lines, '\n', PACKAGE_FILES_CEILING + 1);
    CHECK(!store_listing_parse(str_make(lines, PACKAGE_FILES_CEILING + 1), &a,
                               &out, &n, &e));
    CHECK(e.code == ERR_LIMIT);
    CHECK(!store_listing_parse(str_make(lines, PACKAGE_FILES_CEILING), &a, &out,
                               &n, &e));
    CHECK(e.code == ERR_FORMAT);
    arena_done(&a);
}

TEST(a_package_is_there_when_every_file_is)
{
    struct rig r;
    struct package_file files[2] = {{.path = STR("SKILL.md")},
                                    {.path = STR("x.sh")}};
    struct package_file *found;
    size_t count;
    struct hash digest;
    struct str text;

    rig_init(&r);
    CHECK(store_put(r.store, STR("one"), &files[0].hash, &r.err));
    files[1].hash = hash_of(STR("two"));
    store_listing_format(files, 2, &r.arena, &text);
    CHECK(store_put(r.store, text, &digest, &r.err));
    CHECK(!store_has_package(r.store, &digest));
    CHECK(!store_find_files(r.store, &digest, &r.arena, &found, &count));
    CHECK(store_put(r.store, STR("two"), &files[1].hash, &r.err));
    CHECK(store_has_package(r.store, &digest));
    CHECK(store_find_files(r.store, &digest, &r.arena, &found, &count));
    CHECK(count == 2 && str_is(found[1].path, "x.sh"));
    spoil(&r, &digest);
    CHECK(!store_find_files(r.store, &digest, &r.arena, &found, &count));
    rig_done(&r);
}

/* A process that reads during a whole install does not block writers, and
 * writes its own rows at the end. */
TEST(questions_of_an_install_lock_nobody_out)
{
    struct rig r;
    struct store *other;
    struct state_ref ref = {STR("main"), STR("c0ffee"), STR("skills/x")}, got;
    const struct state_proof proof = {STR("o/r"), STR("c0ffee"),
                                      STR("skills/x"), STR("0b"),
                                      hash_of(STR("d"))};

    rig_init(&r);
    other = open_again(&r);
    CHECK(store_put_ref(other, STR("o/r"), STR("one"), &ref, &r.err));
    CHECK(store_put_proof(other, &proof, &r.err));
    store_begin_staging(r.store);
    CHECK(state_find_ref(store_state(r.store), STR("o/r"), STR("one"), &r.arena,
                         &got));
    /* [F1] The first query of a proof, after other queries. */
    CHECK(state_has_proof(store_state(r.store), &proof));
    CHECK(store_put_ref(other, STR("o/r"), STR("two"), &ref, &r.err));
    CHECK(state_find_ref(store_state(r.store), STR("o/r"), STR("one"), &r.arena,
                         &got));
    CHECK(store_put_ref(r.store, STR("o/r"), STR("three"), &ref, &r.err));
    CHECK(store_publish(r.store, &r.err));
    CHECK(store_publish_notes(r.store, &r.err));
    CHECK(state_find_ref(store_state(r.store), STR("o/r"), STR("two"), &r.arena,
                         &got));
    CHECK(state_find_ref(store_state(other), STR("o/r"), STR("three"), &r.arena,
                         &got));
    /* [F2] From then on each query sees what other processes wrote. */
    CHECK(store_put_ref(other, STR("o/r"), STR("four"), &ref, &r.err));
    CHECK(state_find_ref(store_state(r.store), STR("o/r"), STR("four"),
                         &r.arena, &got));
    store_close(other);
    rig_done(&r);
}

/* [F1] A proof is found only if all its parts are equal. */
TEST(a_proof_is_of_all_its_parts)
{
    const struct state_proof good = {STR("github.com/o/r"), STR("c1"),
                                     STR("skills/a"), STR("0b"),
                                     hash_of(STR("d"))};
    struct state_proof wrong[6];
    struct rig r;

    rig_init(&r);
    CHECK(!state_has_proof(store_state(r.store), &good));
    CHECK(store_put_proof(r.store, &good, &r.err));
    CHECK(state_has_proof(store_state(r.store), &good));
    for (size_t i = 0; i < 6; i++)
        wrong[i] = good;
    wrong[0].repository = STR("github.com/o/fork");
    wrong[1].commit = STR("c2");
    wrong[2].path = STR("skills/A");
    wrong[3].path = STR("");
    wrong[4].object = STR("0c");
    wrong[5].digest = hash_of(STR("e"));
    for (size_t i = 0; i < 6; i++)
        CHECK(!state_has_proof(store_state(r.store), &wrong[i]));
    rig_done(&r);
}

/* Writes so many rows that closing merges the log into mapm.db and removes
 * it. */
static void put_many_proofs(struct store *s, struct err *e)
{
    CHECK(store_begin(s, e));
    for (int i = 0; i < 3000; i++) {
        char commit[16];
        struct state_proof p = {STR("h/o/r"), {0}, STR("p"), STR("o"), {{0}}};

        snprintf(commit, sizeof commit, "c%d", i);
        p.commit = str_cstr(commit);
        CHECK(store_put_proof(s, &p, e));
    }
    CHECK(store_commit(s, e));
}

static void wait_for_later(const char *path)
{
    struct timespec now;
    struct stat st;

    CHECK(stat(path, &st) == 0);
    do
        clock_gettime(CLOCK_REALTIME_COARSE, &now);
    while (
        now.tv_sec < st.st_mtim.tv_sec ||
        (now.tv_sec == st.st_mtim.tv_sec && now.tv_nsec <= st.st_mtim.tv_nsec));
}

/* [F12] A query without concurrent writers creates no log; a concurrent write
 * is detected. */
TEST(a_glance_writes_nothing_and_notices_others)
{
    struct state_proof good = {
        STR("h/o/r"), STR("c7"), STR("p"), STR("o"), {{0}}};
    struct state_proof wrong = good;
    struct rig r;
    struct store *other;
    char path[128], log[128];
    const struct timespec later[2] = {{.tv_sec = 32503680000},
                                      {.tv_sec = 32503680000}};

    rig_init(&r);
    wrong.commit = STR("none");
    snprintf(path, sizeof path, "%s/mapm.db", r.home);
    snprintf(log, sizeof log, "%s/mapm.db-wal", r.home);
    CHECK(!store_begin_glance(r.store)); /* there is no mapm.db */
    CHECK(!state_end_glance(store_state(r.store)));
    put_many_proofs(r.store, &r.err);
    CHECK(!store_begin_glance(r.store)); /* it is open */
    other = open_again(&r);
    wait_for_later(path);
    CHECK(state_begin_glance(store_state(other))); /* the rows are in a log */
    CHECK(state_has_proof(store_state(other), &good) &&
          !state_has_proof(store_state(other), &wrong));
    CHECK(state_end_glance(store_state(other)));
    store_close(other);
    store_close(r.store);
    CHECK(access(log, F_OK) < 0);

    r.store = open_again(&r);
    wait_for_later(path);
    CHECK(store_begin_glance(r.store));
    CHECK(state_has_proof(store_state(r.store), &good) &&
          !state_has_proof(store_state(r.store), &wrong));
    CHECK(access(log, F_OK) < 0);
    CHECK(state_end_glance(store_state(r.store)));
    CHECK(utimensat(AT_FDCWD, path, later, 0) == 0);
    CHECK(!store_begin_glance(r.store)); /* a write would not change the time
                                          * of the file */
    CHECK(utimensat(AT_FDCWD, path, NULL, 0) == 0);
    wait_for_later(path);
    CHECK(store_begin_glance(r.store));
    CHECK(utimensat(AT_FDCWD, path, NULL, 0) == 0); /* the time changes as
                                                     * after a write */
    CHECK(!state_end_glance(store_state(r.store)));
    CHECK(state_has_proof(store_state(r.store), &good) &&
          !state_has_proof(store_state(r.store), &wrong));
    rig_done(&r);
}

TEST(the_index_remembers)
{
    struct rig r;
    struct str repo = STR("github.com/acme/x"), commit = STR("c0ffee"), bytes;
    struct str *paths;
    struct state_package p = {.kind = 2,
                              .object = STR("0123"),
                              .summary = STR("s\0um")},
                         q;
    struct state_ref ref = {STR("main"), STR("c0ffee"), STR("skills/a")}, ref2;
    struct store_stats stats;
    struct hash h;
    uint64_t size;
    size_t n;

    rig_init(&r);
    p.digest = hash_of(STR("d"));
    CHECK(!state_find_package(store_state(r.store), repo, commit, STR(""),
                              &r.arena, &q));
    CHECK(store_begin(r.store, &r.err));
    CHECK(store_put_package(r.store, repo, commit, STR(""), &p, &r.err));
    CHECK(store_commit(r.store, &r.err));
    CHECK(state_find_package(store_state(r.store), repo, commit, STR(""),
                             &r.arena, &q));
    CHECK(q.kind == 2 && str_is(q.object, "0123") &&
          str_eq(q.summary, p.summary) && hash_eq(&q.digest, &p.digest));
    CHECK(store_put_ref(r.store, repo, STR("main/skills/a"), &ref, &r.err));
    CHECK(state_find_ref(store_state(r.store), repo, STR("main/skills/a"),
                         &r.arena, &ref2));
    CHECK(str_is(ref2.ref, "main") && str_is(ref2.commit, "c0ffee") &&
          str_is(ref2.path, "skills/a"));
    CHECK(store_put(r.store, STR("blob"), &h, &r.err));
    CHECK(store_put_blob(r.store, STR("b10b"), &h, 4, &r.err));
    CHECK(store_find_blob(r.store, STR("b10b"), &h, &size) && size == 4);
    spoil(&r, &h);
    CHECK(!store_read(r.store, &h, 9, &r.arena, &bytes, &r.err));
    CHECK(!store_find_blob(r.store, STR("b10b"), &h, &size));
    CHECK(store_put_trees(r.store, repo, commit, STR("trees"), &r.err));
    CHECK(store_find_trees(r.store, repo, commit, &r.arena, &bytes));
    CHECK(str_is(bytes, "trees"));
    CHECK(!state_is_reachable(store_state(r.store), repo, commit));
    CHECK(store_put_reachable(r.store, repo, commit, &r.err));
    CHECK(state_is_reachable(store_state(r.store), repo, commit));
    CHECK(state_put_workspace(store_state(r.store), STR("/b"), &r.err));
    CHECK(state_put_workspace(store_state(r.store), STR("/a"), &r.err));
    CHECK(state_put_workspace(store_state(r.store), STR("/a"), &r.err));
    CHECK(state_list_workspaces(store_state(r.store), &r.arena, &paths, &n,
                                &r.err));
    CHECK(n == 2 && str_is(paths[0], "/a"));
    CHECK(store_put_package(r.store, repo, commit, STR("b"), &p, &r.err) &&
          store_put_package(r.store, repo, commit, STR("c"), &p, &r.err));
    CHECK(store_stats(r.store, &stats, &r.err));
    CHECK(stats.packages == 1 && stats.workspaces == 2); /* [F2] */
    CHECK(state_forget_workspace(store_state(r.store), STR("/a"), &r.err));
    CHECK(state_list_workspaces(store_state(r.store), &r.arena, &paths, &n,
                                &r.err));
    CHECK(n == 1);
    rig_done(&r);
}

static void write_index(const struct rig *r, const char *sql)
{
    char command[512];

    snprintf(command, sizeof command, "sqlite3 %s/mapm.db '%s'", r->home, sql);
    CHECK(system(command) == 0);
}

/* [row 26] newer is refused, garbage is set aside */
TEST(a_newer_index_is_refused_a_damaged_one_rebuilt)
{
    struct rig r;
    struct hash h = {{0}};
    struct str state;
    char path[128];
    int fd;

    rig_init(&r);
    CHECK(store_put_blob(r.store, STR("b"), &h, 1, &r.err));
    store_close(r.store);
    snprintf(path, sizeof path, "%s/mapm.db", r.home);
    fd = open(path, O_WRONLY | O_TRUNC);
    CHECK(fd >= 0 && write(fd, "this is no database, by no means at all", 39));
    close(fd);
    CHECK(store_open(str_cstr(r.home), &r.store, &r.err));
    CHECK(store_put_blob(r.store, STR("b"), &h, 1, &r.err));
    store_close(r.store);
    if (system("command -v sqlite3 >/dev/null") == 0) {
        write_index(&r, "PRAGMA user_version=99");
        CHECK(store_open(str_cstr(r.home), &r.store, &r.err));
        CHECK(!store_put_blob(r.store, STR("b"), &h, 1, &r.err));
        CHECK(r.err.code == ERR_REFUSED);
        err_clear(&r.err);
        CHECK(!state_find_session(store_state(r.store), STR("s"), &r.arena,
                                  &state, &r.err));
        CHECK(r.err.code == ERR_REFUSED);
    } else {
        CHECK(store_open(str_cstr(r.home), &r.store, &r.err));
    }
    rig_done(&r);
}

static void age(const struct rig *r, const struct hash *h)
{
    struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    char path[256];

    object_file(r, h, path, sizeof path);
    CHECK(utimensat(AT_FDCWD, path, old, 0) == 0);
}

static struct store *close_on_waiting;

static void count_waiting(void *ctx)
{
    int *count = ctx;

    ++*count;
    store_close(close_on_waiting);
    close_on_waiting = NULL;
}

/* [row 28, F3] gc keeps young and referenced objects, and waits for other
 * processes. */
TEST(gc_removes_the_old_and_unreachable)
{
    struct rig r;
    struct store *other;
    struct package_file file = {.path = STR("SKILL.md")};
    struct hash kept, stray, young;
    struct store_stats removed;
    struct str text;
    char shared[128];
    int waited;

    rig_init(&r);
    CHECK(store_make_shared_dir(r.store, &r.err));
    CHECK(store_put(r.store, STR("kept"), &file.hash, &r.err));
    store_listing_format(&file, 1, &r.arena, &text);
    CHECK(store_put(r.store, text, &kept, &r.err));
    CHECK(store_put(r.store, STR("stray"), &stray, &r.err));
    CHECK(store_put(r.store, STR("young"), &young, &r.err));
    age(&r, &kept);
    age(&r, &file.hash);
    age(&r, &stray);
    CHECK(store_open(str_cstr(r.home), &other, &r.err));
    CHECK(!store_gc(r.store, &kept, 1, false, &removed, &r.err));
    CHECK(r.err.code == ERR_BUSY && r.err.hint[0]);
    waited = 0;
    CHECK(!store_lock_alone(r.store, 3, count_waiting, &waited, &r.err));
    CHECK(r.err.code == ERR_BUSY && waited == 1);
    close_on_waiting = other;
    CHECK(store_lock_alone(r.store, 60000, count_waiting, &waited, &r.err));
    CHECK(waited == 2 && !close_on_waiting);
    CHECK(store_gc(r.store, &kept, 1, true, &removed, &r.err));
    CHECK(removed.objects == 1 && store_has(r.store, &stray));
    CHECK(store_gc(r.store, &kept, 1, false, &removed, &r.err));
    CHECK(removed.objects == 1 && removed.bytes == 5);
    CHECK(!store_has(r.store, &stray) && store_has(r.store, &young));
    CHECK(store_has_package(r.store, &kept));
    snprintf(shared, sizeof shared, "%s/shared", r.home);
    CHECK(access(shared, F_OK) == 0);
    rig_done(&r);
}

TEST(verify_finds_each_damaged_object)
{
    struct rig r;
    struct hash h[5];
    struct store_stats stats;
    int bad = 0;

    rig_init(&r);
    for (int i = 0; i < 5; i++)
        CHECK(store_put(r.store, arena_printf(&r.arena, "object %d", i), &h[i],
                        &r.err));
    spoil(&r, &h[1]);
    spoil(&r, &h[4]);
    CHECK(store_verify(r.store, count_bad, &bad, &stats, &r.err));
    CHECK(bad == 2 && stats.objects == 5 && stats.damaged == 2);
    CHECK(!store_has(r.store, &h[1]) && store_has(r.store, &h[0]));
    rig_done(&r);
}

/* [F2] A folder that is removed while the store is open cannot be listed. */
TEST(objects_that_cannot_be_listed_are_not_counted)
{
    struct store_stats stats;
    char path[128];
    struct rig r;

    rig_init(&r);
    snprintf(path, sizeof path, "%s/store/objects", r.home);
    CHECK(rmdir(path) == 0);
    CHECK(!store_stats(r.store, &stats, &r.err));
    CHECK(!store_verify(r.store, count_bad, NULL, &stats, &r.err));
    rig_done(&r);
}

/* A damaged object is replaced at once if its content is available. */
TEST(put_replaces_a_damaged_object)
{
    struct rig r;
    struct hash h;
    struct str out;
    struct store_stats stats;

    rig_init(&r);
    CHECK(store_put(r.store, STR("precious"), &h, &r.err));
    spoil(&r, &h);
    CHECK(store_put(r.store, STR("precious"), &h, &r.err));
    CHECK(store_read(r.store, &h, 8, &r.arena, &out, &r.err));
    CHECK(str_is(out, "precious"));
    CHECK(store_stats(r.store, &stats, &r.err));
    CHECK(stats.objects == 1 && stats.bytes == 8);
    CHECK(stats.damaged == 1 && stats.damaged_bytes == 8);
    rig_done(&r);
}

TEST(place_never_replaces_a_file_and_sets_the_mode)
{
    struct rig r;
    struct hash h, other;
    struct str out;
    struct stat st, placed;
    mode_t before = umask(077);

    rig_init(&r);
    CHECK(store_put(r.store, STR("one"), &h, &r.err));
    CHECK(store_put(r.store, STR("two"), &other, &r.err));
    for (size_t i = 0; i < 3; i++) {
        static const enum store_link modes[] = {
            STORE_LINK_AUTO, STORE_LINK_COPY, STORE_LINK_HARDLINK};
        CLEANUP_FD int fd = -1;

        CHECK(fs_open_dir(r.home, &fd, &r.err));
        CHECK(store_place(r.store, &h, modes[i], fd, "placed", 0755, &placed,
                          &r.err));
        CHECK(fs_stat_at(fd, "placed", &st) && (st.st_mode & 07777) == 0755);
        CHECK(placed.st_ino == st.st_ino && placed.st_mode == st.st_mode);
        CHECK(!store_place(r.store, &other, modes[i], fd, "placed", 0644, NULL,
                           &r.err));
        CHECK(fs_read_file_at(fd, "placed", 100, &r.arena, &out, &r.err));
        CHECK(str_is(out, "one"));
        CHECK(unlinkat(fd, "placed", 0) == 0);
        /* The blocks are shared, or no file is left behind. */
        if (!store_place(r.store, &h, STORE_LINK_REFLINK, fd, "placed", 0644,
                         NULL, &r.err))
            CHECK(r.err.code == ERR_FAILED && !fs_stat_at(fd, "placed", &st));
        else
            CHECK(unlinkat(fd, "placed", 0) == 0);
    }
    umask(before);
    rig_done(&r);
}

/* [row 26, row 28] Large objects are staged as one file each, in a folder that
 * no other process uses. */
TEST(large_objects_are_held_in_files)
{
    static char large[PACK_OBJECT_MAX_BYTES], other_large[sizeof large];
    struct rig r;
    struct store_session session;
    struct store_stats stats;
    struct hash put, adopted;
    struct str out, content;
    struct stat st;
    char path[256], folder[256], name[HASH_HEX_CHARS + 1];

    memset(large, 'x', sizeof large);
    memset(other_large, 'y', sizeof other_large);
    content = str_make(other_large, sizeof other_large);
    adopted = hash_of(content);
    hash_format(&adopted, name);
    rig_init(&r);
    store_begin_staging(r.store);
    CHECK(store_put(r.store, str_make(large, sizeof large), &put, &r.err));
    CHECK(store_put(r.store, str_make(large, sizeof large), &put, &r.err));
    CHECK(store_session_begin(r.store, &session, &r.err));
    CHECK(fs_create_at(session.dirfd, name, 0600, str_from_index(content, 1),
                       &r.err));
    CHECK(!store_adopt(r.store, &session, 0, content.n, &adopted, &r.err));
    CHECK(r.err.code == ERR_DAMAGED && !store_has(r.store, &adopted));
    CHECK(!fs_stat_at(session.dirfd, name, &st));
    for (int i = 0; i < 2; i++) { /* the object exists the second time */
        CHECK(fs_create_at(session.dirfd, name, 0600, content, &r.err));
        CHECK(store_adopt(r.store, &session, 0, content.n, &adopted, &r.err));
        CHECK(!fs_stat_at(session.dirfd, name, &st));
    }
    store_session_end(r.store, &session);
    CHECK(store_read(r.store, &put, sizeof large, &r.arena, &out, &r.err));
    CHECK(store_read(r.store, &adopted, content.n, &r.arena, &out, &r.err));
    CHECK(str_eq(out, content));
    CHECK(store_has(r.store, &put) && store_has(r.store, &adopted));
    object_file(&r, &put, path, sizeof path);
    CHECK(access(path, F_OK) < 0);
    /* [row 26] a folder in its place is set aside */
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path),
             path);
    CHECK((mkdir(folder, 0700) == 0 || errno == EEXIST) &&
          mkdir(path, 0700) == 0);
    CHECK(store_publish(r.store, &r.err));
    CHECK(stat(path, &st) == 0 && (st.st_mode & 07777) == 0444);
    object_file(&r, &adopted, path, sizeof path);
    CHECK(stat(path, &st) == 0 && (st.st_mode & 07777) == 0444);
    store_close(r.store);
    r.store = open_again(&r);
    CHECK(store_has(r.store, &put) && store_has(r.store, &adopted));
    CHECK(store_stats(r.store, &stats, &r.err));
    CHECK(stats.objects == 2 && stats.incoming == 0 && stats.damaged == 1);
    rig_done(&r);
}

/* While it stages objects, a store caches which folders of objects/ exist. */
TEST(objects_of_before_are_seen_while_others_are_held)
{
    enum { BEFORE = 20, ALL = BEFORE + PACK_MIN_OBJECTS - 1 };
    struct rig r;
    struct store_stats stats;
    struct hash h[ALL];

    rig_init(&r);
    for (int round = 0; round < 4; round++) {
        int from = round == 1 ? BEFORE : 0, to = round == 0 ? BEFORE : ALL;

        if (round == 1) {
            store_close(r.store);
            r.store = open_again(&r);
        }
        if (round > 0)
            store_begin_staging(r.store);
        for (int i = 0; i < (round < 2 ? from : ALL); i++)
            CHECK(store_has(r.store, &h[i]));
        for (int i = from; i < to; i++)
            CHECK(store_put(r.store, arena_printf(&r.arena, "object %d", i),
                            &h[i], &r.err));
        CHECK(store_publish(r.store, &r.err));
        CHECK(store_stats(r.store, &stats, &r.err));
        CHECK(stats.objects == (size_t)to && stats.incoming == 0);
    }
    rig_done(&r);
}

/* Below objects/00 or objects/ff. */
static void put_in_folder(struct rig *r, uint8_t folder, struct hash *h)
{
    struct str content = STR("0");

    for (int i = 1; (*h = hash_of(content)).b[0] != folder; i++)
        content = arena_printf(&r->arena, "%d", i);
    CHECK(store_put(r->store, content, h, &r->err));
}

/* [F2, F8] An install lists the folders of objects/ once; without a free
 * descriptor it opens each of them. */
TEST(objects_are_found_where_their_folders_cannot_be_listed)
{
    struct rig r;
    struct hash first, last;
    struct rlimit files, none;

    rig_init(&r);
    put_in_folder(&r, 0x00, &first);
    put_in_folder(&r, 0xff, &last);
    store_close(r.store);
    r.store = open_again(&r);
    store_begin_staging(r.store);
    CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
    none = (struct rlimit){0, files.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    CHECK(store_has(r.store, &first) && store_has(r.store, &last));
    CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
    rig_done(&r);
}

/* More notes than are kept in memory: the rest is in an unnamed file. */
TEST(notes_of_a_large_install_are_kept_in_order)
{
    enum { PACKAGES = 4000 };
    struct rig r;
    struct store *other;
    struct state_package p = {.object = STR("0123"), .digest = {{1, 2, 3}}}, q;
    struct str repo = STR("github.com/acme/x"), commit = STR("c0ffee");
    struct store_stats stats;
    char path[128];

    rig_init(&r);
    other = open_again(&r);
    store_begin_staging(r.store);
    for (unsigned i = 0; i < PACKAGES; i++) {
        snprintf(path, sizeof path, "skills/%0100u", i);
        p.kind = i % 3;
        p.summary = str_cstr(path + 60);
        CHECK(store_put_package(r.store, repo, commit, str_cstr(path), &p,
                                &r.err));
    }
    p.kind = 7; /* the last write */
    CHECK(store_put_package(r.store, repo, commit, str_cstr(path), &p, &r.err));
    CHECK(!state_find_package(store_state(other), repo, commit, str_cstr(path),
                              &r.arena, &q));
    CHECK(store_stats(other, &stats, &r.err) && stats.incoming == 0);
    CHECK(store_publish(r.store, &r.err) &&
          store_publish_notes(r.store, &r.err));
    for (unsigned i = 0; i < PACKAGES; i++) {
        snprintf(path, sizeof path, "skills/%0100u", i);
        if (!state_find_package(store_state(other), repo, commit,
                                str_cstr(path), &r.arena, &q) ||
            q.kind != (i == PACKAGES - 1 ? 7 : i % 3) ||
            !str_is(q.object, "0123") || !hash_eq(&q.digest, &p.digest) ||
            !str_is(q.summary, path + 60)) {
            CHECK(!"every note is as it was");
            break;
        }
    }
    CHECK(store_stats(other, &stats, &r.err) && stats.incoming == 0);
    store_close(other);
    rig_done(&r);
}

TEST(notes_that_cannot_be_written_are_an_error)
{
    struct rig r;
    struct state_package p = {.object = STR("0123"), .summary = STR("s")}, q;
    char path[128];

    rig_init(&r);
    snprintf(path, sizeof path, "%s/store/incoming", r.home);
    store_begin_staging(r.store);
    CHECK(rmdir(path) == 0);
    for (unsigned i = 0; i < 4000; i++) {
        snprintf(path, sizeof path, "skills/%0100u", i);
        CHECK(store_put_package(r.store, STR("r"), STR("c"), str_cstr(path), &p,
                                &r.err));
    }
    CHECK(!store_publish_notes(r.store, &r.err));
    CHECK(r.err.code == ERR_IO || r.err.code == ERR_NOT_FOUND);
    err_clear(&r.err);
    CHECK(!state_find_package(store_state(r.store), STR("r"), STR("c"),
                              str_cstr(path), &r.arena, &q));
    CHECK(store_publish_notes(r.store, &r.err)); /* the notes are discarded */
    rig_done(&r);
}

/* A row of the index is valid as long as its object is in the store. */
TEST(gc_forgets_statements_about_absent_objects)
{
    struct rig r;
    struct str repo = STR("github.com/acme/x"), c1 = STR("c1"), c2 = STR("c2");
    struct state_package here = {.object = STR("01"), .summary = STR("")},
                         gone = here, q;
    struct state_proof proofs[4] = {{repo, c1, STR("here"), STR("01"), {{0}}},
                                    {repo, c1, STR("nothing"), STR(""), {{0}}},
                                    {repo, c2, STR("gone"), STR("02"), {{0}}},
                                    {repo, c2, STR("nothing"), STR(""), {{0}}}};
    struct store_stats removed;

    rig_init(&r);
    CHECK(store_put(r.store, STR("object"), &here.digest, &r.err));
    gone.digest = hash_of(STR("another"));
    proofs[0].digest = here.digest;
    proofs[2].digest = gone.digest;
    CHECK(store_put_package(r.store, repo, c1, STR("here"), &here, &r.err));
    CHECK(store_put_package(r.store, repo, c1, STR("gone"), &gone, &r.err));
    for (size_t i = 0; i < 4; i++)
        CHECK(store_put_proof(r.store, &proofs[i], &r.err));
    for (int dry_run = 1; dry_run >= 0; dry_run--) {
        CHECK(store_gc(r.store, NULL, 0, dry_run, &removed, &r.err));
        CHECK(removed.objects == 0); /* it is young */
        CHECK(state_find_package(store_state(r.store), repo, c1, STR("here"),
                                 &r.arena, &q));
        CHECK(state_find_package(store_state(r.store), repo, c1, STR("gone"),
                                 &r.arena, &q) == (dry_run == 1));
        for (size_t i = 0; i < 4; i++)
            CHECK(state_has_proof(store_state(r.store), &proofs[i]) ==
                  (i < 2 || dry_run == 1));
    }
    rig_done(&r);
}

TEST(gc_sweeps_what_killed_processes_left)
{
    static const char *const folders[] = {"incoming", "damaged", "locks"};
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    struct rig r;
    struct store_stats removed;
    struct stat st;
    char path[128];

    rig_init(&r);
    for (size_t i = 0; i < 6; i++) {
        snprintf(path, sizeof path, "%s/store/%s", r.home, folders[i % 3]);
        CHECK(mkdir(path, 0700) == 0 || errno == EEXIST);
        snprintf(path, sizeof path, "%s/store/%s/%s", r.home, folders[i % 3],
                 i < 3 ? "old" : "young");
        CHECK(mkdir(path, 0700) == 0);
        CHECK(i >= 3 || utimensat(AT_FDCWD, path, old, 0) == 0);
    }
    for (int dry_run = 1; dry_run >= 0; dry_run--) {
        CHECK(store_gc(r.store, NULL, 0, dry_run, &removed, &r.err));
        CHECK(removed.incoming == 1 && removed.damaged == 1);
        for (size_t i = 0; i < 6; i++) {
            snprintf(path, sizeof path, "%s/store/%s/%s", r.home,
                     folders[i % 3], i < 3 ? "old" : "young");
            CHECK((stat(path, &st) == 0) == (i >= 3 || dry_run == 1));
        }
    }
    rig_done(&r);
}

/* [F2] A listing that cannot be read is remembered, because the package may be in the
 * store: a lookup then fails with the reason instead of "not found". */
TEST(an_unread_listing_is_a_problem_of_the_index)
{
    struct rig r;
    struct package_file file = {.path = STR("SKILL.md")}, *files;
    struct hash digest;
    struct str text;
    size_t count;

    rig_init(&r);
    CHECK(store_put(r.store, STR("x"), &file.hash, &r.err));
    store_listing_format(&file, 1, &r.arena, &text);
    CHECK(store_put(r.store, text, &digest, &r.err));
    CHECK(store_find_files(r.store, &digest, &r.arena, &files, &count));
    CHECK(count == 1 && store_works(r.store, &r.err));
    read_errno = EIO;
    CHECK(!store_find_files(r.store, &digest, &r.arena, &files, &count));
    read_errno = 0;
    CHECK(!store_works(r.store, &r.err) && r.err.code == ERR_IO);
    rig_done(&r);
}

TEST(an_unread_pack_is_a_problem_of_the_index)
{
    struct rig r;
    struct hash h[PACK_MIN_OBJECTS];
    struct err e = {0};
    char path[128];

    rig_init(&r);
    put_many_proofs(r.store, &r.err);
    store_begin_staging(r.store);
    for (int i = 0; i < PACK_MIN_OBJECTS; i++)
        CHECK(store_put(r.store, arena_printf(&r.arena, "object %d", i), &h[i],
                        &r.err));
    CHECK(store_publish(r.store, &r.err));
    store_close(r.store);
    r.store = open_again(&r);
    snprintf(path, sizeof path, "%s/mapm.db", r.home);
    wait_for_later(path);
    read_errno = EIO;
    CHECK(!store_has(r.store, &h[0]));
    read_errno = 0;
    CHECK(!store_works(r.store, &e) && e.code == ERR_IO);
    err_clear(&e);
    CHECK(!store_begin_glance(r.store));
    store_close(r.store);
    r.store = open_again(&r);
    CHECK(store_has(r.store, &h[0]) && store_works(r.store, &e));
    CHECK(store_damaged(r.store) == 0);
    rig_done(&r);
}

/* Moving it into mapm.db takes two syncs, which a short command saves. */
TEST(a_short_log_stays_and_an_empty_one_goes)
{
    struct rig r;
    struct hash h = {{0}};
    struct stat st;
    char log[128];

    rig_init(&r);
    snprintf(log, sizeof log, "%s/mapm.db-wal", r.home);
    for (int i = 0; i < 2; i++) {
        CHECK(store_put_blob(r.store, STR("b"), &h, 1, &r.err));
        store_close(r.store);
        CHECK(stat(log, &st) == 0 && st.st_size > 0);
        r.store = open_again(&r);
    }
    put_many_proofs(r.store, &r.err);
    store_close(r.store);
    CHECK(access(log, F_OK) < 0);
    r.store = open_again(&r);
    CHECK(!state_is_reachable(store_state(r.store), STR("h/o/r"),
                              STR("none"))); /* looks only */
    store_close(r.store);
    CHECK(access(log, F_OK) < 0);
    r.store = open_again(&r);
    rig_done(&r);
}

TEST(a_busy_index_is_waited_for_with_patience)
{
    struct rig r;
    struct store *other;
    struct hash h = {{0}};

    rig_init(&r);
    other = open_again(&r);
    CHECK(store_begin(r.store, &r.err));
    CHECK(store_put_blob(r.store, STR("a"), &h, 1, &r.err));
    state_set_patience(store_state(other), 1);
    CHECK(!store_put_blob(other, STR("b"), &h, 1, &r.err));
    CHECK(r.err.code == ERR_BUSY);
    CHECK(store_commit(r.store, &r.err));
    CHECK(store_put_blob(other, STR("b"), &h, 1, &r.err));
    store_close(other);
    rig_done(&r);
}

/* [row 24] a user with write access to the store decides what is installed */
TEST(a_store_that_others_may_write_is_refused)
{
    struct rig r;
    struct store *s;

    rig_init(&r);
    CHECK(chmod(r.home, 0777) == 0);
    CHECK(!store_open(str_cstr(r.home), &s, &r.err));
    CHECK(r.err.code == ERR_REFUSED);
    CHECK(chmod(r.home, 0700) == 0);
    if (chown(r.home, 12345, 12345) < 0) {
        tap_skip_part("of another user", "cannot change owners");
    } else {
        CHECK(!store_open(str_cstr(r.home), &s, &r.err));
        CHECK(r.err.code == ERR_REFUSED);
        CHECK(chown(r.home, 0, 0) == 0);
    }
    rig_done(&r);
}

/* [row 24] A link in place of a folder is refused, because it is no accident; anything
 * else is set aside. */
TEST(folders_of_the_store_are_repaired_unless_they_are_links)
{
    static const char *const names[] = {"store", "store/objects",
                                        "store/incoming", "store/lock"};

    for (size_t i = 0; i < 8; i++) {
        struct rig r;
        struct hash h;
        char path[128], there[160];
        bool is_link = i >= 4;

        rig_init(&r);
        store_close(r.store);
        r.store = NULL;
        snprintf(path, sizeof path, "%s/%s", r.home, names[i % 4]);
        snprintf(there, sizeof there, "%s.away", path);
        CHECK(rename(path, there) == 0);
        if (is_link)
            CHECK(symlink(there, path) == 0);
        else if (i == 3)
            CHECK(mkdir(path, 0700) == 0);
        else
            CHECK(fs_create_at(AT_FDCWD, path, 0600, STR("x"), &r.err));
        if (i == 7) /* harmless: nothing is read from it */
            CHECK(unlink(path) == 0);
        CHECK(store_open(str_cstr(r.home), &r.store, &r.err) ==
              (!is_link || i == 7));
        if (r.store)
            CHECK(store_put(r.store, STR("x"), &h, &r.err));
        rig_done(&r);
    }
}

/* [row 25] sudo keeps HOME: root's files would appear in it */
TEST(the_home_of_another_user_is_refused)
{
    char home[] = "/tmp/mapm-store-test-XXXXXX", path[64];
    struct arena a = {0};
    struct store *s;
    struct err e = {0};

    CHECK(mkdtemp(home) != NULL);
    setenv("HOME", home, 1);
    snprintf(path, sizeof path, "%s/a/b", home);
    CHECK(store_open(str_cstr(path), &s, &e));
    CHECK(str_is(store_home(s), path));
    CHECK(str_eq(store_shared_dir(s),
                 fs_join(str_cstr(path), STR("shared"), &a)));
    store_close(s);
    if (geteuid() == 0) {
        CHECK(chown(home, 12345, 12345) == 0);
        CHECK(!store_open(str_cstr(path), &s, &e));
        CHECK(e.code == ERR_REFUSED);
        CHECK(chown(home, 0, 0) == 0);
    }
    CHECK(fs_remove_tree_at(AT_FDCWD, home, &e));
    unsetenv("HOME");
    arena_done(&a);
}

TEST(the_home_is_found_in_the_environment)
{
    static const struct {
        const char *mapm, *xdg, *home, *want;
    } rows[] = {
        {"/m", "/x", "/h", "/m"},
        {NULL, "/x", "/h", "/x/mapm"},
        {NULL, NULL, "/h", "/h/.local/share/mapm"},
        {"relative", "relative", "/h", "/h/.local/share/mapm"},
        {"", "", "/h/../g", "/g/.local/share/mapm"},
        {NULL, NULL, NULL, NULL},
        {NULL, NULL, "relative", NULL},
    };
    struct arena a = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const names[] = {"MAPM_HOME", "XDG_DATA_HOME", "HOME"};
        const char *const values[] = {rows[i].mapm, rows[i].xdg, rows[i].home};
        struct err e = {0};
        struct str path = {0};

        for (int k = 0; k < 3; k++)
            if (values[k])
                setenv(names[k], values[k], 1);
            else
                unsetenv(names[k]);
        CHECK(store_find_home(&a, &path, &e) == (rows[i].want != NULL));
        CHECK_STR(str_dup0(path, &a), rows[i].want ? rows[i].want : "");
    }
    arena_done(&a);
}

/* --- one download for many processes [F11] --------------------------------- */

static bool is_told(const char *text, const char *boot, uint64_t since_ns,
                    const char *rest, const char *commit)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct str *found;
    struct map told;

    download_read(str_cstr(text), str_cstr(boot), since_ns, &a, &told);
    found = map_find(&told, str_cstr(rest));
    return found && str_is(*found, commit);
}

TEST(answers_count_for_processes_that_ran_already)
{
    static const char lines[] = "1111 main/x\n3333 main/x\n2222 \n";
    struct hash h = hash_of(str_cstr(lines));
    char hex[HASH_HEX_CHARS + 1], text[400];

    hash_format(&h, hex);
    snprintf(text, sizeof text, "mapm-refs-1 boot 500 %s\n%s", hex, lines);
    CHECK(is_told(text, "boot", 500, "main/x", "1111"));
    CHECK(is_told(text, "boot", 1, "", "2222"));
    CHECK(!is_told(text, "boot", 1, "main/y", "1111"));
    CHECK(!is_told(text, "boot", 501, "main/x", "1111"));
    CHECK(!is_told(text, "other", 1, "main/x", "1111"));
    CHECK(!is_told(text, "", 1, "main/x", "1111"));
    text[strlen(text) - 2] = 'x';
    CHECK(!is_told(text, "boot", 1, "main/x", "1111"));
}

static void publish_ref(struct store *s, const char *rest, struct err *e)
{
    const struct state_ref ref = {STR("main"), STR("1111"), STR("x")};
    bool taken;

    store_begin_staging(s);
    CHECK(store_begin_download(s, STR("h/o/r"), NULL, NULL, &taken, e));
    CHECK(store_put_ref(s, STR("h/o/r"), str_cstr(rest), &ref, e));
    CHECK(store_publish(s, e) && store_publish_notes(s, e));
}

TEST(one_process_downloads_from_a_repository)
{
    struct rig r;
    struct store *other;
    struct str commit;
    bool taken;

    rig_init(&r);
    CHECK(store_open(str_cstr(r.home), &other, &r.err));
    CHECK(store_begin_download(r.store, STR("h/o/a"), NULL, NULL, &taken,
                               &r.err) &&
          taken);
    CHECK(store_begin_download(r.store, STR("h/o/a"), NULL, NULL, &taken,
                               &r.err) &&
          !taken);
    /* A process that has a lock does not wait for another one. */
    CHECK(
        store_begin_download(other, STR("h/o/b"), NULL, NULL, &taken, &r.err) &&
        taken);
    CHECK(
        store_begin_download(other, STR("h/o/a"), NULL, NULL, &taken, &r.err) &&
        !taken);
    store_cancel_download(r.store, STR("h/o/a"));
    /* Its responses may be older than the lock, so they are never used
     * later. */
    CHECK(
        store_begin_download(other, STR("h/o/a"), NULL, NULL, &taken, &r.err) &&
        !taken);
    store_end_downloads(other);
    CHECK(store_begin_download(r.store, STR("h/o/a"), NULL, NULL, &taken,
                               &r.err) &&
          taken);
    store_end_downloads(r.store);
    CHECK(store_begin_download(r.store, STR("h/o/b"), NULL, NULL, &taken,
                               &r.err) &&
          taken); /* all locks of the other store are released */
    store_end_downloads(r.store);

    publish_ref(other, "main/x", &r.err);
    CHECK(!store_find_fresh_ref(r.store, STR("h/o/r"), STR("main/x"), &r.arena,
                                &commit)); /* without the lock */
    CHECK(store_begin_download(r.store, STR("h/o/r"), NULL, NULL, &taken,
                               &r.err) &&
          taken);
    CHECK(store_find_fresh_ref(r.store, STR("h/o/r"), STR("main/x"), &r.arena,
                               &commit) &&
          str_is(commit, "1111"));
    CHECK(!store_find_fresh_ref(r.store, STR("h/o/r"), STR("main/y"), &r.arena,
                                &commit));
    store_close(other);
    /* A process that starts now gets none. */
    store_end_downloads(r.store);
    CHECK(store_open(str_cstr(r.home), &other, &r.err));
    CHECK(
        store_begin_download(other, STR("h/o/r"), NULL, NULL, &taken, &r.err) &&
        taken);
    CHECK(!store_find_fresh_ref(other, STR("h/o/r"), STR("main/x"), &r.arena,
                                &commit));
    store_close(other);
    rig_done(&r);
}

/* --- patches of packages [D7] -------------------------------------------------- */

#define CHANGE(path, before, after)                                            \
    "diff --git a/" path " b/" path "\n--- a/" path "\n+++ b/" path            \
    "\n@@ -1 +1 @@\n-" before "\n+" after "\n"
#define ADD(path, text)                                                        \
    "diff --git a/" path " b/" path                                            \
    "\nnew file mode 100644\n--- /dev/null\n+++ b/" path                       \
    "\n@@ -0,0 +1 @@\n+" text "\n"
#define DROP(path, text)                                                       \
    "diff --git a/" path " b/" path "\ndeleted file mode 100644\n--- a/" path  \
    "\n+++ /dev/null\n@@ -1 +0,0 @@\n-" text "\n"

/* A package of three files, one of which is no text. */
static struct hash put_package(struct rig *r)
{
    static const char *const all[][2] = {
        {"SKILL.md", "one\n"}, {"b.bin", NULL}, {"data/a.txt", "two\n"}};
    struct package_file *files = arena_array(&r->arena, 3, sizeof *files);
    struct str listing;
    struct hash h;

    for (size_t i = 0; i < 3; i++) {
        files[i].path = str_cstr(all[i][0]);
        CHECK(store_put(r->store,
                        all[i][1] ? str_cstr(all[i][1]) : str_make("\0\n", 2),
                        &files[i].hash, &r->err));
    }
    h = store_listing_format(files, 3, &r->arena, &listing);
    CHECK(store_put(r->store, listing, &h, &r->err));
    return h;
}

/* "SKILL.md=ONE data/a.txt=two", and the lines; or why it is refused. */
static const char *patch_package(struct rig *r, const struct hash *package,
                                 const char *patch, bool keep)
{
    struct patched out;
    struct str shown = STR("");

    err_clear(&r->err);
    if (!patched_apply(r->store, package, str_cstr(patch), "p", keep, &r->arena,
                       &out, &r->err))
        return err_first(&r->err);
    for (size_t i = 0; i < out.count; i++) {
        struct str text;

        if (!store_read(r->store, &out.files[i].hash, 100, &r->arena, &text,
                        &r->err))
            text = STR("?");
        if (text.n && text.p[0])
            shown = arena_printf(&r->arena, "%.*s%.*s=%.*s ", STR_ARG(shown),
                                 STR_ARG(out.files[i].path),
                                 STR_ARG(str_trim(text)));
    }
    if (keep) {
        struct package_file *files;
        size_t count;

        CHECK(store_read_listing(r->store, &out.digest, &r->arena, &files,
                                 &count, &r->err) &&
              count == out.count);
    }
    return arena_printf(&r->arena, "%.*s+%zu -%zu", STR_ARG(shown), out.added,
                        out.removed)
        .p;
}

TEST(patches_make_other_packages)
{
    static const struct {
        const char *patch, *result;
    } patches[] = {
        {CHANGE("SKILL.md", "one", "ONE"), "SKILL.md=ONE data/a.txt=two +1 -1"},
        {CHANGE("data/a.txt", "two", "TWO") CHANGE("SKILL.md", "one", "ONE"),
         "SKILL.md=ONE data/a.txt=TWO +2 -2"},
        {ADD("new.md", "three"),
         "SKILL.md=one data/a.txt=two new.md=three +1 -0"},
        {ADD("data/b.md", "x") DROP("data/a.txt", "two"),
         "SKILL.md=one data/b.md=x +1 -1"},
        /* strict: not even where the folder has gone */
        {DROP("data/a.txt", "two") ADD("Data", "x"),
         "Data and another file are the same name on some file systems"},
        {DROP("SKILL.md", "one") ADD("skill.md", "x"),
         "data/a.txt=two skill.md=x +1 -1"},
        {CHANGE("none", "a", "b"), "the package has no none"},
        {ADD("SKILL.md", "x"), "SKILL.md is there already"},
        {ADD("skill.MD", "x"), "skill.MD and another file are the same name on "
                               "some file systems"},
        {ADD("DATA", "x"), "DATA and another file are the same name on some "
                           "file systems"},
        {ADD("SKILL.md/x", "x"), "SKILL.md/x and another file are the same "
                                 "name on some file systems"},
        {ADD("x/y", "x") ADD("X", "x"), "X and another file are the same name "
                                        "on some file systems"},
        {ADD("con", "x"), "the file name \"con\" is a device on Windows"},
        {CHANGE("b.bin", "x", "y"), "b.bin is not text"},
        {CHANGE("SKILL.md", "1", "ONE"),
         "SKILL.md:1 differs from the line in the patch"},
    };
    struct rig r;
    struct hash package;

    rig_init(&r);
    package = put_package(&r);
    for (size_t i = 0; i < sizeof patches / sizeof *patches; i++)
        CHECK_STR(patch_package(&r, &package, patches[i].patch, true),
                  patches[i].result);
    CHECK_STR(patch_package(&r, &package,
                            DROP("SKILL.md", "one") DROP("data/a.txt", "two"),
                            false),
              "+0 -2");
    rig_done(&r);
}

/* [D7] What the lock says of a patched package, by its two digests. */
TEST(installed_packages_by_their_digests)
{
    static const char patch[] = CHANGE("SKILL.md", "one", "ONE");
    static const char other[] = CHANGE("SKILL.md", "one", "ELSE");
    struct rig r;
    struct hash package, text, installed, unknown = hash_of(str_cstr(other));
    struct patched out;
    struct str digest, of_patch, of_unknown;

    rig_init(&r);
    package = put_package(&r);
    digest =
        arena_printf(&r.arena, "sha256:%s", hash_hex(&package, &r.arena).p);
    CHECK(patched_installed(r.store, digest, STR(""), &installed, &r.err) &&
          hash_eq(&installed, &package));
    CHECK(store_put(r.store, str_cstr(patch), &text, &r.err));
    of_patch = arena_printf(&r.arena, "sha256:%s", hash_hex(&text, &r.arena).p);
    CHECK(patched_apply(r.store, &package, str_cstr(patch), "p", false,
                        &r.arena, &out, &r.err));
    CHECK(!store_has(r.store, &out.digest)); /* it is only computed */
    CHECK(patched_installed(r.store, digest, of_patch, &installed, &r.err) &&
          hash_eq(&installed, &out.digest) && !hash_eq(&installed, &package));
    of_unknown =
        arena_printf(&r.arena, "sha256:%s", hash_hex(&unknown, &r.arena).p);
    CHECK(!patched_installed(r.store, digest, of_unknown, &installed, &r.err) &&
          r.err.code == ERR_NOT_FOUND && r.err.hint[0]);
    CHECK(!patched_installed(r.store, STR("x"), STR(""), &installed, &r.err));
    CHECK_STR(err_first(&r.err), "\"x\" is not a digest");
    CHECK(!patched_installed(r.store, digest, STR("sha256:1"), &installed,
                             &r.err));
    CHECK_STR(err_first(&r.err), "\"sha256:1\" is not a digest");
    rig_done(&r);
}
