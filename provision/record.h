#ifndef PROVISION_RECORD_H
#define PROVISION_RECORD_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"
#include "mapm/clients_scope.h"

#include <sys/stat.h>

/*
 * record: .agents/.mapm/state, what mapm wrote below a workspace.
 *
 *     mapm-state 1                      2: of user level [H8]
 *     tree <source> <path>              a folder of ours, then its files
 *     taken <source> <path>             … that was the user's before an import
 *     f <x|-> <mode> <sha256> <size> <mtime> <ctime> <ino> <path>
 *     link <target> <path>
 *     file <source> <path>              one rendered file, then its "f"
 *     shared <1|b|s|0> <size> <mtime> <ino> <path> 1: mapm created the file, b: all
 *                                       in it, s: the object with the servers in it
 *     k <a|-> <sha256> <source> <key>   our entry there; a: absolute paths; A, +:
 *                                       it was the user's before an import
 *     gap <letters>                     what stood between the braces that the
 *                                       first entry or object went into: s t n r, and
 *                                       in YAML { } [ ] themselves
 *     dir <path>                        a folder that mapm created
 *     here <size> <mtime> <ctime> <ino> of .agents/.mapm/.gitignore
 *     end
 *
 * `source` says from what the content was made (by the package's name, digest
 * and place, and the rules), so that an unchanged one
 * need not be made again. The numbers are a cache: a file whose numbers are
 * still those has the hash that stands beside them.
 *
 * The file may come from a stranger's repository: it can name only places
 * that mapm could have written, and it never permits anything that the
 * bytes on the disk do not bear out. One that does not parse means that
 * nothing is known. What a stranger cannot have known are the numbers of this
 * disk: where they fit, this mapm wrote the record (provision_record_is_from_here).
 */

#define RECORD_BLOCK_BYTES   (256u * 1024)
#define RECORD_GAP_MAX_BYTES 256 /* longer white space is not recorded */
#define STATE_MAX_BYTES      (512u * 1024 * 1024) /* 100,000 packages of 16 files */

/* The status of a file, by which a change is noticed without reading it. */
struct file_stat {
    uint64_t size, mtime, ctime, ino; /* ns; ctime 0: not compared */
};

/* A file that mapm wrote, as it was then. */
struct record_file {
    struct str path; /* relative to the tree; "." for a single file */
    bool executable; /* requested mode */
    unsigned mode;   /* mode that the file system set */
    struct hash hash;
    struct file_stat stat;
};

struct record_key {
    struct str key;
    bool absolute;
    bool taken; /* existed before mapm import */
    struct hash hash, source;
};

enum record_kind { RECORD_TREE, RECORD_LINK, RECORD_FILE, RECORD_SHARED };

struct record_entry {
    enum record_kind kind;
    bool taken;     /* TREE: existed before mapm import */
    bool created;   /* SHARED: mapm created the file, so it is deleted with
                     * its last entry */
    bool section;   /* SHARED: mapm created the object of the entries */
    bool was_empty; /* SHARED: a file that is blank again without its entries:
                     * `gap` is all of it */
    struct str path;
    struct hash source;
    struct str link;
    struct record_file *files; /* TREE: sorted by path; FILE: one */
    size_t file_count;
    struct str gap; /* SHARED: white space, or in YAML {} or [], in the object
                     * that was empty before:
                     * the entries', or with `section` the whole; "" = none */
    struct file_stat stat;
    struct record_key *keys;
    size_t key_count;
};

struct record {
    struct record_entry *entries;
    size_t count, capacity;
    struct str *folders; /* folders that mapm created, parents first */
    size_t folder_count, folder_capacity;
    struct map by_path;    /* struct record_entry; after record_parse */
    uint64_t written;      /* time of the record in ns; 0 if there is none */
    struct file_stat here; /* status of mapm's .gitignore beside it; ino 0 if
                            * unknown */
    bool is_user;          /* record of user level (version 2) */
};

/* Parses a record, which borrows from `text`. Returns false for anything that
 * mapm could not have written; `*out` is undefined then. */
bool record_parse(struct str text, const struct client_scope *scope,
                  struct arena *a, struct record *out);

/* Appends entries from `*at` on, which starts at 0. Returns true if it stopped
 * because `out` has RECORD_BLOCK_BYTES and entries remain. */
bool record_format(const struct record *r, size_t *at, struct buf *out);

void record_add(struct record *r, struct arena *a,
                const struct record_entry *entry);
void record_add_folder(struct record *r, struct arena *a, struct str path);
bool record_has_folder(const struct record *r, struct str path);

/* Returns the file with that path; NULL if it or the entry is absent. */
const struct record_file *record_find(const struct record_entry *known,
                                      struct str path);

struct file_stat file_stat_of(const struct stat *st, bool with_ctime);

/* A file that is changed twice within one tick of the clock has the same status
 * both times. So the status of a file on disk is recorded only if it was last
 * changed before this tick, and otherwise zeroed so that it never matches; mapm
 * itself exits only after the tick of its newest file. */
uint64_t file_stat_now(void); /* call this before reading the file */
struct file_stat file_stat_seen(const struct stat *st, uint64_t now,
                                bool with_ctime);
void file_stat_wait(uint64_t newest);

/* Returns whether the cached status proves that the file is unchanged. */
bool record_vouches(const struct record *r, const struct file_stat *cached,
                    const struct stat *st);

#endif
