#include "base/buf.h"
#include "base/fs.h"
#include "mapm/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../store/object_pack.h"
#include "../../store/packs.h"
#include "tap.h"

/* [F8] Many small objects in one file: staged, published, found by others,
 * damaged, collected, merged; always read by hash. */

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

    CHECK(store_open(str_cstr(r->home), &s, &r->err));
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
    store_begin_staging(r->store);
    for (size_t i = 0; i < count; i++)
        CHECK(store_put(r->store, text_of(r, prefix, i), &out[i], &r->err));
    CHECK(store_publish(r->store, &r->err));
}

/* Returns the number of files with that suffix in packs/, and the path of the
 * last one. */
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
        if (str_ends(str_cstr(d->d_name), str_cstr(ending))) {
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

/* Overwrites bytes at an offset of the pack. */
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
    CHECK(has_all(&r, other, "a", h, OBJECTS)); /* a process that had scanned
                                                 * before */
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

/* A server looks for new packs as long as it runs. */
TEST(looking_again_takes_no_more_descriptors)
{
    struct rig r;
    struct hash h[OBJECTS];
    struct store *other;
    int before, after;
    char prefix[2] = "a";

    rig_init(&r);
    fill(&r, prefix, OBJECTS, h);
    other = open_store(&r);
    CHECK(store_has(other, &h[0]));
    before = dup(0);
    close(before);
    for (int i = 1; i <= 3; i++) {
        prefix[0]++;
        fill(&r, prefix, OBJECTS, h);
        CHECK(store_has(other, &h[0]));
    }
    after = dup(0);
    close(after);
    CHECK(after == before + 2 * 3); /* of each store one for each new pack */
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
    store_begin_staging(r.store);
    /* more than stays in memory */
    for (size_t i = 0; i < 40; i++) {
        memset(large, (int)('a' + i), sizeof large);
        CHECK(store_put(r.store, str_make(large, sizeof large), &h, &r.err));
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

/* [row 26] Objects are hashed on every read; a damaged one is absent for all
 * processes. */
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

/* The new pack has the rows of the old one, but not its damage. */
TEST(the_objects_of_a_damaged_pack_are_stored_again) /* [F8] */
{
    struct rig r;
    struct hash h[OBJECTS];
    struct store_stats stats;
    char path[512];

    rig_init(&r);
    for (int i = 0; i < 3; i++) {
        fill(&r, "a", OBJECTS, h);
        reopen(&r);
        CHECK(has_all(&r, r.store, "a", h, OBJECTS));
        CHECK(count_packs(&r, ".bad", path) == (size_t)i);
        for (size_t k = 0; k < OBJECTS; k++) {
            struct packed at;

            CHECK(packs_find(r.store, &h[k], &at));
            packs_set_aside(r.store, &at, STR("x"));
        }
        reopen(&r);
        CHECK(!store_has(r.store, &h[0]));
    }
    CHECK(store_verify(r.store, NULL, NULL, &stats, &r.err));
    CHECK(stats.objects == 0);
    rig_done(&r);
}

/* Opened for writing, a FIFO would block. */
TEST(no_file_in_place_of_a_list_of_damage_stops_the_store) /* [F3] (d) */
{
    for (int way = 0; way < 3; way++) {
        struct rig r;
        struct hash h[OBJECTS];
        struct store_stats stats;
        char path[512], *end;

        rig_init(&r);
        fill(&r, "a", OBJECTS, h);
        CHECK(count_packs(&r, ".pack", path) == 1);
        spoil(path, 0, "X", 1);
        end = strrchr(path, '.');
        snprintf(end, (size_t)(path + sizeof path - end), ".bad");
        CHECK((way == 0   ? mkfifo(path, 0600)
               : way == 1 ? mkdir(path, 0700)
                          : symlink("/nowhere", path)) == 0);
        reopen(&r);
        CHECK(store_verify(r.store, NULL, NULL, &stats, &r.err));
        CHECK(stats.damaged == 1 && stats.objects == OBJECTS);
        reopen(&r);
        CHECK(!store_has(r.store, &h[0]) && store_has(r.store, &h[1]));
        rig_done(&r);
    }
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
    CHECK(store_stats(r.store, &stats, &r.err)); /* its bytes were set aside */
    CHECK(stats.damaged_bytes == text_of(&r, "a", 1).n);
    rig_done(&r);
}

/* [row 26] The file itself: with any other content, its objects are absent. */
TEST(verify_counts_what_is_no_pack) /* [F2] */
{
    struct rig r;
    struct hash h[OBJECTS];
    struct store_stats stats;
    char path[512];

    rig_init(&r);
    fill(&r, "a", OBJECTS, h);
    CHECK(count_packs(&r, ".pack", path) == 1);
    CHECK(chmod(path, 0644) == 0 && truncate(path, 20) == 0);
    reopen(&r);
    CHECK(store_verify(r.store, NULL, NULL, &stats, &r.err));
    CHECK(stats.damaged == 1 && stats.objects == 0);
    rig_done(&r);
}

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

TEST(a_bad_pack_that_cannot_be_set_aside_is_removed)
{
    struct rig r;
    struct hash h[OBJECTS];
    char path[512], damaged[128];

    rig_init(&r);
    snprintf(damaged, sizeof damaged, "%s/store/damaged", r.home);
    CHECK(fs_create_at(AT_FDCWD, damaged, 0600, STR("no folder"), &r.err));
    fill(&r, "a", OBJECTS, h);
    CHECK(count_packs(&r, ".pack", path) == 1);
    CHECK(chmod(path, 0644) == 0 && truncate(path, 7) == 0);
    reopen(&r);
    CHECK(!store_has(r.store, &h[0]));
    CHECK(count_packs(&r, ".pack", path) == 0);
    rig_done(&r);
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
    struct package_file file = {.path = STR("SKILL.md")};
    struct store_stats gone;
    struct str listing;
    struct stat st;
    char path[512];

    rig_init(&r);
    store_begin_staging(r.store);
    fill(&r, "a", OBJECTS, h);
    file.hash = h[3];
    digest = store_listing_format(&file, 1, &r.arena, &listing);
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

/* Each object of a pack in turn, in any row of its index. */
TEST(gc_takes_out_one_object_alone)
{
    for (size_t gone = 0; gone < OBJECTS; gone++) {
        struct rig r;
        struct hash h[OBJECTS], kept[OBJECTS - 1];
        struct store_stats removed;

        rig_init(&r);
        fill(&r, "a", OBJECTS, h);
        for (size_t i = 0; i < OBJECTS - 1; i++)
            kept[i] = h[i < gone ? i : i + 1];
        grow_old(&r);
        CHECK(store_gc(r.store, kept, OBJECTS - 1, false, &removed, &r.err));
        CHECK(removed.objects == 1);
        reopen(&r);
        for (size_t i = 0; i < OBJECTS; i++)
            CHECK(store_has(r.store, &h[i]) == (i != gone));
        rig_done(&r);
    }
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

/* Two processes fetched the same object: each has it in its own pack. */
TEST(packs_with_the_same_object_are_merged)
{
    static struct hash h[PACKS_MAX][OBJECTS];
    struct rig r;
    struct store *other;
    struct store_stats stats;
    struct hash again;
    char path[512], prefix[16];

    rig_init(&r);
    other = open_store(&r);
    store_begin_staging(other);
    CHECK(store_put(other, text_of(&r, "a", 0), &again, &r.err));
    for (size_t i = 1; i < OBJECTS; i++)
        CHECK(store_put(other, text_of(&r, "b", i), &again, &r.err));
    fill(&r, "a", OBJECTS, h[0]);
    CHECK(store_publish(other, &r.err));
    store_close(other);
    reopen(&r); /* it sees both */
    for (size_t i = 1; i < PACKS_MAX; i++) {
        snprintf(prefix, sizeof prefix, "larger %zu", i);
        fill(&r, prefix, OBJECTS, h[i]);
    }
    CHECK(count_packs(&r, ".pack", path) == PACKS_MAX + 2 - PACKS_MAX / 2);
    reopen(&r);
    CHECK(has_all(&r, r.store, "a", h[0], OBJECTS));
    CHECK(store_stats(r.store, &stats, &r.err));
    CHECK(stats.objects == (PACKS_MAX + 1) * OBJECTS - 1);
    rig_done(&r);
}

TEST(more_is_held_than_stays_in_memory)
{
    static char large[PACK_OBJECT_MAX_BYTES - 1];
    struct rig r;
    struct hash h[40], again;
    struct store_stats stats;
    struct str out;

    rig_init(&r);
    store_begin_staging(r.store);
    for (size_t i = 0; i < 40; i++) {
        memset(large, (int)('a' + i), sizeof large);
        CHECK(store_put(r.store, str_make(large, sizeof large), &h[i], &r.err));
    }
    CHECK(store_put(r.store, str_make(large, sizeof large), &again, &r.err));
    for (int kept = 0; kept < 2; kept++) {
        for (size_t i = 0; i < 40; i++) {
            memset(large, (int)('a' + i), sizeof large);
            CHECK(!store_read(r.store, &h[i], sizeof large - 1, &r.arena, &out,
                              &r.err));
            CHECK(r.err.code == ERR_LIMIT);
            CHECK(store_read(r.store, &h[i], sizeof large, &r.arena, &out,
                             &r.err));
            CHECK(str_eq(out, str_make(large, sizeof large)));
        }
        CHECK(store_publish(r.store, &r.err));
        reopen(&r);
    }
    CHECK(store_stats(r.store, &stats, &r.err));
    CHECK(stats.objects == 40 && stats.bytes == 40 * sizeof large);
    rig_done(&r);
}

/* [row 26] The draft of a pack is also checked. */
TEST(a_held_object_that_was_damaged_is_absent)
{
    static char large[PACK_OBJECT_MAX_BYTES - 1];
    struct rig r;
    struct hash h[40];
    struct fs_entry *entries = NULL;
    struct store_stats stats;
    char path[256];
    struct str out;
    size_t n = 0;

    rig_init(&r);
    store_begin_staging(r.store);
    for (size_t i = 0; i < 40; i++) {
        memset(large, (int)('a' + i), sizeof large);
        CHECK(store_put(r.store, str_make(large, sizeof large), &h[i], &r.err));
    }
    snprintf(path, sizeof path, "%s/store/incoming", r.home);
    CHECK(fs_list_at(AT_FDCWD, path, 10, &r.arena, &entries, &n, &r.err));
    CHECK(n == 1);
    snprintf(path, sizeof path, "%s/store/incoming/%s", r.home,
             n ? entries[0].name.p : "");
    spoil(path, 7, "?", 1);
    CHECK(!store_read(r.store, &h[0], sizeof large, &r.arena, &out, &r.err));
    CHECK(r.err.code == ERR_DAMAGED && store_damaged(r.store) == 1);
    CHECK(!store_has(r.store, &h[0]) && store_has(r.store, &h[1]));
    memset(large, 'a', sizeof large);
    CHECK(store_put(r.store, str_make(large, sizeof large), &h[0], &r.err));
    CHECK(store_publish(r.store, &r.err));
    reopen(&r);
    for (size_t i = 0; i < 40; i++)
        CHECK(store_read(r.store, &h[i], sizeof large, &r.arena, &out, &r.err));
    CHECK(store_stats(r.store, &stats, &r.err));
    CHECK(stats.objects == 40 && stats.incoming == 0);
    rig_done(&r);
}

TEST(a_merge_leaves_damaged_objects_out)
{
    static struct hash h[PACKS_MAX + 1][OBJECTS];
    struct rig r;
    struct store_stats stats;
    struct str out;
    char path[512], prefix[16];

    rig_init(&r);
    fill(&r, "", OBJECTS, h[0]); /* the smallest one */
    CHECK(count_packs(&r, ".pack", path) == 1);
    spoil(path, 0, "X", 1);
    CHECK(!store_read(r.store, &h[0][0], 1000, &r.arena, &out, &r.err));
    for (size_t i = 1; i <= PACKS_MAX; i++) {
        CHECK(count_packs(&r, ".pack", path) == i);
        snprintf(prefix, sizeof prefix, "%zu", i);
        fill(&r, prefix, OBJECTS, h[i]);
    }
    /* The smaller half is one pack now, without a ".bad" file. */
    CHECK(count_packs(&r, ".pack", path) == PACKS_MAX + 2 - PACKS_MAX / 2);
    CHECK(count_packs(&r, ".bad", path) == 0);
    reopen(&r);
    CHECK(!store_has(r.store, &h[0][0]) && store_damaged(r.store) == 0);
    CHECK(store_stats(r.store, &stats, &r.err));
    CHECK(stats.objects == (PACKS_MAX + 1) * OBJECTS - 1);
    for (size_t i = 1; i <= PACKS_MAX; i++) {
        snprintf(prefix, sizeof prefix, "%zu", i);
        CHECK(has_all(&r, r.store, prefix, h[i], OBJECTS));
    }
    rig_done(&r);
}

/* [row 26] a link would lead the packs out of the store */
TEST(what_stands_in_place_of_the_folder_is_set_aside)
{
    for (int is_link = 0; is_link < 2; is_link++) {
        struct rig r;
        struct hash h[OBJECTS];
        struct err e = {0};
        char path[512];

        rig_init(&r);
        snprintf(path, sizeof path, "%s/store/packs", r.home);
        CHECK(is_link ? symlink(r.home, path) == 0
                      : fs_create_at(AT_FDCWD, path, 0600, STR("x"), &e));
        fill(&r, "a", OBJECTS, h);
        CHECK(count_packs(&r, ".pack", path) == 1);
        reopen(&r);
        CHECK(has_all(&r, r.store, "a", h, OBJECTS));
        rig_done(&r);
    }
}

/* --- forged packs: rows are checked for order and bounds alone ---------------- */

struct forged_row {
    const char *content; /* its hash is the row's */
    uint64_t offset, size;
};

static void put_number(struct buf *out, uint64_t n, size_t bytes)
{
    while (bytes-- > 0)
        buf_char(out, (char)(n >> (8 * bytes)));
}

static void forge_pack(const struct rig *r, struct str data,
                       const struct forged_row *rows, size_t count,
                       uint64_t said)
{
    CLEANUP(buf_done) struct buf out = {0};
    struct err e = {0};
    char path[256];

    buf_init(&out, SIZE_MAX / 2);
    buf_append(&out, data);
    for (size_t i = 0; i < count; i++) {
        struct hash h = hash_of(str_cstr(rows[i].content));

        buf_append(&out, str_make((const char *)h.b, sizeof h.b));
        put_number(&out, rows[i].offset, 8);
        put_number(&out, rows[i].size, 4);
    }
    put_number(&out, said, 8);
    buf_text(&out, "mapmpak1");
    snprintf(path, sizeof path, "%s/store/packs", r->home);
    CHECK(mkdir(path, 0700) == 0 || access(path, F_OK) == 0);
    snprintf(path, sizeof path, "%s/store/packs/%064d.pack", r->home, 7);
    CHECK(fs_create_at(AT_FDCWD, path, 0444, buf_str(&out), &e));
}

/* SHA-256 of "" begins with e3, of "a" with ca, of "b" with 3e. */
static const struct {
    const char *what;
    struct forged_row rows[2];
    size_t count;
    uint64_t said;
    bool is_pack;
} forged[] = {
    {"two", {{"b", 1, 1}, {"a", 0, 1}}, 2, 2, true},
    {"an empty object at the end", {{"", 2, 0}}, 1, 1, true},
    {"descending", {{"a", 0, 1}, {"b", 1, 1}}, 2, 2, false},
    {"the same twice", {{"a", 0, 1}, {"a", 0, 1}}, 2, 2, false},
    {"no row", {{0}}, 0, 0, false},
    {"a row less than there is", {{"b", 1, 1}, {"a", 0, 1}}, 2, 1, true},
    {"a row more than there is", {{"a", 0, 1}}, 1, 2, false},
    {"rows that count past 64 bits", {{"a", 0, 1}}, 1, 1ull << 62, false},
    {"an end past the data", {{"a", 0, 1}, {"", 3, 0}}, 2, 2, false},
    {"an offset past the data", {{"b", 1, 2}}, 1, 1, false},
    {"an offset past 63 bits", {{"b", UINT64_MAX, 1}}, 1, 1, false},
    {"a size past the data", {{"b", 0, 3}}, 1, 1, false},
};

/* [row 5, F2] the most objects, and one more */
TEST(a_pack_has_a_limit_of_objects)
{
    static const uint64_t counts[] = {0, 1, PACK_MAX_OBJECTS,
                                      PACK_MAX_OBJECTS + 1};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint64_t size = counts[i] * PACK_ROW_BYTES + PACK_END_BYTES;
        char end[PACK_END_BYTES] = {0};
        size_t rows = 0;
        bool good = i == 1 || i == 2;

        for (size_t k = 0; k < 8; k++)
            end[k] = (char)(counts[i] >> (56 - 8 * k) & 0xff);
        memcpy(end + 8, "mapmpak1", 8);
        CHECK((pack_parse_end(str_make(end, sizeof end), size, &rows) ==
               PACK_GOOD) == good);
        CHECK(!good || rows == counts[i] * PACK_ROW_BYTES);
        CHECK(pack_parse_end(str_make(end, sizeof end), size - 1, &rows) ==
              PACK_BAD);
    }
}

TEST(forged_packs_are_set_aside)
{
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        struct rig r;
        struct hash h;
        const struct forged_row *row = &forged[i].rows[forged[i].count / 2];
        bool ok;

        rig_init(&r);
        forge_pack(&r, STR("ab"), forged[i].rows, forged[i].count,
                   forged[i].said);
        h = hash_of(str_cstr(row->content ? row->content : ""));
        ok = store_has(r.store, &h) == forged[i].is_pack &&
             (store_damaged(r.store) == 0) == forged[i].is_pack;
        if (!ok)
            printf("# %s\n", forged[i].what);
        CHECK(ok);
        rig_done(&r);
    }
}

/* An object of 64 KiB has a file of its own. */
TEST(a_pack_holds_objects_below_the_limit_of_bytes)
{
    static char data[PACK_OBJECT_MAX_BYTES + 1];

    memset(data, 'x', sizeof data - 1);
    for (size_t less = 0; less < 2; less++) {
        struct rig r;
        struct forged_row row = {data + less, 0, sizeof data - 1 - less};
        struct hash h = hash_of(str_cstr(row.content));

        rig_init(&r);
        forge_pack(&r, str_cstr(data), &row, 1, 1);
        CHECK(store_has(r.store, &h) == (less == 1));
        CHECK(store_damaged(r.store) == 1 - less);
        rig_done(&r);
    }
}

/* --- searching one --------------------------------------------------------- */

/* Evenly spread, as hashes are, or with all first bytes equal but one. */
static struct hash make_key(size_t i, size_t zeros)
{
    struct hash h = hash_of(str_make((const char *)&i, sizeof i));

    memset(h.b, i ? 0 : 0xff, zeros);
    return h;
}

TEST(a_row_is_found_however_the_hashes_are_spread) /* [F7] */
{
    static const size_t zeros[] = {0, 1, 8};
    enum { ROWS = 2000 };

    for (size_t k = 0; k < sizeof zeros / sizeof *zeros; k++) {
        CLEANUP(buf_done) struct buf b = {0};
        static struct pack_row rows[ROWS];
        struct pack_index p;
        size_t found = 0, strange = 0;

        for (size_t i = 0; i < ROWS; i++)
            rows[i] = (struct pack_row){.hash = make_key(i, zeros[k])};
        buf_init(&b, SIZE_MAX / 4);
        pack_format(rows, ROWS, &b);
        CHECK(pack_parse_rows(str_slice(buf_str(&b), 0, ROWS * PACK_ROW_BYTES),
                              0, &p));
        for (size_t i = 0; i < ROWS; i++) {
            struct hash other = rows[i].hash;

            other.b[31] ^= 1;
            found += pack_find(&p, &rows[i].hash) == i;
            strange += pack_find(&p, &other) != SIZE_MAX;
        }
        CHECK(found == ROWS && strange == 0);
    }
}
