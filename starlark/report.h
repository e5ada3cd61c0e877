#ifndef STARLARK_REPORT_H
#define STARLARK_REPORT_H

#include "error.h"

/*
 * report: how an error is kept, and how it reads. Only error.c and report.c
 * see this.
 *
 *     Traceback (most recent call last):        hello.star:3:9: undefined: hollo
 *       hello.star:7:2: in <toplevel>               print(hollo)
 *       hello.star:3:14: in greet                         ^
 *     Error: unknown binary op: int + string    hint: ...
 *         return 1 + name
 *                  ^
 *     hint: ...
 *
 * All of it is one block that is taken when the interpreter is opened, so that
 * the end of memory can always be reported.
 */

/* A text of bounded size: what does not fit is cut between two characters, and
 * the text then ends in "...". Always ended by NUL. */
struct sl_line {
    char *p;
    size_t length, room; /* room: bytes without the NUL */
    bool full;
};

#define SL_MESSAGE_BYTES 16384
#define SL_HINTS_BYTES   2048
#define SL_EXCERPT_BYTES 4096
#define SL_FRAME_BYTES   320
#define SL_FRAMES_KEPT   50 /* innermost ones, and as many outermost ones */
#define SL_STATIC_BYTES  49152
#define SL_REPORT_BYTES  65536

struct sl_static { /* a static error: offsets into `statics` */
    struct sl_pos pos;
    uint32_t begin, end;  /* all its lines */
    uint32_t text, after; /* what it says, without its place */
};

/* Where in a source a line and column are: searching goes on from the last
 * place, as errors mostly come in the order of the source. */
struct sl_cursor {
    const char *text;
    size_t line_start, at;
    struct sl_pos pos;
};

struct sl_error {
    enum star_error code;
    bool deaf; /* the last one was not kept: hints for it neither */
    bool quiet;
    bool has_place, in_builtin, reported;
    uint32_t static_count, static_more, last; /* last: the one added last */
    uint32_t frame_count;
    struct sl_pos place;
    struct sl_cursor cursor;
    struct sl_line message_line, hints_line, excerpt_line, statics_line,
        report_line, file_line;

    struct sl_static errors[SL_STATIC_ERRORS_MAX];
    char file[SL_FRAME_BYTES];
    char builtin[SL_FRAME_BYTES];
    char hints[SL_HINTS_BYTES];
    char excerpt[SL_EXCERPT_BYTES];
    char frames[2 * SL_FRAMES_KEPT][SL_FRAME_BYTES];
    char message[SL_MESSAGE_BYTES];
    char scratch[SL_MESSAGE_BYTES];
    char statics[SL_STATIC_BYTES];
    char report[SL_REPORT_BYTES];
};

struct sl_line sl_line_on(char *p, size_t size);
void sl_line_add(struct sl_line *l, const char *p, size_t length);
void sl_line_text(struct sl_line *l, const char *text);
void sl_line_printf(struct sl_line *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Text from outside: control characters, what turns the direction of writing,
 * and bytes that are no UTF-8 become escapes. `lines`: LF and tabs may stay. */
void sl_line_clean(struct sl_line *l, const char *p, size_t length, bool lines);
/* "file:line:column", of a file name from outside. */
void sl_line_place(struct sl_line *l, const char *file, struct sl_pos pos);

/* The line of the source around `pos` and a caret below; nothing when the
 * source has no text there. */
void sl_line_excerpt(struct sl_line *l, struct sl_cursor *c,
                     const struct sl_source *source, struct sl_pos pos);

/* Makes e->report of the rest. */
void sl_report(struct sl_error *e);

#endif
