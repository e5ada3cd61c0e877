#ifndef MAPM_INSTALL_INFO_H
#define MAPM_INSTALL_INFO_H

#include "mapm/install.h"

/*
 * install_info: what a package is, without installing it (G7).
 *
 * Its files are fetched into the store, as for a dry run, and read; nothing is
 * executed, and nothing in the workspace changes. What is installed is read from
 * the store, without the network. All values are the package's own: they may lie
 * and hold any character.
 */

struct info_file {
    struct str path;
    uint64_t bytes;
    bool is_executable;
};

/* A part of a plugin. */
struct info_part {
    enum doc_kind kind;
    struct str name, path, description;
    struct str command; /* of an MCP server */
    struct str problem; /* why it would be left out; "": it would not */
    size_t tokens;
};

/* Of a plugin: parts of a kind that mapm does not install. */
struct info_other {
    struct str kind, where;
    size_t count;
};

struct install_info {
    /* Only of a catalog: then what it has is in `catalog`, and of the rest
     * origin, ref, commit and time are known. */
    bool is_catalog;
    struct install_catalog catalog;

    enum doc_kind kind;
    struct str name, description, version, license;
    struct str license_file; /* a file of the package; "": it has none */
    struct str license_text; /* what the file is, as "MIT"; "": not known */
    bool is_proprietary;     /* as the field or the file says */
    struct str origin, from; /* `from`: where a replacement takes it from */
    struct str ref, commit, path;
    uint64_t time; /* of the commit, in seconds since 1970; 0: not known */
    struct str digest;

    bool is_installed;
    struct str installed_name, installed_commit;
    bool is_patched;
    struct str_list without; /* parts that are left out of it here */

    const struct info_file *files;
    size_t file_count;
    uint64_t bytes;
    size_t tokens, list_tokens; /* when it is loaded; of its line in a list */
    const struct install_link *needs;
    size_t need_count;
    struct str command; /* of an MCP server: what it runs */
    struct str program; /* of a metaskill */
    struct str hooks;   /* where its frontmatter or plugin has hooks */
    struct str tools;   /* allowed-tools */
    struct str compatibility, prereqs;
    bool is_hidden;   /* its text has hidden characters */
    bool is_disabled; /* hidden from models */
    const struct info_part *parts;
    size_t part_count;
    const struct info_other *others;
    size_t other_count;
    struct str body; /* of its document; of a plugin its README.md */
};

struct info_request {
    struct str word;   /* a name that the layer has, else an origin */
    struct str plugin; /* of the marketplace there; "" = none */
};

/*
 * Ownership: in the arena of `cx`. Errors: those of a fetch and of a document
 * that is not valid; ERR_ORIGIN for a word that is neither; ERR_OFFLINE.
 */
MUST_CHECK bool install_info(struct context *cx, const struct info_request *r,
                             struct install_info *out, struct err *e);

#endif
