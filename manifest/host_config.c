#include "mapm/host_config.h"

#include "base/text.h"

#define HOST_MIN_LABELS 2
#define LABEL_MAX_CHARS 63
#define VARIABLE_MAX    128

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

static bool is_variable(struct str s)
{
    if (s.n == 0 || s.n > VARIABLE_MAX || char_is_digit(s.p[0]))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!char_is_alpha(s.p[i]) && !char_is_digit(s.p[i]) && s.p[i] != '_')
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
        return str_starts(text, STR("env:")) && is_variable(*variable);
    }
    return true;
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

const struct git_host *git_host_of_kind(struct str name)
{
    for (size_t i = 0; i < git_host_count; i++)
        for (size_t k = 0; k < GIT_HOST_MAX_NAMES && git_hosts[i].names[k]; k++)
            if (str_is(name, git_hosts[i].names[k]))
                return &git_hosts[i];
    return NULL;
}

struct str git_host_kinds(struct arena *a)
{
    struct str all = STR("");

    for (size_t i = 0; i < git_host_count; i++)
        all = arena_printf(a, "%.*s%s%.*s", STR_ARG(all), i ? ", " : "",
                           STR_ARG(str_cstr(git_hosts[i].names[0])));
    return all;
}
