#include "host_item.h"

static struct str port_text(unsigned port, struct arena *a)
{
    return port ? arena_printf(a, "%u", port) : STR("");
}

static struct str ports_text(const struct host_config *h, struct arena *a)
{
    struct str all = STR("");

    if (h->port_count == 0)
        return all;
    for (size_t i = 0; i < h->port_count; i++)
        all = arena_printf(a, "%.*s%s%u", STR_ARG(all), i ? ", " : "",
                           h->ports[i]);
    return arena_printf(a, "[%.*s]", STR_ARG(all));
}

struct host_item host_item_of(const struct host_config *h, struct arena *a)
{
    bool is_known = git_host_find(h->host, NULL, 0) != NULL;
    struct host_item t = {
        .keys = {"host", "kind", "transport", "port", "token", "ports"},
        .values = {h->host, is_known ? STR("") : git_host_kind_name(h->kind),
                   h->transport == HOST_OVER_SSH ? STR("ssh") : STR(""),
                   port_text(h->port, a), host_token_text(h, a),
                   ports_text(h, a)}};

    t.is_name = is_known || h->kind == &git_hosts[0];
    for (size_t i = 2; i < HOST_ITEM_KEYS; i++)
        t.is_name &= t.values[i].n == 0;
    return t;
}

struct str host_item_text(const struct host_item *t, struct arena *a)
{
    struct str all = STR("");

    if (t->is_name)
        return t->values[0];
    for (size_t i = 0; i < HOST_ITEM_KEYS; i++)
        if (t->values[i].n)
            all = arena_printf(a, "%.*s%s%s: %.*s", STR_ARG(all), i ? ", " : "",
                               t->keys[i], STR_ARG(t->values[i]));
    return arena_printf(a, "{%.*s}", STR_ARG(all));
}

struct str host_config_command(const struct host_config *h, bool is_known,
                               struct arena *a)
{
    struct str ports = STR("");

    if (!is_known)
        return arena_printf(a, "mapm host add %.*s", STR_ARG(h->host));
    for (size_t i = 0; i < h->port_count; i++)
        ports = arena_printf(a, "%.*s%s%u", STR_ARG(ports), i ? "," : "",
                             h->ports[i]);
    if (ports.n == 0)
        return arena_printf(
            a, "mapm host set %.*s --transport %s --port %u", STR_ARG(h->host),
            h->transport == HOST_OVER_SSH ? "ssh" : "https", h->port);
    return arena_printf(a, "mapm host set %.*s --ports %.*s", STR_ARG(h->host),
                        STR_ARG(ports));
}

struct str host_config_item(const struct host_config *h, struct arena *a)
{
    struct host_item t = host_item_of(h, a);

    return host_item_text(&t, a);
}
