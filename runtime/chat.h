#ifndef RUNTIME_CHAT_H
#define RUNTIME_CHAT_H

#include "base/buf.h"

/*
 * chat: the two request formats of model APIs, as text.
 *
 *     prompt --> chat_write() --> body of the request
 *     body of the answer --> chat_read() --> its text, and whether it was cut
 *                        --> chat_complaint() --> the error message of the API
 *
 * Responses are untrusted. Invalid UTF-8 and unpaired surrogates, which models
 * and servers do send, become U+FFFD; everything else must be strict JSON.
 *
 * Source: docs/requirements.md K23, K24; THREATS.md row 22; CLIENTS.md 8.1.
 */

enum chat_shape { CHAT_ANTHROPIC, CHAT_OPENAI };

struct chat_request {
    enum chat_shape shape;
    struct str model, prompt;
    unsigned max_tokens; /* limit of tokens in the answer */
    bool is_openai;      /* OpenAI's own API has another name for max_tokens */
};

void chat_write(const struct chat_request *r, struct buf *out);

struct chat_reply {
    struct str text;
    bool exhausted; /* the limit of tokens was reached */
};

/* Joins all text blocks; allocated in `a`. Errors: ERR_FORMAT for a reply of
 * another form; ERR_FETCH for an error object; ERR_FAILED for an answer without
 * text, with the reason. */
MUST_CHECK bool chat_read(enum chat_shape shape, struct str body,
                          struct arena *a, struct chat_reply *out,
                          struct err *e);

/* Returns the error message in the body of a failed request as one short line,
 * "" if there is none. Allocated in `a`. */
struct str chat_complaint(struct str body, struct arena *a);

#endif
