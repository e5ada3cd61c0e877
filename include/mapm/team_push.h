#ifndef MAPM_TEAM_PUSH_H
#define MAPM_TEAM_PUSH_H

#include "base/hash.h"
#include "mapm/limits.h"
#include "mapm/team_remote.h"

/*
 * team_push: uploads objects to a registry, in mapm-fetch, which accesses the
 * network with restricted rights.
 *
 *     fetch_push() --> make(i)   for each object that the registry lacks
 *                  --> done(i)   it is there, or the error
 *
 * One request checks whether an object exists; uploading one takes six. An
 * object becomes visible when it is complete, because its manifest is uploaded
 * last. Uploading existing objects, or concurrently with others, is safe.
 *
 * Source: S2, S3; TEAM.md 1.3, 1.4.
 */

/* The parts of one object (team_object.h). */
struct team_upload {
    struct str manifest, config, layer;
};

struct team_push {
    const struct team_remotes *remotes; /* remotes of this run, for
                                           MAPM_STORE_TOKEN */
    const struct team_remote *to;       /* a registry */
    const struct limits *limits;        /* NULL for the defaults */
    const struct str *names;            /* names of objects */
    size_t count;
    bool again; /* also upload objects that the registry has */
    /* Makes object `i`, allocated in `a`, which lives until it is passed on. If
     * it returns false, the object is not uploaded, and done() gets the
     * error. */
    bool (*make)(void *ctx, size_t i, struct arena *a, struct team_upload *out,
                 struct err *e);
    void (*done)(void *ctx, size_t i, bool was_there, const struct err *why);
    void *ctx;
};

/* Uploads the objects. Errors of single objects are passed to done(); fails
 * only if mapm-fetch cannot be started, or with ERR_INTERRUPTED. */
MUST_CHECK bool fetch_push(const struct team_push *p, struct err *e);

#endif
