#include "base/needle.h"

#include "base/invariant.h"

#include <endian.h>
#include <string.h>

/*
 * Compares blocks of 16 positions with the two rarest characters of the
 * needle at once, using vector instructions; the rest is compared only where
 * both match. A search in the descriptions of a thousand skills takes about
 * ten microseconds.
 */

#define LANES 16
typedef uint8_t lanes __attribute__((vector_size(LANES)));

static lanes load(const char *p)
{
    lanes v;

    memcpy(&v, p, sizeof v);
    return v;
}

static lanes all_of(char c)
{
    lanes v;

    memset(&v, c, sizeof v);
    return v;
}

/* Lanes as two words; each byte is all ones or all zeros. */
struct fits {
    uint64_t half[2];
};

static struct fits fits_of(lanes v)
{
    struct fits f;

    memcpy(f.half, &v, sizeof f.half);
    f.half[0] = le64toh(f.half[0]);
    f.half[1] = le64toh(f.half[1]);
    return f;
}

static bool is_any(lanes v)
{
    struct fits f = fits_of(v);

    return (f.half[0] | f.half[1]) != 0;
}

/* Relative frequencies of characters; characters not listed are rare. */
/* clang-format off */
static const uint8_t common[256] = {
    ['q'] = 1, ['z'] = 2, ['j'] = 3, ['x'] = 4, ['k'] = 5, ['v'] = 6, ['b'] = 7,
    ['y'] = 8, ['w'] = 9, ['g'] = 10, ['p'] = 11, ['f'] = 12, ['m'] = 13, ['u'] = 14,
    ['c'] = 15, ['d'] = 16, ['l'] = 17, ['h'] = 18, ['r'] = 19, ['s'] = 20, ['n'] = 21,
    ['i'] = 22, ['o'] = 23, ['a'] = 24, ['t'] = 25, [' '] = 26, ['e'] = 27,
};
/* clang-format on */

static unsigned frequency_of(char c)
{
    return common[(unsigned char)c];
}

/* Finds the positions of the two rarest characters; equal if there is only
 * one. */
struct needle needle_of(struct str text)
{
    struct needle what = {.text = text, .first = 0};
    size_t *first = &what.first, *second = &what.second;
    const char *p = text.p;

    for (size_t i = 1; i < text.n; i++)
        if (frequency_of(p[i]) < frequency_of(p[*first]))
            *first = i;
    *second = *first ? 0 : text.n - 1;
    for (size_t i = 0; i < text.n; i++)
        if (i != *first && p[i] != p[*first] &&
            (*second == *first || p[*second] == p[*first] ||
             frequency_of(p[i]) < frequency_of(p[*second])))
            *second = i;
    return what;
}

static size_t search_by_byte(struct str text, struct str what, size_t from,
                             size_t end)
{
    for (size_t i = from; i < end; i++)
        if (text.p[i] == what.p[0] && memcmp(text.p + i, what.p, what.n) == 0)
            return i;
    return SIZE_MAX;
}

/* Compares the rest of the needle at the positions of a block where both
 * characters match. */
static size_t search_fits(struct str text, struct str what, size_t from,
                          const struct fits *f)
{
    for (size_t k = 0; k < 2; k++) {
        uint64_t rest = f->half[k];

        while (rest) {
            size_t lane = (size_t)__builtin_ctzll(rest) / 8;
            const char *p = text.p + from + 8 * k + lane;

            if (p[0] == what.p[0] && p[what.n - 1] == what.p[what.n - 1] &&
                memcmp(p, what.p, what.n) == 0)
                return (size_t)(p - text.p);
            rest &= ~((uint64_t)0xff << (8 * lane));
        }
    }
    return SIZE_MAX;
}

/* Comparison results of the block at `p` for both characters. */
struct pair {
    lanes rare, other;
    size_t first, second;
};

static lanes fits_at(const struct pair *pair, const char *p)
{
    return (lanes)(load(p + pair->first) == pair->rare) &
           (lanes)(load(p + pair->second) == pair->other);
}

size_t text_search(struct str text, const struct needle *what, size_t from)
{
    struct pair pair = {.first = what->first, .second = what->second};
    struct str needle = what->text;
    size_t end, found;

    if (text.n < needle.n || from > text.n - needle.n)
        return SIZE_MAX;
    INVARIANT(pair.first < needle.n && pair.second < needle.n);
    pair.rare = all_of(needle.p[pair.first]);
    pair.other = all_of(needle.p[pair.second]);
    end = text.n - needle.n + 1; /* last position where a match can begin, plus
                                    one */
    for (; from + LANES <= end; from += LANES) {
        struct fits f;

        while (from + 4 * LANES <=
               end) { /* long runs without a match are common */
            const char *p = text.p + from;

            if (is_any(fits_at(&pair, p) | fits_at(&pair, p + LANES) |
                       fits_at(&pair, p + 2 * LANES) |
                       fits_at(&pair, p + 3 * LANES)))
                break;
            from += 4 * LANES;
        }
        if (from + LANES > end)
            break;
        f = fits_of(fits_at(&pair, text.p + from));
        if ((f.half[0] | f.half[1]) == 0)
            continue;
        found = search_fits(text, needle, from, &f);
        if (found != SIZE_MAX)
            return found;
    }
    return search_by_byte(text, needle, from, end);
}
