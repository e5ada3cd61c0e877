#include "base/diff.h"

#include "base/invariant.h"
#include "base/map.h"

#include <string.h>

/*
 * Myers' greedy algorithm: row d has, for each diagonal k, the furthest
 * position that `d` changes reach. All rows are kept for the walk back;
 * DIFF_MAX_EDITS limits their number. Lines are compared by numbers: equal
 * lines have the same number.
 */

#define MAX_STEPS 50000000u

/* One text: its lines, and the number of each line, which equal lines share. */
struct side {
    struct str *lines; /* with their LF */
    uint32_t *ids;
    size_t count;
};

struct trail {
    int32_t *row; /* diagonals -d to d, in steps of two */
};

struct search {
    const uint32_t *x, *y;
    int32_t nx, ny;
    size_t steps; /* steps along diagonals so far */
    struct trail trails[DIFF_MAX_EDITS + 1];
};

static size_t first_line(struct str text)
{
    size_t end = str_find_char(text, '\n');

    return end == SIZE_MAX ? text.n : end + 1;
}

static size_t count_lines(struct str text)
{
    size_t count = 0;

    for (; text.n && count < DIFF_MAX_LINES; count++)
        text = str_from_index(text, first_line(text));
    return count;
}

static void split(struct str text, struct map *known, struct arena *a,
                  struct side *out)
{
    *out = (struct side){.count = count_lines(text)};
    out->lines = arena_array(a, out->count, sizeof *out->lines);
    out->ids = arena_array(a, out->count, sizeof *out->ids);
    for (size_t i = 0; i < out->count; i++) {
        size_t length = i + 1 == DIFF_MAX_LINES ? text.n : first_line(text);
        struct map_entry *entry;

        out->lines[i] = str_slice(text, 0, length);
        entry = map_entry(known, out->lines[i]);
        out->ids[i] = (uint32_t)(entry - known->entries);
        text = str_from_index(text, length);
    }
}

/* Returns the furthest position that `d` changes reach on diagonal `k`, or
 * -1. */
static int32_t reach(const struct search *s, int32_t d, int32_t k)
{
    if (k < -d || k > d)
        return -1;
    return s->trails[d].row[(k + d) / 2];
}

/* Returns whether the last of `d` changes on diagonal `k` is an insertion. */
static bool is_insertion(const struct search *s, int32_t d, int32_t k)
{
    return k == -d ||
           (k != d && reach(s, d - 1, k - 1) < reach(s, d - 1, k + 1));
}

static int32_t first_x(const struct search *s, int32_t d, int32_t k)
{
    if (d == 0)
        return 0;
    return is_insertion(s, d, k) ? reach(s, d - 1, k + 1)
                                 : reach(s, d - 1, k - 1) + 1;
}

/* Returns the number of changes, or -1 if it exceeds the limits. */
static int32_t find_shortest(struct search *s, struct arena *a)
{
    for (int32_t d = 0; d <= DIFF_MAX_EDITS; d++) {
        s->trails[d].row = arena_array(a, (size_t)d + 1, sizeof(int32_t));
        for (int32_t k = -d; k <= d; k += 2) {
            int32_t x = first_x(s, d, k), y = x - k;

            for (; x < s->nx && y < s->ny && s->x[x] == s->y[y]; x++, y++)
                s->steps++;
            s->trails[d].row[(k + d) / 2] = x;
            if (x >= s->nx && y >= s->ny)
                return d;
        }
        if (s->steps > MAX_STEPS)
            break;
    }
    return -1;
}

/* Marks removed and added lines, from the end backwards. */
static void walk_back(const struct search *s, int32_t d, bool *gone,
                      bool *fresh)
{
    int32_t x = s->nx, y = s->ny;

    for (; d > 0; d--) {
        bool down = is_insertion(s, d, x - y);
        int32_t start = first_x(s, d, x - y);

        INVARIANT(start <= x && x - start <= y);
        y -= x - start; /* along the diagonal */
        x = start;
        if (down)
            fresh[--y] = true;
        else
            gone[--x] = true;
    }
}

static void compare(const struct side *x, const struct side *y, size_t head,
                    size_t tail, bool *gone, bool *fresh)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct search *s = arena_new(&scratch, struct search);
    int32_t d;

    s->x = x->ids + head;
    s->y = y->ids + head;
    s->nx = (int32_t)(x->count - head - tail);
    s->ny = (int32_t)(y->count - head - tail);
    d = s->nx && s->ny ? find_shortest(s, &scratch) : -1;
    if (d >= 0) {
        walk_back(s, d, gone + head, fresh + head);
        return;
    }
    memset(gone + head, true, (size_t)s->nx);
    memset(fresh + head, true, (size_t)s->ny);
}

static void add_line(struct diff *out, char sign, const struct side *side,
                     size_t before, size_t after)
{
    struct str line = side->lines[(sign == '+' ? after : before) - 1];
    bool bare = !str_ends(line, STR("\n"));

    INVARIANT((sign == '+' || before <= side->count) &&
              (sign != '+' || after <= side->count));
    out->lines[out->count++] = (struct diff_line){
        .sign = sign,
        .before = sign == '+' ? 0 : before,
        .after = sign == '-' ? 0 : after,
        .text = bare ? line : str_slice(line, 0, line.n - 1),
        .bare = bare,
    };
    out->removed += sign == '-';
    out->added += sign == '+';
}

static void merge(const struct side *x, const struct side *y, const bool *gone,
                  const bool *fresh, struct arena *a, struct diff *out)
{
    size_t i = 0, k = 0;

    out->lines = arena_array(a, x->count + y->count, sizeof *out->lines);
    while (i < x->count || k < y->count) {
        if (i < x->count && gone[i]) {
            add_line(out, '-', x, ++i, 0);
        } else if (k < y->count && fresh[k]) {
            add_line(out, '+', y, 0, ++k);
        } else {
            i++;
            k++;
            add_line(out, ' ', x, i, k);
        }
    }
}

void diff_lines(struct str before, struct str after, struct arena *a,
                struct diff *out)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct map known;
    struct side x, y;
    size_t head = 0, tail = 0, least;
    bool *gone, *fresh;

    *out = (struct diff){0};
    map_init(&known, &scratch);
    split(before, &known, &scratch, &x);
    split(after, &known, &scratch, &y);
    least = x.count < y.count ? x.count : y.count;
    while (head < least && x.ids[head] == y.ids[head])
        head++;
    while (tail < least - head &&
           x.ids[x.count - 1 - tail] == y.ids[y.count - 1 - tail])
        tail++;
    gone = arena_array(&scratch, x.count, sizeof *gone);
    fresh = arena_array(&scratch, y.count, sizeof *fresh);
    compare(&x, &y, head, tail, gone, fresh);
    merge(&x, &y, gone, fresh, a, out);
    INVARIANT(out->count - out->added == x.count &&
              out->count - out->removed == y.count);
}

/* --- as text -------------------------------------------------------------- */

/* Finds the first hunk at or after `from`. Returns false at the end of the diff.
 * Changes with at most twice `context` lines between them are one hunk. */
static bool next_hunk(const struct diff *d, size_t context, size_t from,
                      size_t *start, size_t *end)
{
    size_t first = from, last;

    while (first < d->count && d->lines[first].sign == ' ')
        first++;
    if (first == d->count)
        return false;
    last = first;
    for (size_t i = first; i < d->count && i - last <= 2 * context + 1; i++)
        if (d->lines[i].sign != ' ')
            last = i;
    *start = first - from > context ? first - context : from;
    *end = d->count - last - 1 > context ? last + 1 + context : d->count;
    return true;
}

static size_t number_of(const struct diff_line *line, bool after)
{
    return after ? line->after : line->before;
}

/* A range without lines has the number of the preceding line. */
static void format_range(const struct diff *d, size_t start, size_t end,
                         bool after, struct buf *out)
{
    size_t first = start ? number_of(&d->lines[start - 1], after) : 0;
    size_t count = 0;

    for (size_t i = start; i < end; i++) {
        size_t number = number_of(&d->lines[i], after);

        if (number && count++ == 0)
            first = number;
    }
    buf_printf(out, "%c%zu", after ? '+' : '-', first);
    if (count != 1)
        buf_printf(out, ",%zu", count);
}

static void format_hunk(const struct diff *d, size_t start, size_t end,
                        struct buf *out)
{
    buf_text(out, "@@ ");
    format_range(d, start, end, false, out);
    buf_char(out, ' ');
    format_range(d, start, end, true, out);
    buf_text(out, " @@\n");
    for (size_t i = start; i < end; i++) {
        buf_char(out, d->lines[i].sign);
        buf_append(out, d->lines[i].text);
        buf_char(out, '\n');
        if (d->lines[i].bare)
            buf_text(out, "\\ No newline at end of file\n");
    }
}

void diff_format(const struct diff *d, size_t context, struct buf *out)
{
    size_t start, end;

    for (size_t at = 0; next_hunk(d, context, at, &start, &end); at = end)
        format_hunk(d, start, end, out);
}
