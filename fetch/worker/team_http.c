#include "team_http.h"

#include "base/text.h"

#include "session.h"

static bool send_request(struct team_http *q, struct str address,
                         struct err *e);

/* --- end of a request ----------------------------------------------------- */

static void fail(struct team_http *q, const struct err *why)
{
    q->why = *why;
    q->failure = &q->why;
    q->over(q);
}

/* Replaces the messages of http_fail that are written for git hosts. */
static void explain(struct team_http *q, struct err *why)
{
    struct err named = {0};

    if (q->is_cut) {
        err_set(&named, ERR_LIMIT, "it sends more than %zu bytes",
                q->body->max);
    } else if (q->call.private_address[0]) {
        err_set(&named, ERR_REFUSED, "its name leads to %s, %s",
                q->call.private_address,
                q->call.loopback_only
                    ? "not to this machine"
                    : "a private address, which only config.yaml may name");
        err_hint(&named, "if that is right, name the store in your own "
                         "~/.config/mapm/config.yaml");
    } else {
        http_fail(&q->call, &named);
    }
    *why = named;
}

static bool is_redirect(long status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 ||
           status == 308;
}

static bool follow(struct team_http *q, struct err *why)
{
    struct str to = arena_str(&q->arena, q->call.location);
    struct url url;
    struct err ignored = {0};

    if (++q->redirects > TEAM_MAX_REDIRECTS)
        return err_set(why, ERR_REFUSED, "more than %d redirects",
                       TEAM_MAX_REDIRECTS);
    if (to.n == 0 || text_has_control(to) || !url_parse(to, &q->arena, &url) ||
        url.user.n || url.password.n)
        return err_set(why, ERR_REFUSED, "HTTP %ld to no address", q->status);
    if (!url_is_secure(&url) &&
        !(q->source->remote.is_plain && str_eq(url.host, q->at.host)))
        return err_set(why, ERR_REFUSED, "a redirect to %.*s, not over https",
                       STR_ARG(url_format(&url, &q->arena)));
    q->is_elsewhere |= !url_same_place(&url, &q->at);
    http_call_done(&q->call);
    buf_clear(q->body);
    q->at = url;
    if (send_request(q, to, &ignored))
        return true;
    *why = ignored;
    return false;
}

static bool over(struct http_call *call, struct err *e)
{
    struct team_http *q = call->ctx;
    struct err why = {0};

    (void)e;
    q->status = call->status;
    if (call->failure && !(call->is_page_cut && !q->is_cut)) {
        explain(q, &why);
        fail(q, &why);
    } else if (!q->is_blob || !is_redirect(call->status)) {
        q->over(q);
    } else if (!follow(q, &why)) {
        fail(q, &why);
    }
    return true;
}

/* --- start of a request --------------------------------------------------- */

static bool on_data(void *ctx, struct str bytes)
{
    struct team_http *q = ctx;

    q->source->received += bytes.n;
    buf_append(q->body, bytes);
    q->is_cut = q->body->overflowed;
    return !q->is_cut;
}

/* Compares the host name, ignoring the port. */
static bool is_own_host(const struct team_http *q)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct url own;

    return !q->is_elsewhere || (url_parse(q->source->remote.base, &a, &own) &&
                                str_eq(own.host, q->at.host));
}

/* The remote's permissions apply to its own host only; hosts in config.yaml may
 * have any address. */
static void set_reach(struct team_http *q)
{
    const struct team_remote *t = &q->source->remote;
    bool is_own = is_own_host(q);
    bool is_configured =
        settings_host(&q->source->session->settings, q->at.host) != NULL;

    q->call.loopback_only = t->is_plain && is_own;
    q->call.public_only =
        !is_configured && !(is_own && team_remote_may_be_private(t));
    q->call.loopback_too = is_own && team_remote_may_be_loopback(t);
}

static bool send_request(struct team_http *q, struct str address, struct err *e)
{
    q->request = (struct http_request){
        .method = q->method,
        .address = address,
        .over = over,
    };
    if (!q->source->is_patient) {
        q->request.connect_seconds = TEAM_CONNECT_SECONDS;
        q->request.stall_seconds = TEAM_STALL_SECONDS;
        q->request.stall_bytes_per_second = TEAM_STALL_BYTES;
    }
    q->call = (struct http_call){
        .request = &q->request,
        .url = &q->at,
        .body = q->content,
        .data = on_data,
        .ctx = q,
    };
    set_reach(q);
    if (q->redirects == 0 || !q->is_elsewhere) {
        q->request.headers = q->lines;
        q->request.header_count = q->line_count;
        q->call.user = q->user;
        q->call.password = q->password;
        q->call.has_own_headers = q->has_own_headers;
    }
    return http_start(q->source->session->http, &q->call, e);
}

bool team_http_start(struct team_http *q, struct err *e)
{
    q->failure = NULL;
    q->status = 0;
    q->redirects = 0;
    q->is_cut = false;
    if (q->get)
        q->source = q->get->source;
    buf_clear(q->body);
    if (!url_parse(q->url, &q->arena, &q->at))
        return err_set(e, ERR_ORIGIN, "not an address");
    if (q->is_elsewhere && !url_is_secure(&q->at))
        return err_set(e, ERR_REFUSED, "%.*s is not over https",
                       STR_ARG(url_format(&q->at, &q->arena)));
    return send_request(q, q->url, e);
}

void team_http_done(struct team_http *q)
{
    http_call_done(&q->call);
    arena_done(&q->arena);
}
