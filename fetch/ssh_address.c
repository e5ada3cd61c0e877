#include "ssh_address.h"

#include "base/text.h"

#define PORT_MAX        65535
#define SHOWN_MAX_BYTES 200

static const char *const schemes[] = {"ssh://", "git+ssh://", "ssh+git://"};

/* Returns the text after the scheme; p is NULL if it is no ssh scheme. */
static struct str after_scheme(struct str text)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (str_starts(text, str_cstr(schemes[i])))
            return str_from_index(text, strlen(schemes[i]));
    return str_make(NULL, 0);
}

/* Finds the colon of "host:path", which precedes the first slash, as in git.
 * Skips the colons of an IPv6 address in brackets. */
static size_t scp_colon(struct str text)
{
    size_t slash = str_find_char(text, '/');
    size_t open = str_find_char(text, '['), close = str_find_char(text, ']');
    size_t from = 0;

    if (open != SIZE_MAX && close != SIZE_MAX && open < close && close < slash)
        from = close;
    for (size_t i = from; i < text.n && i < slash; i++)
        if (text.p[i] == ':')
            return i;
    return SIZE_MAX;
}

bool ssh_address_is_meant(struct str text)
{
    size_t colon;

    if (after_scheme(text).p)
        return true;
    colon = scp_colon(text);
    return colon != SIZE_MAX && str_find(text, STR("://")) == SIZE_MAX &&
           !str_starts(str_from_index(text, colon), STR("::"));
}

/* --- validation of the parts ---------------------------------------------- */

static bool is_of(struct str s, const char *others)
{
    for (size_t i = 0; i < s.n; i++)
        if (!char_is_alpha(s.p[i]) && !char_is_digit(s.p[i]) &&
            !str_has_char(str_cstr(others), s.p[i]))
            return false;
    return true;
}

static bool user_is_valid(struct str user)
{
    return user.n > 0 && user.n <= SSH_USER_MAX_BYTES && is_of(user, "_.+-") &&
           !str_has_char(STR(".+-"), user.p[0]);
}

/* Accepts a host name, an alias of ssh_config, or an IP address. */
static bool host_is_valid(struct str host, bool has_brackets)
{
    if (host.n == 0 || host.n > SSH_HOST_MAX_BYTES)
        return false;
    if (has_brackets)
        return is_of(host, ":.") && str_has_char(host, ':');
    return is_of(host, "_.-") && !str_has_char(STR("._-"), host.p[0]);
}

static bool path_is_valid(struct str path)
{
    struct str rest = path, part;
    bool any = false;

    if (path.n && path.p[0] == '/')
        rest = str_from_index(path, 1);
    while (str_cut(&rest, '/', &part)) {
        size_t tilde = str_find_last(part, '~');

        if (part.n == 0 && rest.p == NULL && any)
            break; /* a trailing slash, as in "r/" */
        if (part.n == 0 || str_is(part, ".") || str_is(part, "..") ||
            part.p[0] == '-' || !is_of(part, "._-+~ ") ||
            (tilde != SIZE_MAX && tilde > 0))
            return false;
        any = true;
    }
    return any;
}

static bool refuse(struct str text, const char *what, struct arena *a,
                   struct err *e)
{
    struct str shown = text_shown(str_slice(text, 0, SHOWN_MAX_BYTES), a);

    err_set(e, ERR_REFUSED, "invalid %s in \"%.*s\"", what, STR_ARG(shown));
    return err_hint(e, "ssh gets letters, digits, \".\", \"_\", \"-\" and "
                       "\"~\" alone, and nothing that begins with \"-\"");
}

/* --- parsing -------------------------------------------------------------- */

/* Parses "[user@]host"; the host may be in brackets. */
static bool take_place(struct str place, struct str text, struct arena *a,
                       struct ssh_address *out, struct err *e)
{
    size_t at = str_find_last(place, '@');
    struct str host = at == SIZE_MAX ? place : str_from_index(place, at + 1);
    bool has_brackets = str_starts(host, STR("[")) && str_ends(host, STR("]"));

    out->user = str_slice(place, 0, at == SIZE_MAX ? 0 : at);
    if (at != SIZE_MAX && !user_is_valid(out->user))
        return refuse(text, "user name", a, e);
    out->host = has_brackets ? str_slice(host, 1, host.n - 1) : host;
    return host_is_valid(out->host, has_brackets) ||
           refuse(text, "host name", a, e);
}

/* Decodes "%20", the only escape that is accepted in a path. */
static struct str decode(struct str path, struct arena *a)
{
    char *out = arena_text(a, path.p, path.n);
    size_t n = 0;

    for (size_t i = 0; i < path.n; i++) {
        bool is_blank = str_starts(str_from_index(path, i), STR("%20"));

        out[n++] = is_blank ? ' ' : path.p[i];
        i += is_blank ? 2 : 0;
    }
    return str_make(out, n);
}

static bool take_path(struct str path, struct str text, struct arena *a,
                      struct ssh_address *out, struct err *e)
{
    /* "/~user/r" names a path below that user's home. */
    if (str_starts(path, STR("/~")))
        path = str_from_index(path, 1);
    out->path = decode(path, a);
    return path_is_valid(out->path) || refuse(text, "path", a, e);
}

static bool parse_url(struct str rest, struct str text, struct arena *a,
                      struct ssh_address *out, struct err *e)
{
    size_t slash = str_find_char(rest, '/');
    struct str place = str_slice(rest, 0, slash == SIZE_MAX ? rest.n : slash);
    size_t at = str_find_last(place, '@'), colon = str_find_last(place, ':');
    uint64_t port;

    if (slash == SIZE_MAX)
        return refuse(text, "path", a, e);
    if (colon != SIZE_MAX && (at == SIZE_MAX || at < colon) &&
        !str_ends(place, STR("]"))) {
        if (!str_number(str_from_index(place, colon + 1), PORT_MAX, &port) ||
            port == 0)
            return refuse(text, "port", a, e);
        out->port = (unsigned)port;
        place = str_slice(place, 0, colon);
    }
    return take_place(place, text, a, out, e) &&
           take_path(str_from_index(rest, slash), text, a, out, e);
}

bool ssh_address_parse(struct str text, struct arena *a,
                       struct ssh_address *out, struct err *e)
{
    struct str rest = after_scheme(text);
    struct ssh_address s = {0};
    size_t colon = scp_colon(text);
    bool ok;

    if (text.n > SSH_URL_MAX_BYTES)
        return refuse(text, "length", a, e);
    if (rest.p)
        ok = parse_url(rest, text, a, &s, e);
    else if (ssh_address_is_meant(text))
        ok = take_place(str_slice(text, 0, colon), text, a, &s, e) &&
             take_path(str_from_index(text, colon + 1), text, a, &s, e);
    else
        ok = refuse(text, "address", a, e);
    if (ok)
        *out = s;
    return ok;
}

struct str ssh_address_place(const struct ssh_address *s, struct arena *a)
{
    bool has_brackets = str_has_char(s->host, ':');
    struct str port = s->port ? arena_printf(a, ":%u", s->port) : STR("");

    return arena_printf(a, "%.*s%s%s%.*s%s%.*s", STR_ARG(s->user),
                        s->user.n ? "@" : "", has_brackets ? "[" : "",
                        STR_ARG(s->host), has_brackets ? "]" : "",
                        STR_ARG(port));
}
