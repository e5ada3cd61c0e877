#ifndef STORE_NOTES_H
#define STORE_NOTES_H

#include "base/buf.h"
#include "base/hash.h"

/* notes: pending writes to the index, applied later in the same order. More
 * than one block of memory is written to an unlinked file that only this
 * process can read. */

#define NOTE_MAX_TEXTS 5

enum note_kind {
    NOTE_PACKAGE,
    NOTE_BLOB,
    NOTE_REF,
    NOTE_TREES,
    NOTE_PROOF,
    NOTE_REACHABLE,
    NOTE_HOST,
};

/* One write: the values that its statement binds. */
struct note {
    unsigned which; /* enum note_kind */
    unsigned kind;  /* of a package */
    uint64_t size;  /* of a blob */
    struct hash hash;
    struct str text[NOTE_MAX_TEXTS];
};

struct notes {
    struct buf block; /* the most recent notes */
    int fd;           /* unlinked file; -1 before the first block is written */
    uint64_t written; /* size of the file */
    struct err problem;
};

void notes_init(struct notes *n);
void notes_done(struct notes *n); /* may be called twice */
bool notes_are_empty(const struct notes *n);

/* Copies `note`. The file is created in `dirfd` if necessary. Errors are
 * reported by notes_each(). */
void notes_add(struct notes *n, int dirfd, const struct note *note);

/* Calls `put` for each note, which is borrowed for the call. Errors: those of
 * `put`, of the file, and of earlier calls of notes_add(). */
MUST_CHECK bool notes_each(struct notes *n,
                           bool (*put)(void *ctx, const struct note *note,
                                       struct err *e),
                           void *ctx, struct err *e);

#endif
