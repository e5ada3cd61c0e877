#include "base/text.h"

#include <utf8proc.h>

#include "text_scan.h"

/* Python's text functions. */

#define SIGMA       0x3a3
#define FINAL_SIGMA 0x3c2
#define DOTTED_I    0x130
#define DOT_ABOVE   0x307

bool text_is_word(int32_t c)
{
    if (c < 0x80)
        return c >= 0 && (char_is_alpha((char)c) || char_is_digit((char)c));
    switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return true;
    default:
        return false;
    }
}

/* --- lower case ----------------------------------------------------------- */

static bool is_cased(int32_t c)
{
    return utf8proc_tolower(c) != c || utf8proc_toupper(c) != c;
}

/* Returns the next letter after `at`, skipping marks; -1 at the end. */
static int32_t next_base(struct str s, size_t at)
{
    while (at < s.n) {
        int32_t c = text_next(s, &at);

        if (c < 0 || utf8proc_category(c) != UTF8PROC_CATEGORY_MN)
            return c;
    }
    return -1;
}

/* Handles the two letters whose lower case is not one fixed letter. */
static void put_lower(struct buf *b, struct str s, size_t after, int32_t c,
                      bool after_letter)
{
    if (c == DOTTED_I) {
        text_put(b, 'i');
        text_put(b, DOT_ABOVE);
    } else if (c == SIGMA && after_letter) {
        int32_t next = next_base(s, after);

        text_put(b, next >= 0 && is_cased(next) ? utf8proc_tolower(c)
                                                : FINAL_SIGMA);
    } else {
        text_put(b, utf8proc_tolower(c));
    }
}

struct str text_lower(struct str s, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    bool after_letter = false;

    if (text_ascii(s) == s.n)
        return str_lower(s, a);
    buf_init(&b, s.n * 3 + 4); /* two bytes may become three */
    for (size_t at = 0, from = 0; at < s.n; from = at) {
        int32_t c = text_next(s, &at);

        if (c < 0)
            buf_append(&b, str_slice(s, from, at));
        else
            put_lower(&b, s, at, c, after_letter);
        if (c < 0 || utf8proc_category(c) != UTF8PROC_CATEGORY_MN)
            after_letter = c >= 0 && is_cased(c);
    }
    return arena_str(a, buf_str(&b));
}

/* --- repr ----------------------------------------------------------------- */

static bool is_printable(int32_t c)
{
    switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return false;
    case UTF8PROC_CATEGORY_ZS:
        return c == ' ';
    default:
        return true;
    }
}

static void put_escaped(struct buf *b, int32_t c)
{
    if (c == '\n')
        buf_text(b, "\\n");
    else if (c == '\r')
        buf_text(b, "\\r");
    else if (c == '\t')
        buf_text(b, "\\t");
    else if (c < 0x100)
        buf_printf(b, "\\x%02x", (unsigned)c);
    else if (c < 0x10000)
        buf_printf(b, "\\u%04x", (unsigned)c);
    else
        buf_printf(b, "\\U%08x", (unsigned)c);
}

struct str text_repr(struct str s, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    char quote = str_has_char(s, '\'') && !str_has_char(s, '"') ? '"' : '\'';

    buf_init(&b, s.n * 10 + 2);
    buf_char(&b, quote);
    for (size_t at = 0, from = 0; at < s.n; from = at) {
        int32_t c = text_next(s, &at);

        if (c < 0) /* as os.fsdecode decodes the byte */
            buf_printf(&b, "\\udc%02x", (unsigned char)s.p[from]);
        else if (c == quote || c == '\\')
            buf_printf(&b, "\\%c", (char)c);
        else if (is_printable(c))
            buf_append(&b, str_slice(s, from, at));
        else
            put_escaped(&b, c);
    }
    buf_char(&b, quote);
    return arena_str(a, buf_str(&b));
}
