#include "host_item.h"

static struct str port_text(unsigned port, struct arena *a)
{
    return port ? arena_printf(a, "%u", port) : STR("");
}

static struct str ports_text(const struct host_config *h, const char *between,
                             struct arena *a)
{
    struct str all = STR("");

    for (size_t i = 0; i < h->port_count; i++)
        all = arena_printf(a, "%.*s%s%u", STR_ARG(all), i ? between : "",
                           h->ports[i]);
    return all;
}

static struct str port_list(const struct host_config *h, struct arena *a)
{
    if (h->port_count == 0)
        return STR("");
    return arena_printf(a, "[%.*s]", STR_ARG(ports_text(h, ", ", a)));
}

struct host_item host_item_of(const struct host_config *h, struct arena *a)
{
    bool is_known = git_host_find(h->host, NULL, 0) != NULL;
    struct host_item t = {
        .keys = {"host", "kind", "transport", "port", "token", "ports"},
        .values = {h->host, is_known ? STR("") : git_host_kind_name(h->kind),
                   h->transport == HOST_OVER_SSH ? STR("ssh") : STR(""),
                   port_text(h->port, a), host_token_text(h, a),
                   port_list(h, a)}};

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

/* Returns the kind for the command line, or "" for plain git: for such a host
 * `mapm` detects the kind. */
static struct str explicit_kind(const struct host_config *h)
{
    return h->kind == &git_hosts[git_host_count - 1]
               ? STR("")
               : git_host_kind_name(h->kind);
}

struct str host_config_command(const struct host_config *h, bool is_known,
                               struct arena *a)
{
    struct str command = arena_printf(
        a, "mapm host %s %.*s", is_known ? "set" : "add", STR_ARG(h->host));
    const struct {
        const char *name;
        struct str value;
    } options[] = {
        {"kind", is_known ? STR("") : explicit_kind(h)},
        {"transport", h->transport == HOST_OVER_SSH ? STR("ssh") : STR("")},
        {"port", port_text(h->port, a)},
        {"ports", ports_text(h, ",", a)},
    };

    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].value.n)
            command = arena_printf(a, "%.*s --%s %.*s", STR_ARG(command),
                                   options[i].name, STR_ARG(options[i].value));
    return command;
}

struct str host_config_item(const struct host_config *h, struct arena *a)
{
    struct host_item t = host_item_of(h, a);

    return host_item_text(&t, a);
}
