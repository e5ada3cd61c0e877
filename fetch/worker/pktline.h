#ifndef FETCH_WORKER_PKTLINE_H
#define FETCH_WORKER_PKTLINE_H

#include "base/buf.h"

/*
 * pktline: git's packet framing, and the side bands within it.
 *
 *     bytes as they come --> pkt_read() --> packets --> band_split() --> pack
 *
 * A packet is its length as 4 hex digits, which include themselves, followed by
 * data; 0000, 0001 and 0002 are the special packets flush, delim and end.
 *
 * Source: git's gitprotocol-common and gitprotocol-pack; FETCH.md 3.
 */

/* Gitprotocol-common, including the 4 digits. */
#define PKT_MAX_BYTES      65520
#define PKT_DATA_MAX_BYTES (PKT_MAX_BYTES - 4)

enum pkt_kind {
    PKT_NONE, /* no complete packet yet: feed more bytes */
    PKT_DATA,
    PKT_FLUSH, /* 0000 */
    PKT_DELIM, /* 0001 */
    PKT_END,   /* 0002 */
};

struct pkt {
    enum pkt_kind kind;
    struct str data; /* PKT_DATA: borrowed until the next call */
};

/* Holds the beginning of an incomplete packet. */
struct pkt_reader {
    struct buf held;
    bool any; /* at least one byte has arrived */
};

void pkt_reader_init(struct pkt_reader *r);
void pkt_reader_done(struct pkt_reader *r);

/*
 * Takes the next packet off the front of `*bytes`; PKT_NONE if `*bytes` is used
 * up (an incomplete packet is saved in `r`). Never takes a byte beyond the
 * packet that it returns.
 *
 * Errors: ERR_FETCH "not a git server" for an invalid length.
 */
MUST_CHECK bool pkt_read(struct pkt_reader *r, struct str *bytes,
                         struct pkt *out, struct err *e);

/* Returns whether an incomplete packet waits for its rest. */
bool pkt_reader_is_inside(const struct pkt_reader *r);
/* Returns the incomplete packet without its length. Borrowed until the next
 * call. */
struct str pkt_reader_held(const struct pkt_reader *r);

/* Returns the data without its optional trailing LF. */
struct str pkt_line(struct str data);

/* Appends a packet; `out` overflows if `data` exceeds PKT_DATA_MAX_BYTES. */
void pkt_put(struct buf *out, struct str data);
void pkt_printf(struct buf *out, const char *format, ...) PRINTF(2, 3);
void pkt_put_flush(struct buf *out);
void pkt_put_delim(struct buf *out);

/* May be initialized with zeros. */
struct bands {
    size_t idle_bytes; /* bytes received without pack data */
};

/* Counts bytes without pack data: progress text, empty packets, unknown lines.
 * Errors: ERR_LIMIT above TRANSFER_MAX_IDLE_BYTES. */
MUST_CHECK bool bands_count_idle(struct bands *b, size_t bytes, struct err *e);

/* Sets ERR_FETCH, "the server says: …", with the server's text made printable
 * and short. Returns false. */
bool pkt_remote_error(struct str words, struct err *e);

/*
 * Splits one side-band packet: `*data` is its pack data, empty for progress,
 * which is counted but never shown.
 *
 * Errors: ERR_FETCH with the server's text for band 3 (sets `*fatal`), or for
 * an unknown band; ERR_LIMIT of bands_count_idle.
 */
MUST_CHECK bool band_split(struct bands *b, struct str packet, struct str *data,
                           bool *fatal, struct err *e);

#endif
