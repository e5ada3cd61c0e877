#ifndef BASE_DIFF_H
#define BASE_DIFF_H

#include "base/buf.h"

/*
 * diff: how one text became another, line by line.
 *
 *     before, after --> diff_lines() --> struct diff --> diff_format()
 *
 * A line ends with its LF; a last one without is another line than the same
 * with one. The fewest changes there are, up to DIFF_MAX_EDITS of them: what
 * lies between is then shown as replaced as a whole. So it is bounded in time
 * and memory, whatever the texts are.
 *
 * For: what changed since it was trusted; what a tape has and a run has not.
 */

#define DIFF_MAX_EDITS 1000
#define DIFF_MAX_LINES 200000 /* of a text; what follows is part of the last */

struct diff_line {
    char sign;            /* ' ' in both, '-' before only, '+' after only */
    size_t before, after; /* numbers from 1; 0: it is not in that text */
    struct str text;      /* without its LF */
    bool bare;            /* it had none */
};

struct diff {
    struct diff_line *lines;
    size_t count, removed, added;
};

/* Ownership: lines in `a`, borrowing from both texts. */
void diff_lines(struct str before, struct str after, struct arena *a,
                struct diff *out);

/*
 * The changes with `context` lines around them, as `diff -u` writes them:
 * "@@ -1,3 +1,4 @@", then the lines behind their signs. Nothing when there is
 * no change. The text is as it came: text_visible is the caller's.
 */
void diff_format(const struct diff *d, size_t context, struct buf *out);

#endif
