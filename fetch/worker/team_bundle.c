#include "mapm/team_bundle.h"

#include "team_source.h"

/*
 * team_bundle: the source for a bundle, a file that mapm opened and passed as a
 * descriptor. It is untrusted, and read after the rights are dropped.
 */

static bool start(struct team_get *g, struct err *e)
{
    struct err why = {0};
    enum team_found found;

    (void)e;
    if (!team_bundle_get(g->source->state, g->name, g->known, &g->bytes, &found,
                         &why)) {
        team_get_log(g, "%s", err_first(&why));
        team_get_over(g, TEAM_REFUSED, &why);
        return true;
    }
    team_get_log(g, "%s, %zu B", found == TEAM_IS_ABSENT ? "absent" : "there",
                 g->bytes.n);
    team_get_over(g,
                  found == TEAM_IS_READ    ? TEAM_GOT
                  : found == TEAM_IS_KNOWN ? TEAM_KNOWN
                                           : TEAM_ABSENT,
                  NULL);
    return true;
}

static void end(struct team_get *g)
{
    (void)g;
}

const struct team_source_kind team_bundle_kind = {.start = start, .close = end};
