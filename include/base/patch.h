#ifndef BASE_PATCH_H
#define BASE_PATCH_H

#include "base/buf.h"

/*
 * patch: write, parse and apply patches in git's format, which git apply and
 * patch(1) also read.
 *
 *     two texts --> patch_format() --> text --> patch_parse() --> patch_apply()
 *
 *     diff --git a/SKILL.md b/SKILL.md
 *     --- a/SKILL.md
 *     +++ b/SKILL.md
 *     @@ -1,3 +1,4 @@ …
 *
 * As in git, a file with a NUL in its first 8,000 bytes is binary and
 * only named. There are no "index" lines, because git's ids of the
 * contents are not known.
 */

#define PATCH_FILE_MAX_BYTES (8u * 1024 * 1024) /* larger: only named */
#define PATCH_CONTEXT_LINES  3

#define PATCH_FILE    0100644u
#define PATCH_PROGRAM 0100755u
#define PATCH_LINK    0120000u

struct patch_side {
    unsigned mode;   /* git file mode; 0: the file does not exist */
    struct str text; /* contents; target of a symbolic link */
    bool is_opaque;  /* the text is not available or too large */
};

/* A file with its content before and after a change. */
struct patch_file {
    struct str path; /* relative, separated by "/" */
    struct patch_side before, after;
};

bool patch_is_binary(const struct patch_file *f);

/* Appends the patch of one file; nothing if both sides are equal. Text is not
 * escaped; the caller uses text_visible if needed. */
void patch_format(const struct patch_file *f, struct buf *out);

/*
 * The parser is strict, because patches are untrusted input: it accepts files
 * that are added, deleted or changed as text, at exactly the lines that the
 * hunks name. It rejects renames, copies, mode changes, links, binary contents
 * and unknown lines, and skips the "index" lines that git writes.
 */

#define PATCH_MAX_BYTES (8u * 1024 * 1024)
#define PATCH_MAX_FILES 4096

struct patch_line {
    char sign;       /* ' ', '-' or '+' */
    bool bare;       /* no LF: the last line of its file */
    struct str text; /* without LF */
};

struct patch_hunk {
    size_t before, after; /* number of lines before the hunk, per side */
    const struct patch_line *lines;
    size_t count;
    unsigned line; /* line of the patch with its "@@" */
};

struct patch_change {
    struct str path;                /* relative, without "..", printable
                                       UTF-8 */
    bool is_new, is_gone;           /* the file is added or deleted */
    const struct patch_hunk *hunks; /* in order, not overlapping */
    size_t count;
};

struct patch {
    const struct patch_change *changes; /* one per path */
    size_t count;
};

/* Parses a patch; `name` is used in messages.
 * Ownership: allocated in `a`, borrowing from `text`.
 * Errors: ERR_FORMAT "NAME:12: …"; ERR_LIMIT; ERR_REFUSED for a path that
 * leaves its folder. */
MUST_CHECK bool patch_parse(struct str text, const char *name, struct arena *a,
                            struct patch *out, struct err *e);

/*
 * Applies a change to `before`. `*out` is allocated in `a` and has at
 * most PATCH_FILE_MAX_BYTES. The caller checks is_new against the
 * existence of the file.
 * Errors: ERR_PATCH, naming the hunk and the line of `before` that
 * differs; ERR_LIMIT.
 */
MUST_CHECK bool patch_apply(const struct patch_change *c, struct str before,
                            struct arena *a, struct str *out, struct err *e);

/*
 * Finds the places of the hunks of a change in `text`, another version of the
 * file than the one that it was made for. `*before` and `*after`, allocated in
 * `a`, are `text` with the lines of both sides of the hunks in these places: a
 * base and a side for diff_merge. Returns true if each hunk has exactly one
 * place, with all its lines or with those that it makes of them; otherwise
 * those with the most lines in common are taken.
 */
bool patch_fit(const struct patch_change *c, struct str text, struct arena *a,
               struct str *before, struct str *after);

#endif
