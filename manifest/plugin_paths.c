#include "mapm/plugin_paths.h"

/* clang-format off */
/* As documented by the clients in November 2026. */
const struct plugin_format plugin_formats[PLUGIN_FORMATS] = {
    [PLUGIN_STANDARD] = {"agent-plugin", "plugin.json", ".plugin/marketplace.json"},
    [PLUGIN_CLAUDE]   = {"claude", ".claude-plugin/plugin.json", ".claude-plugin/marketplace.json"},
    [PLUGIN_CODEX]    = {"codex", ".codex-plugin/plugin.json", ".agents/plugins/marketplace.json"},
    [PLUGIN_CURSOR]   = {"cursor", ".cursor-plugin/plugin.json", ".cursor-plugin/marketplace.json"},
    [PLUGIN_DOT]      = {"copilot", ".plugin/plugin.json", ".plugin/marketplace.json"},
    [PLUGIN_GITHUB]   = {"copilot", ".github/plugin/plugin.json", ".github/plugin/marketplace.json"},
    [PLUGIN_COPILOT]  = {"copilot", "plugin.json", "marketplace.json"},
    [PLUGIN_GEMINI]   = {"gemini", "gemini-extension.json", NULL},
};

const char *const plugin_marketplaces[] = {
    ".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json",
    ".cursor-plugin/marketplace.json", ".github/plugin/marketplace.json",
    ".plugin/marketplace.json", "marketplace.json", NULL,
};
/* clang-format on */

int plugin_format_of_marketplace(struct str path)
{
    for (int i = PLUGIN_CLAUDE; i < PLUGIN_FORMATS; i++)
        if (plugin_formats[i].marketplace &&
            str_is(path, plugin_formats[i].marketplace))
            return i;
    return PLUGIN_COPILOT;
}
