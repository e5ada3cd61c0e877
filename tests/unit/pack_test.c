/* The pack reader: FETCH.md 5; [row 4, row 13, row 14, row 30]. */

#include "base/buf.h"
#include "base/checksum.h"
#include "mapm/limits.h"

#include <git2.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "../../fetch/worker/delta.h"
#include "../../fetch/worker/pack.h"
#include "tap.h"

__attribute__((constructor)) static void set_up(void)
{
    git_libgit2_init();
}

/* --- packs made by hand ----------------------------------------------- */

struct maker {
    struct buf out;
    size_t starts[8]; /* of the objects */
    size_t count;
};

static void make_init(struct maker *m, unsigned version, uint32_t count)
{
    unsigned char head[12] = {'P', 'A', 'C', 'K'};

    *m = (struct maker){0};
    buf_init(&m->out, 64 << 20);
    head[7] = (unsigned char)version;
    for (int i = 0; i < 4; i++)
        head[8 + i] = (unsigned char)(count >> (24 - 8 * i));
    buf_append(&m->out, str_make((char *)head, sizeof head));
}

static void make_size(struct maker *m, unsigned kind, uint64_t size)
{
    unsigned byte = kind << 4 | (unsigned)(size & 15);

    if (m->count < 8)
        m->starts[m->count++] = m->out.n;
    for (size >>= 4; size; size >>= 7) {
        buf_char(&m->out, (char)(byte | 0x80));
        byte = size & 0x7f;
    }
    buf_char(&m->out, (char)byte);
}

static void make_data(struct maker *m, struct str data)
{
    uLongf n = compressBound(data.n);
    char *room = buf_reserve(&m->out, n);

    compress((Bytef *)room, &n, (const Bytef *)data.p, data.n);
    m->out.n += n;
}

static void make_object(struct maker *m, unsigned kind, struct str data)
{
    make_size(m, kind, data.n);
    make_data(m, data);
}

static void make_distance(struct maker *m, size_t distance)
{
    char bytes[10];
    int n = 0;

    bytes[n++] = (char)(distance & 0x7f);
    while (distance >>= 7)
        bytes[n++] = (char)(0x80 | (--distance & 0x7f));
    while (n)
        buf_char(&m->out, bytes[--n]);
}

/* On the `base`-th object. */
static void make_ofs_delta(struct maker *m, size_t base, struct str delta)
{
    size_t start = m->out.n;

    make_size(m, 6, delta.n);
    make_distance(m, start - m->starts[base]);
    make_data(m, delta);
}

static void make_ref_delta(struct maker *m, const struct oid *base,
                           struct str delta)
{
    make_size(m, 7, delta.n);
    buf_append(&m->out, str_make((const char *)base->b, OID_BYTES));
    make_data(m, delta);
}

static void make_end(struct maker *m)
{
    struct checksum sum;
    uint8_t bytes[CHECKSUM_BYTES];

    checksum_init(&sum);
    checksum_add(&sum, buf_str(&m->out));
    checksum_end(&sum, bytes);
    buf_append(&m->out, str_make((char *)bytes, sizeof bytes));
}

/* --- reading ---------------------------------------------------------- */

struct seen {
    struct arena a;
    struct objects objects; /* all that came */
    struct objects known;   /* bases from outside */
    uint32_t announced;
    unsigned asked; /* calls of on_base */
    bool keeps, fails;
};

static bool on_header(void *ctx, uint32_t count, struct err *e)
{
    (void)e;
    ((struct seen *)ctx)->announced = count;
    return true;
}

static bool on_object(void *ctx, enum object_type type, const struct oid *id,
                      struct str bytes, struct err *e)
{
    struct seen *s = ctx;
    struct oid again;

    CHECK(oid_of(type, bytes, &again, e) && oid_eq(&again, id));
    objects_put(&s->objects, type, id, bytes);
    return true;
}

static bool on_base(void *ctx, const struct oid *id, struct arena *a,
                    const struct object **out, struct err *e)
{
    struct seen *s = ctx;

    (void)a;
    s->asked++;
    if (s->fails)
        return err_set(e, ERR_IO, "cannot read it again");
    *out = objects_find(&s->known, id);
    return true;
}

/* From then on a published object can be requested as a base, and its bytes in
 * the pack are freed. */
static bool on_keeps(void *ctx, enum object_type type, const struct oid *id)
{
    struct seen *s = ctx;
    const struct object *o = objects_find(&s->objects, id);

    CHECK(o && o->type == type);
    if (s->keeps)
        objects_put(&s->known, type, id, o->bytes);
    return s->keeps;
}

static void seen_init(struct seen *s)
{
    *s = (struct seen){0};
    objects_init(&s->objects, &s->a);
    objects_init(&s->known, &s->a);
}

/* `chunk` bytes at a time; 0: all at once. */
static bool read_pack(struct seen *s, struct str bytes, size_t chunk,
                      const struct pack_limits *limits, struct err *e)
{
    struct pack_sink sink = {.header = on_header,
                             .object = on_object,
                             .keeps = on_keeps,
                             .base = on_base,
                             .ctx = s};
    CLEANUP(pack_close) struct pack *p = pack_open(limits, &sink);

    if (!chunk)
        chunk = bytes.n + 1;
    while (bytes.n) {
        if (!pack_feed(p, str_slice(bytes, 0, chunk), e))
            return false;
        bytes = str_from_index(bytes, chunk);
    }
    if (!pack_end(p, e))
        return false;
    CHECK(pack_object_count(p) == s->objects.map.count);
    return true;
}

/* "" if the pack is valid, otherwise the innermost message. */
static const char *verdict(struct maker *m, const struct pack_limits *limits,
                           size_t *count, enum err_code *code)
{
    static struct err e;
    struct pack_limits usual = pack_limits_of(&limits_default);
    char first[512] = "";

    for (size_t chunk = 0; chunk <= 7; chunk += 1) {
        struct seen s;
        bool ok;

        seen_init(&s);
        e = (struct err){0};
        ok = read_pack(&s, buf_str(&m->out), chunk, limits ? limits : &usual,
                       &e);
        CHECK(ok == (e.code == ERR_NONE));
        if (chunk)
            CHECK_STR(err_first(&e), first);
        else
            snprintf(first, sizeof first, "%s", err_first(&e));
        if (count)
            *count = s.objects.map.count;
        arena_done(&s.a);
    }
    buf_done(&m->out);
    if (code)
        *code = e.code;
    return err_first(&e);
}

/* "abcdefghij" -> "abcdeXYZfghij" */
static const struct str insert_delta =
    STR_INIT("\x0a\x0d\x90\x05\x03XYZ\x91\x05\x05");

TEST(objects_of_each_kind_come_whole)
{
    struct maker m;
    size_t n;

    make_init(&m, 2, 5);
    make_object(&m, 1, STR("tree x\n"));
    make_object(&m, 2, STR(""));
    make_object(&m, 3, STR("hello"));
    make_object(&m, 4, STR("object y\n"));
    make_object(&m, 3, STR(""));
    make_end(&m);
    CHECK_STR(verdict(&m, NULL, &n, NULL), "");
    CHECK(n == 5);
}

TEST(an_empty_pack_is_a_pack)
{
    struct maker m;

    make_init(&m, 2, 0);
    make_end(&m);
    CHECK_STR(verdict(&m, NULL, NULL, NULL), "");
}

TEST(deltas_on_earlier_objects)
{
    struct maker m;
    struct oid base, result;
    struct err e = {0};
    struct seen s;
    struct pack_limits limits = pack_limits_of(&limits_default);

    make_init(&m, 2, 4);
    make_object(&m, 3, STR("abcdefghij"));
    make_ofs_delta(&m, 0, insert_delta);
    CHECK(oid_of(OBJECT_BLOB, STR("abcdeXYZfghij"), &base, &e));
    make_ref_delta(&m, &base, STR("\x0d\x02\x91\x05\x01\x01j"));
    make_ofs_delta(&m, 2, STR("\x02\x01\x90\x01"));
    make_end(&m);
    seen_init(&s);
    CHECK(read_pack(&s, buf_str(&m.out), 0, &limits, &e));
    CHECK(s.announced == 4 && s.objects.map.count == 4);
    CHECK(oid_of(OBJECT_BLOB, STR("abcdeXYZfghij"), &result, &e) &&
          objects_find(&s.objects, &result));
    CHECK(oid_of(OBJECT_BLOB, STR("Xj"), &result, &e) &&
          objects_find(&s.objects, &result));
    CHECK(oid_of(OBJECT_BLOB, STR("X"), &result, &e) &&
          objects_find(&s.objects, &result));
    arena_done(&s.a);
    CHECK_STR(verdict(&m, NULL, NULL, NULL), "");
}

TEST(bases_that_come_later)
{
    struct maker m;
    struct oid last;
    struct err e = {0};
    size_t n;

    /* 0 waits for 2; 1 builds on 0. */
    CHECK(oid_of(OBJECT_BLOB, STR("abcdefghij"), &last, &e));
    make_init(&m, 2, 3);
    make_ref_delta(&m, &last, insert_delta);
    make_ofs_delta(&m, 0, STR("\x0d\x02\x91\x05\x01\x01j"));
    make_object(&m, 3, STR("abcdefghij"));
    make_end(&m);
    CHECK_STR(verdict(&m, NULL, &n, NULL), "");
    CHECK(n == 3);
}

TEST(bases_from_outside)
{
    struct maker m;
    struct err e = {0};
    struct seen s;
    struct oid base;
    struct pack_limits limits = pack_limits_of(&limits_default);

    CHECK(oid_of(OBJECT_BLOB, STR("abcdefghij"), &base, &e));
    make_init(&m, 2, 1);
    make_ref_delta(&m, &base, insert_delta);
    make_end(&m);
    seen_init(&s);
    objects_put(&s.known, OBJECT_BLOB, &base, STR("abcdefghij"));
    CHECK(read_pack(&s, buf_str(&m.out), 0, &limits, &e));
    arena_done(&s.a);
    CHECK_STR(verdict(&m, NULL, NULL, NULL),
              "the pack is damaged: the base "
              "c76a96421b967235e3e3c307c8fe4ff16fbef402 of a delta is missing");
}

/* A first object that is a base, 300,000 bytes of others, then deltas on the
 * first one, by distance and by id. */
static void make_far_deltas(struct maker *m)
{
    struct err e = {0};
    struct oid base;
    char filler[30000];

    make_init(m, 2, 13);
    make_object(m, 3, STR("abcdefghij"));
    for (size_t i = 0; i < 10; i++) {
        memset(filler, (int)('a' + i), sizeof filler);
        make_object(m, 3, str_make(filler, sizeof filler));
    }
    make_ofs_delta(m, 0, insert_delta);
    CHECK(oid_of(OBJECT_BLOB, STR("abcdefghij"), &base, &e));
    make_ref_delta(m, &base, STR("\x0a\x01\x90\x01"));
    make_end(m);
}

/* [F7] Content that the sink stores is not kept in memory: an old base is
 * requested again. */
TEST(bases_that_the_sink_keeps)
{
    struct pack_limits limits = pack_limits_of(&limits_default);
    struct maker m;

    for (int keeps = 0; keeps <= 1; keeps++) {
        struct err e = {0};
        struct seen s;

        make_far_deltas(&m);
        seen_init(&s);
        s.keeps = keeps;
        CHECK(read_pack(&s, buf_str(&m.out), 0, &limits, &e));
        CHECK(s.asked == (keeps ? 2 : 0));
        CHECK((s.known.map.count > 0) == s.keeps);
        arena_done(&s.a);
        seen_init(&s);
        s.keeps = keeps;
        s.fails = true;
        CHECK(read_pack(&s, buf_str(&m.out), 0, &limits, &e) == !keeps);
        CHECK_STR(err_first(&e), keeps ? "cannot read it again" : "");
        arena_done(&s.a);
        buf_done(&m.out);
    }
}

TEST(two_deltas_that_wait_for_each_other_are_refused)
{
    struct maker m;
    struct oid one = {{1}}, two = {{2}};

    make_init(&m, 2, 2);
    make_ref_delta(&m, &one, insert_delta);
    make_ref_delta(&m, &two, insert_delta);
    make_end(&m);
    CHECK_STR(verdict(&m, NULL, NULL, NULL),
              "the pack is damaged: the base "
              "0100000000000000000000000000000000000000 of a delta is missing");
}

/* [row 30] 100,000 links of a chain use no C stack, in either direction. */
TEST(chains_may_be_long)
{
    enum { LINKS = 100000 };
    struct pack_limits limits = pack_limits_of(&limits_default);
    struct err e = {0};
    struct maker m;
    struct seen s;
    struct oid id;
    size_t previous = 0;

    CHECK(oid_of(OBJECT_BLOB, STR("aaaa"), &id, &e));
    make_init(&m, 2, LINKS + 1);
    for (int i = 0; i < LINKS; i++) {
        char delta[] = "\x04\x04\x04....";
        size_t start = m.out.n;

        /* Each object has new content, so that none occurs twice. */
        for (int k = 0; k < 4; k++)
            delta[3 + k] = (char)('A' + (i >> (4 * k) & 15));
        if (i >> 16)
            delta[3] |= 0x20;
        if (i == 0) {
            make_ref_delta(&m, &id, str_make(delta, 7));
        } else {
            make_size(&m, 6, 7);
            make_distance(&m, start - previous);
            make_data(&m, str_make(delta, 7));
        }
        previous = start;
    }
    make_object(&m, 3, STR("aaaa"));
    make_end(&m);
    seen_init(&s);
    CHECK(read_pack(&s, buf_str(&m.out), 0, &limits, &e));
    CHECK_STR(err_first(&e), "");
    CHECK(s.objects.map.count == LINKS + 1);
    arena_done(&s.a);
    buf_done(&m.out);
}

/* --- what is refused -------------------------------------------------- */

TEST(headers)
{
    struct pack_limits limits = pack_limits_of(&limits_default);
    enum err_code code;
    struct maker m;

    make_init(&m, 3, 0);
    make_end(&m);
    CHECK_STR(verdict(&m, NULL, NULL, NULL), "a pack of version 3, not 2");

    make_init(&m, 2, 0);
    m.out.p[0] = 'p';
    make_end(&m);
    CHECK_STR(verdict(&m, NULL, NULL, NULL),
              "the pack is damaged: it does not start as a pack");

    /* [row 4] refused by 12 bytes alone */
    make_init(&m, 2, 0xffffffff);
    CHECK_STR(verdict(&m, NULL, NULL, &code),
              "a pack of 4294967295 objects, more than the 1000000 allowed "
              "(transfer_max_objects)");
    CHECK(code == ERR_LIMIT);

    limits.objects.value = 1;
    make_init(&m, 2, 1);
    make_object(&m, 3, STR("x"));
    make_end(&m);
    CHECK_STR(verdict(&m, &limits, NULL, NULL), "");
    make_init(&m, 2, 2);
    CHECK_STR(verdict(&m, &limits, NULL, NULL),
              "a pack of 2 objects, more than the 1 allowed "
              "(transfer_max_objects)");
}

/* [row 4] before a byte of it is inflated */
TEST(object_limit)
{
    struct pack_limits limits = pack_limits_of(&limits_default);
    enum err_code code;
    struct maker m;

    limits.object.value = 64;
    make_init(&m, 2, 1);
    make_object(&m, 3,
                STR("0123456789012345678901234567890123456789012345678"
                    "901234567890123"));
    make_end(&m);
    CHECK_STR(verdict(&m, &limits, NULL, NULL), "");

    make_init(&m, 2, 1);
    make_size(&m, 3, 65);
    CHECK_STR(verdict(&m, &limits, NULL, &code),
              "an object of 65 bytes, more than the 64 allowed for one "
              "(file_max_bytes)");
    CHECK(code == ERR_LIMIT);

    make_init(&m, 2, 1);
    make_size(&m, 3, UINT64_C(1) << 40);
    verdict(&m, NULL, NULL, &code);
    CHECK(code == ERR_LIMIT);

    /* [row 4] a delta bomb of 14 bytes */
    make_init(&m, 2, 2);
    make_object(&m, 3, STR("abcdefghij"));
    make_ofs_delta(&m, 0, STR("\x0a\x80\x80\x80\x80\x08\x90\x0a"));
    make_end(&m);
    CHECK_STR(verdict(&m, NULL, NULL, &code),
              "an object of 2147483648 bytes, more than the 33554432 allowed "
              "for one (file_max_bytes)");
    CHECK(code == ERR_LIMIT);
}

TEST(limit_of_all_together)
{
    struct pack_limits limits = pack_limits_of(&limits_default);
    enum err_code code;
    struct maker m;

    for (uint64_t max = 10; max >= 9; max--) {
        limits.max_inflated_bytes = max;
        make_init(&m, 2, 2);
        make_object(&m, 3, STR("12345"));
        make_object(&m, 3, STR("67890"));
        make_end(&m);
        CHECK_STR(verdict(&m, &limits, NULL, &code),
                  max == 10 ? ""
                            : "the pack unfolds to more than the 9 bytes "
                              "allowed");
    }
    limits = pack_limits_of(&limits_default);
    limits.bytes.value = 40;
    make_init(&m, 2, 1);
    make_object(&m, 3, STR("12345"));
    make_end(&m);
    CHECK(m.out.n > 40);
    verdict(&m, &limits, NULL, &code);
    CHECK(code == ERR_LIMIT);
}

TEST(sizes_that_lie)
{
    struct maker m;

    make_init(&m, 2, 1);
    make_size(&m, 3, 4);
    make_data(&m, STR("hello"));
    make_end(&m);
    CHECK_STR(verdict(&m, NULL, NULL, NULL),
              "the pack is damaged: an object larger than it says");

    make_init(&m, 2, 1);
    make_size(&m, 3, 0);
    make_data(&m, STR("hello"));
    make_end(&m);
    CHECK_STR(verdict(&m, NULL, NULL, NULL),
              "the pack is damaged: an object larger than it says");

    make_init(&m, 2, 1);
    make_size(&m, 3, 6);
    make_data(&m, STR("hello"));
    make_end(&m);
    CHECK_STR(verdict(&m, NULL, NULL, NULL),
              "the pack is damaged: an object smaller than it says");

    make_init(&m, 2, 1);
    make_size(&m, 3, 6);
    buf_text(&m.out, "this is no zlib stream at all");
    make_end(&m);
    CHECK_STR(verdict(&m, NULL, NULL, NULL),
              "the pack is damaged: an object that cannot be inflated");

    make_init(&m, 2, 1);
    buf_append(&m.out, STR("\xb0\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"));
    make_end(&m);
    CHECK_STR(verdict(&m, NULL, NULL, NULL),
              "the pack is damaged: an object without a sensible size");
}

TEST(unknown_types)
{
    static const unsigned kinds[] = {0, 5};

    for (size_t i = 0; i < 2; i++) {
        struct maker m;
        char wanted[80];

        make_init(&m, 2, 1);
        make_object(&m, kinds[i], STR("hello"));
        make_end(&m);
        snprintf(wanted, sizeof wanted,
                 "the pack is damaged: an object of unknown type %u", kinds[i]);
        CHECK_STR(verdict(&m, NULL, NULL, NULL), wanted);
    }
}

TEST(bases_that_are_none)
{
    static const size_t distances[] = {0, 1, 5, 100, 1u << 30};

    for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
        struct maker m;
        const char *got;

        make_init(&m, 2, 2);
        make_object(&m, 3, STR("abcdefghij"));
        make_size(&m, 6, insert_delta.n);
        make_distance(&m, distances[i]);
        make_data(&m, insert_delta);
        make_end(&m);
        got = verdict(&m, NULL, NULL, NULL);
        CHECK(strstr(got, "a delta whose base ") != NULL);
    }
}

TEST(the_end)
{
    struct maker m;

    make_init(&m, 2, 1);
    make_object(&m, 3, STR("x"));
    make_end(&m);
    m.out.p[m.out.n - 1] ^= 1;
    CHECK_STR(verdict(&m, NULL, NULL, NULL),
              "the pack is damaged: its checksum (SHA-1) is not that of its "
              "bytes, which were changed on their way or by the server");

    make_init(&m, 2, 1);
    make_object(&m, 3, STR("x"));
    make_end(&m);
    buf_char(&m.out, 'x');
    CHECK_STR(verdict(&m, NULL, NULL, NULL),
              "the pack is damaged: there are bytes after its end");

    /* fewer, or more, than the header says */
    make_init(&m, 2, 2);
    make_object(&m, 3, STR("x"));
    make_end(&m);
    CHECK(verdict(&m, NULL, NULL, NULL)[0] != '\0');
    make_init(&m, 2, 1);
    make_object(&m, 3, STR("x"));
    make_object(&m, 3, STR("y"));
    make_end(&m);
    CHECK(verdict(&m, NULL, NULL, NULL)[0] != '\0');

    make_init(&m, 2, 2);
    make_object(&m, 3, STR("x"));
    make_object(&m, 3, STR("x"));
    make_end(&m);
    CHECK_STR(verdict(&m, NULL, NULL, NULL),
              "the pack is damaged: it has object "
              "c1b0730e0133447badcfd47fd144e254807b06e1 twice");
}

/* [row 13] A pack truncated at any byte is rejected. */
TEST(truncated_anywhere)
{
    struct pack_limits limits = pack_limits_of(&limits_default);
    struct maker m;

    make_init(&m, 2, 2);
    make_object(&m, 3, STR("abcdefghij"));
    make_ofs_delta(&m, 0, insert_delta);
    make_end(&m);
    for (size_t n = 0; n < m.out.n; n++) {
        struct err e = {0};
        struct seen s;

        seen_init(&s);
        CHECK(!read_pack(&s, str_slice(buf_str(&m.out), 0, n), 3, &limits, &e));
        CHECK(e.code == ERR_DAMAGED);
        arena_done(&s.a);
    }
    /* a bit flipped anywhere, too */
    for (size_t bit = 0; bit < 8 * m.out.n; bit++) {
        struct err e = {0};
        struct seen s;

        seen_init(&s);
        m.out.p[bit / 8] ^= (char)(1 << bit % 8);
        CHECK(!read_pack(&s, buf_str(&m.out), 0, &limits, &e));
        m.out.p[bit / 8] ^= (char)(1 << bit % 8);
        arena_done(&s.a);
    }
    buf_done(&m.out);
}

TEST(deltas_that_lie)
{
    /* clang-format off */
    static const struct {
        struct str delta; /* on "abcdefghij" */
        const char *diagnostic;
    } rows[] = {
        {STR_INIT("\x0a\x0a\x90\x0a"), ""},
        {STR_INIT("\x0a\x00"), ""},
        {STR_INIT("\x0b\x0a\x90\x0a"),
         "the pack is damaged: a delta that was made for another base"},
        {STR_INIT("\x0a\x0b\x90\x0b"),
         "a delta that reaches outside its object"},
        {STR_INIT("\x0a\x05\x91\x06\x05"),
         "a delta that reaches outside its object"},
        {STR_INIT("\x0a\x05\x9f\xff\xff\xff\xff\x05"),
         "a delta that reaches outside its object"},
        {STR_INIT("\x0a\x05\x80"), "a delta that reaches outside its object"},
        {STR_INIT("\x0a\x05\x91"), "a delta that reaches outside its object"},
        {STR_INIT("\x0a\x05\x05" "abcd"),
         "a delta that reaches outside its object"},
        {STR_INIT("\x0a\x05\x06" "abcdef"),
         "a delta that reaches outside its object"},
        {STR_INIT("\x0a\x05\x04" "abcd"),
         "a delta that makes 4 bytes where it says 5"},
        {STR_INIT("\x0a\x01\x00\x01" "a"),
         "a delta that reaches outside its object"},
        {STR_INIT("\x0a"), "a delta without sizes"},
        {STR_INIT(""), "a delta without sizes"},
        {STR_INIT("\x8a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00\x00"),
         "a delta without sizes"},
    };
    /* clang-format on */
    for (size_t i = 1; i < sizeof rows / sizeof *rows; i++) {
        struct maker m;

        make_init(&m, 2, 2);
        make_object(&m, 3, STR("abcdefghij"));
        make_ofs_delta(&m, 0, rows[i].delta);
        make_end(&m);
        CHECK_STR(verdict(&m, NULL, NULL, NULL), rows[i].diagnostic);
    }
}

/* --- packs of git ------------------------------------------------------ */

static char dir[64];

static void shell(const char *command)
{
    char line[4096];

    snprintf(line, sizeof line, "cd %s && { %s\n} >/dev/null 2>&1", dir,
             command);
    CHECK(system(line) == 0);
}

static struct str slurp(struct arena *a, const char *name)
{
    char path[128];
    char *text;
    FILE *f;
    long n;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "rb");
    CHECK(f != NULL);
    if (!f)
        return STR("");
    fseek(f, 0, SEEK_END);
    n = ftell(f);
    rewind(f);
    text = arena_alloc(a, (size_t)n + 1);
    CHECK(fread(text, 1, (size_t)n, f) == (size_t)n);
    fclose(f);
    return str_make(text, (size_t)n);
}

static const char make_repository[] =
    "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1\n"
    "git init -q . && git config user.name T && git config user.email t@t\n"
    "i=0; while [ $i -lt 12 ]; do i=$((i+1))\n"
    "  seq 1 $((i * 100)) >numbers; seq $i 7 3000 >more; mkdir -p d/e$i\n"
    "  seq 1 $i >d/e$i/f; git add -A; git commit -q -m $i; git tag -a -m t "
    "t$i\n"
    "done\n"
    "git cat-file --batch-all-objects --batch-check='%(objectname)' >ids\n"
    "git rev-list --all --objects --no-object-names >all\n"
    "git for-each-ref --format='%(objectname)' refs/tags >>all\n"
    "sort -u all >want\n"
    "git pack-objects --stdout --delta-base-offset <want >ofs.pack\n"
    "git pack-objects --stdout <want >ref.pack\n"
    "git pack-objects --stdout --window=0 <want >plain.pack\n"
    "git pack-objects --stdout --depth=4000 --window=50 <want >deep.pack\n"
    "printf 'HEAD\\n^HEAD~3\\n' | git pack-objects --revs --thin --stdout "
    ">thin.pack\n"
    "git rev-list --objects --no-object-names HEAD ^HEAD~3 >thin\n";

static void compare(const char *pack, const char *ids, bool with_bases)
{
    struct pack_limits limits = pack_limits_of(&limits_default);
    struct err e = {0};
    struct seen s, all;
    struct str bytes, rest, line;
    size_t wanted = 0;

    seen_init(&s);
    seen_init(&all);
    if (with_bases) {
        CHECK(read_pack(&all, slurp(&s.a, "plain.pack"), 0, &limits, &e));
        s.known = all.objects;
    }
    bytes = slurp(&s.a, pack);
    CHECK(read_pack(&s, bytes, 1000, &limits, &e));
    CHECK_STR(err_first(&e), "");
    rest = slurp(&s.a, ids);
    while (str_line(&rest, &line)) {
        struct oid id;

        wanted++;
        CHECK(oid_parse(line, &id) && objects_find(&s.objects, &id));
    }
    CHECK(wanted > 10 && s.objects.map.count == wanted);
    arena_done(&s.a);
    arena_done(&all.a);
}

TEST(packs_that_git_made)
{
    snprintf(dir, sizeof dir, "%s/mapm-pack-XXXXXX",
             getenv("TMPDIR") && strlen(getenv("TMPDIR")) < 40
                 ? getenv("TMPDIR")
                 : "/tmp");
    CHECK(mkdtemp(dir) != NULL);
    shell(make_repository);
    compare("plain.pack", "ids", false);
    compare("ofs.pack", "ids", false);
    compare("ref.pack", "ids", false);
    compare("deep.pack", "ids", false);
    compare("thin.pack", "thin", true);
    shell("rm -rf .git ./*");
    CHECK(rmdir(dir) == 0);
}
