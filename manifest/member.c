#include "mapm/member.h"

#include "base/glob.h"
#include "base/text.h"
#include "mapm/limits.h"

static bool part_is_valid(struct str part)
{
    return part.n && part.p[0] != '.' && part.p[0] != '-';
}

static bool is_valid(struct str path)
{
    struct str rest = path, part;

    if (path.n == 0 || path.n > MEMBER_MAX_BYTES || path.p[path.n - 1] == '/' ||
        !text_is_visible(path) || str_has_char(path, '\\'))
        return false;
    while (str_cut(&rest, '/', &part))
        if (!part_is_valid(part))
            return false;
    return true;
}

bool member_path_is_valid(struct str path)
{
    return is_valid(path) && !str_has_char(path, '*');
}

bool member_pattern_is_valid(struct str pattern)
{
    return is_valid(pattern) && str_find(pattern, STR("**")) == SIZE_MAX;
}

bool member_pattern_has_star(struct str pattern)
{
    return str_has_char(pattern, '*');
}

bool member_matches(struct str pattern, struct str path)
{
    struct str p, t;
    bool more_p, more_t;

    do {
        more_p = str_cut(&pattern, '/', &p);
        more_t = str_cut(&path, '/', &t);
        if (more_p && more_t && !glob_star_matches(p, t))
            return false;
    } while (more_p && more_t);
    return more_p == more_t;
}
