#include "host_frame.h"

#define HOSTS_MAX          10000
#define HOST_MAX_BYTES     300
#define VARIABLE_MAX_BYTES 300
/* The member `from` of a limit is a path and a line number. */
#define LIMIT_FROM_BYTES 8192

void frame_hosts(struct buf *b, const struct host_config *hosts, size_t count)
{
    frame_u32(b, count);
    for (size_t i = 0; i < count; i++) {
        const struct host_config *h = &hosts[i];

        frame_str(b, h->host);
        frame_u32(b, (size_t)(h->kind - git_hosts));
        frame_u8(b, h->transport);
        frame_u32(b, h->port);
        frame_u8(b, h->token);
        frame_str(b, h->variable);
        frame_u32(b, h->port_count);
        for (size_t p = 0; p < h->port_count; p++)
            frame_u32(b, h->ports[p]);
    }
}

static void read_host(struct fields *in, struct arena *a, struct host_config *h)
{
    h->host = arena_str(a, field_str(in, HOST_MAX_BYTES));
    h->kind = &git_hosts[field_u32(in, git_host_count - 1)];
    h->transport = (enum host_transport)field_u8(in, HOST_OVER_SSH);
    h->port = (unsigned)field_u32(in, 65535);
    h->token = (enum host_token)field_u8(in, HOST_TOKEN_NONE);
    h->variable = arena_str(a, field_str(in, VARIABLE_MAX_BYTES));
    h->port_count = field_u32(in, HOST_MAX_PORTS);
    for (size_t i = 0; i < h->port_count; i++)
        h->ports[i] = (unsigned)field_u32(in, 65535);
}

const struct host_config *field_hosts(struct fields *in, struct arena *a,
                                      size_t *count)
{
    struct host_config *hosts;

    *count = field_u32(in, HOSTS_MAX);
    hosts = arena_array(a, *count, sizeof *hosts);
    for (size_t i = 0; i < *count && !in->bad; i++)
        read_host(in, a, &hosts[i]);
    return hosts;
}

void frame_limits(struct buf *b, const struct limits *l)
{
    for (size_t i = 0; i < LIMITS_COUNT; i++) {
        frame_u64(b, l->all[i].value);
        frame_str(b, l->all[i].from);
    }
}

bool field_limits(struct fields *in, struct arena *a, struct limits *out)
{
    *out = limits_default;
    for (size_t i = 0; i < LIMITS_COUNT; i++) {
        struct limit *l = &out->all[i];

        l->value = field_u64(in);
        l->from = arena_str(a, field_str(in, LIMIT_FROM_BYTES));
        if (l->value < l->least || l->value > l->ceiling)
            return false;
    }
    return true;
}
