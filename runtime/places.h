#ifndef RUNTIME_PLACES_H
#define RUNTIME_PLACES_H

#include "base/str.h"

/*
 * places: the file system as a command sees it. A place overrides the default,
 * which is readable; the deeper of two places wins, of two with the same path
 * the later in this list.
 */
enum place_kind {
    PLACE_HIDDEN,  /* an empty folder, or a file that cannot be opened */
    PLACE_SCRATCH, /* a private folder: empty, writable, removed at the end */
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

/* Missing paths, "/" and special files are ignored. */
void places_add(struct places *p, enum place_kind kind, struct str path);

/* Call once, after the last one: sorts, and removes duplicates and places that
 * repeat the one around them. */
void places_normalize(struct places *p);

/* Of settled places: the kind that counts for `path`; READ for none. */
enum place_kind places_lookup(const struct places *p, struct str path);

/* Is there a HIDDEN or SCRATCH place below `folder`? */
bool places_hide_below(const struct places *p, struct str folder);

/* Without links, in `a`; "" when it does not exist. */
struct str path_real(struct str path, struct arena *a);

#endif
