#ifndef FETCH_WORKER_PKTLINE_H
#define FETCH_WORKER_PKTLINE_H

#include "base/buf.h"

/*
 * pktline: git's framing, and the side bands within it.
 *
 *     bytes as they come --> pkt_read() --> packets --> band_split() --> pack
 *
 * A packet is 4 hex digits of length (their own 4 bytes included), then data;
 * 0000, 0001 and 0002 are the marks flush, delim and end.
 *
 * Source: git's gitprotocol-common and gitprotocol-pack; FETCH.md 3.
 */

#define PKT_MAX_BYTES      65520 /* gitprotocol-common, with the 4 digits */
#define PKT_DATA_MAX_BYTES (PKT_MAX_BYTES - 4)

enum pkt_kind {
    PKT_NONE, /* no whole packet yet: feed more bytes */
    PKT_DATA,
    PKT_FLUSH, /* 0000 */
    PKT_DELIM, /* 0001 */
    PKT_END,   /* 0002 */
};

struct pkt {
    enum pkt_kind kind;
    struct str data; /* DATA: borrowed until the next call */
};

/* Holds the part of a packet that has come so far. */
struct pkt_reader {
    struct buf held;
    bool any; /* at least one byte has come */
};

void pkt_reader_init(struct pkt_reader *r);
void pkt_reader_done(struct pkt_reader *r);

/*
 * Takes the next packet off the front of `*bytes`; PKT_NONE when `*bytes` is
 * used up (what it held of a packet is kept in `r`). Never takes a byte
 * beyond the packet it returns.
 *
 * Errors: ERR_FETCH "not a git server" for a length that is none.
 */
MUST_CHECK bool pkt_read(struct pkt_reader *r, struct str *bytes,
                         struct pkt *out, struct err *e);

/* A part of a packet is waiting for the rest. */
bool pkt_reader_is_inside(const struct pkt_reader *r);
/* That part, without its length. Borrowed until the next call. */
struct str pkt_reader_held(const struct pkt_reader *r);

/* Data without the LF at its end, which is optional. */
struct str pkt_line(struct str data);

/* Adds a packet; `data` at most PKT_DATA_MAX_BYTES, or `out` overflows. */
void pkt_put(struct buf *out, struct str data);
void pkt_printf(struct buf *out, const char *format, ...) PRINTF(2, 3);
void pkt_put_flush(struct buf *out);
void pkt_put_delim(struct buf *out);

/* Zeroed is valid. */
struct bands {
    size_t idle_bytes; /* that brought no byte of a pack */
};

/* Counts bytes that bring no pack data: progress text, packets without
 * content, unknown lines. ERR_LIMIT past TRANSFER_MAX_IDLE_BYTES. */
MUST_CHECK bool bands_count_idle(struct bands *b, size_t bytes, struct err *e);

/* What the other side says about a failure, made printable and short:
 * ERR_FETCH, "the server says: …". */
bool pkt_remote_error(struct str words, struct err *e);

/*
 * Splits one packet of side-band: `*data` is what belongs to the pack, empty
 * for progress (counted, never shown).
 *
 * Errors: ERR_FETCH with the server's words for band 3 (`*fatal` true), for
 * an unknown band; ERR_LIMIT by bands_count_idle.
 */
MUST_CHECK bool band_split(struct bands *b, struct str packet, struct str *data,
                           bool *fatal, struct err *e);

#endif
