#include "base/patch.h"

#define FIT_MAX_LINES 200000u   /* of the text; the rest has no place */
#define FIT_MAX_STEPS 20000000u /* compared lines, or 64 bytes of one */

struct fit {
    const struct patch_line *lines; /* of the text */
    size_t count;
    struct str rest; /* of the text, after these lines */
    size_t steps;    /* left */
    struct arena *arena;
};

/* A side of a hunk: its lines without those with the other sign. */
struct side {
    const struct patch_line **lines;
    size_t count;
};

/* The place of a hunk in the text: `count` lines from `at`. */
struct spot {
    size_t at, count;
};

static void read_lines(struct fit *f, struct str text)
{
    struct patch_line *lines = NULL;
    size_t capacity = 0;

    while (text.n && f->count < FIT_MAX_LINES) {
        size_t end = str_find_char(text, '\n');
        bool bare = end == SIZE_MAX;

        lines = arena_grow(f->arena, lines, f->count, &capacity, sizeof *lines);
        lines[f->count++] = (struct patch_line){
            .bare = bare, .text = str_slice(text, 0, bare ? text.n : end)};
        text = str_from_index(text, bare ? text.n : end + 1);
    }
    f->lines = lines;
    f->rest = text;
}

static struct side side_of(const struct patch_hunk *h, char other,
                           struct arena *a)
{
    struct side s = {.lines = arena_array(a, h->count + 1, sizeof *s.lines)};

    for (size_t i = 0; i < h->count; i++)
        if (h->lines[i].sign != other)
            s.lines[s.count++] = &h->lines[i];
    return s;
}

static bool is_same(struct fit *f, const struct patch_line *x,
                    const struct patch_line *y)
{
    size_t cost = 1 + x->text.n / 64;

    f->steps -= cost < f->steps ? cost : f->steps;
    return x->bare == y->bare && str_eq(x->text, y->text);
}

static bool is_at(struct fit *f, const struct side *s, size_t at)
{
    for (size_t i = 0; i < s->count; i++)
        if (!is_same(f, &f->lines[at + i], s->lines[i]))
            return false;
    return true;
}

/* Returns the number of places with exactly these lines, and the last of them;
 * more than one if that is not certain. */
static size_t find_places(struct fit *f, const struct side *s, size_t from,
                          struct spot *out)
{
    size_t found = 0;

    if (s->count == 0)
        return SIZE_MAX;
    for (size_t at = from; at + s->count <= f->count && f->steps; at++)
        if (is_at(f, s, at) && ++found)
            *out = (struct spot){at, s->count};
    return f->steps ? found : SIZE_MAX;
}

static size_t distance(size_t x, size_t y)
{
    return x > y ? x - y : y - x;
}

/* Finds the lines that have most in common with these, the nearest to `want`;
 * no lines if none are equal. */
static struct spot find_best(struct fit *f, const struct side *s, size_t from,
                             size_t want)
{
    struct spot best = {want < from ? from : want, 0};
    size_t most = 0;

    if (best.at > f->count)
        best.at = f->count;
    for (size_t at = from; at < f->count && f->steps; at++) {
        size_t n = s->count < f->count - at ? s->count : f->count - at;
        size_t same = 0;

        for (size_t i = 0; i < n; i++)
            same += is_same(f, &f->lines[at + i], s->lines[i]);
        if (same > most || (most && same == most &&
                            distance(at, want) < distance(best.at, want))) {
            most = same;
            best = (struct spot){at, n};
        }
    }
    return best;
}

static void put_line(struct buf *b, const struct patch_line *line)
{
    if (b->n && b->p[b->n - 1] != '\n')
        buf_char(b, '\n');
    buf_append(b, line->text);
    if (!line->bare)
        buf_char(b, '\n');
}

static void put_side(struct buf *b, const struct side *s)
{
    for (size_t i = 0; i < s->count; i++)
        put_line(b, s->lines[i]);
}

static void put_between(const struct fit *f, size_t from, size_t to,
                        struct buf *before, struct buf *after)
{
    for (; from < to; from++) {
        put_line(before, &f->lines[from]);
        put_line(after, &f->lines[from]);
    }
}

bool patch_fit(const struct patch_change *c, struct str text, struct arena *a,
               struct str *before, struct str *after)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    CLEANUP(buf_done) struct buf x = {0};
    CLEANUP(buf_done) struct buf y = {0};
    struct fit f = {.steps = FIT_MAX_STEPS, .arena = &scratch};
    size_t at = 0, drift = 0; /* modulo SIZE_MAX + 1 */
    bool fits = true;

    buf_init(&x, PATCH_FILE_MAX_BYTES + PATCH_MAX_BYTES);
    buf_init(&y, PATCH_FILE_MAX_BYTES + PATCH_MAX_BYTES);
    read_lines(&f, text);
    for (size_t k = 0; k < c->count; k++) {
        const struct patch_hunk *h = &c->hunks[k];
        struct side old = side_of(h, '+', &scratch);
        struct side new = side_of(h, '-', &scratch);
        struct spot spot;
        size_t places = find_places(&f, &old, at, &spot);

        if (places == 1) {
            drift = spot.at - h->before;
        } else if (places || find_places(&f, &new, at, &spot) != 1) {
            spot = find_best(&f, &old, at, h->before + drift);
            fits = false;
        }
        put_between(&f, at, spot.at, &x, &y);
        put_side(&x, &old);
        put_side(&y, &new);
        at = spot.at + spot.count;
    }
    put_between(&f, at, f.count, &x, &y);
    buf_append(&x, f.rest);
    buf_append(&y, f.rest);
    *before = arena_str(a, buf_str(&x));
    *after = arena_str(a, buf_str(&y));
    return fits && !x.overflowed && !y.overflowed;
}
