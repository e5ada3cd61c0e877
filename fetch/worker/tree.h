#ifndef FETCH_WORKER_TREE_H
#define FETCH_WORKER_TREE_H

#include "mapm/limits.h"

#include "objects.h"

/*
 * tree: git's trees, and the files of one package in them.
 *
 *     root tree + "skills/pdf" --> tree_find() --> folder or file
 *                              --> tree_list() --> path, mode, blob of each
 *
 * The whole repository is not ours to judge: names are checked on the way to
 * a package and inside it, nowhere else. Symbolic links are followed inside
 * the repository's own tree and what they name stands in their place. No
 * recursion: everything is iterative and counted by path.
 *
 * An object that is not here yet is no error: its id is put into `wants`,
 * and once it has been fetched and put into the table the same call is made
 * again.
 *
 * Source: FETCH.md 7; THREATS.md 1.3, 1.4, rows 1 to 4; DESIGN.md 5.
 */

#define TREE_LINKS_MAX      40   /* as Linux */
#define TREE_LINK_MAX_BYTES 4096 /* PATH_MAX */
#define TREE_PATH_MAX_DEPTH 128  /* of a folder in its repository */

/* Bounds of one walk of trees, links included. */
#define TREE_SCAN_MAX_BYTES (256ull * 1024 * 1024)

enum tree_kind {
    TREE_UNKNOWN, /* cannot be told before `wants` is here */
    TREE_FOLDER,
    TREE_FILE,
    TREE_PROGRAM, /* a file with the executable bit */
    TREE_LINK,
    TREE_SUBMODULE,
    TREE_ODD, /* any other mode: refused in a package */
};

struct tree_entry {
    enum tree_kind kind;
    uint32_t mode;
    struct str name; /* borrowed from the tree; any bytes */
    struct oid id;
};

/* Takes one entry off the front of `*rest`, which is not empty. Syntax only:
 * ERR_DAMAGED. */
MUST_CHECK bool tree_next(struct str *rest, struct tree_entry *out,
                          struct err *e);

/* All of one folder of a package, counted before: each name and mode, canonical order, no two
 * names that are one on some file system (row 3). Links are fine here. */
MUST_CHECK bool tree_check(struct str tree, struct err *e);

/* Large folders by name, so that a thousand packages of one folder do not
 * read it a thousand times. Keyed by id: one index for all commits. */
struct tree_index {
    struct map folders; /* id of a tree --> struct map of its entries */
    size_t looked_at;   /* entries, for hints at names that are near */
};

void tree_index_init(struct tree_index *index, struct arena *a);

/* The trees of one commit, as far as they are in memory. */
struct tree_source {
    const struct objects *objects;
    struct oid root;
    struct tree_index *index;    /* may be NULL */
    const struct limits *limits; /* for tree_list */
    /* For tree_list: folders of the package itself, which are wanted with all
     * that is below them. NULL: they go into `wants`. */
    struct oid_set *folders;
};

struct tree_found {
    enum tree_kind kind; /* FOLDER, FILE, PROGRAM; UNKNOWN: see `wants` */
    struct oid id;
};

/*
 * What `path` ("" is the root; no "." or "..") names, links followed.
 *
 * Errors: ERR_PATH when there is no such entry, with near names in the hint;
 * ERR_REFUSED for a link that leaves the repository, dangles or loops, with
 * its path and target, and for a submodule.
 */
MUST_CHECK bool tree_find(const struct tree_source *s, struct str path,
                          struct oid_set *wants, struct tree_found *out,
                          struct err *e);

struct tree_file {
    struct str path; /* below the package; of a lone file: its name */
    bool is_program; /* 755, else 644 */
    bool is_outside; /* a link led to it, out of the package's folder */
    struct oid blob;
};

struct tree_listing {
    enum tree_kind kind;     /* FOLDER; FILE, PROGRAM; UNKNOWN: see `wants` */
    struct oid id;           /* the package's own tree or blob */
    struct tree_file *files; /* by bytes of path */
    size_t count;
    bool has_links; /* `want <id>` alone does not bring every blob */
};

/*
 * The files of the package at `path`, everything checked. While `wants` was
 * added to, `kind` is UNKNOWN and the listing is not whole.
 *
 * Ownership: the listing lives in `a`. Errors: as tree_find; ERR_REFUSED for
 * names, modes, submodules; ERR_LIMIT past package_max_files (folders are
 * counted alike), package_max_depth, PACKAGE_PATH_MAX_BYTES; ERR_DAMAGED for
 * a tree that is none. `out` is untouched on failure.
 */
MUST_CHECK bool tree_list(const struct tree_source *s, struct str path,
                          struct oid_set *wants, struct arena *a,
                          struct tree_listing *out, struct err *e);

#endif
