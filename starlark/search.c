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
    size_t begin = 0, candidate = 1, k = 0, length = 1, work = 0;

    while (candidate + k < q->length) {
        if (++work % PIECE == 0 && !charge(q, PIECE)) {
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
    size_t pos = 0, memory = 0, work = 0;

    while (pos + n <= length) {
        size_t i = q->suffix > memory ? q->suffix : memory;

        while (i < n && at(q->needle, n, i, reverse) ==
                            at(p, length, pos + i, reverse)) {
            if (++work % PIECE == 0 && !charge(q, PIECE))
                return ENDED;
            i++;
        }
        if (++work % PIECE == 0 && !charge(q, PIECE))
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
            if (++work % PIECE == 0 && !charge(q, PIECE))
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

#define EACH_BYTE 0x0101010101010101u

static inline uint64_t load(const char *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof v);
    return le64toh(v);
}

/* Bit 7 of every byte that is zero. */
static inline uint64_t zero_bytes(uint64_t v)
{
    const uint64_t low = EACH_BYTE * 0x7f;

    return ~(((v & low) + low) | v | low);
}

/* Whether the needle is at p; its first and last byte are. Counts what was in
 * vain: a first comparison of a few bytes, and whole ones. */
static inline bool confirm(struct sl_search *q, const char *p)
{
    size_t inner = q->length - 2, probe = inner < 16 ? inner : 16;

    if (memcmp(p + 1, q->needle + 1, probe) != 0) {
        q->wasted += 8;
        return false;
    }
    if (inner <= 16 || memcmp(p + 17, q->needle + 17, inner - 16) == 0)
        return true;
    q->wasted += q->length;
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
    const size_t last = q->length - 1;
    const uint64_t a = EACH_BYTE * (unsigned char)q->needle[0];
    const uint64_t b = EACH_BYTE * (unsigned char)q->needle[last];
    size_t i = *next;

    for (; i + 8 <= end; i += 8) {
        uint64_t found =
            zero_bytes((load(p + i) ^ a) | (load(p + i + last) ^ b));
        for (; found; found &= found - 1) {
            size_t k = i + ((unsigned)__builtin_ctzll(found) >> 3);
            if (confirm(q, p + k))
                return (int64_t)k;
            if (q->wasted > enough) {
                *next = k + 1;
                return -1;
            }
        }
    }
    for (; i < end; i++) {
        if (p[i] == q->needle[0] && p[i + last] == q->needle[last] &&
            confirm(q, p + i))
            return (int64_t)i;
    }
    *next = end;
    return -1;
}

static int64_t find_byte(struct sl_search *q, const char *p, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t piece = length - i < PIECE ? length - i : PIECE;
        const char *found = memchr(p + i, q->needle[0], piece);

        if (found)
            return found - p;
        if (piece == PIECE && !charge(q, PIECE))
            return ENDED;
        i += piece;
    }
    return -1;
}

int64_t sl_search_first(struct sl_search *q, const char *p, size_t length)
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
            return found;
        }
        q->advanced += i - begin;
        if (i < end && !charge(q, PIECE))
            return ENDED;
        if (is_misled(q) && !two_way_prepare(q))
            return ENDED;
    }
    if (i >= end)
        return -1;
    int64_t found = two_way(q, p + i, length - i, false);
    return found < 0 ? found : (int64_t)i + found;
}

/* The filter from the end: memrchr for the first byte, then the last one. */
int64_t sl_search_last(struct sl_search *q, const char *p, size_t length)
{
    q->reverse = true;
    if (q->length > length)
        return -1;
    if (q->length == 0)
        return (int64_t)length;

    const size_t last = q->length - 1;
    size_t end = length - last, paid = end;
    while (end && !q->two_way) {
        size_t piece = end < PIECE ? end : PIECE;
        const char *base = p + end - piece;
        const char *k = memrchr(base, q->needle[0], piece);

        if (k && (last == 0 || (k[last] == q->needle[last] && confirm(q, k))))
            return k - p;
        size_t left = k ? (size_t)(k - p) : end - piece;
        q->advanced += end - left;
        end = left;
        if (k && last)
            q->wasted += 8;
        if (paid - end >= PIECE) {
            if (!charge(q, paid - end))
                return ENDED;
            paid = end;
        }
        if (is_misled(q) && !two_way_prepare(q))
            return ENDED;
    }
    if (!end)
        return -1;
    /* All that begins before `end` is left: the text up to end + last. */
    int64_t found = two_way(q, p, end + last, true);
    return found < 0 ? found
                     : (int64_t)(end + last) - found - (int64_t)q->length;
}

int64_t sl_text_find(struct star *s, const char *p, size_t length,
                     const char *needle, size_t needle_length)
{
    struct sl_search q = sl_search_for(s, needle, needle_length);

    return sl_search_first(&q, p, length);
}
