#ifndef FETCH_FRAME_H
#define FETCH_FRAME_H

#include "base/buf.h"
#include "base/hash.h"

/*
 * frame: the encoding of the messages that mapm and mapm-fetch exchange over
 * their socket pair.
 *
 *     u32 length of the rest, u8 type, the fields in order, nothing after them
 *
 * Integers are little-endian. A string is its u32 length followed by its bytes,
 * a git object id its 20 raw bytes. Each side treats the other one as hostile:
 * a length above FRAME_MAX_BYTES, an unknown type, a truncated field or a
 * trailing byte ends the connection.
 *
 * Source: DESIGN.md 5; THREATS.md 1.2.
 */

/* Fits the largest object of a team store. */
#define FRAME_MAX_BYTES (96u << 20)
#define FRAME_HEAD      4 /* size of the length field */

enum frame_type {
    /* Sent by mapm. */
    FRAME_OPTIONS = 1,  /* first frame: incoming folder, verbose, hosts,
                         * limits */
    FRAME_ASK,          /* a struct fetch_want */
    FRAME_SEEN,         /* u32: number of events processed; mapm has nothing
                         * pending */
    FRAME_BLOBS,        /* the response to FIND_BLOBS */
    FRAME_TREES,        /* the response to FIND_TREES */
    FRAME_REACHABLE,    /* the response to IS_REACHABLE */
    FRAME_CREDENTIAL,   /* the response to NEED_CREDENTIAL */
    FRAME_POST,         /* instead of OPTIONS: one HTTP request (post.h) */
    FRAME_CAPS,         /* the response to FIND_CAPS */
    FRAME_SSH,          /* the response to OPEN_SSH, with a descriptor */
    FRAME_SSH_ENDED,    /* the response to END_SSH */
    FRAME_STORE_SECRET, /* the response to NEED_STORE_SECRET */
    FRAME_PUSH,         /* instead of OPTIONS: a push (push_frame.h) */
    FRAME_PUSH_OBJECT,  /* the response to PUSH_WANT */
    FRAME_BUNDLE,       /* instead of OPTIONS: read a bundle's lock; with a
                         * descriptor */
    FRAME_UNPACK,       /* instead of OPTIONS: unpack an archive (unpack.h) */

    /* Sent by mapm-fetch. */
    /* First frame: hosts, URL rewrites and ssh settings of git's
     * configuration. */
    FRAME_HELLO = 32,
    FRAME_EVENT,    /* a struct fetch_event */
    FRAME_PROGRESS, /* a struct fetch_progress */
    FRAME_FIND_BLOBS,
    FRAME_FIND_TREES,
    FRAME_PUT_TREES,
    FRAME_IS_REACHABLE,
    FRAME_PUT_REACHABLE,
    FRAME_NEED_CREDENTIAL,
    FRAME_FATAL, /* an err: mapm-fetch cannot continue */
    FRAME_REPLY, /* the response to POST */
    FRAME_FIND_CAPS,
    FRAME_PUT_CAPS,
    FRAME_OPEN_SSH,          /* request for a connection to a repository's
                              * ssh server */
    FRAME_END_SSH,           /* the ssh connection is no longer needed */
    FRAME_NEED_STORE_SECRET, /* str: URL of a remote store */
    FRAME_PUSH_WANT,         /* u32: number of an object that the registry
                              * lacks */
    FRAME_PUSH_DONE,
    FRAME_WARN,        /* a warning for the user that concerns no package */
    FRAME_BUNDLE_LOCK, /* the response to BUNDLE */
    FRAME_UNPACKED,    /* the response to UNPACK */
};

/* Sources of a credential, as named in NEED_CREDENTIAL. */
enum credential_from {
    CREDENTIAL_PROGRAM = 1, /* the program of the host's kind: gh, glab */
    CREDENTIAL_CHECKOUT,    /* http.<url>.extraHeader in the configuration of
                             * the checkout */
    CREDENTIAL_HELPER,      /* git credential fill */
};

struct frame {
    enum frame_type type; /* 0 if no complete frame has arrived */
    struct str body;      /* borrowed until the next call of channel_next */
};

/* --- writing: frame_begin, the fields, frame_end -------------------------- */

size_t frame_begin(struct buf *b, enum frame_type type);
void frame_end(struct buf *b, size_t begun);

void frame_u8(struct buf *b, unsigned v);
void frame_u32(struct buf *b, size_t v);
void frame_u64(struct buf *b, uint64_t v);
void frame_str(struct buf *b, struct str s);
void frame_raw(struct buf *b, const void *p, size_t n);
void frame_err(struct buf *b, const struct err *e);

/* --- reading: the fields, fields_end (false if one was invalid) ----------- */

struct fields {
    struct str rest;
    bool bad; /* set by an invalid field; all later fields read as 0 or empty */
};

struct fields fields_of(struct str body);
unsigned field_u8(struct fields *f, unsigned max);
bool field_bool(struct fields *f);
size_t field_u32(struct fields *f, size_t max);
uint64_t field_u64(struct fields *f);
/* The result is borrowed from the frame. */
struct str field_str(struct fields *f, size_t max_bytes);
struct str field_raw(struct fields *f, size_t n);
struct hash field_hash(struct fields *f);
void field_err(struct fields *f, struct err *out);
bool fields_end(const struct fields *f);

/* --- the socket ----------------------------------------------------------- */

#define CHANNEL_MAX_FDS 8

struct channel {
    int fd; /* non-blocking */
    struct buf in, out;
    size_t taken; /* bytes of `in` that channel_next has consumed */
    size_t sent;  /* bytes of `out` that have been sent */
    bool closed;  /* the peer has closed the connection */
    /* Descriptors to send; give[i] goes with the byte at give_at[i] of
     * `out`. */
    int give[CHANNEL_MAX_FDS];
    size_t give_at[CHANNEL_MAX_FDS], give_count;
    /* Received descriptors, in order. None are accepted unless `takes_fds`. */
    bool takes_fds;
    int got[CHANNEL_MAX_FDS];
    size_t got_count;
};

void channel_init(struct channel *c, int fd, size_t max_out_bytes);
/* Closes the socket; may be called twice. */
void channel_done(struct channel *c);

/* Queues `fd` to be sent with the frame that is begun next; it is closed once
 * sent. Returns false if CHANNEL_MAX_FDS descriptors are queued already. */
bool channel_give_fd(struct channel *c, int fd);
/* Returns the next received descriptor, which the caller closes, or -1. */
int channel_take_fd(struct channel *c);

/* Send or receive as much as possible without blocking. If the peer has hung
 * up, they set `closed`, which is not an error. */
MUST_CHECK bool channel_flush(struct channel *c, struct err *e);
MUST_CHECK bool channel_fill(struct channel *c, struct err *e);
bool channel_has_output(const struct channel *c);

/* Takes one frame off the input. The type is 0 if none is complete yet. */
MUST_CHECK bool channel_next(struct channel *c, struct frame *out,
                             struct err *e);

#endif
