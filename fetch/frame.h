#ifndef FETCH_FRAME_H
#define FETCH_FRAME_H

#include "base/buf.h"
#include "base/hash.h"

/*
 * frame: what mapm and mapm-fetch say to each other over the socket pair.
 *
 *     u32 length of what follows, u8 type, fields in order, nothing after
 *
 * Numbers are little-endian; a text is u32 length and its bytes; an id of git
 * is its 20 bytes. Each side takes the other for hostile: a length beyond
 * FRAME_MAX_BYTES, an unknown type, a field too short or a byte too many ends
 * the conversation.
 *
 * Source: DESIGN.md 5; THREATS.md 1.2.
 */

#define FRAME_MAX_BYTES (96u << 20) /* an object of a team store, at most */
#define FRAME_HEAD      4           /* the length */

enum frame_type {
    /* mapm says */
    FRAME_OPTIONS = 1,  /* incoming, verbose, hosts, limits: the first of all */
    FRAME_ASK,          /* a struct fetch_want */
    FRAME_SEEN,         /* u32: how many events were seen; nothing is pending */
    FRAME_BLOBS,        /* the answer to FIND_BLOBS */
    FRAME_TREES,        /* the answer to FIND_TREES */
    FRAME_REACHABLE,    /* the answer to IS_REACHABLE */
    FRAME_CREDENTIAL,   /* the answer to NEED_CREDENTIAL */
    FRAME_POST,         /* instead of OPTIONS: one request to an API (post.h) */
    FRAME_CAPS,         /* the answer to FIND_CAPS */
    FRAME_SSH,          /* the answer to OPEN_SSH, with a descriptor */
    FRAME_SSH_ENDED,    /* the answer to END_SSH */
    FRAME_STORE_SECRET, /* the answer to NEED_STORE_SECRET */
    FRAME_PUSH,         /* instead of OPTIONS: a push (push_frame.h) */
    FRAME_PUSH_OBJECT,  /* the answer to PUSH_WANT */
    FRAME_BUNDLE,       /* instead of OPTIONS: its lock, with a descriptor */
    FRAME_UNPACK,       /* instead of OPTIONS: an archive (unpack.h) */

    /* mapm-fetch says */
    /* What the configuration says of hosts, rewrites and ssh: the first. */
    FRAME_HELLO = 32,
    FRAME_EVENT,    /* a struct fetch_event */
    FRAME_PROGRESS, /* a struct fetch_progress */
    FRAME_FIND_BLOBS,
    FRAME_FIND_TREES,
    FRAME_PUT_TREES,
    FRAME_IS_REACHABLE,
    FRAME_PUT_REACHABLE,
    FRAME_NEED_CREDENTIAL,
    FRAME_FATAL, /* an err: it cannot go on */
    FRAME_REPLY, /* the answer to POST */
    FRAME_FIND_CAPS,
    FRAME_PUT_CAPS,
    FRAME_OPEN_SSH,          /* a line to the server of a repository */
    FRAME_END_SSH,           /* it is over */
    FRAME_NEED_STORE_SECRET, /* str: the URL of a remote */
    FRAME_PUSH_WANT,         /* u32: an object that is not there */
    FRAME_PUSH_DONE,
    FRAME_WARN,        /* a line for a person, about no package */
    FRAME_BUNDLE_LOCK, /* the answer to BUNDLE */
    FRAME_UNPACKED,    /* the answer to UNPACK */
};

/* Sources of a credential, in NEED_CREDENTIAL. */
enum credential_from {
    CREDENTIAL_PROGRAM = 1, /* that of the host's kind: gh, glab */
    CREDENTIAL_CHECKOUT,    /* http.<url>.extraHeader of the checkout */
    CREDENTIAL_HELPER,      /* git credential fill */
};

struct frame {
    enum frame_type type; /* 0: none yet */
    struct str body;      /* borrowed until the next channel_next */
};

/* --- writing: frame_begin, fields, frame_end ------------------------------ */

size_t frame_begin(struct buf *b, enum frame_type type);
void frame_end(struct buf *b, size_t begun);

void frame_u8(struct buf *b, unsigned v);
void frame_u32(struct buf *b, size_t v);
void frame_u64(struct buf *b, uint64_t v);
void frame_str(struct buf *b, struct str s);
void frame_raw(struct buf *b, const void *p, size_t n);
void frame_err(struct buf *b, const struct err *e);

/* --- reading: after the last field fields_end tells whether all fitted ---- */

struct fields {
    struct str rest;
    bool bad; /* once set, every field reads as 0 or empty */
};

struct fields fields_of(struct str body);
unsigned field_u8(struct fields *f, unsigned max);
bool field_bool(struct fields *f);
size_t field_u32(struct fields *f, size_t max);
uint64_t field_u64(struct fields *f);
struct str field_str(struct fields *f, size_t max_bytes); /* borrowed */
struct str field_raw(struct fields *f, size_t n);         /* borrowed */
struct hash field_hash(struct fields *f);
void field_err(struct fields *f, struct err *out);
bool fields_end(const struct fields *f);

/* --- the socket ----------------------------------------------------------- */

#define CHANNEL_MAX_FDS 8

struct channel {
    int fd; /* non-blocking */
    struct buf in, out;
    size_t taken; /* bytes of `in` handed out */
    size_t sent;  /* bytes of `out` that are gone */
    bool closed;  /* the other side hung up */
    /* Descriptors that go with the byte at `give_at` of `out`. */
    int give[CHANNEL_MAX_FDS];
    size_t give_at[CHANNEL_MAX_FDS], give_count;
    /* That came, in order, when `takes_fds`; else none does. */
    bool takes_fds;
    int got[CHANNEL_MAX_FDS];
    size_t got_count;
};

void channel_init(struct channel *c, int fd, size_t max_out_bytes);
void channel_done(struct channel *c); /* closes; twice is harmless */

/* Goes with the frame that is begun next, and is closed then. False: too many
 * wait. */
bool channel_give_fd(struct channel *c, int fd);
/* The next one that came with a frame; -1: none. The caller closes it. */
int channel_take_fd(struct channel *c);

/* As much as goes without blocking. A hang-up is no error: `closed`. */
MUST_CHECK bool channel_flush(struct channel *c, struct err *e);
MUST_CHECK bool channel_fill(struct channel *c, struct err *e);
bool channel_has_output(const struct channel *c);

/* Takes one frame off what channel_fill brought; type 0: not whole yet. */
MUST_CHECK bool channel_next(struct channel *c, struct frame *out,
                             struct err *e);

#endif
