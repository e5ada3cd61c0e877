#ifndef STARLARK_ERROR_H
#define STARLARK_ERROR_H

#include "star.h"

/*
 * error: what went wrong, kept outside the heap's budget so that a program that
 * used up its memory can still be told so.
 *
 * A run-time error is set once, where it happens, by sl_fail; then each frame
 * that is left adds its place. Static errors of one source are collected, then
 * sorted by place. Texts are bounded; what does not fit ends in "...".
 */

/* "prefix: " before the message of the error just set, unless that is a limit. */
void sl_fail_prefix(struct star *s, const char *prefix);

struct sl_pos {
    uint32_t line, column; /* from 1; columns in code points */
};

bool sl_error_open(struct star *s); /* with the interpreter */
void sl_error_close(struct star *s);
void sl_error_clear(struct star *s);

/* The source that messages may quote a line of: borrowed until the report is
 * made, which is when the outermost call returns. */
struct sl_source {
    const char *file; /* ended by NUL */
    const char *text;
    size_t length;
};

void sl_static_error(struct star *s, const struct sl_source *source,
                     struct sl_pos pos, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* For the static error added last. */
void sl_static_hint(struct star *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* While quiet, neither is taken. Returns how it was before. */
bool sl_static_quiet(struct star *s, bool quiet);
/* In place of an error that is not worth saying: hints for it are dropped. */
void sl_static_skip(struct star *s);
bool sl_has_static_errors(const struct star *s);
#define SL_STATIC_ERRORS_MAX 100 /* of one source; more are only counted */

/* A frame that the error leaves, from the innermost outwards. The text of the
 * line is copied. `builtin`: a native function, which has no place. */
void sl_error_frame(struct star *s, const struct sl_source *source,
                    const char *function, struct sl_pos pos);
void sl_error_builtin(struct star *s, const char *name);

/* The name among `names` that was probably meant, or NULL. */
const char *sl_nearest(const char *name, const char *const *names,
                       size_t count);

#endif
