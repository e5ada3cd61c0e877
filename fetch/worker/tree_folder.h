#ifndef FETCH_WORKER_TREE_FOLDER_H
#define FETCH_WORKER_TREE_FOLDER_H

#include "tree.h"

/*
 * tree_folder: one folder of a repository, its location and its entries.
 * Private to the files that walk trees.
 */

/* The position of a walk. A link may lead into another folder; ".." leads to
 * the parent. */
struct folder {
    const struct folder *parent; /* NULL for the root of the repository */
    struct str name;             /* name in its parent */
    struct oid tree;
    unsigned depth; /* 0 for the root */
};

/* Returns "skills/pdf", followed by "/" and `name` unless that is empty.
 * Allocated in `a`. */
struct str folder_path(const struct folder *f, struct str name,
                       struct arena *a);

enum folder_answer {
    FOLDER_HAS,
    FOLDER_LACKS,
    FOLDER_ABSENT, /* its tree has not been fetched yet */
};

/*
 * Finds the entry `name` of `f`. Adds the bytes read to `*scanned`. Errors:
 * ERR_DAMAGED for an invalid tree or a duplicate name, ERR_LIMIT above
 * TREE_SCAN_MAX_BYTES.
 */
MUST_CHECK bool folder_find(const struct tree_source *s, const struct folder *f,
                            struct str name, uint64_t *scanned,
                            enum folder_answer *answer, struct tree_entry *out,
                            struct err *e);

/*
 * Adds a hint to `e`, which reports that `f` has no `name`: similar names in
 * `f`, or other paths in the repository that end with the last component of
 * `path`. Scans a bounded number of entries.
 */
void folder_hint_near(const struct tree_source *s, const struct folder *f,
                      struct str name, struct str path, struct err *e);

#endif
