#include "base/text.h"
#include "base/yaml.h"

#include <stdint.h>
#include <string.h>

/* Words that some parsers do not treat as text. */
static const char *const risky[] = {"y", "n", "="};

/* Returns whether `s` is text in YAML 1.1 but a number in YAML 1.2:
 * "1e3", "0o17". */
static bool is_number_elsewhere(struct str s)
{
    bool digits = false;

    if (s.n == 0 || (!char_is_digit(s.p[0]) && !strchr("+-.", s.p[0])))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (!char_is_digit(s.p[i]) && !strchr("+-_.:eEoxXabcdfABCDF", s.p[i]))
            return false;
        digits |= char_is_digit(s.p[i]);
    }
    return digits && (str_has_char(s, 'e') || str_has_char(s, 'E') ||
                      str_has_char(s, 'o') || str_has_char(s, 'x'));
}

static bool is_plain_first(char c)
{
    return char_is_digit(c) || char_is_alpha(c) || (unsigned char)c >= 0x80 ||
           (c && strchr("_/.+$(<-~", c));
}

/* Returns whether a character is safe inside a plain scalar, in block
 * and flow context. */
static bool is_plain_point(int32_t c)
{
    if (c >= 0x20 && c < 0x7f)
        return !strchr(",[]{}?\"'`", c);
    return c >= 0xa0 && c != 0x2028 && c != 0x2029 && c != 0xfeff &&
           c != 0xfffe && c != 0xffff;
}

static bool is_plain(struct str s)
{
    struct yaml y = {.kind = YAML_SCALAR, .style = YAML_PLAIN, .text = s};

    if (yaml_type_of(&y) != YAML_TYPE_STRING || is_number_elsewhere(s))
        return false;
    for (size_t i = 0; i < sizeof risky / sizeof *risky; i++)
        if (str_eq_nocase(s, str_cstr(risky[i])))
            return false;
    if (!is_plain_first(s.p[0]) || s.p[s.n - 1] == ' ' || s.p[s.n - 1] == ':')
        return false;
    if (s.p[0] == '-' && (s.n < 2 || s.p[1] == ' ' || s.p[1] == '-'))
        return false; /* a list item, or "---" */
    if (str_starts(s, STR("...")) || str_find(s, STR(": ")) != SIZE_MAX ||
        str_find(s, STR(" #")) != SIZE_MAX)
        return false;
    for (size_t at = 0; at < s.n;)
        if (!is_plain_point(text_next(s, &at)))
            return false;
    return true;
}

static void put_escaped(struct buf *b, int32_t c)
{
    if (c == '"' || c == '\\')
        buf_printf(b, "\\%c", (char)c);
    else if (c == '\n')
        buf_text(b, "\\n");
    else if (c == '\t')
        buf_text(b, "\\t");
    else if (c < 0)
        buf_text(b, "\xef\xbf\xbd");
    else if (c >= 0x20 && c < 0x7f)
        buf_char(b, (char)c);
    else if (is_plain_point(c))
        text_put(b, c);
    else if (c < 0x100)
        buf_printf(b, "\\x%02x", (unsigned)c);
    else if (c < 0x10000)
        buf_printf(b, "\\u%04x", (unsigned)c);
    else
        text_put(b, c);
}

struct str yaml_quote(struct str s, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    if (s.n && is_plain(s))
        return arena_str(a, s);
    buf_init(&b, SIZE_MAX / 2);
    buf_char(&b, '"');
    for (size_t at = 0; at < s.n;)
        put_escaped(&b, text_next(s, &at));
    buf_char(&b, '"');
    return arena_str(a, buf_str(&b));
}
