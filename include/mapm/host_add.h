#ifndef MAPM_HOST_ADD_H
#define MAPM_HOST_ADD_H

#include "base/context.h"
#include "mapm/host_config.h"

/*
 * host_add: a host that a person named comes into the user's config.yaml.
 *
 *     mapm host add H         host_probe, host_write
 *     mapm install https://H/g/r      host_admit: a question first
 *
 * Nothing else adds a host: not a workspace, not a package. Source: HOSTS 5;
 * rows 47, 52, 54.
 */

/*
 * What a host runs, by one GET each of addresses that tell it, without
 * credentials, without following a redirect; NULL: nothing tells, or no
 * host may be asked: --offline, or `store: {only: true}` of config.yaml.
 * `port` 0: 443. Errors: nobody answers there.
 */
MUST_CHECK bool host_probe(struct context *cx, struct str host, unsigned port,
                           const struct git_host **kind, struct err *e);

/* config.yaml says this of the host from now on; NULL: nothing. */
MUST_CHECK bool host_write(struct context *cx, struct str host,
                           const struct host_config *want, struct err *e);

/*
 * `text` is an origin as a person typed it. When its host is neither built in nor
 * configured, a person at a terminal is asked what it is, and a yes is written
 * to config.yaml; nobody to ask: ERR_ORIGIN with the lines to add. True for
 * all else, also for what is no origin.
 */
MUST_CHECK bool host_admit(struct context *cx, struct str text, struct err *e);

#endif
