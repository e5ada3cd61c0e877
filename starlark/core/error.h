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

/* Prepends "prefix: " to the message of the current error, unless that is a
 * limit. */
void sl_fail_prefix(struct star *s, const char *prefix);

struct sl_pos {
    uint32_t line, column; /* both from 1; columns count code points */
};

bool sl_error_open(struct star *s); /* Allocates the error record when the
                                     * interpreter is opened. */
void sl_error_close(struct star *s);
void sl_error_clear(struct star *s);

/* A source from which messages may quote a line; borrowed until the outermost
 * call returns. */
struct sl_source {
    const char *file; /* terminated by NUL */
    const char *text;
    size_t length;
};

/* Starts collecting static errors of `source`. */
void sl_static_begin(struct star *s, const struct sl_source *source);
void sl_static_error(struct star *s, struct sl_pos pos, const char *hint,
                     const char *format, ...)
    __attribute__((format(printf, 4, 5))); /* `hint` may be NULL */
/* Adds a further hint to the static error added last. */
void sl_static_hint(struct star *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* While quiet, static errors and hints are dropped. */
void sl_static_quiet(struct star *s, bool quiet);
bool sl_has_static_errors(const struct star *s);

/* Adds a frame that the error leaves, innermost first. The text of the line is
 * copied. `builtin` marks a native function, which has no position. */
void sl_error_frame(struct star *s, const struct sl_source *source,
                    const char *function, struct sl_pos pos);
void sl_error_builtin(struct star *s, const char *name);

/* --- spell.c ---------------------------------------------------------------------- */

/* Finds the name that was probably meant, as the reference implementation does:
 * the smallest edit distance, ignoring underscores and case, below half the
 * length of the name; ties are broken alphabetically. */
#define SL_SPELL_BYTES 64 /* longer names are ignored */
struct sl_spelling {
    unsigned char wrong[SL_SPELL_BYTES];
    unsigned length, best_edits;
    const char *best; /* best match, not terminated by NUL; NULL if none so
                       * far */
    size_t best_length;
};
void sl_spell_begin(struct sl_spelling *sp, const char *p, size_t length);
void sl_spell_try(struct sl_spelling *sp, const char *p, size_t length);

#endif
