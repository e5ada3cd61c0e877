#ifndef LIBRARY_SUMMARY_H
#define LIBRARY_SUMMARY_H

#include "mapm/library.h"

/* What stands for the list of skills where that is too long: how many there are,
 * what about, how to find them, and the modes. `shown` says of each skill whether
 * it counts. In `a`. Source: G4. */
struct str summary_text(const struct library *l, const bool *shown,
                        struct arena *a);

#endif
