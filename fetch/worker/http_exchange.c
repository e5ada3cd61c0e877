#include "session.h"

/* The transport over https: one call for each exchange. */

static bool is_expected_type(const struct exchange *x)
{
    const char *want = x->kind == REQUEST_CAPS
                           ? "application/x-git-upload-pack-advertisement"
                           : "application/x-git-upload-pack-result";
    size_t n = str_cstr(want).n;

    return str_starts(x->call.type, str_cstr(want)) &&
           (x->call.type.n == n || x->call.type.p[n] == ';');
}

static bool on_data(void *ctx, struct str bytes)
{
    struct exchange *x = ctx;

    /* A response of another type, as a web page, is rejected when it ends. */
    if (!x->call.type.p)
        http_call_type(&x->call);
    if (!is_expected_type(x))
        return x->call.received < TRANSFER_MAX_IDLE_BYTES;
    return exchange_feed(x, bytes);
}

static bool start(struct exchange *x, struct err *e)
{
    struct repo *r = x->repo;

    if (x->kind == REQUEST_CAPS)
        x->call.query = STR("service=git-upload-pack");
    if (x->kind == REQUEST_CAPS || x->kind == REQUEST_REFS)
        x->call.max_seconds =
            ANSWER_MAX_STALLS * r->session->limits.transfer_stall_seconds.value;
    x->secret = r->secret;
    x->call.url = &r->url;
    x->call.public_only = r->public_only;
    x->call.body = buf_str(&x->body);
    x->call.user = x->secret.user;
    x->call.password = x->secret.password;
    x->call.has_own_headers =
        !r->is_foreign && secrets_allow_headers(&r->session->secrets, &r->url);
    x->call.data = on_data;
    x->call.ctx = x;
    return http_start(r->session->http, &x->call, e);
}

static enum outcome evaluate(struct exchange *x, struct err *e)
{
    enum outcome v = remote_evaluate(x, is_expected_type(x), e);

    x->took_ms = x->call.took_ms;
    x->retry_after_s = x->call.retry_after_s;
    x->was_slow = http_was_slow(&x->call);
    return v;
}

static void close_call(struct exchange *x)
{
    http_call_done(&x->call);
}

static void describe(const struct exchange *x, struct buf *out)
{
    buf_printf(out, "HTTP %ld", x->call.status);
}

const struct transport transport_http = {
    .has_service_line = true,
    .start = start,
    .evaluate = evaluate,
    .evaluate_busy = remote_evaluate_busy,
    .describe = describe,
    .close = close_call,
};
