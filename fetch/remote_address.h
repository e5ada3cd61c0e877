#ifndef FETCH_REMOTE_ADDRESS_H
#define FETCH_REMOTE_ADDRESS_H

#include "mapm/host_config.h"
#include "mapm/origin.h"

#include "frame.h"

/*
 * remote_address: from a repository to the address that is really asked.
 *
 *     origin, hosts: of config.yaml   https://… or ssh://…   said to mapm-fetch
 *     url.<to>.insteadOf = <from>     the longest that fits
 *
 * Rewrites are applied on both sides: mapm-fetch finds out how to reach a
 * repository, and mapm, before it starts ssh, where.
 *
 * Source: H2; HOSTS 4, 5, 8; FETCH.md 9.
 */

/* url.<to>.insteadOf = <from>, of the user's git configuration. */
struct rewrite {
    struct str from, to;
};

struct rewrites {
    const struct rewrite *items;
    size_t count;
};

/* Before rewrites. In `a`. */
struct str remote_address(const struct origin *o,
                          const struct host_config *hosts, size_t host_count,
                          struct arena *a);
/* `url` itself when no rewrite fits; else in `a`. */
struct str rewrite_url(const struct rewrites *r, struct str url,
                       struct arena *a);

void frame_rewrites(struct buf *b, const struct rewrites *r);
/* In `a`. */
struct rewrites field_rewrites(struct fields *in, struct arena *a);

#endif
