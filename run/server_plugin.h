#ifndef RUN_SERVER_PLUGIN_H
#define RUN_SERVER_PLUGIN_H

#include "mapm/document.h"
#include "mapm/locked_server.h"
#include "mapm/plugin.h"
#include "mapm/run_server.h"
#include "mapm/store.h"

/*
 * The process of a plugin's server: its root from the store, its data folder,
 * its environment. The first start writes the root; no start writes to the
 * workspace. Source: P29 to P34, P44 to P49, X37; PLUGINS.md rows 36 to 38.
 */
MUST_CHECK bool server_plugin_read(struct context *cx, struct store *store,
                                   const struct locked_server *s,
                                   const struct document *d,
                                   const struct plugin_server *p,
                                   struct run_server *out, struct err *e);

#endif
