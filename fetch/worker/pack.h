#ifndef FETCH_WORKER_PACK_H
#define FETCH_WORKER_PACK_H

#include "mapm/limits.h"

#include "objects.h"

/*
 * pack: parses git's pack format in one pass, in memory, as its bytes arrive.
 *
 *     bytes --> pack_feed() --> type, size, limits --> inflate --> delta
 *                   `--> sink.object(type, id, bytes) for each whole object
 *
 * Every declared size is compared with the limits before a byte is inflated,
 * and an object must inflate to exactly that size. The base of a delta may come
 * earlier or, if named by id, later in the pack, or from `sink.base`. Chains of
 * deltas of any length are resolved without recursion. Of the objects that the
 * sink keeps, the pack has the newest PACK_HELD_MAX_BYTES in memory.
 *
 * Source: git's gitformat-pack; FETCH.md 5; THREATS.md rows 4, 14, 30, 7.
 */

struct pack_limits {
    struct limit bytes;          /* size of the pack itself */
    struct limit objects;        /* count in its header */
    struct limit object;         /* size of one object, inflated or after a
                                  * delta */
    uint64_t max_inflated_bytes; /* total inflated size */
};

/*
 * Derives the limits from transfer_max_bytes, transfer_max_objects and
 * file_max_bytes; the inflated total is twice transfer_max_bytes. The last two
 * are never below the built-in limits: a pack also holds trees, and files that
 * are in no requested package.
 */
struct pack_limits pack_limits_of(const struct limits *l);

struct pack_sink {
    /* Called after the header, before anything is inflated. May be NULL. */
    bool (*header)(void *ctx, uint32_t count, struct err *e);

    /* Called once for each complete object with its computed id; `bytes` are
     * borrowed until pack_close, or until `keeps` returns true for the object.
     * Objects remain valid even if the rest of the pack is damaged. */
    bool (*object)(void *ctx, enum object_type type, const struct oid *id,
                   struct str bytes, struct err *e);

    /* Returns whether `base` can return this object of the pack from now on, so
     * that the pack need not keep its content. May be NULL. */
    bool (*keeps)(void *ctx, enum object_type type, const struct oid *id);

    /* Looks up the base of a delta that is not in the pack (thin pack), or that
     * the sink keeps. `*out` is allocated in `a` or valid until pack_close; NULL
     * if it is unknown. May be NULL if `keeps` is. */
    bool (*base)(void *ctx, const struct oid *id, struct arena *a,
                 const struct object **out, struct err *e);
    void *ctx;

    /* Skip deltas without a base, instead of reporting damage. */
    bool may_lack_bases;
};

struct pack;

/* git_libgit2_init() must have been called. The caller calls pack_close. */
struct pack *pack_open(const struct pack_limits *limits,
                       const struct pack_sink *sink);
void pack_close(struct pack **p); /* may be called twice; for CLEANUP */

/*
 * Errors: ERR_LIMIT naming the limit; ERR_DAMAGED for data that is not a pack,
 * for bytes after its end and for a wrong checksum; or the error of `sink`.
 * Nothing may be fed after an error.
 */
MUST_CHECK bool pack_feed(struct pack *p, struct str bytes, struct err *e);

/* Errors: ERR_DAMAGED if the pack is incomplete or the base of a delta is
 * missing. */
MUST_CHECK bool pack_end(struct pack *p, struct err *e);

/* Visits each object of a complete pack, with its size in the pack; that of a
 * delta excludes its base. */
void pack_each(const struct pack *p,
               void (*visit)(void *ctx, enum object_type type,
                             const struct oid *id, uint64_t packed_bytes),
               void *ctx);

/* Return the number of objects passed to the sink, and of bytes fed. */
uint32_t pack_object_count(const struct pack *p);
uint64_t pack_byte_count(const struct pack *p);
bool pack_is_whole(const struct pack *p); /* the last byte was fed */

#endif
