#ifndef FETCH_WORKER_OBJECTS_H
#define FETCH_WORKER_OBJECTS_H

#include "base/map.h"

/*
 * objects: git's objects in memory, by id.
 *
 *     pack --> objects_put() --> objects_find() --> trees, commits, small blobs
 *
 * Ids are computed by libgit2, whose SHA-1 notices the known collision
 * attacks: what is in the table is what its id says. git_libgit2_init() has
 * been called before oid_of().
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

/* Exactly 40 lower-case digits, or false and `*out` untouched. */
bool oid_parse(struct str hex, struct oid *out);
void oid_format(const struct oid *id, char out[OID_HEX_CHARS + 1]);

/* The numbers are those of the pack format. */
enum object_type {
    OBJECT_COMMIT = 1,
    OBJECT_TREE = 2,
    OBJECT_BLOB = 3,
    OBJECT_TAG = 4,
};

const char *object_type_name(enum object_type type); /* "commit" */

/* The id of these bytes. ERR_DAMAGED for a SHA-1 collision attack. */
MUST_CHECK bool oid_of(enum object_type type, struct str bytes, struct oid *out,
                       struct err *e);

struct object {
    struct oid id;
    enum object_type type;
    struct str bytes;
};

struct objects {
    struct map map; /* 20 bytes of id --> struct object */
};

/* Everything in it lives in `a`. */
void objects_init(struct objects *o, struct arena *a);

/* Borrowed, and stays where it is; NULL when it is not here. */
const struct object *objects_find(const struct objects *o,
                                  const struct oid *id);

/* The same, with ERR_DAMAGED when it is not of `type`; `*out` NULL when it is
 * not here. */
MUST_CHECK bool objects_find_type(const struct objects *o, const struct oid *id,
                                  enum object_type type,
                                  const struct object **out, struct err *e);

/* Copies the bytes. `id` was computed from them (oid_of). Twice is harmless. */
void objects_put(struct objects *o, enum object_type type, const struct oid *id,
                 struct str bytes);

/* A set of ids in order of insertion, for wants and haves. */
struct oid_set {
    struct map map;
};

void oid_set_init(struct oid_set *s, struct arena *a);
bool oid_set_has(const struct oid_set *s, const struct oid *id);
bool oid_set_put(struct oid_set *s, const struct oid *id); /* true: it is new */
size_t oid_set_count(const struct oid_set *s);
const struct oid *oid_set_get(const struct oid_set *s, size_t i);

/* The tree of a commit. ERR_DAMAGED. */
MUST_CHECK bool commit_tree(struct str commit, struct oid *tree, struct err *e);

/* Parents one after the other: start with `*at` 0; false after the last. */
bool commit_next_parent(struct str commit, size_t *at, struct oid *parent);

/*
 * Do the commits of `o` lead from `tip` back to `id`? The chain of hashes is
 * the proof that a commit belongs to a branch (FETCH.md 6, fork-only commits).
 */
bool objects_lead_to(const struct objects *o, const struct oid *tip,
                     const struct oid *id);

/* A pointer to content kept elsewhere (git LFS). */
bool blob_is_lfs_pointer(struct str blob);

#endif
