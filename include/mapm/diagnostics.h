#ifndef MAPM_DIAGNOSTICS_H
#define MAPM_DIAGNOSTICS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* diagnostics: a list of the errors, warnings and hints of a document. */

/* At most 1,000 errors and 1,000 warnings are kept per document. */
struct diagnostic {
    bool error;         /* otherwise a warning or a hint */
    bool is_hint;       /* advice to the author; no warning, also if strict */
    const char *code;   /* stable code: "name-grammar" */
    struct str field;   /* "" if it concerns the whole document */
    struct str file;    /* file next to the document; "" for the document */
    unsigned line;      /* 0 if unknown */
    unsigned column;    /* in characters, from 1; 0 if unknown */
    struct str message; /* message, with advice where useful */
    struct str hint;    /* correction in one or more lines; or "" */
};

struct diagnostics {
    struct arena *arena;
    struct diagnostic *items;
    size_t count, capacity;
    size_t errors, warnings, hints;
};

void diagnostics_init(struct diagnostics *c, struct arena *a);
void diagnostics_add(struct diagnostics *c, bool error, const char *code,
                     const char *field, unsigned line, const char *format, ...)
    PRINTF(6, 7);

/* Removes the hints: of an installed package, they are not for its user. */
void diagnostics_drop_hints(struct diagnostics *c);

/*
 * Returns whether a user of the package can act on the diagnostic: for example,
 * a name that differs from the expected one, or a part that is ignored or
 * unusable. Others concern the author and are reported by mapm check only.
 * Source: D15.
 */
bool diagnostic_is_for_user(const struct diagnostic *d);

#endif
