#include <endian.h>

#include "text.h"

/*
 * Searching in three ways: memchr for one byte; for more, a filter that looks
 * at the first and the last byte of eight places at once; and when texts are
 * made so that the filter keeps being wrong, the two-way algorithm of Crochemore
 * and Perrin, which is linear whatever comes. It works backwards as well: then
 * both texts are read from their ends.
 */

enum {
    PIECE = 32 * 1024, /* bytes between two looks at the budget */
    UNIT = 64,         /* bytes that count as one step */
    ENDED = -2
};

static bool charge(struct sl_search *q, size_t bytes)
{
    return sl_charge(q->s, bytes / UNIT + 1);
}

/* One more byte was looked at. */
static inline bool pay(struct sl_search *q)
{
    if (++q->owed < PIECE)
        return true;
    q->owed = 0;
    return charge(q, PIECE);
}

/* What is left at the end of a search: short ones, again and again, cost as much
 * as long ones. */
static int64_t settle(struct sl_search *q, int64_t found)
{
    sl_owe(q->s, q->owed / UNIT);
    q->owed %= UNIT;
    return found;
}

/* --- the two-way algorithm ---------------------------------------------------- */

static inline unsigned char at(const char *p, size_t length, size_t i,
                               bool reverse)
{
    return (unsigned char)p[reverse ? length - 1 - i : i];
}

/* Where the suffix begins that is greatest in one of both orders of bytes; 0
 * when a budget ended, which the caller sees from *period being 0. */
static size_t greatest_suffix(struct sl_search *q, bool inverted,
                              size_t *period)
{
    size_t begin = 0, candidate = 1, k = 0, length = 1;

    while (candidate + k < q->length) {
        if (!pay(q)) {
            *period = 0;
            return 0;
        }
        unsigned char a = at(q->needle, q->length, candidate + k, q->reverse);
        unsigned char b = at(q->needle, q->length, begin + k, q->reverse);
        if (a == b) {
            if (++k == length) {
                candidate += length;
                k = 0;
            }
        } else if (inverted ? a > b : a < b) {
            candidate += k + 1;
            k = 0;
            length = candidate - begin;
        } else {
            begin = candidate++;
            k = 0;
            length = 1;
        }
    }
    *period = length;
    return begin;
}

static bool two_way_prepare(struct sl_search *q)
{
    size_t period, inverted_period;
    size_t suffix = greatest_suffix(q, false, &period);
    size_t inverted = greatest_suffix(q, true, &inverted_period);

    if (!period || !inverted_period || !charge(q, q->length))
        return false;
    if (inverted > suffix) {
        suffix = inverted;
        period = inverted_period;
    }
    q->suffix = suffix;
    q->periodic = suffix + period <= q->length;
    for (size_t i = 0; q->periodic && i < suffix; i++) {
        q->periodic = at(q->needle, q->length, i, q->reverse) ==
                      at(q->needle, q->length, i + period, q->reverse);
    }
    if (!q->periodic)
        period =
            (suffix > q->length - suffix ? suffix : q->length - suffix) + 1;
    q->period = period;
    q->two_way = true;
    return true;
}

/* In the order of reading: an offset from the end when it is backwards. */
static inline int64_t two_way(struct sl_search *q, const char *p, size_t length,
                              bool reverse)
{
    const size_t n = q->length;
    size_t pos = 0, memory = 0;

    while (pos + n <= length) {
        size_t i = q->suffix > memory ? q->suffix : memory;

        while (i < n && at(q->needle, n, i, reverse) ==
                            at(p, length, pos + i, reverse)) {
            if (!pay(q))
                return ENDED;
            i++;
        }
        if (!pay(q))
            return ENDED;
        if (i < n) {
            pos += i - q->suffix + 1;
            memory = 0;
            continue;
        }
        for (i = q->suffix;
             i > memory && at(q->needle, n, i - 1, reverse) ==
                               at(p, length, pos + i - 1, reverse);
             i--) {
            if (!pay(q))
                return ENDED;
        }
        if (i <= memory)
            return (int64_t)pos;
        pos += q->period;
        memory = q->periodic ? n - q->period : 0;
    }
    return -1;
}

/* --- the filter ------------------------------------------------------------------ */

/* What the filter looks for: the first byte of the needle, and the last so many
 * bytes on. Both eight times. */
struct ends {
    uint64_t first, last;
    size_t distance;
};

static struct ends ends_of(const struct sl_search *q)
{
    return (struct ends){SL_EACH_BYTE(q->needle[0]),
                         SL_EACH_BYTE(q->needle[q->length - 1]), q->length - 1};
}

/* The places from p on where both are: bit 7 of each byte, the first lowest. */
static inline uint64_t candidates(const struct ends *e, const char *p)
{
    return le64toh(sl_zero_bytes((sl_load8(p) ^ e->first) |
                                 (sl_load8(p + e->distance) ^ e->last)));
}

/* The first of `i`, i + 8 ... with a candidate in its eight places; beyond
 * end - 8 when there is none. A function of its own, for the registers. */
static __attribute__((noinline)) size_t skip(struct ends e, const char *p,
                                             size_t i, size_t end)
{
    for (; i + 8 <= end; i += 8) {
        uint64_t v = (sl_load8(p + i) ^ e.first) |
                     (sl_load8(p + i + e.distance) ^ e.last);
        if ((v - SL_EACH_BYTE(1)) & ~v & SL_EACH_BYTE(0x80))
            break;
    }
    return i;
}

/* Whether the needle is at p; its first and last byte are. Counts what was in
 * vain: a first comparison of a few bytes, and whole ones. */
static inline bool confirm(struct sl_search *q, const char *p)
{
    size_t inner = q->length - 2, probe = inner < 16 ? inner : 16;

    if (p[1] == q->needle[1] && inner <= 1)
        return true;
    if (p[1] != q->needle[1] || memcmp(p + 1, q->needle + 1, probe) != 0) {
        q->wasted += 8;
        return false;
    }
    if (inner <= 16 || memcmp(p + 17, q->needle + 17, inner - 16) == 0)
        return true;
    q->wasted += q->length;
    q->owed += q->length;
    return false;
}

/* Too much was compared in vain for what was passed. */
static bool is_misled(const struct sl_search *q)
{
    return q->wasted > 4096 && q->wasted / 4 > q->advanced;
}

/* Looks at the places from *next to `end`: the first where the needle is; or -1,
 * with *next where to go on, which is earlier when much was in vain. */
static int64_t filter_piece(struct sl_search *q, const char *p, size_t *next,
                            size_t end)
{
    const size_t enough = q->wasted + 8 * PIECE;
    const struct ends ends = ends_of(q);
    size_t i = *next;

    while ((i = skip(ends, p, i, end)) + 8 <= end) {
        uint64_t found = candidates(&ends, p + i);
        for (; found; found &= found - 1) {
            size_t k = i + ((unsigned)__builtin_ctzll(found) >> 3);
            if (confirm(q, p + k))
                return (int64_t)k;
            if (q->wasted > enough) {
                *next = k + 1;
                return -1;
            }
        }
        i += 8;
    }
    for (; i < end; i++) {
        if (p[i] == q->needle[0] &&
            p[i + ends.distance] == q->needle[ends.distance] &&
            confirm(q, p + i))
            return (int64_t)i;
    }
    *next = end;
    return -1;
}

/* The same backwards: the places before *next, down to `begin`. */
static int64_t filter_piece_back(struct sl_search *q, const char *p,
                                 size_t *next, size_t begin)
{
    const size_t enough = q->wasted + 8 * PIECE;
    const struct ends ends = ends_of(q);
    size_t i = *next;

    for (; i >= begin + 8; i -= 8) {
        uint64_t found = candidates(&ends, p + i - 8);
        while (found) {
            unsigned high = 63 - (unsigned)__builtin_clzll(found);
            size_t k = i - 8 + (high >> 3);
            if (confirm(q, p + k))
                return (int64_t)k;
            if (q->wasted > enough) {
                *next = k;
                return -1;
            }
            found ^= UINT64_C(1) << high;
        }
    }
    for (; i > begin; i--) {
        if (p[i - 1] == q->needle[0] &&
            p[i - 1 + ends.distance] == q->needle[ends.distance] &&
            confirm(q, p + i - 1))
            return (int64_t)i - 1;
    }
    *next = begin;
    return -1;
}

static int64_t find_byte(struct sl_search *q, const char *p, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t piece = length - i < PIECE ? length - i : PIECE;
        const char *found = memchr(p + i, q->needle[0], piece);

        q->owed += found ? (size_t)(found - p) - i : piece;
        if (found)
            return found - p;
        if (piece == PIECE && !pay(q))
            return ENDED;
        i += piece;
    }
    return -1;
}

static int64_t search(struct sl_search *q, const char *p, size_t length)
{
    size_t i = 0;

    if (q->length > length)
        return -1;
    if (q->length == 0)
        return 0;
    if (q->length == 1)
        return find_byte(q, p, length);

    size_t end = length - q->length + 1;
    while (i < end && !q->two_way) {
        size_t begin = i;
        size_t stop = end - i < PIECE ? end : i + PIECE;
        int64_t found = filter_piece(q, p, &i, stop);

        if (found >= 0) {
            q->advanced += (size_t)found - begin + q->length;
            q->owed += (size_t)found - begin + q->length;
            return found;
        }
        q->advanced += i - begin;
        q->owed += i - begin;
        if (i < end && !pay(q))
            return ENDED;
        if (is_misled(q) && !two_way_prepare(q))
            return ENDED;
    }
    if (i >= end)
        return -1;
    int64_t found = two_way(q, p + i, length - i, false);
    return found < 0 ? found : (int64_t)i + found;
}

static int64_t find_byte_back(struct sl_search *q, const char *p, size_t length)
{
    while (length) {
        size_t piece = length < PIECE ? length : PIECE;
        const char *found = memrchr(p + length - piece, q->needle[0], piece);

        q->owed += found ? length - (size_t)(found - p) : piece;
        if (found)
            return found - p;
        if (piece == PIECE && !pay(q))
            return ENDED;
        length -= piece;
    }
    return -1;
}

static int64_t search_back(struct sl_search *q, const char *p, size_t length)
{
    q->reverse = true;
    if (q->length > length)
        return -1;
    if (q->length == 0)
        return (int64_t)length;
    if (q->length == 1)
        return find_byte_back(q, p, length);

    size_t end = length - q->length + 1; /* places left: those before it */
    while (end && !q->two_way) {
        size_t before = end, begin = end < PIECE ? 0 : end - PIECE;
        int64_t found = filter_piece_back(q, p, &end, begin);

        if (found >= 0) {
            q->owed += before - (size_t)found + q->length;
            return found;
        }
        q->advanced += before - end;
        q->owed += before - end;
        if (end && !pay(q))
            return ENDED;
        if (is_misled(q) && !two_way_prepare(q))
            return ENDED;
    }
    if (!end)
        return -1;
    length = end + q->length - 1;
    int64_t found = two_way(q, p, length, true);
    return found < 0 ? found : (int64_t)length - found - (int64_t)q->length;
}

int64_t sl_search_first(struct sl_search *q, const char *p, size_t length)
{
    return settle(q, search(q, p, length));
}

int64_t sl_search_last(struct sl_search *q, const char *p, size_t length)
{
    return settle(q, search_back(q, p, length));
}

int64_t sl_text_find(struct star *s, const char *p, size_t length,
                     const char *needle, size_t needle_length)
{
    struct sl_search q = sl_search_for(s, needle, needle_length);

    return sl_search_first(&q, p, length);
}
