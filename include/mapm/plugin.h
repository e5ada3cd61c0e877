#ifndef MAPM_PLUGIN_H
#define MAPM_PLUGIN_H

#include "base/json.h"
#include "mapm/doc_kind.h"
#include "mapm/plugin_paths.h"

/*
 * plugin: parses a plugin, a folder with skills, MCP servers and sub-agents.
 *
 *     files, manifest, entry --> plugin_read() --> parts; omitted parts, with
 *                                                  name and reason
 *
 * Text in, values out; no disk or network access. Only one manifest is
 * read, preferably that of the standard. An invalid part is omitted
 * without failing the plugin; parts that mapm does not install (hooks,
 * commands, …) are counted.
 *
 * Source: Agent Plugins 1.0; PLUGINS.md (P1 to P52, C1 to C18, X29 to X45).
 */

/* The files of a plugin, sorted by path. */
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
    struct str folder; /* name of its folder, used if it has no other name */
    /* Contents of PLUGIN_ENTRY_FILE; "" if it does not come from a
     * marketplace. */
    struct str entry;
    struct str digest; /* digest of all files, "sha256:…" */
    struct str data;   /* identity of its data folder: origin without ref */
};

struct plugin_part {
    enum doc_kind kind;
    struct str name; /* short name; for a skill, that of its folder */
    /* folder of a skill; file of a sub-agent or server */
    struct str path;
    struct str document; /* AGENTS.md of a sub-agent, MCP file of a server */
};

struct plugin_skipped {
    enum doc_kind kind;
    struct str name, why;
};

/* Parts of a kind that mapm does not install. */
struct plugin_other {
    struct str kind; /* "hooks", "commands", …: one word */
    size_t count;
    struct str where; /* path in the plugin */
};

struct plugin {
    struct str name;     /* a valid scope, used in the names of its parts */
    struct str own_name; /* as in its manifest or its entry */
    struct str version, description, license;
    struct str manifest; /* path; "" if the entry is the manifest */
    const char *format;
    struct plugin_part *parts; /* servers, skills, agents; sorted by path */
    size_t part_count;
    struct plugin_skipped *skipped;
    size_t skipped_count;
    struct plugin_other *others;
    size_t other_count;
    struct str *notes; /* notes for the user: unknown fields, other manifests,
                          … */
    size_t note_count;
    struct str *warnings; /* warnings for the user: variables, paths */
    size_t warning_count;
    /* Origins of required packages as written in extensions["dev.mapm"]. */
    struct plugin_need {
        enum doc_kind kind;
        struct str origin;
    } * needs;
    size_t need_count;
    /* Required entries of marketplaces (C9); empty if it does not come
     * from a marketplace. */
    struct plugin_entry_need {
        struct str name;
        struct str market; /* name of another marketplace; "" for its own */
        struct str range;  /* range of versions in npm's syntax; "" for any */
    } * entries;
    size_t entry_count;
};

/*
 * Parses a plugin.
 * Ownership: allocated in `a`, borrowing from the paths.
 * Errors: ERR_FORMAT with the path and the field; ERR_REFUSED for a manifest
 * that refers to files outside of the folder, an unknown version of the
 * standard, or an entry that contradicts its plugin; ERR_LIMIT.
 */
MUST_CHECK bool plugin_read(const struct plugin_input *in, struct arena *a,
                            struct plugin *out, struct err *e);

/* Returns whether a plugin.json at the root follows the standard, in
 * any version. */
bool plugin_manifest_is_standard(const struct json *manifest);

/* Returns `name` without the characters that a scope must not have; "" if
 * nothing is left. Allocated in `a`. */
struct str plugin_scope_of(struct str name, struct arena *a);

/* --- servers --------------------------------------------------------------- */

/* `_meta.plugin` of the MCP file of a plugin's server. */
struct plugin_server {
    bool is_plugin;   /* the document belongs to a server of a plugin */
    bool is_started;  /* is started only by `mapm start` */
    bool is_standard; /* Agent Plugins: only its placeholders are replaced */
    struct str name;  /* name of the server in the plugin */
    struct str root;  /* digest of the plugin, if it is started */
    struct str data, data_name; /* identity of the data folder */
};
void plugin_server_read(const struct json *mcp, struct plugin_server *out);

/* Below the store: data folders of servers, which are kept on update
 * and removal. */
#define PLUGIN_DATA_FOLDER "plugin-data"
/* Returns the data folder of the server's plugin in this workspace. It depends
 * on the origin, so plugins of the same name do not share one. "" if the server
 * has no name. Allocated in `a`. */
struct str plugin_server_data(const struct plugin_server *p,
                              struct str workspace, struct arena *a);

#endif
