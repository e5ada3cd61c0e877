#ifndef RUNTIME_PLACES_H
#define RUNTIME_PLACES_H

#include "base/str.h"

/*
 * places: what a command sees of the file system. Everything is readable but
 * what a place says otherwise; of two places the deeper one counts, of two
 * that are one path the later in this list.
 */
enum place_kind {
    PLACE_HIDDEN,  /* an empty folder, or a file that cannot be opened */
    PLACE_SCRATCH, /* a folder of its own: empty, writable, gone at the end */
    PLACE_READ,
    PLACE_WRITE,
};

struct place {
    struct str path; /* absolute, without links, not "/" */
    bool is_folder;
    enum place_kind kind;
};

struct places {
    struct place *all; /* after places_normalize: parents first */
    size_t count, capacity;
    struct arena *arena;
};

/* What does not exist, "/" and what is neither file nor folder is left out. */
void places_add(struct places *p, enum place_kind kind, struct str path);

/* Once, after the last one: sorts, and drops the lesser of two equals and what
 * the places around it say already. */
void places_normalize(struct places *p);

/* Of settled places: the kind that counts for `path`; READ for none. */
enum place_kind places_lookup(const struct places *p, struct str path);

/* Is there a HIDDEN or SCRATCH place below `folder`? */
bool places_hide_below(const struct places *p, struct str folder);

/* Without links, in `a`; "" when it does not exist. */
struct str path_real(struct str path, struct arena *a);

#endif
