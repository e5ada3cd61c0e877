#ifndef FETCH_WORKER_TEAM_SOURCE_H
#define FETCH_WORKER_TEAM_SOURCE_H

#include "base/buf.h"
#include "mapm/team_object.h"
#include "mapm/team_remote.h"

/*
 * team_source: where objects of the team's store come from.
 *
 *     team_store.c      what is wanted, and of which source next; verifies
 *         `-- team_source: one get of one name from one source
 *               team_folder.c    a folder on a web server: GET <base>/NAME.tar.gz
 *               (a registry: its manifest, then its blob)
 *               (a bundle, a vendor folder: opened before rights were given up)
 *
 * A source is asked for a name and gives bytes, which nobody believes, or says
 * that it has none. It judges nothing of the content. Source: S1; TEAM.md 1.
 */

struct session;
struct team_source;

/* Of the .tar.gz of a proof; of a package it is TEAM_OBJECT_MAX_BYTES. */
/* More than they may hold, for what compression and the archive add. */
#define TEAM_PROOF_GET_BYTES    (512u << 10)
#define TEAM_MARKET_GET_BYTES   (TEAM_MARKET_MAX_BYTES + TEAM_PROOF_GET_BYTES)
#define TEAM_ARTIFACT_GET_BYTES (ARTIFACT_MAX_BYTES + TEAM_PROOF_GET_BYTES)

#define TEAM_CONNECT_SECONDS 2
#define TEAM_STALL_SECONDS   5
#define TEAM_STALL_BYTES     100 /* a second */
#define TEAM_MAX_STREAMS     6   /* gets at once, of one source */

/* On average, of all gets of a source, once they have run for so long. An
 * answer counts as TEAM_ANSWER_BYTES besides: of a store far away round trips
 * are the cost, not bytes. */
#define TEAM_SLOW_AFTER_MS  10000
#define TEAM_RATE_MIN_BYTES (32u << 10) /* a second */
#define TEAM_ANSWER_BYTES   (16u << 10)

enum team_got {
    TEAM_RUNNING,
    TEAM_GOT,
    TEAM_ABSENT,
    /* There is something of this name that no mapm wrote, as an image index:
     * `why` says what. The source goes on with other names. */
    TEAM_REFUSED,
    /* The source does not work, as `why` says: it is given up for the run. */
    TEAM_FAILED,
};

struct team_get {
    struct team_source *source;
    struct str name;  /* "mapm1-<64 hex>" or "mapm1p-<64 hex>" */
    bool is_proof;    /* the latter */
    struct buf bytes; /* GOT: the .tar.gz. Its maximum is set */
    enum team_got got;
    bool is_forbidden; /* ABSENT, as HTTP 403 is taken: a person is told */
    struct err why;
    void *state;            /* of the kind */
    struct team_item *item; /* of team_store.c, as the next */
    struct team_get *next;
};

struct team_source_kind {
    /*
     * Starts the get. When it is over, now or later, team_get_over is called
     * once. A source may share one token, or one descriptor, between its gets.
     * Errors: those of memory and of mapm itself alone; a get that fails is over.
     */
    MUST_CHECK bool (*start)(struct team_get *g, struct err *e);
    /* Frees what it has in `g`; a get that still runs is ended. */
    void (*close)(struct team_get *g);
};

struct team_source {
    const struct team_source_kind *kind;
    struct session *session;
    struct team_remote remote; /* FOLDER, REGISTRY; else `url` alone: to show */
    void *state;               /* of the kind, for all its gets */
    bool is_dead;              /* given up for the run */
    bool is_noted;             /* that it answers with 403 */
    unsigned running;
    uint64_t busy_since_ms; /* running > 0 */
    uint64_t busy_ms;       /* before */
    uint64_t received;      /* and TEAM_ANSWER_BYTES an answer */
    /* A push waits longer than a pull, which has the git host. */
    bool is_patient;
};

extern const struct team_source_kind team_bundle_kind; /* a file */
extern const struct team_source_kind team_folder, team_registry;

/* The kind for a remote. */
const struct team_source_kind *team_source_kind(const struct team_remote *t);

/* The get is over: `got` is not RUNNING. `why` for REFUSED and FAILED, which is
 * about the source or the object, without its URL; else NULL. */
void team_get_over(struct team_get *g, enum team_got got,
                   const struct err *why);

/* A line with --verbose: "mapm-fetch: store <url>: <name>, <what>". */
void team_get_say(const struct team_get *g, const char *format, ...)
    PRINTF(2, 3);

#endif
