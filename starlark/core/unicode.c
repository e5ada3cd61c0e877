#include <utf8proc.h>

#include "text.h"

/* --- UTF-8 ---------------------------------------------------------------------- */

uint32_t sl_rune(const char *p, size_t length, unsigned *width)
{
    int32_t r = 0;
    ptrdiff_t n =
        utf8proc_iterate((const utf8proc_uint8_t *)p, (ptrdiff_t)length, &r);

    *width = n > 0 ? (unsigned)n : 1;
    return n > 0 ? (uint32_t)r : SL_RUNE_INVALID;
}

uint32_t sl_rune_last(const char *p, size_t length, unsigned *width)
{
    size_t back = 1;

    while (back < 4 && back < length && (p[length - back] & 0xc0) == 0x80)
        back++;
    uint32_t r = sl_rune(p + length - back, back, width);
    if (*width == back)
        return r;
    *width = 1;
    return SL_RUNE_INVALID;
}

unsigned sl_rune_encode(uint32_t r, char out[4])
{
    utf8proc_uint8_t bytes[4] = {0};

    if (r > 0x10ffff || (r >= 0xd800 && r < 0xe000))
        r = SL_RUNE_INVALID;
    unsigned n = (unsigned)utf8proc_encode_char((int32_t)r, bytes);
    memcpy(out, bytes, n);
    return n;
}

/* --- case ------------------------------------------------------------------------ */

/* Unicode's simple mappings have no single capital for it, but the library
 * returns U+1E9E. */
#define SHARP_S 0xdfu
/* Their counterparts are ASCII i and I, whose own mappings differ. */
#define DOTTED_CAPITAL_I 0x130u
#define DOTLESS_SMALL_I  0x131u

uint32_t sl_rune_upper(uint32_t r)
{
    return r == SHARP_S ? r : (uint32_t)utf8proc_toupper((int32_t)r);
}

uint32_t sl_rune_lower(uint32_t r)
{
    return (uint32_t)utf8proc_tolower((int32_t)r);
}

uint32_t sl_rune_title(uint32_t r)
{
    return r == SHARP_S ? r : (uint32_t)utf8proc_totitle((int32_t)r);
}

bool sl_rune_is_cased(uint32_t r)
{
    if (r == DOTTED_CAPITAL_I || r == DOTLESS_SMALL_I)
        return false;
    return r == SHARP_S || sl_rune_lower(r) != r || sl_rune_upper(r) != r;
}

/* --- classes ----------------------------------------------------------------------- */

unsigned sl_rune_class(uint32_t r)
{
    /* clang-format off */
    static const uint8_t of[] = {
        [UTF8PROC_CATEGORY_LU] = RUNE_UPPER | RUNE_LETTER | RUNE_PRINT,
        [UTF8PROC_CATEGORY_LL] = RUNE_LOWER | RUNE_LETTER | RUNE_PRINT,
        [UTF8PROC_CATEGORY_LT] = RUNE_TITLE | RUNE_LETTER | RUNE_PRINT,
        [UTF8PROC_CATEGORY_LM ... UTF8PROC_CATEGORY_LO] =
            RUNE_LETTER | RUNE_PRINT,
        [UTF8PROC_CATEGORY_MN ... UTF8PROC_CATEGORY_ME] = RUNE_PRINT,
        [UTF8PROC_CATEGORY_ND] = RUNE_DIGIT | RUNE_PRINT,
        [UTF8PROC_CATEGORY_NL ... UTF8PROC_CATEGORY_SO] = RUNE_PRINT,
        [UTF8PROC_CATEGORY_ZS ... UTF8PROC_CATEGORY_ZP] = RUNE_SPACE,
        [UTF8PROC_CATEGORY_CO] = 0,
    };
    /* clang-format on */
    if (r == ' ')
        return RUNE_SPACE | RUNE_PRINT;
    if (r - '\t' < 5 || r == 0x85)
        return RUNE_SPACE;
    return of[utf8proc_category((int32_t)r)];
}
