#include "base/glob.h"
#include "mapm/limits.h"
#include "mapm/origin.h"
#include "mapm/project.h"

#include <string.h>

#include "project.h"

/* Implements policy.sources: patterns of the repositories that packages may
 * come from. */

static bool is_pattern_part(struct str part)
{
    for (size_t i = 0; i < part.n; i++)
        if (!char_is_alpha(part.p[i]) && !char_is_digit(part.p[i]) &&
            !strchr("*._-~%", part.p[i]))
            return false;
    return part.n > 0;
}

/* "host[:port]" */
static bool is_pattern_host(struct str part)
{
    size_t colon = str_find_char(part, ':');

    return is_pattern_part(str_slice(part, 0, colon)) &&
           (colon == SIZE_MAX ||
            is_pattern_part(str_from_index(part, colon + 1)));
}

/* Returns true for a pattern such as "github.com/acme", which matches no
 * repository and was probably meant as all repositories of acme. */
static bool may_be_short(struct str pattern)
{
    size_t slash = str_find_char(pattern, '/');
    const struct git_host *g = git_host_built_in(str_slice(pattern, 0, slash));

    return !g || str_has_char(str_from_index(pattern, slash), '*');
}

bool project_is_source(struct str pattern)
{
    struct str rest = pattern, part;
    size_t parts = 1;

    if (!str_cut(&rest, '/', &part) || !is_pattern_host(part))
        return false;
    for (; str_cut(&rest, '/', &part); parts++)
        if (!is_pattern_part(part))
            return false;
    return (parts > 2 || (parts == 2 && may_be_short(pattern))) &&
           pattern.n <= ORIGIN_MAX_BYTES;
}

/* "*" matches any text in a host; in a repository also "/". */
static bool source_fits(struct str pattern, const struct origin *o,
                        struct arena *a)
{
    struct str host, repository = pattern;
    struct str name = origin_repository(o, a), authority;

    str_cut(&repository, '/', &host);
    str_cut(&name, '/', &authority);
    return glob_star_matches_nocase(host, authority) &&
           (origin_folds(o) ? glob_star_matches_nocase(repository, name)
                            : glob_star_matches(repository, name));
}

bool project_source_allowed(const struct project *p, const struct origin *o)
{
    CLEANUP(arena_done) struct arena scratch = {0};

    if (p->root && !project_source_allowed(p->root, o))
        return false;
    if (!p->has_sources || !origin_is_remote(o))
        return true;
    for (size_t i = 0; i < p->source_count; i++)
        if (source_fits(p->sources[i], o, &scratch))
            return true;
    return false;
}
