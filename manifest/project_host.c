#include "mapm/host_config.h"

#include "project_reader.h"

/* Reads `hosts:`, a list of names and of {host: NAME, kind: KIND, …} [H1,
 * H4]. */

static bool fail_value(struct project_reader *r, const struct yaml *y,
                       const char *want)
{
    return project_fail(r, y->line, "%.*s must be %s", STR_ARG(y->key), want);
}

static bool read_name(struct project_reader *r, const struct yaml *y,
                      struct host_config *out)
{
    if (!host_name_is_valid(y->text))
        return project_fail(
            r, y->line,
            "not a host's name in lower case, without port: \"%.*s\"",
            STR_ARG(project_excerpt(y->text)));
    out->host = y->text;
    return true;
}

static bool read_kind(struct project_reader *r, const struct yaml *y,
                      struct host_config *out)
{
    out->kind = git_host_of_kind(y->text);
    return out->kind || project_fail(r, y->line, "kind must be one of %.*s",
                                     STR_ARG(git_host_kinds(", ", r->a)));
}

static bool read_transport(struct project_reader *r, const struct yaml *y,
                           struct host_config *out)
{
    return host_transport_parse(y->text, &out->transport) ||
           fail_value(r, y, "https or ssh");
}

static bool read_port(struct project_reader *r, const struct yaml *y,
                      struct host_config *out)
{
    return host_port_parse(y->text, &out->port) ||
           fail_value(r, y, "a number from 1 to 65535");
}

static bool read_token(struct project_reader *r, const struct yaml *y,
                       struct host_config *out)
{
    if (host_token_parse(y->text, &out->token, &out->variable))
        return true;
    fail_value(r, y, "env:NAME, git or none");
    return err_hint(r->e, "the token itself must not be written here: name the "
                          "variable of the environment that has it");
}

static bool read_ports(struct project_reader *r, const struct yaml *y,
                       struct host_config *out)
{
    if (!project_want(r, y, YAML_SEQUENCE))
        return false;
    for (const struct yaml *item = y->first; item; item = item->next) {
        if (out->port_count == HOST_MAX_PORTS)
            return project_fail(r, item->line, "more than %d ports",
                                HOST_MAX_PORTS);
        if (item->kind != YAML_SCALAR ||
            !host_port_parse(item->text, &out->ports[out->port_count++]))
            return project_fail(r, item->line,
                                "a port must be a number from 1 to 65535");
    }
    return true;
}

static const struct host_key {
    struct str name;
    enum yaml_kind kind;
    bool (*read)(struct project_reader *r, const struct yaml *y,
                 struct host_config *out);
} host_keys[] = {
    {STR_INIT("host"), YAML_SCALAR, read_name},
    {STR_INIT("kind"), YAML_SCALAR, read_kind},
    {STR_INIT("transport"), YAML_SCALAR, read_transport},
    {STR_INIT("port"), YAML_SCALAR, read_port},
    {STR_INIT("token"), YAML_SCALAR, read_token},
    {STR_INIT("ports"), YAML_SEQUENCE, read_ports},
};

static bool read_key(struct project_reader *r, const struct yaml *y,
                     struct host_config *out)
{
    for (size_t i = 0; i < sizeof host_keys / sizeof *host_keys; i++) {
        const struct host_key *k = &host_keys[i];

        if (!str_eq(y->key, k->name))
            continue;
        return y->kind == k->kind
                   ? k->read(r, y, out)
                   : fail_value(r, y,
                                k->kind == YAML_SCALAR ? "one word" : "a list");
    }
    project_fail(r, y->key_line, "unknown key \"%.*s\"",
                 STR_ARG(project_excerpt(y->key)));
    return err_hint(r->e, "an item of hosts may have host, kind, transport, "
                          "port, token and ports");
}

/* Sets the kind of a built-in host. Other hosts must have a `kind`. */
static bool complete_kind(struct project_reader *r, const struct yaml *item,
                          struct host_config *h)
{
    const struct git_host *built_in = git_host_find(h->host, NULL, 0);

    if (built_in && h->kind && h->kind != built_in)
        return project_fail(r, item->line, "%.*s is a %s host",
                            STR_ARG(h->host), built_in->title);
    h->kind = built_in ? built_in : h->kind;
    if (h->kind)
        return true;
    project_fail(r, item->line, "no \"kind\" for %.*s", STR_ARG(h->host));
    return err_hint(r->e, "one of %.*s", STR_ARG(git_host_kinds(", ", r->a)));
}

static bool read_mapping(struct project_reader *r, const struct yaml *item,
                         struct host_config *h)
{
    for (const struct yaml *y = item->first; y; y = y->next)
        if (!read_key(r, y, h))
            return false;
    if (h->host.n == 0)
        return project_fail(r, item->line, "no \"host\" in {host: ...}");
    return complete_kind(r, item, h);
}

static bool read_host(struct project_reader *r, const struct yaml *item,
                      struct host_config *h)
{
    if (item->kind == YAML_MAPPING)
        return read_mapping(r, item, h);
    if (!project_want_text(r, item, "a host") || !read_name(r, item, h))
        return false;
    h->kind = git_host_find(h->host, NULL, 0);
    if (!h->kind)
        h->kind = &git_hosts[0];
    return true;
}

bool project_read_hosts(struct project_reader *r, const struct yaml *y)
{
    struct host_config *hosts;

    if (!project_want(r, y, YAML_SEQUENCE))
        return false;
    hosts = arena_array(r->a, y->count + 1, sizeof *hosts);
    for (const struct yaml *item = y->first; item; item = item->next) {
        struct host_config *h = &hosts[r->out.host_count];

        if (!read_host(r, item, h))
            return false;
        if (host_config_find(h->host, hosts, r->out.host_count))
            return project_fail(r, item->line, "%.*s is named twice",
                                STR_ARG(h->host));
        r->out.host_count++;
    }
    r->out.hosts = hosts;
    return true;
}
