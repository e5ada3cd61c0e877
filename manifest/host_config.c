#include "mapm/host_config.h"

#include "base/text.h"
#include "mapm/name.h"

#define HOST_MIN_LABELS 2
#define LABEL_MAX_CHARS 63

static bool is_label(struct str s)
{
    if (s.n == 0 || s.n > LABEL_MAX_CHARS || s.p[0] == '-' ||
        s.p[s.n - 1] == '-')
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!char_is_lower(s.p[i]) && !char_is_digit(s.p[i]) && s.p[i] != '-')
            return false;
    return true;
}

bool host_name_is_valid(struct str host)
{
    struct str rest = host, label;
    size_t labels = 0;

    for (; str_cut(&rest, '.', &label); labels++)
        if (!is_label(label))
            return false;
    return host.n <= HOST_MAX_CHARS && labels >= HOST_MIN_LABELS;
}

bool host_transport_parse(struct str text, enum host_transport *out)
{
    if (str_is(text, "https"))
        *out = HOST_OVER_HTTPS;
    else if (str_is(text, "ssh"))
        *out = HOST_OVER_SSH;
    else
        return false;
    return true;
}

bool host_token_parse(struct str text, enum host_token *token,
                      struct str *variable)
{
    *variable = str_make("", 0);
    if (str_is(text, "git")) {
        *token = HOST_TOKEN_GIT;
    } else if (str_is(text, "none")) {
        *token = HOST_TOKEN_NONE;
    } else {
        *token = HOST_TOKEN_VARIABLE;
        *variable = str_from_index(text, text.n < 4 ? text.n : 4);
        return str_starts(text, STR("env:")) && name_is_variable(*variable);
    }
    return true;
}

struct str host_token_text(const struct host_config *h, struct arena *a)
{
    switch (h->token) {
    case HOST_TOKEN_VARIABLE:
        return str_join(STR("env:"), h->variable, a);
    case HOST_TOKEN_GIT:
        return STR("git");
    case HOST_TOKEN_NONE:
        return STR("none");
    default:
        return STR("");
    }
}

bool host_port_parse(struct str text, unsigned *out)
{
    uint64_t port;

    if (!str_number(text, 65535, &port) || port == 0 || text.p[0] == '0')
        return false;
    *out = (unsigned)port;
    return true;
}

const struct host_config *
host_config_find(struct str host, const struct host_config *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq_nocase(host, list[i].host))
            return &list[i];
    return NULL;
}

void host_config_allow(struct host_config *h, enum host_transport transport,
                       unsigned port)
{
    if (transport == HOST_OVER_SSH && h->transport != HOST_OVER_SSH) {
        h->transport = transport;
        h->port = port;
    } else if (port && h->port_count < HOST_MAX_PORTS) {
        h->ports[h->port_count++] = port;
    }
}

/* Returns "/a/b/?x#y" as "a/b": without query, fragment and outer slashes. */
static struct str plain_path(struct str path)
{
    path = str_slice(path, 0, str_find_char(path, '#'));
    path = str_slice(path, 0, str_find_char(path, '?'));
    while (path.n && path.p[0] == '/')
        path = str_from_index(path, 1);
    while (path.n && path.p[path.n - 1] == '/')
        path.n--;
    return path;
}

/* The last kind is plain git: a ".git" suffix says nothing about the host, so
 * that kind is not tried. A match of the repository's address is preferred to a
 * match of a page. */
const struct git_host *host_kind_by_shape(struct str host, struct str path)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct git_host *by_page = NULL;
    struct git_host_match found;

    path = plain_path(path);
    for (size_t i = 0; i + 1 < git_host_count; i++) {
        const struct git_host *g = &git_hosts[i];

        if (!git_host_match(g, HOST_OVER_HTTPS, host, path, &scratch, &found))
            continue;
        if (found.by_address)
            return g;
        if (!by_page && (found.is_telling || (i == 0 && found.page)))
            by_page = g;
    }
    return by_page;
}

const struct git_host *git_host_of_kind(struct str name)
{
    for (size_t i = 0; i < git_host_count; i++)
        for (size_t k = 0; k < GIT_HOST_MAX_NAMES && git_hosts[i].names[k]; k++)
            if (str_is(name, git_hosts[i].names[k]))
                return &git_hosts[i];
    return NULL;
}

struct str git_host_kind_name(const struct git_host *kind)
{
    return str_cstr(kind->names[0]);
}

struct str git_host_kinds(const char *between, struct arena *a)
{
    struct str all = STR("");

    for (size_t i = 0; i < git_host_count; i++)
        all = arena_join(all, between, git_host_kind_name(&git_hosts[i]), a);
    return all;
}

bool git_host_home(const struct git_host *kind, size_t index, struct str *host)
{
    *host = str_cstr(index < GIT_HOST_MAX_HOMES ? kind->homes[index] : NULL);
    return host->n > 0;
}
