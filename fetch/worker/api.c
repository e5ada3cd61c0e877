#include "api.h"

#include "base/address.h"
#include "base/proc.h"

#include <curl/curl.h>

#include "../post.h"
#include "http.h"
#include "quote.h"
#include "rights.h"

#define AGENT_NAME "mapm/" MAPM_VERSION
#define WAIT_MS    1000

struct api {
    struct arena arena;
    struct settings settings;
    struct link *link;
    struct fetch_post in;
    struct url url;
    uint64_t time_ms;
    CURLM *multi;
    CURL *easy;
    struct curl_slist *headers;
    struct buf body;
    size_t header_bytes;
    struct str condition;   /* for a GET: condition of struct fetch_reply */
    bool is_over, is_coded; /* reasons for stopping the transfer: too large,
                             * compressed */
    char private_address[ADDRESS_TEXT_BYTES]; /* the rejected address; "" if
                                               * none */
    char why[CURL_ERROR_SIZE];
};

static void api_done(struct api *p)
{
    if (p->multi && p->easy)
        curl_multi_remove_handle(p->multi, p->easy);
    curl_easy_cleanup(p->easy);
    curl_multi_cleanup(p->multi);
    curl_slist_free_all(p->headers);
    buf_done(&p->body);
    settings_done(&p->settings);
    arena_done(&p->arena);
}

static size_t on_body(char *bytes, size_t one, size_t n, void *ctx)
{
    struct api *p = ctx;

    (void)one;
    if (n > p->in.max_bytes - p->body.n) {
        p->is_over = true;
        return 0;
    }
    buf_append(&p->body, str_make(bytes, n));
    return n;
}

/* An ETag takes precedence over a time, in any order of the headers. */
static void note_condition(struct api *p, struct str line)
{
    static const struct {
        const char *name, *asked;
    } rows[] = {{"last-modified:", "If-Modified-Since"},
                {"etag:", "If-None-Match"}};

    for (size_t i = 0; i < 2; i++) {
        struct str name = str_cstr(rows[i].name), text;

        if (!str_eq_nocase(str_slice(line, 0, name.n), name) ||
            (i == 0 && p->condition.n))
            continue;
        text = str_trim(str_from_index(line, name.n));
        text =
            arena_printf(&p->arena, "%s: %.*s", rows[i].asked, STR_ARG(text));
        if (text.n <= POST_CONDITION_MAX_BYTES && post_header_is_good(text))
            p->condition = text;
    }
}

static size_t on_header(const char *line, size_t one, size_t n, void *ctx)
{
    static const struct str name = STR_INIT("content-encoding:");
    struct api *p = ctx;
    struct str s = str_make(line, n);

    (void)one;
    p->header_bytes += n;
    if (p->header_bytes > HEADERS_MAX_BYTES)
        return 0;
    if (str_eq_nocase(str_slice(s, 0, name.n), name) &&
        !str_eq_nocase(str_trim(str_from_index(s, name.n)), STR("identity"))) {
        p->is_coded = true;
        return 0;
    }
    if (p->in.is_get)
        note_condition(p, s);
    return n;
}

static void add_header(struct api *p, struct str line)
{
    p->headers = curl_slist_append(p->headers, str_dup0(line, &p->arena));
}

static void set_request(struct api *p)
{
    CURL *c = p->easy;

    for (size_t i = 0; i < p->in.header_count; i++)
        add_header(p, p->in.headers[i]);
    add_header(p, STR("Expect:"));
    curl_easy_setopt(c, CURLOPT_URL, str_dup0(p->in.url, &p->arena));
    curl_easy_setopt(c, CURLOPT_PATH_AS_IS, 1L);
    if (!p->in.is_get) {
        curl_easy_setopt(c, CURLOPT_POST, 1L);
        curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE,
                         (curl_off_t)p->in.body.n);
        curl_easy_setopt(c, CURLOPT_POSTFIELDS, p->in.body.p);
    }
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, p->headers);
    curl_easy_setopt(c, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
    curl_easy_setopt(c, CURLOPT_USERAGENT, AGENT_NAME);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, p->why);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, p);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, p);
}

/* Rejects private addresses; libcurl then tries the next address of the
 * name. */
static curl_socket_t open_public(void *ctx, curlsocktype purpose,
                                 struct curl_sockaddr *to)
{
    struct api *p = ctx;

    (void)purpose;
    if (!address_is_public(&to->addr)) {
        address_format(&to->addr, p->private_address);
        return CURL_SOCKET_BAD;
    }
    return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

/* Does nothing with a proxy: it resolves names itself, and the user chose
 * it. */
static void set_addresses(struct api *p)
{
    if (!p->in.public_only || settings_may_use_proxy(&p->settings, &p->url))
        return;
    curl_easy_setopt(p->easy, CURLOPT_OPENSOCKETFUNCTION, open_public);
    curl_easy_setopt(p->easy, CURLOPT_OPENSOCKETDATA, p);
}

static bool set_rules(struct api *p, struct err *e)
{
    CURL *c = p->easy;
    bool secure = url_is_secure(&p->url);

    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, secure ? "https" : "http");
    curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(c, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_MAX_SECONDS);
    curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)p->time_ms);
    if (!http_set_trust(c, &p->settings, &p->url, &p->arena, e))
        return false;
    if (!secure)
        curl_easy_setopt(c, CURLOPT_NOPROXY, "*");
    set_addresses(p);
    return true;
}

/* mapm sends nothing more: any input, or its end, aborts the request. */
static bool check_parent(struct channel *c, struct err *e)
{
    if (!channel_fill(c, e))
        return false;
    if (c->closed)
        return err_set(e, ERR_INTERRUPTED, "mapm has exited");
    return c->in.n == c->taken || link_nonsense(e);
}

/* Runs the transfer until it has finished or mapm has ended. */
static bool perform(struct api *p, CURLcode *failure, struct err *e)
{
    struct channel *c = &p->link->channel;
    struct curl_waitfd parent = {.fd = c->fd, .events = CURL_WAIT_POLLIN};
    int running, left;

    curl_multi_add_handle(p->multi, p->easy);
    for (;;) {
        const CURLMsg *m;

        curl_multi_perform(p->multi, &running);
        m = curl_multi_info_read(p->multi, &left);
        if (m) {
            *failure = m->data.result;
            return true;
        }
        curl_multi_poll(p->multi, &parent, 1, WAIT_MS, NULL);
        if (!check_parent(c, e))
            return false;
    }
}

static bool fail_request(struct api *p, CURLcode failure, struct err *e)
{
    struct str shown = post_shown(p->in.url);
    double took = 0;

    curl_easy_getinfo(p->easy, CURLINFO_TOTAL_TIME, &took);
    if (p->is_over)
        return err_set(e, ERR_LIMIT, "%.*s sent more than %zu bytes",
                       STR_ARG(shown), p->in.max_bytes);
    if (p->header_bytes > HEADERS_MAX_BYTES)
        return err_set(e, ERR_LIMIT, "%.*s sent more than %u KiB of headers",
                       STR_ARG(shown), HEADERS_MAX_BYTES >> 10);
    if (p->is_coded)
        return err_set(e, ERR_FETCH,
                       "%.*s sent a compressed answer, which was not asked for",
                       STR_ARG(shown));
    if (p->private_address[0]) {
        err_set(e, ERR_REFUSED, "%.*s: its name leads to %s, a private address",
                STR_ARG(shown), p->private_address);
        return err_hint(e, "if that is right, name the host under hosts: in "
                           "your own ~/.config/mapm/config.yaml");
    }
    if (failure == CURLE_OPERATION_TIMEDOUT &&
        took * 1000 >= (double)p->time_ms - 1)
        return post_late(p->in.url, p->time_ms, e);
    http_fail_curl((int)failure, p->why, &p->settings, e);
    return err_wrap(e, "cannot reach %.*s", STR_ARG(shown));
}

static bool refuse_redirect(struct api *p, long status, const char *location,
                            struct err *e)
{
    struct str shown = post_shown(p->in.url);
    struct url to;
    struct quote q;

    if (!url_parse(str_cstr(location), &p->arena, &to))
        to = (struct url){.host = STR("an address that is none")};
    err_set(e, ERR_FETCH, "HTTP %ld from %.*s: it redirects to %s", status,
            STR_ARG(shown),
            quote(&q, to.scheme.n ? url_format(&to, &p->arena) : to.host));
    return err_hint(e, "redirects are not followed with a key: name the "
                       "present URL of the API");
}

/* Returns the Content-Type; "" if it is missing or invalid. */
static struct str type_of(struct api *p)
{
    const char *type = NULL;
    struct str text;

    curl_easy_getinfo(p->easy, CURLINFO_CONTENT_TYPE, &type);
    text = str_cstr(type ? type : "");
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < 0x20 || text.p[i] > 0x7e)
            return STR("");
    return text.n <= POST_TYPE_MAX_BYTES ? text : STR("");
}

/* Returns "" for a URL that mapm would reject. */
static struct str target_of(const char *location)
{
    struct fetch_post get = {.is_get = true, .url = str_cstr(location)};
    struct err ignored = {0};

    return post_check(&get, &ignored) ? get.url : str_make("", 0);
}

static bool answer(struct api *p, struct err *e)
{
    struct fetch_reply out = {.body = buf_str(&p->body)};
    char *location = NULL;
    curl_off_t wait = 0;

    curl_easy_getinfo(p->easy, CURLINFO_RESPONSE_CODE, &out.status);
    curl_easy_getinfo(p->easy, CURLINFO_REDIRECT_URL, &location);
    curl_easy_getinfo(p->easy, CURLINFO_RETRY_AFTER, &wait);
    if (location && p->in.is_get)
        out.location = target_of(location);
    else if (location)
        return refuse_redirect(p, out.status, location, e);
    if (out.status < 200 || out.status > 999)
        return err_set(e, ERR_FETCH, "%.*s did not send an HTTP response",
                       STR_ARG(post_shown(p->in.url)));
    out.retry_after_s = wait < 0                  ? 0
                        : wait > POST_RETRY_MAX_S ? POST_RETRY_MAX_S
                                                  : (unsigned)wait;
    out.condition = p->condition;
    if (p->in.is_get)
        out.type = type_of(p);
    link_reply(p->link, &out);
    return true;
}

static bool check_url(struct api *p, struct err *e)
{
    if (!url_parse(p->in.url, &p->arena, &p->url) || p->url.user.n ||
        p->url.password.n)
        return err_set(e, ERR_ORIGIN, "invalid URL of the API");
    if (url_is_secure(&p->url) || url_is_loopback(&p->url))
        return true;
    err_set(e, ERR_ORIGIN, "%.*s: http is for this machine alone",
            STR_ARG(post_shown(p->in.url)));
    return err_hint(e, "a key must not be sent unencrypted: use https, "
                       "or a tunnel to 127.0.0.1");
}

bool api_serve(struct link *l, struct str body, struct err *e)
{
    CLEANUP(api_done) struct api p = {.link = l};
    CURLcode failure = CURLE_OK;

    if (!post_read(body, &p.arena, &p.in, &p.time_ms))
        return link_nonsense(e);
    buf_init(&p.body, p.in.max_bytes + 1);
    if (!check_url(&p, e) || !settings_load(&p.settings, NULL, 0, e) ||
        !rights_give_up(&p.settings, NULL, 1, e))
        return false;
    p.multi = curl_multi_init();
    p.easy = curl_easy_init();
    set_request(&p);
    if (!set_rules(&p, e) || !perform(&p, &failure, e))
        return false;
    return failure == CURLE_OK ? answer(&p, e) : fail_request(&p, failure, e);
}
