#ifndef BASE_PATCH_H
#define BASE_PATCH_H

#include "base/buf.h"

/*
 * patch: how a file became another, as git prints it, so that git apply and
 * patch(1) can read it.
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

#endif
