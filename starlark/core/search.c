#include "text.h"

/*
 * Short needles are searched by memmem, whose failed comparisons are then
 * bounded in any C library. Long needles and reverse searches use a rolling
 * hash (Karp and Rabin). It is linear, and no text of equal hash can be
 * constructed without the seed.
 */

enum {
    SHORT_MAX = SL_RARE(256, 2),
    PIECE = SL_RARE(32 * 1024, 64), /* positions between two checks of the
                                     * budget */
    UNIT = 64                       /* bytes that count as one step */
};

/* The hash is a polynomial of the bytes. */
#define PRIME ((UINT64_C(1) << 61) - 1)

static inline uint64_t multiply(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    uint64_t sum = (uint64_t)(product & PRIME) + (uint64_t)(product >> 61);

    return sum >= PRIME ? sum - PRIME : sum;
}

/* Returns byte `i`, counted from the end for a reverse search. */
static inline unsigned char byte_at(const char *p, size_t length, size_t i,
                                    bool last)
{
    return (unsigned char)p[last ? length - 1 - i : i];
}

static inline bool is_paid(struct star *s, size_t i)
{
    return i % UNIT || sl_charge(s, 1);
}

static int64_t find_rolling(struct star *s, const char *p, size_t length,
                            const char *needle, size_t n, bool last)
{
    const uint64_t base = 256 + s->hash_seed % (PRIME - 256);
    uint64_t want = 0, have = 0, power = 1;

    for (size_t i = 0; i < n; i++) {
        if (!is_paid(s, i))
            return -2;
        want = (multiply(want, base) + byte_at(needle, n, i, last)) % PRIME;
        have = (multiply(have, base) + byte_at(p, length, i, last)) % PRIME;
        power = multiply(power, base);
    }
    for (size_t i = 0;; i++) {
        size_t at = last ? length - n - i : i;
        if (have == want && memcmp(p + at, needle, n) == 0)
            return (int64_t)at;
        if (i == length - n)
            return -1;
        if (!is_paid(s, i))
            return -2;
        uint64_t gone = multiply(power, byte_at(p, length, i, last));
        uint64_t more = byte_at(p, length, i + n, last);
        have = (multiply(have, base) + more + PRIME - gone) % PRIME;
    }
}

int64_t sl_text_find(struct star *s, const char *p, size_t length,
                     const char *needle, size_t n)
{
    if (n > SHORT_MAX && n <= length)
        return find_rolling(s, p, length, needle, n, false);
    for (size_t i = 0; i + n <= length; i += PIECE) {
        size_t left = length - i - n + 1, places = left < PIECE ? left : PIECE;
        const char *found = n == 1 ? memchr(p + i, *needle, places)
                                   : memmem(p + i, places + n - 1, needle, n);

        sl_owe(s, (found ? (size_t)(found - p) - i + n : places) / UNIT);
        if (found)
            return found - p;
        if (places == PIECE && !sl_charge(s, 0))
            return -2;
    }
    return -1;
}

int64_t sl_text_find_last(struct star *s, const char *p, size_t length,
                          const char *needle, size_t n)
{
    if (n == 0 || n > length)
        return n ? -1 : (int64_t)length;
    if (n > 1 || length > PIECE)
        return find_rolling(s, p, length, needle, n, true);
    const char *found = memrchr(p, *needle, length);
    sl_owe(s, length / UNIT);
    return found ? found - p : -1;
}
