#include "base/glob.h"
#include "mapm/limits.h"
#include "mapm/origin.h"
#include "mapm/project.h"

#include <string.h>

#include "project.h"

/* policy.sources: where packages may come from. */

static bool is_pattern_part(struct str part)
{
    for (size_t i = 0; i < part.n; i++)
        if (!char_is_alpha(part.p[i]) && !char_is_digit(part.p[i]) &&
            !strchr("*._-", part.p[i]))
            return false;
    return part.n > 0;
}

bool project_is_source(struct str pattern)
{
    struct str rest = pattern, part;
    size_t parts = 0;

    for (; str_cut(&rest, '/', &part); parts++)
        if (!is_pattern_part(part))
            return false;
    return parts == 3 && pattern.n <= ORIGIN_MAX_BYTES;
}

bool project_source_allowed(const struct project *p, const struct origin *o)
{
    if (p->root && !project_source_allowed(p->root, o))
        return false;
    if (!p->has_sources || o->scheme != ORIGIN_GIT)
        return true;
    for (size_t i = 0; i < p->source_count; i++) {
        struct str rest = p->sources[i], host, owner, repo;

        if (str_cut(&rest, '/', &host) && str_cut(&rest, '/', &owner) &&
            str_cut(&rest, '/', &repo) &&
            glob_star_matches_nocase(host, o->host) &&
            glob_star_matches_nocase(owner, o->owner) &&
            glob_star_matches_nocase(repo, o->repo))
            return true;
    }
    return false;
}
