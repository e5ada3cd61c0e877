#include "pack.h"

#include "base/checksum.h"
#include "base/invariant.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "delta.h"

#define HEADER_BYTES   12
#define VERSION        2
#define KIND_OFS_DELTA 6
#define KIND_REF_DELTA 7
#define STEP_MAX_BYTES (1u << 30) /* zlib counts in unsigned int */
/* git mostly writes a delta soon after its base. */
#define PACK_HELD_MAX_BYTES (256u * 1024)

enum state {
    AT_HEADER,
    AT_ENTRY,  /* type and size, byte by byte */
    AT_OFFSET, /* distance to the base of an ofs-delta */
    AT_BASE,   /* id of the base of a ref-delta */
    AT_DATA,
    AT_TRAILER,
    AT_END,
    FAILED,
};

struct entry {
    struct oid id;   /* of a pending ref-delta, that of its base */
    unsigned type;   /* an object_type; 0 while the base is unknown */
    uint64_t offset; /* position in the pack */
    char *bytes;     /* content, or the instructions of a pending delta; NULL
                      * if released */
    size_t n;
    struct entry *waiting; /* deltas that need this entry first */
    struct entry *next; /* in that list, or in the list of complete entries */
};

/* Deltas on a base, named by id, that has not arrived. */
struct absent {
    struct oid id;
    struct entry *waiting;
};

struct pack {
    struct pack_limits limits;
    struct pack_sink sink;
    enum state state;
    z_stream z;
    struct checksum sum;           /* checksum of everything before the
                                    * trailer */
    uint64_t fed;                  /* bytes consumed */
    uint64_t inflated;             /* total bytes of the entries */
    uint32_t count;                /* declared in the header */
    uint32_t whole;                /* objects passed to the sink */
    uint32_t pending;              /* deltas whose base is missing so far */
    unsigned char part[OID_BYTES]; /* partial header, base id or trailer */
    size_t part_n;

    /* The entry being read. */
    struct entry *now;
    unsigned kind;
    uint64_t size; /* declared size */
    unsigned shift;
    uint64_t distance;

    struct arena arena;     /* entries and tables; contents are on the heap */
    struct entry **entries; /* in order of the pack */
    size_t entry_count, entry_capacity;
    size_t held_from;  /* the first entry that was not released */
    uint64_t held;     /* bytes of the complete entries from there on */
    struct map ids;    /* id -> complete struct entry */
    struct map absent; /* id -> struct absent */
};

/* Returns `l`, or the built-in limit if that is larger. */
static const struct limit *at_least(const struct limit *l,
                                    const struct limit *usual)
{
    return l->value > usual->value ? l : usual;
}

struct pack_limits pack_limits_of(const struct limits *l)
{
    const struct limits *usual = &limits_default;

    return (struct pack_limits){
        .bytes = l->transfer_max_bytes,
        .objects = l->transfer_max_objects,
        .object = *at_least(&l->file_max_bytes, &usual->file_max_bytes),
        .max_inflated_bytes =
            2 *
            at_least(&l->transfer_max_bytes, &usual->transfer_max_bytes)->value,
    };
}

struct pack *pack_open(const struct pack_limits *limits,
                       const struct pack_sink *sink)
{
    struct pack *p = heap_alloc(sizeof *p);

    p->limits = *limits;
    p->sink = *sink;
    checksum_init(&p->sum);
    map_init(&p->ids, &p->arena);
    map_init(&p->absent, &p->arena);
    if (inflateInit(&p->z) != Z_OK)
        p->state = FAILED;
    return p;
}

void pack_close(struct pack **p)
{
    if (!*p)
        return;
    inflateEnd(&(*p)->z);
    for (size_t i = 0; i < (*p)->entry_count; i++)
        heap_free((*p)->entries[i]->bytes);
    arena_done(&(*p)->arena);
    heap_free(*p);
    *p = NULL;
}

uint32_t pack_object_count(const struct pack *p)
{
    return p->whole;
}

uint64_t pack_byte_count(const struct pack *p)
{
    return p->fed;
}

bool pack_is_whole(const struct pack *p)
{
    return p->state == AT_END;
}

static bool damaged(const char *what, struct err *e)
{
    return err_set(e, ERR_DAMAGED, "the pack is damaged: %s", what);
}

static struct str key_of(const struct oid *id)
{
    return str_make((const char *)id->b, OID_BYTES);
}

static struct str content(const struct entry *entry)
{
    return str_make(entry->bytes, entry->n);
}

/* --- deltas --------------------------------------------------------------- */

/* Adds the size of an object to the total, within the limits. */
static bool charge(struct pack *p, uint64_t bytes, struct err *e)
{
    if (bytes > p->limits.object.value)
        return limit_fail(&p->limits.object, e,
                          "an object of %" PRIu64
                          " bytes, more than the %" PRIu64 " allowed for one",
                          bytes, p->limits.object.value);
    if (bytes > p->limits.max_inflated_bytes - p->inflated)
        return err_set(e, ERR_LIMIT,
                       "the pack unfolds to more than the %" PRIu64
                       " bytes allowed",
                       p->limits.max_inflated_bytes);
    p->inflated += bytes;
    return true;
}

/* Replaces the instructions of `entry` by the resulting object. */
static bool unfold(struct pack *p, struct entry *entry, unsigned type,
                   struct str base, struct err *e)
{
    struct str rest = content(entry);
    uint64_t base_bytes, result_bytes;
    char *result;

    if (!delta_sizes(&rest, &base_bytes, &result_bytes, e))
        return err_wrap(e, "the pack is damaged");
    if (base_bytes != base.n)
        return damaged("a delta that was made for another base", e);
    if (!charge(p, result_bytes, e))
        return false;
    result = heap_alloc((size_t)result_bytes);
    if (!delta_apply(rest, base, result, (size_t)result_bytes, e)) {
        heap_free(result);
        return err_wrap(e, "the pack is damaged");
    }
    INVARIANT(p->inflated >= entry->n && !entry->type);
    p->inflated -= entry->n;
    heap_free(entry->bytes);
    entry->bytes = result;
    entry->n = (size_t)result_bytes;
    entry->type = type;
    return true;
}

static bool publish(struct pack *p, struct entry *entry, struct err *e)
{
    char hex[OID_HEX_CHARS + 1];

    if (!oid_of((enum object_type)entry->type, content(entry), &entry->id, e))
        return false;
    if (!map_put(&p->ids, key_of(&entry->id), entry)) {
        oid_format(&entry->id, hex);
        return err_set(e, ERR_DAMAGED,
                       "the pack is damaged: it has object %s twice", hex);
    }
    p->whole++;
    if (entry->offset >= p->entries[p->held_from]->offset)
        p->held += entry->n;
    INVARIANT(p->whole + p->pending <= p->entry_count);
    INVARIANT(p->whole == p->ids.count);
    return p->sink.object(p->sink.ctx, (enum object_type)entry->type,
                          &entry->id, content(entry), e);
}

/* Resolves all deltas in `waiting` on `base` and moves them to the ready
 * list. */
static bool wake(struct pack *p, struct entry **waiting,
                 const struct entry *base, struct entry **ready, struct err *e)
{
    struct entry *entry;

    while ((entry = *waiting)) {
        *waiting = entry->next;
        if (!unfold(p, entry, base->type, content(base), e))
            return false;
        INVARIANT(p->pending);
        p->pending--;
        entry->next = *ready;
        *ready = entry;
    }
    return true;
}

/* Passes the complete `entry` to the sink, then all deltas that depend on it,
 * directly or indirectly. Uses a list instead of recursion, since chains of
 * deltas have no maximum length. */
static bool resolve(struct pack *p, struct entry *entry, struct err *e)
{
    struct entry *ready = entry;

    entry->next = NULL;
    while ((entry = ready)) {
        struct absent *absent;

        ready = entry->next;
        entry->next = NULL;
        if (!publish(p, entry, e))
            return false;
        if (p->pending == 0)
            continue;
        if (!wake(p, &entry->waiting, entry, &ready, e))
            return false;
        absent = map_find(&p->absent, key_of(&entry->id));
        if (absent && !wake(p, &absent->waiting, entry, &ready, e))
            return false;
    }
    return true;
}

/* Frees the content of the oldest entries that the sink keeps. */
static void release(struct pack *p)
{
    while (p->held > PACK_HELD_MAX_BYTES && p->held_from + 1 < p->entry_count) {
        struct entry *entry = p->entries[p->held_from++];

        if (!entry->type)
            continue; /* a pending delta */
        INVARIANT(p->held >= entry->n);
        p->held -= entry->n;
        if (p->sink.keeps &&
            p->sink.keeps(p->sink.ctx, (enum object_type)entry->type,
                          &entry->id)) {
            heap_free(entry->bytes);
            entry->bytes = NULL;
        }
    }
}

/* Unfolds the delta `entry` on the object `id`, which the sink has, and passes
 * it on. Sets `*found` to false if the sink does not have it. */
static bool resolve_outside(struct pack *p, struct entry *entry,
                            const struct oid *id, bool *found, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct object *base = NULL;

    if (p->sink.base && !p->sink.base(p->sink.ctx, id, &a, &base, e))
        return false;
    *found = base != NULL;
    return !base || (unfold(p, entry, base->type, base->bytes, e) &&
                     resolve(p, entry, e));
}

/* The same for a complete entry of the pack. */
static bool resolve_on(struct pack *p, struct entry *entry,
                       const struct entry *base, struct err *e)
{
    bool found;

    if (base->bytes)
        return unfold(p, entry, base->type, content(base), e) &&
               resolve(p, entry, e);
    return resolve_outside(p, entry, &base->id, &found, e) &&
           (found || damaged("a base that is no longer there", e));
}

static void wait_in(struct pack *p, struct entry **list, struct entry *entry)
{
    entry->next = *list;
    *list = entry;
    p->pending++;
}

static struct absent *absent_get(struct pack *p, const struct oid *id)
{
    struct absent *absent = map_find(&p->absent, key_of(id));

    if (absent)
        return absent;
    absent = arena_new(&p->arena, struct absent);
    absent->id = *id;
    map_put(&p->absent, key_of(&absent->id), absent);
    return absent;
}

static bool resolve_ref_delta(struct pack *p, struct entry *entry,
                              struct err *e)
{
    const struct entry *base = map_find(&p->ids, key_of(&entry->id));
    bool found = false;

    if (base)
        return resolve_on(p, entry, base, e);
    if (!resolve_outside(p, entry, &entry->id, &found, e))
        return false;
    if (!found)
        wait_in(p, &absent_get(p, &entry->id)->waiting, entry);
    return true;
}

/* Returns the entry at exactly `offset`, or NULL. */
static struct entry *find_entry(const struct pack *p, uint64_t offset)
{
    size_t low = 0, high = p->entry_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (p->entries[middle]->offset == offset)
            return p->entries[middle];
        if (p->entries[middle]->offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static bool resolve_ofs_delta(struct pack *p, struct entry *entry,
                              struct err *e)
{
    struct entry *base = find_entry(p, entry->offset - p->distance);

    INVARIANT(base && base != entry); /* checked by read_offset */
    if (!base->type) {
        wait_in(p, &base->waiting, entry);
        return true;
    }
    return resolve_on(p, entry, base, e);
}

/* --- parsing -------------------------------------------------------------- */

/* Collects `wanted` bytes in p->part. Returns true when they are complete. */
static bool collect(struct pack *p, struct str *bytes, size_t wanted)
{
    size_t n = wanted - p->part_n;

    INVARIANT(wanted <= sizeof p->part && p->part_n < wanted);
    if (n > bytes->n)
        n = bytes->n;
    memcpy(p->part + p->part_n, bytes->p, n);
    *bytes = str_from_index(*bytes, n);
    p->part_n += n;
    if (p->part_n < wanted)
        return false;
    p->part_n = 0;
    return true;
}

static unsigned take_byte(struct str *bytes)
{
    unsigned byte = (unsigned char)bytes->p[0];

    INVARIANT(bytes->n);
    *bytes = str_from_index(*bytes, 1);
    return byte;
}

static uint32_t number32(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 |
           b[3];
}

static void next_entry(struct pack *p)
{
    p->now = NULL;
    p->state = p->entry_count == p->count ? AT_TRAILER : AT_ENTRY;
}

static bool read_header(struct pack *p, struct str *bytes, struct err *e)
{
    if (!collect(p, bytes, HEADER_BYTES))
        return true;
    if (memcmp(p->part, "PACK", 4) != 0)
        return damaged("it does not start as a pack", e);
    if (number32(p->part + 4) != VERSION)
        return err_set(e, ERR_DAMAGED, "a pack of version %" PRIu32 ", not %d",
                       number32(p->part + 4), VERSION);
    p->count = number32(p->part + 8);
    if (p->count > p->limits.objects.value)
        return limit_fail(&p->limits.objects, e,
                          "a pack of %" PRIu32
                          " objects, more than the %" PRIu64 " allowed",
                          p->count, p->limits.objects.value);
    next_entry(p);
    return !p->sink.header || p->sink.header(p->sink.ctx, p->count, e);
}

/* Type and size are known; nothing has been inflated yet. */
static bool begin_data(struct pack *p, struct err *e)
{
    if (!charge(p, p->size, e))
        return false;
    /* One byte more, to detect an object that inflates to more than it
     * declares. */
    p->now->bytes = heap_alloc((size_t)p->size + 1);
    inflateReset(&p->z);
    p->state = AT_DATA;
    return true;
}

static struct entry *add_entry(struct pack *p)
{
    struct entry *entry = arena_new(&p->arena, struct entry);

    p->entries = arena_extend(&p->arena, p->entries, p->entry_count,
                              &p->entry_capacity, sizeof(struct entry *));
    p->entries[p->entry_count++] = entry;
    return entry;
}

static bool read_entry(struct pack *p, struct str *bytes, struct err *e)
{
    uint64_t offset = p->fed;
    unsigned byte = take_byte(bytes);

    if (!p->now) {
        p->now = add_entry(p);
        p->now->offset = offset;
        p->kind = byte >> 4 & 7;
        p->size = byte & 15;
        p->shift = 4;
    } else {
        if (p->shift > 53)
            return damaged("an object without a sensible size", e);
        p->size |= (uint64_t)(byte & 0x7f) << p->shift;
        p->shift += 7;
    }
    if (byte & 0x80)
        return true;
    switch (p->kind) {
    case OBJECT_COMMIT:
    case OBJECT_TREE:
    case OBJECT_BLOB:
    case OBJECT_TAG:
        return begin_data(p, e);
    case KIND_OFS_DELTA:
        p->distance = 0;
        p->shift = 0;
        p->state = AT_OFFSET;
        return true;
    case KIND_REF_DELTA:
        p->state = AT_BASE;
        return true;
    default:
        return err_set(e, ERR_DAMAGED,
                       "the pack is damaged: an object of unknown type %u",
                       p->kind);
    }
}

static bool read_offset(struct pack *p, struct str *bytes, struct err *e)
{
    unsigned byte = take_byte(bytes);

    /* gitformat-pack: each byte but the first adds one, so that every distance
     * has exactly one encoding. */
    p->distance += p->shift++ ? 1 : 0;
    if (p->distance > p->now->offset)
        return damaged("a delta whose base lies before the pack", e);
    p->distance = p->distance << 7 | (byte & 0x7f);
    if (byte & 0x80)
        return true;
    if (p->distance == 0 || p->distance > p->now->offset ||
        !find_entry(p, p->now->offset - p->distance))
        return damaged("a delta whose base is no object", e);
    return begin_data(p, e);
}

static bool read_base(struct pack *p, struct str *bytes, struct err *e)
{
    if (!collect(p, bytes, OID_BYTES))
        return true;
    memcpy(p->now->id.b, p->part, OID_BYTES);
    return begin_data(p, e);
}

static bool end_data(struct pack *p, struct err *e)
{
    struct entry *entry = p->now;
    unsigned kind = p->kind;

    entry->n = (size_t)p->size;
    next_entry(p);
    if (kind == KIND_OFS_DELTA)
        return resolve_ofs_delta(p, entry, e);
    if (kind == KIND_REF_DELTA)
        return resolve_ref_delta(p, entry, e);
    entry->type = kind;
    return resolve(p, entry, e);
}

static bool end_entry(struct pack *p, struct err *e)
{
    if (!end_data(p, e))
        return false;
    release(p);
    return true;
}

static unsigned step(uint64_t bytes)
{
    return bytes > STEP_MAX_BYTES ? STEP_MAX_BYTES : (unsigned)bytes;
}

static bool read_data(struct pack *p, struct str *bytes, struct err *e)
{
    unsigned input = step(bytes->n);
    uint64_t made = p->z.total_out;
    int status;

    INVARIANT(p->now && made <= p->size);
    /* zlib does not write to its input; its declaration lacks the const. */
    p->z.next_in = (Bytef *)(uintptr_t)bytes->p;
    p->z.avail_in = input;
    p->z.next_out = (Bytef *)p->now->bytes + made;
    p->z.avail_out = step(p->size + 1 - made);
    status = inflate(&p->z, Z_NO_FLUSH);
    *bytes = str_from_index(*bytes, input - p->z.avail_in);
    if (status != Z_OK && status != Z_STREAM_END)
        return damaged("an object that cannot be inflated", e);
    if (p->z.total_out > p->size)
        return damaged("an object larger than it says", e);
    if (p->z.total_in > 2 * p->size + PACKED_SLACK_BYTES)
        return damaged("an object packed into more bytes than it has", e);
    if (status != Z_STREAM_END)
        return true;
    if (p->z.total_out < p->size)
        return damaged("an object smaller than it says", e);
    return end_entry(p, e);
}

static bool refuse_checksum(struct err *e)
{
    damaged("its checksum (SHA-1) is not that of its bytes, which were "
            "changed on their way or by the server",
            e);
    return err_hint(e, "try again; if it stays so, look for a proxy that "
                       "changes answers, or tell the host's administrator");
}

static bool read_trailer(struct pack *p, struct str *bytes, struct err *e)
{
    uint8_t sum[CHECKSUM_BYTES];

    if (!collect(p, bytes, CHECKSUM_BYTES))
        return true;
    checksum_end(&p->sum, sum);
    if (memcmp(sum, p->part, CHECKSUM_BYTES) != 0)
        return refuse_checksum(e);
    p->state = AT_END;
    return true;
}

static bool refuse_more(struct pack *p, struct str *bytes, struct err *e)
{
    (void)p;
    (void)bytes;
    return damaged("there are bytes after its end", e);
}

static bool refuse_failed(struct pack *p, struct str *bytes, struct err *e)
{
    (void)p;
    (void)bytes;
    return damaged("reading it has failed before", e);
}

bool pack_feed(struct pack *p, struct str bytes, struct err *e)
{
    static bool (*const readers[])(struct pack *, struct str *,
                                   struct err *) = {
        [AT_HEADER] = read_header, [AT_ENTRY] = read_entry,
        [AT_OFFSET] = read_offset, [AT_BASE] = read_base,
        [AT_DATA] = read_data,     [AT_TRAILER] = read_trailer,
        [AT_END] = refuse_more,    [FAILED] = refuse_failed,
    };

    if (bytes.n > p->limits.bytes.value - p->fed) {
        p->state = FAILED;
        return limit_fail(&p->limits.bytes, e,
                          "the pack is larger than the %" PRIu64
                          " bytes allowed",
                          p->limits.bytes.value);
    }
    while (bytes.n) {
        enum state before_state = p->state;
        struct str before = bytes;
        bool is_summed = p->state < AT_TRAILER;

        if (!readers[p->state](p, &bytes, e)) {
            p->state = FAILED;
            return false;
        }
        INVARIANT(bytes.n < before.n || p->state != before_state);
        before.n -= bytes.n;
        p->fed += before.n;
        if (is_summed)
            checksum_add(&p->sum, before);
    }
    return true;
}

static bool refuse_pending(const struct pack *p, struct err *e)
{
    char hex[OID_HEX_CHARS + 1] = "?";

    for (size_t i = 0; i < p->absent.count; i++) {
        const struct absent *absent = p->absent.entries[i].value;

        if (absent->waiting) {
            oid_format(&absent->id, hex);
            break;
        }
    }
    return err_set(e, ERR_DAMAGED,
                   "the pack is damaged: the base %s of a delta is missing",
                   hex);
}

bool pack_end(struct pack *p, struct err *e)
{
    if (p->state == FAILED)
        return refuse_failed(p, NULL, e);
    if (p->state != AT_END)
        return damaged("it ends early", e);
    INVARIANT(p->whole + p->pending == p->count);
    return p->pending == 0 || p->sink.may_lack_bases || refuse_pending(p, e);
}

void pack_each(const struct pack *p,
               void (*visit)(void *ctx, enum object_type type,
                             const struct oid *id, uint64_t packed_bytes),
               void *ctx)
{
    for (size_t i = 0; i < p->entry_count; i++) {
        const struct entry *entry = p->entries[i];
        uint64_t end = i + 1 < p->entry_count ? p->entries[i + 1]->offset
                                              : p->fed - OID_BYTES;

        if (entry->type && !oid_is_zero(&entry->id))
            visit(ctx, (enum object_type)entry->type, &entry->id,
                  end - entry->offset);
    }
}
