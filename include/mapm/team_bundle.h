#ifndef MAPM_TEAM_BUNDLE_H
#define MAPM_TEAM_BUNDLE_H

#include "base/map.h"
#include "mapm/team_object.h"

/*
 * team_bundle: objects of a team store, and a lock, as one file.
 *
 *     team_bundle_begin(), _add() …, _end()  --> an OCI image layout as a tar
 *     team_bundle_open(), _get(), _lock()    <-- read piece by piece
 *
 *     blobs/sha256/<64 hex> …   in this order
 *     index.json                one entry an image, by name, and the lock
 *     oci-layout
 *
 * The same objects give the same bytes. The reader takes what the writer
 * writes: entries are formatted again and compared, each blob is hashed when it
 * is used. It holds the names alone in memory, however large the file claims
 * to be.
 *
 * Source: S4; TEAM.md 2.
 */

#define TEAM_BUNDLE_MAX_IMAGES 200000
#define TEAM_INDEX_MAX_BYTES   (96u << 20)

/* --- writing -------------------------------------------------------------- */

struct team_bundle_blob {
    struct hash digest;
    uint64_t offset, size; /* in the scratch file */
};

struct team_bundle_image {
    struct str name;
    struct hash digest; /* of its manifest; of the lock */
    uint64_t size;
    bool is_lock;
};

struct team_bundle_writer {
    struct arena arena;
    int scratch; /* what was added, one after the other; the caller's */
    uint64_t scratch_bytes;
    struct team_bundle_blob *blobs;
    size_t blob_count, blob_capacity;
    struct team_bundle_image *images;
    size_t image_count, image_capacity;
};

/* `scratch`: a file without a name, empty, open for both. */
void team_bundle_begin(struct team_bundle_writer *w, int scratch);
void team_bundle_done(struct team_bundle_writer *w);
MUST_CHECK bool team_bundle_add(struct team_bundle_writer *w, struct str name,
                                struct str manifest, struct str config,
                                struct str layer, struct err *e);
/* Another name of what was added last. */
void team_bundle_name(struct team_bundle_writer *w, struct str name);
MUST_CHECK bool team_bundle_add_lock(struct team_bundle_writer *w,
                                     struct str lock, struct err *e);
/* Writes all of it to `fd`. */
MUST_CHECK bool team_bundle_end(struct team_bundle_writer *w, int fd,
                                struct err *e);

/* --- reading -------------------------------------------------------------- */

struct team_bundle {
    int fd;           /* the caller's */
    struct map blobs; /* 32 bytes of digest -> where it is */
    struct map names; /* -> 32 bytes of digest of the manifest */
    struct hash lock;
    bool has_lock;
};

/* In `a`, which lives as long. Errors: ERR_FORMAT "not a bundle of mapm: …". */
MUST_CHECK bool team_bundle_open(int fd, struct arena *a,
                                 struct team_bundle *out, struct err *e);
/* The .tar.gz of an image, into `out`; `*found` false: there is none. Errors:
 * ERR_FORMAT, ERR_DAMAGED for a blob that is not what its name says, ERR_LIMIT
 * past the maximum of `out`. */
MUST_CHECK bool team_bundle_get(const struct team_bundle *b, struct str name,
                                struct buf *out, bool *found, struct err *e);
/* ERR_NOT_FOUND without one. In `a`. */
MUST_CHECK bool team_bundle_lock(const struct team_bundle *b, struct arena *a,
                                 struct str *out, struct err *e);

#endif
