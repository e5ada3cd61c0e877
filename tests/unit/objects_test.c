/* Objects by id: FETCH.md 5, 6; [row 12, row 13]. */

#include "base/fs.h"
#include "mapm/limits.h"

#include <fcntl.h>
#include <git2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../fetch/worker/objects.h"
#include "../../fetch/worker/parts.h"
#include "../../fetch/worker/reachable.h"
#include "tap.h"

#define ONES   "1111111111111111111111111111111111111111"
#define TWOS   "2222222222222222222222222222222222222222"
#define THREES "3333333333333333333333333333333333333333"

__attribute__((constructor)) static void set_up(void)
{
    git_libgit2_init();
}

TEST(ids_as_text)
{
    static const char *const bad[] = {
        "",
        "1",
        ONES "1",
        "111111111111111111111111111111111111111",
        "111111111111111111111111111111111111111g",
        "111111111111111111111111111111111111111A",
        "1111111111111111111111111111111111111 11",
    };
    char hex[OID_HEX_CHARS + 1];
    struct oid id = {{0}};

    CHECK(oid_is_zero(&id));
    CHECK(oid_parse(STR("0123456789abcdef0123456789abcdef01234567"), &id));
    CHECK(id.b[0] == 0x01 && id.b[7] == 0xef && id.b[19] == 0x67);
    oid_format(&id, hex);
    CHECK_STR(hex, "0123456789abcdef0123456789abcdef01234567");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!oid_parse(str_cstr(bad[i]), &id));
    CHECK(id.b[0] == 0x01);
}

TEST(ids_of_content)
{
    static const struct {
        enum object_type type;
        const char *bytes, *hex;
    } rows[] = {
        {OBJECT_BLOB, "", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"},
        {OBJECT_TREE, "", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"},
        {OBJECT_BLOB, "x", "c1b0730e0133447badcfd47fd144e254807b06e1"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char hex[OID_HEX_CHARS + 1];
        struct err e = {0};
        struct oid id;

        CHECK(oid_of(rows[i].type, str_cstr(rows[i].bytes), &id, &e));
        oid_format(&id, hex);
        CHECK_STR(hex, rows[i].hex);
    }
}

TEST(a_table)
{
    struct arena a = {0};
    struct objects o;
    struct oid id = {{1}}, other = {{2}};
    const struct object *found;
    struct err e = {0};

    objects_init(&o, &a);
    CHECK(!objects_find(&o, &id));
    objects_put(&o, OBJECT_BLOB, &id, STR("one"));
    objects_put(&o, OBJECT_BLOB, &id, STR("again"));
    found = objects_find(&o, &id);
    CHECK(found && str_is(found->bytes, "one") && oid_eq(&found->id, &id));
    for (int i = 0; i < 1000; i++) {
        other.b[5] = (uint8_t)i;
        other.b[6] = (uint8_t)(i >> 8);
        objects_put(&o, OBJECT_TREE, &other, STR(""));
    }
    CHECK(objects_find(&o, &id) == found);
    CHECK(objects_find_type(&o, &id, OBJECT_BLOB, &found, &e) && found);
    CHECK(!objects_find_type(&o, &id, OBJECT_TREE, &found, &e));
    CHECK(e.code == ERR_DAMAGED);
    CHECK_STR(err_first(&e), "object 0100000000000000000000000000000000000000 "
                             "is a blob, not a tree");
    id.b[1] = 1;
    CHECK(objects_find_type(&o, &id, OBJECT_TREE, &found, &e) && !found);
    arena_done(&a);
}

TEST(a_set)
{
    struct arena a = {0};
    struct oid_set s;
    struct oid one = {{1}}, two = {{2}};

    oid_set_init(&s, &a);
    CHECK(!oid_set_has(&s, &one) && oid_set_count(&s) == 0);
    CHECK(oid_set_put(&s, &two) && oid_set_put(&s, &one));
    CHECK(!oid_set_put(&s, &two) && oid_set_count(&s) == 2);
    CHECK(oid_eq(oid_set_get(&s, 0), &two) && oid_eq(oid_set_get(&s, 1), &one));
    arena_done(&a);
}

TEST(commits)
{
    struct str two = STR("tree " ONES "\nparent " TWOS "\nparent " THREES
                         "\nauthor A <a@a> 1 +0000\n\nparent " ONES "\n");
    struct oid id;
    struct err e = {0};
    size_t at = 0;

    CHECK(commit_tree(two, &id, &e) && id.b[0] == 0x11);
    CHECK(commit_next_parent(two, &at, &id) && id.b[0] == 0x22);
    CHECK(commit_next_parent(two, &at, &id) && id.b[0] == 0x33);
    CHECK(!commit_next_parent(two, &at, &id));
    at = 0;
    CHECK(!commit_next_parent(STR("tree " ONES "\nauthor x\n"), &at, &id));
    at = 0;
    CHECK(!commit_next_parent(STR("tree " ONES "\nparent " TWOS), &at, &id));
    CHECK(!commit_tree(STR(""), &id, &e) && e.code == ERR_DAMAGED);
    CHECK(!commit_tree(STR("tree 123\n"), &id, &e));
    CHECK(!commit_tree(STR("\n"), &id, &e));
    CHECK(!commit_tree(STR("parent " ONES "\n"), &id, &e));
}

static struct oid add_commit(struct objects *o, const struct oid *parents,
                             size_t count, int n)
{
    struct arena *a = o->map.arena;
    struct str text = STR("tree " ONES "\n");
    struct oid id = {{0}};
    struct err e = {0};

    for (size_t i = 0; i < count; i++) {
        char hex[OID_HEX_CHARS + 1];

        oid_format(&parents[i], hex);
        text = arena_printf(a, "%.*sparent %s\n", STR_ARG(text), hex);
    }
    text = arena_printf(a, "%.*sauthor %d\n", STR_ARG(text), n);
    CHECK(oid_of(OBJECT_COMMIT, text, &id, &e));
    objects_put(o, OBJECT_COMMIT, &id, text);
    return id;
}

/* [row 12] a commit of a fork is served, but no chain of hashes leads to it. */
TEST(commits_that_belong_to_a_branch)
{
    struct arena a = {0};
    struct objects o;
    struct oid root, left, right, merge, tip, alien, unseen = {{7}};
    struct oid both[2];

    objects_init(&o, &a);
    root = add_commit(&o, &unseen, 1, 1); /* its parent was not sent */
    left = add_commit(&o, &root, 1, 2);
    right = add_commit(&o, &root, 1, 3);
    both[0] = left;
    both[1] = right;
    merge = add_commit(&o, both, 2, 4);
    alien = add_commit(&o, &root, 1, 5);
    tip = merge;
    for (int i = 0; i < 10000; i++)
        tip = add_commit(&o, &tip, 1, 100 + i);
    CHECK(objects_lead_to(&o, &tip, &tip));
    CHECK(objects_lead_to(&o, &tip, &merge));
    CHECK(objects_lead_to(&o, &tip, &left) &&
          objects_lead_to(&o, &tip, &right));
    CHECK(objects_lead_to(&o, &tip, &root));
    CHECK(objects_lead_to(&o, &tip, &unseen));
    CHECK(!objects_lead_to(&o, &tip, &alien));
    CHECK(!objects_lead_to(&o, &left, &right));
    CHECK(!objects_lead_to(&o, &root, &tip));
    arena_done(&a);
}

TEST(pointers_to_files_kept_elsewhere)
{
    CHECK(blob_is_lfs_pointer(
        STR("version https://git-lfs.github.com/spec/v1\noid sha256:x\n")));
    CHECK(!blob_is_lfs_pointer(STR("version 1\n")));
    CHECK(!blob_is_lfs_pointer(STR("")));
}

/* --- what a request by a commit or a tree brings --------------------------- */

static bool count_taken(void *ctx, const struct oid *id, struct str bytes,
                        struct err *e)
{
    (void)id;
    (void)bytes;
    (void)e;
    ++*(int *)ctx;
    return true;
}

/* One order of a commit with root/folder/blob, and a blob that nothing names.
 * How many blobs were reachable at the end. */
static int arrive(const char *order, size_t *strangers)
{
    struct arena a = {0};
    struct objects o;
    struct reachable r;
    struct oid blob, folder, root, commit, stranger;
    struct err e = {0};
    char hex[OID_HEX_CHARS + 1], tree[2][40];
    struct str texts[2], text;
    int taken = 0;

    objects_init(&o, &a);
    CHECK(oid_of(OBJECT_BLOB, STR("wanted"), &blob, &e));
    CHECK(oid_of(OBJECT_BLOB, STR("stranger"), &stranger, &e));
    memcpy(tree[0], "100644 a", 9);
    memcpy(tree[0] + 9, blob.b, OID_BYTES);
    texts[0] = str_make(tree[0], 9 + OID_BYTES);
    CHECK(oid_of(OBJECT_TREE, texts[0], &folder, &e));
    memcpy(tree[1], "40000 b", 8);
    memcpy(tree[1] + 8, folder.b, OID_BYTES);
    texts[1] = str_make(tree[1], 8 + OID_BYTES);
    CHECK(oid_of(OBJECT_TREE, texts[1], &root, &e));
    oid_format(&root, hex);
    text = arena_printf(&a, "tree %s\n", hex);
    CHECK(oid_of(OBJECT_COMMIT, text, &commit, &e));

    reachable_init(&r, &a, &commit, 1);
    for (; *order; order++) {
        const struct oid *id = *order == 'c'   ? &commit
                               : *order == 'r' ? &root
                                               : &folder;

        if (*order == 'b')
            taken += reachable_add_blob(&r, &blob, STR("wanted"));
        else if (*order == 's')
            taken += reachable_add_blob(&r, &stranger, STR("stranger"));
        else
            objects_put(&o, *order == 'c' ? OBJECT_COMMIT : OBJECT_TREE, id,
                        *order == 'c'   ? text
                        : *order == 'r' ? texts[1]
                                        : texts[0]);
        if (*order != 'b' && *order != 's')
            CHECK(reachable_add(&r, &o, id, count_taken, &taken, &e));
    }
    *strangers = reachable_unrequested(&r);
    arena_done(&a);
    return taken;
}

/* [F3] whatever the order of arrival */
TEST(only_objects_below_the_wants_are_taken)
{
    static const char *const orders[] = {"crfbs", "sbfrc", "bsrcf",
                                         "frcsb", "cbsrf", "rbfsc"};
    size_t strangers;

    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        CHECK(arrive(orders[i], &strangers) == 1);
        CHECK(strangers == 1);
    }
    CHECK(arrive("crbs", &strangers) == 0 && strangers == 2);
}

/* [F3] an object that was announced and never came, or that has no entries */
TEST(what_has_no_entries_adds_nothing)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct objects o;
    struct reachable r;
    struct oid blob, absent;
    struct str text = STR("100644 a\0"
                          "aaaaaaaaaaaaaaaaaaaa");
    struct err e = {0};
    int taken = 0;

    objects_init(&o, &a);
    CHECK(oid_of(OBJECT_BLOB, text, &blob, &e));
    CHECK(oid_parse(STR(ONES), &absent));
    objects_put(&o, OBJECT_BLOB, &blob, text);
    reachable_init(&r, &a, (struct oid[]){blob, absent}, 2);
    CHECK(reachable_add(&r, &o, &absent, count_taken, &taken, &e));
    CHECK(reachable_add(&r, &o, &blob, count_taken, &taken, &e));
    CHECK(oid_set_count(&r.ids) == 2 && taken == 0);
}

/* --- fetched files, in incoming/ -------------------------------------------- */

struct incoming {
    char path[40];
    struct parts parts;
    struct arena a;
    struct err e;
};

static void incoming_init(struct incoming *in)
{
    *in = (struct incoming){.path = "/tmp/mapm-parts-test-XXXXXX"};
    if (!mkdtemp(in->path))
        abort();
    parts_init(&in->parts, open(in->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static void incoming_done(struct incoming *in)
{
    fs_close(&in->parts.fd);
    close(in->parts.dirfd);
    buf_done(&in->parts.pending);
    arena_done(&in->parts.arena);
    arena_done(&in->a);
    CHECK(fs_remove_tree_at(AT_FDCWD, in->path, &in->e));
}

/* The n-th content of a size: no two are equal. */
static struct str content_of(struct incoming *in, size_t n, size_t size,
                             struct hash *h)
{
    char *text = arena_alloc(&in->a, size);
    struct str out = str_make(text, size);

    memset(text, 'a' + (int)(n % 26), size);
    memcpy(text, &n, size < sizeof n ? size : sizeof n);
    *h = hash_of(out);
    return out;
}

static long long size_of(const struct incoming *in, const char *name)
{
    struct stat st;

    return fstatat(in->parts.dirfd, name, &st, 0) == 0 ? (long long)st.st_size
                                                       : -1;
}

/* [F8] Small contents one after the other, each once, none over the end of a
 * part; whatever was put is read again. */
TEST(contents_fill_parts)
{
    enum { SIZE = 65535, FIT = PART_MAX_BYTES / SIZE, ALL = 2 * FIT + 1 };
    CLEANUP(incoming_done) struct incoming in;
    uint64_t offset, again;
    struct hash h, other;
    struct str bytes, got;

    incoming_init(&in);
    for (size_t i = 0; i < ALL; i++) {
        bytes = content_of(&in, i, SIZE, &h);
        CHECK(parts_put(&in.parts, &h, bytes, &offset, &in.e));
        if (offset != i / FIT * PART_MAX_BYTES + i % FIT * SIZE)
            CHECK_STR("the offset of content", arena_printf(&in.a, "%zu", i).p);
        if (i % 64 == 0)
            CHECK(parts_put(&in.parts, &h, bytes, &again, &in.e) &&
                  again == offset &&
                  parts_read(&in.parts, &h, offset, SIZE, &in.a, &got, &in.e) &&
                  str_eq(got, bytes));
    }
    CHECK(parts_flush(&in.parts, &in.e) && parts_flush(&in.parts, &in.e));
    CHECK(size_of(&in, "part-0") == FIT * SIZE &&
          size_of(&in, "part-1") == FIT * SIZE &&
          size_of(&in, "part-2") == SIZE && size_of(&in, "part-3") < 0);
    bytes = content_of(&in, 0, SIZE, &h);
    other = hash_of(STR("absent"));
    CHECK(parts_read(&in.parts, &h, 0, SIZE, &in.a, &got, &in.e) &&
          str_eq(got, bytes));
    CHECK(!parts_read(&in.parts, &other, 2 * PART_MAX_BYTES + 1, SIZE, &in.a,
                      &got, &in.e));
    CHECK_STR(err_first(&in.e), "part-2 is too short");
    err_clear(&in.e);
}

/* [F8] A part may be full to its last byte. */
TEST(a_part_is_filled_to_its_end)
{
    CLEANUP(incoming_done) struct incoming in;
    uint64_t offset = 1;
    struct hash h;

    incoming_init(&in);
    for (size_t i = 0; i < PART_MAX_BYTES / 32768; i++)
        CHECK(parts_put(&in.parts, &h, content_of(&in, i, 32768, &h), &offset,
                        &in.e));
    CHECK(offset == PART_MAX_BYTES - 32768);
    CHECK(parts_put(&in.parts, &h, content_of(&in, 0, 1, &h), &offset, &in.e) &&
          offset == PART_MAX_BYTES && parts_flush(&in.parts, &in.e));
    CHECK(size_of(&in, "part-0") == PART_MAX_BYTES &&
          size_of(&in, "part-1") == 1);
}

/* [F8] A large content is a file by its hash; an empty one is nowhere. */
TEST(a_large_content_is_a_file)
{
    CLEANUP(incoming_done) struct incoming in;
    char name[HASH_HEX_CHARS + 1];
    uint64_t offset = 1;
    struct str bytes, got;
    struct hash h, none;

    incoming_init(&in);
    bytes = content_of(&in, 7, PACK_OBJECT_MAX_BYTES, &h);
    hash_format(&h, name);
    CHECK(parts_put(&in.parts, &h, bytes, &offset, &in.e) && offset == 0);
    CHECK(parts_put(&in.parts, &h, bytes, &offset, &in.e) && offset == 0);
    CHECK(size_of(&in, name) == PACK_OBJECT_MAX_BYTES);
    CHECK(parts_read(&in.parts, &h, 0, bytes.n, &in.a, &got, &in.e) &&
          str_eq(got, bytes));
    CHECK(parts_put(&in.parts, &none, STR(""), &offset, &in.e) && offset == 0);
    CHECK(parts_read(&in.parts, &h, 0, 0, &in.a, &got, &in.e) && got.n == 0);
    CHECK(parts_flush(&in.parts, &in.e) && size_of(&in, "part-0") < 0);
    unlinkat(in.parts.dirfd, name, 0);
    CHECK(!parts_read(&in.parts, &h, 0, bytes.n, &in.a, &got, &in.e) &&
          in.e.code == ERR_NOT_FOUND);
    err_clear(&in.e);
}

/* [F2, row 27] A full disk leaves no cut file that is taken for a whole one. */
TEST(contents_that_cannot_be_written)
{
    CLEANUP(incoming_done) struct incoming in;
    struct rlimit old, few = {.rlim_cur = 1000};
    char name[HASH_HEX_CHARS + 1];
    uint64_t offset;
    struct hash h;
    struct str bytes;

    incoming_init(&in);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    few.rlim_max = old.rlim_max;
    setrlimit(RLIMIT_FSIZE, &few);
    bytes = content_of(&in, 1, PACK_OBJECT_MAX_BYTES, &h);
    hash_format(&h, name);
    CHECK(!parts_put(&in.parts, &h, bytes, &offset, &in.e));
    CHECK_STR(err_first(&in.e), "write: File too large");
    CHECK(size_of(&in, name) < 0);
    CHECK(
        parts_put(&in.parts, &h, content_of(&in, 2, 2000, &h), &offset, &in.e));
    CHECK(!parts_flush(&in.parts, &in.e));
    CHECK_STR(err_first(&in.e), "write: File too large");
    setrlimit(RLIMIT_FSIZE, &old);
    in.parts.pending.n = 0;
    err_clear(&in.e);
}
