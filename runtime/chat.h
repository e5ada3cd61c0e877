#ifndef RUNTIME_CHAT_H
#define RUNTIME_CHAT_H

#include "base/buf.h"

/*
 * chat: the two shapes in which an API of a model is asked, as texts.
 *
 *     prompt --> chat_write() --> body of the request
 *     body of the answer --> chat_read() --> its text, and was it cut
 *                        --> chat_complaint() --> an error, in its own words
 *
 * What an API sends is a stranger's text. Bytes that are no UTF-8 and halves of
 * surrogate pairs, which models and servers do send, become U+FFFD; all else
 * must be strict JSON.
 *
 * Source: docs/requirements.md K23, K24; THREATS.md row 22; CLIENTS.md 8.1.
 */

enum chat_shape { CHAT_ANTHROPIC, CHAT_OPENAI };

struct chat_request {
    enum chat_shape shape;
    struct str model, prompt;
    unsigned max_tokens; /* of the answer */
    bool is_openai;      /* OpenAI's own API has another name for that */
};

void chat_write(const struct chat_request *r, struct buf *out);

struct chat_reply {
    struct str text;
    bool exhausted; /* its tokens ran out */
};

/* All text blocks, joined. Errors: ERR_FORMAT for a reply of another shape;
 * ERR_FETCH for an error object; ERR_FAILED for an answer without text, with
 * the reason. In `a`. */
MUST_CHECK bool chat_read(enum chat_shape shape, struct str body,
                          struct arena *a, struct chat_reply *out,
                          struct err *e);

/* The error message in the body of a failed request: one short line, "" = none.
 * In `a`. */
struct str chat_complaint(struct str body, struct arena *a);

#endif
