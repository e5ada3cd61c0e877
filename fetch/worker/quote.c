#include "quote.h"

#include "base/text.h"

#include <string.h>

#define ELLIPSIS "\u2026"

const char *quote(struct quote *q, struct str s)
{
    const size_t room = sizeof q->text - sizeof ELLIPSIS;
    CLEANUP(buf_done) struct buf b;
    struct str shown;
    bool is_cut = s.n > room;

    /* one byte expands to at most "\u{10ffff}" */
    buf_init(&b, 12 * sizeof q->text);
    text_visible(&b, str_slice(s, 0, room), false);
    shown = buf_str(&b);
    if (shown.n > room) {
        shown.n = room;
        is_cut = true;
    }
    while (is_cut && shown.n && (shown.p[shown.n - 1] & 0xc0) == 0x80)
        shown.n--; /* never cut inside a UTF-8 character */
    if (is_cut && shown.n && (shown.p[shown.n - 1] & 0xc0) == 0xc0)
        shown.n--; /* drop the lead byte of the cut character */
    memcpy(q->text, shown.p, shown.n);
    memcpy(q->text + shown.n, is_cut ? ELLIPSIS : "",
           is_cut ? sizeof ELLIPSIS : 1);
    return q->text;
}
