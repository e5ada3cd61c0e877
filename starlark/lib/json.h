#ifndef STARLARK_JSON_H
#define STARLARK_JSON_H

#include "lib.h"

/*
 * RFC 8259 JSON as events, from one reader that decodes values and indents
 * text. Nothing is recursive: the depth is a counter.
 */

enum sl_json_event {
    JSON_BAD, /* the message is in `why`; if a limit was reached, sl_failed() */
    JSON_END, /* end of the text */
    JSON_NULL,
    JSON_TRUE,
    JSON_FALSE,
    JSON_INT,
    JSON_FLOAT,
    JSON_STRING,
    JSON_KEY, /* the ":" is consumed as well */
    JSON_ARRAY,
    JSON_OBJECT,
    JSON_CLOSE
};

struct sl_json_reader {
    struct star *s;
    const char *begin, *p, *end;
    /* Bytes of the last scalar or key, including quotes. */
    const char *token;
    size_t length;
    bool plain;   /* an ASCII string without escapes */
    bool stopped; /* a limit was reached */
    uint8_t expect;
    unsigned depth;
    uint64_t objects[16]; /* one bit per level: set for an object, clear for
                           * an array */
    char why[160];
};
#define SL_JSON_DEPTH_MAX 1024u

void sl_json_open(struct sl_json_reader *r, struct star *s, const char *text,
                  size_t length);
enum sl_json_event sl_json_next(struct sl_json_reader *r);

/* Decodes a whole text. On failure the message is in `r`, unless sl_failed().
 * Call within a native scope. */
value sl_json_decode(struct star *s, struct sl_json_reader *r);

/* Appends `v` as JSON: with `module` as json.encode does, with sorted keys and
 * an array for every iterable; otherwise as star_to_json does. */
bool sl_json_encode(struct sl_text *t, value v, bool module);

/* Appends the text that `r` reads, one value per line. */
bool sl_json_indent(struct sl_text *t, struct sl_json_reader *r, value prefix,
                    value indent);

#endif
