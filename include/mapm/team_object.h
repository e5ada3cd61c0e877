#ifndef MAPM_TEAM_OBJECT_H
#define MAPM_TEAM_OBJECT_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"

/*
 * team_object: a package, or a proof, as one file that any store can keep.
 *
 *     files --> team_object_write() --> .tar.gz, the same bytes each time
 *     .tar.gz --> team_object_read() --> files, or "not written by mapm"
 *
 * Regular files alone, in the order of their paths; mode 644 or 755, owner 0,
 * time 0; ustar, and a pax record for a path that ustar has no room for. The
 * reader takes what the writer writes: it formats each header again and
 * compares. Compression may differ from one zlib to another; what a package
 * is, is said by the digest of its listing alone. Pure: no files, no network.
 *
 * Source: TEAM.md 1.1.
 */

struct team_file {
    struct str path;
    struct str bytes;
    bool is_program; /* mode 755, else 644 */
};

/* What reading may cost. */
struct team_limits {
    size_t max_files;
    uint64_t max_bytes;      /* of all files */
    uint64_t file_max_bytes; /* of one */
};

/* Of a package by limits.h, of a proof, and of that of a marketplace. */
extern const struct team_limits team_package_limits, team_proof_limits,
    team_market_limits;

#define TEAM_OBJECT_MAX_BYTES (80u << 20)   /* compressed */
#define TEAM_PROOF_MAX_BYTES  (256u * 1024) /* of its objects */
/* With the marketplace.json, of which one of 400 plugins has some 256 KiB. */
#define TEAM_MARKET_MAX_BYTES (4u << 20)

/*
 * Appends the object to `out`; `*tar`, where not NULL, is the SHA-256 of what
 * is compressed. `files` are sorted in place.
 *
 * Errors: ERR_REFUSED for a path that no package may have, or one twice;
 * ERR_LIMIT past the maximum of `out` or TEAM_OBJECT_MAX_BYTES.
 */
MUST_CHECK bool team_object_write(struct team_file *files, size_t count,
                                  struct buf *out, struct hash *tar,
                                  struct err *e);

/*
 * Ownership: in `a`. `*files` and `*tar` (may be NULL) are untouched on failure.
 * Errors: ERR_FORMAT "not written by mapm: …", ERR_REFUSED for a path,
 * ERR_LIMIT.
 */
MUST_CHECK bool team_object_read(struct str gz,
                                 const struct team_limits *limits,
                                 struct arena *a, struct team_file **files,
                                 size_t *count, struct hash *tar,
                                 struct err *e);

/* --- names ---------------------------------------------------------------- */

/* "mapm1-<64 hex>": of the package with this digest (of its listing). */
struct str team_object_name(const struct hash *digest, struct arena *a);
/* "mapm1p-<64 hex>": of the proof that `commit` of the repository has `object`
 * (both 40 hex) at `path`. `identity`: host/owner/repo, as in HOSTS.md 4. */
struct str team_proof_name(struct str identity, struct str commit,
                           struct str path, struct str object, struct arena *a);
bool team_name_is_valid(struct str name); /* one of the two */

/* --- proofs ---------------------------------------------------------------- */

/* What the store keeps of a commit (fetch/worker/bundle.c), each object with
 * its id: computed once, for any number of proofs. */
struct team_trees {
    struct arena *arena;
    struct map objects;
    size_t walks;
};

/* `text` stays where it is. In `a`. Errors: ERR_NOT_FOUND when it is damaged,
 * ERR_LIMIT. */
MUST_CHECK bool team_trees_read(struct str text, struct arena *a,
                                struct team_trees *out, struct err *e);

struct team_proof_end {
    struct str path, object; /* 40 hex */
};

/*
 * The files of a proof are objects of git, each named by its id, the commit
 * first: besides it the trees on the way to each path and to what symbolic links
 * lead to, the texts of these links, and all trees below the packages.
 *
 * Nothing of it is believed: the reader computes every id, and follows the
 * trees as if they had come from the host. So it may prove several packages of
 * a commit at once, with the trees that they share in it once.
 *
 * In `a`; their bytes are those of `trees`. Errors: ERR_NOT_FOUND when one of
 * them is not in `trees`, or they do not lead to an object; ERR_LIMIT past
 * TEAM_PROOF_MAX_BYTES.
 */
MUST_CHECK bool team_proof_find(struct team_trees *trees, struct str commit,
                                const struct team_proof_end *ends, size_t count,
                                struct arena *a, struct team_file **files,
                                size_t *file_count, struct err *e);

/* In the name of the proof of an entry of a marketplace, instead of an object:
 * the caller knows the commit alone. */
#define TEAM_MARKET_OBJECT "marketplace"

/*
 * The commit, the trees on the way to each of `paths` as far as they are there,
 * and the first of them that is a file, with its text. In `a`, and errors: as
 * team_proof_find.
 */
MUST_CHECK bool team_market_find(struct team_trees *trees, struct str commit,
                                 const struct str *paths, size_t count,
                                 struct arena *a, struct team_file **files,
                                 size_t *file_count, struct err *e);

/* --- documents of an OCI registry --------------------------------------------- */

#define TEAM_MANIFEST_TYPE "application/vnd.oci.image.manifest.v1+json"
#define TEAM_INDEX_TYPE    "application/vnd.oci.image.index.v1+json"
#define TEAM_CONFIG_TYPE   "application/vnd.oci.image.config.v1+json"
#define TEAM_LAYER_TYPE    "application/vnd.oci.image.layer.v1.tar+gzip"
#define TEAM_PACKAGE_TYPE  "application/vnd.mapm.package.v1"
#define TEAM_PROOF_TYPE    "application/vnd.mapm.proof.v1"
#define TEAM_LOCK_TYPE     "application/vnd.mapm.lock.v1"

#define TEAM_MANIFEST_MAX_BYTES (256u * 1024)
#define TEAM_COMMIT_MAX_BYTES   (16u * 1024)

struct team_blob {
    struct hash digest;
    uint64_t size;
};

struct team_manifest {
    bool is_proof;
    struct team_blob config, layer;
    /* Information, which nothing relies on; empty ones are left out. */
    struct str digest;   /* "sha256:…", of the package's listing */
    struct str type;     /* "skill" */
    struct str title;    /* its name */
    struct str source;   /* its origin */
    struct str revision; /* 40 hex */
    /* The commit object as it is; over TEAM_COMMIT_MAX_BYTES it is left out.
     * When read: its base64. */
    struct str commit;
};

/* {"architecture":…}: what other tools want to see. `what`: "skill pdf". */
void team_config_write(struct str what, const struct hash *tar,
                       struct buf *out);
void team_manifest_write(const struct team_manifest *m, struct buf *out);
/* Borrows from `text` and `a`. ERR_FORMAT "not a mapm object: …". */
MUST_CHECK bool team_manifest_parse(struct str text, struct arena *a,
                                    struct team_manifest *out, struct err *e);

#endif
