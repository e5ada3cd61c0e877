#include "object_pack.h"

#include "base/invariant.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC       "mapmpak"
#define VERSION     '1'
#define MAGIC_BYTES 8

#define ESTIMATE_MAX_TRIES 12 /* estimates per search in a pack */

static uint64_t read_number(const char *p, size_t bytes)
{
    uint64_t n = 0;

    for (size_t i = 0; i < bytes; i++)
        n = n << 8 | (unsigned char)p[i];
    return n;
}

static void write_number(struct buf *out, uint64_t n, size_t bytes)
{
    while (bytes-- > 0)
        buf_char(out, (char)(n >> (8 * bytes)));
}

enum pack_verdict pack_parse_end(struct str end, uint64_t size,
                                 size_t *row_bytes)
{
    uint64_t count;

    if (end.n != PACK_END_BYTES || size < PACK_END_BYTES ||
        memcmp(end.p + 8, MAGIC, MAGIC_BYTES - 1) != 0)
        return PACK_BAD;
    if (end.p[PACK_END_BYTES - 1] != VERSION)
        return PACK_NEWER;
    count = read_number(end.p, 8);
    if (count == 0 || count > PACK_MAX_OBJECTS ||
        count * PACK_ROW_BYTES > size - PACK_END_BYTES)
        return PACK_BAD;
    *row_bytes = (size_t)count * PACK_ROW_BYTES;
    return PACK_GOOD;
}

struct pack_row pack_row(const struct pack_index *p, size_t at)
{
    const char *bytes = p->rows.p + at * PACK_ROW_BYTES;
    struct pack_row row;

    INVARIANT(at < p->count && p->rows.n == p->count * PACK_ROW_BYTES);
    memcpy(row.hash.b, bytes, sizeof row.hash.b);
    row.offset = read_number(bytes + sizeof row.hash.b, 8);
    row.size = (uint32_t)read_number(bytes + sizeof row.hash.b + 8, 4);
    return row;
}

static int compare(const struct pack_index *p, size_t at, const struct hash *h)
{
    return memcmp(p->rows.p + at * PACK_ROW_BYTES, h->b, sizeof h->b);
}

bool pack_parse_rows(struct str rows, uint64_t data, struct pack_index *out)
{
    struct pack_index p = {rows, rows.n / PACK_ROW_BYTES};

    if (p.count == 0 || rows.n % PACK_ROW_BYTES != 0)
        return false;
    for (size_t i = 0; i < p.count; i++) {
        struct pack_row row = pack_row(&p, i);

        if ((i > 0 && compare(&p, i - 1, &row.hash) >= 0) ||
            row.size >= PACK_OBJECT_MAX_BYTES || row.size > data ||
            row.offset > data - row.size)
            return false;
    }
    *out = p;
    return true;
}

static uint64_t key_at(const struct pack_index *p, size_t at)
{
    return read_number(p->rows.p + at * PACK_ROW_BYTES, 8);
}

/* The position of `key` between two keys, if keys were evenly distributed. */
static size_t estimate(size_t count, uint64_t low, uint64_t high, uint64_t key)
{
    double share = (double)(key - low) / ((double)(high - low) + 1);
    size_t at = (size_t)(share * (double)count);

    INVARIANT(low <= key && key <= high && count);
    return at < count ? at : count - 1;
}

/* Hashes are evenly distributed, so a few estimates come close to the row,
 * where a binary search would touch twenty pages. A forged pack with another
 * distribution falls back to binary search. */
size_t pack_find(const struct pack_index *p, const struct hash *h)
{
    size_t from = 0, to = p->count, tries = 0;
    uint64_t key = read_number((const char *)h->b, 8);
    uint64_t low = 0, high = UINT64_MAX;

    while (from < to) {
        bool estimating = tries++ < ESTIMATE_MAX_TRIES;
        size_t n = to - from;
        size_t at = from + (estimating ? estimate(n, low, high, key) : n / 2);
        int order = compare(p, at, h);

        if (order == 0)
            return at;
        if (order < 0) {
            from = at + 1;
            low = key_at(p, at);
        } else {
            to = at;
            high = key_at(p, at);
        }
    }
    return SIZE_MAX;
}

static int by_hash(const void *x, const void *y)
{
    const struct pack_row *a = x, *b = y;

    return memcmp(a->hash.b, b->hash.b, sizeof a->hash.b);
}

void pack_format(struct pack_row *rows, size_t count, struct buf *out)
{
    qsort(rows, count, sizeof *rows, by_hash);
    for (size_t i = 0; i < count; i++) {
        INVARIANT(!i || by_hash(&rows[i - 1], &rows[i]) < 0);
        INVARIANT(rows[i].size < PACK_OBJECT_MAX_BYTES);
        buf_append(
            out, str_make((const char *)rows[i].hash.b, sizeof rows[i].hash.b));
        write_number(out, rows[i].offset, 8);
        write_number(out, rows[i].size, 4);
    }
    write_number(out, count, 8);
    buf_text(out, MAGIC);
    buf_char(out, VERSION);
}
