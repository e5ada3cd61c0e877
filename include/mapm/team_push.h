#ifndef MAPM_TEAM_PUSH_H
#define MAPM_TEAM_PUSH_H

#include "base/hash.h"
#include "mapm/limits.h"
#include "mapm/team_remote.h"

/*
 * team_push: objects to a registry, by mapm-fetch, which does the network with
 * few rights left.
 *
 *     fetch_push() --> make(i)   for each object that the registry does not have
 *                  --> done(i)   it is there, or why not
 *
 * One request tells that an object is there; a new one takes six. An object
 * shows when all of it is there: its manifest comes last. Pushing what is
 * there, or at the same time as others, harms nothing.
 *
 * Source: S2, S3; TEAM.md 1.3, 1.4.
 */

/* Bytes of one object (team_object.h). */
struct team_upload {
    struct str manifest, config, layer;
};

struct team_push {
    const struct team_remotes *remotes; /* of this run: for MAPM_STORE_TOKEN */
    const struct team_remote *to;       /* a registry */
    const struct limits *limits;        /* NULL: those of the program */
    const struct str *names;            /* of objects */
    size_t count;
    bool again; /* what the registry says to have as well */
    /* The object, in `a`, which lives until it was handed over. False: it is
     * not pushed, and done() says why. */
    bool (*make)(void *ctx, size_t i, struct arena *a, struct team_upload *out,
                 struct err *e);
    void (*done)(void *ctx, size_t i, bool was_there, const struct err *why);
    void *ctx;
};

/* Errors of single objects go to done(); this fails when mapm-fetch is not
 * there, or the program was interrupted (ERR_INTERRUPTED). */
MUST_CHECK bool fetch_push(const struct team_push *p, struct err *e);

#endif
