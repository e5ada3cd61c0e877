#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <utf8proc.h>

#include "ops.h"

/* Of a line of the source, around the caret. */
#define WINDOW_BEFORE 60u
#define WINDOW        100u
#define INDENT        "    "

/* --- bounded text ------------------------------------------------------------- */

struct sl_line sl_line_on(char *p, size_t size)
{
    p[0] = '\0';
    return (struct sl_line){.p = p, .room = size - 1};
}

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* No room for more: makes place for "...", and takes away a whole character. */
static void cut(struct sl_line *l)
{
    size_t end = l->length;

    if (end > l->room - 3)
        end = l->room - 3;
    while (end > 0 && end < l->length && is_continuation(l->p[end]))
        end--;
    memcpy(l->p + end, "...", 4);
    l->length = end + 3;
    l->full = true;
}

void sl_line_add(struct sl_line *l, const char *p, size_t length)
{
    size_t fits = l->room - l->length;

    if (l->full)
        return;
    if (length <= fits) {
        memcpy(l->p + l->length, p, length);
        l->length += length;
        l->p[l->length] = '\0';
        return;
    }
    while (fits > 0 && is_continuation(p[fits]))
        fits--;
    memcpy(l->p + l->length, p, fits);
    l->length += fits;
    cut(l);
}

void sl_line_text(struct sl_line *l, const char *text)
{
    sl_line_add(l, text, strlen(text));
}

void sl_line_printf(struct sl_line *l, const char *format, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, format);
    int n = vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (n > 0)
        sl_line_text(l, text);
}

/* --- text from outside ----------------------------------------------------------- */

/* Shown as an escape: controls, formats but the joiners of emoji and scripts,
 * line separators, surrogates. */
static bool is_hidden(uint32_t c)
{
    if (c < 0x80)
        return c < ' ' || c == 0x7f;
    if (c == 0x200c || c == 0x200d)
        return false;
    switch (utf8proc_category((utf8proc_int32_t)c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return true;
    default:
        return false;
    }
}

/* The character at `p` as it may be shown; its columns are returned. */
static unsigned show(struct sl_line *l, const char *p, size_t length,
                     unsigned *width)
{
    uint32_t c = sl_rune(p, length, width);
    size_t before = l->length;

    if (c == 0xfffd && *width == 1)
        sl_line_printf(l, "\\x%02x", (unsigned char)*p);
    else if (!is_hidden(c)) {
        int columns = c < 0x80 ? 1 : utf8proc_charwidth((utf8proc_int32_t)c);
        sl_line_add(l, p, *width);
        return columns < 0 ? 0 : (unsigned)columns;
    } else
        sl_line_printf(l,
                       c < 0x80      ? "\\x%02x"
                       : c < 0x10000 ? "\\u%04x"
                                     : "\\U%08x",
                       c);
    return (unsigned)(l->length - before);
}

void sl_line_clean(struct sl_line *l, const char *p, size_t length, bool lines)
{
    size_t i = 0;

    while (i < length && !l->full) {
        size_t run = i;
        while (run < length && ((p[run] >= ' ' && p[run] < 0x7f) ||
                                (lines && (p[run] == '\n' || p[run] == '\t'))))
            run++;
        sl_line_add(l, p + i, run - i);
        i = run;
        if (i < length) {
            unsigned width;
            show(l, p + i, length - i, &width);
            i += width;
        }
    }
}

void sl_line_place(struct sl_line *l, const char *file, struct sl_pos pos)
{
    char name[SL_FRAME_BYTES / 2];
    struct sl_line n = sl_line_on(name, sizeof name);

    sl_line_clean(&n, file, strlen(file), false);
    sl_line_add(l, n.p, n.length);
    if (pos.line > 0)
        sl_line_printf(l, ":%u", pos.line);
    if (pos.line > 0 && pos.column > 0)
        sl_line_printf(l, ":%u", pos.column);
}

/* --- a line of the source ------------------------------------------------------------ */

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

/* Moves to `pos`, or to the end of its line when that is shorter. False when the
 * source has no such line. */
static bool seek(struct sl_cursor *c, const struct sl_source *source,
                 struct sl_pos pos)
{
    const char *p = source->text;
    size_t n = source->length;

    if (c->text != p || pos.line < c->pos.line ||
        (pos.line == c->pos.line && pos.column < c->pos.column))
        *c = (struct sl_cursor){.text = p, .pos = {1, 1}};
    while (c->pos.line < pos.line) {
        while (c->at < n && !is_line_end(p[c->at]))
            c->at++;
        if (c->at >= n)
            return false;
        c->at +=
            p[c->at] == '\r' && c->at + 1 < n && p[c->at + 1] == '\n' ? 2 : 1;
        c->line_start = c->at;
        c->pos = (struct sl_pos){c->pos.line + 1, 1};
    }
    while (c->pos.column < pos.column && c->at < n && !is_line_end(p[c->at])) {
        unsigned width = 1;
        if ((unsigned char)p[c->at] >= 0x80)
            sl_rune(p + c->at, n - c->at, &width);
        c->at += width;
        c->pos.column++;
    }
    return true;
}

void sl_line_excerpt(struct sl_line *l, struct sl_cursor *c,
                     const struct sl_source *source, struct sl_pos pos)
{
    char pad[SL_EXCERPT_BYTES / 2];
    struct sl_line caret = sl_line_on(pad, sizeof pad);
    const char *p = source->text;
    size_t n = source->length;
    unsigned width, before = 0, shown = 0;

    if (!p || pos.line == 0 || !seek(c, source, pos))
        return;
    size_t i = c->at;
    while (i > c->line_start && before < WINDOW_BEFORE) {
        i--;
        while (i > c->line_start && c->at - i < 4 * WINDOW_BEFORE &&
               is_continuation(p[i]))
            i--;
        before++;
    }
    if (i == c->at && (i >= n || is_line_end(p[i])))
        return; /* an empty line */

    sl_line_text(l, INDENT);
    sl_line_text(&caret, INDENT);
    if (i > c->line_start) {
        sl_line_text(l, "...");
        sl_line_text(&caret, "   ");
    }
    while (i < n && !is_line_end(p[i]) && shown < WINDOW) {
        bool is_before = i < c->at;
        if (p[i] == '\t') {
            sl_line_text(l, "\t");
            if (is_before)
                sl_line_text(&caret, "\t");
            width = 1;
        } else {
            unsigned columns = show(l, p + i, n - i, &width);
            for (unsigned k = 0; is_before && k < columns; k++)
                sl_line_text(&caret, " ");
        }
        i += width;
        shown++;
    }
    sl_line_text(l, i < n && !is_line_end(p[i]) ? "...\n" : "\n");
    if (pos.column > 0) {
        sl_line_add(l, caret.p, caret.length);
        sl_line_text(l, "^\n");
    }
}

/* --- the report ---------------------------------------------------------------------- */

static void report_static(struct sl_error *e, struct sl_line *l)
{
    uint32_t i = 0;

    for (; i < e->static_count; i++) {
        const struct sl_static *x = &e->errors[i];
        sl_line_add(l, e->statics + x->begin, x->end - x->begin);
    }
    if (e->static_more > 0)
        sl_line_printf(l, "... and %u more\n", e->static_more);
}

/* The outermost first. */
static void report_frames(const struct sl_error *e, struct sl_line *l)
{
    if (e->frame_count == 0)
        return;
    sl_line_text(l, "Traceback (most recent call last):\n");
    for (uint32_t i = e->frame_count; i-- > 0;) {
        uint32_t slot = i;
        if (i >= SL_FRAMES_KEPT) {
            uint32_t beyond = i - SL_FRAMES_KEPT;
            if (i + SL_FRAMES_KEPT < e->frame_count) {
                sl_line_printf(l, "  ... %u more calls ...\n", beyond + 1);
                i = SL_FRAMES_KEPT;
                continue;
            }
            slot = SL_FRAMES_KEPT + beyond % SL_FRAMES_KEPT;
        }
        sl_line_printf(l, "  %s\n", e->frames[slot]);
    }
}

void sl_report(struct sl_error *e)
{
    struct sl_line *l = &e->report_line;

    *l = sl_line_on(e->report, sizeof e->report);
    report_static(e, l);
    if (e->code == STAR_OK || e->code == STAR_ERROR_STATIC)
        return;
    report_frames(e, l);
    if (e->in_builtin)
        sl_line_printf(l, "Error in %s: ", e->builtin);
    else
        sl_line_text(l, "Error: ");
    sl_line_add(l, e->message, e->message_line.length);
    sl_line_text(l, "\n");
    sl_line_add(l, e->excerpt, e->excerpt_line.length);
    sl_line_add(l, e->hints, e->hints_line.length);
}
