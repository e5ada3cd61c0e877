#ifndef MAPM_PLUGIN_CHECK_H
#define MAPM_PLUGIN_CHECK_H

#include "mapm/diagnostics.h"
#include "mapm/document.h"

/*
 * plugin_check: plugins and marketplaces judged for their authors.
 *
 *     folder, as callbacks --> plugin_check_standard()     plugin.json
 *                          --> plugin_check_claude()       .claude-plugin/
 *                          --> plugin_check_marketplace()  marketplace.json
 *
 * Each adds diagnostics with a code of manifest/level.c, all as errors: the
 * profile of the caller decides how severe each is (diagnostics_grade). Their
 * `file` is relative to the folder. No network.
 *
 * Source: Agent Plugins 1.0; PLUGINS.md P1 to P52, C1 to C18, X43.
 */

enum plugin_node {
    PLUGIN_NODE_NONE,
    PLUGIN_NODE_FILE,
    PLUGIN_NODE_FOLDER,
    PLUGIN_NODE_OTHER,   /* a device, a FIFO; a link that leads to nothing */
    PLUGIN_NODE_OUTSIDE, /* its resolved path leaves what it may not leave */
};

/* A folder that is checked. Paths are relative to it; links are followed. */
struct plugin_disk {
    enum plugin_node (*look)(void *ctx, struct str path);
    /* Names in a folder, sorted; 0 of them when it cannot be read. */
    size_t (*list)(void *ctx, struct str path, struct arena *a,
                   const struct str **names);
    enum manifest_file (*read)(void *ctx, struct str path, size_t max_bytes,
                               struct arena *a, struct str *text);
    void *ctx;
};

/* Texts of the manifest, as far as they could be read. */
struct plugin_facts {
    struct str name, version, description;
};

/* Whether a plugin.json says that it is of Agent Plugins: other programs have
 * files of this name. */
bool plugin_is_standard(struct str manifest);

/* The path of a marketplace file, or of a plugin's manifest, in its folder:
 * "" for other paths. `path` may be absolute. */
struct str plugin_manifest_of(struct str path);

/* The manifest is the one of plugin_formats; that of Claude may be missing.
 * In `a`. */
void plugin_check_standard(const struct plugin_disk *disk, struct arena *a,
                           struct plugin_facts *out, struct diagnostics *why);
void plugin_check_claude(const struct plugin_disk *disk, struct arena *a,
                         struct plugin_facts *out, struct diagnostics *why);

/* `file`: one of plugin_marketplaces. */
void plugin_check_marketplace(const struct plugin_disk *disk, struct str file,
                              struct arena *a, struct plugin_facts *out,
                              struct diagnostics *why);

#endif
