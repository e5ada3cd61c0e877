#ifndef STORE_NOTES_H
#define STORE_NOTES_H

#include "base/buf.h"
#include "base/hash.h"

/*
 * notes: pending writes of the index, applied later and in order. Beyond one
 * block of memory they go to a file that only this process can read.
 */

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

/* One put: what its statement binds. */
struct note {
    unsigned which; /* enum note_kind */
    unsigned kind;  /* of a package */
    uint64_t size;  /* of a blob */
    struct hash hash;
    struct str text[NOTE_MAX_TEXTS];
};

struct notes {
    struct buf block; /* the latest ones */
    int fd;           /* of the file, which has no name; -1: none so far */
    uint64_t written; /* its bytes */
    struct err problem;
};

void notes_init(struct notes *n);
void notes_done(struct notes *n); /* twice is harmless */
bool notes_are_empty(const struct notes *n);

/* Copies it. `dirfd`: where the file may be. What fails, notes_each tells. */
void notes_add(struct notes *n, int dirfd, const struct note *note);

/* What `put` gets is borrowed for the call. Errors: its own, those of the
 * file, and those of notes_add. */
MUST_CHECK bool notes_each(struct notes *n,
                           bool (*put)(void *ctx, const struct note *note,
                                       struct err *e),
                           void *ctx, struct err *e);

#endif
