#include "error.h"
#include "text.h"

/* Folds a name: no underscores, lower case. Returns its length, or 0 if nothing
 * is left or it is too long. */
static unsigned fold(unsigned char out[SL_SPELL_BYTES], const char *p,
                     size_t length)
{
    unsigned n = 0, width;

    for (size_t i = 0; i < length; i += width) {
        uint32_t r = sl_rune(p + i, length - i, &width);
        char rune[4];
        if (n + 4 > SL_SPELL_BYTES)
            return 0;
        unsigned size = r == '_' ? 0 : sl_rune_encode(sl_rune_lower(r), rune);
        memcpy(out + n, rune, size);
        n += size;
    }
    return n;
}

/* Returns the edit distance (insertions, removals, replacements), or a value
 * above `max` if it exceeds `max`. */
static unsigned edits(const unsigned char *a, unsigned a_length,
                      const unsigned char *b, unsigned b_length, unsigned max)
{
    unsigned row[SL_SPELL_BYTES + 1];

    if ((a_length > b_length ? a_length - b_length : b_length - a_length) > max)
        return max + 1;
    for (unsigned j = 0; j <= b_length; j++)
        row[j] = j;
    for (unsigned i = 1; i <= a_length; i++) {
        unsigned diagonal = row[0], least = i;
        row[0] = i;
        for (unsigned j = 1; j <= b_length; j++) {
            unsigned cost = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < cost)
                cost = row[j] + 1;
            if (row[j - 1] + 1 < cost)
                cost = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = cost;
            if (cost < least)
                least = cost;
        }
        if (least > max)
            return max + 1;
    }
    return row[b_length];
}

void sl_spell_begin(struct sl_spelling *sp, const char *p, size_t length)
{
    *sp = (struct sl_spelling){0};
    sp->length = fold(sp->wrong, p, length);
    sp->best_edits = (sp->length + 1) / 2;
}

void sl_spell_try(struct sl_spelling *sp, const char *p, size_t length)
{
    unsigned char folded[SL_SPELL_BYTES];
    unsigned n = fold(folded, p, length);

    if (sp->best_edits == 0 || n == 0)
        return;
    unsigned d = edits(sp->wrong, sp->length, folded, n, sp->best_edits);
    if (d > sp->best_edits || (d == sp->best_edits && !sp->best))
        return;
    if (d == sp->best_edits) {
        size_t shorter = length < sp->best_length ? length : sp->best_length;
        int order = memcmp(p, sp->best, shorter);
        if (order > 0 || (order == 0 && length >= sp->best_length))
            return;
    }
    sp->best_edits = d;
    sp->best = p;
    sp->best_length = length;
}
