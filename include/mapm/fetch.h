#ifndef MAPM_FETCH_H
#define MAPM_FETCH_H

#include "base/hash.h"
#include "mapm/doc_kind.h"
#include "mapm/host_config.h"
#include "mapm/limits.h"
#include "mapm/origin.h"
#include "mapm/team_object.h"
#include "mapm/team_remote.h"
#include "mapm/well_known.h"

#include <sys/types.h>

/*
 * fetch: fetches packages from git repositories with the minimum of bytes that
 * the protocol allows. This module starts mapm-fetch, which accesses the
 * network and unpacks data with restricted rights, and communicates with it
 * over a socket pair.
 *
 *     fetch_open()
 *     fetch_ask() …           any number, at any time
 *     fetch_next() --> MANIFEST   the entry file of a package, as soon as it
 *                                 has arrived: request its dependencies now
 *                  --> OUTLINE    the same, but no other file is fetched
 *                  --> DONE       all its files are in the incoming folder
 *                  --> FAILED
 *                  --> IDLE       no request is open
 *     fetch_close()
 *
 * A pinned object is fetched by its id, in parallel with the trees of its
 * commit or those on the path to it. No event is reported before the trees have
 * led to the object; otherwise the request fails with ERR_LOCKED. DONE includes
 * this verification.
 *
 * Dependencies that are requested while MANIFEST is handled need the fewest
 * requests: mapm-fetch waits until this side has seen all events before it
 * sends the next request (one blob request in flight per repository).
 *
 * Source: DESIGN.md 5, FETCH.md, THREATS.md 1.2, rows 10 to 14.
 */

struct fetch;

/* Access to the store, called within fetch_next. Each may be NULL. */
struct fetch_store {
    bool (*find_blob)(void *ctx, struct str oid, struct hash *h,
                      uint64_t *size);
    /* Returns the content of a blob that find_blob found, allocated in `a`,
     * for the text of a MANIFEST. If it is NULL or returns false, the blob
     * is fetched again. */
    bool (*read_blob)(void *ctx, const struct hash *h, size_t max_bytes,
                      struct arena *a, struct str *bytes);
    bool (*find_trees)(void *ctx, struct str repository, struct str commit,
                       struct arena *a, struct str *bytes);
    void (*put_trees)(void *ctx, struct str repository, struct str commit,
                      struct str bytes);
    bool (*is_reachable)(void *ctx, struct str repository, struct str commit);
    void (*put_reachable)(void *ctx, struct str repository, struct str commit);
    /* The capabilities of the server at `place` ("https://host:port"), a text
     * of mapm-fetch that is cached for some days; "" if unknown. */
    bool (*find_caps)(void *ctx, struct str place, struct arena *a,
                      struct str *text);
    void (*put_caps)(void *ctx, struct str place, struct str text);
    void *ctx;
};

struct fetch_progress {
    uint64_t requests, connections, bytes; /* `bytes`: received bodies, as
                                              transferred */
    uint64_t objects;
    unsigned asked, done;
};

/* A mapm-fetch process that was started before the first request; pid 0:
 * none. */
struct fetch_process {
    pid_t pid;
    int fd;
};

struct fetch_options {
    struct str incoming;         /* absolute path of the only folder that it may
                            write */
    struct fetch_process *ahead; /* process for the first fetch_ask; may be
                                    NULL */
    struct fetch_store store;
    const struct host_config *hosts; /* from the user's config.yaml */
    size_t host_count;
    const struct limits *limits; /* NULL for the defaults */
    /* Team stores that are tried before the git host for packages with a
     * digest; may be NULL. */
    const struct team_remotes *stores;
    /* Receives a warning that concerns no particular package; may be NULL. */
    void (*warn)(void *ctx, struct str line);
    void *warn_ctx;
    const int *bundle; /* a bundle to use instead of the network; or NULL */
    /* Called within fetch_next while there is nothing to read, as long as it
     * returns true: for work that can be done in small pieces. */
    bool (*idle)(void *ctx);
    void *idle_ctx;
    void (*progress)(void *ctx, const struct fetch_progress *p);
    void *progress_ctx;
    bool verbose;    /* write one line per request to stderr */
    bool may_prompt; /* ssh may prompt on the terminal */
};

enum fetch_what {
    FETCH_PACKAGE,
    /* Resolves a ref: event REF. With the `commit` and `object` of a lock,
     * returns that commit if the package is the same at both commits; otherwise
     * the new commit and its object. */
    FETCH_REF,
    FETCH_CATALOG, /* lists the packages at and below the path: OFFERS */
    /* The entry file of a package and the names of its files: OUTLINE; DONE if
     * it has no other file. */
    FETCH_DOCUMENT,
    FETCH_FILES, /* a PACKAGE, after its OUTLINE was validated */
    /* Checks whether `commit` is in the history of the ref, or, if the origin
     * names a commit, of any branch or tag: event REF with the path;
     * ERR_REFUSED if not. */
    FETCH_REACH,
    /* Checks whether `commit` is in the history of the commit `base`, with the
     * same results; only the repository of the origin is used. */
    FETCH_ANCESTOR,
    /* The artifact of an index whose SHA-256 is `digest`, from the team's stores
     * or the bundle: DONE with this one file, or ERR_NOT_FOUND if none has it.
     * No host is requested, and the origin is not used. */
    FETCH_ARTIFACT,
    /* Checks whether the host redirects the repository to another name: event
     * REF with `moved`, without a request to that name; otherwise with the
     * commit of the ref. */
    FETCH_NAME,
};

struct fetch_want {
    unsigned id; /* chosen by the caller; returned in events */
    enum fetch_what what;
    unsigned kinds;        /* accepted kinds: DOC_AGENT | DOC_SKILL | DOC_MCP */
    struct origin origin;  /* a git origin, except for an ARTIFACT */
    struct str commit;     /* pinned: 40 hex digits; "": resolve the ref */
    struct str object;     /* pinned: git id of tree or blob; or "" */
    struct str digest;     /* pinned: digest of the content, 64 hex digits; or
                              "" */
    bool assume_reachable; /* pinned by a lock: skip the reachability check */
    bool stored;           /* pinned, and the store has its files */
    /* Pinned, and the caller has verified that `commit` leads to `object`: only
     * the object is fetched, without a path. */
    bool proved;
    /* REF: fetch trees in one request, whatever their size, and those of `base`
     * only if a comparison needs them. */
    bool at_once;
    /* For an origin with a range: further ranges that the version must satisfy,
     * separated by blanks, and a tag whose commit is requested. */
    struct str ranges, tag;
    /* A commit, probably an ancestor, whose trees are in the store: 40 hex
     * digits, or "". */
    struct str base;
};

enum fetch_event_kind {
    FETCH_MANIFEST,
    FETCH_DONE,
    FETCH_REF_FOUND,
    FETCH_OFFERS, /* result of CATALOG, or of a PACKAGE that is a catalog */
    /* Result of DOCUMENT, and of a PACKAGE that is a repository with an
     * AGENTS.md, which usually does not belong to an agent package. */
    FETCH_OUTLINE,
    FETCH_FAILED,
    FETCH_IDLE,
};

/* A file that was fetched: its git id, and where its content was written. */
struct fetch_file {
    bool executable;
    struct str path;
    struct str oid; /* git blob id */
    /* An object of at least PACK_OBJECT_MAX_BYTES is a file of the incoming
     * folder named by this hash in hexadecimal. If several packages have it,
     * the first caller moves it. */
    struct hash hash;
    /* A smaller object is at this offset of the concatenated files "part-0",
     * "part-1", …, of PART_MAX_BYTES each. An empty object is in no file. */
    uint64_t offset;
    bool stored; /* already in the store (find_blob) */
    uint64_t size;
    bool is_lfs;     /* an LFS pointer: to be warned about */
    bool is_outside; /* target of a link that leaves the package's folder */
};

struct fetch_offer {
    enum doc_kind kind; /* DOC_MARKET: the repository has one; not a package */
    struct str path;    /* path in the repository: a folder, or an MCP file */
    /* Outside of the folders of the catalog and therefore not offered; found in
     * trees that were in memory anyway. */
    bool is_elsewhere;
};

struct fetch_event {
    enum fetch_event_kind kind;
    unsigned id;
    struct str ref; /* "main", "v1.2"; "" for a commit */
    /* For a range: the tag of the highest version, in the range or not, and the
     * current commit of fetch_want.tag; "" if there is none. */
    struct str newest, tag_commit;
    /* The new name "owner/repo" of the repository, if the host redirected to
     * it; otherwise "". */
    struct str moved;
    struct str commit;        /* 40 hex digits */
    struct str path;          /* path in the repository */
    struct str object;        /* git id of tree or blob */
    enum doc_kind doc;        /* kind of the package there */
    struct str manifest;      /* MANIFEST, OUTLINE: text of the entry file */
    struct fetch_file *files; /* DONE; in OUTLINE only path, oid and mode */
    size_t file_count;
    struct fetch_offer *offers;
    size_t offer_count;
    const struct str *notes; /* warnings for the user */
    size_t note_count;
    /* FAILED; if a compared package has moved in its repository, `ref`, `path` and
     * `object` are those of the new place. */
    struct err *err;
};

/* Starts mapm-fetch early, because loading its libraries takes longer than
 * preparing the first request: for commands that will use the network. If this
 * fails, the first fetch_ask reports the error. */
void fetch_start_ahead(struct fetch_process *p);
/* Ends the process unless a fetch uses it. */
void fetch_process_done(struct fetch_process *p);

/* Without options.ahead, mapm-fetch is started by the first fetch_ask. */
MUST_CHECK bool fetch_open(const struct fetch_options *o, struct fetch **out,
                           struct err *e);
MUST_CHECK bool fetch_ask(struct fetch *f, const struct fetch_want *w,
                          struct err *e);

/* Waits for the next event, allocated in `a`. Fails if mapm-fetch ended, or
 * with ERR_INTERRUPTED. */
MUST_CHECK bool fetch_next(struct fetch *f, struct arena *a,
                           struct fetch_event *out, struct err *e);

void fetch_get_progress(const struct fetch *f, struct fetch_progress *out);

/* Gets the committer time of the commit whose trees the store has as `trees`,
 * in seconds since 1970; returns false if they do not contain it. */
bool fetch_commit_time(struct str trees, uint64_t *seconds);

/* Reads the mapm.lock of a bundle (team_bundle.h), allocated in `a`. */
MUST_CHECK bool fetch_bundle_lock(int fd, struct arena *a, struct str *out,
                                  struct err *e);

/* Kills mapm-fetch without waiting for its end, so that it releases its memory
 * while the caller continues. No further requests may follow. */
void fetch_stop(struct fetch *f);

/* Kills mapm-fetch if it still runs. `f` may be NULL. */
void fetch_close(struct fetch *f);

/* --- one request to an API (DESIGN.md 8), or for a document ------------------ */

struct fetch_post {
    bool is_get;               /* GET instead of POST; the body is empty */
    struct str url;            /* https:, or http: on the loopback interface */
    const struct str *headers; /* "name: value" */
    size_t header_count;
    struct str body;
    size_t max_bytes; /* maximum size of the response body, for any status */
    /* Do not connect to private addresses. A proxy, which resolves names
     * itself, is exempt: the user configured it. */
    bool public_only;
    uint64_t deadline_ms; /* as proc_now_ms counts */
    /* Called frequently while waiting, for a spinner; may be NULL. */
    void (*tick)(void *ctx);
    void *ctx;
};

struct fetch_reply {
    long status;
    struct str body;
    unsigned retry_after_s; /* 0 if not given */
    /* For a GET: `condition` is a header for the next request, which returns
     * 304 if nothing changed; `location` the target of a redirect; `type` the
     * media type. Each may be "". */
    struct str condition, location, type;
};

/*
 * Performs one request in mapm-fetch, which restricts its rights as for
 * packages. Proxies and certificates of the git configuration apply, except
 * that no proxy is used for the loopback interface; url.*.insteadOf does not
 * apply, since it concerns repositories. Redirects are not followed; for a POST
 * they are errors that name the target. Requests are not repeated; the caller
 * decides about that. The body is limited while it is received. No error
 * message contains the headers.
 * Ownership: allocated in `a`.
 * Errors: ERR_ORIGIN for the URL, ERR_HOST, ERR_TLS, ERR_FETCH, ERR_LIMIT,
 * ERR_INTERRUPTED.
 */
MUST_CHECK bool fetch_post(const struct fetch_post *in, struct arena *a,
                           struct fetch_reply *out, struct err *e);

/* --- a document of a web server, and an archive ------------------------------- */

struct fetch_document {
    struct str url;
    struct str accept;    /* Accept header; or "" */
    struct str condition; /* `condition` of the previous reply; or "" */
    size_t max_bytes;
    bool public_only; /* see struct fetch_post */
};

/*
 * Gets a document, following redirects on the same host. A redirect to another
 * host would be chosen by the publisher instead of the user, so it is not
 * followed: `location` names its target, and `out` has the status of the
 * redirect. [row 44] `*url` is the URL that responded.
 * Ownership: allocated in `a`.
 * Errors: those of fetch_post; an HTTP status is not an error.
 */
MUST_CHECK bool fetch_document(const struct fetch_document *in, struct arena *a,
                               struct str *url, struct fetch_reply *out,
                               struct err *e);

/*
 * Unpacks a .zip or .tar.gz in mapm-fetch. Accepts only regular files and
 * folders with names that are allowed in a tree and distinct on every file
 * system, within `limits` and ARCHIVE_MAX_RATIO. Folders are not listed.
 * Ownership: allocated in `a`.
 * Errors: ERR_REFUSED for forbidden contents of an archive, ERR_FORMAT for a
 * malformed archive, ERR_LIMIT.
 */
MUST_CHECK bool fetch_unpack(struct str archive, enum artifact_format format,
                             const struct limits *limits, struct arena *a,
                             struct archive_file **out, size_t *count,
                             struct err *e);

#endif
