#ifndef MAPM_INSTALL_INFO_H
#define MAPM_INSTALL_INFO_H

#include "mapm/install.h"
#include "mapm/plugin.h"

/*
 * install_info: information about a package, without installing it (G7).
 *
 * Fetches the files of the package into the store, as a dry run does, and
 * reads them. Nothing is executed, and the workspace is not changed.
 * Installed packages are read from the store, without network access. All
 * values are chosen by the package's author: they are untrusted and may
 * contain any character.
 */

/* A file of the package, with its size and without its content. */
struct info_file {
    struct str path;
    uint64_t bytes;
    bool is_executable;
};

struct install_info {
    /* The origin is a catalog: `catalog` has its packages, and of the other
     * members only origin, ref, commit and time are set. */
    bool is_catalog;
    struct install_catalog catalog;

    enum doc_kind kind;
    struct str name, description, version, license;
    struct str license_file; /* license file of the package; or "" */
    struct str license_text; /* license that the file contains, "MIT"; "" if
                                unknown */
    bool is_proprietary;     /* according to the field or the file */
    struct str origin, from; /* `from`: origin set by `replace:` */
    struct str ref, commit, path;
    uint64_t time; /* time of the commit, seconds since 1970; 0 if unknown */
    struct str digest;

    bool is_installed;
    struct str installed_name, installed_commit;
    bool is_patched;
    struct str_list without; /* parts that this workspace leaves out */

    const struct info_file *files;
    size_t file_count;
    uint64_t bytes;
    size_t tokens, list_tokens; /* of the loaded package; of its line in a
                                   list */
    const struct install_link *needs;
    size_t need_count;
    struct str command; /* command line of an MCP server */
    struct str program; /* program of a metaskill */
    struct str hooks;   /* location of hooks in its frontmatter or plugin */
    struct str tools;   /* allowed-tools */
    struct str compatibility, prereqs;
    bool is_hidden;   /* the text has hidden characters */
    bool is_disabled; /* hidden from models */
    const struct install_offer *parts;
    size_t part_count;
    const struct plugin_other *others;
    size_t other_count;
    struct str body; /* body of its entry file; of a plugin, its README.md */
};

struct info_request {
    struct str word;   /* name of an installed package, or an origin */
    struct str plugin; /* plugin of the marketplace there; or "" */
};

/* Reads a package.
 * Ownership: allocated in the arena of `cx`.
 * Errors: those of a fetch and of an invalid document; ERR_ORIGIN for a word
 * that is neither a name nor an origin; ERR_OFFLINE. */
MUST_CHECK bool install_info(struct context *cx, const struct info_request *r,
                             struct install_info *out, struct err *e);

#endif
