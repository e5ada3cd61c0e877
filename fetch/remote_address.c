#include "remote_address.h"

#define REWRITES_MAX      10000
#define REWRITE_MAX_BYTES 4096

struct str remote_address(const struct origin *o,
                          const struct host_config *hosts, size_t host_count,
                          struct arena *a)
{
    const struct host_config *h = host_config_find(o->host, hosts, host_count);

    /* config.yaml may move an https origin to ssh. An origin that is an ssh URL
     * is on ssh already. */
    if (o->transport == HOST_OVER_HTTPS && h && h->transport == HOST_OVER_SSH)
        return git_host_ssh_url(o->kind, o->host, o->repository, h->port, a);
    return origin_clone_url(o, a);
}

struct str rewrite_url(const struct rewrites *r, struct str url,
                       struct arena *a)
{
    const struct rewrite *best = NULL;

    for (size_t i = 0; i < r->count; i++) {
        const struct rewrite *one = &r->items[i];

        if (str_starts(url, one->from) && (!best || one->from.n > best->from.n))
            best = one;
    }
    return best ? str_join(best->to, str_from_index(url, best->from.n), a)
                : url;
}

void frame_rewrites(struct buf *b, const struct rewrites *r)
{
    frame_u32(b, r->count);
    for (size_t i = 0; i < r->count; i++) {
        frame_str(b, r->items[i].from);
        frame_str(b, r->items[i].to);
    }
}

struct rewrites field_rewrites(struct fields *in, struct arena *a)
{
    size_t count = field_u32(in, REWRITES_MAX);
    struct rewrite *items = arena_array(a, count, sizeof *items);

    for (size_t i = 0; i < count && !in->bad; i++) {
        items[i].from = arena_str(a, field_str(in, REWRITE_MAX_BYTES));
        items[i].to = arena_str(a, field_str(in, REWRITE_MAX_BYTES));
    }
    return (struct rewrites){items, count};
}
