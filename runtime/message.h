#ifndef RUNTIME_MESSAGE_H
#define RUNTIME_MESSAGE_H

#include "base/buf.h"
#include "base/json.h"
#include "mapm/runtime.h"

/*
 * message: the protocol between the worker process and its parent. A message
 * is one letter, the length of its body in 4 bytes, little-endian, and the
 * body, which is JSON but for PRINT.
 *
 *     program -> host   ASK      {"prompt": "…", "opts": {…}}
 *                       COMMAND  {"argv": […] or "bad": "…", "opts": {…}}
 *                       TRACE    {"kind": "…", "data": {…}}; data may be absent
 *                       PRINT    text
 *                       RESULT   null, "…" or {…}: what run() returned; the end
 *                       FAILURE  {"code": "…", "why": "…", "report": "…"}; the end
 *     host -> program   REPLY    what ask or command returns
 *
 * Before all messages the host sends the deadline, 8 bytes, which starts the
 * program.
 *
 * The worker is untrusted: code that has escaped from the interpreter can write
 * any bytes. So each message is bounded, and validated before use.
 */

enum message_kind {
    MESSAGE_ASK = 'A',
    MESSAGE_COMMAND = 'C',
    MESSAGE_TRACE = 'T',
    MESSAGE_PRINT = 'P',
    MESSAGE_RESULT = 'R',
    MESSAGE_FAILURE = 'F',
    MESSAGE_REPLY = 'Y',
};

#define MESSAGE_HEADER_BYTES 5

/* Levels of JSON: the maximum depth of values in a program, and some more. */
#define MESSAGE_MAX_DEPTH 210

struct message {
    enum message_kind kind;
    struct str body; /* borrowed from the input until that is discarded */
};

/* --- reading ------------------------------------------------------------------ */

struct message_input {
    struct buf bytes;
    size_t used; /* bytes consumed by the message taken last */
};

void message_input_init(struct message_input *in);
void message_input_done(struct message_input *in);

/* Provides space for `*size` bytes of input at `*p`; call message_input_add
 * afterwards. */
void message_input_room(struct message_input *in, char **p, size_t *size);
void message_input_add(struct message_input *in, size_t size);

enum message_state { MESSAGES_READY, MESSAGES_MORE, MESSAGES_BAD };

/* Takes the next message and invalidates the previous one. Returns BAD for an
 * unknown kind or a message that is too long. */
enum message_state message_take(struct message_input *in, struct message *out);

/* --- bodies of messages ------------------------------------------------- */

/* Parse the body of a message. Each returns false for a body that no
 * interpreter would send. Results are allocated in `a` and borrow from the
 * body. */
bool message_read_ask(struct str body, const struct limits *l, struct arena *a,
                      struct ask *out);
/* `*bad` is the reason why the argument is not a command, or NULL. */
bool message_read_command(struct str body, const struct limits *l,
                          struct arena *a, struct command *out,
                          const char **bad);
bool message_read_trace(struct str body, struct arena *a, struct str *kind,
                        const struct json **data);

struct message_failure {
    struct str code, why, report;
};
bool message_read_failure(struct str body, struct arena *a,
                          struct message_failure *out);

/* --- writing --------------------------------------------------------------------- */

void message_header(enum message_kind kind, size_t length,
                    unsigned char out[MESSAGE_HEADER_BYTES]);

#endif
