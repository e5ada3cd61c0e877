#include "haystack.h"

#include "base/invariant.h"
#include "base/text.h"

#include <string.h>

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

static bool is_any(lanes v)
{
    uint64_t half[2];

    memcpy(half, &v, sizeof half);
    return (half[0] | half[1]) != 0;
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
                    size_t count)
{
    struct lowering l = {.h = h};

    *h = (struct haystack){.count = count};
    for (size_t i = 0; i < count; i++)
        l.capacity += skills[i].name.n + skills[i].description.n + 2;
    h->text = arena_alloc(&h->a, l.capacity + 1);
    h->skills = arena_array(&h->a, count + 1, sizeof *h->skills);
    for (size_t i = 0; i < count; i++) {
        h->skills[i].name = h->n;
        add(&l, skills[i].name);
        h->skills[i].description = h->n;
        add(&l, skills[i].description);
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
