#ifndef RUNTIME_PLACES_H
#define RUNTIME_PLACES_H

#include "base/str.h"

/*
 * The file system as seen by a command. A place overrides the default, which is
 * readable. Of two places the deeper one applies, of two with the same path the
 * later one in this list.
 */
enum place_kind {
    PLACE_HIDDEN,  /* shown as an empty folder, or as a file that cannot be
                    * opened */
    PLACE_SCRATCH, /* a private folder: empty, writable, removed after the
                    * command */
    PLACE_READ,
    PLACE_WRITE,
};

struct place {
    struct str path; /* absolute, with links resolved, not "/" */
    bool is_folder;
    enum place_kind kind;
};

struct places {
    struct place *all; /* parents first after places_normalize */
    size_t count, capacity;
    struct arena *arena;
};

/* Adds a place. Missing paths, "/" and special files are ignored. */
void places_add(struct places *p, enum place_kind kind, struct str path);

/* Sorts the places, removes duplicates and those of the same kind as the place
 * around them. Call once, after the last places_add. */
void places_normalize(struct places *p);

/* Returns the kind that applies to `path`, or READ if none does. Call after
 * places_normalize. */
enum place_kind places_lookup(const struct places *p, struct str path);

/* Returns true if there is a HIDDEN or SCRATCH place below `folder`. */
bool places_hide_below(const struct places *p, struct str folder);

/* Returns the path with links resolved, allocated in `a`; "" if it does not
 * exist. */
struct str path_real(struct str path, struct arena *a);

#endif
