#include "base/text.h"
#include "base/yaml.h"
#include "mapm/name.h"

#include "lock.h"

bool lock_is_plain(struct str s)
{
    struct version ignored;
    unsigned bad = 0;

    if (s.n && char_is_digit(s.p[0]))
        return version_parse(s, &ignored);
    if (s.n < 6 || !char_is_alpha(s.p[0]) || s.p[s.n - 1] == ':')
        return false;
    for (size_t i = 1; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        /* "-", ".", "/", the digits and ":" are contiguous in ASCII. */
        bad |=
            !((c | 0x20u) - 'a' < 26u || c - (unsigned)'-' < 14u || c == '_');
    }
    return !bad;
}

struct str lock_scalar(struct str s, struct arena *a)
{
    return lock_is_plain(s) ? s : yaml_quote(s, a);
}

static int hex_value(char c)
{
    return char_is_digit(c) ? c - '0' : char_is_hex(c) ? c - 'a' + 10 : -1;
}

/* Decodes the digits of `\x1b` or `\u20ac` that follow the letter at `*at`. */
static bool take_escape(struct str raw, size_t *at, struct buf *out)
{
    char letter = raw.p[(*at)++];
    size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : 0;
    int32_t point = 0;

    if (letter == '"' || letter == '\\' || letter == 'n' || letter == 't') {
        buf_char(out, letter == 'n' ? '\n' : letter == 't' ? '\t' : letter);
        return true;
    }
    if (!digits || raw.n - *at < digits)
        return false;
    for (size_t i = 0; i < digits; i++) {
        int value = hex_value(raw.p[(*at)++]);

        if (value < 0)
            return false;
        point = point * 16 + value;
    }
    text_put(out, point);
    return true;
}

bool lock_unquote(struct str raw, struct arena *a, struct str *out)
{
    CLEANUP(buf_done) struct buf text = {0};
    size_t at = 1;

    if (raw.n < 2 || raw.p[raw.n - 1] != '"')
        return false;
    buf_init(&text, raw.n * 4);
    raw.n--;
    while (at < raw.n) {
        char c = raw.p[at++];

        if (c != '\\')
            buf_char(&text, c);
        else if (at >= raw.n || !take_escape(raw, &at, &text))
            return false;
    }
    *out = arena_str(a, buf_str(&text));
    return true;
}
