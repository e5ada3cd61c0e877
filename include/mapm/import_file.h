#ifndef MAPM_IMPORT_FILE_H
#define MAPM_IMPORT_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "mapm/doc_kind.h"

/*
 * import_file: reads the packages listed in files of other package managers.
 *
 *     skills-lock.json, .skill-lock.json   skills (npm), versions 1 and 3
 *     agents.lock, agents.toml             dotagents (npm)
 *     apm.lock.yaml, apm.yml               APM
 *     .mcp.json                            servers, by hand or by a client
 *
 * There is one parser per format, all with limits; unknown keys are ignored, as
 * in these programs. An entry that does not name a git repository, or that has
 * a text which cannot be part of an origin, is listed with the reason.
 *
 * Source: D14; the files that skills 1.x and dotagents 1.x write; APM's
 * lockfile schema 0.1.
 */

enum import_format {
    IMPORT_SKILLS,      /* skills-lock.json, .skill-lock.json */
    IMPORT_AGENTS_LOCK, /* agents.lock */
    IMPORT_AGENTS_TOML,
    IMPORT_APM_LOCK, /* apm.lock.yaml */
    IMPORT_APM_YML,
    IMPORT_MCP, /* .mcp.json */
    IMPORT_FORMATS
};

struct import_entry {
    unsigned line;
    enum doc_kind kind;    /* DOC_AGENT if unknown */
    struct str name;       /* as in the file: a folder or a key */
    struct str repository; /* "owner/repo", or a URL of a repository */
    struct str path;       /* path of the package; "" for the repository */
    struct str ref;        /* "" for the default branch */
    struct str commit;     /* 40 hexadecimal digits, or "" */
    struct str tree;       /* git id of the folder's tree, or "" */
    /* Hash of the contents as computed by skills: 64 hexadecimal digits, or
     * "". */
    struct str hash;
    /* A skill whose path is unknown: the one of the repository that has this
     * name. */
    bool is_by_name;
    const char *problem; /* why it cannot be imported, or NULL */
};

struct import_list {
    struct import_entry *entries;
    size_t count, capacity;
};

/* Gets the format of a file by its name; returns false if there is none. */
bool import_format_find(struct str file, enum import_format *out);

/* Appends the entries of `text`.
 * Ownership: allocated in `a`, or borrowed from `text`.
 * Errors: ERR_FORMAT "name:line: …", also for an unknown version, or, for a file
 * that cannot be parsed, "line N: …"; ERR_LIMIT. */
MUST_CHECK bool import_file_read(enum import_format format, struct str text,
                                 const char *name, struct arena *a,
                                 struct import_list *out, struct err *e);

#endif
