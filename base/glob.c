#include "base/glob.h"

bool glob_is_pattern(struct str text)
{
    return str_has_char(text, '*') || str_has_char(text, '?') ||
           str_has_char(text, '[');
}

/* Returns the position after the "]" of the set that begins at `at`, or 0 if
 * there is none. A "]" that comes first is a member. */
static size_t set_end(struct str pattern, size_t at)
{
    size_t i = at + 1;

    if (i < pattern.n && (pattern.p[i] == '!' || pattern.p[i] == '^'))
        i++;
    for (i++; i < pattern.n; i++)
        if (pattern.p[i] == ']')
            return i + 1;
    return 0;
}

/* `set` is the text between the brackets. */
static bool set_has(struct str set, unsigned char c)
{
    bool is_negated = set.p[0] == '!' || set.p[0] == '^', found = false;

    for (size_t i = is_negated; i < set.n; i++) {
        unsigned char from = (unsigned char)set.p[i], to = from;

        if (i + 2 < set.n && set.p[i + 1] == '-') {
            to = (unsigned char)set.p[i + 2];
            i += 2;
        }
        found |= from <= c && c <= to;
    }
    return found != is_negated;
}

/* Returns whether the item of the pattern at `*at`, which is not a star,
 * matches `c`; moves `*at` behind the item. */
typedef bool item_matcher(struct str pattern, size_t *at, char c);

static bool match_item(struct str pattern, size_t *at, char c)
{
    size_t end;

    switch (pattern.p[*at]) {
    case '?':
        ++*at;
        return true;
    case '[':
        end = set_end(pattern, *at);
        if (!end)
            break;
        if (!set_has(str_slice(pattern, *at + 1, end - 1), (unsigned char)c))
            return false;
        *at = end;
        return true;
    case '\\':
        if (*at + 1 >= pattern.n)
            break;
        if (pattern.p[*at + 1] != c)
            return false;
        *at += 2;
        return true;
    default:
        break;
    }
    return pattern.p[*at] == c && ++*at;
}

static bool match_char(struct str pattern, size_t *at, char c)
{
    return pattern.p[*at] == c && ++*at;
}

static bool match_letter(struct str pattern, size_t *at, char c)
{
    return str_eq_nocase(str_make(pattern.p + *at, 1), str_make(&c, 1)) &&
           ++*at;
}

/* Backtracks to the last star only. */
static bool matches(struct str pattern, struct str text, item_matcher *match)
{
    size_t p = 0, t = 0, star = SIZE_MAX, kept = 0;

    while (t < text.n) {
        if (p < pattern.n && pattern.p[p] == '*') {
            star = ++p;
            kept = t;
        } else if (p < pattern.n && match(pattern, &p, text.p[t])) {
            t++;
        } else if (star != SIZE_MAX) {
            p = star;
            t = ++kept;
        } else {
            return false;
        }
    }
    while (p < pattern.n && pattern.p[p] == '*')
        p++;
    return p == pattern.n;
}

bool glob_matches(struct str pattern, struct str text)
{
    return matches(pattern, text, match_item);
}

bool glob_star_matches(struct str pattern, struct str text)
{
    return matches(pattern, text, match_char);
}

bool glob_star_matches_nocase(struct str pattern, struct str text)
{
    return matches(pattern, text, match_letter);
}

bool glob_matches_path(struct str pattern, struct str path)
{
    struct str globs = pattern, parts = path;

    for (;;) {
        struct str glob = {"", 0}, part = {"", 0};

        str_cut(&globs, '/', &glob);
        str_cut(&parts, '/', &part);
        if (!glob_matches(glob, part))
            return false;
        if (!globs.p || !parts.p)
            return !globs.p && !parts.p;
    }
}
