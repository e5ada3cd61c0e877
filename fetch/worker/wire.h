#ifndef FETCH_WORKER_WIRE_H
#define FETCH_WORKER_WIRE_H

#include "pktline.h"

/*
 * wire: what can be wrong with an answer, whatever was asked.
 * Source: FETCH.md 8.
 */

/* What went wrong, so that the caller knows whether to ask again. */
enum wire_fault {
    WIRE_OK,
    WIRE_EMPTY,     /* no body at all: no v2, or a feature is missing */
    WIRE_CUT,       /* ended early: ask again */
    WIRE_NOT_GIT,   /* not a git server */
    WIRE_REMOTE,    /* the server said no, in its own words */
    WIRE_BUSY,      /* the server said: later (a rate limit) */
    WIRE_NO_OBJECT, /* the server has no such object: refs moved */
    WIRE_NO_WANT,   /* … or has it, and no ref names it */
    WIRE_NO_FILTER, /* the server refused the filter */
    WIRE_LIMIT,     /* larger than we take */
    WIRE_PACK,      /* the sink of the pack reported an error */
};

/* Sets `*fault` on the way out of a failure; false. */
bool wire_fail(enum wire_fault *fault, enum wire_fault why);

/* ERR_FETCH "not a git server: <what>"; WIRE_NOT_GIT. */
bool wire_not_git(enum wire_fault *fault, const char *what, struct err *e);

/* pkt_read, where an "ERR …" packet is the failure that it reports, sorted
 * by what can be done about it. */
MUST_CHECK bool wire_next(struct pkt_reader *r, struct str *bytes,
                          struct pkt *out, enum wire_fault *fault,
                          struct err *e);

/* The same sorting for words that came in side band 3. */
enum wire_fault wire_classify(struct str words);

/* For an answer that never reached its end: ERR_FETCH. */
bool wire_not_whole(const struct pkt_reader *r, enum wire_fault *fault,
                    struct err *e);

#endif
