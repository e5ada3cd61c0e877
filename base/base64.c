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

/* Four digits, `count` of them no padding. */
static bool parse_four(const char *p, size_t count, unsigned *out)
{
    unsigned x = 0;

    for (size_t i = 0; i < 4; i++) {
        const char *at = i < count && p[i] ? strchr(digits, p[i]) : NULL;

        if (i < count && !at)
            return false;
        x = x << 6 | (at ? (unsigned)(at - digits) : 0);
    }
    *out = x;
    return count == 4 || (x & (count == 3 ? 0xffu : 0xffffu)) == 0;
}

bool base64_parse(struct str text, struct arena *a, struct str *out)
{
    size_t padding = str_ends(text, STR("==")) ? 2 : str_ends(text, STR("="));
    char *bytes;
    unsigned x;

    if (text.n % 4)
        return false;
    bytes = arena_alloc(a, text.n / 4 * 3 + 1);
    for (size_t i = 0; i < text.n; i += 4) {
        bool is_last = i + 4 == text.n;

        if (!parse_four(text.p + i, is_last ? 4 - padding : 4, &x))
            return false;
        bytes[i / 4 * 3] = (char)(x >> 16);
        bytes[i / 4 * 3 + 1] = (char)(x >> 8);
        bytes[i / 4 * 3 + 2] = (char)x;
    }
    *out = str_make(bytes, text.n / 4 * 3 - padding);
    return true;
}
