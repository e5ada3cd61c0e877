#ifndef LIBRARY_LISTING_H
#define LIBRARY_LISTING_H

#include "scan.h"

/* listing: the folders of a root and the fingerprints of their SKILL.md. Most
 * of the time of a search goes into ten thousand calls of stat, so threads make
 * them while names are still being read. Folders without a SKILL.md are groups,
 * which are listed afterwards (K14); `metis` has no groups. */

struct scan_entry {
    struct str name;            /* below the root: "x", "group/x" */
    struct fingerprint skill;   /* of SKILL.md */
    struct fingerprint program; /* of SKILL.star, if programs are scanned */
    bool is_skill;              /* has a SKILL.md */
    struct str fresh;           /* new record, set by the scan */
};

struct listing;

/* Lists the root, open as `fd`, which must stay open until listing_done(). On
 * return the names are complete and threads are reading fingerprints. Allocated
 * in `a`. Errors: ERR_LIMIT, ERR_IO. */
MUST_CHECK bool listing_begin(const struct library_options *o,
                              const struct library_root *root, int fd,
                              struct arena *a, struct listing **out,
                              struct err *e);

/* Completes the fingerprints together with the threads. Returns the entries
 * with a SKILL.md, sorted by name. Errors: ERR_INTERRUPTED. */
MUST_CHECK bool listing_end(struct listing *l, struct scan_entry ***out,
                            size_t *count, struct err *e);

/* Returns the groups that were listed, allocated in `a`; false if there are
 * more than can be returned. */
bool listing_groups(const struct listing *l, struct arena *a,
                    const struct str **out, size_t *count);

/* Waits for the threads. Required after a successful listing_begin(). May be
 * called twice. */
void listing_done(struct listing *l);

/* Reads the fingerprint of "name/file" below `fd`. Links in `name` are
 * followed, `file` itself only with `follow`. Returns false if there is no such
 * file. */
bool fingerprint_file(int fd, struct str name, struct str file, bool follow,
                      struct fingerprint *out);

#define LIBRARY_THREADS_MAX 8
/* Returns the number of threads to use for `files` files, at least 1. */
size_t threads_for(size_t files);

#endif
