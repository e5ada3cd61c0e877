#include "base/digest.h"
#include "mapm/team_object.h"

#include "registry.h"
#include "session.h"

/*
 * team_registry: the source for a registry. Fetches the manifest of the name,
 * which describes its single layer, and then that blob. The config is never
 * fetched.
 */

#define STATUS_NOT_FOUND 404

struct get {
    struct registry *registry;
    struct registry_request request; /* for the manifest, then for the blob */
    struct buf manifest;
    struct arena arena;
    struct team_blob layer;
};

static void fail(struct team_get *g, const struct err *why)
{
    const struct get *p = g->state;

    team_get_log(g, "%s", err_first(why));
    team_get_over(g, p->registry->dead ? TEAM_FAILED : TEAM_REFUSED, why);
}

/* Handles a finished request. Returns true if there is a body. */
static bool has_answer(struct team_get *g, const struct registry_request *q)
{
    struct err why = {0};

    if (q->why) {
        fail(g, q->why);
    } else if (q->status == STATUS_NOT_FOUND) {
        team_get_log(g, "HTTP 404");
        team_get_over(g, TEAM_ABSENT, NULL);
    } else if (q->status != HTTP_STATUS_OK) {
        err_set(&why, ERR_FETCH, "HTTP %ld", q->status);
        fail(g, &why);
    }
    return !q->why && q->status == HTTP_STATUS_OK;
}

static void on_blob(struct registry_request *q)
{
    struct team_get *g = q->ctx;
    struct get *p = g->state;
    struct str bytes = buf_str(&g->bytes);
    struct err why = {0};
    struct hash h;

    if (!has_answer(g, q))
        return;
    h = hash_of(bytes);
    if (bytes.n == p->layer.size && hash_eq(&h, &p->layer.digest)) {
        team_get_log(g, "HTTP 200, %zu B", bytes.n);
        team_get_over(g, TEAM_GOT, NULL);
        return;
    }
    err_set(&why, ERR_DAMAGED, "its layer is not what its manifest says");
    fail(g, &why);
}

static void request_blob(struct team_get *g)
{
    struct get *p = g->state;
    struct registry_request *q = &p->request;

    registry_request_done(q);
    if (g->bytes.max > p->layer.size)
        g->bytes.max = (size_t)p->layer.size; /* limit the download to the
                                               * declared size */
    *q = (struct registry_request){.method = "GET",
                                   .body = &g->bytes,
                                   .is_blob = true,
                                   .over = on_blob,
                                   .ctx = g};
    q->path = arena_printf(&p->arena, "/blobs/%.*s",
                           STR_ARG(digest_format(&p->layer.digest, &p->arena)));
    registry_start(p->registry, q);
}

/* Joins two messages, since a warning shows only the innermost one. */
static const struct err *on_one_line(const struct err *why, struct arena *a)
{
    struct err *out = arena_new(a, struct err);
    const char *outer = err_prev(why, NULL);

    if (outer == err_first(why))
        return why;
    err_set(out, why->code, "%s: %s", outer, err_first(why));
    return out;
}

static void on_manifest(struct registry_request *q)
{
    struct team_get *g = q->ctx;
    struct get *p = g->state;
    struct team_manifest m;
    struct err why = {0};

    if (!has_answer(g, q))
        return;
    if (!team_manifest_parse(buf_str(&p->manifest), &p->arena, &m, &why)) {
        fail(g, on_one_line(&why, &p->arena));
        return;
    }
    p->layer = m.layer;
    if (g->known && hash_eq(g->known, &m.layer.digest)) {
        team_get_log(g, "the same as another");
        team_get_over(g, TEAM_KNOWN, NULL);
        return;
    }
    request_blob(g);
}

/* Returns the registry that all gets of the source share, with its token. */
static struct registry *registry_of(struct team_source *s, struct err *e)
{
    struct registry *r = s->state;

    if (r)
        return r;
    r = arena_new(&s->session->arena, struct registry);
    r->source = s;
    s->state = r;
    return registry_init(r, e) ? r : NULL;
}

static bool start(struct team_get *g, struct err *e)
{
    struct get *p = heap_alloc(sizeof *p);

    g->state = p;
    buf_init(&p->manifest, TEAM_MANIFEST_MAX_BYTES);
    p->registry = registry_of(g->source, e);
    if (!p->registry)
        return false;
    p->request = (struct registry_request){
        .method = "GET",
        .path = arena_printf(&p->arena, "/manifests/%.*s", STR_ARG(g->name)),
        .accept = STR(TEAM_MANIFEST_TYPE),
        .body = &p->manifest,
        .over = on_manifest,
        .ctx = g};
    registry_start(p->registry, &p->request);
    return true;
}

static void end(struct team_get *g)
{
    struct get *p = g->state;

    if (!p)
        return;
    registry_request_done(&p->request);
    buf_done(&p->manifest);
    arena_done(&p->arena);
    heap_free(p);
    g->state = NULL;
}

const struct team_source_kind team_registry = {.start = start, .close = end};
