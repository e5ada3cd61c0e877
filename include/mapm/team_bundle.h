#ifndef MAPM_TEAM_BUNDLE_H
#define MAPM_TEAM_BUNDLE_H

#include "base/map.h"
#include "mapm/team_object.h"

/*
 * team_bundle: reads and writes a file with objects of a team store and a lock.
 *
 *     team_bundle_begin(), _add() …, _end()  --> an OCI image layout as a tar
 *     team_bundle_open(), _get(), _lock()    <-- read piece by piece
 *
 *     blobs/sha256/<64 hex> …   in this order
 *     index.json                one entry per image, by name, and the lock
 *     oci-layout
 *
 * The same objects produce the same bytes. The reader accepts only the output
 * of the writer: it formats entries again and compares them, and verifies the
 * hash of each blob that it uses. It keeps only names in memory, regardless of
 * the size that the file claims.
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
    struct hash digest; /* digest of its manifest, or of the lock */
    uint64_t size;
    bool is_lock;
};

struct team_bundle_writer {
    struct arena arena;
    int scratch; /* scratch file with the added blobs, owned by the caller */
    uint64_t scratch_bytes;
    struct team_bundle_blob *blobs;
    size_t blob_count, blob_capacity;
    struct team_bundle_image *images;
    size_t image_count, image_capacity;
};

/* Begins a bundle. `scratch` is an empty unnamed file, open for
 * reading and writing. */
void team_bundle_begin(struct team_bundle_writer *w, int scratch);
void team_bundle_done(struct team_bundle_writer *w);
MUST_CHECK bool team_bundle_add(struct team_bundle_writer *w, struct str name,
                                struct str manifest, struct str config,
                                struct str layer, struct err *e);
/* Adds a name for the last object. */
void team_bundle_name(struct team_bundle_writer *w, struct str name);
MUST_CHECK bool team_bundle_add_lock(struct team_bundle_writer *w,
                                     struct str lock, struct err *e);
/* Writes the bundle to `fd`. */
MUST_CHECK bool team_bundle_end(struct team_bundle_writer *w, int fd,
                                struct err *e);

/* --- reading -------------------------------------------------------------- */

struct team_bundle {
    int fd;           /* owned by the caller */
    struct map blobs; /* map of 32-byte digests to positions */
    struct map names; /* map to 32-byte digests of manifests */
    struct hash lock;
    bool has_lock;
};

/* Opens a bundle. Allocated in `a`, which must live as long. Errors: ERR_FORMAT
 * "not a bundle of mapm: …". */
MUST_CHECK bool team_bundle_open(int fd, struct arena *a,
                                 struct team_bundle *out, struct err *e);
enum team_found { TEAM_IS_ABSENT, TEAM_IS_READ, TEAM_IS_KNOWN };

/* Reads the .tar.gz of an image into `out`, unless it has the digest `known`,
 * which may be NULL: several names may share one. Errors: ERR_FORMAT;
 * ERR_DAMAGED for a blob that does not match its name; ERR_LIMIT for the maximum
 * of `out`. */
MUST_CHECK bool team_bundle_get(const struct team_bundle *b, struct str name,
                                const struct hash *known, struct buf *out,
                                enum team_found *found, struct err *e);
/* Reads the lock, allocated in `a`. Errors: ERR_NOT_FOUND. */
MUST_CHECK bool team_bundle_lock(const struct team_bundle *b, struct arena *a,
                                 struct str *out, struct err *e);

#endif
