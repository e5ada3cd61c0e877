/* Objects of a team store: TEAM.md 1.1, 1.2; [S1, S4]. */

#include "base/checksum.h"
#include "base/digest.h"
#include "mapm/limits.h"
#include "mapm/team_object.h"

#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "tap.h"

#define BLOCK 512

static struct arena arena;

/* --- writing ---------------------------------------------------------------- */

static struct str write_object(struct archive_file *files, size_t count)
{
    static struct buf out;
    static struct err e;

    buf_done(&out);
    buf_init(&out, TEAM_OBJECT_MAX_BYTES);
    CHECK(team_object_write(files, count, &out, NULL, &e));
    return buf_str(&out);
}

static struct str long_path(size_t n)
{
    char *p = arena_alloc(&arena, n + 1);

    memset(p, 'a', n);
    for (size_t i = 120; i < n; i += 120)
        p[i] = '/';
    return str_make(p, n);
}

static struct str read_object(struct str gz, struct archive_file **files,
                              size_t *count)
{
    static struct err e;

    e = (struct err){0};
    *count = 0;
    if (!team_object_read(gz, &team_package_limits, &arena, files, count, NULL,
                          &e))
        return str_cstr(err_first(&e));
    return STR("");
}

TEST(what_is_written_is_read)
{
    struct archive_file in[] = {
        {.path = STR("scripts/run.sh"),
         .bytes = STR("#!/bin/sh\n"),
         .executable = true},
        {.path = STR("SKILL.md"), .bytes = STR("---\nname: x\n---\n")},
        {.path = long_path(99), .bytes = STR("")},
        {.path = long_path(100), .bytes = STR("1")},
        {.path = long_path(255),
         .bytes = str_make(arena_alloc(&arena, 512), 512)},
        {.path = long_path(256),
         .bytes = str_make(arena_alloc(&arena, 513), 513)},
        {.path = long_path(512), .bytes = STR("long")},
        {.path = STR("t\xc3\xa9xt/x")},
    };
    size_t n = sizeof in / sizeof *in, count;
    struct str gz = write_object(in, n), again;
    struct archive_file *out;

    CHECK_STR(read_object(gz, &out, &count).p, "");
    CHECK(count == n);
    for (size_t i = 0; i < count; i++) {
        CHECK(str_eq(in[i].path, out[i].path));
        CHECK(str_eq(in[i].bytes, out[i].bytes));
        CHECK(in[i].executable == out[i].executable);
        CHECK(i == 0 || str_cmp(in[i - 1].path, in[i].path) < 0);
    }
    gz = arena_str(&arena, gz);
    again = write_object(out, count);
    CHECK(str_eq(gz, again));
    CHECK(memcmp(gz.p, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10) == 0);
}

TEST(an_object_without_files_is_one)
{
    struct archive_file *out;
    size_t count;

    CHECK_STR(read_object(write_object(NULL, 0), &out, &count).p, "");
    CHECK(count == 0);
}

TEST(the_writer_refuses_what_no_package_has)
{
    static const char *const bad[] = {"",       "/x",   "../x", "a/../b",
                                      ".git/x", "a//b", "CON"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct archive_file f[] = {{.path = str_cstr(bad[i])}};
        struct buf out;
        struct err e;

        buf_init(&out, TEAM_OBJECT_MAX_BYTES);
        CHECK(!team_object_write(f, 1, &out, NULL, &e));
        buf_done(&out);
    }
}

/* --- archives of others ------------------------------------------------------- */

struct tar {
    char *p;
    size_t n;
};

static void sum(char *h)
{
    unsigned n = 0;

    memset(h + 148, ' ', 8);
    for (size_t i = 0; i < BLOCK; i++)
        n += (unsigned char)h[i];
    snprintf(h + 148, 8, "%06o", n);
    h[155] = ' ';
}

static void head(struct tar *t, const char *name, char type, unsigned size)
{
    char *h = t->p + t->n;

    snprintf(h, 100, "%s", name);
    memcpy(h + 100, "0000644", 8);
    memcpy(h + 108, "0000000", 8);
    memcpy(h + 116, "0000000", 8);
    snprintf(h + 124, 12, "%011o", size);
    memcpy(h + 136, "00000000000", 12);
    h[156] = type;
    memcpy(h + 257, "ustar", 6);
    memcpy(h + 263, "00", 2);
    memcpy(h + 329, "0000000", 8);
    memcpy(h + 337, "0000000", 8);
    sum(h);
    t->n += BLOCK;
}

static void body(struct tar *t, const char *text)
{
    memcpy(t->p + t->n, text, strlen(text));
    t->n += (strlen(text) + BLOCK - 1) / BLOCK * BLOCK;
}

static struct str squeeze(const struct tar *t, const char *behind)
{
    gz_header h = {.os = 255};
    z_stream z = {0};
    size_t room = t->n + 4096;
    char *out = arena_alloc(&arena, room);

    deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    deflateSetHeader(&z, &h);
    z.next_in = (unsigned char *)t->p;
    z.avail_in = (unsigned)t->n;
    z.next_out = (unsigned char *)out;
    z.avail_out = (unsigned)room;
    deflate(&z, Z_FINISH);
    room -= z.avail_out;
    deflateEnd(&z);
    memcpy(out + room, behind, strlen(behind));
    return str_make(out, room + strlen(behind));
}

/* clang-format off */
static const struct hostile {
    const char *name;
    struct { char type; const char *path, *text; } entries[3];
    unsigned size;      /* claimed by the first one; 0: that of its text */
    size_t at, n;       /* bytes of the first header that are others */
    const char *bytes;
    bool bad_sum;
} hostile[] = {
    {"good", {{'0', "a", "1"}}, 0, 0, 0, NULL, false},
    {"link", {{'2', "a", ""}}, 0, 0, 0, NULL, false},
    {"hard link", {{'1', "a", ""}}, 0, 0, 0, NULL, false},
    {"character device", {{'3', "a", ""}}, 0, 0, 0, NULL, false},
    {"block device", {{'4', "a", ""}}, 0, 0, 0, NULL, false},
    {"directory", {{'5', "a/", ""}}, 0, 0, 0, NULL, false},
    {"fifo", {{'6', "a", ""}}, 0, 0, 0, NULL, false},
    {"contiguous", {{'7', "a", ""}}, 0, 0, 0, NULL, false},
    {"file of old", {{'\0', "a", "1"}}, 0, 0, 0, NULL, false},
    {"long name of GNU", {{'L', "././@LongLink", "a"}}, 0, 0, 0, NULL, false},
    {"long link of GNU", {{'K', "././@LongLink", "a"}}, 0, 0, 0, NULL, false},
    {"sparse", {{'S', "a", ""}}, 0, 0, 0, NULL, false},
    {"global pax", {{'g', "pax", "10 path=b\n"}, {'0', "b", ""}}, 0, 0, 0, NULL, false},
    {"..", {{'0', "../a", "1"}}, 0, 0, 0, NULL, false},
    {".. inside", {{'0', "a/../b", "1"}}, 0, 0, 0, NULL, false},
    {".", {{'0', "./a", "1"}}, 0, 0, 0, NULL, false},
    {"absolute", {{'0', "/a", "1"}}, 0, 0, 0, NULL, false},
    {"no name", {{'0', "", "1"}}, 0, 0, 0, NULL, false},
    {"name of a folder", {{'0', "a/", "1"}}, 0, 0, 0, NULL, false},
    {"git's own folder", {{'0', ".GIT/config", "1"}}, 0, 0, 0, NULL, false},
    {"device by name", {{'0', "aux.md", "1"}}, 0, 0, 0, NULL, false},
    {"control character", {{'0', "a\x1b[2J", "1"}}, 0, 0, 0, NULL, false},
    {"not UTF-8", {{'0', "a\xff", "1"}}, 0, 0, 0, NULL, false},
    {"twice", {{'0', "a", "1"}, {'0', "a", "2"}}, 0, 0, 0, NULL, false},
    {"not sorted", {{'0', "b", "1"}, {'0', "a", "2"}}, 0, 0, 0, NULL, false},
    {"file and folder", {{'0', "a", "1"}, {'0', "a/b", "2"}}, 0, 0, 0, NULL, false},
    {"setuid", {{'0', "a", "1"}}, 0, 100, 8, "0004755", false},
    {"writable by all", {{'0', "a", "1"}}, 0, 100, 8, "0000666", false},
    {"mode with blanks", {{'0', "a", "1"}}, 0, 100, 8, "   644 ", false},
    {"owner", {{'0', "a", "1"}}, 0, 108, 8, "0001750", false},
    {"group", {{'0', "a", "1"}}, 0, 116, 8, "0001750", false},
    {"name of the owner", {{'0', "a", "1"}}, 0, 265, 4, "root", false},
    {"time", {{'0', "a", "1"}}, 0, 136, 12, "00000000001", false},
    {"checksum", {{'0', "a", "1"}}, 0, 148, 6, "000000", true},
    {"form of the checksum", {{'0', "a", "1"}}, 0, 155, 1, "\0", true},
    {"magic of GNU", {{'0', "a", "1"}}, 0, 257, 8, "ustar  ", false},
    {"target of a link", {{'0', "a", "1"}}, 0, 157, 11, "/etc/passwd", false},
    {"needless prefix", {{'0', "b", "1"}}, 0, 345, 1, "a", false},
    {"behind the prefix", {{'0', "b", "1"}}, 0, 505, 1, "a", false},
    {"size in base 256", {{'0', "a", "1"}}, 0, 124, 12, "\x80\0\0\0\0\0\0\0\0\0\0\1", false},
    {"size with blanks", {{'0', "a", "1"}}, 0, 124, 12, "         1 ", false},
    {"size without end", {{'0', "a", "1"}}, 0, 124, 12, "000000000001", false},
    {"padding", {{'0', "a", "1"}}, 0, BLOCK + 500, 1, "x", false},
    {"huge", {{'0', "a", ""}}, 0xffffffff, 0, 0, NULL, false},
    {"cut off", {{'0', "a", "1"}}, 4000, 0, 0, NULL, false},
    {"size by pax", {{'x', "pax", "10 size=1\n"}, {'0', "a", "1"}}, 0, 0, 0, NULL, false},
    {"link by pax", {{'x', "pax", "14 linkpath=b\n"}, {'0', "a", "1"}}, 0, 0, 0, NULL, false},
    {"needless pax", {{'x', "pax", "10 path=b\n"}, {'0', "b", "1"}}, 0, 0, 0, NULL, false},
    {"pax of another path", {{'x', "pax", "13 path=../b\n"}, {'0', "a", "1"}}, 0, 0, 0, NULL, false},
    {"two records", {{'x', "pax", "10 path=b\n10 path=c\n"}, {'0', "b", "1"}}, 0, 0, 0, NULL, false},
    {"two pax headers", {{'x', "pax", "10 path=b\n"}, {'x', "pax", "10 path=b\n"}, {'0', "b", "1"}}, 0, 0, 0, NULL, false},
    {"pax alone", {{'x', "pax", "10 path=b\n"}}, 0, 0, 0, NULL, false},
    {"huge pax", {{'x', "pax", ""}}, 100000, 0, 0, NULL, false},
};
/* clang-format on */

static struct str make_hostile(const struct hostile *row)
{
    struct tar t = {.p = arena_alloc(&arena, 64 * BLOCK)};

    for (size_t i = 0; i < 3 && row->entries[i].path; i++) {
        const char *text = row->entries[i].text;

        head(&t, row->entries[i].path, row->entries[i].type,
             i == 0 && row->size ? row->size : (unsigned)strlen(text));
        body(&t, text);
    }
    if (row->n)
        memcpy(t.p + row->at, row->bytes, row->n);
    if (!row->bad_sum)
        sum(t.p);
    t.n += (size_t)2 * BLOCK;
    return squeeze(&t, "");
}

TEST(the_reader_takes_what_the_writer_writes_alone)
{
    struct archive_file *files;
    size_t count;

    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        struct str why = read_object(make_hostile(&hostile[i]), &files, &count);

        if ((why.n == 0) != (i == 0)) {
            printf("# %s: %s\n", hostile[i].name, why.p);
            CHECK(false);
        }
    }
}

/* The envelope: gzip, and the end. */
TEST(the_envelope_is_one_gzip_member)
{
    struct tar t = {.p = arena_alloc(&arena, 64 * BLOCK)};
    struct archive_file *files;
    struct str good, bad;
    size_t count;

    head(&t, "a", '0', 1);
    body(&t, "1");
    t.n += (size_t)2 * BLOCK;
    good = squeeze(&t, "");
    CHECK_STR(read_object(good, &files, &count).p, "");
    CHECK(read_object(squeeze(&t, "x"), &files, &count).n);
    bad = str_join(good, good, &arena);
    CHECK(read_object(bad, &files, &count).n);
    for (size_t i = 0; i < good.n; i++)
        CHECK(read_object(str_slice(good, 0, i), &files, &count).n);
    for (size_t i = 0; i < good.n; i++) {
        char *flipped = arena_text(&arena, good.p, good.n);

        flipped[i] ^= 1;
        /* A bit of the padding of deflate says nothing. */
        CHECK(read_object(str_make(flipped, good.n), &files, &count).n ||
              (count == 1 && str_is(files[0].path, "a") &&
               str_is(files[0].bytes, "1")));
    }
    t.n += BLOCK;
    CHECK(read_object(squeeze(&t, ""), &files, &count).n);
    t.n -= (size_t)2 * BLOCK;
    CHECK(read_object(squeeze(&t, ""), &files, &count).n);
    CHECK(read_object(STR("PK\3\4"), &files, &count).n);
}

TEST(limits_hold)
{
    static const struct team_limits few = {2, 10, 8};
    struct archive_file three[] = {
        {.path = STR("a")}, {.path = STR("b")}, {.path = STR("c")}};
    struct archive_file large[] = {
        {.path = STR("a"), .bytes = STR("123456789")}};
    struct archive_file sum_of[] = {{.path = STR("a"), .bytes = STR("123456")},
                                    {.path = STR("b"), .bytes = STR("123456")}};
    struct archive_file *files;
    size_t count;
    struct err e;

    CHECK(!team_object_read(write_object(three, 3), &few, &arena, &files,
                            &count, NULL, &e) &&
          e.code == ERR_LIMIT);
    CHECK(!team_object_read(write_object(large, 1), &few, &arena, &files,
                            &count, NULL, &e) &&
          e.code == ERR_LIMIT);
    CHECK(!team_object_read(write_object(sum_of, 2), &few, &arena, &files,
                            &count, NULL, &e) &&
          e.code == ERR_LIMIT);
}

/* GNU tar has no part in this program: it is the witness. */
TEST(gnu_tar_reads_it)
{
    struct archive_file in[] = {
        {.path = STR("SKILL.md"), .bytes = STR("text\n")},
        {.path = STR("bin/run"), .bytes = STR("#!"), .executable = true},
        {.path = long_path(300), .bytes = STR("deep\n")},
    };
    char name[] = "/tmp/team_object.XXXXXX", line[1024];
    struct str gz = write_object(in, 3);
    int fd = mkstemp(name);
    size_t lines = 0;
    FILE *f;

    CHECK(fd >= 0 && write(fd, gz.p, gz.n) == (ssize_t)gz.n);
    close(fd);
    snprintf(line, sizeof line, "tar -tvzf %s 2>&1", name);
    f = popen(line, "r");
    while (f && fgets(line, sizeof line, f)) {
        struct str shown = str_trim(str_cstr(line));

        CHECK(str_ends(shown, in[lines].path));
        CHECK(str_starts(shown, in[lines].executable ? STR("-rwxr-xr-x 0/0")
                                                     : STR("-rw-r--r-- 0/0")));
        lines++;
    }
    CHECK(f && pclose(f) == 0 && lines == 3);
    unlink(name);
}

/* --- names ---------------------------------------------------------------------- */

TEST(names)
{
    struct hash h = hash_of(STR("x"));
    struct hash p = hash_of(str_make("github.com/a/b\0"
                                     "c\0"
                                     "skills/x\0"
                                     "o",
                                     27));
    struct str name = team_object_name(&h, &arena), proof;

    CHECK(str_eq(name, str_join(STR("mapm1-"), hash_hex(&h, &arena), &arena)));
    proof = team_proof_name(STR("github.com/a/b"), STR("c"), STR("skills/x"),
                            STR("o"), &arena);
    CHECK(
        str_eq(proof, str_join(STR("mapm1p-"), hash_hex(&p, &arena), &arena)));
    CHECK(team_name_is_valid(name) && team_name_is_valid(proof));
    CHECK(!team_name_is_valid(STR("mapm1-")) &&
          !team_name_is_valid(STR("latest")));
    CHECK(!team_name_is_valid(str_join(name, STR("0"), &arena)));
    CHECK(digest_parse(digest_format(&h, &arena), &p) && hash_eq(&h, &p));
    CHECK(!digest_parse(STR("sha512:00"), &p));
}

/* --- manifests -------------------------------------------------------------------- */

#define HEX "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
#define CONFIG_TEXT                                                            \
    "{\"mediaType\":\"application/vnd.oci.image.config.v1+json\","             \
    "\"digest\":\"sha256:" HEX "\",\"size\":204}"
#define LAYER_TEXT                                                             \
    "{\"mediaType\":\"application/vnd.oci.image.layer.v1.tar+gzip\","          \
    "\"digest\":\"sha256:" HEX "\",\"size\":17}"
#define START                                                                  \
    "{\"schemaVersion\":2,\"mediaType\":\"application/vnd.oci.image."          \
    "manifest.v1+json\",\"artifactType\":\"application/vnd.mapm.package.v1\","

TEST(a_manifest_is_written_and_read)
{
    struct hash h = hash_of(STR("test"));
    struct team_manifest m =
                             {
                                 .config = {h, 204},
                                 .layer = {h, 17},
                                 .type = STR("skill"),
                                 .title = STR("pdf"),
                                 .commit = STR("tree"),
                             },
                         out;
    struct buf text;
    struct err e;

    buf_init(&text, TEAM_MANIFEST_MAX_BYTES);
    team_manifest_write(&m, &text);
    CHECK_STR(text.p, START "\"config\":" CONFIG_TEXT ",\"layers\":[" LAYER_TEXT
                            "],\"annotations\":{\"dev.mapm.type\":\"skill\","
                            "\"org.opencontainers.image.title\":\"pdf\","
                            "\"dev.mapm.commit\":\"dHJlZQ==\"}}");
    CHECK(team_manifest_parse(buf_str(&text), &arena, &out, &e));
    CHECK(hash_eq(&out.layer.digest, &h) && out.layer.size == 17);
    CHECK(!out.is_proof && str_is(out.title, "pdf"));
    CHECK(str_is(out.commit, "dHJlZQ=="));
    buf_clear(&text);
    team_config_write(STR("skill pdf"), &h, &text);
    CHECK_STR(text.p, "{\"architecture\":\"amd64\",\"os\":\"linux\",\"config\":"
                      "{\"Labels\":{\"dev.mapm.package\":\"skill pdf\"}},"
                      "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":"
                      "[\"sha256:" HEX "\"]}}");
    buf_done(&text);
}

TEST(manifests_of_others_are_refused)
{
    static const char *const bad[] = {
        "",
        "[]",
        "{}",
        "{\"schemaVersion\":1,\"name\":\"x\",\"fsLayers\":[]}",
        "{\"schemaVersion\":2,\"mediaType\":\"application/"
        "vnd.docker.distribution.manifest.v2+json\"}",
        "{\"schemaVersion\":2,\"mediaType\":\"" TEAM_INDEX_TYPE
        "\",\"manifests\":[]}",
        "{\"schemaVersion\":2,\"mediaType\":\"" TEAM_MANIFEST_TYPE
        "\",\"artifactType\":\"application/vnd.cncf.skill.manifest.v1+json\"}",
        START "\"config\":" CONFIG_TEXT ",\"layers\":[],\"annotations\":{}}",
        START "\"config\":" CONFIG_TEXT ",\"layers\":[" LAYER_TEXT
              "," LAYER_TEXT "],\"annotations\":{}}",
        START "\"config\":" LAYER_TEXT ",\"layers\":[" LAYER_TEXT
              "],\"annotations\":{}}",
        START "\"config\":" CONFIG_TEXT ",\"layers\":[" CONFIG_TEXT
              "],\"annotations\":{}}",
        START "\"config\":" CONFIG_TEXT ",\"layers\":{\"x\":" LAYER_TEXT
              "},\"annotations\":{}}",
        START "\"config\":" CONFIG_TEXT ",\"layers\":[" LAYER_TEXT
              "],\"annotations\":{\"x\":1}}",
        START "\"config\":" CONFIG_TEXT ",\"layers\":[" LAYER_TEXT
              "],\"annotations\":[]}",
        START "\"config\":" CONFIG_TEXT ",\"layers\":[" LAYER_TEXT
              "],\"annotations\":{},\"subject\":{}}",
        START "\"config\":" CONFIG_TEXT
              ",\"layers\":[{\"mediaType\":\"" TEAM_LAYER_TYPE
              "\",\"digest\":\"sha256:" HEX
              "\",\"size\":1,\"urls\":[\"http://x\"]}],\"annotations\":{}}",
        START "\"config\":" CONFIG_TEXT
              ",\"layers\":[{\"mediaType\":\"" TEAM_LAYER_TYPE
              "\",\"digest\":\"sha512:" HEX
              "\",\"size\":1}],\"annotations\":{}}",
        START "\"config\":" CONFIG_TEXT
              ",\"layers\":[{\"mediaType\":\"" TEAM_LAYER_TYPE
              "\",\"digest\":\"sha256:" HEX
              "\",\"size\":-1}],\"annotations\":{}}",
        START "\"config\":" CONFIG_TEXT
              ",\"layers\":[{\"mediaType\":\"" TEAM_LAYER_TYPE
              "\",\"digest\":\"sha256:" HEX
              "\",\"size\":99999999999}],\"annotations\":{}}",
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct team_manifest out;
        struct err e = {0};

        if (team_manifest_parse(str_cstr(bad[i]), &arena, &out, &e))
            printf("# row %zu\n", i);
        CHECK(strstr(err_first(&e), "mapm object") ||
              err_next(&e, err_first(&e)));
    }
}

/* --- proofs ------------------------------------------------------------------------ */

struct git {
    struct buf trees; /* as the store keeps them */
    char id[41];      /* of the last one */
};

static void git_put(struct git *g, unsigned type, const char *name,
                    struct str bytes)
{
    struct checksum c;
    uint8_t id[CHECKSUM_BYTES];
    struct str head = arena_printf(&arena, "%s %zu", name, bytes.n);

    checksum_init(&c);
    checksum_add(&c, str_make(head.p, head.n + 1));
    checksum_add(&c, bytes);
    checksum_end(&c, id);
    for (size_t i = 0; i < sizeof id; i++)
        snprintf(g->id + 2 * i, 3, "%02x", id[i]);
    buf_char(&g->trees, (char)type);
    for (size_t i = 0; i < 4; i++)
        buf_char(&g->trees, (char)(bytes.n >> 8 * i));
    buf_append(&g->trees, bytes);
}

static void entry(struct buf *tree, const char *mode, const char *name,
                  const char *id)
{
    buf_printf(tree, "%s %s", mode, name);
    buf_char(tree, '\0');
    for (size_t i = 0; i < 40; i += 2) {
        char two[3] = {id[i], id[i + 1], '\0'};

        buf_char(tree, (char)strtoul(two, NULL, 16));
    }
}

static void git_tree(struct git *g, const char *const (*entries)[3])
{
    struct buf tree;

    buf_init(&tree, 10000);
    for (; (*entries)[0]; entries++)
        entry(&tree, (*entries)[0], (*entries)[1], (*entries)[2]);
    git_put(g, 2, "tree", buf_str(&tree));
    buf_done(&tree);
}

/* skills/x has a link to ../../shared/y, beside much that is not needed. */
struct repository {
    struct git git;
    char commit[41], root[41], skills[41], x[41], deep[41], shared[41], y[41],
        link[41];
};

#define BLOB "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

static void keep(const struct git *g, char out[41])
{
    memcpy(out, g->id, 41);
}

static void make_repository(struct repository *r)
{
    struct git *g = &r->git;

    buf_init(&g->trees, 1u << 20);
    git_put(g, 3, "blob", STR("../../shared/y"));
    keep(g, r->link);
    git_tree(g, (const char *[][3]){{"100644", "f", BLOB}, {NULL}});
    keep(g, r->y);
    keep(g, r->deep);
    git_tree(g, (const char *[][3]){
                    {"100644", "g", BLOB}, {"40000", "y", r->y}, {NULL}});
    keep(g, r->shared);
    git_tree(g, (const char *[][3]){{"100644", "SKILL.md", BLOB},
                                    {"40000", "deep", r->deep},
                                    {"120000", "link", r->link},
                                    {NULL}});
    keep(g, r->x);
    git_tree(g, (const char *[][3]){{"40000", "x", r->x}, {NULL}});
    keep(g, r->skills);
    git_tree(g, (const char *[][3]){{"40000", "shared", r->shared},
                                    {"40000", "skills", r->skills},
                                    {NULL}});
    keep(g, r->root);
    git_put(g, 1, "commit",
            arena_printf(&arena, "tree %s\nauthor x\n\nm\n", r->root));
    keep(g, r->commit);
}

static bool prove_by(struct team_trees *trees, const char *commit,
                     const struct team_proof_end *ends, size_t count,
                     struct buf *out, struct err *e)
{
    struct archive_file *files;
    size_t n;

    return team_proof_find(trees, str_cstr(commit), ends, count,
                           &team_proof_limits, &arena, &files, &n, e) &&
           str_is(files[0].path, commit) &&
           team_object_write(files, n, out, NULL, e);
}

static bool prove(struct str trees, const char *commit,
                  const struct team_proof_end *ends, size_t count,
                  struct buf *out, struct err *e)
{
    struct team_trees read;

    return team_trees_read(trees, &arena, &read, e) &&
           prove_by(&read, commit, ends, count, out, e);
}

static bool is_any(struct str path, const char *const *ids)
{
    for (; *ids; ids++)
        if (str_is(path, *ids))
            return true;
    return false;
}

TEST(a_proof_has_what_leads_to_the_package)
{
    struct repository r;
    struct buf out;
    struct archive_file *files;
    size_t count;
    struct team_proof_end end;
    struct err e = {0};

    make_repository(&r);
    buf_init(&out, TEAM_OBJECT_MAX_BYTES);
    end = (struct team_proof_end){STR("skills/x"), str_cstr(r.x)};
    CHECK(prove(buf_str(&r.git.trees), r.commit, &end, 1, &out, &e));
    CHECK_STR(err_first(&e), "");
    CHECK(team_object_read(buf_str(&out), &team_proof_limits, &arena, &files,
                           &count, NULL, &e));
    CHECK(count == 7); /* y and deep are one */
    for (size_t i = 0; i < count; i++)
        CHECK(is_any(files[i].path,
                     (const char *[]){r.commit, r.root, r.skills, r.x, r.deep,
                                      r.shared, r.link, NULL}));
    buf_clear(&out);
    CHECK(!prove(buf_str(&r.git.trees), r.x, &end, 1, &out, &e));
    for (size_t n = 0; n < r.git.trees.n; n++)
        CHECK(!prove(str_slice(buf_str(&r.git.trees), 0, n), r.commit, &end, 1,
                     &out, &e));
    end.object = str_cstr(r.y);
    CHECK(!prove(buf_str(&r.git.trees), r.commit, &end, 1, &out, &e));
    end = (struct team_proof_end){STR("skills/z"), str_cstr(r.x)};
    CHECK(!prove(buf_str(&r.git.trees), r.commit, &end, 1, &out, &e));
    CHECK(e.code == ERR_NOT_FOUND);
    buf_done(&out);
    buf_done(&r.git.trees);
}

TEST(a_proof_has_a_maximum) /* [S2] [S4] */
{
    struct repository r;
    struct team_trees trees;
    struct team_limits limits = team_bundle_limits;
    struct archive_file *files;
    size_t count, bytes = 0;
    struct team_proof_end end;
    struct err e = {0};

    make_repository(&r);
    end = (struct team_proof_end){STR("skills/x"), str_cstr(r.x)};
    CHECK(team_trees_read(buf_str(&r.git.trees), &arena, &trees, &e));
    CHECK(team_proof_find(&trees, str_cstr(r.commit), &end, 1, &limits, &arena,
                          &files, &count, &e));
    for (size_t i = 0; i < count; i++)
        bytes += files[i].bytes.n;
    limits = (struct team_limits){.max_files = count, .max_bytes = bytes};
    CHECK(team_proof_find(&trees, str_cstr(r.commit), &end, 1, &limits, &arena,
                          &files, &count, &e));
    limits.max_bytes--;
    CHECK(!team_proof_find(&trees, str_cstr(r.commit), &end, 1, &limits, &arena,
                           &files, &count, &e));
    CHECK(e.code == ERR_LIMIT);
    limits = (struct team_limits){.max_files = count - 1, .max_bytes = bytes};
    err_clear(&e);
    CHECK(!team_proof_find(&trees, str_cstr(r.commit), &end, 1, &limits, &arena,
                           &files, &count, &e));
    CHECK(e.code == ERR_LIMIT);
    buf_done(&r.git.trees);
}

TEST(a_large_tree_of_a_proof_is_apart) /* [S2] */
{
    static const struct {
        const char *bytes;
        size_t size; /* 0: no tree */
    } rows[] = {
        {"tree 4097", 4097},
        {"tree 262144", 262144},
        {"tree 4096", 0},
        {"tree 262145", 0},
        {"tree 04097", 0},
        {"tree 4097 ", 0},
        {"tree -5000", 0},
        {"tree ", 0},
        {"blob 4097", 0},
        {"", 0},
        {"tree 99999999999999999999999999", 0},
    };
    char *large = arena_alloc(&arena, TEAM_TREE_MAX_BYTES + 1);
    struct archive_file files[] = {
        {STR("c"), str_make(large, TEAM_TREE_MAX_BYTES + 1), false},
        {STR("a"), str_make(large, TEAM_TREE_MAX_BYTES), false},
        {STR("b"), str_make(large, TEAM_TREE_MAX_BYTES + 1), false},
    };
    struct map apart;
    size_t size;

    map_init(&apart, &arena);
    map_put(&apart, team_tree_name(STR("h/o/r"), STR("a"), &arena), large);
    map_put(&apart, team_tree_name(STR("h/o/r"), STR("b"), &arena), large);
    map_put(&apart, team_tree_name(STR("h/o/r"), STR("c"), &arena), large);
    team_proof_split(files, 3, STR("h/o/other"), &apart, &arena);
    CHECK(files[2].bytes.p == large);
    team_proof_split(files, 3, STR("h/o/r"), &apart, &arena);
    CHECK(files[0].bytes.p == large && files[1].bytes.p == large);
    CHECK(str_is(files[2].bytes, "tree 4097"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size = 0;
        CHECK(team_tree_size(str_cstr(rows[i].bytes), &size) ==
              (rows[i].size > 0));
        CHECK(!rows[i].size || size == rows[i].size);
    }
}

TEST(a_proof_of_several_has_each_tree_once)
{
    struct repository r;
    struct buf one, two;
    struct team_trees trees;
    struct archive_file *files;
    size_t count;
    struct team_proof_end ends[2];
    struct err e = {0};

    make_repository(&r);
    buf_init(&one, TEAM_OBJECT_MAX_BYTES);
    buf_init(&two, TEAM_OBJECT_MAX_BYTES);
    ends[0] = (struct team_proof_end){STR("shared/y"), str_cstr(r.y)};
    ends[1] = (struct team_proof_end){STR("skills/x"), str_cstr(r.x)};
    CHECK(team_trees_read(buf_str(&r.git.trees), &arena, &trees, &e));
    CHECK(prove_by(&trees, r.commit, ends, 1, &one, &e));
    CHECK(team_object_read(buf_str(&one), &team_proof_limits, &arena, &files,
                           &count, NULL, &e));
    CHECK(count == 4);
    CHECK(prove_by(&trees, r.commit, ends, 2, &two, &e));
    CHECK(team_object_read(buf_str(&two), &team_proof_limits, &arena, &files,
                           &count, NULL, &e));
    CHECK(count == 7);
    /* The same trees again: each walk takes its own. */
    buf_clear(&two);
    CHECK(prove_by(&trees, r.commit, ends, 1, &two, &e));
    CHECK(str_eq(buf_str(&one), buf_str(&two)));
    /* One that is wrong is enough. */
    ends[1].object = str_cstr(r.y);
    CHECK(!prove_by(&trees, r.commit, ends, 2, &two, &e));
    CHECK(e.code == ERR_NOT_FOUND);
    buf_done(&one);
    buf_done(&two);
    buf_done(&r.git.trees);
}
