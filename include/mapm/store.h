#ifndef MAPM_STORE_H
#define MAPM_STORE_H

#include "mapm/limits.h"
#include "mapm/package_file.h"
#include "mapm/state_index.h"

#include <sys/stat.h>
#include <sys/types.h>

/*
 * store: the content-addressed cache that all projects of a user share.
 *
 *     <data>/store/packs/            many small objects in one file each:
 *                                    what one fetch brought
 *     <data>/store/objects/ab/cdef…  the others, by SHA-256, written once
 *     <data>/store/incoming/         what is being fetched, by session
 *     <data>/store/lock              shared: installs; exclusive: gc
 *     <data>/store/locks/            one per repository: who downloads from it
 *     <data>/mapm.db                 sqlite: index, trust, runs, events;
 *                                    opened when needed
 *     <data>/shared/                 ${sharedDir}
 *
 * A package is an object too: its *listing*, `mode SP sha256 SP path LF` for
 * each file, sorted by path bytes. So a digest leads to every byte below it,
 * without the index. Everything read is hashed; what does not fit is set
 * aside and counts as absent. The index may be lost: it is a cache of
 * what names were resolved to. Trust and history, in the same file, are not.
 *
 * Source: DESIGN.md 3.2, 4; THREATS.md rows 24 to 28.
 */

struct store;

/* $MAPM_HOME, else ${XDG_DATA_HOME:-~/.local/share}/mapm; relative values
 * are ignored (row 29). ERR_FAILED without any. In `a`. */
MUST_CHECK bool store_find_home(struct arena *a, struct str *path,
                                struct err *e);

/*
 * Opens the store and creates missing folders (0700). ERR_REFUSED for a
 * folder that another user owns or may write. Cheap: the index is opened at
 * its first use. `store_close` on NULL is harmless.
 */
MUST_CHECK bool store_open(struct str home, struct store **out, struct err *e);
void store_close(struct store *s);

/* Gives up the store's lock, for a command that lasts and reads only mapm.db
 * from here on: store_gc need not wait for it. */
void store_unlock(struct store *s);

/* mapm.db of the same folder. Borrowed. */
struct state *store_state(const struct store *s);

/* False with the first error when a question was not answered because of one:
 * then "not found" says nothing. */
bool store_works(const struct store *s, struct err *e);
/* state_begin_glance, unless store_works is false already. */
bool store_begin_glance(struct store *s);

struct str store_home(const struct store *s);       /* absolute path */
struct str store_shared_dir(const struct store *s); /* absolute path */
MUST_CHECK bool store_make_shared_dir(struct store *s, struct err *e);

/* --- objects -------------------------------------------------------------- */

bool store_has(struct store *s, const struct hash *h); /* no hashing */

/* The number of objects found damaged and set aside since store_open: they
 * are absent from then on, and are fetched again. */
unsigned store_damaged(const struct store *s);

/* Whole content, hashed. ERR_NOT_FOUND when absent (or damaged: then it was
 * set aside, and a note is in `e`). */
MUST_CHECK bool store_read(struct store *s, const struct hash *h,
                           size_t max_bytes, struct arena *a, struct str *out,
                           struct err *e);

/* Adds `content`; harmless when present. Replaces a damaged object. */
MUST_CHECK bool store_put(struct store *s, struct str content, struct hash *out,
                          struct err *e);

enum store_link {
    STORE_LINK_AUTO,
    STORE_LINK_COPY,
    STORE_LINK_HARDLINK,
    STORE_LINK_REFLINK
};

/* Places the object as new file `path` below `dirfd`, which the caller has
 * made with its folders, mode exactly `mode`; `*st` (may be NULL) is what it
 * is then. What was written is what was hashed. AUTO: reflink where the file system
 * can, else copy. HARDLINK/REFLINK: ERR_FAILED where that is impossible.
 * Thread-safe. */
MUST_CHECK bool store_place(struct store *s, const struct hash *h,
                            enum store_link how, int dirfd, const char *path,
                            mode_t mode, struct stat *st, struct err *e);

/* A new folder below incoming/ for one session; store_session_end removes it
 * with its files. Holds the store lock shared until then (waits at most
 * `wait_ms` for a running gc). */
struct store_session {
    int dirfd;   /* -1: none */
    int part_fd; /* of what arrived, `part`; -1: none is open */
    uint64_t part;
    struct str path; /* absolute */
    char name[32];
};
MUST_CHECK bool store_session_begin(struct store *s, struct store_session *out,
                                    struct err *e);
void store_session_end(struct store *s, struct store_session *session);

/*
 * Takes an object in, after hashing it: ERR_DAMAGED when it is not `h`. One of
 * PACK_OBJECT_MAX_BYTES or more is a file of the session's folder, named by
 * its hash in hex, and gone from there afterwards. A smaller one stands at
 * `offset` of the files "part-0", "part-1" …, each of PART_MAX_BYTES; an empty
 * one nowhere.
 */
MUST_CHECK bool store_adopt(struct store *s, struct store_session *session,
                            uint64_t offset, uint64_t size,
                            const struct hash *h, struct err *e);

/*
 * From now on objects and index rows are staged: only this process finds them.
 * `store_publish` moves them into the store; `store_close` without it discards
 * them, so that a refused install leaves the store unchanged. The notes for the
 * index come after the objects, in one transaction: they are a cache, and
 * losing them costs a fetch.
 */
void store_begin_staging(struct store *s);
/* No staged blob is looked up from now on. */
void store_end_fetch(struct store *s);
MUST_CHECK bool store_publish(struct store *s, struct err *e);
MUST_CHECK bool store_publish_notes(struct store *s, struct err *e);

/* --- packages ------------------------------------------------------------- */

/* The listing's text and digest; files are sorted in place. In `a`. */
struct hash store_listing_format(struct package_file *files, size_t count,
                                 struct arena *a, struct str *text);
/* Strict: order, modes 100644/100755, clean paths, limits. ERR_FORMAT. */
MUST_CHECK bool store_listing_parse(struct str text, struct arena *a,
                                    struct package_file **files, size_t *count,
                                    struct err *e);
MUST_CHECK bool store_read_listing(struct store *s, const struct hash *digest,
                                   struct arena *a, struct package_file **files,
                                   size_t *count, struct err *e);
/* Its listing, when every file that it names is there, too (no hashing of the
 * files). False when something is missing or damaged. */
bool store_find_files(struct store *s, const struct hash *digest,
                      struct arena *a, struct package_file **files,
                      size_t *count);
bool store_has_package(struct store *s, const struct hash *digest);

/* --- the index (all strings borrowed in, results in `a`) ------------------ */

/* Rows are put here, since they are staged with the objects that they name.
 * Published rows are found by state_index.h. */
MUST_CHECK bool store_put_package(struct store *s, struct str repository,
                                  struct str commit, struct str path,
                                  const struct state_package *p, struct err *e);

/* git blob id -> SHA-256 and size, when the object is still there. */
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
 * Locks the repository for a download by this process, until store_publish_notes,
 * store_end_downloads or store_close. Waits for another process that downloads
 * from it, DOWNLOAD_WAIT_SECONDS at most, and only while this process holds no
 * other such lock, so that no two wait for each other. `waiting` (may be NULL)
 * is called once before it waits. `*taken`: newly locked; what another process
 * has put into the store is visible now. Without the lock (read-only store,
 * still held) each process downloads on its own.
 * Errors: ERR_INTERRUPTED.
 */
MUST_CHECK bool store_begin_download(struct store *s, struct str repository,
                                     void (*waiting)(void *ctx), void *ctx,
                                     bool *taken, struct err *e);
/* Nothing has to be downloaded after all. */
void store_cancel_download(struct store *s, struct str repository);
void store_end_downloads(struct store *s);

/* While the lock is held: the commit of an answer that another process
 * requested from the host after this one had opened the store. In `a`. */
bool store_find_fresh_ref(struct store *s, struct str repository,
                          struct str rest, struct arena *a, struct str *commit);

/* The trees of a commit, as one object (FETCH 3). */
bool store_find_trees(struct store *s, struct str repository, struct str commit,
                      struct arena *a, struct str *bytes);
MUST_CHECK bool store_put_trees(struct store *s, struct str repository,
                                struct str commit, struct str bytes,
                                struct err *e);

MUST_CHECK bool store_put_proof(struct store *s, const struct state_proof *p,
                                struct err *e);

MUST_CHECK bool store_put_reachable(struct store *s, struct str repository,
                                    struct str commit, struct err *e);

/* What a git server can do, for FETCH_CAPS_MAX_DAYS. In `a`. */
bool store_find_host(struct store *s, struct str place, struct arena *a,
                     struct str *caps);
MUST_CHECK bool store_put_host(struct store *s, struct str place,
                               struct str caps, struct err *e);

/* Many puts, one commit: without it each put is its own transaction. Without
 * the commit store_close forgets them. */
MUST_CHECK bool store_begin(struct store *s, struct err *e);
MUST_CHECK bool store_commit(struct store *s, struct err *e);

/* --- upkeep --------------------------------------------------------------- */

struct store_stats {
    uint64_t objects, bytes; /* on disk */
    uint64_t packages, workspaces;
    uint64_t incoming, damaged; /* left-overs; set aside */
    uint64_t damaged_bytes;
};
MUST_CHECK bool store_stats(struct store *s, struct store_stats *out,
                            struct err *e);

/* Hashes every object; a bad one is set aside and told to `bad(ctx, hex)`. The
 * numbers of bytes are not counted. */
MUST_CHECK bool store_verify(struct store *s,
                             void (*bad)(void *ctx, const char *hex), void *ctx,
                             struct store_stats *out, struct err *e);

/* Takes the store's lock exclusively, as store_gc needs it: from then on no
 * install can change what is read. Waits `wait_ms` for the processes that use
 * the store, calls `waiting(ctx)` once; then ERR_BUSY. */
MUST_CHECK bool store_lock_alone(struct store *s, unsigned wait_ms,
                                 void (*waiting)(void *), void *ctx,
                                 struct err *e);
/* The other processes that hold it, for a message: "process 12 (mapm mcp)",
 * separated by commas; empty where the system does not tell. In `a`. */
struct str store_users(const struct store *s, struct arena *a);

/* Removes objects that are not reachable from `keep` (digests of packages,
 * from the locks) and older than STORE_GC_MIN_AGE_SECONDS. Takes the lock
 * exclusively without waiting, unless store_lock_alone has it. Never touches
 * shared/. */
MUST_CHECK bool store_gc(struct store *s, const struct hash *keep,
                         size_t keep_count, bool dry_run,
                         struct store_stats *removed, struct err *e);

#endif
