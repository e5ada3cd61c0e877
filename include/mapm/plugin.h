#ifndef MAPM_PLUGIN_H
#define MAPM_PLUGIN_H

#include "base/json.h"
#include "mapm/doc_kind.h"
#include "mapm/plugin_paths.h"

/*
 * plugin: a folder with skills, MCP servers and sub-agents, as a value.
 *
 *     files, manifest, entry --> plugin_read() --> parts; what is left out, by
 *                                                  name and reason
 *
 * Text in, values out; no disk, no network. One manifest is read, that of the
 * standard first. A part that is invalid is left out alone; what mapm does not
 * install (hooks, commands …) is counted.
 *
 * Source: Agent Plugins 1.0; PLUGINS.md (P1 to P52, C1 to C18, X29 to X45).
 */

/* A plugin's files, sorted by path. */
struct plugin_files {
    const struct str *paths;
    size_t count;
    bool (*read)(void *ctx, size_t index, size_t max_bytes, struct arena *a,
                 struct str *out, struct err *e);
    bool (*is_executable)(void *ctx, size_t index);
    void *ctx;
};

struct plugin_input {
    const struct plugin_files *files;
    struct str folder; /* the name of its folder: of one without any other */
    /* What PLUGIN_ENTRY_FILE holds; "" when it came through no marketplace. */
    struct str entry;
    struct str digest; /* "sha256:…", of all files */
    struct str data;   /* identity of its data folder: the origin without ref */
};

struct plugin_part {
    enum doc_kind kind;
    struct str name; /* short: of a skill that of its folder */
    struct str
        path; /* folder of a skill, file of a sub-agent, or of a server */
    struct str document; /* of a sub-agent AGENTS.md, of a server an MCP file */
};

struct plugin_skipped {
    enum doc_kind kind;
    struct str name, why;
};

/* Parts of a kind that mapm does not install. */
struct plugin_other {
    struct str kind; /* "hooks", "commands" … one word */
    size_t count;
    struct str where; /* in the plugin */
};

struct plugin {
    struct str name;     /* a valid scope: that of its parts' names */
    struct str own_name; /* as its manifest or its entry spells it */
    struct str version, description, license;
    struct str manifest; /* path; "" when the entry is the manifest */
    const char *format;
    struct plugin_part *parts; /* servers, skills, agents; by path */
    size_t part_count;
    struct plugin_skipped *skipped;
    size_t skipped_count;
    struct plugin_other *others;
    size_t other_count;
    struct str *notes; /* for a person: unknown fields, other manifests … */
    size_t note_count;
    struct str *warnings; /* what a user has to know: variables, paths */
    size_t warning_count;
    /* Origins of other packages, as written: extensions["dev.mapm"]. */
    struct plugin_need {
        enum doc_kind kind;
        struct str origin;
    } * needs;
    size_t need_count;
    /* Entries of marketplaces that it needs (C9); none where it came through
     * no marketplace. */
    struct plugin_entry_need {
        struct str name;
        struct str market; /* name of another marketplace; "" = its own */
        struct str range;  /* of versions, as npm writes them; "" = any */
    } * entries;
    size_t entry_count;
};

/*
 * Ownership: in `a`, borrowing from the paths. Errors: ERR_FORMAT with the
 * path and the field; ERR_REFUSED for a manifest that leads out of the folder,
 * a version of the standard that is not known, and an entry that contradicts
 * its plugin; ERR_LIMIT.
 */
MUST_CHECK bool plugin_read(const struct plugin_input *in, struct arena *a,
                            struct plugin *out, struct err *e);

/* A root plugin.json is that of the standard, or of another version of it. */
bool plugin_manifest_is_standard(const struct json *manifest);

/* A name that differs in nothing but what a scope may not have. In `a`; ""
 * when nothing is left of it. */
struct str plugin_scope_of(struct str name, struct arena *a);

/* --- servers --------------------------------------------------------------- */

/* Of the document of a plugin's server, `_meta.plugin`. */
struct plugin_server {
    bool is_plugin;   /* the document is of a plugin's server */
    bool is_started;  /* only by `mapm start` */
    bool is_standard; /* Agent Plugins: nothing but its placeholders expands */
    struct str name;  /* of the server in the plugin */
    struct str root;  /* digest of the plugin, where it is started */
    struct str data, data_name; /* identity of the data folder */
};
void plugin_server_read(const struct json *mcp, struct plugin_server *out);

/* Below the store: folders of servers that stay over updates and removals. */
#define PLUGIN_DATA_FOLDER "plugin-data"
/* That of the server's plugin in this workspace: of its origin, so another
 * plugin of the same name has another. "" when it has no name. In `a`. */
struct str plugin_server_data(const struct plugin_server *p,
                              struct str workspace, struct arena *a);

#endif
