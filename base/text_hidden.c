#include "base/text.h"

#include <utf8proc.h>

#include "text_scan.h"

#define BLACK_FLAG 0x1f3f4
#define TAG_FIRST  0xe0000
#define TAG_END    0xe007f
#define ZWJ        0x200d

/* The tags of a flag name a region and a part of it, "gbsct" (UTS 51, ED-14a).
 * A longer sequence could hide text. */
#define FLAG_MIN_TAGS 3
#define FLAG_MAX_TAGS 7

/* clang-format off */
static const struct range {
    int32_t from, to;
    enum text_hidden kind;
} ranges[] = { /* sorted; invisible characters, and those that change the
                  order */
    {0x00ad,  0x00ad,  TEXT_HIDDEN_ZERO_WIDTH}, /* soft hyphen */
    {0x034f,  0x034f,  TEXT_HIDDEN_ZERO_WIDTH}, /* grapheme joiner */
    {0x061c,  0x061c,  TEXT_HIDDEN_BIDI},
    {0x115f,  0x1160,  TEXT_HIDDEN_ZERO_WIDTH}, /* Hangul fillers */
    {0x17b4,  0x17b5,  TEXT_HIDDEN_ZERO_WIDTH}, /* Khmer inherent vowels */
    {0x180b,  0x180d,  TEXT_HIDDEN_VARIATION},  /* Mongolian selectors */
    {0x180e,  0x180e,  TEXT_HIDDEN_ZERO_WIDTH},
    {0x180f,  0x180f,  TEXT_HIDDEN_VARIATION},
    {0x200b,  0x200d,  TEXT_HIDDEN_ZERO_WIDTH},
    {0x200e,  0x200f,  TEXT_HIDDEN_BIDI},
    {0x202a,  0x202e,  TEXT_HIDDEN_BIDI},
    {0x2060,  0x2065,  TEXT_HIDDEN_ZERO_WIDTH},
    {0x2066,  0x2069,  TEXT_HIDDEN_BIDI},
    {0x206a,  0x206f,  TEXT_HIDDEN_ZERO_WIDTH}, /* deprecated formatting */
    {0x3164,  0x3164,  TEXT_HIDDEN_ZERO_WIDTH}, /* Hangul filler */
    {0xfe00,  0xfe0d,  TEXT_HIDDEN_VARIATION},
    {0xfeff,  0xfeff,  TEXT_HIDDEN_ZERO_WIDTH}, /* byte order mark */
    {0xffa0,  0xffa0,  TEXT_HIDDEN_ZERO_WIDTH}, /* half-width filler */
    {0xfff0,  0xfffb,  TEXT_HIDDEN_ZERO_WIDTH}, /* annotations */
    {0x1bca0, 0x1bca3, TEXT_HIDDEN_ZERO_WIDTH}, /* shorthand format */
    {0x1d173, 0x1d17a, TEXT_HIDDEN_ZERO_WIDTH}, /* musical format */
    {0xe0000, 0xe00ff, TEXT_HIDDEN_TAG},
    {0xe0100, 0xe01ef, TEXT_HIDDEN_VARIATION},
    {0xe01f0, 0xe0fff, TEXT_HIDDEN_TAG},        /* reserved, ignorable */
};
/* clang-format on */

static enum text_hidden kind_of(int32_t c)
{
    /* Most letters are before or in this gap. */
    if (c < ranges[0].from || (c > 0x3164 && c < 0xfe00))
        return TEXT_HIDDEN_NONE;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c <= ranges[i].to)
            return c >= ranges[i].from ? ranges[i].kind : TEXT_HIDDEN_NONE;
    return TEXT_HIDDEN_NONE;
}

bool text_is_hidden(int32_t code_point)
{
    return kind_of(code_point) != TEXT_HIDDEN_NONE;
}

static bool is_pictographic(int32_t c)
{
    return c >= 0xa9 && utf8proc_get_property(c)->boundclass ==
                            UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}

/* Characters allowed between an emoji and the joiner after it. */
static bool extends_emoji(int32_t c)
{
    return c == 0xfe0f || c == 0x20e3 || (c >= 0x1f3fb && c <= 0x1f3ff);
}

/* Returns the end of the tags of the flag before `at`, or `at` if
 * there are none. */
static size_t find_flag_end(struct str s, size_t at)
{
    size_t start = at;

    for (int tags = 0; at < s.n; tags++) {
        int32_t c = text_next(s, &at);
        char letter = c > TAG_FIRST && c < TAG_END ? (char)(c - TAG_FIRST) : 0;

        if (c == TAG_END)
            return tags >= FLAG_MIN_TAGS ? at : start;
        if (tags == FLAG_MAX_TAGS ||
            !(char_is_lower(letter) || char_is_digit(letter)))
            break;
    }
    return start;
}

static bool joins_emoji(const struct text_scan *scan)
{
    size_t at = scan->at;

    return scan->after_emoji && is_pictographic(text_next(scan->s, &at));
}

/* Gets the next character: its start, its code point (-1 for an invalid byte)
 * and its kind. Returns false at the end. */
static bool text_scan_next(struct text_scan *scan, size_t *start,
                           int32_t *code_point, enum text_hidden *kind)
{
    int32_t c;

    if (scan->at >= scan->s.n)
        return false;
    *start = scan->at;
    *code_point = c = text_next(scan->s, &scan->at);
    *kind = kind_of(c);
    if (c < 0xa9) {
        scan->after_emoji = false;
        return true;
    }
    if (c == BLACK_FLAG)
        scan->flag_end = find_flag_end(scan->s, scan->at);
    if (*kind == TEXT_HIDDEN_TAG && *start < scan->flag_end) {
        *kind = TEXT_HIDDEN_NONE;
        return true; /* still inside the emoji */
    }
    if (c == ZWJ && joins_emoji(scan))
        *kind = TEXT_HIDDEN_NONE;
    scan->after_emoji =
        is_pictographic(c) || (scan->after_emoji && extends_emoji(c));
    return true;
}

enum text_hidden text_find_hidden(struct str s, size_t *offset,
                                  int32_t *code_point)
{
    struct text_scan scan = {.s = s, .at = text_ascii(s)};
    enum text_hidden worst = TEXT_HIDDEN_NONE, kind;
    size_t start;
    int32_t c;

    while (worst != TEXT_HIDDEN_TAG &&
           text_scan_next(&scan, &start, &c, &kind)) {
        if (c < 0x80) { /* fast path: ASCII has no hidden characters */
            scan.at += text_ascii(str_from_index(s, scan.at));
            continue;
        }
        if (kind == TEXT_HIDDEN_NONE ||
            (worst != TEXT_HIDDEN_NONE && worst <= kind))
            continue;
        worst = kind;
        if (offset)
            *offset = start;
        if (code_point)
            *code_point = c;
    }
    return worst;
}

const char *text_hidden_name(enum text_hidden h)
{
    static const char *const names[] = {
        [TEXT_HIDDEN_NONE] = "nothing hidden",
        [TEXT_HIDDEN_TAG] = "invisible tag character",
        [TEXT_HIDDEN_BIDI] = "bidirectional control",
        [TEXT_HIDDEN_VARIATION] = "variation selector",
        [TEXT_HIDDEN_ZERO_WIDTH] = "zero-width character",
    };

    return (size_t)h < sizeof names / sizeof *names ? names[h] : names[0];
}

static bool is_shown(int32_t c, enum text_hidden kind, bool lines)
{
    if (c < 0x20)
        return c == '\t' || (c == '\n' && lines);
    if (c >= 0x7f && c < 0xa0)
        return false;
    return c != 0x2028 && c != 0x2029 && kind == TEXT_HIDDEN_NONE;
}

bool text_is_visible(struct str s)
{
    return text_is_utf8(s) && !text_has_control(s) &&
           text_find_hidden(s, NULL, NULL) == TEXT_HIDDEN_NONE;
}

void text_visible(struct buf *out, struct str s, bool lines)
{
    struct text_scan scan = {.s = s};
    size_t start, from = 0; /* start of the text not yet copied */
    enum text_hidden kind;
    int32_t c;

    while (text_scan_next(&scan, &start, &c, &kind)) {
        if (is_shown(c, kind, lines))
            continue;
        buf_append(out, str_slice(s, from, start));
        from = scan.at;
        if (c < 0x80) /* or an invalid byte */
            buf_printf(out, "\\x%02x", (unsigned char)s.p[start]);
        else
            buf_printf(out, "\\u{%x}", (unsigned)c);
    }
    buf_append(out, str_from_index(s, from));
}

void text_put_escaped(struct buf *out, struct str word, bool ascii)
{
    buf_text(out, "$'");
    for (size_t i = 0; i < word.n; i++) {
        unsigned char c = (unsigned char)word.p[i];

        if (c == '\'' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c == '\n')
            buf_text(out, "\\n");
        else if (c == '\t')
            buf_text(out, "\\t");
        else if (c < 0x20 || c == 0x7f || (ascii && c >= 0x80))
            buf_printf(out, "\\x%02x", c);
        else
            buf_char(out, word.p[i]);
    }
    buf_char(out, '\'');
}

struct str text_shown(struct str s, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SIZE_MAX / 4);
    text_visible(&b, s, false);
    return arena_str(a, buf_str(&b));
}
