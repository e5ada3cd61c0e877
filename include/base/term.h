#ifndef BASE_TERM_H
#define BASE_TERM_H

#include "base/buf.h"

/*
 * term: output for the user. Results go to stdout, everything else to
 * stderr. Color is used only on a terminal, and never with NO_COLOR or
 * TERM=dumb, unless --color always is given; the progress line only if
 * stderr is a terminal. The term_* functions pass text from untrusted
 * sources through text_visible.
 *
 * Source: DESIGN.md 10; THREATS.md row 7.
 */

enum term_when { TERM_AUTO, TERM_NEVER, TERM_ALWAYS };

enum term_style {
    TERM_PLAIN,
    TERM_BOLD,
    TERM_DIM,
    TERM_RED,
    TERM_GREEN,
    TERM_YELLOW,
    TERM_CYAN
};

struct term {
    bool color_out, color_err;
    bool is_out, is_err; /* stdout, stderr are terminals */
    bool is_in;          /* stdin is a terminal, so the user can be asked */
    bool is_dumb;        /* TERM unset or "dumb": no progress line */
    bool quiet;
    unsigned width;    /* columns of stderr; 80 if unknown */
    bool has_progress; /* a progress line is shown on stderr */
    uint64_t progress_at_ms;
    int out_errno;  /* errno of a failed write to stdout, or 0 */
    struct buf out; /* buffer of stdout, see term_flush */
};

void term_init(struct term *t, enum term_when color, bool quiet);
/* Flushes stdout. Fails if it could not be written (ENOSPC, EPIPE); the
 * exit code is then 1. */
MUST_CHECK bool term_done(struct term *t, struct err *e);
MUST_CHECK bool term_flush(struct term *t, struct err *e);

/* Write to stdout; the formatted text passes through text_visible, keeping
 * LF. */
void term_print(struct term *t, const char *format, ...) PRINTF(2, 3);
void term_style_print(struct term *t, enum term_style style, const char *format,
                      ...) PRINTF(3, 4);
void term_write(struct term *t, struct str bytes); /* to stdout, unchanged */
/* Write contents that the user requested to stdout: on a terminal through
 * text_visible, keeping LF; unchanged otherwise. */
void term_content(struct term *t, struct str bytes);
void term_style_content(struct term *t, enum term_style style,
                        struct str bytes);

/* Writes a line to stderr and adds LF; does nothing when quiet. */
void term_note(struct term *t, const char *format, ...) PRINTF(2, 3);
/* Writes "warning: …" in yellow on one line of stderr, with LF escaped;
 * also when quiet. */
void term_warn(struct term *t, const char *format, ...) PRINTF(2, 3);
/* Writes "mapm: …" and "  because: …" outermost first, "  - …" for each item of
 * a list, and "  hint: …" (STYLE.md 4). */
void term_error(struct term *t, const struct err *e);
/* Writes only "hint: …", for an error that was already reported. */
void term_hint(struct term *t, const struct err *e);

/* Replaces the progress line at most 10 times per second; does nothing without
 * a terminal. term_progress_clear removes it; all term_* functions do so
 * first. */
void term_progress(struct term *t, const char *format, ...) PRINTF(2, 3);
void term_progress_clear(struct term *t);

/* Asks a question on the terminal; sets `*yes` to false for any answer except y
 * or yes. Fails with ERR_REFUSED if stdin or stderr is not a terminal. */
MUST_CHECK bool term_ask(struct term *t, const char *question, bool *yes,
                         struct err *e);

/*
 * Asks the user to select one of `choices`, shown as "(o)nce, (n)o", by its
 * first letter or in full. The last choice is the default: for an empty answer,
 * at the end of input, at `deadline_ms` (as proc_now_ms; 0: none) and after a
 * third invalid answer. Input typed before the question is discarded. Fails
 * with ERR_REFUSED as term_ask.
 */
MUST_CHECK bool term_choose(struct term *t, const char *question,
                            const char *const *choices, size_t count,
                            uint64_t deadline_ms, size_t *chosen,
                            struct err *e);

#endif
