#include "url.h"

#include "mapm/origin.h"

#include <curl/curl.h>
#include <string.h>

static void handle_done(CURLU **h)
{
    curl_url_cleanup(*h);
}

/* Returns one part, allocated in `a`; empty if absent. */
static struct str part(CURLU *h, CURLUPart what, unsigned flags,
                       struct arena *a)
{
    char *text = NULL;
    struct str s = {"", 0};

    if (curl_url_get(h, what, &text, flags) == CURLUE_OK && text)
        s = arena_str(a, str_cstr(text));
    curl_free(text);
    return s;
}

bool url_parse(struct str text, struct arena *a, struct url *out)
{
    CLEANUP(handle_done) CURLU *h = curl_url();
    uint64_t port = 0;

    if (h == NULL || text.n == 0 || memchr(text.p, '\0', text.n) ||
        curl_url_set(h, CURLUPART_URL, str_dup0(text, a),
                     CURLU_NON_SUPPORT_SCHEME | CURLU_PATH_AS_IS) != CURLUE_OK)
        return false;
    out->scheme = str_lower(part(h, CURLUPART_SCHEME, 0, a), a);
    out->user = part(h, CURLUPART_USER, CURLU_URLDECODE, a);
    out->password = part(h, CURLUPART_PASSWORD, CURLU_URLDECODE, a);
    out->host = str_lower(part(h, CURLUPART_HOST, 0, a), a);
    out->path = part(h, CURLUPART_PATH, 0, a);
    if (!str_number(part(h, CURLUPART_PORT, CURLU_DEFAULT_PORT, a), 65535,
                    &port))
        port = 0;
    out->port = (unsigned)port;
    return true;
}

static bool has_own_port(const struct url *u)
{
    return (str_is(u->scheme, "https") && u->port == 443) ||
           (str_is(u->scheme, "http") && u->port == 80) || u->port == 0;
}

struct str url_host_port(const struct url *u, struct arena *a)
{
    if (has_own_port(u))
        return u->host;
    return arena_printf(a, "%.*s:%u", STR_ARG(u->host), u->port);
}

struct str url_format(const struct url *u, struct arena *a)
{
    /* An ssh user is no secret; a path may be relative to a home directory. */
    if (url_is_ssh(u))
        return arena_printf(a, "ssh://%.*s%s%.*s%s%.*s", STR_ARG(u->user),
                            u->user.n ? "@" : "", STR_ARG(url_host_port(u, a)),
                            str_starts(u->path, STR("/")) ? "" : "/",
                            STR_ARG(u->path));
    return arena_printf(a, "%.*s://%.*s%.*s", STR_ARG(u->scheme),
                        STR_ARG(url_host_port(u, a)), STR_ARG(u->path));
}

bool url_is_secure(const struct url *u)
{
    return str_is(u->scheme, "https");
}

bool url_is_ssh(const struct url *u)
{
    return str_is(u->scheme, SSH_SCHEME);
}

bool url_is_loopback(const struct url *u)
{
    return origin_host_is_loopback(u->host);
}

bool url_same_place(const struct url *x, const struct url *y)
{
    return str_eq(x->scheme, y->scheme) && str_eq(x->host, y->host) &&
           x->port == y->port;
}
