#ifndef FETCH_WORKER_TREE_FOLDER_H
#define FETCH_WORKER_TREE_FOLDER_H

#include "tree.h"

/*
 * tree_folder: one folder of a repository, its location and its entries.
 * Private to the files that walk trees.
 */

/* The position of a walk: links lead into other folders, ".." leads back. */
struct folder {
    const struct folder *parent; /* NULL: the root of the repository */
    struct str name;             /* in its parent */
    struct oid tree;
    unsigned depth; /* 0: the root */
};

/* "skills/pdf" and, when it is not empty, "/" and `name`. In `a`. */
struct str folder_path(const struct folder *f, struct str name,
                       struct arena *a);

enum folder_answer {
    FOLDER_HAS,
    FOLDER_LACKS,
    FOLDER_ABSENT, /* its tree is not here yet */
};

/*
 * The entry `name` of `f`. `*scanned` counts the bytes that were read for
 * it. Errors: ERR_DAMAGED for no tree or a name that is there twice,
 * ERR_LIMIT past TREE_SCAN_MAX_BYTES.
 */
MUST_CHECK bool folder_find(const struct tree_source *s, const struct folder *f,
                            struct str name, uint64_t *scanned,
                            enum folder_answer *answer, struct tree_entry *out,
                            struct err *e);

/*
 * Adds a hint to `e`, which says that `f` has no `name`: names near to it in
 * `f`, or other places in the repository where the last component of `path`
 * is found. Looks at a bounded number of entries.
 */
void folder_hint_near(const struct tree_source *s, const struct folder *f,
                      struct str name, struct str path, struct err *e);

#endif
