#include "haystack.h"

#include "base/invariant.h"
#include "base/text.h"

#include <endian.h>
#include <string.h>

/*
 * Blocks of 16 positions are compared with the two rarest characters of the
 * needle at once (the compiler has an instruction for that); only where both
 * match the rest is compared. A search in a thousand skills takes about ten
 * microseconds.
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

/* Each a byte of ones or zeros. */
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

/* Frequencies of characters; others are rare. */
/* clang-format off */
static const uint8_t common[256] = {
    ['q'] = 1, ['z'] = 2, ['j'] = 3, ['x'] = 4, ['k'] = 5, ['v'] = 6, ['b'] = 7,
    ['y'] = 8, ['w'] = 9, ['g'] = 10, ['p'] = 11, ['f'] = 12, ['m'] = 13, ['u'] = 14,
    ['c'] = 15, ['d'] = 16, ['l'] = 17, ['h'] = 18, ['r'] = 19, ['s'] = 20, ['n'] = 21,
    ['i'] = 22, ['o'] = 23, ['a'] = 24, ['t'] = 25, [' '] = 26, ['e'] = 27,
};
/* clang-format on */

static unsigned how_common(char c)
{
    return common[(unsigned char)c];
}

/* Its two places that decide most; the same when it is one. */
struct needle needle_of(struct str text)
{
    struct needle what = {.text = text, .first = 0};
    size_t *first = &what.first, *second = &what.second;
    const char *p = text.p;

    for (size_t i = 1; i < text.n; i++)
        if (how_common(p[i]) < how_common(p[*first]))
            *first = i;
    *second = *first ? 0 : text.n - 1;
    for (size_t i = 0; i < text.n; i++)
        if (i != *first && p[i] != p[*first] &&
            (*second == *first || p[*second] == p[*first] ||
             how_common(p[i]) < how_common(p[*second])))
            *second = i;
    return what;
}

static size_t search_slowly(struct str text, struct str what, size_t from,
                            size_t end)
{
    for (size_t i = from; i < end; i++)
        if (text.p[i] == what.p[0] && memcmp(text.p + i, what.p, what.n) == 0)
            return i;
    return SIZE_MAX;
}

/* Positions of a block where both match. */
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

/* What two lanes say of the places behind `p`. */
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
    end = text.n - needle.n + 1; /* no match begins there any more */
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
    return search_slowly(text, needle, from, end);
}

/* --- building --------------------------------------------------------------------- */

/* False when there is more than ASCII in it: then `out` is of no use. */
static bool lower_ascii(char *out, struct str s)
{
    lanes high = {0};
    unsigned char rest = 0;
    size_t i = 0;

    for (; i + LANES <= s.n; i += LANES) {
        lanes v = load(s.p + i);
        lanes capital = (lanes)(v >= all_of('A')) & (lanes)(v <= all_of('Z'));

        high |= v & all_of((char)0x80);
        v |= capital & all_of(0x20);
        memcpy(out + i, &v, sizeof v);
    }
    for (; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        rest |= c;
        out[i] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    }
    return rest < 0x80 && !is_any(high);
}

struct lowering {
    struct haystack *h;
    size_t capacity;
};

static void make_room(struct lowering *l, size_t bytes)
{
    struct haystack *h = l->h;
    char *larger;

    if (l->capacity - h->n >= bytes)
        return;
    l->capacity = 2 * (h->n + bytes);
    larger = arena_alloc(&h->a, l->capacity);
    if (h->n)
        memcpy(larger, h->text, h->n);
    h->text = larger;
}

static void add(struct lowering *l, struct str s)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct haystack *h = l->h;

    make_room(l, s.n + 1);
    if (!lower_ascii(h->text + h->n, s)) {
        s = text_lower(s, &a); /* may be longer */
        make_room(l, s.n + 1);
        memcpy(h->text + h->n, s.p, s.n);
    }
    h->n += s.n;
    h->text[h->n++] = '\0';
}

void haystack_build(struct haystack *h, const struct library_skill *skills,
                    size_t count, bool with_tags)
{
    struct lowering l = {.h = h};

    *h = (struct haystack){.count = count};
    for (size_t i = 0; i < count; i++)
        l.capacity +=
            skills[i].name.n + skills[i].description.n + skills[i].tags.n + 3;
    h->text = arena_alloc(&h->a, l.capacity + 1);
    h->skills = arena_array(&h->a, count + 1, sizeof *h->skills);
    for (size_t i = 0; i < count; i++) {
        h->skills[i].name = h->n;
        add(&l, skills[i].name);
        h->skills[i].description = h->n;
        add(&l, skills[i].description);
        if (with_tags &&
            skills[i].tags.n) { /* found as its description is (L3) */
            h->text[h->n - 1] = '\n';
            add(&l, skills[i].tags);
        }
        h->skills[i].end = h->n;
        INVARIANT(h->skills[i].name < h->skills[i].description &&
                  h->skills[i].description < h->skills[i].end);
    }
}

void haystack_done(struct haystack *h)
{
    arena_done(&h->a);
}

struct str haystack_name(const struct haystack *h, size_t i)
{
    const struct hay *s = &h->skills[i];

    return str_make(h->text + s->name, s->description - s->name - 1);
}

struct str haystack_description(const struct haystack *h, size_t i)
{
    const struct hay *s = &h->skills[i];

    return str_make(h->text + s->description, s->end - s->description - 1);
}
