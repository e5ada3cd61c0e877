#ifndef FETCH_WORKER_TREE_H
#define FETCH_WORKER_TREE_H

#include "mapm/limits.h"

#include "objects.h"

/*
 * tree: parses git trees, and lists the files of one package in them.
 *
 *     root tree + "skills/pdf" --> tree_find() --> folder or file
 *                              --> tree_list() --> path, mode, blob of each
 *
 * Names are validated only on the way to a package and inside it, not in the
 * rest of the repository. Symbolic links are followed within the repository's
 * tree and replaced by their targets. There is no recursion.
 *
 * A missing object is not an error: its id is added to `wants`. Once it has
 * been fetched and added to the table, the caller repeats the call.
 *
 * Source: FETCH.md 7; THREATS.md 1.3, 1.4, rows 1 to 4; DESIGN.md 5.
 */

#define TREE_LINKS_MAX      40   /* as in Linux */
#define TREE_LINK_MAX_BYTES 4096 /* PATH_MAX */
#define TREE_PATH_MAX_DEPTH 128  /* depth of a folder in its repository */

/* Bound on one walk of trees, including links. */
#define TREE_SCAN_MAX_BYTES (256ull * 1024 * 1024)

enum tree_kind {
    TREE_UNKNOWN, /* unknown until `wants` has been fetched */
    TREE_FOLDER,
    TREE_FILE,
    TREE_PROGRAM, /* a file with the executable bit */
    TREE_LINK,
    TREE_SUBMODULE,
    TREE_ODD, /* any other mode: rejected in a package */
};

struct tree_entry {
    enum tree_kind kind;
    uint32_t mode;
    struct str name; /* borrowed from the tree; arbitrary bytes */
    struct oid id;
};

/* Takes one entry off the front of `*rest`, which is not empty. Checks only the
 * syntax: ERR_DAMAGED. */
MUST_CHECK bool tree_next(struct str *rest, struct tree_entry *out,
                          struct err *e);

/* Checks all entries of one folder of a package: names, modes, canonical order,
 * and that no two names are equal on some file system (row 3). Links are
 * allowed. The caller has limited the number of entries. */
MUST_CHECK bool tree_check(struct str tree, struct err *e);

/* An index of large folders by name, so that a thousand packages in one
 * folder do not scan it a thousand times. Keyed by tree id, so all commits
 * share it. */
struct tree_index {
    struct map folders; /* id of a tree -> struct map of its entries */
    size_t looked_at;   /* entries scanned for hints about similar names */
};

void tree_index_init(struct tree_index *index, struct arena *a);

/* The trees of one commit, as far as they are in memory. */
struct tree_source {
    const struct objects *objects;
    struct oid root;
    struct tree_index *index;    /* may be NULL */
    const struct limits *limits; /* for tree_list */
    /* For tree_list: receives folders of the package itself, which must be
     * fetched with everything below them. If NULL, they are added to
     * `wants`. */
    struct oid_set *folders;
};

struct tree_found {
    enum tree_kind kind; /* FOLDER, FILE, PROGRAM; UNKNOWN if `wants` was
                          * added to */
    struct oid id;
};

/*
 * Finds `path` ("" is the root; no "." or ".."), following links.
 *
 * Errors: ERR_PATH if there is no such entry, with similar names in the hint;
 * ERR_REFUSED for a submodule, and for a link that leaves the repository,
 * dangles or loops, with its path and target.
 */
MUST_CHECK bool tree_find(const struct tree_source *s, struct str path,
                          struct oid_set *wants, struct tree_found *out,
                          struct err *e);

/* A package that is no longer at its path. */
struct tree_sought {
    struct str name;  /* last part of the path */
    const char *file; /* manifest that a folder of that name has to have; NULL
                       * if the package is a file */
    struct oid id;    /* its object */
};

/*
 * Finds where a package has gone: a path with the same object, else the first
 * one of its name, hidden folders last. Scans a bounded number of entries of
 * the trees in memory. Returns false if there is none. `*path` is allocated in
 * `a`.
 */
bool tree_find_elsewhere(const struct tree_source *s,
                         const struct tree_sought *sought, struct arena *a,
                         struct str *path, struct oid *id);

/* A file in git trees, of which the content may not be here yet. */
struct tree_file {
    struct str path; /* below the package; the file's name if it is alone */
    bool is_program; /* mode 755, else 644 */
    bool is_outside; /* reached through a link that leaves the package's
                      * folder */
    struct oid blob;
};

struct tree_listing {
    enum tree_kind kind;     /* FOLDER; FILE, PROGRAM; UNKNOWN if `wants` was
                              * added to */
    struct oid id;           /* the package's own tree or blob */
    struct tree_file *files; /* sorted by the bytes of the path */
    size_t count;
    bool has_links; /* requesting `id` alone does not bring every blob */
};

/*
 * Lists the files of the package at `path` and validates everything. If `wants`
 * was added to, `kind` is UNKNOWN and the listing is incomplete.
 *
 * Ownership: the listing lives in `a`. Errors: as tree_find; ERR_REFUSED for
 * names, modes, submodules; ERR_LIMIT above package_max_files (folders count as
 * well), package_max_depth, PACKAGE_PATH_MAX_BYTES; ERR_DAMAGED for an invalid
 * tree. `out` is untouched on failure.
 */
MUST_CHECK bool tree_list(const struct tree_source *s, struct str path,
                          struct oid_set *wants, struct arena *a,
                          struct tree_listing *out, struct err *e);

#endif
