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
    /* 256 bits are 42 digits plus 4 bits */
    buf_char(out, digits[bits << (6 - count) & 63]);
    buf_char(out, '=');
}

void markup_head(struct buf *out, const struct markup_page *p)
{
    buf_text(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n"
                  "<meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\""
                  "default-src 'none'; style-src '");
    markup_source(out, str_cstr(p->style));
    if (p->script) {
        buf_text(out, "'; script-src '");
        markup_source(out, str_cstr(p->script));
    }
    buf_text(out, "'; base-uri 'none'; form-action 'none'\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, "
                  "initial-scale=1\">\n"
                  "<meta name=\"color-scheme\" content=\"light dark\">\n"
                  "<meta name=\"referrer\" content=\"no-referrer\">\n");
    if (p->is_private)
        buf_text(out, "<meta name=\"robots\" content=\"noindex\">\n");
    buf_text(out, "<title>");
    markup_text(out, p->title, false);
    buf_printf(out, "%s</title>\n<style>", p->about);
    buf_text(out, p->style);
    buf_text(out, "</style>\n</head>\n<body>\n<main>\n");
}
