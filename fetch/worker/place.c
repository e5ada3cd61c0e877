#include "session.h"

/* What is known of a server, whatever repository of it: one place for each
 * scheme, host and port. */

static struct place *place_get(struct session *s, const struct url *u,
                               const struct git_host *g)
{
    struct str key = arena_printf(&s->arena, "%.*s://%.*s", STR_ARG(u->scheme),
                                  STR_ARG(url_host_port(u, &s->arena)));
    struct map_entry *entry = map_entry(&s->places, key);
    struct place *p = entry->value;

    if (p == NULL) {
        entry->value = p = arena_new(&s->arena, struct place);
        p->key = key;
        p->caps = (struct caps){.version = g->protocol,
                                .ls_refs = true,
                                .fetch = true,
                                .shallow = g->shallow,
                                .filter = g->filter};
    }
    return p;
}

void place_set(struct repo *r)
{
    r->place = place_get(r->session, &r->url, r->kind);
    r->caps = r->place->caps;
    r->has_caps = r->place->has_caps;
}

/* "/" where the server has the repository by the name that its origin has, or
 * "/git/"; "" where it has another one (by url.*.insteadOf). */
static struct str path_before(const struct repo *r)
{
    struct str path = r->url.path;

    if (!r->kind->keeps_suffix && str_ends(path, STR(".git")))
        path.n -= 4;
    if (path.n <= r->name.n ||
        !str_eq_nocase(str_from_index(path, path.n - r->name.n), r->name))
        return str_make("", 0);
    path.n -= r->name.n;
    return path.p[path.n - 1] == '/' ? path : str_make("", 0);
}

bool remote_init(struct repo *r, const struct link_ask *in, struct err *e)
{
    if (!settings_rewrite(&r->session->settings, in->url, &r->arena, &r->url,
                          e))
        return false;
    r->public_only = str_eq(url_format(&r->url, &r->arena), in->url) &&
                     !settings_has_host(&r->session->settings, r->url.host);
    place_set(r);
    r->transport = &transport_http;
    r->before = path_before(r);
    secrets_first(&r->session->secrets, &r->url, &r->secret);
    return true;
}

const char *repo_shown(struct repo *r)
{
    return url_format(&r->url, &r->arena).p;
}
