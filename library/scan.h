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
 *
 * With `glance`, a root of many skills that is itself as it was is not listed:
 * its records are those of before.
 */

struct scan {
    const struct library_options *options;
    const struct library_root *root;
    struct str known; /* bytes of the previous records; empty if there are
                       * none */

    struct records before; /* parsed from `known`, unless the caller set it;
                            * may be empty */
    bool glance;
    struct arena listed;
    struct listing *listing;      /* NULL if it was not listed */
    struct fingerprint root_then; /* the root before it was listed; zero if it
                                   * had just changed */
    struct root_bounds bounds;    /* of the root */
    struct records_of of;
    int fd; /* the open root; -1 if it does not exist */
};

struct record_batch {
    struct root_bounds bounds;
    const struct str *groups; /* groups that were listed */
    size_t group_count;
    bool has_all_groups;    /* `groups` is complete */
    struct records records; /* equal to `before` if nothing changed */
    bool rewritten;         /* `records` differ and should be stored */
    bool is_glanced;        /* the root was not listed */
};

/* Ownership: records are allocated in `a` and borrow from scan->known. A
 * missing root is empty unless the user named it. Errors: as library_open(). */
MUST_CHECK bool scan_begin(struct scan *scan, struct arena *a, struct err *e);
MUST_CHECK bool scan_end(struct scan *scan, struct arena *a,
                         struct record_batch *out, struct err *e);
void scan_done(struct scan *scan); /* accepts a zeroed scan */

/* The folder of a skill in a root. */
struct skill_place {
    const struct root_bounds *bounds; /* of the root */
    bool metis;
    const struct library_options *options;
    struct str folder;          /* below the root */
    struct fingerprint skill;   /* current fingerprint of SKILL.md */
    struct fingerprint program; /* fingerprint of SKILL.star or of the recorded
                               * program */
    struct str fingerprinted;   /* path of that program */
    int64_t now;                /* seconds since 1970 */
};

/* Reads and validates the skill; always returns a sound record, allocated in
 * `a`. */
void skill_validate(const struct skill_place *place, struct arena *a,
                    struct record *out);

void report_note(const struct library_options *o, enum library_note kind,
                 const char *format, ...) PRINTF(3, 4);

#endif
