#ifndef STARLARK_JSON_H
#define STARLARK_JSON_H

#include "lib.h"

/*
 * json: RFC 8259 as events: one reader for decoding to values and for indenting
 * text. Nothing here calls itself: depth is a number.
 */

enum sl_json_event {
    JSON_BAD, /* the message is in `why`; or a budget ended: sl_failed() */
    JSON_END, /* of the text */
    JSON_NULL,
    JSON_TRUE,
    JSON_FALSE,
    JSON_INT,
    JSON_FLOAT,
    JSON_STRING,
    JSON_KEY, /* its ":" is read, too */
    JSON_ARRAY,
    JSON_OBJECT,
    JSON_CLOSE
};

struct sl_json_reader {
    struct star *s;
    const char *begin, *p, *end;
    /* The bytes of the last scalar or key, quotes included. */
    const char *token;
    size_t length;
    bool plain;   /* a string without escapes, and ASCII */
    bool stopped; /* a budget ended */
    uint8_t expect;
    unsigned depth;
    uint64_t objects[16]; /* a bit each level: "{", else "[" */
    char why[160];
};
#define SL_JSON_DEPTH_MAX 1024u

void sl_json_open(struct sl_json_reader *r, struct star *s, const char *text,
                  size_t length);
enum sl_json_event sl_json_next(struct sl_json_reader *r);

/* The text of a string or key just read; escapes and bad UTF-8 resolved. False: a
 * budget ended. */
bool sl_json_text(struct sl_json_reader *r, struct sl_text *t);

/* A whole text as a value. On failure the message is in `r`, unless sl_failed(). Within a
 * native scope. */
value sl_json_decode(struct star *s, struct sl_json_reader *r);

/* Appends `v`. `module`: as json.encode does it, with sorted keys, and arrays for
 * all that can be iterated over; else as star_to_json. */
bool sl_json_encode(struct sl_text *t, value v, bool module);

/* Appends the text that `r` reads, one value a line. */
bool sl_json_indent(struct sl_text *t, struct sl_json_reader *r, value prefix,
                    value indent);

#endif
