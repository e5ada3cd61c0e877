#ifndef BASE_DIFF_H
#define BASE_DIFF_H

#include "base/buf.h"

/*
 * diff: compare two texts line by line, and merge three.
 *
 *     before, after --> diff_lines() --> struct diff --> diff_format()
 *     base, ours, theirs --> diff_merge() --> one text
 *
 * A line includes its LF, so a last line without LF differs from the same line
 * with one. The result has the minimum of changes if that is at most
 * DIFF_MAX_EDITS; otherwise the rest between the common beginning and end is
 * reported as replaced. Time and memory are therefore bounded for any input.
 *
 * Used to show what changed in a program since it was trusted, and how a run
 * differs from its tape.
 */

#define DIFF_MAX_EDITS 1000
#define DIFF_MAX_LINES 200000 /* per text; the last line holds the remainder */

struct diff_line {
    char sign;            /* ' ': in both texts, '-': only before, '+': only
                             after */
    size_t before, after; /* line numbers from 1; 0 if not in that text */
    struct str text;      /* without its LF */
    bool bare;            /* the line has no LF */
};

struct diff {
    struct diff_line *lines;
    size_t count, removed, added;
};

/* Compares two texts.
 * Ownership: lines in `a`, borrowing from both texts. */
void diff_lines(struct str before, struct str after, struct arena *a,
                struct diff *out);

/*
 * Writes the changes with `context` lines around them in the format of `diff
 * -u`: "@@ -1,3 +1,4 @@", then the lines with their signs. Writes nothing if
 * there are no changes. The text is not escaped; the caller uses text_visible
 * if needed.
 */
void diff_format(const struct diff *d, size_t context, struct buf *out);

/*
 * Merges the changes that two sides made to `base` into one text. Where both
 * changed the same or adjacent lines in different ways, both versions are
 * written between git's conflict markers: "<<<<<<< OURS", "=======", ">>>>>>>
 * THEIRS". Returns the number of such conflicts. If a marker follows a version
 * that ends without LF, one is added.
 */
size_t diff_merge(struct str base, struct str ours, struct str theirs,
                  const char *our_name, const char *their_name,
                  struct buf *out);

#endif
