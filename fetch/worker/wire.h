#ifndef FETCH_WORKER_WIRE_H
#define FETCH_WORKER_WIRE_H

#include "pktline.h"

/*
 * wire: errors that any response can have, whatever was requested. Source:
 * FETCH.md 8.
 */

/* The kind of error, from which the caller decides whether to retry. */
enum wire_fault {
    WIRE_OK,
    WIRE_EMPTY,     /* no body at all: no v2, or a feature is missing */
    WIRE_CUT,       /* ended early: retry */
    WIRE_NOT_GIT,   /* not a git server */
    WIRE_REMOTE,    /* the server reported an error in its own words */
    WIRE_BUSY,      /* the server asked to retry later (a rate limit) */
    WIRE_NO_OBJECT, /* the server has no such object: refs moved */
    WIRE_NO_WANT,   /* the object may not be requested: no ref names it */
    WIRE_NO_FILTER, /* the server refused the filter */
    WIRE_LIMIT,     /* larger than the limit */
    WIRE_PACK,      /* the receiver of the pack reported an error */
};

/* Sets `*fault`; returns false. */
bool wire_fail(enum wire_fault *fault, enum wire_fault why);

/* Sets ERR_FETCH "not a git server: <what>" and WIRE_NOT_GIT. Returns false. */
bool wire_not_git(enum wire_fault *fault, const char *what, struct err *e);

/* Calls pkt_read and turns an "ERR …" packet into a failure, with the fault
 * that wire_classify returns. */
MUST_CHECK bool wire_next(struct pkt_reader *r, struct str *bytes,
                          struct pkt *out, enum wire_fault *fault,
                          struct err *e);

/* Classifies the text of an error of the server, also of side band 3. */
enum wire_fault wire_classify(struct str words);

/* Reports a response that did not reach its end: ERR_FETCH. Returns false. */
bool wire_not_whole(const struct pkt_reader *r, enum wire_fault *fault,
                    struct err *e);

#endif
