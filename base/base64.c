#include "base/base64.h"

static const char digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct str base64_format(struct str bytes, struct arena *a)
{
    size_t n = 0;
    char *out = arena_alloc(a, (bytes.n + 2) / 3 * 4 + 1);

    for (size_t i = 0; i < bytes.n; i += 3) {
        size_t left = bytes.n - i;
        unsigned x = (unsigned)(unsigned char)bytes.p[i] << 16;

        if (left > 1)
            x |= (unsigned)(unsigned char)bytes.p[i + 1] << 8;
        if (left > 2)
            x |= (unsigned char)bytes.p[i + 2];
        out[n++] = digits[x >> 18];
        out[n++] = digits[x >> 12 & 63];
        out[n++] = left > 1 ? digits[x >> 6 & 63] : '=';
        out[n++] = left > 2 ? digits[x & 63] : '=';
    }
    return str_make(out, n);
}

static int digit_value(char c)
{
    size_t i = str_find_char(str_cstr(digits), c);

    return i == SIZE_MAX ? -1 : (int)i;
}

bool base64_parse(struct str text, struct buf *out)
{
    unsigned bits = 0, held = 0;

    while (text.n && text.p[text.n - 1] == '=')
        text.n--;
    for (size_t i = 0; i < text.n; i++) {
        int d = digit_value(text.p[i]);

        if (d < 0)
            return false;
        held = (held << 6 | (unsigned)d) & 0xffffff;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            buf_char(out, (char)(held >> bits & 0xff));
        }
    }
    return !out->overflowed;
}
