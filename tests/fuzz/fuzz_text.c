/* Any bytes through base/text: its functions must agree with each other. */
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define OUTPUT_MAX_BYTES ((size_t)16 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* The verdict, the decoder and the encoder are of one mind. */
static void check_decoding(struct str s)
{
    size_t count = 0;
    bool bad = false;
    struct buf b;

    buf_init(&b, OUTPUT_MAX_BYTES);
    for (size_t at = 0, from = 0; at < s.n; from = at, count++) {
        int32_t c = text_next(s, &at);

        must(at > from && at <= s.n);
        bad |= c < 0;
        if (c >= 0)
            text_put(&b, c);
    }
    must(text_is_utf8(s) == !bad);
    must(bad || str_eq(buf_str(&b), s));
    must(text_count(s) == count);
    must(text_cut(s, count).n == s.n);
    must(text_count(text_cut(s, count / 2)) == count / 2);
    buf_done(&b);
}

static void check_visible(struct str s, bool lines)
{
    struct buf b, again;

    buf_init(&b, OUTPUT_MAX_BYTES);
    buf_init(&again, OUTPUT_MAX_BYTES);
    text_visible(&b, s, lines);
    text_visible(&again, buf_str(&b), lines);
    must(str_eq(buf_str(&b), buf_str(&again)));
    must(text_is_utf8(buf_str(&b)));
    must(text_find_hidden(buf_str(&b), NULL, NULL) == TEXT_HIDDEN_NONE);
    for (size_t at = 0; at < b.n;) {
        int32_t c = text_next(buf_str(&b), &at);

        must(c == '\t' || (lines && c == '\n') ||
             (c >= 0x20 && (c < 0x7f || c >= 0xa0)));
    }
    if (!text_has_control(s) && text_is_utf8(s) &&
        text_find_hidden(s, NULL, NULL) == TEXT_HIDDEN_NONE &&
        str_find(s, STR("\xe2\x80\xa8")) == SIZE_MAX &&
        str_find(s, STR("\xe2\x80\xa9")) == SIZE_MAX)
        must(str_eq(buf_str(&b), s));
    buf_done(&again);
    buf_done(&b);
}

static void check_hidden(struct str s)
{
    size_t offset = SIZE_MAX, at;
    int32_t c = -1;
    enum text_hidden kind = text_find_hidden(s, &offset, &c);

    if (kind == TEXT_HIDDEN_NONE) {
        must(offset == SIZE_MAX && c == -1);
        return;
    }
    must(offset < s.n);
    at = offset;
    must(text_next(s, &at) == c && c >= 0xa0);
    must(text_hidden_name(kind)[0] != '\0');
}

static void check_forms(struct str s, struct arena *a)
{
    struct str folded = text_fold(s, a), nfkc = text_nfkc(s, a), lines, line;

    if (text_is_utf8(s)) {
        must(text_is_utf8(folded) && text_is_utf8(nfkc));
        must(str_eq(text_fold(folded, a), folded));
    } else {
        must(str_eq(folded, s));
    }
    lines = text_unix_lines(s, a);
    must(!str_has_char(lines, '\r') && lines.n <= s.n);
    line = text_one_line(s, a);
    must(!str_has_char(line, '\n') && line.n <= s.n);
    must(str_eq(text_one_line(line, a), line));
    must(line.n == 0 || (line.p[0] != ' ' && line.p[line.n - 1] != ' '));
    must(text_width(s) <= 2 * s.n);
}

static void check_distance(struct str s)
{
    struct str x = text_cut(s, text_count(s) / 2);
    struct str y = str_from_index(s, x.n);
    size_t there = text_distance(x, y, 50), back = text_distance(y, x, 50);

    must(there == back && there <= 51);
    must(text_distance(x, x, 50) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str s = str_make((const char *)data, size);
    struct arena a = {0};

    if (size > 1 << 20)
        return 0;
    check_decoding(s);
    check_visible(s, false);
    check_visible(s, true);
    check_hidden(s);
    check_forms(s, &a);
    check_distance(s);
    arena_done(&a);
    return 0;
}
