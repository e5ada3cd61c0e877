#include <utf8proc.h>

#include "text.h"

/* --- UTF-8 ---------------------------------------------------------------------- */

static inline bool is_tail(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

uint32_t sl_rune(const char *p, size_t length, unsigned *width)
{
    const unsigned char *u = (const unsigned char *)p;

    *width = 1;
    if (u[0] < 0x80)
        return u[0];
    if (u[0] >= 0xc2 && u[0] < 0xe0) {
        if (length < 2 || !is_tail(u[1]))
            return SL_RUNE_INVALID;
        *width = 2;
        return (uint32_t)(u[0] & 0x1f) << 6 | (u[1] & 0x3f);
    }
    if (u[0] >= 0xe0 && u[0] < 0xf0) {
        if (length < 3 || !is_tail(u[1]) || !is_tail(u[2]))
            return SL_RUNE_INVALID;
        uint32_t r = (uint32_t)(u[0] & 0x0f) << 12 |
                     (uint32_t)(u[1] & 0x3f) << 6 | (u[2] & 0x3f);
        if (r < 0x800 || (r >= 0xd800 && r < 0xe000))
            return SL_RUNE_INVALID;
        *width = 3;
        return r;
    }
    if (u[0] >= 0xf0 && u[0] < 0xf5) {
        if (length < 4 || !is_tail(u[1]) || !is_tail(u[2]) || !is_tail(u[3]))
            return SL_RUNE_INVALID;
        uint32_t r = (uint32_t)(u[0] & 0x07) << 18 |
                     (uint32_t)(u[1] & 0x3f) << 12 |
                     (uint32_t)(u[2] & 0x3f) << 6 | (u[3] & 0x3f);
        if (r < 0x10000 || r > 0x10ffff)
            return SL_RUNE_INVALID;
        *width = 4;
        return r;
    }
    return SL_RUNE_INVALID;
}

uint32_t sl_rune_last(const char *p, size_t length, unsigned *width)
{
    for (size_t back = 1; back <= 4 && back <= length; back++) {
        if (is_tail((unsigned char)p[length - back]))
            continue;
        uint32_t r = sl_rune(p + length - back, back, width);
        if (*width == back)
            return r;
        break;
    }
    *width = 1;
    return SL_RUNE_INVALID;
}

unsigned sl_rune_encode(uint32_t r, char out[4])
{
    if (r < 0x80) {
        out[0] = (char)r;
        return 1;
    }
    if (r < 0x800) {
        out[0] = (char)(0xc0 | r >> 6);
        out[1] = (char)(0x80 | (r & 0x3f));
        return 2;
    }
    if (r > 0x10ffff || (r >= 0xd800 && r < 0xe000))
        r = SL_RUNE_INVALID;
    if (r < 0x10000) {
        out[0] = (char)(0xe0 | r >> 12);
        out[1] = (char)(0x80 | (r >> 6 & 0x3f));
        out[2] = (char)(0x80 | (r & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | r >> 18);
    out[1] = (char)(0x80 | (r >> 12 & 0x3f));
    out[2] = (char)(0x80 | (r >> 6 & 0x3f));
    out[3] = (char)(0x80 | (r & 0x3f));
    return 4;
}

bool sl_rune_count(struct star *s, const char *p, size_t length, size_t *out)
{
    size_t count = 0;
    unsigned width = 1;

    for (size_t i = 0; i < length; i += width) {
        if (count++ % 32768 == 0 && !sl_charge(s, 32768 / 64))
            return false;
        width = 1;
        if ((unsigned char)p[i] >= 0x80)
            sl_rune(p + i, length - i, &width);
    }
    *out = count;
    return true;
}

/* --- case ------------------------------------------------------------------------ */

/* Unicode has no single capital for it in its simple mappings; the library
 * gives U+1E9E. */
#define SHARP_S 0xdfu
/* Their counterparts are the i and I of ASCII, which have others. */
#define DOTTED_CAPITAL_I 0x130u
#define DOTLESS_SMALL_I  0x131u

uint32_t sl_rune_upper(uint32_t r)
{
    if (r < 0x80)
        return r >= 'a' && r <= 'z' ? r - 32 : r;
    return r == SHARP_S ? r : (uint32_t)utf8proc_toupper((int32_t)r);
}

uint32_t sl_rune_lower(uint32_t r)
{
    if (r < 0x80)
        return r >= 'A' && r <= 'Z' ? r + 32 : r;
    return (uint32_t)utf8proc_tolower((int32_t)r);
}

uint32_t sl_rune_title(uint32_t r)
{
    if (r < 0x80)
        return sl_rune_upper(r);
    return r == SHARP_S ? r : (uint32_t)utf8proc_totitle((int32_t)r);
}

bool sl_rune_is_cased(uint32_t r)
{
    if (r == DOTTED_CAPITAL_I || r == DOTLESS_SMALL_I)
        return false;
    return r == SHARP_S || sl_rune_lower(r) != r || sl_rune_upper(r) != r;
}

/* --- classes ----------------------------------------------------------------------- */

static utf8proc_category_t category(uint32_t r)
{
    return utf8proc_category((int32_t)r);
}

bool sl_rune_is_letter(uint32_t r)
{
    utf8proc_category_t c = category(r);

    return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO;
}

bool sl_rune_is_digit(uint32_t r)
{
    return category(r) == UTF8PROC_CATEGORY_ND;
}

bool sl_rune_is_upper(uint32_t r)
{
    return category(r) == UTF8PROC_CATEGORY_LU;
}

bool sl_rune_is_lower(uint32_t r)
{
    return category(r) == UTF8PROC_CATEGORY_LL;
}

bool sl_rune_is_title(uint32_t r)
{
    return category(r) == UTF8PROC_CATEGORY_LT;
}

bool sl_rune_is_space(uint32_t r)
{
    if (r < 0x80)
        return sl_is_ascii_space((unsigned char)r);
    if (r == 0x85)
        return true;
    utf8proc_category_t c = category(r);
    return c >= UTF8PROC_CATEGORY_ZS && c <= UTF8PROC_CATEGORY_ZP;
}

bool sl_rune_is_print(uint32_t r)
{
    if (r < 0x80)
        return r >= ' ' && r < 0x7f;
    utf8proc_category_t c = category(r);
    return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_SO;
}
