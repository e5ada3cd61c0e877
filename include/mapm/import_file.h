#ifndef MAPM_IMPORT_FILE_H
#define MAPM_IMPORT_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "mapm/doc_kind.h"

/*
 * import_file: what the files of other package managers say is installed.
 *
 *     skills-lock.json, .skill-lock.json   skills (npm), versions 1 and 3
 *     agents.lock, agents.toml             dotagents (npm)
 *     apm.lock.yaml, apm.yml               APM
 *     .mcp.json                            servers, by hand or by a client
 *
 * One reader a format, all bounded; unknown keys are passed over, as these
 * programs do. An entry that names no git repository is listed with the
 * reason, not dropped. Source: D14; the files that skills 1.x and dotagents
 * 1.x write; APM's lockfile schema 0.1.
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
    enum doc_kind kind;    /* AGENT: not known */
    struct str name;       /* as the file has it: a folder, or a key */
    struct str repository; /* "owner/repo", or a URL of a repository */
    struct str path;       /* of the package in it; "" = the repository */
    struct str ref;        /* "" = the default branch */
    struct str commit;     /* 40 hex, or "" */
    struct str tree;       /* git id of the folder, or "" */
    struct str hash;       /* of the contents, as skills computes it: 64 hex */
    const char *problem;   /* why it cannot be imported; NULL: it may */
};

struct import_list {
    struct import_entry *entries;
    size_t count, capacity;
};

/* By the name of the file; false for another one. */
bool import_format_find(struct str file, enum import_format *out);

/*
 * Appends the entries of `text`. Ownership: in `a`, or borrowed from `text`.
 * Errors: ERR_FORMAT "name:line: …", also for a version that is not known;
 * ERR_LIMIT.
 */
MUST_CHECK bool import_file_read(enum import_format format, struct str text,
                                 const char *name, struct arena *a,
                                 struct import_list *out, struct err *e);

#endif
