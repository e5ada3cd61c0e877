#ifndef MAPM_FETCH_H
#define MAPM_FETCH_H

#include "base/hash.h"
#include "mapm/doc_kind.h"
#include "mapm/host_config.h"
#include "mapm/limits.h"
#include "mapm/origin.h"
#include "mapm/team_remote.h"
#include "mapm/well_known.h"

#include <sys/types.h>

/*
 * fetch: packages out of git repositories, the least bytes that the protocol
 * allows. This side starts mapm-fetch, which does the network and unpacking
 * with few rights left, and talks to it over a socket pair.
 *
 *     fetch_open()
 *     fetch_ask() …           any number, at any time
 *     fetch_next() --> MANIFEST   the document of one, as soon as it is here:
 *                                 ask for what it depends on right away
 *                  --> OUTLINE    the same, and no other file of it is fetched
 *                  --> DONE       all its files are in the incoming folder
 *                  --> FAILED
 *                  --> IDLE       nothing asked for is open any more
 *     fetch_close()
 *
 * A pinned object is fetched by its id, and at the same time the trees of the
 * commit, or those on the way: nothing is said of it before they have led to
 * it, and ERR_LOCKED when they do not. DONE means so.
 *
 * Dependencies that are requested while MANIFEST is handled need the fewest
 * requests: mapm-fetch waits for this side to have seen all events
 * before it sends the next one (one blob request in flight a repository).
 *
 * Source: DESIGN.md 5, FETCH.md, THREATS.md 1.2, rows 10 to 14.
 */

struct fetch;

/* What the store knows; called from within fetch_next. All may be NULL. */
struct fetch_store {
    bool (*find_blob)(void *ctx, struct str oid, struct hash *h,
                      uint64_t *size);
    /* Whole content of what find_blob found, in `a`: for the text of a
     * MANIFEST that is in the store. False, or NULL: it is fetched again. */
    bool (*read_blob)(void *ctx, const struct hash *h, size_t max_bytes,
                      struct arena *a, struct str *bytes);
    bool (*find_trees)(void *ctx, struct str repository, struct str commit,
                       struct arena *a, struct str *bytes);
    void (*put_trees)(void *ctx, struct str repository, struct str commit,
                      struct str bytes);
    bool (*is_reachable)(void *ctx, struct str repository, struct str commit);
    void (*put_reachable)(void *ctx, struct str repository, struct str commit);
    /* What the server at `place` ("https://host:port") can do: a text of
     * mapm-fetch, kept for some days; "" is nothing. */
    bool (*find_caps)(void *ctx, struct str place, struct arena *a,
                      struct str *text);
    void (*put_caps)(void *ctx, struct str place, struct str text);
    void *ctx;
};

struct fetch_progress {
    uint64_t requests, connections, bytes; /* received, as on the wire bodies */
    uint64_t objects;
    unsigned asked, done;
};

/* A mapm-fetch that was started before there is anything to ask; pid 0: none. */
struct fetch_process {
    pid_t pid;
    int fd;
};

struct fetch_options {
    struct str incoming; /* absolute path: the one folder it may write */
    struct fetch_process *ahead; /* used by the first fetch_ask; may be NULL */
    struct fetch_store store;
    const struct host_config *hosts; /* of the user's own file */
    size_t host_count;
    const struct limits *limits; /* NULL: those of the program */
    /* Asked for packages with a digest before their hosts; may be NULL. */
    const struct team_remotes *stores;
    /* A line for a person, about no package: NULL: nobody. */
    void (*warn)(void *ctx, struct str line);
    void *warn_ctx;
    const int *bundle; /* a file that is asked instead of any network; NULL */
    /* Called within fetch_next as long as there is nothing to read and it
     * returns true: for work that can be done in small pieces meanwhile. */
    bool (*idle)(void *ctx);
    void *idle_ctx;
    void (*progress)(void *ctx, const struct fetch_progress *p);
    void *progress_ctx;
    bool verbose;    /* one line a request to stderr */
    bool may_prompt; /* ssh may ask a person at the terminal */
};

enum fetch_what {
    FETCH_PACKAGE,
    FETCH_REF,      /* what the ref names: event REF. With `commit` and `object`
                     * of a lock: that commit, where the package is the same
                     * at both; else the other one, and the object there */
    FETCH_CATALOG,  /* the packages at the path and below it: OFFERS */
    FETCH_DOCUMENT, /* of a package the document and the names of its files:
                     * OUTLINE; DONE where there is no other file */
    FETCH_FILES,    /* a PACKAGE, after its OUTLINE was judged */
    FETCH_REACH,    /* is `commit` in the history of the ref? event REF, with
                     * the path; ERR_REFUSED when it is not. An origin that
                     * names a commit: in that of any branch or tag */
    FETCH_ANCESTOR, /* is `commit` in the history of the commit `base`? the
                     * same answers; of the origin only the repository counts */
};

struct fetch_want {
    unsigned id; /* the caller's; comes back in events */
    enum fetch_what what;
    unsigned kinds;        /* accepted: DOC_AGENT | DOC_SKILL | DOC_MCP */
    struct origin origin;  /* GIT */
    struct str commit;     /* pinned: 40 hex; "" = resolve the ref */
    struct str object;     /* pinned: git id of tree or blob; "" */
    struct str digest;     /* pinned: 64 hex, of the content; "" = not known */
    bool assume_reachable; /* pinned by a lock: no proof of belonging */
    bool stored;           /* pinned, and the store has its files */
    bool proved;  /* pinned, and the caller knows that `commit` leads to
                            * `object`: that alone is fetched, without a path */
    bool at_once; /* REF: trees in one request, however many bytes */
    /* Of an origin with a range: others that the version has to be in, too,
     * with a blank between, and a tag whose commit is asked for. */
    struct str ranges, tag;
    struct str
        base; /* 40 hex: a commit with trees in the store, probably an ancestor; "" */
};

enum fetch_event_kind {
    FETCH_MANIFEST,
    FETCH_DONE,
    FETCH_REF_FOUND,
    FETCH_OFFERS, /* answer to CATALOG, or to a PACKAGE that is a catalog */
    /* Answer to DOCUMENT; and to a PACKAGE that is a repository with an
     * AGENTS.md, which is seldom that of an agent. */
    FETCH_OUTLINE,
    FETCH_FAILED,
    FETCH_IDLE,
};

struct fetch_file {
    bool executable;
    struct str path;
    struct str oid; /* git blob id */
    /* An object of PACK_OBJECT_MAX_BYTES or more is a file of the incoming
     * folder with this name, as hex. Several packages may name it: the first
     * caller moves it. */
    struct hash hash;
    /* A smaller one is at this offset of the concatenated files "part-0",
     * "part-1" …, each of PART_MAX_BYTES. An empty one is in no file. */
    uint64_t offset;
    bool stored; /* the store has it already (find_blob) */
    uint64_t size;
    bool is_lfs;     /* an LFS pointer: warn */
    bool is_outside; /* a link led to it, out of the package's folder */
};

struct fetch_offer {
    enum doc_kind kind; /* DOC_MARKET: there is one, too; never offered */
    struct str path;    /* in the repository: a folder, or an MCP file */
    /* Not offered: outside of the folders of the catalog, found in trees that
     * were in memory. */
    bool is_elsewhere;
};

struct fetch_event {
    enum fetch_event_kind kind;
    unsigned id;
    struct str ref; /* "main", "v1.2"; "" for a commit id */
    /* Of a range: the highest version's tag, in the range or not, and the
     * commit that fetch_want.tag names now; "" = there is none. */
    struct str newest, tag_commit;
    /* "owner/repo": what the host calls the repository now, which it redirected
     * to; "" where it did not. */
    struct str moved;
    struct str commit;        /* 40 hex */
    struct str path;          /* in the repository */
    struct str object;        /* git id of tree or blob */
    enum doc_kind doc;        /* what lies there */
    struct str manifest;      /* MANIFEST, OUTLINE: its text */
    struct fetch_file *files; /* DONE; OUTLINE: path, oid and mode alone */
    size_t file_count;
    struct fetch_offer *offers;
    size_t offer_count;
    const struct str *notes; /* warnings for a person */
    size_t note_count;
    struct err *err; /* FAILED */
};

/*
 * Starts mapm-fetch, whose libraries take longer to load than a command needs
 * to prepare its first request: for a command that will ask the network. When
 * that fails there is none, and the first fetch_ask reports why.
 */
void fetch_start_ahead(struct fetch_process *p);
/* Ends it unless a fetch uses it by now. */
void fetch_process_done(struct fetch_process *p);

/* Without options.ahead nothing is started before the first fetch_ask. */
MUST_CHECK bool fetch_open(const struct fetch_options *o, struct fetch **out,
                           struct err *e);
MUST_CHECK bool fetch_ask(struct fetch *f, const struct fetch_want *w,
                          struct err *e);

/* Blocks. The event lives in `a`. Fails when mapm-fetch is gone or the
 * program was interrupted (ERR_INTERRUPTED). */
MUST_CHECK bool fetch_next(struct fetch *f, struct arena *a,
                           struct fetch_event *out, struct err *e);

void fetch_get_progress(const struct fetch *f, struct fetch_progress *out);

/* When the commit was made whose trees the store has as `trees`, in seconds
 * since 1970, as its committer says. False where it does not say so. */
bool fetch_commit_time(struct str trees, uint64_t *seconds);

/* The mapm.lock in a bundle (team_bundle.h). In `a`. */
MUST_CHECK bool fetch_bundle_lock(int fd, struct arena *a, struct str *out,
                                  struct err *e);

/* Nothing more will be asked: kills mapm-fetch without waiting for its end, so
 * that it frees its memory beside what the caller does next. */
void fetch_stop(struct fetch *f);

/* Kills what still runs. NULL is harmless. */
void fetch_close(struct fetch *f);

/* --- one request to an API (DESIGN.md 8), or for a document ------------------ */

struct fetch_post {
    bool is_get;               /* no POST; the body is empty */
    struct str url;            /* https:, or http: to the loopback */
    const struct str *headers; /* "name: value" */
    size_t header_count;
    struct str body;
    size_t max_bytes; /* of the answer, whatever its status */
    bool public_only; /* no address of this machine or its network is reached;
                       * a proxy, which resolves names itself, is the user's */
    uint64_t deadline_ms; /* as proc_now_ms counts */
    /* Called often while it waits, for a spinner; may be NULL. */
    void (*tick)(void *ctx);
    void *ctx;
};

struct fetch_reply {
    long status;
    struct str body;
    unsigned retry_after_s; /* 0: not said */
    /* Of a GET: the header of the next one, which is answered by 304 when
     * nothing has changed; "" = none. Of a redirect where to; else "". The
     * media type, as the header has it; "" = none. */
    struct str condition, location, type;
};

/*
 * One request by mapm-fetch, which gives up its rights like for packages; what the
 * git configuration says of proxies and certificates counts. (url.*.insteadOf,
 * which is about repositories, does not; and no proxy is asked on the way to
 * this very machine.) No redirect is followed: of a POST it is an error that
 * names where to. Nothing is tried twice: that is the caller's to decide. The body is
 * bounded while it arrives. No error says anything of the headers.
 * Ownership: in `a`. Errors: ERR_ORIGIN for the URL, ERR_HOST, ERR_TLS,
 * ERR_FETCH, ERR_LIMIT, ERR_INTERRUPTED.
 */
MUST_CHECK bool fetch_post(const struct fetch_post *in, struct arena *a,
                           struct fetch_reply *out, struct err *e);

/* --- a document of a web server, and an archive ------------------------------- */

struct fetch_document {
    struct str url;
    struct str accept;    /* a header; "" = none */
    struct str condition; /* that of the last answer; "" = none */
    size_t max_bytes;
    bool public_only; /* see struct fetch_post */
};

/*
 * One GET, and those that redirects on the same host lead to. Another host would
 * be the publisher's choice, not the user's: `location` names it then, and `out`
 * has the status of the redirect. [row 44]
 * `*url`: what answered. Ownership: in `a`. Errors: those of fetch_post; a status
 * is none.
 */
MUST_CHECK bool fetch_document(const struct fetch_document *in, struct arena *a,
                               struct str *url, struct fetch_reply *out,
                               struct err *e);

struct fetch_unpacked {
    bool executable;
    struct str path; /* clean, relative */
    struct str content;
};

/*
 * The files of a .zip or .tar.gz, unpacked by mapm-fetch: regular files and
 * folders alone, by names that a tree may have, no two of them one name on some
 * file system, within `limits` and ARCHIVE_MAX_RATIO. Folders are not listed.
 * Ownership: in `a`. Errors: ERR_REFUSED for what an archive must not hold,
 * ERR_FORMAT for one that contradicts itself, ERR_LIMIT.
 */
MUST_CHECK bool fetch_unpack(struct str archive, enum artifact_format format,
                             const struct limits *limits, struct arena *a,
                             struct fetch_unpacked **out, size_t *count,
                             struct err *e);

#endif
