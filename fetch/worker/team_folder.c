#include "team_http.h"

/*
 * A folder on a web server: nginx, or a bucket. One GET an object. A bucket that
 * may not be listed says 403 for what it does not have.
 */

static enum team_got judge(const struct team_http *q, struct err *why)
{
    switch (q->status) {
    case 200:
        return TEAM_GOT;
    case 403:
    case 404:
    case 410:
        return TEAM_ABSENT;
    case 401:
        err_set(why, ERR_AUTH, "HTTP 401: it wants a password");
        return TEAM_FAILED;
    default:
        err_set(why, ERR_FETCH, "HTTP %ld", q->status);
        return TEAM_FAILED;
    }
}

static void over(struct team_http *q)
{
    struct err why = {0};
    enum team_got got;

    if (q->failure) {
        team_get_say(q->get, "%s", err_first(q->failure));
        team_get_over(q->get, TEAM_FAILED, q->failure);
        return;
    }
    team_get_say(q->get, "HTTP %ld, %zu B, %llu ms", q->status, q->get->bytes.n,
                 (unsigned long long)q->call.took_ms);
    got = judge(q, &why);
    q->get->is_forbidden = q->status == 403;
    team_get_over(q->get, got, got == TEAM_FAILED ? &why : NULL);
}

static bool start(struct team_get *g, struct err *e)
{
    const struct team_remote *t = &g->source->remote;
    struct team_http *q = heap_alloc(sizeof *q);

    g->state = q;
    q->get = g;
    q->method = "GET";
    q->url = arena_printf(&q->arena, "%.*s/%.*s.tar.gz", STR_ARG(t->base),
                          STR_ARG(g->name));
    q->body = &g->bytes;
    q->is_blob = true;
    q->over = over;
    if (!team_http_start(q, e)) {
        team_get_over(g, TEAM_FAILED, e);
        err_clear(e);
    }
    return true;
}

static void end(struct team_get *g)
{
    struct team_http *q = g->state;

    if (q)
        team_http_done(q);
    heap_free(q);
    g->state = NULL;
}

const struct team_source_kind team_folder = {.start = start, .close = end};
