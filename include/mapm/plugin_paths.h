#ifndef MAPM_PLUGIN_PATHS_H
#define MAPM_PLUGIN_PATHS_H

#include "base/str.h"

/* plugin_paths: where plugins and marketplaces have their files, in the order
 * in which they are looked for. Source: PLUGINS.md X29, X39. */

struct plugin_format {
    const char *name;     /* "agent-plugin", "claude" … */
    const char *manifest; /* in the plugin's folder; NULL: it has none */
    /* in the root of a catalog; NULL: the format has none */
    const char *marketplace;
};

enum {
    PLUGIN_STANDARD,
    PLUGIN_CLAUDE,
    PLUGIN_CODEX,
    PLUGIN_CURSOR,
    PLUGIN_DOT,
    PLUGIN_GITHUB,
    PLUGIN_COPILOT, /* plugin.json without the standard's $schema */
    PLUGIN_GEMINI,
    PLUGIN_FORMATS
};
extern const struct plugin_format plugin_formats[PLUGIN_FORMATS];

/* The names of marketplace files; NULL behind the last. */
extern const char *const plugin_marketplaces[];

/* The format whose marketplace `path` is; PLUGIN_COPILOT for any other. */
int plugin_format_of_marketplace(struct str path);

/* What a listing calls the entry of a marketplace, which is part of a plugin
 * that came through one. No repository has a file of this name: it is refused. */
#define PLUGIN_ENTRY_FILE ".mapm-marketplace-entry.json"

/* Likewise the paths that a link out of the plugin's folder led to, a line
 * each: the standard's rules depend on it. */
#define PLUGIN_OUTSIDE_FILE ".mapm-outside"

#endif
