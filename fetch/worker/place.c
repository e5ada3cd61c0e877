#include "base/text.h"

#include <stdio.h>

#include "session.h"

/*
 * place: the capabilities of a server, shared by its repositories: one place
 * for each scheme, host and port. They come from the table of hosts or from the
 * store, until a server rejects a request that relied on them. Then the
 * repository requests the advertisement, which applies to the whole place from
 * then on. Source: HOSTS.md 6.
 *
 * Over ssh a server sends its capabilities with each connection, so each
 * repository has a place of its own, which is not stored.
 */

static struct place *first_of_host(const struct session *s, struct place *p)
{
    for (size_t i = 0; i < s->places.count; i++) {
        struct place *q = s->places.entries[i].value;

        if (q && str_eq(q->host, p->host))
            return q;
    }
    return p;
}

static struct place *place_get(struct session *s, const struct url *u,
                               const struct git_host *g)
{
    struct str key =
        url_is_ssh(u)
            ? url_format(u, &s->arena)
            : arena_printf(&s->arena, "%.*s://%.*s", STR_ARG(u->scheme),
                           STR_ARG(url_host_port(u, &s->arena)));
    struct map_entry *entry = map_entry(&s->places, key);
    struct place *p = entry->value;

    if (p)
        return p;
    p = arena_new(&s->arena, struct place);
    p->host = url_host_port(u, &s->arena);
    p->of_host = first_of_host(s, p);
    entry->value = p;
    p->key = key;
    p->is_own = p->is_looked_up = url_is_ssh(u);
    p->caps = (struct caps){.version = g->protocol,
                            .ls_refs = true,
                            .fetch = true,
                            .shallow = g->shallow,
                            .filter = g->filter,
                            .any_object = g->protocol != 0};
    return p;
}

static void assume(struct repo *r)
{
    r->caps = r->place->caps;
    r->round = r->place->round;
}

void place_set(struct repo *r)
{
    r->place = place_get(r->session, &r->url, r->kind);
    r->has_caps = false;
    assume(r);
}

bool place_look_up(struct repo *r, struct err *e)
{
    struct session *s = r->session;
    struct place *p = r->place;
    struct str kept;

    if (!p || p->is_looked_up)
        return true;
    p->is_looked_up = true;
    if (!link_find_caps(&s->link, p->key, &s->arena, &kept, e))
        return false;
    p->is_known = caps_parse(kept, &p->caps);
    assume(r);
    return true;
}

void place_learn(struct repo *r, const struct caps *caps)
{
    struct session *s = r->session;
    struct place *p = r->place;
    struct str old = caps_format(&p->caps, &s->arena);
    struct str now = caps_format(caps, &s->arena);

    r->caps = *caps;
    r->has_caps = true;
    r->round = ++p->round;
    p->caps = *caps;
    if (p->is_own || (p->is_known && str_eq(old, now)))
        return;
    p->is_known = true;
    link_put_caps(&s->link, p->key, now);
}

bool place_refused(struct repo *r)
{
    struct place *p = r->place;

    if (p->is_known && r->round == p->round) {
        p->is_known = false;
        link_put_caps(&r->session->link, p->key, STR(""));
    }
    return r->round == p->round;
}

/* Records that the server supports less than assumed or advertised. */
static void place_restrict_caps(struct repo *r, const struct caps *caps)
{
    bool is_own = r->has_caps;

    place_learn(r, caps);
    r->has_caps = is_own;
}

void place_refused_filter(struct repo *r)
{
    struct caps caps = r->caps;

    caps.filter = false;
    place_restrict_caps(r, &caps);
}

void place_refused_objects(struct repo *r)
{
    struct caps caps = r->caps;

    caps.any_object = false;
    place_restrict_caps(r, &caps);
    r->is_dirty = true;
}

void place_follow(struct repo *r)
{
    if (r->has_caps || r->round == r->place->round)
        return;
    assume(r);
    r->needs_caps = false;
    r->is_dirty = true;
}

/* Returns the part of the path before the repository's name, as "/" or "/git/";
 * "" if the server uses another name (after url.*.insteadOf). */
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

static void count_object(void *ctx, enum object_type type, const struct oid *id,
                         uint64_t packed_bytes)
{
    struct repo *r = ctx;
    struct blob *b =
        type == OBJECT_BLOB ? map_find(&r->blobs, oid_key(id)) : NULL;

    r->place->of_host->whole_bytes += packed_bytes;
    if (type != OBJECT_BLOB)
        r->place->of_host->part_bytes += packed_bytes;
    else if (b)
        b->packed = packed_bytes;
}

void place_count_whole(struct repo *r, const struct pack *p)
{
    pack_each(p, count_object, r);
}

void place_count_used(const struct ask *a)
{
    for (size_t i = 0; i < a->listing.count; i++) {
        a->repo->place->of_host->part_bytes += a->blobs[i]->packed;
        a->blobs[i]->packed = 0;
    }
}

static bool is_idle(const struct session *s)
{
    for (size_t i = 0; i < s->repos.count; i++) {
        const struct repo *r = s->repos.entries[i].value;

        if (r->open_count)
            return false;
    }
    return true;
}

void places_report_cost(struct session *s)
{
    if (!s->verbose || !is_idle(s))
        return;
    for (size_t i = 0; i < s->places.count; i++) {
        struct place *p = s->places.entries[i].value;
        char whole[16], part[16];

        if (p->is_cost_reported || p->whole_bytes == 0)
            continue;
        p->is_cost_reported = true;
        fprintf(stderr,
                "mapm-fetch: %.*s has no partial%s clone: %s instead of %s\n",
                STR_ARG(p->host), p->caps.shallow ? "" : " and no shallow",
                text_bytes(p->whole_bytes, whole),
                text_bytes(p->part_bytes, part));
    }
}

bool remote_init(struct repo *r, const struct link_ask *in, struct err *e)
{
    if (!settings_rewrite(&r->session->settings, in->url, &r->arena, &r->url,
                          e))
        return false;
    r->public_only = str_eq(url_format(&r->url, &r->arena), in->url) &&
                     !settings_host(&r->session->settings, r->url.host);
    place_set(r);
    if (url_is_ssh(&r->url)) {
        r->transport = r->session->ssh;
        r->needs_caps = true; /* an ssh server sends its advertisement first */
        return true;
    }
    r->transport = r->session->https;
    r->before = path_before(r);
    secrets_first(&r->session->secrets, &r->url, &r->arena, &r->secret);
    return true;
}

const char *repo_shown(struct repo *r)
{
    return url_format(&r->url, &r->arena).p;
}
