#ifndef STARLARK_SPELL_H
#define STARLARK_SPELL_H

#include "ops.h"

/*
 * spell: the name that was probably meant, as in the reference implementation:
 * fewest edits, underscores and case apart, less than half of the name; of
 * equals the first in the order of the alphabet.
 */

#define SL_SPELL_BYTES 64 /* longer names are not looked at */

struct sl_spelling {
    unsigned char wrong[SL_SPELL_BYTES];
    unsigned length, best_edits;
    const char *best; /* NULL: none so far; not ended by NUL */
    size_t best_length;
};

void sl_spell_begin(struct sl_spelling *sp, const char *p, size_t length);
void sl_spell_try(struct sl_spelling *sp, const char *p, size_t length);

#endif
