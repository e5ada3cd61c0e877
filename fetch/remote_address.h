#ifndef FETCH_REMOTE_ADDRESS_H
#define FETCH_REMOTE_ADDRESS_H

#include "mapm/host_config.h"
#include "mapm/origin.h"

#include "frame.h"

/*
 * remote_address: maps a repository to the URL that is really contacted.
 *
 *     origin and the hosts of config.yaml    https://… or ssh://…, sent to
 *                                            mapm-fetch
 *     url.<to>.insteadOf = <from>            the longest match applies
 *
 * Both sides apply the rewrites: mapm-fetch to choose the protocol, and mapm to
 * find the server before it starts ssh.
 *
 * Source: H2; HOSTS 4, 5, 8; FETCH.md 9.
 */

/* url.<to>.insteadOf = <from> of the user's git configuration. */
struct rewrite {
    struct str from, to;
};

struct rewrites {
    const struct rewrite *items;
    size_t count;
};

/* Returns the URL before rewrites, allocated in `a`. */
struct str remote_address(const struct origin *o,
                          const struct host_config *hosts, size_t host_count,
                          struct arena *a);
/* Returns `url` itself if no rewrite matches; else a URL allocated in `a`. */
struct str rewrite_url(const struct rewrites *r, struct str url,
                       struct arena *a);

void frame_rewrites(struct buf *b, const struct rewrites *r);
/* Allocated in `a`. */
struct rewrites field_rewrites(struct fields *in, struct arena *a);

#endif
