#include "error.h"

#include <stdarg.h>
#include <stdio.h>

#include "ops.h"
#include "report.h"

#define STATIC_TEXT_BYTES 1024
#define STATIC_BYTES_MAX  8192 /* of one static error with its hints */

/* --- keeping one ------------------------------------------------------------------- */

bool sl_error_open(struct star *s)
{
    s->error = sl_system_alloc(sizeof *s->error);
    if (!s->error)
        return false;
    s->error->code = STAR_ERROR_RUNTIME; /* so that clearing does its work */
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
        return; /* the common case: every call from the host asks */
    e->code = STAR_OK;
    e->deaf = e->quiet = e->has_place = e->in_builtin = e->reported = false;
    e->static_count = e->static_more = e->frame_count = 0;
    e->place = (struct sl_pos){0, 0};
    e->cursor = (struct sl_cursor){0};
    e->message_line = sl_line_on(e->message, sizeof e->message);
    e->hints_line = sl_line_on(e->hints, sizeof e->hints);
    e->excerpt_line = sl_line_on(e->excerpt, sizeof e->excerpt);
    e->statics_line = sl_line_on(e->statics, sizeof e->statics);
    e->report_line = sl_line_on(e->report, sizeof e->report);
    e->file_line = sl_line_on(e->file, sizeof e->file);
}

/* A limit stays the cause, whatever fails after it because of it. */
static bool is_limit(enum star_error code)
{
    return code >= STAR_ERROR_MEMORY && code <= STAR_ERROR_CANCELED;
}

/* What was formatted into the scratch, cleaned. */
static void put_scratch(struct sl_error *e, struct sl_line *l, int formatted,
                        bool lines)
{
    size_t n = formatted < 0 ? 0 : (size_t)formatted;
    size_t kept = n < sizeof e->scratch ? n : sizeof e->scratch - 1;

    if (kept < n) /* not half a character: it is cut anyway */
        while (kept > 0 && ((unsigned char)e->scratch[kept - 1] & 0x80))
            kept--;
    sl_line_clean(l, e->scratch, kept, lines);
    if (kept < n)
        sl_line_text(l, "...");
}

__attribute__((format(printf, 3, 0))) static value
fail(struct star *s, enum star_error code, const char *format, va_list ap)
{
    struct sl_error *e = s->error;

    e->deaf = is_limit(e->code);
    if (e->deaf)
        return 0;
    /* The format may refer to the message that is replaced. */
    int n = vsnprintf(e->scratch, sizeof e->scratch, format, ap);
    e->code = code;
    e->reported = false;
    e->message_line = sl_line_on(e->message, sizeof e->message);
    e->hints_line = sl_line_on(e->hints, sizeof e->hints);
    put_scratch(e, &e->message_line, n, true);
    return 0;
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
    va_list ap;

    va_start(ap, format);
    fail(s, STAR_ERROR_RUNTIME, format, ap);
    va_end(ap);
    return STAR_NONE_AT_ALL;
}

void sl_fail_prefix(struct star *s, const char *prefix)
{
    if (!is_limit(s->error->code))
        sl_fail_as(s, s->error->code, "%s: %s", prefix, s->error->message);
}

void sl_hint(struct star *s, const char *format, ...)
{
    struct sl_error *e = s->error;
    va_list ap;

    if (e->deaf)
        return;
    va_start(ap, format);
    int n = vsnprintf(e->scratch, sizeof e->scratch, format, ap);
    va_end(ap);
    e->reported = false;
    sl_line_text(&e->hints_line, "hint: ");
    put_scratch(e, &e->hints_line, n, false);
    sl_line_text(&e->hints_line, "\n");
}

bool sl_failed(const struct star *s)
{
    return s->error->code != STAR_OK;
}

/* --- static errors ------------------------------------------------------------------ */

/* The first of the source, for message and place: kept sorted. */
static void sort_in(struct sl_error *e)
{
    uint32_t i = e->static_count - 1;
    struct sl_static x = e->errors[i];

    for (; i > 0; i--) {
        const struct sl_pos *p = &e->errors[i - 1].pos;
        if (p->line < x.pos.line ||
            (p->line == x.pos.line && p->column <= x.pos.column))
            break;
        e->errors[i] = e->errors[i - 1];
    }
    e->errors[i] = x;
    e->last = i;
}

static bool is_said(const struct sl_error *e, const struct sl_static *x)
{
    for (uint32_t i = 0; i < e->static_count; i++) {
        const struct sl_static *y = &e->errors[i];
        if (y->pos.line == x->pos.line && y->pos.column == x->pos.column &&
            y->after - y->text == x->after - x->text &&
            memcmp(e->statics + y->text, e->statics + x->text,
                   x->after - x->text) == 0)
            return true;
    }
    return false;
}

void sl_static_error(struct star *s, const struct sl_source *source,
                     struct sl_pos pos, const char *format, ...)
{
    struct sl_error *e = s->error;
    struct sl_line *l = &e->statics_line;
    char text[STATIC_TEXT_BYTES];
    struct sl_line t = sl_line_on(text, sizeof text);
    va_list ap;

    e->deaf = e->quiet;
    if (e->quiet)
        return;
    if (!is_limit(e->code))
        e->code = STAR_ERROR_STATIC;
    e->reported = false;
    e->deaf = e->static_count == SL_STATIC_ERRORS_MAX ||
              l->room - l->length < STATIC_BYTES_MAX;
    if (e->deaf) {
        e->static_more++;
        return;
    }
    va_start(ap, format);
    int n = vsnprintf(e->scratch, sizeof e->scratch, format, ap);
    va_end(ap);
    put_scratch(e, &t, n, false);

    struct sl_static x = {.pos = pos, .begin = (uint32_t)l->length};
    sl_line_place(l, source->file, pos);
    sl_line_text(l, ": ");
    x.text = (uint32_t)l->length;
    sl_line_add(l, t.p, t.length);
    x.after = (uint32_t)l->length;
    sl_line_text(l, "\n");
    e->deaf = is_said(e, &x);
    if (e->deaf) {
        l->length = x.begin;
        return;
    }
    sl_line_excerpt(l, &e->cursor, source, pos);
    x.end = (uint32_t)l->length;
    if (e->file_line.length == 0)
        sl_line_clean(&e->file_line, source->file, strlen(source->file), false);
    e->errors[e->static_count++] = x;
    sort_in(e);
}

void sl_static_hint(struct star *s, const char *format, ...)
{
    struct sl_error *e = s->error;
    struct sl_line *l = &e->statics_line;
    char text[STATIC_TEXT_BYTES];
    struct sl_line t = sl_line_on(text, sizeof text);
    va_list ap;

    if (e->deaf || e->static_count == 0)
        return;
    va_start(ap, format);
    int n = vsnprintf(e->scratch, sizeof e->scratch, format, ap);
    va_end(ap);
    sl_line_text(&t, "hint: ");
    put_scratch(e, &t, n, false);
    sl_line_text(&t, "\n");
    if (memmem(l->p, l->length, t.p, t.length))
        return; /* once a report is enough */
    sl_line_add(l, t.p, t.length);
    e->errors[e->last].end = (uint32_t)l->length;
}

bool sl_static_quiet(struct star *s, bool quiet)
{
    bool before = s->error->quiet;

    s->error->quiet = quiet;
    return before;
}

void sl_static_skip(struct star *s)
{
    s->error->deaf = true;
}

bool sl_has_static_errors(const struct star *s)
{
    return s->error->static_count > 0;
}

/* --- the traceback ----------------------------------------------------------------- */

/* The text of the next frame: those of the middle are overwritten. */
static struct sl_line next_frame(struct sl_error *e)
{
    uint32_t i = e->frame_count++;

    if (i >= SL_FRAMES_KEPT)
        i = SL_FRAMES_KEPT + (i - SL_FRAMES_KEPT) % SL_FRAMES_KEPT;
    e->reported = false;
    return sl_line_on(e->frames[i], sizeof e->frames[i]);
}

void sl_error_frame(struct star *s, const struct sl_source *source,
                    const char *function, struct sl_pos pos)
{
    struct sl_error *e = s->error;
    struct sl_line l = next_frame(e);

    sl_line_place(&l, source->file, pos);
    sl_line_text(&l, ": in ");
    sl_line_clean(&l, function, strlen(function), false);
    if (e->has_place)
        return;
    e->has_place = true;
    e->place = pos;
    e->file_line = sl_line_on(e->file, sizeof e->file);
    sl_line_clean(&e->file_line, source->file, strlen(source->file), false);
    e->excerpt_line = sl_line_on(e->excerpt, sizeof e->excerpt);
    sl_line_excerpt(&e->excerpt_line, &e->cursor, source, pos);
}

void sl_error_builtin(struct star *s, const char *name)
{
    struct sl_error *e = s->error;

    if (e->frame_count == 0 && !e->in_builtin) {
        struct sl_line l = sl_line_on(e->builtin, sizeof e->builtin);
        sl_line_clean(&l, name, strlen(name), false);
        e->in_builtin = true;
        return;
    }
    struct sl_line l = next_frame(e);
    sl_line_text(&l, "<builtin>: in ");
    sl_line_clean(&l, name, strlen(name), false);
}

/* --- for the host ------------------------------------------------------------------- */

enum star_error star_error(const struct star *s)
{
    return s->error->code;
}

const char *star_error_name(enum star_error error)
{
    static const char *const names[] = {
        [STAR_OK] = "ok",
        [STAR_ERROR_STATIC] = "static",
        [STAR_ERROR_RUNTIME] = "runtime",
        [STAR_ERROR_MEMORY] = "memory",
        [STAR_ERROR_STEPS] = "steps",
        [STAR_ERROR_TIMEOUT] = "timeout",
        [STAR_ERROR_DEPTH] = "depth",
        [STAR_ERROR_OUTPUT] = "output",
        [STAR_ERROR_CANCELED] = "canceled",
        [STAR_ERROR_VALUE] = "value",
    };

    return (unsigned)error < sizeof names / sizeof *names ? names[error]
                                                          : "unknown";
}

const char *star_error_message(struct star *s)
{
    struct sl_error *e = s->error;

    if (e->code == STAR_ERROR_STATIC && e->static_count > 0) {
        const struct sl_static *x = &e->errors[0];
        e->message_line = sl_line_on(e->message, sizeof e->message);
        sl_line_add(&e->message_line, e->statics + x->text, x->after - x->text);
    }
    return e->message;
}

const char *star_error_report(struct star *s)
{
    struct sl_error *e = s->error;

    if (!e->reported)
        sl_report(e);
    e->reported = true;
    return e->report;
}

bool star_error_place(struct star *s, struct star_place *out)
{
    const struct sl_error *e = s->error;
    struct sl_pos pos = e->place;

    if (e->code == STAR_ERROR_STATIC && e->static_count > 0)
        pos = e->errors[0].pos;
    else if (!e->has_place)
        return false;
    *out = (struct star_place){e->file, pos.line, pos.column};
    return true;
}
