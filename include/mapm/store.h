#ifndef MAPM_STORE_H
#define MAPM_STORE_H

#include "mapm/limits.h"
#include "mapm/package_file.h"
#include "mapm/state_index.h"

#include <sys/stat.h>
#include <sys/types.h>

/*
 * store: the content-addressed cache shared by all projects of a user.
 *
 *     <data>/store/packs/            many small objects in one file each:
 *                                    those of one fetch
 *     <data>/store/objects/ab/cdef…  other objects, by SHA-256, written once
 *     <data>/store/incoming/         data being fetched, by session
 *     <data>/store/lock              shared: installs; exclusive: gc
 *     <data>/store/locks/            one per repository, held by a download
 *     <data>/mapm.db                 sqlite: index, trust, runs, events;
 *                                    opened when needed
 *     <data>/shared/                 ${sharedDir}
 *
 * A package is an object as well: its listing, `mode SP sha256 SP path LF` for
 * each file, sorted by path, so that its digest leads to all of its bytes
 * without the index. All data is verified by hash when it is read; a damaged
 * object is set aside and treated as absent. The index is a cache of resolved
 * names and may be lost; trust and history, in the same file, may not.
 *
 * Source: DESIGN.md 3.2, 4; THREATS.md rows 24 to 28.
 */

struct store;

/* Gets the data folder: $MAPM_HOME, or
 * ${XDG_DATA_HOME:-~/.local/share}/mapm; relative values are ignored (row
 * 29). Allocated in `a`. Errors: ERR_FAILED if none is set. */
MUST_CHECK bool store_find_home(struct arena *a, struct str *path,
                                struct err *e);

/* Opens the store and creates missing folders (0700). Fast, because the index
 * is opened at its first use. store_close accepts NULL. Errors: ERR_REFUSED for
 * a folder that another user owns or can write. */
MUST_CHECK bool store_open(struct str home, struct store **out, struct err *e);
void store_close(struct store *s);

/* Releases the lock of the store, for a long command that will only read
 * mapm.db, so that store_gc need not wait for it. */
void store_unlock(struct store *s);

/* Returns mapm.db of the same folder, borrowed. */
struct state *store_state(const struct store *s);

/* Returns false with the first error if a query failed: then "not found"
 * is not reliable. */
bool store_works(const struct store *s, struct err *e);
/* Calls state_begin_glance, unless store_works is false. */
bool store_begin_glance(struct store *s);

struct str store_home(const struct store *s);       /* absolute path */
struct str store_shared_dir(const struct store *s); /* absolute path */
MUST_CHECK bool store_make_shared_dir(struct store *s, struct err *e);

/* --- objects -------------------------------------------------------------- */

bool store_has(struct store *s, const struct hash *h); /* does not verify the
                                                          hash */

/* Returns the number of objects found damaged and set aside since store_open:
 * they are absent from then on, and are fetched again. */
unsigned store_damaged(const struct store *s);

/* Reads an object and verifies its hash. Errors: ERR_NOT_FOUND if it is absent,
 * or was damaged and set aside, which `e` notes. */
MUST_CHECK bool store_read(struct store *s, const struct hash *h,
                           size_t max_bytes, struct arena *a, struct str *out,
                           struct err *e);

/* Adds an object, if it is not present. Replaces a damaged object. */
MUST_CHECK bool store_put(struct store *s, struct str content, struct hash *out,
                          struct err *e);

enum store_link {
    STORE_LINK_AUTO,
    STORE_LINK_COPY,
    STORE_LINK_HARDLINK,
    STORE_LINK_REFLINK
};

/* Writes the object to the new file `path` below `dirfd`, whose folders exist,
 * with exactly `mode`; `*st` (may be NULL) is its status. The hash of the
 * written data is verified. AUTO uses a reflink if the file system supports
 * it, otherwise a copy. HARDLINK and REFLINK fail with ERR_FAILED if not
 * supported. Thread-safe. */
MUST_CHECK bool store_place(struct store *s, const struct hash *h,
                            enum store_link how, int dirfd, const char *path,
                            mode_t mode, struct stat *st, struct err *e);

/* A folder below incoming/ for one session; store_session_end removes it with
 * its files. Holds the shared lock of the store until then. */
struct store_session {
    int dirfd;   /* -1 if none */
    int part_fd; /* descriptor of file "part-N", N = `part`; -1 if none */
    uint64_t part;
    struct str path; /* absolute path */
    char name[32];
};
MUST_CHECK bool store_session_begin(struct store *s, struct store_session *out,
                                    struct err *e);
void store_session_end(struct store *s, struct store_session *session);

/*
 * Moves a received object into the store after verifying its hash: ERR_DAMAGED
 * if it is not `h`. An object of at least PACK_OBJECT_MAX_BYTES is a file of
 * the session's folder named by its hash in hexadecimal, which is moved. A
 * smaller object is at `offset` of the concatenated files "part-0", "part-1",
 * …, of PART_MAX_BYTES each; an empty one is in no file.
 */
MUST_CHECK bool store_adopt(struct store *s, struct store_session *session,
                            uint64_t offset, uint64_t size,
                            const struct hash *h, struct err *e);

/*
 * From now on, objects and rows of the index are staged: only this process
 * finds them. store_publish moves them into the store; without it store_close
 * discards them, so that a refused install leaves the store unchanged.
 * store_publish_notes writes the rows afterwards, in one transaction: they are
 * a cache, and losing them costs a fetch.
 */
void store_begin_staging(struct store *s);
/* Declares that staged blobs are not looked up any more. */
void store_end_fetch(struct store *s);
MUST_CHECK bool store_publish(struct store *s, struct err *e);
MUST_CHECK bool store_publish_notes(struct store *s, struct err *e);

/* --- packages ------------------------------------------------------------- */

/* Makes the text of a listing and returns its digest; sorts `files` in place.
 * Allocated in `a`. */
struct hash store_listing_format(struct package_file *files, size_t count,
                                 struct arena *a, struct str *text);
/* Parses a listing strictly: order, modes 100644 and 100755, valid paths,
 * limits. Errors: ERR_FORMAT. */
MUST_CHECK bool store_listing_parse(struct str text, struct arena *a,
                                    struct package_file **files, size_t *count,
                                    struct err *e);
MUST_CHECK bool store_read_listing(struct store *s, const struct hash *digest,
                                   struct arena *a, struct package_file **files,
                                   size_t *count, struct err *e);
/* Gets the listing of a package if all its files are present, without verifying
 * their hashes. Returns false if anything is missing or damaged. */
bool store_find_files(struct store *s, const struct hash *digest,
                      struct arena *a, struct package_file **files,
                      size_t *count);
bool store_has_package(struct store *s, const struct hash *digest);

/* --- the index (all strings borrowed in, results in `a`) ------------------ */

/* These functions write rows, which are staged together with their objects.
 * state_index.h reads published rows. */
MUST_CHECK bool store_put_package(struct store *s, struct str repository,
                                  struct str commit, struct str path,
                                  const struct state_package *p, struct err *e);

/* Finds the SHA-256 and size of a git blob id, if the object is present. */
bool store_find_blob(struct store *s, struct str oid, struct hash *h,
                     uint64_t *size);
MUST_CHECK bool store_put_blob(struct store *s, struct str oid,
                               const struct hash *h, uint64_t size,
                               struct err *e);

MUST_CHECK bool store_put_ref(struct store *s, struct str repository,
                              struct str rest, const struct state_ref *r,
                              struct err *e);

/* --- one download for many processes (F11) -------------------------------- */

/*
 * Locks the repository for a download by this process, until
 * store_publish_notes, store_end_downloads or store_close. Waits at most
 * DOWNLOAD_WAIT_SECONDS for a download of another process, and only while this
 * process holds no other such lock, so that there is no deadlock. `waiting`
 * (may be NULL) is called once before it waits. `*taken` is set if the lock was
 * acquired now; objects that another process stored are then visible. Without
 * the lock (read-only store, or timeout) each process downloads on its own.
 * Errors: ERR_INTERRUPTED.
 */
MUST_CHECK bool store_begin_download(struct store *s, struct str repository,
                                     void (*waiting)(void *ctx), void *ctx,
                                     bool *taken, struct err *e);
/* Releases the lock if no download is needed. */
void store_cancel_download(struct store *s, struct str repository);
void store_end_downloads(struct store *s);

/* While the lock is held: finds the commit that another process got from the
 * host after this process had opened the store. Allocated in `a`. */
bool store_find_fresh_ref(struct store *s, struct str repository,
                          struct str rest, struct arena *a, struct str *commit);

/* The trees of a commit as one object (FETCH 3). */
bool store_find_trees(struct store *s, struct str repository, struct str commit,
                      struct arena *a, struct str *bytes);
MUST_CHECK bool store_put_trees(struct store *s, struct str repository,
                                struct str commit, struct str bytes,
                                struct err *e);

MUST_CHECK bool store_put_proof(struct store *s, const struct state_proof *p,
                                struct err *e);

MUST_CHECK bool store_put_reachable(struct store *s, struct str repository,
                                    struct str commit, struct err *e);

/* Capabilities of a git server, cached for FETCH_CAPS_MAX_DAYS.
 * Allocated in `a`. */
bool store_find_host(struct store *s, struct str place, struct arena *a,
                     struct str *caps);
MUST_CHECK bool store_put_host(struct store *s, struct str place,
                               struct str caps, struct err *e);

/* Combine several writes into one transaction; otherwise each write is its own.
 * Without the commit, store_close discards them. */
MUST_CHECK bool store_begin(struct store *s, struct err *e);
MUST_CHECK bool store_commit(struct store *s, struct err *e);

/* --- upkeep --------------------------------------------------------------- */

struct store_stats {
    uint64_t objects, bytes; /* on disk */
    uint64_t packages, workspaces;
    uint64_t incoming, damaged; /* left over; set aside */
    uint64_t damaged_bytes;
};
MUST_CHECK bool store_stats(struct store *s, struct store_stats *out,
                            struct err *e);

/* Verifies the hash of every object; sets damaged ones aside and reports them
 * to `bad(ctx, hex)`. Does not count bytes. */
MUST_CHECK bool store_verify(struct store *s,
                             void (*bad)(void *ctx, const char *hex), void *ctx,
                             struct store_stats *out, struct err *e);

/* Locks the store exclusively, as store_gc needs it, so that no install changes
 * it. Waits `wait_ms` for the processes that use the store, after calling
 * `waiting(ctx)` once, then fails with ERR_BUSY. */
MUST_CHECK bool store_lock_alone(struct store *s, unsigned wait_ms,
                                 void (*waiting)(void *), void *ctx,
                                 struct err *e);
/* Returns the other processes that hold the lock, for a message: "process 12
 * (mapm mcp)", separated by commas; "" if unknown. Allocated in `a`. */
struct str store_users(const struct store *s, struct arena *a);

/* Removes objects that are older than STORE_GC_MIN_AGE_SECONDS and not
 * reachable from `keep` (digests of packages in locks). Locks the store
 * exclusively without waiting, unless store_lock_alone did. Never
 * changes shared/. */
MUST_CHECK bool store_gc(struct store *s, const struct hash *keep,
                         size_t keep_count, bool dry_run,
                         struct store_stats *removed, struct err *e);

#endif
