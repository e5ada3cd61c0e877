#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <utf8proc.h>

#include "ops.h"

#define MESSAGE_BYTES 16384
#define EXCERPT_BYTES 4096
#define FRAME_BYTES   320
#define FRAMES_KEPT                                                            \
    50 /* number of innermost frames in a report, and
                              * of outermost ones */
#define HINTS_BYTES       2048
#define STATIC_TEXT_BYTES 1024
#define STATIC_ERRORS_MAX 100  /* per source; further errors are only counted */
#define STATIC_BYTES_MAX  8192 /* per static error, with its hints */

/* Number of columns of a source line shown around the caret. */
#define WINDOW_BEFORE 60u
#define WINDOW        100u
#define INDENT        "    "

/* A text of bounded size. An overlong text is cut between two characters and
 * ends in "...". Always terminated by NUL. */
struct line {
    char *p;
    size_t length, room; /* room: capacity in bytes without the NUL */
    bool full;
};

struct static_error { /* A static error, as offsets into `statics`. */
    struct sl_pos pos;
    uint32_t begin, end;  /* range of all its lines */
    uint32_t text, after; /* start and end of the message, without the
                           * position */
    uint32_t hints;       /* hint lines reach from here to `end` */
};

/* Allocated as one block when the interpreter is opened, so that out of memory
 * can always be reported. */
struct sl_error {
    enum star_error code;
    bool deaf; /* the last static error was dropped, so its hints are dropped
                * as well */
    bool quiet;
    bool has_place, in_builtin, reported;
    uint32_t static_count, static_more, last; /* last: index of the error
                                               * added last */
    uint32_t frame_count;
    struct sl_pos place;
    const struct sl_source *source; /* source of the static errors */
    struct {                        /* position of the last line found */
        const char *text;
        size_t start;
        uint32_t line;
    } cursor;
    struct line message, hints, excerpt, statics, report, file;

    struct static_error errors[STATIC_ERRORS_MAX];
    char frames[2 * FRAMES_KEPT][FRAME_BYTES];
    char builtin_text[FRAME_BYTES], file_text[FRAME_BYTES];
    char hints_text[HINTS_BYTES], excerpt_text[EXCERPT_BYTES];
    char hint_text[HINTS_BYTES]; /* buffer for star_error_at */
    char message_text[MESSAGE_BYTES], scratch[MESSAGE_BYTES];
    char statics_text[49152], report_text[65536];
};

/* --- bounded text ------------------------------------------------------------- */

static struct line line_on(char *p, size_t size)
{
    p[0] = '\0';
    return (struct line){.p = p, .room = size - 1};
}
#define LINE_ON(array) line_on(array, sizeof(array))

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

static void add(struct line *l, const char *p, size_t length)
{
    size_t fits = l->room - l->length;

    if (l->full)
        return;
    l->full = length > fits;
    memcpy(l->p + l->length, p, l->full ? fits : length);
    l->length += l->full ? fits : length;
    if (l->full) {
        l->length -= 3;
        while (l->length > 0 && is_continuation(l->p[l->length]))
            l->length--;
        memcpy(l->p + l->length, "...", 3);
        l->length += 3;
    }
    l->p[l->length] = '\0';
}

static void add_text(struct line *l, const char *text)
{
    add(l, text, strlen(text));
}

__attribute__((format(printf, 2, 3))) static void
add_format(struct line *l, const char *format, ...)
{
    char text[FRAME_BYTES + 16];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    add_text(l, text);
}

/* --- text from outside ----------------------------------------------------------- */

/* Characters shown as an escape: controls, format characters except the joiners
 * of emoji and scripts, line separators, surrogates. */
static bool is_hidden(uint32_t c)
{
    const unsigned hidden =
        1u << UTF8PROC_CATEGORY_CC | 1u << UTF8PROC_CATEGORY_CF |
        1u << UTF8PROC_CATEGORY_CS | 1u << UTF8PROC_CATEGORY_ZL |
        1u << UTF8PROC_CATEGORY_ZP;

    if (c < 0x80)
        return c < ' ' || c == 0x7f;
    return c != 0x200c && c != 0x200d &&
           hidden >> utf8proc_category((utf8proc_int32_t)c) & 1;
}

/* Writes the character at `p` in printable form and returns its width in
 * columns. */
static unsigned show(struct line *l, const char *p, size_t length,
                     unsigned *width)
{
    uint32_t c = sl_rune(p, length, width);
    size_t before = l->length;

    if (c == 0xfffd && *width == 1) {
        add_format(l, "\\x%02x", (unsigned char)*p);
    } else if (is_hidden(c)) {
        add_format(l,
                   c < 0x80      ? "\\x%02x"
                   : c < 0x10000 ? "\\u%04x"
                                 : "\\U%08x",
                   c);
    } else {
        int columns = c < 0x80 ? 1 : utf8proc_charwidth((utf8proc_int32_t)c);
        add(l, p, *width);
        return columns < 0 ? 0 : (unsigned)columns;
    }
    return (unsigned)(l->length - before);
}

/* Appends a text with control characters, bidirectional controls and invalid
 * UTF-8 escaped. With `lines`, LF and tabs are kept. */
static void add_clean(struct line *l, const char *p, size_t length, bool lines)
{
    unsigned width;

    for (size_t i = 0; i < length && !l->full; i += width) {
        width = 1;
        if (lines && (p[i] == '\n' || p[i] == '\t'))
            add(l, p + i, 1);
        else
            show(l, p + i, length - i, &width);
    }
}

__attribute__((format(printf, 3, 0))) static void
add_formatted(struct sl_error *e, struct line *l, const char *format,
              va_list ap, bool lines)
{
    int n = vsnprintf(e->scratch, sizeof e->scratch, format, ap);
    size_t kept = n < 0 ? 0 : (size_t)n;
    bool cut = kept >= sizeof e->scratch;

    if (cut) /* do not split a character */
        for (kept = sizeof e->scratch - 1; e->scratch[kept - 1] & 0x80;)
            if (--kept == 0)
                break;
    add_clean(l, e->scratch, kept, lines);
    add_text(l, cut ? "..." : "");
}

static void add_place(struct line *l, const char *file, struct sl_pos pos)
{
    char name[FRAME_BYTES / 2];
    struct line n = LINE_ON(name);

    add_clean(&n, file, strlen(file), false);
    add(l, n.p, n.length);
    if (pos.line > 0)
        add_format(l, ":%u", pos.line);
    if (pos.line > 0 && pos.column > 0)
        add_format(l, ":%u", pos.column);
}

/* --- a line of the source ------------------------------------------------------------ */

static bool ends_line(const struct sl_source *source, size_t i)
{
    return i >= source->length || source->text[i] == '\n' ||
           source->text[i] == '\r';
}

/* Finds the start of a line, continuing from the last line found, since errors
 * mostly come in source order. Returns false if the line does not exist. */
static bool find_line(struct sl_error *e, const struct sl_source *source,
                      uint32_t line, size_t *start)
{
    const char *p = source->text;
    size_t i;

    if (e->cursor.text != p || line < e->cursor.line) {
        e->cursor.text = p;
        e->cursor.start = 0;
        e->cursor.line = 1;
    }
    for (; e->cursor.line < line; e->cursor.line++) {
        for (i = e->cursor.start; !ends_line(source, i);)
            i++;
        if (i >= source->length)
            return false;
        i += p[i] == '\r' && i + 1 < source->length && p[i + 1] == '\n';
        e->cursor.start = i + 1;
    }
    *start = e->cursor.start;
    return p && line > 0;
}

/* Appends the source line at `pos` and a caret below it, or nothing if the
 * source has no text there. */
static void add_excerpt(struct sl_error *e, struct line *l,
                        const struct sl_source *source, struct sl_pos pos)
{
    char pad[EXCERPT_BYTES / 2];
    struct line caret = LINE_ON(pad);
    const char *p = source->text;
    size_t n = source->length, start, i, at;
    unsigned width, columns = 1;

    if (!find_line(e, source, pos.line, &start))
        return;
    for (at = start; columns < pos.column && !ends_line(source, at);
         at += width, columns++)
        sl_rune(p + at, n - at, &width);
    i = at;
    for (unsigned before = 0; i > start && before < WINDOW_BEFORE; before++)
        while (--i > start && is_continuation(p[i]))
            ;
    if (i == at && ends_line(source, i))
        return; /* an empty line */

    add_text(l, i > start ? INDENT "..." : INDENT);
    add_text(&caret, i > start ? INDENT "   " : INDENT);
    for (unsigned shown = 0; !ends_line(source, i) && shown < WINDOW; shown++) {
        bool is_before = i < at;
        if (p[i] == '\t') {
            add(l, "\t", 1);
            add(&caret, "\t", is_before);
            i++;
            continue;
        }
        columns = show(l, p + i, n - i, &width);
        add(&caret, "          ", is_before ? columns : 0);
        i += width;
    }
    add_text(l, ends_line(source, i) ? "\n" : "...\n");
    if (pos.column > 0) {
        add(l, caret.p, caret.length);
        add_text(l, "^\n");
    }
}

/* --- keeping one ------------------------------------------------------------------- */

bool sl_error_open(struct star *s)
{
    s->error = sl_system_alloc(sizeof *s->error);
    if (!s->error)
        return false;
    /* With STAR_OK the function below would return early. */
    s->error->code = STAR_ERROR_RUNTIME;
    sl_error_clear(s);
    return true;
}

void sl_error_close(struct star *s)
{
    sl_system_free(s->error);
    s->error = NULL;
}

void sl_error_clear(struct star *s)
{
    struct sl_error *e = s->error;

    if (e->code == STAR_OK)
        return; /* common case: each host call checks */
    memset(e, 0, offsetof(struct sl_error, message));
    e->message = LINE_ON(e->message_text);
    e->hints = LINE_ON(e->hints_text);
    e->excerpt = LINE_ON(e->excerpt_text);
    e->statics = LINE_ON(e->statics_text);
    e->report = LINE_ON(e->report_text);
    e->file = LINE_ON(e->file_text);
}

bool sl_failed(const struct star *s)
{
    return s->error->code != STAR_OK;
}

/* An exhausted limit remains the reported cause of all failures that follow
 * from it. */
static bool is_limit(enum star_error code)
{
    return code >= STAR_ERROR_MEMORY && code <= STAR_ERROR_CANCELED;
}

__attribute__((format(printf, 3, 0))) static void
fail(struct star *s, enum star_error code, const char *format, va_list ap)
{
    struct sl_error *e = s->error;

    e->deaf = is_limit(e->code);
    if (e->deaf)
        return;
    e->code = code;
    e->reported = false;
    e->hints = LINE_ON(e->hints_text);
    /* Do not clear the text yet: an argument of the format may point into the
     * old message. */
    e->message.length = 0;
    e->message.full = false;
    add_formatted(e, &e->message, format, ap, true);
}

value sl_fail(struct star *s, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    fail(s, STAR_ERROR_RUNTIME, format, ap);
    va_end(ap);
    return 0;
}

value sl_fail_as(struct star *s, enum star_error code, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    fail(s, code, format, ap);
    va_end(ap);
    return 0;
}

star_value star_fail(struct star *s, const char *format, ...)
{
    char text[2048];
    va_list ap;

    va_start(ap, format);
    if (s->hosted) {
        fail(s, STAR_ERROR_RUNTIME, format, ap);
    } else { /* not inside a call: errors from before are obsolete */
        vsnprintf(text, sizeof text, format, ap);
        sl_error_clear(s);
        sl_fail(s, "%s", text);
    }
    va_end(ap);
    return STAR_INVALID;
}

star_value sl_no_value(struct star *s)
{
    if (s->error->code == STAR_OK)
        sl_fail_as(s, STAR_ERROR_VALUE, "no value was given");
    return STAR_INVALID;
}

void sl_fail_prefix(struct star *s, const char *prefix)
{
    if (!is_limit(s->error->code))
        sl_fail_as(s, s->error->code, "%s: %s", prefix, s->error->message.p);
}

#define HINT_MARK "hint: "

/* Appends a hint line to `to`, unless the hints from `from` on contain it
 * already. */
__attribute__((format(printf, 4, 0))) static void
add_hint(struct sl_error *e, struct line *to, size_t from, const char *format,
         va_list ap)
{
    char text[HINTS_BYTES];
    struct line l = LINE_ON(text);

    add_text(&l, HINT_MARK);
    add_formatted(e, &l, format, ap, false);
    add_text(&l, "\n");
    if (!memmem(to->p + from, to->length - from, l.p, l.length))
        add(to, l.p, l.length);
    e->reported = false;
}

void sl_hint(struct star *s, const char *format, ...)
{
    va_list ap;

    if (s->error->deaf)
        return;
    va_start(ap, format);
    add_hint(s->error, &s->error->hints, 0, format, ap);
    va_end(ap);
}

/* --- static errors ------------------------------------------------------------------ */

void sl_static_begin(struct star *s, const struct sl_source *source)
{
    s->error->source = source;
}

void sl_static_quiet(struct star *s, bool quiet)
{
    s->error->quiet = quiet;
}

bool sl_has_static_errors(const struct star *s)
{
    return s->error->static_count > 0;
}

static uint64_t order(struct sl_pos pos)
{
    return (uint64_t)pos.line << 32 | pos.column;
}

/* Inserts an error, sorted by position and then message. Returns false if the
 * same error is already there. */
static bool sort_in(struct sl_error *e, struct static_error x)
{
    uint32_t i = e->static_count;

    while (i > 0 && order(e->errors[i - 1].pos) > order(x.pos))
        i--;
    for (uint32_t k = i; k > 0; k--) {
        const struct static_error *y = &e->errors[k - 1];
        if (order(y->pos) == order(x.pos) &&
            y->after - y->text == x.after - x.text &&
            memcmp(e->statics.p + y->text, e->statics.p + x.text,
                   x.after - x.text) == 0)
            return false;
    }
    memmove(&e->errors[i + 1], &e->errors[i],
            (e->static_count++ - i) * sizeof x);
    e->errors[i] = x;
    e->last = i;
    return true;
}

void sl_static_error(struct star *s, struct sl_pos pos, const char *hint,
                     const char *format, ...)
{
    struct sl_error *e = s->error;
    struct line *l = &e->statics;
    char text[STATIC_TEXT_BYTES];
    struct line t = LINE_ON(text);
    va_list ap;

    e->deaf = true;
    if (e->quiet)
        return;
    if (!is_limit(e->code))
        e->code = STAR_ERROR_STATIC;
    e->reported = false;
    if (e->static_count == STATIC_ERRORS_MAX ||
        l->room - l->length < STATIC_BYTES_MAX) {
        e->static_more++;
        return;
    }
    va_start(ap, format);
    add_formatted(e, &t, format, ap, false);
    va_end(ap);

    struct static_error x = {.pos = pos, .begin = (uint32_t)l->length};
    add_place(l, e->source->file, pos);
    add_text(l, ": ");
    x.text = (uint32_t)l->length;
    add(l, t.p, t.length);
    x.after = (uint32_t)l->length;
    if (!sort_in(e, x)) {
        l->length = x.begin;
        return;
    }
    add_text(l, "\n");
    add_excerpt(e, l, e->source, pos);
    e->errors[e->last].hints = e->errors[e->last].end = (uint32_t)l->length;
    e->deaf = false;
    if (e->file.length == 0)
        add_clean(&e->file, e->source->file, strlen(e->source->file), false);
    if (hint)
        sl_static_hint(s, "%s", hint);
}

void sl_static_hint(struct star *s, const char *format, ...)
{
    struct sl_error *e = s->error;
    va_list ap;

    if (e->deaf || e->static_count == 0)
        return;
    va_start(ap, format);
    add_hint(e, &e->statics, e->errors[e->last].hints, format, ap);
    va_end(ap);
    e->errors[e->last].end = (uint32_t)e->statics.length;
}

/* --- the traceback ----------------------------------------------------------------- */

/* Returns the text buffer of the next frame; once full, frames in the middle
 * are overwritten. */
static struct line next_frame(struct sl_error *e)
{
    uint32_t i = e->frame_count++;

    if (i >= FRAMES_KEPT)
        i = FRAMES_KEPT + i % FRAMES_KEPT;
    e->reported = false;
    return LINE_ON(e->frames[i]);
}

void sl_error_frame(struct star *s, const struct sl_source *source,
                    const char *function, struct sl_pos pos)
{
    struct sl_error *e = s->error;
    struct line l = next_frame(e);

    add_place(&l, source->file, pos);
    add_text(&l, ": in ");
    add_clean(&l, function, strlen(function), false);
    if (e->has_place)
        return;
    e->has_place = true;
    e->place = pos;
    e->file = LINE_ON(e->file_text);
    add_clean(&e->file, source->file, strlen(source->file), false);
    e->excerpt = LINE_ON(e->excerpt_text);
    add_excerpt(e, &e->excerpt, source, pos);
}

void sl_error_builtin(struct star *s, const char *name)
{
    struct sl_error *e = s->error;
    bool innermost = e->frame_count == 0 && !e->in_builtin;
    struct line l = innermost ? LINE_ON(e->builtin_text) : next_frame(e);

    e->in_builtin = e->in_builtin || innermost;
    if (!innermost)
        add_text(&l, "<builtin>: in ");
    add_clean(&l, name, strlen(name), false);
}

/* Writes the frames, outermost first. */
static void report_frames(const struct sl_error *e, struct line *l)
{
    uint32_t i = e->frame_count;

    if (i > 0)
        add_text(l, "Traceback (most recent call last):\n");
    while (i-- > 0) {
        if (i >= FRAMES_KEPT && i + FRAMES_KEPT < e->frame_count) {
            add_format(l, "  ... %u more calls ...\n", i - FRAMES_KEPT + 1);
            i = FRAMES_KEPT;
            continue;
        }
        add_format(
            l, "  %s\n",
            e->frames[i < FRAMES_KEPT ? i : FRAMES_KEPT + i % FRAMES_KEPT]);
    }
}

/* Calls `put` for each hint line in `p`; each begins with HINT_MARK and ends
 * with LF. */
static void each_hint(struct line *l, const char *p, size_t length,
                      void (*put)(struct line *l, const char *p, size_t length))
{
    const char *end = p + length, *lf;

    for (; p < end && (lf = memchr(p, '\n', (size_t)(end - p))); p = lf + 1)
        put(l, p, (size_t)(lf + 1 - p));
}

/* Writes a hint unless the report contains it already. */
static void put_new_hint(struct line *l, const char *p, size_t length)
{
    if (!memmem(l->p, l->length, p, length))
        add(l, p, length);
}

static void report(struct sl_error *e)
{
    struct line *l = &e->report;

    *l = LINE_ON(e->report_text);
    for (uint32_t i = 0; i < e->static_count; i++) {
        const struct static_error *x = &e->errors[i];
        add(l, e->statics.p + x->begin, x->hints - x->begin);
        each_hint(l, e->statics.p + x->hints, x->end - x->hints, put_new_hint);
    }
    if (e->static_more > 0)
        add_format(l, "... and %u more\n", e->static_more);
    if (e->code == STAR_OK || e->code == STAR_ERROR_STATIC)
        return;
    report_frames(e, l);
    if (e->in_builtin)
        add_format(l, "Error in %s: ", e->builtin_text);
    else
        add_text(l, "Error: ");
    add(l, e->message.p, e->message.length);
    add_text(l, "\n");
    add(l, e->excerpt.p, e->excerpt.length);
    add(l, e->hints.p, e->hints.length);
}

/* --- for the host ------------------------------------------------------------------- */

enum star_error star_error(const struct star *s)
{
    return s->error->code;
}

const char *star_error_name(enum star_error error)
{
    /* clang-format off */
    static const char *const names[] = {
        [STAR_OK] = "ok",               [STAR_ERROR_STATIC] = "static",
        [STAR_ERROR_RUNTIME] = "runtime", [STAR_ERROR_MEMORY] = "memory",
        [STAR_ERROR_STEPS] = "steps",   [STAR_ERROR_TIMEOUT] = "timeout",
        [STAR_ERROR_DEPTH] = "depth",   [STAR_ERROR_OUTPUT] = "output",
        [STAR_ERROR_CANCELED] = "canceled", [STAR_ERROR_VALUE] = "value",
    };
    /* clang-format on */

    return (unsigned)error < sizeof names / sizeof *names ? names[error]
                                                          : "unknown";
}

static bool is_static(const struct sl_error *e)
{
    return e->code == STAR_ERROR_STATIC && e->static_count > 0;
}

static const char *static_message(struct sl_error *e, uint32_t i)
{
    const struct static_error *x = &e->errors[i];

    e->message = LINE_ON(e->message_text);
    add(&e->message, e->statics.p + x->text, x->after - x->text);
    return e->message.p;
}

const char *star_error_message(struct star *s)
{
    struct sl_error *e = s->error;

    return is_static(e) ? static_message(e, 0) : e->message.p;
}

const char *star_error_report(struct star *s)
{
    if (!s->error->reported)
        report(s->error);
    s->error->reported = true;
    return s->error->report.p;
}

bool star_error_place(struct star *s, struct star_place *out)
{
    const struct sl_error *e = s->error;
    struct sl_pos pos = is_static(e) ? e->errors[0].pos : e->place;

    if (!is_static(e) && !e->has_place)
        return false;
    *out = (struct star_place){e->file.p, pos.line, pos.column};
    return true;
}

static void put_hint(struct line *l, const char *p, size_t length)
{
    const size_t mark = strlen(HINT_MARK);

    if (l->length > 0)
        add(l, "\n", 1);
    add(l, p + mark, length - mark - 1);
}

bool star_error_at(struct star *s, size_t i, struct star_error_info *out)
{
    struct sl_error *e = s->error;
    struct line hint = LINE_ON(e->hint_text);

    if (e->code == STAR_OK || i >= (is_static(e) ? e->static_count : 1))
        return false;
    *out = (struct star_error_info){.message = e->message.p};
    if (is_static(e)) {
        const struct static_error *x = &e->errors[i];
        out->place = (struct star_place){e->file.p, x->pos.line, x->pos.column};
        out->message = static_message(e, (uint32_t)i);
        each_hint(&hint, e->statics.p + x->hints, x->end - x->hints, put_hint);
    } else {
        (void)star_error_place(s, &out->place);
        each_hint(&hint, e->hints.p, e->hints.length, put_hint);
    }
    if (hint.length > 0)
        out->hint = hint.p;
    return true;
}
