#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/name.h"
#include "mapm/well_known.h"

#include "origin.h"

/* Parses the origins of an index that a host publishes, and of a skill in it:
 * https://<host>/.well-known/agent-skills/index.json?skill=<name> http: is
 * accepted only for this machine. Source: X42. */

#define PART "skill="

struct str origin_of_index(struct str url, struct str name, struct arena *a)
{
    return arena_printf(a, "%.*s?" PART "%.*s", STR_ARG(url), STR_ARG(name));
}

struct str origin_index_url(const struct origin *o)
{
    return str_slice(o->text, 0, str_find_char(o->text, '?'));
}

bool origin_is_of_index(struct str text)
{
    size_t at = str_find_char(text, '?');

    return at != SIZE_MAX &&
           str_starts(str_from_index(text, at), STR("?" PART));
}

/* Returns true for the URL of an index. On a git host such a URL is the page of
 * a file. */
bool origin_is_index(struct str text, const struct origin_rules *rules)
{
    struct str host = well_known_host(text);
    struct str path = str_from_index(text, (size_t)(host.p - text.p) + host.n);
    struct origin o = {.host = str_slice(host, 0, str_find_char(host, ':'))};

    if (!str_starts(text, STR("https://")) && !str_starts(text, STR("http://")))
        return false;
    return str_ends(path, STR(WELL_KNOWN_PATH)) ||
           (str_ends(path, STR("/index.json")) &&
            str_find(path, STR("/tree/")) == SIZE_MAX &&
            !origin_host_is_known(&o, rules));
}

static const char *url_fault(struct str url)
{
    if (str_has_char(url, '#'))
        return "has a fragment (\"#\")";
    if (str_has_char(url, '%') || str_has_char(url, '"') ||
        str_has_char(url, '\''))
        return "its address has characters that are not allowed";
    if (str_find(well_known_host(url), STR("@")) != SIZE_MAX)
        return "has a user name or password: an index is public";
    return NULL;
}

/* Returns the text after the host and its "/". */
static struct str path_of(struct str url)
{
    struct str host = well_known_host(url);

    return str_from_index(url, (size_t)(host.p - url.p) + host.n + 1);
}

/* Returns the URL without port 443 if it is an https: URL. */
static struct str canonical(struct str url, const struct origin *o,
                            struct arena *a)
{
    struct str host = well_known_host(url);
    size_t at = (size_t)(host.p - url.p);

    if (!str_starts(url, STR("https:")))
        return url;
    return arena_printf(a, "%.*s%.*s%.*s", STR_ARG(str_slice(url, 0, at)),
                        STR_ARG(origin_authority(o, a)),
                        STR_ARG(str_from_index(url, at + host.n)));
}

bool origin_parse_index(struct str text, struct arena *a, struct origin *out,
                        struct err *e)
{
    size_t at = str_find(text, STR("?" PART));
    struct str url = str_slice(text, 0, at), checked;
    struct str name =
        at == SIZE_MAX ? STR("") : str_from_index(text, at + strlen("?" PART));
    struct origin o = {.scheme = ORIGIN_INDEX};
    const char *fault = url_fault(url);

    if (fault)
        return origin_refuse(text, fault, e);
    if (at != SIZE_MAX && !name_is_kebab(name))
        return origin_refuse(text, "names no skill of an index", e);
    if (str_has_char(url, '?') || !str_ends(url, STR("/index.json")))
        return origin_refuse(text, "its address does not end in /index.json",
                             e);
    if (!well_known_url(url, a, &checked, e))
        return false;
    fault = origin_read_authority(well_known_host(url), &o, a);
    if (fault)
        return origin_refuse(text, fault, e);
    url = canonical(url, &o, a);
    fault = origin_path_fault(path_of(url));
    if (fault)
        return origin_refuse(text, fault, e);
    o.repository = path_of(url);
    o.path = arena_str(a, name);
    o.text = o.key = url;
    *out = name.n ? origin_with_part(&o, str_join(STR(PART), o.path, a), a) : o;
    return true;
}
