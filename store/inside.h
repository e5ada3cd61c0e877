#ifndef STORE_INSIDE_H
#define STORE_INSIDE_H

#include "mapm/store.h"

#include <sqlite3.h>
#include <stdatomic.h>

/* inside: what the files of this module share. */

#define OBJECT_PATH_BYTES 68 /* "ab/" and 62 digits, NUL */

enum statement {
    FIND_PACKAGE,
    PUT_PACKAGE,
    FIND_BLOB,
    PUT_BLOB,
    FIND_REF,
    PUT_REF,
    FIND_TREES,
    PUT_TREES,
    FIND_PROVED,
    PUT_PROVED,
    PUT_WORKSPACE,
    LIST_WORKSPACES,
    FORGET_WORKSPACE,
    COUNT_PACKAGES,
    COUNT_WORKSPACES,
    STATEMENT_COUNT,
};

struct store {
    struct arena arena;
    struct str home, shared;
    int home_fd, store_fd, objects_fd, incoming_fd, lock_fd;
    atomic_bool no_reflink; /* this file system cannot */
    sqlite3 *db;            /* NULL until it is needed */
    sqlite3_stmt *statements[STATEMENT_COUNT];
    bool db_failed; /* tried, and in vain: do not try for each question */
};

void object_path(const struct hash *h, char out[OBJECT_PATH_BYTES]);

/* Moves a bad object to damaged/: it counts as absent from now on. */
void object_set_aside(struct store *s, const struct hash *h);

/* Whole file, hashed in place. */
MUST_CHECK bool object_hash(int fd, struct hash *out, struct err *e);

/* Opens the index if it is not; ERR_REFUSED for a newer one. */
MUST_CHECK bool index_open(struct store *s, struct err *e);
void index_close(struct store *s);

/* Forgets rows that name objects which are gone. */
MUST_CHECK bool index_prune(struct store *s, struct err *e);

/* Rows of packages and of workspaces. */
MUST_CHECK bool index_count(struct store *s, uint64_t *packages,
                            uint64_t *workspaces, struct err *e);

#endif
