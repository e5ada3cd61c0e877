#ifndef BASE_PATCH_H
#define BASE_PATCH_H

#include "base/buf.h"

/*
 * patch: how a file became another, as git prints it, so that git apply and
 * patch(1) can read it.
 *
 *     two texts --> patch_format() --> text --> patch_parse() --> patch_apply()
 *
 *     diff --git a/SKILL.md b/SKILL.md
 *     --- a/SKILL.md
 *     +++ b/SKILL.md
 *     @@ -1,3 +1,4 @@ …
 *
 * A file with a NUL in its first 8,000 bytes is binary, as for git, and only
 * named. There are no "index" lines: git's ids of the contents are not known.
 */

#define PATCH_FILE_MAX_BYTES (8u * 1024 * 1024) /* more is named like binary */
#define PATCH_CONTEXT_LINES  3

#define PATCH_FILE    0100644u
#define PATCH_PROGRAM 0100755u
#define PATCH_LINK    0120000u

struct patch_side {
    unsigned mode;   /* git's; 0: the file is not there */
    struct str text; /* of a link: where it leads */
    bool is_opaque;  /* the text is not at hand, or too large */
};

struct patch_file {
    struct str path; /* relative, "/" between its names */
    struct patch_side before, after;
};

bool patch_is_binary(const struct patch_file *f);

/* Adds nothing when both sides are the same. Texts are written as they are:
 * text_visible is the caller's. */
void patch_format(const struct patch_file *f, struct buf *out);

/*
 * Reading is strict, for patches that other people commit: files that come, go
 * or change as text, at just the lines that the hunks name. No names but one
 * for both sides, no modes, no links, no copies, no binary contents, no line
 * that is none of these; "index" lines are skipped, as git writes them.
 */

#define PATCH_MAX_BYTES (8u * 1024 * 1024)
#define PATCH_MAX_FILES 4096

struct patch_line {
    char sign;       /* ' ', '-' or '+' */
    bool bare;       /* without an LF: the last one of its file */
    struct str text; /* without its LF */
};

struct patch_hunk {
    size_t before, after; /* lines in front of it, on each side */
    const struct patch_line *lines;
    size_t count;
    unsigned line; /* of its "@@" */
};

struct patch_change {
    struct str path;                /* clean, relative, printable UTF-8 */
    bool is_new, is_gone;           /* the file was not there, or will not be */
    const struct patch_hunk *hunks; /* in their order, none over another */
    size_t count;
};

struct patch {
    const struct patch_change *changes; /* of each path one */
    size_t count;
};

/*
 * Ownership: in `a`, borrowing from `text`. Errors: ERR_FORMAT
 * "NAME:12: …", ERR_LIMIT, ERR_REFUSED for a path that leaves its folder.
 */
MUST_CHECK bool patch_parse(struct str text, const char *name, struct arena *a,
                            struct patch *out, struct err *e);

/*
 * The text of the file afterwards, in `a`, at most PATCH_FILE_MAX_BYTES. Whether
 * the file is there is the caller's to compare with is_new. Errors: ERR_PATCH
 * naming the line of `before` that is another one, and the hunk; ERR_LIMIT.
 */
MUST_CHECK bool patch_apply(const struct patch_change *c, struct str before,
                            struct arena *a, struct str *out, struct err *e);

#endif
