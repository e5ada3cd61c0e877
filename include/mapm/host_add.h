#ifndef MAPM_HOST_ADD_H
#define MAPM_HOST_ADD_H

#include "base/context.h"
#include "mapm/host_config.h"

/*
 * host_add: adds a git host that the user named to the user's config.yaml.
 *
 *     mapm host add H                 host_identify, host_write
 *     mapm install https://H/g/r      host_admit, after a question
 *
 * This is the only way to add a host: a workspace or package cannot.
 *
 * Source: HOSTS 5; rows 47, 52, 54.
 */

/*
 * Sets `h->kind`, unless it is set, by one GET request to each address that
 * identifies a kind, without credentials and without following redirects. Sends
 * none with --offline or `store: {only: true}` of config.yaml.
 * Errors: the host does not respond; ERR_NOT_FOUND if no kind matches.
 */
MUST_CHECK bool host_identify(struct context *cx, struct host_config *h,
                              struct err *e);

/* Writes the configuration of a host to config.yaml; NULL removes it. */
MUST_CHECK bool host_write(struct context *cx, struct str host,
                           const struct host_config *want, struct err *e);

/*
 * Handles the host of an origin in user input. If it is neither built in nor
 * configured, the user is asked on a terminal which kind it is, and consent
 * is written to config.yaml. If the user cannot be asked, fails with
 * ERR_ORIGIN and the lines to add. Returns true otherwise, also for text that
 * is not an origin.
 */
MUST_CHECK bool host_admit(struct context *cx, struct str text, struct err *e);

#endif
