/* Bundles of a team store: TEAM.md 2; [S4]. */

#include "base/fs.h"
#include "mapm/team_bundle.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"

static struct arena arena;

static struct team_blob blob_of(struct str s)
{
    return (struct team_blob){hash_of(s), s.n};
}

static struct str name_of(unsigned n)
{
    struct hash h = hash_of(str_make((const char *)&n, sizeof n));

    return team_object_name(&h, &arena);
}

static void add(struct team_bundle_writer *w, unsigned n)
{
    struct archive_file f = {.path = STR("SKILL.md"),
                             .bytes = arena_printf(&arena, "skill %u\n", n)};
    struct team_manifest m = {.type = STR("skill")};
    struct buf layer, config, manifest;
    struct hash tar;
    struct err e;

    buf_init(&layer, 1u << 20);
    buf_init(&config, 1u << 20);
    buf_init(&manifest, 1u << 20);
    CHECK(team_object_write(&f, 1, &layer, &tar, &e));
    team_config_write(STR("skill x"), &tar, &config);
    m.config = blob_of(buf_str(&config));
    m.layer = blob_of(buf_str(&layer));
    team_manifest_write(&m, &manifest);
    CHECK(team_bundle_add(w, name_of(n), buf_str(&manifest), buf_str(&config),
                          buf_str(&layer), &e));
    buf_done(&layer);
    buf_done(&config);
    buf_done(&manifest);
}

static int file_of(struct str bytes)
{
    int fd = memfd_create("bundle", MFD_CLOEXEC);
    struct err e;

    CHECK(fd >= 0 && fs_write_all(fd, bytes, &e));
    return fd;
}

/* The bundle of objects first, first + step …; its bytes. */
static struct str make_bundle(unsigned first, int step, unsigned count)
{
    struct team_bundle_writer w;
    int scratch = file_of(STR("")), fd = file_of(STR(""));
    struct str bytes;
    struct err e = {0};
    char *p;
    off_t n;

    team_bundle_begin(&w, scratch);
    for (unsigned i = 0; i < count; i++)
        add(&w, first + i * (unsigned)step);
    CHECK(team_bundle_add_lock(&w, STR("version: 1\n"), &e));
    CHECK(team_bundle_end(&w, fd, &e));
    team_bundle_done(&w);
    n = lseek(fd, 0, SEEK_END);
    p = arena_alloc(&arena, (size_t)n + 1);
    CHECK(pread(fd, p, (size_t)n, 0) == n);
    bytes = str_make(p, (size_t)n);
    close(fd);
    close(scratch);
    return bytes;
}

/* Everything that can be read of it: "" or why not. */
static struct str read_all(struct str bytes, unsigned first, unsigned count)
{
    static struct err e;
    struct team_bundle b;
    struct str lock;
    int fd = file_of(bytes);
    bool ok = true;

    e = (struct err){0};
    ok = team_bundle_open(fd, &arena, &b, &e) &&
         team_bundle_lock(&b, &arena, &lock, &e);
    for (unsigned i = 0; ok && i < count; i++) {
        struct archive_file *files;
        struct buf gz;
        size_t n;
        enum team_found found;

        buf_init(&gz, TEAM_OBJECT_MAX_BYTES);
        ok = team_bundle_get(&b, name_of(first + i), NULL, &gz, &found, &e) &&
             (found == TEAM_IS_READ || err_set(&e, ERR_NOT_FOUND, "absent")) &&
             team_object_read(buf_str(&gz), &team_package_limits, &arena,
                              &files, &n, NULL, &e);
        buf_done(&gz);
    }
    close(fd);
    return ok ? STR("") : str_cstr(err_first(&e));
}

TEST(what_is_bundled_is_read)
{
    struct str bytes = make_bundle(1, 1, 5);

    CHECK_STR(read_all(bytes, 1, 5).p, "");
    CHECK_STR(read_all(bytes, 1, 6).p, "absent");
    CHECK_STR(read_all(make_bundle(1, 1, 0), 1, 0).p, "");
}

TEST(the_same_objects_give_the_same_bytes)
{
    CHECK(str_eq(make_bundle(1, 1, 5), make_bundle(5, -1, 5)));
}

TEST(every_other_byte_is_noticed)
{
    struct str bytes = make_bundle(1, 1, 2);

    for (size_t i = 0; i < bytes.n; i++) {
        char *p = arena_text(&arena, bytes.p, bytes.n);

        p[i] ^= 1;
        if (!read_all(str_make(p, bytes.n), 1, 2).n &&
            !strstr(bytes.p + i / 512 * 512, "architecture")) {
            printf("# byte %zu\n", i);
            CHECK(false);
        }
    }
    for (size_t n = 0; n < bytes.n; n += 97)
        CHECK(read_all(str_slice(bytes, 0, n), 1, 0).n);
    CHECK(read_all(str_join(bytes, STR("x"), &arena), 1, 0).n);
    CHECK(read_all(str_join(bytes, bytes, &arena), 1, 0).n);
}

/* Blocks of 512 bytes, as an archive of others has them. */
static struct str edit(struct str bytes, size_t at, size_t cut, struct str in)
{
    const struct str parts[] = {str_slice(bytes, 0, at), in,
                                str_from_index(bytes, at + cut)};

    return str_concat(parts, 3, &arena);
}

/* To end at its end: the layout's entry is the last one. */
TEST(archives_of_others_are_refused)
{
    struct str bytes = make_bundle(1, 1, 2);
    size_t index = str_find(bytes, STR("index.json"));
    size_t layout = str_find(bytes, STR("oci-layout"));
    struct str blob = str_slice(bytes, 0, 1024), none = STR("");

    CHECK(index % 512 == 0 && layout % 512 == 0);
    /* a blob twice; the index, or the layout, away; in another order */
    CHECK(read_all(edit(bytes, 0, 0, blob), 1, 0).n);
    CHECK(read_all(edit(bytes, index, layout - index, none), 1, 0).n);
    CHECK(read_all(edit(bytes, layout, 1024, none), 1, 0).n);
    CHECK(read_all(edit(bytes, 0, 0, str_slice(bytes, layout, layout + 1024)),
                   1, 0)
              .n);
    /* the blobs away: the index names what is not there */
    CHECK(read_all(edit(bytes, 0, index, none), 1, 0).n);
    CHECK(read_all(STR("PK\3\4"), 1, 0).n);
    CHECK(read_all(none, 1, 0).n);
}

TEST(what_is_no_file_is_no_bundle)
{
    struct team_bundle b;
    struct err e = {0};
    int pair[2];

    CHECK(pipe(pair) == 0);
    CHECK(!team_bundle_open(pair[0], &arena, &b, &e));
    close(pair[0]);
    close(pair[1]);
}
