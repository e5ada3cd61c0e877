#include "known_move.h"

static struct str repository_of(const struct url *u)
{
    struct str path = u->path;

    while (path.n && path.p[0] == '/')
        path = str_from_index(path, 1);
    if (str_ends(path, STR(".git")))
        path.n -= 4;
    return path;
}

bool known_move(const struct git_host *kind, const struct url *from,
                const struct url *to)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct git_host_match found;

    return str_eq(from->scheme, to->scheme) && from->port == to->port &&
           !str_eq(from->host, to->host) &&
           git_host_match(kind, HOST_OVER_HTTPS, from->host,
                          repository_of(from), &a, &found) &&
           !found.page && found.rest.n == 0 && str_eq(found.host, to->host) &&
           str_eq_nocase(found.repository, repository_of(to));
}
