#ifndef FETCH_WORKER_PACK_H
#define FETCH_WORKER_PACK_H

#include "mapm/limits.h"

#include "objects.h"

/*
 * pack: git's pack format, read once, in memory, as its bytes arrive.
 *
 *     bytes --> pack_feed() --> type, size, limits --> inflate --> delta
 *                   `--> sink.object(type, id, bytes) for each whole object
 *
 * Every declared size is compared with the limits before a byte is inflated,
 * and an object inflates to exactly what it declared. Deltas build on objects
 * that came earlier or, by id, later, or on what `sink.base` knows; no
 * recursion, however long the chain.
 *
 * Source: git's gitformat-pack; FETCH.md 5; THREATS.md rows 4, 14, 30, 7.
 */

struct pack_limits {
    struct limit bytes;          /* of the pack itself */
    struct limit objects;        /* as its header declares */
    struct limit object;         /* bytes of one, inflated or after a delta */
    uint64_t max_inflated_bytes; /* all together: what stays in memory */
};

/*
 * transfer_max_bytes, transfer_max_objects, file_max_bytes; inflated twice
 * transfer_max_bytes. The last two are never below those of the program: a
 * pack holds trees, too, and files that no package of ours has.
 */
struct pack_limits pack_limits_of(const struct limits *l);

struct pack_sink {
    /* The header is here, nothing is inflated yet. May be NULL. */
    bool (*header)(void *ctx, uint32_t count, struct err *e);

    /* Called once for each object, complete and with its computed id; `bytes`
     * are borrowed until pack_close. Objects remain valid when the rest of
     * the pack is damaged. */
    bool (*object)(void *ctx, enum object_type type, const struct oid *id,
                   struct str bytes, struct err *e);

    /* The base of a delta that the pack leaves out (thin pack); false when
     * it is not known. `out->bytes` stays valid until pack_close. May be
     * NULL. */
    bool (*base)(void *ctx, const struct oid *id, struct object *out);
    void *ctx;

    /* Deltas without a base are skipped; else they are damage. */
    bool may_lack_bases;
};

struct pack;

/* git_libgit2_init() has been called. The caller closes. */
struct pack *pack_open(const struct pack_limits *limits,
                       const struct pack_sink *sink);
void pack_close(struct pack **p); /* twice is harmless; for CLEANUP */

/*
 * Errors: ERR_LIMIT naming which; ERR_DAMAGED for anything that is no pack,
 * for bytes after its end and a wrong checksum; or what `sink` reported.
 * After an error nothing more may be fed.
 */
MUST_CHECK bool pack_feed(struct pack *p, struct str bytes, struct err *e);

/* ERR_DAMAGED when the pack is not whole or a delta's base never came. */
MUST_CHECK bool pack_end(struct pack *p, struct err *e);

/* Of a pack that is whole each object, and its bytes in the pack: those of a
 * delta are without its base. */
void pack_each(const struct pack *p,
               void (*visit)(void *ctx, enum object_type type,
                             const struct oid *id, uint64_t packed_bytes),
               void *ctx);

/* Objects handed out so far, and bytes fed. */
uint32_t pack_object_count(const struct pack *p);
uint64_t pack_byte_count(const struct pack *p);
bool pack_is_whole(const struct pack *p); /* its last byte was fed */

#endif
