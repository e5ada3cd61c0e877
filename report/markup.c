#include "markup.h"

#include "base/hash.h"
#include "base/text.h"

static const char *reference_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void markup_text(struct buf *out, struct str s, bool lines)
{
    size_t from = 0;
    struct buf b;

    buf_init(&b, out->max);
    text_visible(&b, s, lines);
    for (size_t i = 0; i < b.n; i++) {
        const char *reference = reference_of(b.p[i]);

        if (!reference)
            continue;
        buf_append(out, str_slice(buf_str(&b), from, i));
        buf_text(out, reference);
        from = i + 1;
    }
    buf_append(out, str_from_index(buf_str(&b), from));
    buf_done(&b);
}

void markup_word(struct buf *out, struct str s)
{
    buf_text(out, "<bdi>");
    markup_text(out, s, false);
    buf_text(out, "</bdi>");
}

void markup_source(struct buf *out, struct str style)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    struct hash h = hash_of(style);
    unsigned bits = 0, count = 0;

    buf_text(out, "sha256-");
    for (size_t i = 0; i < sizeof h.b; i++) {
        bits = bits << 8 | h.b[i];
        for (count += 8; count >= 6; count -= 6)
            buf_char(out, digits[bits >> (count - 6) & 63]);
    }
    /* 256 bits are 42 digits and four bits more. */
    buf_char(out, digits[bits << (6 - count) & 63]);
    buf_char(out, '=');
}
