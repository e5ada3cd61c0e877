#ifndef LIBRARY_LOOK_H
#define LIBRARY_LOOK_H

#include "mapm/library.h"

#include "folder.h"
#include "library_record.h"

/*
 * look: one root, as it is now.
 *
 *     folder --look_begin()--> names; threads ask for stamps meanwhile
 *            --look_end()----> records: those of before, and of what changed
 *                              since --> judge_skill()
 */

struct look {
    const struct library_options *options;
    const struct library_root *root;
    struct str known; /* bytes of before; empty: none */

    struct records before; /* of `known`, once it began; they may be empty */
    struct arena listed;
    struct listing *listing;
    struct shelter shelter; /* of the root */
    struct records_of of;
    int fd; /* of the root; -1: it is not there */
};

struct shelf {
    struct shelter shelter;
    struct records records; /* look->before when nothing changed */
    bool rewritten;         /* they are not: to be kept */
};

/* Ownership: records in `a`, borrowing from look->known. A root that is not
 * there is empty, unless it was named. Errors: as library_open(). */
MUST_CHECK bool look_begin(struct look *look, struct arena *a, struct err *e);
MUST_CHECK bool look_end(struct look *look, struct arena *a, struct shelf *out,
                         struct err *e);
void look_done(struct look *look); /* of any that is zeroed, or began */

/* One folder of a root. */
struct skill_place {
    const struct shelter *shelter; /* of the root */
    bool metis;
    struct str folder;    /* its name */
    struct stamp skill;   /* of SKILL.md, a moment ago */
    struct stamp program; /* of SKILL.star, or what was declared before */
    struct str looked_at; /* which of them */
    int64_t now;          /* seconds since 1970 */
};

/* Reads and judges it; always gives a record that is sound. In `a`. */
void judge_skill(const struct skill_place *place, struct arena *a,
                 struct record *out);

void say(const struct library_options *o, enum library_note kind,
         const char *format, ...) PRINTF(3, 4);

#endif
