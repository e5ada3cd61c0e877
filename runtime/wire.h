#ifndef RUNTIME_WIRE_H
#define RUNTIME_WIRE_H

#include "mapm/runtime.h"

/*
 * wire: messages between the process that runs a program and the one that
 * started it. A message is one letter, the length of its body in 4 bytes, the
 * least first, and the body, which is JSON but for PRINT.
 *
 *     program -> host   ASK      {"prompt": "…", "opts": {…}}
 *                       COMMAND  {"argv": […] or "bad": "…", "opts": {…}}
 *                       TRACE    {"kind": "…", "data": {…}}; data may be absent
 *                       PRINT    text
 *                       RESULT   null, "…" or {…}: what run() returned; the end
 *                       FAILURE  {"code": "…", "why": "…", "report": "…"}; the end
 *     host -> program   REPLY    what ask or command returns
 *
 * The program's side is hostile: whoever broke out of the interpreter writes
 * what he likes. So each message is bounded, and judged before it is used.
 */

enum wire_kind {
    WIRE_ASK = 'A',
    WIRE_COMMAND = 'C',
    WIRE_TRACE = 'T',
    WIRE_PRINT = 'P',
    WIRE_RESULT = 'R',
    WIRE_FAILURE = 'F',
    WIRE_REPLY = 'Y',
};

#define WIRE_HEADER_BYTES 5

/* Levels of JSON: as deep as values may be in a program, and a little. */
#define WIRE_MAX_DEPTH 210

struct wire_message {
    enum wire_kind kind;
    struct str body; /* borrowed from the input until it is dropped */
};

/* --- reading ------------------------------------------------------------------ */

struct wire_input {
    struct buf bytes;
    size_t used; /* of them, by the message taken last */
};

void wire_input_init(struct wire_input *in);
void wire_input_done(struct wire_input *in);

/* Room for what comes next, `*size` bytes at `*p`; then wire_input_add. */
void wire_input_room(struct wire_input *in, char **p, size_t *size);
void wire_input_add(struct wire_input *in, size_t size);

enum wire_state { WIRE_READY, WIRE_MORE, WIRE_BAD };

/* The next message; it drops the one before. BAD: no such kind, or too long. */
enum wire_state wire_take(struct wire_input *in, struct wire_message *out);

/* --- what a message says --------------------------------------------------------- */

/* All of these: false for what an interpreter would not have sent. In `a`,
 * borrowing from the body. */
bool wire_read_ask(struct str body, const struct limits *l, struct arena *a,
                   struct ask *out);
/* `*bad`: why it is no command at all, or NULL. */
bool wire_read_command(struct str body, const struct limits *l, struct arena *a,
                       struct command *out, const char **bad);
bool wire_read_trace(struct str body, struct arena *a, struct str *kind,
                     const struct json **data);

struct wire_failure {
    struct str code, why, report;
};
bool wire_read_failure(struct str body, struct arena *a,
                       struct wire_failure *out);

/* --- writing --------------------------------------------------------------------- */

void wire_header(enum wire_kind kind, size_t length,
                 unsigned char out[WIRE_HEADER_BYTES]);

#endif
