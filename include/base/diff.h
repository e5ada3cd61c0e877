#ifndef BASE_DIFF_H
#define BASE_DIFF_H

#include "base/buf.h"

/*
 * diff: how one text became another, line by line.
 *
 *     before, after --> diff_lines() --> struct diff --> diff_format()
 *     base, ours, theirs --> diff_merge() --> one text
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

/*
 * What both sides made of `base`, in one text. Where they changed the same
 * lines, or neighbouring ones, in different ways both stand there between git's
 * markers: "<<<<<<< OURS", "=======", ">>>>>>> THEIRS". Returns how many such
 * places there are. A text that ends without an LF may get one behind it, where
 * a marker follows.
 */
size_t diff_merge(struct str base, struct str ours, struct str theirs,
                  const char *our_name, const char *their_name,
                  struct buf *out);

#endif
