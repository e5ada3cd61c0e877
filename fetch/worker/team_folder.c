#include "session.h"
#include "team_http.h"

/*
 * team_folder: the source for a folder on a web server or in a bucket, with one
 * GET per object. A bucket that does not permit listing sends 403 for a missing
 * object. After a 401, the credentials are sent that git would send, netrc
 * first, if the user's own configuration names the folder.
 */

/* State shared by all gets of a source. */
struct folder {
    struct secret secret; /* secret.source is NULL if there is none */
    unsigned tried, logins;
};

struct folder_get {
    struct team_http http;
    unsigned login; /* value of folder.logins when the request was sent */
};

static struct folder *folder_of(struct team_source *source)
{
    if (!source->state)
        source->state = arena_new(&source->session->arena, struct folder);
    return source->state;
}

static bool send_get(struct folder_get *f, struct err *e)
{
    struct team_http *q = &f->http;
    const struct team_get *g = q->get;
    const struct folder *own = folder_of(g->source);

    q->url = arena_printf(&q->arena, "%.*s/%.*s.tar.gz",
                          STR_ARG(g->source->remote.base), STR_ARG(g->name));
    q->user = own->secret.user;
    q->password = own->secret.password;
    q->has_own_headers = team_remote_may_have_token(&g->source->remote);
    f->login = own->logins;
    return team_http_start(q, e);
}

/* Uses the credential that another get has found meanwhile, or the next one. */
static bool find_login(struct folder_get *f, struct err *e)
{
    struct team_source *source = f->http.get->source;
    struct session *s = source->session;
    struct folder *own = folder_of(source);
    bool of_path; /* unused: one password serves the whole folder */

    if (f->http.is_elsewhere || !team_remote_may_have_token(&source->remote))
        return false;
    if (f->login == own->logins) {
        own->logins++;
        if (!secrets_next(&s->secrets, &s->link, &f->http.at, &own->tried,
                          &s->arena, &own->secret, &of_path, e))
            return false;
    }
    return own->secret.source != NULL;
}

static bool log_in(struct folder_get *f)
{
    struct err ignored = {0};

    if (!find_login(f, &ignored))
        return false;
    team_http_done(&f->http);
    return send_get(f, &ignored);
}

static enum team_got evaluate(const struct team_http *q, struct err *why)
{
    switch (q->status) {
    case 200:
        return TEAM_GOT;
    case 403:
    case 404:
    case 410:
        return TEAM_ABSENT;
    case 401:
        err_set(why, ERR_AUTH, "HTTP 401: it requires a password");
        err_hint(why, "netrc(5) may have it");
        return TEAM_FAILED;
    default:
        err_set(why, ERR_FETCH, "HTTP %ld", q->status);
        return TEAM_FAILED;
    }
}

static void over(struct team_http *q)
{
    struct team_get *g = q->get;
    struct err why = {0};
    enum team_got got;

    if (q->failure) {
        team_get_log(g, "%s", err_first(q->failure));
        team_get_over(g, TEAM_FAILED, q->failure);
        return;
    }
    team_get_log(g, "HTTP %ld, %zu B, %llu ms", q->status, g->bytes.n,
                 (unsigned long long)q->call.took_ms);
    if (q->status == HTTP_STATUS_UNAUTHORIZED && log_in(g->state))
        return;
    got = evaluate(q, &why);
    g->is_forbidden = q->status == 403;
    team_get_over(g, got, got == TEAM_FAILED ? &why : NULL);
}

static bool start(struct team_get *g, struct err *e)
{
    struct folder_get *f = heap_alloc(sizeof *f);

    g->state = f;
    f->http.get = g;
    f->http.method = "GET";
    f->http.body = &g->bytes;
    f->http.is_blob = true;
    f->http.over = over;
    if (!send_get(f, e)) {
        team_get_over(g, TEAM_FAILED, e);
        err_clear(e);
    }
    return true;
}

static void end(struct team_get *g)
{
    struct folder_get *f = g->state;

    if (f)
        team_http_done(&f->http);
    heap_free(f);
    g->state = NULL;
}

const struct team_source_kind team_folder = {.start = start, .close = end};
