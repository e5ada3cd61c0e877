#ifndef DISCOVER_WELL_KNOWN_H
#define DISCOVER_WELL_KNOWN_H

#include "base/arena.h"
#include "base/err.h"

/*
 * well_known: the index of skills that a host publishes. Text in, values out.
 * Source: .well-known/agent-skills 0.2.0 (draft of 2026-03-12), W1 to W5.
 */

#define WELL_KNOWN_PATH "/.well-known/agent-skills/index.json"
#define WELL_KNOWN_SCHEMA                                                      \
    "https://schemas.agentskills.io/discovery/0.2.0/schema.json"

/* "https://host", or a URL that ends in "/index.json": no repository. */
bool well_known_is_index(struct str text);
/* The address of the index: https, or http to this machine. ERR_ORIGIN. */
MUST_CHECK bool well_known_url(struct str text, struct arena *a,
                               struct str *out, struct err *e);
/* "host[:port]". Borrowed. */
struct str well_known_host(struct str url);
/* A URL of the index, which is at `base` (RFC 3986); false for one that mapm
 * would not ask. In `a`. */
bool well_known_resolve(struct str base, struct str url, struct arena *a,
                        struct str *out);

#endif
