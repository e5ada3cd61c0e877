#ifndef LIBRARY_LISTING_H
#define LIBRARY_LISTING_H

#include "scan.h"

/*
 * listing: the folders of a root and the fingerprints of their SKILL.md. Asking the
 * system for ten thousand fingerprints is what a search takes its time for: threads
 * ask while the names are still coming. Folders without a SKILL.md are groups, and
 * looked into after that (K14); with `metis` there is none.
 */

struct scan_entry {
    struct str name;            /* below the root: "x", "group/x" */
    struct fingerprint skill;   /* of SKILL.md */
    struct fingerprint program; /* of SKILL.star, when they are looked at */
    bool is_skill;              /* there is a SKILL.md */
    struct str fresh;           /* its new record, filled by the scan */
};

struct listing;

/*
 * Lists the root, open as `fd`, which stays open until listing_done(). When it
 * returns the names are there, and threads ask for fingerprints. All in `a`.
 * Errors: ERR_LIMIT, ERR_IO.
 */
MUST_CHECK bool listing_begin(const struct library_options *o,
                              const struct library_root *root, int fd,
                              struct arena *a, struct listing **out,
                              struct err *e);

/* Helps them. Those with a SKILL.md, sorted by name. ERR_INTERRUPTED. */
MUST_CHECK bool listing_end(struct listing *l, struct scan_entry ***out,
                            size_t *count, struct err *e);

/* Folders without a SKILL.md that it looked into, in `a`; false when there are
 * more. */
bool listing_groups(const struct listing *l, struct arena *a,
                    const struct str **out, size_t *count);

/* Waits for the threads; needed after a listing_begin() that gave a listing.
 * Twice is harmless. */
void listing_done(struct listing *l);

/* Stamp of "name/file" below `fd`; links on the way are followed, `file` itself
 * when `follow`. False when there is no such file. */
bool fingerprint_file(int fd, struct str name, struct str file, bool follow,
                      struct fingerprint *out);

#define LIBRARY_THREADS_MAX 8
/* How many threads are worth starting for so many files: at least this one. */
size_t threads_for(size_t files);

#endif
