#ifndef MAPM_CONFIG_H
#define MAPM_CONFIG_H

#include "base/context.h"
#include "mapm/manifest.h"

/*
 * user: what the user's own configuration says, config.yaml and
 * MAPM_GITHUB_HOSTS. Only here rights are widened (DESIGN.md 3.1).
 * Ownership: in the invocation's arena.
 */

/* Where config.yaml is looked for; "" when the environment names no folder. */
struct str user_config_path(struct context *cx);

MUST_CHECK bool user_read(struct context *cx, struct project *user,
                          struct limits *limits, struct origin_rules *rules,
                          struct err *e);

#endif
