#ifndef LIBRARY_SCAN_H
#define LIBRARY_SCAN_H

#include "mapm/library.h"

#include "folder.h"
#include "library_record.h"

/*
 * look: one root, as it is now.
 *
 *     folder --scan_begin()--> names; threads ask for fingerprints meanwhile
 *            --scan_end()----> records: those of before, and of what changed
 *                              since --> skill_validate()
 */

struct scan {
    const struct library_options *options;
    const struct library_root *root;
    struct str known; /* bytes of before; empty: none */

    struct records before; /* of `known`, once it began; they may be empty */
    struct arena listed;
    struct listing *listing;
    struct root_bounds bounds; /* of the root */
    struct records_of of;
    int fd; /* of the root; -1: it is not there */
};

struct record_batch {
    struct root_bounds bounds;
    const struct str *groups; /* folders of folders in it that were read … */
    size_t group_count;
    bool has_all_groups;    /* … which are all */
    struct records records; /* scan->before when nothing changed */
    bool rewritten;         /* they are not: to be kept */
};

/* Ownership: records in `a`, borrowing from scan->known. A root that is not
 * there is empty, unless it was named. Errors: as library_open(). */
MUST_CHECK bool scan_begin(struct scan *scan, struct arena *a, struct err *e);
MUST_CHECK bool scan_end(struct scan *scan, struct arena *a,
                         struct record_batch *out, struct err *e);
void scan_done(struct scan *scan); /* of any that is zeroed, or began */

/* One folder of a root. */
struct skill_place {
    const struct root_bounds *bounds; /* of the root */
    bool metis;
    const struct library_options *options;
    struct str folder;        /* below the root */
    struct fingerprint skill; /* of SKILL.md, a moment ago */
    struct fingerprint
        program;              /* of SKILL.star, or the program of the record */
    struct str fingerprinted; /* which of them */
    int64_t now;              /* seconds since 1970 */
};

/* Reads and judges it; always gives a record that is sound. In `a`. */
void skill_validate(const struct skill_place *place, struct arena *a,
                    struct record *out);

void report_note(const struct library_options *o, enum library_note kind,
                 const char *format, ...) PRINTF(3, 4);

#endif
