#include "http.h"

#include "base/proc.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <sys/socket.h>
#include <time.h>
#include <zlib.h>

#include "protocol.h"
#include "system_ca.h"

/* Limit for an error page, which is discarded. */
#define ERROR_BODY_MAX_BYTES   (64u * 1024)
#define RETRY_AFTER_MAX        3600
#define RATE_RESET_MAX         253402300799u /* the end of the year 9999 */
#define RATE_RESET_IS_TIME     1000000000u   /* September 2001 */
#define HOST_MAX_CONNECTIONS   8
#define STALL_BYTES_PER_SECOND 1000
#define PLAIN_BODY_MAX_BYTES   1024 /* same threshold as in git */
#define GZIP_WINDOW_BITS       (15 + 16)
#define GZIP_MEMORY_LEVEL      8

struct http {
    CURLM *multi;
    const struct settings *settings;
    const struct limits *limits;
    struct http_counts counts;
    uint64_t started_ms; /* time of the first request */
};

struct http *http_open(const struct settings *s, const struct limits *limits)
{
    struct http *h = heap_alloc(sizeof *h);

    h->settings = s;
    h->limits = limits;
    h->multi = curl_multi_init();
    curl_multi_setopt(h->multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(h->multi, CURLMOPT_MAX_HOST_CONNECTIONS,
                      (long)HOST_MAX_CONNECTIONS);
    return h;
}

uint64_t http_time_left(const struct http *h)
{
    uint64_t limit = h->limits->transfer_max_seconds.value * 1000;
    uint64_t spent = h->started_ms ? proc_now_ms() - h->started_ms : 0;

    return spent < limit ? limit - spent : 0;
}

void http_count_request(struct http *h)
{
    if (h->started_ms == 0)
        h->started_ms = proc_now_ms();
    h->counts.requests++;
}

void http_count_connection(struct http *h)
{
    if (h->started_ms == 0)
        h->started_ms = proc_now_ms();
    h->counts.connections++;
}

bool http_count_received(struct http *h, size_t bytes)
{
    h->counts.received += bytes;
    return h->counts.received - h->counts.of_stores <=
           h->limits->transfer_max_bytes.value;
}

/* Counts stores separately, so that a store that sends too much does not use up
 * the limit of the git host. */
static bool count_of_store(struct http *h, size_t bytes)
{
    h->counts.received += bytes;
    h->counts.of_stores += bytes;
    return h->counts.of_stores <= h->limits->transfer_max_bytes.value;
}

static bool check_bytes(const struct http *h, uint64_t bytes, const char *whose,
                        struct err *e)
{
    const struct limit *max = &h->limits->transfer_max_bytes;

    return bytes <= max->value ||
           limit_fail(max, e,
                      "more than %" PRIu64 " bytes received in one run%s",
                      max->value, whose);
}

static bool check_store(const struct http *h, struct err *e)
{
    return check_bytes(h, h->counts.of_stores, " from stores", e);
}

bool http_check_limits(const struct http *h, struct err *e)
{
    const struct limits *l = h->limits;

    if (!check_bytes(h, h->counts.received - h->counts.of_stores, "", e))
        return false;
    if (http_time_left(h) == 0)
        return limit_fail(&l->transfer_max_seconds, e,
                          "took longer than %" PRIu64 " seconds",
                          l->transfer_max_seconds.value);
    return true;
}

static size_t on_body(char *p, size_t one, size_t n, void *ctx)
{
    struct http_call *call = ctx;
    long status = 0;

    (void)one;
    call->received += n;
    if (!(call->request ? count_of_store(call->http, n)
                        : http_count_received(call->http, n)))
        return 0;
    curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status != HTTP_STATUS_OK) {
        call->is_page_cut = call->received > ERROR_BODY_MAX_BYTES;
        return call->is_page_cut ? 0 : n;
    }
    return call->data(call->ctx, str_make(p, n)) ? n : 0;
}

static size_t on_header(const char *p, size_t one, size_t n, void *ctx)
{
    struct http_call *call = ctx;

    (void)one;
    (void)p;
    call->header_bytes += n;
    return call->header_bytes <= HEADERS_MAX_BYTES ? n : 0;
}

static void add_header(struct http_call *call, const char *line)
{
    call->headers = curl_slist_append(call->headers, line);
}

/* A user and password take precedence over an Authorization header of the
 * configuration. */
static void add_own_headers(struct http_call *call, const struct settings *s)
{
    static const struct str login = STR_INIT("authorization:");
    size_t count;
    const struct str *lines =
        settings_headers(s, call->url, &call->arena, &count);

    for (size_t i = 0; i < count; i++)
        if (!(call->user.n || call->password.n) ||
            !str_eq_nocase(str_slice(lines[i], 0, login.n), login))
            add_header(call, str_dup0(lines[i], &call->arena));
}

/* As in git; a request with many wants is mostly hexadecimal digits. */
static void compress_body(struct http_call *call)
{
    z_stream z = {.next_in = (z_const Bytef *)(uintptr_t)call->body.p,
                  .avail_in = (uInt)call->body.n};
    uLong room;

    if (call->body.n <= PLAIN_BODY_MAX_BYTES ||
        deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW_BITS,
                     GZIP_MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return;
    room = deflateBound(&z, z.avail_in);
    z.next_out = arena_array(&call->arena, room, 1);
    z.avail_out = (uInt)room;
    if (deflate(&z, Z_FINISH) == Z_STREAM_END) {
        call->body = str_make((char *)z.next_out - z.total_out, z.total_out);
        add_header(call, "Content-Encoding: gzip");
    }
    deflateEnd(&z);
}

/* Sets up a request of a store. A HEAD request and its response have no
 * body. */
static void set_request(struct http_call *call)
{
    const struct http_request *r = call->request;
    CURL *c = call->easy;

    for (size_t i = 0; i < r->header_count; i++)
        add_header(call, str_dup0(r->headers[i], &call->arena));
    add_header(call, "Expect:");
    if (strcmp(r->method, "HEAD") == 0)
        curl_easy_setopt(c, CURLOPT_NOBODY, 1L);
    if (strcmp(r->method, "HEAD") == 0 || strcmp(r->method, "GET") == 0)
        return;
    curl_easy_setopt(c, CURLOPT_POST, 1L);
    curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, r->method);
    curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.n);
    curl_easy_setopt(c, CURLOPT_POSTFIELDS, call->body.n ? call->body.p : "");
}

static void set_body(struct http_call *call)
{
    CURL *c = call->easy;

    add_header(call, "Git-Protocol: version=2");
    if (call->query.n) {
        curl_easy_setopt(c, CURLOPT_HTTPGET, 1L);
        return;
    }
    add_header(call, "Content-Type: application/x-git-upload-pack-request");
    add_header(call, "Accept: application/x-git-upload-pack-result");
    add_header(call, "Expect:");
    compress_body(call);
    curl_easy_setopt(c, CURLOPT_POST, 1L);
    curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.n);
    curl_easy_setopt(c, CURLOPT_POSTFIELDS, call->body.p);
}

static void set_limits(struct http *h, const struct http_call *call)
{
    static const struct http_request none = {0};
    const struct http_request *r = call->request ? call->request : &none;
    uint64_t left = http_time_left(h) + 1;
    uint64_t stall = h->limits->transfer_stall_seconds.value;
    CURL *c = call->easy;

    if (call->max_seconds && left > call->max_seconds * 1000)
        left = call->max_seconds * 1000;
    if (r->stall_seconds) /* leave time for the git host */
        left = left / 2 + 1;
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT,
                     r->connect_seconds ? (long)r->connect_seconds
                                        : (long)CONNECT_MAX_SECONDS);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT,
                     r->stall_bytes_per_second ? (long)r->stall_bytes_per_second
                                               : (long)STALL_BYTES_PER_SECOND);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME,
                     r->stall_seconds ? (long)r->stall_seconds : (long)stall);
    curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)left);
}

/* libcurl still copies it for each request: 0.2 MB for a system's bundle. */
static void set_bundle(CURL *c, CURLoption option, struct str pem)
{
    struct curl_blob blob = {(void *)(uintptr_t)pem.p, pem.n, CURL_BLOB_NOCOPY};

    if (pem.n)
        curl_easy_setopt(c, option, &blob);
}

/* Returns the certificate authorities of the system, without the user's. */
static const struct system_ca *system_ca(const struct settings *s)
{
    struct system_ca *ca = s->system_ca;
    const curl_version_info_data *v;

    if (!ca->is_known) {
        v = curl_version_info(CURLVERSION_NOW);
        if (v->age >= CURLVERSION_SEVENTH) {
            ca->bundle = system_ca_bundle(v->cainfo);
            ca->is_in_folder = system_ca_is_in_folder(ca->bundle, v->capath);
        }
        ca->is_known = true;
    }
    return ca;
}

/* If no bundle is set, libcurl uses its built-in default. */
static void set_system_ca(CURL *c, const struct system_ca *ca)
{
    if (ca->is_in_folder)
        curl_easy_setopt(c, CURLOPT_CAINFO, NULL);
    else if (ca->bundle)
        curl_easy_setopt(c, CURLOPT_CAINFO, ca->bundle);
}

bool http_set_trust(void *easy, const struct settings *s, const struct url *u,
                    struct arena *a, struct err *e)
{
    CURL *c = easy;
    struct settings_ca ca;
    struct str proxy = settings_proxy(s, u);

    if (!settings_ca(s, u, &ca, e))
        return false;
    curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (url_is_secure(u) && !ca.bundle.n && !ca.folder.n)
        set_system_ca(c, system_ca(s));
    if (url_is_secure(u))
        set_bundle(c, CURLOPT_CAINFO_BLOB, ca.bundle);
    if (settings_may_use_proxy(s, u))
        set_bundle(c, CURLOPT_PROXY_CAINFO_BLOB, ca.bundle);
    if (ca.folder.n)
        curl_easy_setopt(c, CURLOPT_CAPATH, str_dup0(ca.folder, a));
    if (proxy.p) {
        curl_easy_setopt(c, CURLOPT_PROXY, str_dup0(proxy, a));
        curl_easy_setopt(c, CURLOPT_PROXYAUTH, (long)CURLAUTH_ANY);
    }
    return true;
}

static struct str address(struct http_call *call)
{
    struct str text = url_format(call->url, &call->arena);

    if (call->request)
        return str_cstr(str_dup0(call->request->address, &call->arena));
    if (call->query.n == 0)
        return arena_printf(&call->arena, "%.*s/git-upload-pack",
                            STR_ARG(text));
    return arena_printf(&call->arena, "%.*s/info/refs?%.*s", STR_ARG(text),
                        STR_ARG(call->query));
}

static bool may_reach(const struct http_call *call, const struct sockaddr *to)
{
    if (call->loopback_only)
        return address_is_loopback(to);
    return address_is_public(to) ||
           (call->loopback_too && address_is_loopback(to));
}

/* Rejects forbidden addresses; libcurl then tries the next address of the
 * name. */
static curl_socket_t open_allowed(void *ctx, curlsocktype purpose,
                                  struct curl_sockaddr *to)
{
    struct http_call *call = ctx;

    (void)purpose;
    if (!may_reach(call, &to->addr)) {
        address_format(&to->addr, call->private_address);
        return CURL_SOCKET_BAD;
    }
    return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

/* Checks no addresses with a proxy: it resolves names itself, and the user
 * chose it. */
static void set_addresses(struct http *h, struct http_call *call)
{
    if (call->loopback_only)
        curl_easy_setopt(call->easy, CURLOPT_NOPROXY, "*");
    else if (!call->public_only ||
             settings_may_use_proxy(h->settings, call->url))
        return;
    curl_easy_setopt(call->easy, CURLOPT_OPENSOCKETFUNCTION, open_allowed);
    curl_easy_setopt(call->easy, CURLOPT_OPENSOCKETDATA, call);
}

static void set_who(struct http_call *call)
{
    CURL *c = call->easy;

    if (call->password.n == 0 && call->user.n == 0)
        return;
    curl_easy_setopt(c, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
    curl_easy_setopt(c, CURLOPT_USERNAME, str_dup0(call->user, &call->arena));
    curl_easy_setopt(c, CURLOPT_PASSWORD,
                     str_dup0(call->password, &call->arena));
}

bool http_start(struct http *h, struct http_call *call, struct err *e)
{
    CURL *c = curl_easy_init();
    bool secure = url_is_secure(call->url);

    call->http = h;
    call->easy = c;
    curl_easy_setopt(c, CURLOPT_PRIVATE, call);
    curl_easy_setopt(c, CURLOPT_URL, address(call).p);
    curl_easy_setopt(c, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, secure ? "https" : "http");
    curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(c, CURLOPT_PIPEWAIT, secure ? 1L : 0L);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
    curl_easy_setopt(c, CURLOPT_USERAGENT, AGENT);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, call->why);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, call);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, call);
    set_limits(h, call);
    set_addresses(h, call);
    if (call->request)
        set_request(call);
    else
        set_body(call);
    if (call->has_own_headers && (secure || url_is_loopback(call->url)))
        add_own_headers(call, h->settings);
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, call->headers);
    set_who(call);
    if (!http_set_trust(c, h->settings, call->url, &call->arena, e))
        return false;
    curl_multi_add_handle(h->multi, c);
    http_count_request(h);
    return true;
}

void http_call_type(struct http_call *call)
{
    const char *type = NULL;

    curl_easy_getinfo(call->easy, CURLINFO_CONTENT_TYPE, &type);
    call->type = str_lower(str_cstr(type), &call->arena);
}

/* Reads a header whose value is one integer. */
static bool read_number(struct http_call *call, const char *name, uint64_t max,
                        uint64_t *out)
{
    struct curl_header *h;

    return curl_easy_header(call->easy, name, 0, CURLH_HEADER, -1, &h) ==
               CURLHE_OK &&
           str_number(str_cstr(h->value), max, out);
}

/* Accepts a time since 1970, as GitHub and GitLab send it, or seconds from
 * now. */
static uint64_t reset_time(uint64_t value)
{
    return value < RATE_RESET_IS_TIME ? (uint64_t)time(NULL) + value : value;
}

/* Reads GitHub's primary rate limit, which comes without Retry-After, and the
 * same headers without "x-" of other hosts. */
static void read_rate_limit(struct http_call *call)
{
    static const char *const names[][2] = {
        {"x-ratelimit-remaining", "x-ratelimit-reset"},
        {"ratelimit-remaining", "ratelimit-reset"},
    };
    uint64_t remaining, reset;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!read_number(call, names[i][0], UINT32_MAX, &remaining) ||
            remaining != 0)
            continue;
        call->is_rate_limited = true;
        if (read_number(call, names[i][1], RATE_RESET_MAX, &reset))
            call->rate_reset_s = reset_time(reset);
        return;
    }
}

/* Joins all headers, one per line: a server may offer Basic and Bearer. */
static void read_challenge(struct http_call *call)
{
    struct curl_header *h;
    size_t count = 1;

    for (size_t i = 0; i < count; i++) {
        if (curl_easy_header(call->easy, "WWW-Authenticate", i, CURLH_HEADER,
                             -1, &h) != CURLHE_OK)
            return;
        count = h->amount;
        call->challenge =
            arena_join(call->challenge, "\n", str_cstr(h->value), &call->arena);
    }
}

/* Resolves the Location of an upload. libcurl does so only for redirects. */
static void read_location(struct http_call *call)
{
    struct curl_header *h;
    CURLU *u = curl_url();
    char *text = NULL;

    if (curl_easy_header(call->easy, "Location", 0, CURLH_HEADER, -1, &h) ==
            CURLHE_OK &&
        curl_url_set(u, CURLUPART_URL,
                     str_dup0(call->request->address, &call->arena),
                     0) == CURLUE_OK &&
        curl_url_set(u, CURLUPART_URL, h->value, 0) == CURLUE_OK &&
        curl_url_get(u, CURLUPART_URL, &text, 0) == CURLUE_OK)
        call->location = arena_str(&call->arena, str_cstr(text));
    curl_free(text);
    curl_url_cleanup(u);
}

static void read_result(struct http_call *call)
{
    CURL *c = call->easy;
    char *location = NULL;
    curl_off_t wait = 0, took = 0;
    long connects = 0;

    curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &call->status);
    http_call_type(call);
    curl_easy_getinfo(c, CURLINFO_REDIRECT_URL, &location);
    curl_easy_getinfo(c, CURLINFO_RETRY_AFTER, &wait);
    curl_easy_getinfo(c, CURLINFO_TOTAL_TIME_T, &took);
    curl_easy_getinfo(c, CURLINFO_NUM_CONNECTS, &connects);
    call->location = arena_str(&call->arena, str_cstr(location));
    call->retry_after_s = wait < 0                 ? 0
                          : wait > RETRY_AFTER_MAX ? RETRY_AFTER_MAX
                                                   : (unsigned)wait;
    if (call->status != HTTP_STATUS_OK)
        read_rate_limit(call);
    if (call->request && call->status == HTTP_STATUS_UNAUTHORIZED)
        read_challenge(call);
    if (call->request && !call->location.n)
        read_location(call);
    call->took_ms = (uint64_t)took / 1000;
    call->http->counts.connections += (uint64_t)connects;
}

struct http_call *http_next(struct http *h)
{
    int running, left;
    CURLMsg *m;
    struct http_call *call = NULL;

    curl_multi_perform(h->multi, &running);
    while ((m = curl_multi_info_read(h->multi, &left)) != NULL) {
        if (m->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &call);
        call->failure = (int)m->data.result;
        read_result(call);
        curl_multi_remove_handle(h->multi, call->easy);
        return call;
    }
    return NULL;
}

void http_wait(struct http *h, const struct pollfd *others, size_t count,
               unsigned max_ms)
{
    struct curl_waitfd extra[WAIT_MAX_FDS];

    count = count < WAIT_MAX_FDS ? count : WAIT_MAX_FDS;
    for (size_t i = 0; i < count; i++) {
        extra[i] = (struct curl_waitfd){.fd = others[i].fd,
                                        .events = CURL_WAIT_POLLIN};
        if (others[i].events & POLLOUT)
            extra[i].events |= CURL_WAIT_POLLOUT;
    }
    curl_multi_poll(h->multi, extra, (unsigned)count, (int)max_ms, NULL);
}

struct http_counts http_counts(const struct http *h)
{
    return h->counts;
}

void http_call_done(struct http_call *call)
{
    if (call->easy) {
        curl_multi_remove_handle(call->http->multi, call->easy);
        curl_easy_cleanup(call->easy);
    }
    curl_slist_free_all(call->headers);
    arena_done(&call->arena);
    *call = (struct http_call){0};
}

/* clang-format off */
static const struct failure {
    CURLcode code;
    enum err_code err;
    bool may_retry;
} failures[] = {
    {CURLE_COULDNT_RESOLVE_HOST,     ERR_HOST,  false},
    {CURLE_COULDNT_RESOLVE_PROXY,    ERR_HOST,  false},
    {CURLE_COULDNT_CONNECT,          ERR_FETCH, true},
    {CURLE_SSL_CONNECT_ERROR,        ERR_TLS,   false},
    {CURLE_PEER_FAILED_VERIFICATION, ERR_TLS,   false},
    {CURLE_SSL_CERTPROBLEM,          ERR_TLS,   false},
    {CURLE_SSL_CACERT_BADFILE,       ERR_TLS,   false},
    {CURLE_SSL_CIPHER,               ERR_TLS,   false},
    {CURLE_USE_SSL_FAILED,           ERR_TLS,   false},
    {CURLE_SSL_ISSUER_ERROR,         ERR_TLS,   false},
    {CURLE_SSL_INVALIDCERTSTATUS,    ERR_TLS,   false},
    {CURLE_OPERATION_TIMEDOUT,       ERR_FETCH, true},
    {CURLE_GOT_NOTHING,              ERR_FETCH, true},
    {CURLE_SEND_ERROR,               ERR_FETCH, true},
    {CURLE_RECV_ERROR,               ERR_FETCH, true},
    {CURLE_PARTIAL_FILE,             ERR_FETCH, true},
    {CURLE_HTTP2,                    ERR_FETCH, true},
    {CURLE_HTTP2_STREAM,             ERR_FETCH, true},
};
/* clang-format on */

static const struct failure *find_failure(int code)
{
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if ((int)failures[i].code == code)
            return &failures[i];
    return NULL;
}

bool http_may_retry(const struct http_call *call)
{
    const struct failure *f = find_failure(call->failure);

    return f && f->may_retry && !call->private_address[0] &&
           http_time_left(call->http) > 0;
}

bool http_was_slow(const struct http_call *call)
{
    return call->failure == CURLE_OPERATION_TIMEDOUT;
}

bool http_fail_curl(int failure, const char *why, const struct settings *s,
                    struct err *e)
{
    const struct failure *f = find_failure(failure);
    enum err_code code = f ? f->err : ERR_FETCH;

    err_set(e, code, "%s",
            why[0] ? why : curl_easy_strerror((CURLcode)failure));
    if (code == ERR_TLS)
        err_hint(e, "%s",
                 s->wants_no_verify
                     ? "verification cannot be switched off; name the "
                       "authority's certificate in http.sslCAInfo"
                     : "an authority of your own is named in http.sslCAInfo");
    return false;
}

bool http_fail(const struct http_call *call, struct err *e)
{
    if (!(call->request ? check_store(call->http, e)
                        : http_check_limits(call->http, e)))
        return false;
    if (call->header_bytes > HEADERS_MAX_BYTES)
        return err_set(e, ERR_LIMIT, "more than %u KiB of HTTP headers",
                       HEADERS_MAX_BYTES >> 10);
    if (call->private_address[0]) {
        err_set(e, ERR_REFUSED, "its name leads to %s, a private address",
                call->private_address);
        return err_hint(e, "if that is right, name it under hosts: in your "
                           "own ~/.config/mapm/config.yaml");
    }
    return http_fail_curl(call->failure, call->why, call->http->settings, e);
}
