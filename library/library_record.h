#ifndef LIBRARY_RECORD_H
#define LIBRARY_RECORD_H

#include "base/buf.h"

#include <sys/stat.h>

/*
 * record: what is known of the skills of one root, as bytes. A library borrows
 * its texts from them, and the caller keeps them between two commands.
 *
 *     head      magic, format, profile, count, version of mapm, where
 *               links may lead
 *     record    size, flags, warnings, two fingerprints, folder, lengths, texts
 *     record    …                             sorted by folder, each once
 *
 * Numbers are little-endian. Bytes that come back are judged as if anybody had
 * written them: what is not just so gives no records at all, and each file is
 * read again.
 */

enum record_flag {
    RECORD_VALID = 1,      /* else `note` says why not */
    RECORD_YOUNG = 2,      /* changed just before it was read: read it again */
    RECORD_DISABLED = 4,   /* L6 */
    RECORD_MODE = 8,       /* L7 */
    RECORD_METASKILL = 16, /* it has a program that can run */
    RECORD_NOTED =
        32, /* it has a note: a search for notes need not parse the others */
    RECORD_DECLARED = 64, /* it has a program field */
    RECORD_BROKEN = 128   /* its program does not compile */
};

enum record_field {
    RECORD_FOLDER, /* below the root: "x", "group/x" (K14) */
    RECORD_NAME,
    RECORD_DESCRIPTION,
    RECORD_VERSION,
    RECORD_SCOPE,
    RECORD_LICENSE,
    RECORD_COMPATIBILITY,
    RECORD_TOOLS,
    RECORD_MODEL,
    RECORD_AGENT,
    RECORD_CONTEXT,
    RECORD_TAGS,    /* one a line */
    RECORD_PROGRAM, /* declared; "" = SKILL.star, when it is there */
    RECORD_NOTE,    /* what to say of it whenever it is read */
    RECORD_FIELDS
};

/* What changes whenever a file does. All zero: it is not there. */
struct fingerprint {
    uint64_t ino, size;
    int64_t seconds;
    uint32_t nanoseconds;
};
struct fingerprint fingerprint_of(const struct stat *st);
bool fingerprint_eq(const struct fingerprint *x, const struct fingerprint *y);
bool fingerprint_is_zero(const struct fingerprint *s);

/* Which folder it was. */
struct folder_id {
    uint64_t device, number;
};
bool folder_id_eq(const struct folder_id *x, const struct folder_id *y);

struct record {
    uint32_t flags, warnings;
    struct fingerprint skill, program;
    struct folder_id in; /* that SKILL.md was read in */
    struct str field[RECORD_FIELDS];
    struct str bytes; /* all of it, when it is one of many */
};

/* Those of a root, checked; one is taken out when it is needed. */
struct records {
    struct str bytes;
    const uint32_t *at; /* where each begins */
    size_t count;
};
struct record record_get(const struct records *r, size_t i);
struct str record_folder(const struct records *r, size_t i);
uint32_t record_flags(const struct records *r, size_t i);
void record_fingerprints(const struct records *r, size_t i,
                         struct fingerprint *skill,
                         struct fingerprint *program);
struct str record_bytes(const struct records *r, size_t i);
struct str record_name(const struct records *r, size_t i); /* "" = not valid */

/* What verdicts depend on beside the files. */
struct records_of {
    bool metis;
    uint64_t links; /* root_bounds_hash() */
};

/* Head of `count` records; then each one, or its bytes. A text longer than
 * RECORD_TEXT_MAX_BYTES is cut. */
#define RECORD_TEXT_MAX_BYTES 65535
void records_begin(struct buf *b, const struct records_of *of, size_t count);
void record_put(struct buf *b, const struct record *r);

/* Borrows from `bytes`; the rest lives in `a`. False: `*out` is empty. */
bool records_parse(struct str bytes, const struct records_of *of,
                   struct arena *a, struct records *out);

/* What the rest of the library takes for granted. */
bool record_is_sound(const struct record *r);

/* Where its program is, or would be; of no record, too. */
struct str record_program(const struct record *r);

/* Whether both say the same of the same file (young or not). */
bool record_eq(const struct record *x, const struct record *y);

#endif
