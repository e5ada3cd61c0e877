/*
 * The pack reader against libgit2's indexer: the same pack, the same ids, or
 * both refuse. Where ours is stricter by a rule of its own, the rule is in
 * stricter_than_libgit2(). FETCH.md 5; [row 4, row 30].
 *
 * Input: an even first byte: a raw pack (its checksum is put right); an odd
 * one: instructions for building a pack that is nearly whole.
 */

#include "base/buf.h"
#include "base/checksum.h"

#include <dirent.h>
#include <git2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "../../fetch/worker/pack.h"
#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* libgit2 1.5.1 leaks what it has of a pack that it refuses. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libgit2\n";
}

/* --- building --------------------------------------------------------- */

struct input {
    const uint8_t *p, *end;
};

static uint8_t take(struct input *in)
{
    return in->p < in->end ? *in->p++ : 0;
}

static struct str take_text(struct input *in, size_t n)
{
    struct str s;

    if (n > (size_t)(in->end - in->p))
        n = (size_t)(in->end - in->p);
    s = str_make((const char *)in->p, n);
    in->p += n;
    return s;
}

#define OBJECTS_MAX 16

struct built {
    size_t start;
    struct oid id; /* of objects without a delta */
    size_t n;
    bool is_plain;
};

static void put_size(struct buf *out, unsigned kind, uint64_t size)
{
    unsigned byte = kind << 4 | (unsigned)(size & 15);

    for (size >>= 4; size; size >>= 7) {
        buf_char(out, (char)(byte | 0x80));
        byte = size & 0x7f;
    }
    buf_char(out, (char)byte);
}

static void put_number(struct buf *out, size_t n)
{
    for (; n >= 0x80; n >>= 7)
        buf_char(out, (char)(n | 0x80));
    buf_char(out, (char)n);
}

static void put_distance(struct buf *out, size_t distance)
{
    char bytes[10];
    int n = 0;

    bytes[n++] = (char)(distance & 0x7f);
    while (distance >>= 7)
        bytes[n++] = (char)(0x80 | (--distance & 0x7f));
    while (n)
        buf_char(out, bytes[--n]);
}

static void put_deflated(struct buf *out, struct str data)
{
    uLongf n = compressBound(data.n);
    char *room = buf_reserve(out, n);

    if (room &&
        compress((Bytef *)room, &n, (const Bytef *)data.p, data.n) == Z_OK)
        out->n += n;
}

static void put_plain(struct input *in, struct buf *out, struct built *b)
{
    unsigned kind = 1 + take(in) % 4;
    struct str data = take_text(in, take(in));
    unsigned skew = take(in);
    struct err e;

    b->n = data.n;
    b->is_plain = oid_of((enum object_type)kind, data, &b->id, &e);
    put_size(out, kind, data.n + (skew == 255 ? 1 : 0));
    put_deflated(out, data);
}

/* Copies and insertions with sizes that mostly fit. */
static void make_delta(struct input *in, size_t base, struct buf *out)
{
    CLEANUP(buf_done) struct buf body;
    size_t result = 0;

    buf_init(&body, 1 << 16);
    for (unsigned n = take(in) % 6; n; n--) {
        uint8_t op = take(in);
        struct str text;

        if (op & 1) {
            size_t offset = base ? take(in) % base : 0;
            size_t size = 1 + take(in) % 32;

            if (op & 2 && offset + size > base)
                size = base - offset;
            if (size == 0 || op == 0xff)
                continue;
            buf_char(&body, (char)0x91);
            buf_char(&body, (char)offset);
            buf_char(&body, (char)size);
            result += size;
        } else {
            text = take_text(in, 1 + op % 100);
            if (text.n == 0)
                break;
            buf_char(&body, (char)text.n);
            buf_append(&body, text);
            result += text.n;
        }
    }
    put_number(out, base);
    put_number(out, result + (take(in) == 255));
    buf_append(out, buf_str(&body));
}

static void put_delta(struct input *in, struct buf *out, struct built *all,
                      size_t count, bool by_id)
{
    const struct built *base = &all[take(in) % (count ? count : 1)];
    CLEANUP(buf_done) struct buf delta;
    size_t start = out->n;

    buf_init(&delta, 1 << 16);
    if (base->is_plain)
        make_delta(in, base->n, &delta);
    else
        make_delta(in, take(in), &delta);
    put_size(out, by_id ? 7 : 6, delta.n);
    if (by_id)
        buf_append(out, str_make((const char *)base->id.b, OID_BYTES));
    else
        put_distance(out, start - base->start);
    put_deflated(out, buf_str(&delta));
}

/* A reference to content that stands further on. */
static void put_forward(struct input *in, struct buf *out)
{
    struct str data = take_text(in, take(in) % 32);
    CLEANUP(buf_done) struct buf delta;
    struct oid id;
    struct err e;

    if (!oid_of(OBJECT_BLOB, data, &id, &e))
        return;
    buf_init(&delta, 1 << 16);
    make_delta(in, data.n, &delta);
    put_size(out, 7, delta.n);
    buf_append(out, str_make((const char *)id.b, OID_BYTES));
    put_deflated(out, buf_str(&delta));
    put_size(out, 3, data.n);
    put_deflated(out, data);
}

static void build(struct input *in, struct buf *out)
{
    struct built all[OBJECTS_MAX] = {0};
    unsigned count = take(in) % OBJECTS_MAX, made = 0;

    buf_append(out, STR("PACK\0\0\0\2\0\0\0"));
    buf_char(out, 0);
    for (unsigned i = 0; i < count; i++) {
        uint8_t what = take(in) % 8;

        all[i].start = out->n;
        made++;
        if (what < 4 || i == 0) {
            put_plain(in, out, &all[i]);
        } else if (what == 7) {
            put_forward(in, out);
            made++;
        } else {
            put_delta(in, out, all, i, what == 6);
        }
    }
    out->p[11] = (char)(made + (take(in) == 255));
}

static void put_checksum(struct buf *out)
{
    struct checksum sum;
    uint8_t bytes[CHECKSUM_BYTES];

    checksum_init(&sum);
    checksum_add(&sum, buf_str(out));
    checksum_end(&sum, bytes);
    buf_append(out, str_make((char *)bytes, sizeof bytes));
}

/* --- ours ------------------------------------------------------------- */

static bool on_object(void *ctx, enum object_type type, const struct oid *id,
                      struct str bytes, struct err *e)
{
    struct oid again;

    if (!oid_of(type, bytes, &again, e) || !oid_eq(&again, id) ||
        !oid_set_put(ctx, id))
        abort();
    return true;
}

static bool read_ours(struct str bytes, size_t chunk, struct oid_set *ids,
                      struct err *e)
{
    struct pack_limits limits = pack_limits_of(&limits_default);
    struct pack_sink sink = {.object = on_object, .ctx = ids};
    CLEANUP(pack_close) struct pack *p = NULL;

    limits.bytes.value = 4 << 20;
    limits.objects.value = 10000;
    limits.object.value = 1 << 20;
    limits.max_inflated_bytes = 4 << 20;
    p = pack_open(&limits, &sink);
    for (; bytes.n; bytes = str_from_index(bytes, chunk)) {
        if (!pack_feed(p, str_slice(bytes, 0, chunk), e))
            return false;
    }
    if (!pack_end(p, e))
        return false;
    if (pack_object_count(p) != oid_set_count(ids))
        abort();
    return true;
}

/* --- libgit2's -------------------------------------------------------- */

static char dir[64];

static void remove_dir(void)
{
    rmdir(dir);
}

static void make_dir(void)
{
    const char *tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

    if (dir[0])
        return;
    snprintf(dir, sizeof dir, "%s/mapm-fuzz-XXXXXX", tmp);
    if (!mkdtemp(dir))
        abort();
    atexit(remove_dir);
    git_libgit2_init();
    git_libgit2_opts(GIT_OPT_SET_PACK_MAX_OBJECTS, (size_t)10000);
}

/* The ids stand in the index (gitformat-pack, version 2) behind 8 bytes of
 * header and 256 counts. */
static void read_index(FILE *f, struct oid_set *ids)
{
    unsigned char count[4];
    struct oid id;
    uint32_t n;

    if (fseek(f, 8 + 255 * 4, SEEK_SET) != 0 || fread(count, 4, 1, f) != 1)
        abort();
    n = (uint32_t)count[0] << 24 | (uint32_t)count[1] << 16 |
        (uint32_t)count[2] << 8 | count[3];
    while (n--) {
        if (fread(id.b, OID_BYTES, 1, f) != 1)
            abort();
        oid_set_put(ids, &id);
    }
}

/* Reads what the indexer wrote, and leaves the folder empty. */
static void sweep(struct oid_set *ids)
{
    DIR *d = opendir(dir);
    struct dirent *entry;

    while (d && (entry = readdir(d))) {
        char path[400];
        FILE *f;

        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        if (ids && strstr(entry->d_name, ".idx") && (f = fopen(path, "rb"))) {
            read_index(f, ids);
            fclose(f);
        }
        unlink(path);
    }
    if (d)
        closedir(d);
}

static bool read_theirs(struct str bytes, struct oid_set *ids)
{
    git_indexer_options options;
    git_indexer_progress progress = {0};
    git_indexer *indexer;
    bool ok;

    git_indexer_options_init(&options, GIT_INDEXER_OPTIONS_VERSION);
    if (git_indexer_new(&indexer, dir, 0, NULL, &options) < 0)
        abort();
    ok = git_indexer_append(indexer, bytes.p, bytes.n, &progress) == 0 &&
         git_indexer_commit(indexer, &progress) == 0;
    git_indexer_free(indexer);
    sweep(ok ? ids : NULL);
    return ok;
}

/* --- both ------------------------------------------------------------- */

/* What ours refuses though libgit2 takes it. */
static bool stricter_than_libgit2(const struct err *e)
{
    static const char *const rules[] = {
        /* The indexer hashes what it inflates behind a header with the size
         * that was declared, and compares the two nowhere. */
        "an object smaller than it says",
        "an object larger than it says",
    };

    if (e->code == ERR_LIMIT)
        return true;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (strstr(err_first(e), rules[i]))
            return true;
    }
    return false;
}

static void compare(struct str pack, size_t chunk)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct oid_set ours, again, theirs;
    static struct err e, f;
    bool ok;

    oid_set_init(&ours, &a);
    oid_set_init(&again, &a);
    oid_set_init(&theirs, &a);
    e = f = (struct err){0};
    ok = read_ours(pack, pack.n, &ours, &e);
    if (ok == (e.code != ERR_NONE))
        abort();
    OUTCOME("%d", (int)e.code);
    for (size_t i = 0; i < oid_set_count(&ours); i++)
        OUTCOME(" %02x", oid_set_get(&ours, i)->b[0]);
    /* The words may differ: zlib may see that data are bad before or after
     * it has made more of them than there should be. */
    if (read_ours(pack, chunk, &again, &f) != ok || e.code != f.code ||
        oid_set_count(&ours) != oid_set_count(&again))
        abort();
    if (!ok && stricter_than_libgit2(&e))
        return;
    git_error_clear();
    if (read_theirs(pack, &theirs) != ok) {
        fprintf(stderr, "ours: %s; theirs: %s\n", ok ? "fine" : err_first(&e),
                !ok ? "fine" : git_error_last()->message);
        abort();
    }
    if (!ok)
        return;
    if (oid_set_count(&ours) != oid_set_count(&theirs))
        abort();
    for (size_t i = 0; i < oid_set_count(&theirs); i++) {
        if (!oid_set_has(&ours, oid_set_get(&theirs, i)))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, data + size};
    CLEANUP(buf_done) struct buf pack;
    uint8_t how = take(&in);
    size_t chunk = (size_t)1 + take(&in);

    make_dir();
    buf_init(&pack, 2 << 20);
    if (how & 1)
        build(&in, &pack);
    else
        buf_append(&pack, take_text(&in, size));
    if (!(how & 2))
        put_checksum(&pack);
    if (how & 4)
        buf_append(&pack, STR("more"));
    if (!pack.overflowed && pack.n)
        compare(buf_str(&pack), chunk);
    return 0;
}
