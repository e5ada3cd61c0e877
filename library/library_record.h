#ifndef LIBRARY_RECORD_H
#define LIBRARY_RECORD_H

#include "base/buf.h"

#include <sys/stat.h>

/*
 * record: what is known of the skills of one root, as bytes. A library borrows
 * its texts from them, and the caller keeps them between two commands.
 *
 *     head      magic, format, profile, count, version of mapm, where
 *               links may lead, the root itself
 *     record    size, flags, warnings, two fingerprints, folder, lengths, texts
 *     record    …                             sorted by folder, each once
 *
 * Numbers are little-endian. Bytes that come back are judged as if anybody had
 * written them: what is not just so gives no records at all, and each file is
 * read again.
 */

enum record_flag {
    RECORD_VALID = 1,      /* otherwise `note` contains the reason */
    RECORD_YOUNG = 2,      /* changed immediately before it was read: read it
                            * again */
    RECORD_DISABLED = 4,   /* L6 */
    RECORD_MODE = 8,       /* L7 */
    RECORD_METASKILL = 16, /* has a program that can run */
    RECORD_NOTED = 32, /* has a note; others need not be parsed to find notes */
    RECORD_DECLARED = 64, /* has a program field */
    RECORD_BROKEN = 128   /* the program does not compile */
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
    RECORD_TAGS,    /* one per line */
    RECORD_PROGRAM, /* declared program; "" for SKILL.star, if it exists */
    RECORD_NOTE,    /* note to report each time the skill is read */
    RECORD_FIELDS
};

/* Values that change whenever the file does; all zero if it does not exist. */
struct fingerprint {
    uint64_t ino, size;
    int64_t seconds;
    uint32_t nanoseconds;
};
struct fingerprint fingerprint_of(const struct stat *st);
bool fingerprint_eq(const struct fingerprint *x, const struct fingerprint *y);
bool fingerprint_is_zero(const struct fingerprint *s);

/* Identity of a folder. */
struct folder_id {
    uint64_t device, number;
};
bool folder_id_eq(const struct folder_id *x, const struct folder_id *y);

struct record {
    uint32_t flags, warnings;
    struct fingerprint skill, program;
    struct folder_id in; /* folder in which SKILL.md was read */
    struct str field[RECORD_FIELDS];
    struct str bytes; /* bytes of the whole record, if it is one of several */
};

/* The validated records of a root; each is parsed when it is needed. */
struct records {
    struct str bytes;
    const uint32_t *at; /* offset of each record */
    size_t count;
    /* The root when these were all of its skills: while it is the same, no
     * folder was added or removed. Zero if that cannot be told from it. */
    struct fingerprint root;
};
struct record record_get(const struct records *r, size_t i);
struct str record_folder(const struct records *r, size_t i);
uint32_t record_flags(const struct records *r, size_t i);
void record_fingerprints(const struct records *r, size_t i,
                         struct fingerprint *skill,
                         struct fingerprint *program);
struct str record_bytes(const struct records *r, size_t i);
/* Returns "" for an invalid record. */
struct str record_name(const struct records *r, size_t i);

/* What the records depend on besides the files. */
struct records_of {
    bool metis;
    uint64_t links; /* root_bounds_hash() */
};

/* Writes the head of `count` records, then each record or its bytes. Texts are
 * truncated to RECORD_TEXT_MAX_BYTES. */
#define RECORD_TEXT_MAX_BYTES 65535
void records_begin(struct buf *b, const struct records_of *of,
                   const struct fingerprint *root, size_t count);
void record_put(struct buf *b, const struct record *r);

/* Parses `bytes`, which `*out` borrows; the rest is allocated in `a`. Returns
 * false and an empty `*out` if they are invalid. */
bool records_parse(struct str bytes, const struct records_of *of,
                   struct arena *a, struct records *out);

/* Returns whether the record has the properties that the library relies on. */
bool record_is_sound(const struct record *r);

/* Returns the path of the program, also if the file or the record is
 * missing. */
struct str record_program(const struct record *r);

/* Returns whether both records are equal except for RECORD_YOUNG. */
bool record_eq(const struct record *x, const struct record *y);

#endif
