#include "base/diff.h"
#include "base/invariant.h"

/* diff3: represents both sides as changes of line ranges of the base.
 * Ranges that touch are merged; if only one side changed such a range,
 * its text is used. */

/* One side: its lines and the lines of the base that they replace. */
struct side {
    struct diff d;
    size_t at; /* index in d.lines */
};

/* A changed region: it ends at line `end` of the base; `from` and `to` are its
 * lines on both sides. */
struct region {
    size_t end;
    size_t from[2], to[2]; /* indices in the diffs */
    bool is_changed[2];
};

static const struct diff_line *line_at(const struct side *s, size_t i)
{
    return i < s->d.count ? &s->d.lines[i] : NULL;
}

/* Returns the number of common lines from here on. */
static size_t count_common(const struct side *s)
{
    size_t n = 0;

    while (line_at(s, s->at + n) && line_at(s, s->at + n)->sign == ' ')
        n++;
    return n;
}

/* Consumes lines up to line `end` of the base, and the changes there. Returns
 * the position in the base, which is after `end` if a change extends beyond
 * it. */
static size_t take(struct side *s, size_t base, size_t end, bool *is_changed)
{
    const struct diff_line *line;

    while ((line = line_at(s, s->at))) {
        if (line->sign == ' ' && base >= end)
            break;
        *is_changed |= line->sign != ' ';
        base += line->sign != '+';
        s->at++;
    }
    return base;
}

/* Finds a region that starts at the next change and includes all changes of
 * both sides that touch it. */
static void take_region(struct side sides[2], size_t base, struct region *r)
{
    size_t reached[2] = {base, base}, before;

    *r = (struct region){.end = base, .from = {sides[0].at, sides[1].at}};
    do {
        before = r->end;
        for (size_t k = 0; k < 2; k++) {
            reached[k] = take(&sides[k], reached[k], r->end, &r->is_changed[k]);
            if (reached[k] > r->end)
                r->end = reached[k];
        }
    } while (r->end > before);
    r->to[0] = sides[0].at;
    r->to[1] = sides[1].at;
}

static void put_text(struct buf *out, const struct diff_line *line)
{
    buf_append(out, line->text);
    if (!line->bare)
        buf_char(out, '\n');
}

static void put_side(struct buf *out, const struct side *s, size_t from,
                     size_t to)
{
    for (size_t i = from; i < to; i++)
        if (s->d.lines[i].sign != '-')
            put_text(out, &s->d.lines[i]);
}

static void end_line(struct buf *out)
{
    if (out->n && out->p[out->n - 1] != '\n')
        buf_char(out, '\n');
}

/* Returns whether both sides have the same text in the region. */
static bool is_same(const struct side sides[2], const struct region *r)
{
    size_t i = r->from[0], k = r->from[1];

    for (;;) {
        const struct diff_line *x, *y;

        while (i < r->to[0] && sides[0].d.lines[i].sign == '-')
            i++;
        while (k < r->to[1] && sides[1].d.lines[k].sign == '-')
            k++;
        if (i == r->to[0] || k == r->to[1])
            return i == r->to[0] && k == r->to[1];
        x = &sides[0].d.lines[i++];
        y = &sides[1].d.lines[k++];
        if (x->bare != y->bare || !str_eq(x->text, y->text))
            return false;
    }
}

static bool put_region(struct buf *out, const struct side sides[2],
                       const struct region *r, const char *our_name,
                       const char *their_name)
{
    if (!r->is_changed[1] || is_same(sides, r)) {
        put_side(out, &sides[0], r->from[0], r->to[0]);
        return false;
    }
    if (!r->is_changed[0]) {
        put_side(out, &sides[1], r->from[1], r->to[1]);
        return false;
    }
    buf_printf(out, "<<<<<<< %s\n", our_name);
    put_side(out, &sides[0], r->from[0], r->to[0]);
    end_line(out);
    buf_text(out, "=======\n");
    put_side(out, &sides[1], r->from[1], r->to[1]);
    end_line(out);
    buf_printf(out, ">>>>>>> %s\n", their_name);
    return true;
}

size_t diff_merge(struct str base, struct str ours, struct str theirs,
                  const char *our_name, const char *their_name, struct buf *out)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct side sides[2] = {{.at = 0}, {.at = 0}};
    size_t at = 0, conflicts = 0; /* at: line of the base */

    diff_lines(base, ours, &scratch, &sides[0].d);
    diff_lines(base, theirs, &scratch, &sides[1].d);
    while (line_at(&sides[0], sides[0].at) || line_at(&sides[1], sides[1].at)) {
        size_t x = count_common(&sides[0]), y = count_common(&sides[1]);
        size_t common = x < y ? x : y;
        struct region r;

        put_side(out, &sides[0], sides[0].at, sides[0].at + common);
        sides[0].at += common;
        sides[1].at += common;
        at += common;
        take_region(sides, at, &r);
        INVARIANT(r.end >= at && (r.is_changed[0] || r.is_changed[1] ||
                                  !line_at(&sides[0], sides[0].at)));
        at = r.end;
        conflicts += put_region(out, sides, &r, our_name, their_name);
    }
    return conflicts;
}
