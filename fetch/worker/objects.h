#ifndef FETCH_WORKER_OBJECTS_H
#define FETCH_WORKER_OBJECTS_H

#include "base/map.h"

/*
 * objects: an in-memory table of git objects, by id.
 *
 *     pack --> objects_put() --> objects_find() --> trees, commits, small blobs
 *
 * libgit2 computes the ids; its SHA-1 detects the known collision attacks, so
 * the content of an object in the table matches its id. git_libgit2_init() must
 * be called before oid_of().
 *
 * Source: FETCH.md 5; THREATS.md 1.1, 3.
 */

#define OID_BYTES     20
#define OID_HEX_CHARS 40

struct oid {
    uint8_t b[OID_BYTES];
};

bool oid_eq(const struct oid *a, const struct oid *b);
bool oid_is_zero(const struct oid *id);

/* Parses exactly 40 lower-case digits; else returns false and leaves `*out`. */
bool oid_parse(struct str hex, struct oid *out);
void oid_format(const struct oid *id, char out[OID_HEX_CHARS + 1]);

/* The values are those of the pack format. */
enum object_type {
    OBJECT_COMMIT = 1,
    OBJECT_TREE = 2,
    OBJECT_BLOB = 3,
    OBJECT_TAG = 4,
};

/* Returns "commit", for example. */
const char *object_type_name(enum object_type type);

/* Computes the id of an object. Errors: ERR_DAMAGED for a SHA-1 collision
 * attack. */
MUST_CHECK bool oid_of(enum object_type type, struct str bytes, struct oid *out,
                       struct err *e);

struct object {
    struct oid id;
    enum object_type type;
    struct str bytes;
};

struct objects {
    struct map map; /* 20 bytes of id -> struct object */
};

/* The table and its objects live in `a`. */
void objects_init(struct objects *o, struct arena *a);

/* Returns the object, at a stable address, or NULL if it is not in the
 * table. */
const struct object *objects_find(const struct objects *o,
                                  const struct oid *id);

/* Sets `*out` to the object, or to NULL if it is not in the table. Errors:
 * ERR_DAMAGED if it is not of `type`. */
MUST_CHECK bool objects_find_type(const struct objects *o, const struct oid *id,
                                  enum object_type type,
                                  const struct object **out, struct err *e);

/* Adds an object, copying the bytes, whose id is `id` (oid_of). Does nothing if
 * it is in the table. */
void objects_put(struct objects *o, enum object_type type, const struct oid *id,
                 struct str bytes);

/* A set of ids in order of insertion, for wants and haves. */
struct oid_set {
    struct map map;
};

void oid_set_init(struct oid_set *s, struct arena *a);
bool oid_set_has(const struct oid_set *s, const struct oid *id);
/* True if `id` is new. */
bool oid_set_put(struct oid_set *s, const struct oid *id);
size_t oid_set_count(const struct oid_set *s);
const struct oid *oid_set_get(const struct oid_set *s, size_t i);

/* Reads the tree of a commit. Errors: ERR_DAMAGED. */
MUST_CHECK bool commit_tree(struct str commit, struct oid *tree, struct err *e);

/* Iterates over the parents: start with `*at` 0; returns false after the
 * last. */
bool commit_next_parent(struct str commit, size_t *at, struct oid *parent);

/*
 * Returns whether the commits of `o` lead from `tip` back to `id`. The chain of
 * hashes proves that a commit belongs to a branch (FETCH.md 6, fork-only
 * commits).
 */
bool objects_lead_to(const struct objects *o, const struct oid *tip,
                     const struct oid *id);

/* Returns whether the blob is a git LFS pointer to content stored elsewhere. */
bool blob_is_lfs_pointer(struct str blob);

#endif
