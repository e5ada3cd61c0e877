#include "mapm/team_remote.h"

#include "base/address.h"
#include "base/text.h"
#include "mapm/host_config.h"
#include "mapm/origin.h"

#include <string.h>

#define REPOSITORY_MAX_CHARS 255 /* limit of registries */
#define REMOTE_HOST_MAX      253

bool team_remote_may_be_private(const struct team_remote *t)
{
    return t->source == TEAM_FROM_CONFIG;
}

bool team_remote_may_be_loopback(const struct team_remote *t)
{
    return t->source != TEAM_FROM_WORKSPACE;
}

bool team_remote_may_have_token(const struct team_remote *t)
{
    return t->source != TEAM_FROM_WORKSPACE;
}

/* --- a URL, in parts --------------------------------------------------------- */

struct parts {
    struct str scheme, host, path; /* `path` without "/" at both ends */
    unsigned port;                 /* 0 for the default of the scheme */
};

static bool is_host_char(char c, bool is_address)
{
    return char_is_hex(c) || char_is_digit(c) ||
           (is_address ? c == ':' || c == '.'
                       : char_is_lower(c) || c == '-' || c == '.');
}

/* Returns true for a name of any number of labels, an IPv4 address, or an IPv6
 * address in brackets. The resolved address is checked when connecting. */
static bool is_host(struct str s)
{
    bool is_address = s.n > 2 && s.p[0] == '[' && s.p[s.n - 1] == ']';

    if (is_address)
        s = str_slice(s, 1, s.n - 1);
    else if (s.n == 0 || s.p[0] == '-' || s.p[0] == '.' ||
             s.p[s.n - 1] == '.' || str_find(s, STR("..")) != SIZE_MAX)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_host_char(s.p[i], is_address))
            return false;
    return s.n <= REMOTE_HOST_MAX;
}

static bool cut_port(struct parts *p, const char **why)
{
    size_t colon = str_find_last(p->host, ':');
    unsigned own = str_is(p->scheme, "http") ? 80 : 443;

    if (colon == SIZE_MAX || str_has_char(str_from_index(p->host, colon), ']'))
        return true;
    if (!host_port_parse(str_from_index(p->host, colon + 1), &p->port)) {
        *why = "its port is not a number from 1 to 65535";
        return false;
    }
    p->host = str_slice(p->host, 0, colon);
    if (p->port == own && !str_is(p->scheme, "oci"))
        p->port = 0;
    return true;
}

/* Returns true if the path has only characters without a special meaning in
 * requests and messages. */
static bool is_path(struct str path)
{
    struct str segment;

    for (size_t i = 0; i < path.n; i++)
        if (!char_is_alpha(path.p[i]) && !char_is_digit(path.p[i]) &&
            !strchr("-._~!$&'()*+,;=:@/%", path.p[i]))
            return false;
    while (path.n && str_cut(&path, '/', &segment))
        if (segment.n == 0 || str_is(segment, ".") || str_is(segment, ".."))
            return false;
    return true;
}

/* [a-z0-9]+((\.|_|__|-+)[a-z0-9]+)* */
static bool is_component(struct str s)
{
    size_t i = 0, from;

    for (;;) {
        for (from = i;
             i < s.n && (char_is_lower(s.p[i]) || char_is_digit(s.p[i]));)
            i++;
        if (i == from)
            return false;
        if (i == s.n)
            return true;
        if (s.p[i] == '-')
            while (i < s.n && s.p[i] == '-')
                i++;
        else if (str_starts(str_from_index(s, i), STR("__")))
            i += 2;
        else if (s.p[i] == '.' || s.p[i] == '_')
            i++;
        else
            return false;
    }
}

static bool is_repository(struct str path)
{
    struct str rest = path, segment;

    while (str_cut(&rest, '/', &segment))
        if (!is_component(segment))
            return false;
    return path.n <= REPOSITORY_MAX_CHARS;
}

/* --- the whole ------------------------------------------------------------- */

static const char *split(struct str text, struct arena *a, struct parts *p)
{
    size_t end = str_find(text, STR("://")), slash;
    const char *why = NULL;
    struct str rest;

    if (end == SIZE_MAX)
        return "it does not begin with oci:// or https://";
    p->scheme = str_lower(str_slice(text, 0, end), a);
    rest = str_from_index(text, end + 3);
    slash = str_find_char(rest, '/');
    p->host =
        str_lower(str_slice(rest, 0, slash == SIZE_MAX ? rest.n : slash), a);
    p->path = str_from_index(rest, slash == SIZE_MAX ? rest.n : slash + 1);
    while (p->path.n && p->path.p[p->path.n - 1] == '/')
        p->path.n--;
    if (str_has_char(p->host, '@'))
        return "a user or password does not stand in it";
    if (!cut_port(p, &why))
        return why;
    return is_host(p->host) ? NULL : "its host is not a name or an address";
}

static const char here[] =
    "only config.yaml and MAPM_STORE may name this machine";
static const char private[] = "only config.yaml may name a private address";

/* Returns true for an address in digits. What a name resolves to is checked when
 * connecting. */
static bool is_private(struct str host)
{
    struct sockaddr_storage address;

    return address_parse(host, &address) &&
           !address_is_public((const struct sockaddr *)&address);
}

static const char *check(const struct parts *p, enum team_remote_source source)
{
    bool is_here = origin_host_is_loopback(p->host);

    if (str_is(p->scheme, "oci")) {
        if (p->path.n == 0)
            return "it names no repository";
        if (!is_repository(p->path))
            return "the repository is not of lower-case letters and digits, "
                   "with \".\", \"_\", \"-\" and \"/\" between them";
    } else if (!str_is(p->scheme, "https") && !str_is(p->scheme, "http")) {
        return "it does not begin with oci:// or https://";
    } else if (!is_path(p->path)) {
        return "its path has characters, or segments, that it may not have";
    }
    if (str_is(p->scheme, "http") && !is_here)
        return "plain http is for this machine alone";
    if (is_here)
        return source == TEAM_FROM_WORKSPACE ? here : NULL;
    return source != TEAM_FROM_CONFIG && is_private(p->host) ? private : NULL;
}

static bool fail(struct str text, const char *why, struct err *e)
{
    size_t at = str_find_last(text, '@');

    /* do not print the text before "@": it may contain a password */
    err_set(
        e, ERR_FORMAT, "not the URL of a store: \"%s%.*s\": %s",
        at == SIZE_MAX ? "" : "...",
        STR_ARG(text_cut(str_from_index(text, at == SIZE_MAX ? 0 : at), 80)),
        why);
    if (why == here || why == private)
        return err_hint(e, "move it to store: in your own "
                           "~/.config/mapm/config.yaml");
    return err_hint(e, "write oci://host/repository for a registry, or "
                       "https://host/path for a folder on a web server");
}

bool team_remote_parse(struct str text, enum team_remote_source source,
                       struct arena *a, struct team_remote *out, struct err *e)
{
    struct parts p = {0};
    struct team_remote t = {.source = source};
    const char *why = "it is too long, or has control characters";

    if (text.n <= TEAM_REMOTE_MAX_BYTES && !text_has_control(text)) {
        why = split(text, a, &p);
        why = why ? why : check(&p, source);
    }
    if (why)
        return fail(text, why, e);
    t.kind = str_is(p.scheme, "oci") ? TEAM_REGISTRY : TEAM_FOLDER;
    t.is_plain = str_is(p.scheme, "http") ||
                 (t.kind == TEAM_REGISTRY && origin_host_is_loopback(p.host));
    t.host = p.port ? arena_printf(a, "%.*s:%u", STR_ARG(p.host), p.port)
                    : arena_str(a, p.host);
    t.url = arena_printf(a, "%.*s://%.*s%s%.*s", STR_ARG(p.scheme),
                         STR_ARG(t.host), p.path.n ? "/" : "", STR_ARG(p.path));
    t.base = arena_printf(a, "%s://%.*s", t.is_plain ? "http" : "https",
                          STR_ARG(t.host));
    if (t.kind == TEAM_REGISTRY)
        t.repository = arena_str(a, p.path);
    else
        t.base = t.url;
    *out = t;
    return true;
}

/* --- lists ------------------------------------------------------------------- */

static struct team_remote *find(const struct team_remotes *list, struct str url)
{
    for (size_t i = 0; i < list->count; i++)
        if (str_eq(list->items[i].url, url))
            return &list->items[i];
    return NULL;
}

bool team_remotes_add(struct team_remotes *list, const struct team_remote *more,
                      size_t count, struct arena *a, struct err *e)
{
    struct team_remotes all = {
        arena_array(a, list->count + count + 1, sizeof *all.items), list->count,
        list->only};

    for (size_t i = 0; i < list->count; i++)
        all.items[i] = list->items[i];
    for (size_t i = 0; i < count; i++) {
        struct team_remote *known = find(&all, more[i].url);

        if (!known)
            all.items[all.count++] = more[i];
        else if (more[i].source < known->source)
            known->source = more[i].source;
    }
    if (all.count > TEAM_REMOTES_MAX)
        return err_set(e, ERR_LIMIT, "more than %d stores", TEAM_REMOTES_MAX);
    *list = all;
    return true;
}

bool team_remotes_parse(struct str text, enum team_remote_source source,
                        struct arena *a, struct team_remotes *out,
                        struct err *e)
{
    struct team_remotes list = {0};
    struct str word;

    while (str_cut(&text, ' ', &word)) {
        struct team_remote t;

        if (word.n && (!team_remote_parse(word, source, a, &t, e) ||
                       !team_remotes_add(&list, &t, 1, a, e)))
            return false;
    }
    *out = list;
    return true;
}
