#include "base/fs.h"
#include "mapm/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

/* [F8] many small objects in one file: held, kept, found by others, damaged,
 * collected, merged; read by hash whatever the file says. */

#define OBJECTS ((size_t)PACK_MIN_OBJECTS + 4)

struct rig {
    char home[64];
    struct store *store;
    struct arena arena;
    struct err err;
};

static struct store *open_store(struct rig *r)
{
    struct store *s = NULL;

    CHECK(store_open(str_from(r->home), &s, &r->err));
    return s;
}

static void rig_init(struct rig *r)
{
    *r = (struct rig){0};
    snprintf(r->home, sizeof r->home, "/tmp/mapm-packs-test-XXXXXX");
    if (!mkdtemp(r->home)) {
        printf("Bail out! %s\n", r->home);
        exit(1);
    }
    r->store = open_store(r);
}

static void rig_done(struct rig *r)
{
    struct err e = {0};

    store_close(r->store);
    arena_done(&r->arena);
    CHECK(fs_remove_tree_at(AT_FDCWD, r->home, &e));
}

static void reopen(struct rig *r)
{
    store_close(r->store);
    r->store = open_store(r);
}

/* "<prefix> object <i>", a few of which are empty or alike but for that. */
static struct str text_of(struct rig *r, const char *prefix, size_t i)
{
    return arena_printf(&r->arena, "%s object %zu", prefix, i);
}

/* One install's objects, as one pack. */
static void fill(struct rig *r, const char *prefix, size_t count,
                 struct hash *out)
{
    store_hold(r->store);
    for (size_t i = 0; i < count; i++)
        CHECK(store_put(r->store, text_of(r, prefix, i), &out[i], &r->err));
    CHECK(store_keep(r->store, &r->err));
}

/* How many files of that ending are in packs/; the last one's path. */
static size_t count_packs(const struct rig *r, const char *ending,
                          char path[512])
{
    char folder[128];
    struct dirent *d;
    size_t n = 0;
    DIR *dir;

    snprintf(folder, sizeof folder, "%s/store/packs", r->home);
    dir = opendir(folder);
    while (dir && (d = readdir(dir)) != NULL)
        if (str_ends(str_from(d->d_name), str_from(ending))) {
            snprintf(path, 512, "%s/%s", folder, d->d_name);
            n++;
        }
    if (dir)
        closedir(dir);
    return n;
}

static bool has_all(struct rig *r, struct store *s, const char *prefix,
                    const struct hash *h, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct str got;

        if (!store_has(s, &h[i]) ||
            !store_read(s, &h[i], 1000, &r->arena, &got, &r->err) ||
            !str_eq(got, text_of(r, prefix, i)))
            return false;
    }
    return true;
}

/* Other bytes at an offset of the pack. */
static void spoil(const char *path, off_t at, const char *bytes, size_t n)
{
    int fd;

    CHECK(chmod(path, 0644) == 0);
    fd = open(path, O_WRONLY);
    CHECK(fd >= 0 && pwrite(fd, bytes, n, at) == (ssize_t)n);
    close(fd);
}

TEST(what_one_command_keeps_is_one_file)
{
    struct rig r;
    struct hash h[OBJECTS], few[3];
    struct store *other;
    struct store_stats stats;
    struct stat st;
    char path[512];

    rig_init(&r);
    other = open_store(&r);
    CHECK(!store_has(other, &h[0]));
    fill(&r, "a", OBJECTS, h);
    CHECK(has_all(&r, r.store, "a", h, OBJECTS));
    CHECK(has_all(&r, other, "a", h, OBJECTS)); /* who had looked before */
    CHECK(count_packs(&r, ".pack", path) == 1);
    CHECK(stat(path, &st) == 0 && (st.st_mode & 07777) == 0444);
    fill(&r, "few", 3, few);
    CHECK(count_packs(&r, ".pack", path) == 1);
    reopen(&r);
    CHECK(has_all(&r, r.store, "a", h, OBJECTS) &&
          has_all(&r, r.store, "few", few, 3));
    CHECK(store_stats(r.store, &stats, &r.err));
    CHECK(stats.objects == OBJECTS + 3 && stats.incoming == 0);
    store_close(other);
    rig_done(&r);
}

TEST(the_same_again_is_written_no_more)
{
    struct rig r;
    struct hash h[OBJECTS];
    struct store_stats stats;
    char path[512];

    rig_init(&r);
    fill(&r, "a", OBJECTS, h);
    reopen(&r);
    fill(&r, "a", OBJECTS, h);
    CHECK(count_packs(&r, ".pack", path) == 1);
    CHECK(store_stats(r.store, &stats, &r.err) && stats.objects == OBJECTS);
    rig_done(&r);
}

TEST(what_was_held_and_not_kept_is_gone)
{
    struct rig r;
    struct hash h;
    struct store_stats stats;
    static char large[PACK_OBJECT_MAX_BYTES - 1];

    rig_init(&r);
    store_hold(r.store);
    /* more than stays in memory */
    for (size_t i = 0; i < 40; i++) {
        memset(large, (int)('a' + i), sizeof large);
        CHECK(store_put(r.store, str_of(large, sizeof large), &h, &r.err));
    }
    CHECK(store_has(r.store, &h));
    reopen(&r);
    CHECK(!store_has(r.store, &h));
    CHECK(store_stats(r.store, &stats, &r.err));
    CHECK(stats.objects == 0 && stats.incoming == 0);
    rig_done(&r);
}

TEST(every_link_mode_places_what_a_pack_holds)
{
    static const enum store_link modes[] = {STORE_LINK_AUTO, STORE_LINK_COPY,
                                            STORE_LINK_HARDLINK};
    struct rig r;
    struct hash h[OBJECTS];

    rig_init(&r);
    fill(&r, "a", OBJECTS, h);
    for (size_t i = 0; i < 6; i++) {
        CLEANUP_FD int fd = -1;
        mode_t mode = i < 3 ? 0644 : 0755;
        struct stat st;
        struct str out;

        CHECK(fs_open_dir(r.home, &fd, &r.err));
        CHECK(store_place(r.store, &h[i], modes[i % 3], fd, "placed", mode, &st,
                          &r.err));
        CHECK(fs_read_file_at(fd, "placed", 1000, &r.arena, &out, &r.err));
        CHECK(str_eq(out, text_of(&r, "a", i)));
        CHECK(i != 2 || st.st_nlink == 2);
        CHECK((st.st_mode & 07777) == (i == 2 ? 0444u : mode));
        CHECK(unlinkat(fd, "placed", 0) == 0);
    }
    rig_done(&r);
}

/* [row 26] hash on every read; what is bad is absent for everybody */
TEST(a_damaged_object_is_set_aside_alone)
{
    struct rig r;
    struct hash h[OBJECTS], again;
    struct store_stats stats;
    struct store *other;
    struct str out;
    char path[512];

    rig_init(&r);
    fill(&r, "a", OBJECTS, h);
    CHECK(count_packs(&r, ".pack", path) == 1);
    other = open_store(&r);
    CHECK(store_has(other, &h[0])); /* it has the pack open */
    spoil(path, 0, "X", 1);         /* the first object */
    CHECK(!store_read(r.store, &h[0], 1000, &r.arena, &out, &r.err));
    CHECK(r.err.code == ERR_DAMAGED && store_damaged(r.store) == 1);
    CHECK(!store_has(r.store, &h[0]));
    CHECK(!store_place(other, &h[0], STORE_LINK_AUTO, AT_FDCWD, "never-written",
                       0644, NULL, &r.err));
    CHECK(access("never-written", F_OK) < 0 && !store_has(other, &h[0]));
    store_close(other);
    reopen(&r);
    CHECK(!store_has(r.store, &h[0]) && store_has(r.store, &h[1]));
    CHECK(store_stats(r.store, &stats, &r.err));
    CHECK(stats.damaged == 2 && stats.objects == OBJECTS - 1);
    CHECK(store_put(r.store, text_of(&r, "a", 0), &again, &r.err));
    CHECK(has_all(&r, r.store, "a", h, OBJECTS));
    rig_done(&r);
}

static void note(void *ctx, const char *hex)
{
    snprintf(ctx, HASH_HEX_CHARS + 1, "%s", hex);
}

TEST(verify_reads_every_object_of_a_pack)
{
    struct rig r;
    struct hash h[OBJECTS];
    struct store_stats stats;
    char path[512], bad[HASH_HEX_CHARS + 1] = "", hex[HASH_HEX_CHARS + 1];

    rig_init(&r);
    fill(&r, "a", OBJECTS, h);
    CHECK(store_verify(r.store, note, bad, &stats, &r.err));
    CHECK(stats.objects == OBJECTS && stats.damaged == 0 && !bad[0]);
    CHECK(count_packs(&r, ".pack", path) == 1);
    spoil(path, (off_t)text_of(&r, "a", 0).n, "X", 1);
    CHECK(store_verify(r.store, note, bad, &stats, &r.err));
    hash_format(&h[1], hex);
    CHECK(stats.damaged == 1);
    CHECK_STR(bad, hex);
    CHECK(!store_has(r.store, &h[1]) && store_has(r.store, &h[0]));
    rig_done(&r);
}

/* [row 26] the file itself: whatever stands there, its objects are absent */
TEST(what_is_no_pack_is_set_aside)
{
    static const char *const ways[] = {"cut",  "empty", "end",   "rows",
                                       "link", "fifo",  "folder"};

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct rig r;
        struct hash h[OBJECTS];
        struct store_stats stats;
        struct stat st;
        char path[512];

        rig_init(&r);
        fill(&r, "a", OBJECTS, h);
        CHECK(count_packs(&r, ".pack", path) == 1);
        CHECK(stat(path, &st) == 0 && chmod(path, 0644) == 0);
        if (i == 0)
            CHECK(truncate(path, st.st_size - 5) == 0);
        else if (i == 1)
            CHECK(truncate(path, 0) == 0);
        else if (i == 2)
            spoil(path, st.st_size - 16, "\377\377\377", 3);
        else if (i == 3)
            spoil(path, st.st_size - 16 - 44 * 2, "\377\377\377\377", 4);
        else
            CHECK(unlink(path) == 0);
        if (i == 4)
            CHECK(symlink("/etc/passwd", path) == 0);
        else if (i == 5)
            CHECK(mkfifo(path, 0600) == 0);
        else if (i == 6)
            CHECK(mkdir(path, 0700) == 0);
        reopen(&r);
        CHECK(!store_has(r.store, &h[0]) && store_damaged(r.store) == 1);
        CHECK(count_packs(&r, ".pack", path) == 0);
        fill(&r, "a", OBJECTS, h);
        CHECK(has_all(&r, r.store, "a", h, OBJECTS));
        CHECK(store_stats(r.store, &stats, &r.err) && stats.damaged == 1);
        rig_done(&r);
    }
}

TEST(a_pack_of_a_newer_version_is_left_alone)
{
    struct rig r;
    struct hash h[OBJECTS];
    struct stat st;
    char path[512];

    rig_init(&r);
    fill(&r, "a", OBJECTS, h);
    CHECK(count_packs(&r, ".pack", path) == 1);
    CHECK(stat(path, &st) == 0);
    spoil(path, st.st_size - 1, "2", 1);
    reopen(&r);
    CHECK(!store_has(r.store, &h[0]) && store_damaged(r.store) == 0);
    CHECK(count_packs(&r, ".pack", path) == 1);
    rig_done(&r);
}

static void grow_old(struct rig *r)
{
    char path[512];
    const struct timespec old[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};

    CHECK(count_packs(r, ".pack", path) > 0);
    CHECK(utimensat(AT_FDCWD, path, old, 0) == 0);
    reopen(r);
}

TEST(gc_takes_out_what_nobody_needs)
{
    struct rig r;
    struct hash h[OBJECTS + 1], digest;
    struct store_file file = {.path = STR("SKILL.md")};
    struct store_stats gone;
    struct str listing;
    struct stat st;
    char path[512];

    rig_init(&r);
    store_hold(r.store);
    fill(&r, "a", OBJECTS, h);
    file.hash = h[3];
    digest = listing_format(&file, 1, &r.arena, &listing);
    CHECK(store_put(r.store, listing, &digest, &r.err));
    CHECK(store_gc(r.store, &digest, 1, false, &gone, &r.err));
    CHECK(gone.objects == 0); /* it is young */
    grow_old(&r);
    CHECK(store_gc(r.store, &digest, 1, true, &gone, &r.err));
    CHECK(gone.objects == OBJECTS - 1 && store_has(r.store, &h[0]));
    CHECK(store_gc(r.store, &digest, 1, false, &gone, &r.err));
    CHECK(gone.objects == OBJECTS - 1);
    CHECK(!store_has(r.store, &h[0]) && store_has(r.store, &h[3]));
    CHECK(count_packs(&r, ".pack", path) == 1);
    CHECK(stat(path, &st) == 0 && st.st_mtime == 1000000);
    reopen(&r);
    CHECK(!store_has(r.store, &h[0]) && store_has(r.store, &h[3]));
    CHECK(store_gc(r.store, NULL, 0, false, &gone, &r.err));
    CHECK(gone.objects == 1 && count_packs(&r, ".pack", path) == 0);
    rig_done(&r);
}

TEST(gc_forgets_what_was_damaged)
{
    struct rig r;
    struct hash h[OBJECTS];
    struct store_stats gone;
    struct str out;
    char path[512];

    rig_init(&r);
    fill(&r, "a", OBJECTS, h);
    CHECK(count_packs(&r, ".pack", path) == 1);
    spoil(path, 0, "X", 1);
    CHECK(!store_read(r.store, &h[0], 1000, &r.arena, &out, &r.err));
    CHECK(count_packs(&r, ".bad", path) == 1);
    grow_old(&r);
    CHECK(store_gc(r.store, h + 1, OBJECTS - 1, false, &gone, &r.err));
    CHECK(gone.objects == 0);
    CHECK(count_packs(&r, ".bad", path) == 0 &&
          count_packs(&r, ".pack", path) == 1);
    CHECK(!store_has(r.store, &h[0]) && store_has(r.store, &h[1]));
    rig_done(&r);
}

TEST(many_packs_are_merged_while_others_read)
{
    enum { FETCHES = 3 * PACKS_MAX };
    static struct hash h[FETCHES][OBJECTS];
    struct rig r;
    struct store *other;
    char path[512], prefix[16];

    rig_init(&r);
    other = open_store(&r);
    for (size_t i = 0; i < FETCHES; i++) {
        snprintf(prefix, sizeof prefix, "%zu", i);
        fill(&r, prefix, OBJECTS, h[i]);
        reopen(&r);
        if (i % 7 == 0)
            CHECK(store_has(other, &h[i][0]));
        CHECK(count_packs(&r, ".pack", path) <= PACKS_MAX);
    }
    for (size_t i = 0; i < FETCHES; i++) {
        snprintf(prefix, sizeof prefix, "%zu", i);
        CHECK(has_all(&r, r.store, prefix, h[i], OBJECTS));
        CHECK(has_all(&r, other, prefix, h[i], OBJECTS));
    }
    store_close(other);
    rig_done(&r);
}
