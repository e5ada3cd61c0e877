#ifndef LIBMAPM_ENGINE_WIRE_H
#define LIBMAPM_ENGINE_WIRE_H

#include "base/buf.h"

#include "mapm.h"

/*
 * wire: messages between the library and mapm-engine, over a socket pair.
 *
 *     u32 length of the rest, u8 message kind, u8 record type,
 *     u32 count, that many records
 *
 * A record is a C structure, in most cases of mapm.h. A table of its fields
 * drives the encoding and decoding on both sides. Numbers are little-endian; a
 * text is u32 length and its bytes; NULL is the length UINT32_MAX, which the
 * library decodes as "", as mapm.h promises.
 *
 * Both sides have the same version. A message that does not match the tables
 * nevertheless fails the operation, and no message needs more than a few times
 * its size of memory.
 */

enum wire_kind {
    /* sent by the library */
    WIRE_HELLO,   /* first message: version and options */
    WIRE_REQUEST, /* the operation, selected by the record type */
    WIRE_REPLY,   /* reply to CONFIRM, CHOOSE, ASK and PLANNED */

    /* sent by mapm-engine */
    WIRE_NOTICE,
    WIRE_PROGRESS, /* no record: finished */
    WIRE_CONFIRM,
    WIRE_CHOOSE,
    WIRE_ASK,
    WIRE_EVENT,
    WIRE_PLANNED, /* the plan was sent; waits for the reply to apply it */
    WIRE_RESULT,  /* may be sent several times, with different types */
    WIRE_DONE,
    WIRE_FAILED,
    WIRE_KIND_COUNT,
};

enum wire_type {
    WIRE_OPTIONS,
    WIRE_CALL,
    WIRE_CHANGE_REQUEST,
    WIRE_RUN_REQUEST,
    WIRE_LINE, /* text of a notice or a question */
    WIRE_CHOICE,
    WIRE_PROGRESS_RECORD,
    WIRE_ANSWER,
    WIRE_ASK_RECORD,
    WIRE_EVENT_RECORD,
    WIRE_ERROR,
    WIRE_PACKAGE,
    WIRE_FINDING,
    WIRE_OMISSION,
    WIRE_PLAN,
    WIRE_CHANGE,
    WIRE_DIAGNOSTIC,
    WIRE_SKILL,
    WIRE_METADATA,
    WIRE_RESOURCE,
    WIRE_LOADED,
    WIRE_BLOB,
    WIRE_TRUSTED,
    WIRE_RUN_RESULT,
    WIRE_TYPE_COUNT,
};

struct wire_options {
    const char *version, *workspace;
    bool use_global, is_offline, can_confirm, can_choose;
};

/* An operation with few arguments. */
enum wire_operation {
    CALL_LIST,
    CALL_VERIFY,
    CALL_LINT,
    CALL_SKILLS,
    CALL_SEARCH,
    CALL_MATCH,
    CALL_LOAD,
    CALL_READ_RESOURCE,
    CALL_LIST_TRUST,
    CALL_TRUST,
    CALL_REVOKE_TRUST,
    CALL_COUNT,
};

struct wire_call {
    unsigned operation;
    const char *text, *path;
    const char *const *texts;
    size_t text_count;
    uint64_t limit;
    double score;
    bool flag; /* VERIFY: remote; LINT: strict */
};

struct wire_run_request {
    struct mapm_run_request r;
    bool has_ask, has_event;
};

struct wire_line {
    unsigned kind;
    const char *text;
};

struct wire_choice {
    const char *question;
    const char *const *choices;
    size_t count;
};

struct wire_answer {
    bool is_yes;
    size_t chosen;
    const char *text;
    unsigned turns;
    bool is_exhausted;
};

struct wire_blob {
    const char *bytes;
    size_t length;
};

struct wire_message {
    enum wire_kind kind;
    enum wire_type type;
    void *records; /* array of structures of the type */
    size_t count;
};

/* Appends one message; overflows `b` if it does not fit. */
void wire_put(struct buf *b, enum wire_kind kind, enum wire_type type,
              const void *records, size_t count);

/* Decodes a message; `body` is the part after the length. Records are
 * allocated in `a`, texts are copied. Returns false if the message does not
 * match the tables. */
bool wire_take(struct str body, struct arena *a, struct wire_message *out);

/* --- the socket: blocking ------------------------------------------------------ */

/* Errors: ERR_IO; a closed socket is ERR_FAILED. */
MUST_CHECK bool wire_send(int fd, const struct buf *b, struct err *e);
MUST_CHECK bool wire_receive(int fd, struct arena *a, struct wire_message *out,
                             struct err *e);

#endif
