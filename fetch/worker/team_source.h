#ifndef FETCH_WORKER_TEAM_SOURCE_H
#define FETCH_WORKER_TEAM_SOURCE_H

#include "base/buf.h"
#include "mapm/team_object.h"
#include "mapm/team_remote.h"

/*
 * team_source: the interface of sources that objects of the team's store are
 * fetched from.
 *
 *     team_store.c      requests objects, source by source; verifies them
 *         `-- team_source: one get of one name from one source
 *               team_folder.c    a folder on a web server: GET <base>/NAME.tar.gz
 *               team_registry.c  a registry: the manifest, then its blob
 *               team_bundle.c    a bundle, opened before rights are dropped
 *
 * A source returns the bytes of a name, which are not trusted, or reports that
 * it does not have it. It does not validate the content. Source: S1; TEAM.md 1.
 */

struct session;
struct team_source;

#define TEAM_CONNECT_SECONDS 2
#define TEAM_STALL_SECONDS   5
#define TEAM_STALL_BYTES     100 /* per second */
#define TEAM_MAX_STREAMS     6   /* concurrent gets from one source */

/* Minimum average rate of a source, after TEAM_SLOW_AFTER_MS. Each response
 * counts as TEAM_ANSWER_BYTES more: with a distant store, round trips dominate
 * the time. */
#define TEAM_SLOW_AFTER_MS  10000
#define TEAM_RATE_MIN_BYTES (32u << 10) /* per second */
#define TEAM_ANSWER_BYTES   (16u << 10)

enum team_got {
    TEAM_RUNNING,
    TEAM_GOT,
    TEAM_KNOWN, /* it has the digest `known`, and was not read */
    TEAM_ABSENT,
    /* The name exists, but its content was not written by mapm (an image index,
     * for example); `why` gives the reason. The source stays in use. */
    TEAM_REFUSED,
    /* The source does not work; `why` gives the reason. It is not used again in
     * this run. */
    TEAM_FAILED,
};

struct team_get {
    struct team_source *source;
    struct str name; /* "mapm1-<64 hex>" or "mapm1p-<64 hex>" */
    /* Digest of a .tar.gz that need not be read again, or NULL. A folder cannot
     * tell it beforehand. */
    const struct hash *known;
    struct buf bytes; /* the .tar.gz, for TEAM_GOT; its maximum is set */
    enum team_got got;
    bool is_forbidden; /* TEAM_ABSENT because of HTTP 403: warn the user */
    struct err why;
    void *state;            /* private to the kind */
    struct team_item *item; /* private to team_store.c, like the next member */
    struct team_get *next;
};

struct team_source_kind {
    /* Starts the get. team_get_over is called once when it is finished, at once
     * or later. A source may share one token or descriptor among its gets.
     * Returns false only on an error that ends mapm-fetch; a failed get counts
     * as finished. */
    MUST_CHECK bool (*start)(struct team_get *g, struct err *e);
    /* Frees `g->state` and cancels a running get. */
    void (*close)(struct team_get *g);
};

struct team_source {
    const struct team_source_kind *kind;
    struct session *session;
    struct team_remote remote; /* FOLDER, REGISTRY; otherwise only `url`, for
                                * messages */
    void *state;               /* private to the kind, shared by all gets */
    bool is_dead;              /* not used again in this run */
    bool is_noted;             /* its HTTP 403 was reported */
    /* Private to team_store.c: the items to ask this source for, and the gets that
     * run. */
    struct team_item *first, *last;
    struct team_get *gets[TEAM_MAX_STREAMS];
    unsigned running;
    uint64_t busy_since_ms; /* start of the current busy period, if running >
                             * 0 */
    uint64_t busy_ms;       /* total of earlier busy periods */
    uint64_t received;      /* bytes received, plus TEAM_ANSWER_BYTES for
                             * each response */
    /* Longer timeouts: a push cannot fall back to the git host, as a pull
     * can. */
    bool is_patient;
};

extern const struct team_source_kind team_bundle_kind; /* for a bundle file */
extern const struct team_source_kind team_folder, team_registry;

/* Returns the kind for a remote. */
const struct team_source_kind *team_source_kind(const struct team_remote *t);

/* Finishes the get with `got`, which is not RUNNING. `why` is for REFUSED and
 * FAILED, about the source or the object, without its URL; else NULL. */
void team_get_over(struct team_get *g, enum team_got got,
                   const struct err *why);

/* With --verbose, prints "mapm-fetch: store <url>: <name>, <text>". */
void team_get_log(const struct team_get *g, const char *format, ...)
    PRINTF(2, 3);

#endif
