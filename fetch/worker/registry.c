#include "registry.h"

#include "base/base64.h"
#include "base/text.h"

#include "session.h"

/* The first for a missing token, the second for an expired one. */
#define REFUSALS_MAX     2
#define STATUS_TOO_MANY  429
#define STATUS_SERVER    500
#define STATUS_FORBIDDEN 403

static void on_over(struct team_http *http);

bool registry_init(struct registry *r, struct err *e)
{
    const struct team_remote *t = &r->source->remote;

    buf_init(&r->token_body, REGISTRY_ANSWER_MAX_BYTES);
    return url_parse(t->base, &r->arena, &r->url) ||
           err_set(e, ERR_FORMAT, "%.*s is not a registry", STR_ARG(t->url));
}

static struct err *new_err(struct registry *r)
{
    return arena_new(&r->arena, struct err);
}

static const struct err *copy_err(struct registry *r, const struct err *e)
{
    struct err *kept = new_err(r);

    *kept = *e;
    return kept;
}

static void finish(struct registry_request *q, const struct err *why)
{
    q->why = why;
    q->over(q);
}

static void die(struct registry *r, const struct err *why)
{
    if (!r->dead)
        r->dead = why;
}

/* --- queue ---------------------------------------------------------------- */

static void wait(struct registry *r, struct registry_request *q)
{
    q->next = NULL;
    if (r->last)
        r->last->next = q;
    else
        r->first = q;
    r->last = q;
}

static void release(struct registry *r)
{
    struct registry_request *q = r->first;

    r->first = r->last = NULL;
    while (q) {
        struct registry_request *next = q->next;

        registry_start(r, q);
        q = next;
    }
}

static void forget(struct registry *r, const struct registry_request *q)
{
    struct registry_request **at = &r->first;

    r->last = NULL;
    while (*at) {
        if (*at == q) {
            *at = q->next;
            continue;
        }
        r->last = *at;
        at = &(*at)->next;
    }
}

void registry_request_done(struct registry_request *q)
{
    if (q->registry)
        forget(q->registry, q);
    team_http_done(&q->http);
    arena_done(&q->arena);
}

/* --- one attempt ---------------------------------------------------------- */

static void put_header(struct registry_request *q, struct str line)
{
    if (line.n)
        q->headers[q->http.line_count++] = line;
}

static void put_named(struct registry_request *q, const char *name,
                      struct str value)
{
    if (value.n)
        put_header(q,
                   arena_printf(&q->arena, "%s: %.*s", name, STR_ARG(value)));
}

static struct str address_of(const struct registry *r,
                             struct registry_request *q)
{
    const struct team_remote *t = &r->source->remote;

    if (q->path.n == 0)
        return q->address;
    return arena_printf(&q->arena, "%.*s/v2/%.*s%.*s", STR_ARG(t->base),
                        STR_ARG(t->repository), STR_ARG(q->path));
}

static void send_request(struct registry *r, struct registry_request *q)
{
    struct err *why = new_err(r);

    q->round = r->round;
    q->http = (struct team_http){
        .source = r->source,
        .method = q->method,
        .url = address_of(r, q),
        .lines = q->headers,
        .content = q->content,
        .body = q->body,
        .is_blob = q->is_blob,
        .is_elsewhere = q->is_token && !str_eq(q->url.host, r->url.host),
        .over = on_over,
        .ctx = q,
    };
    if (q->is_token && r->secret.kind == REGISTRY_PASSWORD) {
        q->http.user = r->secret.user;
        q->http.password = r->secret.secret;
    }
    put_named(q, "Accept", q->accept);
    put_named(q, "Content-Type", q->type);
    if (!q->is_token)
        put_header(q, r->authorization);
    if (!team_http_start(&q->http, why)) {
        team_http_done(&q->http);
        finish(q, why);
    }
}

static bool is_busy(long status)
{
    return status == STATUS_TOO_MANY || status >= STATUS_SERVER;
}

/* Copies what is needed of the response. In a pull, which can fall back to the
 * git host, a busy server counts as unreachable. */
static const struct err *take_result(struct registry *r,
                                     struct registry_request *q)
{
    const struct err *why = NULL;
    struct err *busy;

    q->status = q->http.status;
    q->location = arena_str(&q->arena, q->http.call.location);
    q->challenge = arena_str(&q->arena, q->http.call.challenge);
    q->retry_after_s = q->http.call.retry_after_s;
    if (q->http.failure) {
        why = copy_err(r, q->http.failure);
    } else if (!r->pushes && is_busy(q->status)) {
        why = busy = new_err(r);
        err_set(busy, ERR_FETCH, "HTTP %ld", q->status);
    }
    team_http_done(&q->http);
    if (why && why->code != ERR_LIMIT)
        die(r, why);
    return why;
}

/* --- authentication ------------------------------------------------------- */

static bool look_up_secret(struct registry *r, struct err *e)
{
    if (r->has_secret)
        return true;
    r->has_secret = true;
    return link_find_registry_secret(&r->source->session->link,
                                     r->source->remote.url, &r->arena,
                                     &r->secret, e);
}

/* Returns an error for an unsupported kind of login. */
static struct err *login_error(struct registry *r, const char *what,
                               struct str name)
{
    struct err *why = new_err(r);

    err_set(why, ERR_AUTH, "%s%.*s", what, STR_ARG(name));
    return why;
}

/* Gives up the registry for this run: access is denied, or the login is missing
 * or rejected. */
static void refuse(struct registry *r, const char *what, struct str name)
{
    struct err *why = login_error(r, what, name);
    struct str note = r->secret.note;

    err_hint(why,
             "%.*s%slog in with \"docker login %.*s\", or set "
             "MAPM_STORE_TOKEN for a store that MAPM_STORE or config.yaml "
             "names",
             STR_ARG(note), note.n ? "; " : "",
             STR_ARG(r->source->remote.host));
    die(r, why);
}

static void set_authorization(struct registry *r, const char *scheme,
                              struct str value)
{
    r->authorization = arena_printf(&r->arena, "Authorization: %s %.*s", scheme,
                                    STR_ARG(value));
    r->round++;
}

static void use_password(struct registry *r)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str pair = arena_printf(&a, "%.*s:%.*s", STR_ARG(r->secret.user),
                                   STR_ARG(r->secret.secret));

    set_authorization(r, "Basic", base64_format(pair, &a));
}

static const struct err *token_failure(struct registry *r,
                                       const struct registry_request *q)
{
    struct err *why = new_err(r);
    struct str token;

    if (q->why)
        *why = *q->why;
    else if (q->status != HTTP_STATUS_OK)
        err_set(why, ERR_AUTH, "HTTP %ld", q->status);
    else if (!registry_token_parse(buf_str(&r->token_body), &r->arena, &token))
        err_set(why, ERR_FETCH, "the response contains no token");
    else {
        set_authorization(r, "Bearer", token);
        return NULL;
    }
    if (why->code == ERR_AUTH && r->secret.kind == REGISTRY_PASSWORD)
        err_wrap(why, "the password from %.*s was not accepted",
                 STR_ARG(r->secret.source));
    err_wrap(why, "no token from %.*s",
             STR_ARG(url_host_port(&q->url, &r->arena)));
    return why;
}

static void on_token(struct registry_request *q)
{
    struct registry *r = q->ctx;
    const struct err *why = token_failure(r, q);

    if (why)
        die(r, why);
    r->is_waiting = false;
    registry_request_done(q);
    release(r);
}

static void request_token(struct registry *r)
{
    const struct registry_challenge *c = &r->challenge;
    struct registry_request *q = &r->token;

    *q = (struct registry_request){.method = "GET",
                                   .accept = STR("application/json"),
                                   .body = &r->token_body,
                                   .over = on_token,
                                   .ctx = r,
                                   .registry = r,
                                   .is_token = true};
    if (!url_parse(c->realm, &q->arena, &q->url) ||
        !registry_realm_is_good(&q->url, &r->url)) {
        die(r, login_error(
                   r, "its token server is not asked, as that is not https: ",
                   text_cut(c->realm, 200)));
        return;
    }
    q->address = registry_token_address(
        c->realm, c->service,
        registry_scope(c->scope, r->source->remote.repository, r->pushes,
                       &q->arena),
        &q->arena);
    r->is_waiting = true;
    send_request(r, q);
}

/* Returns whether the credential was sent and cannot be renewed. */
static bool is_fixed(const struct registry *r)
{
    return r->authorization.n && (r->secret.kind == REGISTRY_TOKEN ||
                                  r->challenge.scheme == REGISTRY_BASIC);
}

/* Sets the Authorization header, requests a token, or gives up the registry. */
static bool answer_challenge(struct registry *r, struct err *e)
{
    if (!look_up_secret(r, e))
        return false;
    if (is_fixed(r))
        refuse(r, "it does not accept the login from ", r->secret.source);
    else if (r->secret.kind == REGISTRY_TOKEN)
        set_authorization(r, "Bearer", r->secret.secret);
    else if (r->challenge.scheme == REGISTRY_BEARER)
        request_token(r);
    else if (r->challenge.scheme == REGISTRY_NO_SCHEME)
        die(r, login_error(r, "it requires an unsupported kind of login",
                           STR("")));
    else if (r->secret.kind != REGISTRY_PASSWORD)
        refuse(r, "it requires a password and none is configured", STR(""));
    else
        use_password(r);
    return true;
}

/* Queues the request, to be sent again once the challenge is answered, or to
 * fail like all others. */
static bool challenged(struct registry *r, struct registry_request *q,
                       struct err *e)
{
    bool is_news = q->round == r->round; /* otherwise a newer token exists */

    wait(r, q);
    if (r->is_waiting || !is_news)
        return true;
    registry_challenge_parse(q->challenge, &r->arena, &r->challenge);
    return answer_challenge(r, e);
}

/* Authenticated, but without this right: reports the scope that was
 * requested. */
static void fail_scope(struct registry *r, struct registry_request *q)
{
    struct err *why = new_err(r);
    struct str scope = registry_scope(
        r->challenge.scope, r->source->remote.repository, r->pushes, &r->arena);

    err_set(why, ERR_REFUSED, "HTTP %ld: no right for %.*s", q->status,
            STR_ARG(scope));
    err_hint(why, "the login%s%.*s needs the right to %s",
             r->secret.source.n ? " from " : "", STR_ARG(r->secret.source),
             r->pushes ? "push" : "pull");
    die(r, why);
    finish(q, why);
}

/* --- requests ------------------------------------------------------------- */

static bool is_challenge(const struct registry *r, struct registry_request *q)
{
    return q->status == HTTP_STATUS_UNAUTHORIZED &&
           q->refusals++ < REFUSALS_MAX && !(r->has_worked && is_fixed(r));
}

static bool evaluate(struct registry *r, struct registry_request *q,
                     struct err *e)
{
    bool is_own = !q->is_token && q->http.redirects == 0;
    const struct err *why = take_result(r, q);

    if (!why && is_own && is_challenge(r, q))
        return challenged(r, q, e);
    if (!why && is_own &&
        (q->status == HTTP_STATUS_UNAUTHORIZED ||
         q->status == STATUS_FORBIDDEN)) {
        fail_scope(r, q);
        return true;
    }
    r->has_worked |= is_own && !why;
    finish(q, why);
    return true;
}

static void on_over(struct team_http *http)
{
    struct registry_request *q = http->ctx;
    struct registry *r = q->registry;
    struct err e = {0};

    r->is_open = true;
    if (!evaluate(r, q, &e))
        die(r, copy_err(r, &e));
    if (!r->is_waiting)
        release(r);
}

void registry_start(struct registry *r, struct registry_request *q)
{
    q->registry = r;
    if (r->dead) {
        finish(q, r->dead);
        return;
    }
    if (r->is_waiting || (r->is_asked && !r->is_open)) {
        wait(r, q);
        return;
    }
    r->is_asked = true;
    send_request(r, q);
}
