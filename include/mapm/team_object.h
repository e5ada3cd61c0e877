#ifndef MAPM_TEAM_OBJECT_H
#define MAPM_TEAM_OBJECT_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"
#include "mapm/limits.h"

/*
 * team_object: reads and writes a package or a proof as one file, for
 * any kind of store.
 *
 *     files --> team_object_write() --> .tar.gz, the same bytes each time
 *     .tar.gz --> team_object_read() --> files, or "not written by mapm"
 *
 * The archive has regular files only, sorted by path; mode 644 or 755, owner
 * 0, time 0; format ustar, with a pax record for a path that does not fit
 * into ustar. The reader accepts only the output of the writer: it formats
 * each header again and compares. Compression may differ between versions of
 * zlib; a package is identified only by the digest of its listing. No file
 * or network access.
 *
 * Source: TEAM.md 1.1.
 */

/* A file in an archive of a package or a proof, with its
 * content. */
struct archive_file {
    struct str path; /* relative, without ".." */
    struct str bytes;
    bool executable; /* mode 755, otherwise 644 */
};

/* Limits for reading. */
struct team_limits {
    size_t max_files;
    uint64_t max_bytes;      /* total size of all files */
    uint64_t file_max_bytes; /* size of one file */
};

/* Limits for packages, for proofs in a team store, for those in a bundle or a
 * vendor folder, and for proofs of marketplaces and of skills of an index. */
extern const struct team_limits team_package_limits, team_proof_limits,
    team_bundle_limits, team_market_limits, team_artifact_limits;

/*
 * Appends the object to `out`; `*tar`, if not NULL, is the SHA-256 of the
 * uncompressed tar. Sorts `files` in place.
 *
 * Errors: ERR_REFUSED for a path that a package must not have, or a duplicate;
 * ERR_LIMIT for the maximum of `out` or TEAM_OBJECT_MAX_BYTES.
 */
MUST_CHECK bool team_object_write(struct archive_file *files, size_t count,
                                  struct buf *out, struct hash *tar,
                                  struct err *e);

/* Reads an object.
 * Ownership: allocated in `a`. `*files` and `*tar` (may be NULL) are
 * unchanged on failure.
 * Errors: ERR_FORMAT "not written by mapm: …", ERR_REFUSED for a
 * path, ERR_LIMIT. */
MUST_CHECK bool team_object_read(struct str gz,
                                 const struct team_limits *limits,
                                 struct arena *a, struct archive_file **files,
                                 size_t *count, struct hash *tar,
                                 struct err *e);

/* --- names ---------------------------------------------------------------- */

/* Returns "mapm1-<64 hex>", the name of the package with this digest
 * of its listing. */
struct str team_object_name(const struct hash *digest, struct arena *a);
/* Returns "mapm1p-<64 hex>", the name of the proof that `commit` of the
 * repository has `object` (both 40 hex digits) at `path`. `identity` is
 * host/owner/repo, as in HOSTS.md 4. */
struct str team_proof_name(struct str identity, struct str commit,
                           struct str path, struct str object, struct arena *a);
/* Returns the name, of the same form, of a tree (40 hex digits) that proofs of the
 * repository lack: team_proof_split. */
struct str team_tree_name(struct str identity, struct str tree,
                          struct arena *a);
/* Returns the name, of the same form, of the proof of a skill of an index: an
 * object with one file, the artifact as its host sent it, which is named by its
 * SHA-256 in hex. It proves the package that results from unpacking it. */
struct str team_artifact_name(const struct hash *artifact, struct arena *a);
bool team_name_is_valid(struct str name); /* one of the two forms */

/* --- proofs ---------------------------------------------------------------- */

/* The stored objects of a commit (fetch/worker/bundle.c) with their ids, which
 * are computed once for any number of proofs. */
struct team_trees {
    struct arena *arena;
    struct map objects;
    size_t walks;
};

/* Parses the stored objects. `text` must outlive the result, which is allocated
 * in `a`. Errors: ERR_NOT_FOUND if it is damaged, ERR_LIMIT. */
MUST_CHECK bool team_trees_read(struct str text, struct arena *a,
                                struct team_trees *out, struct err *e);
/* Finds an object by its id in hex; its bytes are those of `trees`. */
bool team_trees_find(const struct team_trees *trees, struct str hex,
                     struct str *bytes);

struct team_proof_end {
    struct str path, object; /* 40 hex */
};

/*
 * Finds the files of a proof, which are git objects named by their ids:
 * the commit first, then the trees on the path to each package and to the
 * targets of symbolic links, the texts of these links, and all trees
 * below the packages.
 *
 * A proof is not trusted: the reader computes every id and follows the trees as
 * if they came from the host. It may therefore prove several packages of a
 * commit, with their common trees only once.
 *
 * Allocated in `a`; the bytes are those of `trees`.
 * Errors: ERR_NOT_FOUND if an object is missing in `trees`, or they do not lead
 * to a package; ERR_LIMIT for `limits`.
 */
MUST_CHECK bool team_proof_find(struct team_trees *trees, struct str commit,
                                const struct team_proof_end *ends, size_t count,
                                const struct team_limits *limits,
                                struct arena *a, struct archive_file **files,
                                size_t *file_count, struct err *e);

/*
 * In a team store a tree of more than TEAM_TREE_MAX_BYTES can be an object of its
 * own, since every package below it needs it: in each proof it would make the
 * store grow with the square of the number of packages. The proof has the size of
 * the tree in its place.
 *
 * Replaces in `files`, of team_proof_find, the large trees whose names
 * (team_tree_name) are keys of `apart`. Allocated in `a`.
 */
void team_proof_split(struct archive_file *files, size_t count,
                      struct str identity, const struct map *apart,
                      struct arena *a);
/* Parses what such a proof has in place of a tree. */
bool team_tree_size(struct str bytes, size_t *size);

/* Takes the place of the object in the name of the proof for an entry of a
 * marketplace, because the caller knows only the commit. */
#define TEAM_MARKET_OBJECT "marketplace"

/* Finds the commit, the existing trees on the path to each of `paths`, and the
 * first of these that is a file, with its text. Allocation and errors: as
 * team_proof_find. */
MUST_CHECK bool team_market_find(struct team_trees *trees, struct str commit,
                                 const struct str *paths, size_t count,
                                 struct arena *a, struct archive_file **files,
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
    /* Informative members, which are not relied upon; empty ones are
     * omitted. */
    struct str digest;   /* "sha256:…", digest of the package's listing */
    struct str type;     /* "skill" */
    struct str title;    /* name of the package */
    struct str source;   /* origin of the package */
    struct str revision; /* 40 hex */
    /* The commit object, omitted if larger than TEAM_COMMIT_MAX_BYTES; its
     * base64 when read. */
    struct str commit;
};

/* Writes the image configuration that other tools expect, {"architecture":…}.
 * `what` is "skill pdf". */
void team_config_write(struct str what, const struct hash *tar,
                       struct buf *out);
void team_manifest_write(const struct team_manifest *m, struct buf *out);
/* Parses a manifest. Borrows from `text` and `a`. Errors: ERR_FORMAT "not a
 * mapm object: …". */
MUST_CHECK bool team_manifest_parse(struct str text, struct arena *a,
                                    struct team_manifest *out, struct err *e);

#endif
