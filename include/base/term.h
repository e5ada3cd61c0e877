#ifndef BASE_TERM_H
#define BASE_TERM_H

#include "base/buf.h"

/*
 * term: what a person sees. Results go to stdout, all else to stderr; colour
 * only on a terminal, never with NO_COLOR or TERM=dumb, unless --color always;
 * a progress line only when stderr is a terminal. Text from outside is passed
 * through text_visible by term_* itself.
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
    bool is_out, is_err; /* descriptors are terminals */
    bool is_in;          /* stdin too: may we ask? */
    bool is_dumb;        /* TERM unset or "dumb": no progress line */
    bool quiet;
    unsigned width;    /* columns of stderr; 80 when unknown */
    bool has_progress; /* a progress line is shown on stderr */
    uint64_t progress_at_ms;
    int out_errno;  /* why stdout could not be written; 0: it could */
    struct buf out; /* stdout, flushed by term_flush and at the end */
};

void term_init(struct term *t, enum term_when color, bool quiet);
/* False when stdout could not be written (ENOSPC, EPIPE): the exit is 1. */
MUST_CHECK bool term_done(struct term *t, struct err *e);
MUST_CHECK bool term_flush(struct term *t, struct err *e);

/* stdout; `format`'s arguments are made visible as one text (LF kept). */
void term_print(struct term *t, const char *format, ...) PRINTF(2, 3);
void term_style_print(struct term *t, enum term_style style, const char *format,
                      ...) PRINTF(3, 4);
void term_write(struct term *t, struct str bytes); /* stdout, as it is */
/* stdout: a content that was asked for. As it is on a pipe; on a terminal made
 * visible, LF kept. */
void term_content(struct term *t, struct str bytes);
void term_style_content(struct term *t, enum term_style style,
                        struct str bytes);

/* A line on stderr (its LF is added); nothing when quiet. */
void term_note(struct term *t, const char *format, ...) PRINTF(2, 3);
/* "warning: …" in yellow, on one line: an LF in it is escaped. Shown when quiet,
 * too. */
void term_warn(struct term *t, const char *format, ...) PRINTF(2, 3);
/* "mapm: …", "  because: …" outermost first, "  - …" for each member of a list,
 * "  hint: …" (STYLE.md 4). */
void term_error(struct term *t, const struct err *e);
/* "hint: …" alone, of what was told otherwise. */
void term_hint(struct term *t, const struct err *e);

/* Replaces the progress line; at most 10 times a second; nothing without a
 * terminal. term_progress_clear removes it (all term_* calls do so first). */
void term_progress(struct term *t, const char *format, ...) PRINTF(2, 3);
void term_progress_clear(struct term *t);

/* Asks on the terminal; `*yes` false for anything but y/yes. ERR_REFUSED when
 * stdin or stderr is no terminal. */
MUST_CHECK bool term_ask(struct term *t, const char *question, bool *yes,
                         struct err *e);

/*
 * Asks for one of `choices`, "(o)nce, (n)o", by its first letter or in full.
 * Nothing typed, the end of the input and `deadline_ms` (as proc_now_ms counts;
 * 0: none) give the last one, and so does a third answer that is none of them.
 * What was typed before the question is dropped.
 * ERR_REFUSED as term_ask.
 */
MUST_CHECK bool term_choose(struct term *t, const char *question,
                            const char *const *choices, size_t count,
                            uint64_t deadline_ms, size_t *chosen,
                            struct err *e);

#endif
