#ifndef MANIFEST_LOCK_H
#define MANIFEST_LOCK_H

#include "mapm/doc_kind.h"
#include "mapm/lock.h"

/* lock: declarations shared by reading and writing mapm.lock. */

/*
 * Version 2 is written only for a lock that needs a key which version 1 lacks,
 * so that an older mapm reads every other lock [F13].
 */
enum lock_version { LOCK_VERSION_1 = 1, LOCK_VERSION_2 = 2 };

struct lock_reader {
    struct str rest, line;
    unsigned number; /* of the line */
    enum lock_version version;
    const char *name; /* name of the file */
    struct arena *a;
    struct err *e;
    struct lock_entry *entries;
    size_t count, capacity;
    bool is_joined; /* accept entries in any order and repeated ones */
    /* Line of the origin of an entry that belongs to the workspace and has
     * `as`, else 0. */
    unsigned own_line;
};

struct lock_writer {
    struct buf *out;
    struct arena *a;           /* scratch */
    enum lock_version version; /* the lowest that has all that was written */
};

/* --- lock_fields.c -------------------------------------------------------- */

/* Reads "    key: value" at the current line. `*next` is the index of the first
 * key that may follow, 0 at the first line of an entry. */
MUST_CHECK bool lock_take_field(struct lock_reader *r, struct lock_entry *entry,
                                size_t *next);
/* Checks that the entry has each key that its type requires, after its last
 * line, and completes its origin. */
MUST_CHECK bool lock_end_fields(struct lock_reader *r, struct lock_entry *entry,
                                size_t next);
/* Writes the lines of the entry after its type. */
void lock_put_fields(struct lock_writer *w, const struct lock_entry *entry);

/* Report that the current line is not the expected one, or that a key or type
 * of a version 2 lock is unknown to this program. Return false. */
bool lock_fail_line(struct lock_reader *r, const char *expected);
bool lock_fail_newer(struct lock_reader *r, const char *kind, struct str text);

/* --- order and scalars ---------------------------------------------------- */

/* Returns the rank of a kind in the alphabetical order of the kinds' names. */
int lock_kind_rank(enum doc_kind kind);
/* Compares by type, then by name. */
int lock_order(enum doc_kind x_kind, struct str x_name, enum doc_kind y_kind,
               struct str y_name);

/* Compares entries by type, by name, then by their first member. */
int lock_entry_order(const struct lock_entry *x, const struct lock_entry *y);

/* Returns true if every YAML reader takes `s` for text: X.Y.Z, or a text that
 * is longer than "false", starts with a letter and has no characters with a
 * meaning in YAML. A fast check that nearly all values pass. */
bool lock_is_plain(struct str s);

/* Returns the form of `s` in the file: `s` itself if YAML reads it as this
 * text, else quoted. */
struct str lock_scalar(struct str s, struct arena *a);

/* Decodes quoted text. Returns false unless its escapes are those that
 * yaml_quote() writes. */
bool lock_unquote(struct str raw, struct arena *a, struct str *out);

/* Parses each entry by itself: lock_parse() without lock_check(). */
MUST_CHECK bool lock_read(struct str text, const char *name, struct arena *a,
                          struct lock *out, struct err *e);

/* The same for a lock that git merged: accepts entries in any order and
 * repeated ones. */
MUST_CHECK bool lock_read_joined(struct str text, const char *name,
                                 struct arena *a, struct lock *out,
                                 struct err *e);

/* Checks that no two packages share a folder, a key or an origin, that each
 * need names an entry, and that needs have no cycle. */
bool lock_check(const struct lock *lock, struct str text, const char *name,
                struct arena *scratch, struct err *e);

/* Sets ERR_FORMAT "name:line: …" with a hint how to restore a damaged lock.
 * Returns false. */
bool lock_fail(struct err *e, const char *name, unsigned line,
               const char *format, ...) PRINTF(4, 5);

/* Truncates text of the file for a message. */
struct str lock_excerpt(struct str s);

#endif
