#ifndef MAPM_DIAGNOSTICS_H
#define MAPM_DIAGNOSTICS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* diagnostics: what is wrong with a document, collected. */

/* At most 1,000 errors and 1,000 warnings a document. */
struct diagnostic {
    bool error;         /* else a warning */
    const char *code;   /* stable: "name-grammar" … */
    struct str field;   /* "" when it is about the whole document */
    struct str file;    /* beside the document; "" = the document itself */
    unsigned line;      /* 0: none */
    unsigned column;    /* in characters, from 1; 0: none */
    struct str message; /* with what to do where that helps */
    struct str hint; /* what to write instead, one or more lines; "" = none */
};

struct diagnostics {
    struct arena *arena;
    struct diagnostic *items;
    size_t count, capacity;
    size_t errors, warnings;
};

void diagnostics_init(struct diagnostics *c, struct arena *a);
void diagnostics_add(struct diagnostics *c, bool error, const char *code,
                     const char *field, unsigned line, const char *format, ...)
    PRINTF(6, 7);

/*
 * Whether who uses a package can act on it, as on a name that is not the one
 * expected, or on what is ignored or not usable. The rest is for its author, and
 * told by mapm check alone. Source: D15.
 */
bool diagnostic_is_for_user(const struct diagnostic *d);

#endif
