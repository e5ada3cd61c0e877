#ifndef MAPM_PLUGIN_CHECK_H
#define MAPM_PLUGIN_CHECK_H

#include "mapm/diagnostics.h"
#include "mapm/document.h"

/*
 * plugin_check: validates plugins and marketplaces for their authors.
 *
 *     folder, as callbacks --> plugin_check_standard()     plugin.json
 *                          --> plugin_check_claude()       .claude-plugin/
 *                          --> plugin_check_marketplace()  marketplace.json
 *
 * Each function adds diagnostics with codes of manifest/level.c, all as errors:
 * the profile of the caller determines the severity (diagnostics_grade). Their
 * `file` is relative to the folder. No network access.
 *
 * Source: Agent Plugins 1.0; PLUGINS.md P1 to P52, C1 to C18, X43.
 */

enum plugin_node {
    PLUGIN_NODE_NONE,
    PLUGIN_NODE_FILE,
    PLUGIN_NODE_FOLDER,
    PLUGIN_NODE_OTHER,   /* a device, a FIFO, or a dangling link */
    PLUGIN_NODE_OUTSIDE, /* its resolved path leaves the allowed folder */
};

/* Access to the folder that is validated. Paths are relative to it;
 * links are followed. */
struct plugin_disk {
    enum plugin_node (*look)(void *ctx, struct str path);
    /* Lists the names in a folder, sorted; returns 0 if it cannot be read. */
    size_t (*list)(void *ctx, struct str path, struct arena *a,
                   const struct str **names);
    enum manifest_file (*read)(void *ctx, struct str path, size_t max_bytes,
                               struct arena *a, struct str *text);
    void *ctx;
};

/* Texts of the manifest; empty if they cannot be read. */
struct plugin_facts {
    struct str name, version, description;
};

/* Returns whether a plugin.json declares Agent Plugins: other programs use
 * files of the same name. */
bool plugin_is_standard(struct str manifest);

/* Returns the path of a marketplace file or a plugin's manifest in its folder;
 * "" for other paths. `path` may be absolute. */
struct str plugin_manifest_of(struct str path);

/* Validate the manifest of the format in plugin_formats; Claude's manifest is
 * optional. Allocated in `a`. */
void plugin_check_standard(const struct plugin_disk *disk, struct arena *a,
                           struct plugin_facts *out, struct diagnostics *why);
void plugin_check_claude(const struct plugin_disk *disk, struct arena *a,
                         struct plugin_facts *out, struct diagnostics *why);

/* Validates `file`, one of plugin_marketplaces. */
void plugin_check_marketplace(const struct plugin_disk *disk, struct str file,
                              struct arena *a, struct plugin_facts *out,
                              struct diagnostics *why);

#endif
