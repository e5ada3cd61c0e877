#include "base/text.h"

#include <string.h>

#include "connection.h"

/* "Input keys:", as authors write them into the body of a metaskill (K8). */

#define KEYS_MAX      32
#define KEY_MAX_CHARS 64

/* Returns whether the line is the heading of the keys, as a heading or in bold
 * or plain text. */
static bool begins_keys(struct str line)
{
    struct str s = str_trim(line);

    while (s.n && (s.p[0] == '#' || s.p[0] == '*' || s.p[0] == ' '))
        s = str_from_index(s, 1);
    while (s.n &&
           (s.p[s.n - 1] == '*' || s.p[s.n - 1] == ':' || s.p[s.n - 1] == ' '))
        s.n--;
    return str_eq_nocase(s, STR("input keys"));
}

static bool is_item(struct str line)
{
    return line.n > 2 && (line.p[0] == '-' || line.p[0] == '*') &&
           line.p[1] == ' ';
}

static bool is_key_char(char c)
{
    return char_is_alpha(c) || char_is_digit(c) || c == '_' || c == '-';
}

static struct str without_marks(struct str s)
{
    while (s.n && strchr("`*\":- ", s.p[0]))
        s = str_from_index(s, 1);
    if (str_starts(s, STR("\xe2\x80\x94"))) /* an em dash */
        s = str_trim(str_from_index(s, 3));
    return s;
}

static bool take_prefix(struct str *s, const char *word)
{
    if (!str_starts(*s, str_cstr(word)))
        return false;
    *s = without_marks(str_from_index(*s, strlen(word)));
    return true;
}

/* "- `key` (required): description". */
static bool read_item(struct str line, struct mcp_argument *out,
                      struct arena *a)
{
    struct str s = str_trim(str_from_index(line, 2));
    size_t n = 0;

    while (s.n && (s.p[0] == '`' || s.p[0] == '*' || s.p[0] == '"'))
        s = str_from_index(s, 1);
    while (n < s.n && is_key_char(s.p[n]))
        n++;
    if (n == 0 || n > KEY_MAX_CHARS || !char_is_alpha(s.p[0]))
        return false;
    out->name = arena_str(a, str_slice(s, 0, n));
    s = str_from_index(s, n);
    s = without_marks(s);
    out->required = take_prefix(&s, "(required)");
    if (!out->required)
        take_prefix(&s, "(optional)");
    out->description = text_cut(text_one_line(s, a), DESCRIPTION_MAX_CHARS);
    return true;
}

struct mcp_argument *serve_read_keys(struct str body, struct arena *a,
                                     size_t *count)
{
    struct mcp_argument *keys = arena_array(a, KEYS_MAX, sizeof *keys);
    struct str rest = body, line;
    bool inside = false;

    *count = 0;
    while (*count < KEYS_MAX && str_line(&rest, &line)) {
        if (!inside) {
            inside = begins_keys(line);
            continue;
        }
        if (is_item(line)) {
            if (read_item(line, &keys[*count], a))
                (*count)++;
        } else if (str_trim(line).n && line.p[0] != ' ' && *count) {
            break;
        }
    }
    return keys;
}
