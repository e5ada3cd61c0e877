#ifndef MAPM_PLUGIN_PATHS_H
#define MAPM_PLUGIN_PATHS_H

#include "base/str.h"

/* plugin_paths: the paths of the manifests of plugins and marketplaces, in
 * order of priority.
 * Source: PLUGINS.md X29, X39. */

struct plugin_format {
    const char *name;     /* "agent-plugin", "claude", … */
    const char *manifest; /* in the plugin's folder; NULL if there is none */
    /* In the root of a catalog; NULL if there is none. */
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

/* Names of marketplace files, ended by NULL. */
extern const char *const plugin_marketplaces[];

/* Returns the format of the marketplace file `path`; PLUGIN_COPILOT for
 * others. */
int plugin_format_of_marketplace(struct str path);

/* Name in a listing for the entry of a marketplace, which is part of a plugin
 * that came from one. Repositories must not have a file of this name. */
#define PLUGIN_ENTRY_FILE ".mapm-marketplace-entry.json"

/* The same for the list of paths, one per line, that are targets of links out
 * of the plugin's folder: rules of the standard depend on it. */
#define PLUGIN_OUTSIDE_FILE ".mapm-outside"

#endif
