#include "tape.h"

/* Formats differences for the user, bounded in size for any two texts. */

#define CONTEXT         3
#define LINE_MAX_BYTES  400
#define LINE_LEAD_BYTES 80 /* bytes shown of a common prefix */

static size_t shared_bytes(struct str x, struct str y)
{
    size_t n = 0;

    while (n < x.n && n < y.n && x.p[n] == y.p[n])
        n++;
    return n;
}

/* Moves back to the start of a character. */
static size_t step_back(struct str s, size_t at)
{
    while (at > 0 && at < s.n && ((unsigned char)s.p[at] & 0xc0) == 0x80)
        at--;
    return at;
}

/* Writes a long line from shortly before `from`. */
static void put_line(struct buf *out, struct str line, size_t from)
{
    size_t start = 0, end = line.n;

    if (line.n > LINE_MAX_BYTES) {
        if (from > LINE_LEAD_BYTES)
            start = step_back(line, from - LINE_LEAD_BYTES);
        end = start + LINE_MAX_BYTES;
        end = end < line.n ? step_back(line, end) : line.n;
    }
    if (start)
        buf_printf(out, "[%zu bytes] ", start);
    buf_append(out, str_slice(line, start, end));
    if (end < line.n)
        buf_printf(out, " [%zu bytes]", line.n - end);
}

/* Returns the offset at which a removed line and its replacement differ. */
static size_t parting(const struct diff *d, size_t i)
{
    const struct diff_line *line = &d->lines[i];

    if (line->sign == '-' && i + 1 < d->count && d->lines[i + 1].sign == '+')
        return shared_bytes(line->text, d->lines[i + 1].text);
    if (line->sign == '+' && i > 0 && d->lines[i - 1].sign == '-')
        return shared_bytes(line->text, d->lines[i - 1].text);
    return 0;
}

static struct str shortened(struct str line, size_t from, struct arena *a)
{
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, (size_t)2 * LINE_MAX_BYTES);
    put_line(&out, line, from);
    return arena_str(a, buf_str(&out));
}

/* Writes the diff like diff_format, with long lines truncated. */
static void put_diff(struct diff *d, struct arena *a, struct buf *out)
{
    struct str *texts = arena_array(a, d->count, sizeof *texts);

    for (size_t i = 0; i < d->count; i++) {
        texts[i] = d->lines[i].text;
        if (texts[i].n > LINE_MAX_BYTES)
            texts[i] = shortened(texts[i], parting(d, i), a);
    }
    for (size_t i = 0; i < d->count; i++)
        d->lines[i].text = texts[i];
    diff_format(d, CONTEXT, out);
}

static struct str with_end(struct str text, struct arena *a)
{
    if (text.n == 0 || str_ends(text, STR("\n")))
        return text;
    return str_join(text, STR("\n"), a);
}

struct str tape_difference(struct str headline, struct str before_name,
                           struct str before, struct str after_name,
                           struct str after, struct arena *a)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    CLEANUP(buf_done) struct buf out;
    struct diff d;
    struct str text;

    buf_init(&out, (size_t)4 * TAPE_MAX_BYTES);
    diff_lines(with_end(before, &scratch), with_end(after, &scratch), &scratch,
               &d);
    buf_printf(&out, "%.*s\n--- %.*s\n+++ %.*s\n", STR_ARG(headline),
               STR_ARG(before_name), STR_ARG(after_name));
    put_diff(&d, &scratch, &out);
    text = buf_str(&out);
    if (text.n > TAPE_DIFFERENCE_MAX_BYTES) {
        size_t end = step_back(text, TAPE_DIFFERENCE_MAX_BYTES);

        return arena_printf(a, "%.*s\n[%zu more bytes]\n", (int)end, text.p,
                            text.n - end);
    }
    return arena_str(a, text);
}
