#ifndef LIBRARY_SUMMARY_H
#define LIBRARY_SUMMARY_H

#include "mapm/library.h"

/* Returns the summary that replaces a list of skills that is too long: their
 * number and topics, how to search, and the modes. Skills with `shown` false
 * are not counted. Allocated in `a`. Source: G4. */
struct str summary_text(const struct library *l, const bool *shown,
                        struct arena *a);

#endif
