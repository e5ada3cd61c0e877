#ifndef STARLARK_ERROR_H
#define STARLARK_ERROR_H

#include "star.h"

/*
 * error: what went wrong, kept outside the heap's budget so that a program that
 * used up its memory still gets a report.
 *
 * A run-time error is set once, where it happens, by sl_fail; then each frame
 * that is left adds its place. Static errors of one source are collected, then
 * sorted by place. Texts are bounded; what does not fit ends in "...".
 *
 *     Traceback (most recent call last):        hello.star:3:9: undefined: hollo
 *       hello.star:7:2: in <toplevel>               print(hollo)
 *       hello.star:3:14: in greet                         ^
 *     Error: unknown binary op: int + string    hint: ...
 *         return 1 + name
 *                  ^
 *     hint: ...
 */

/* "prefix: " before the message of the error just set, unless that is a limit. */
void sl_fail_prefix(struct star *s, const char *prefix);

struct sl_pos {
    uint32_t line, column; /* from 1; columns in code points */
};

bool sl_error_open(struct star *s); /* with the interpreter */
void sl_error_close(struct star *s);
void sl_error_clear(struct star *s);

/* A source that messages may quote a line of: borrowed until the outermost call
 * returns. */
struct sl_source {
    const char *file; /* ended by NUL */
    const char *text;
    size_t length;
};

/* Static errors are of that source from here on. */
void sl_static_begin(struct star *s, const struct sl_source *source);
void sl_static_error(struct star *s, struct sl_pos pos, const char *hint,
                     const char *format, ...)
    __attribute__((format(printf, 4, 5))); /* `hint` may be NULL */
/* One more for the static error added last. */
void sl_static_hint(struct star *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* While quiet, neither is taken. */
void sl_static_quiet(struct star *s, bool quiet);
bool sl_has_static_errors(const struct star *s);

/* A frame that the error leaves, from the innermost outwards. The text of the
 * line is copied. `builtin`: a native function, which has no place. */
void sl_error_frame(struct star *s, const struct sl_source *source,
                    const char *function, struct sl_pos pos);
void sl_error_builtin(struct star *s, const char *name);

/* --- spell.c ---------------------------------------------------------------------- */

/* The name that was probably meant, as in the reference implementation: fewest
 * edits, underscores and case apart, less than half of the name; of equals the
 * first in the order of the alphabet. */
#define SL_SPELL_BYTES 64 /* longer names are not looked at */
struct sl_spelling {
    unsigned char wrong[SL_SPELL_BYTES];
    unsigned length, best_edits;
    const char *best; /* NULL: none so far; not ended by NUL */
    size_t best_length;
};
void sl_spell_begin(struct sl_spelling *sp, const char *p, size_t length);
void sl_spell_try(struct sl_spelling *sp, const char *p, size_t length);

#endif
