#ifndef FETCH_WORKER_PROTOCOL_H
#define FETCH_WORKER_PROTOCOL_H

#include "refs.h"
#include "wire.h"

/*
 * protocol: git's smart protocol, versions 2 and 0: builds requests and parses
 * responses. It does no I/O.
 *
 *     ls_refs_request()  --> POST --> struct ls_refs_answer --> ref_list
 *     fetch_request()    --> POST --> struct fetch_answer   --> pack bytes
 *     GET info/refs               --> struct advert         --> caps, refs
 *
 * Feed each response with the bytes of the body as they arrive, and finish it
 * with its _end function.
 *
 * Source: git's gitprotocol-v2, -pack, -http, -capabilities; FETCH.md 3, 8.
 */

#define AGENT "git/mapm-" MAPM_VERSION /* GitHub requires the prefix "git/" */

/* Capabilities of a server, from its advertisement. Requests depend on them
 * alone, never on the name of a host. */
struct caps {
    int version; /* 2 or 0; version 1 is treated as 0 */
    bool ls_refs, fetch;
    bool shallow; /* the server supports "deepen" */
    bool filter;
    bool sha256; /* object-format is not sha1: unsupported */
    /* Trees, blobs and commits may be requested by id even if no ref leads to
     * them; always true in version 2. */
    bool any_object;
    bool multi_ack, multi_ack_detailed; /* v0: some servers require one of
                                         * them */
    bool no_done;                       /* version 0 only */
    bool ofs_delta;                     /* version 0: may be requested */
    bool no_progress;                   /* version 0 only */
    bool side_band, side_band_64k;      /* version 0 only */
};

/* Returns whether trees can be fetched without files, and files by id. If not,
 * commits are fetched with everything they contain. */
bool caps_are_partial(const struct caps *caps);

/* Formats the caps for the store: "2 shallow filter". Allocated in `a`. */
struct str caps_format(const struct caps *caps, struct arena *a);
/* Parses the result of caps_format. Returns false for any other text. */
bool caps_parse(struct str text, struct caps *out);

/* The response to GET info/refs?service=git-upload-pack, or the first output on
 * a pipe, in any protocol version. */
struct advert {
    struct pkt_reader pkt;
    struct caps caps;
    struct ref_list *refs; /* filled in version 0 only */
    size_t bytes;
    enum wire_fault fault;
    int state;
};

/* `service` if "# service=git-upload-pack" comes first, as over http. */
void advert_init(struct advert *a, struct ref_list *refs, bool service);
void advert_done(struct advert *a);
MUST_CHECK bool advert_feed(struct advert *a, struct str bytes, struct err *e);
bool advert_is_whole(const struct advert *a);
/* Errors: ERR_FETCH for an incomplete response, with `fault` set. */
MUST_CHECK bool advert_end(struct advert *a, struct err *e);

/*
 * v2: builds ls-refs for these prefixes ("HEAD", "refs/heads/main"), at least
 * one: without a prefix a server lists every pull request.
 */
void ls_refs_request(struct buf *out, const struct str *prefixes, size_t count);

struct ls_refs_answer {
    struct pkt_reader pkt;
    struct ref_list *refs;
    size_t bytes;
    enum wire_fault fault;
    bool ended;
};

void ls_refs_init(struct ls_refs_answer *r, struct ref_list *refs);
void ls_refs_done(struct ls_refs_answer *r);
MUST_CHECK bool ls_refs_feed(struct ls_refs_answer *r, struct str bytes,
                             struct err *e);
MUST_CHECK bool ls_refs_end(struct ls_refs_answer *r, struct err *e);

#define FETCH_WANTS_MAX 2000 /* 100 KB, below 64 compressed: FETCH.md 3.3 */

struct fetch_args {
    const struct oid *wants; /* at most FETCH_WANTS_MAX */
    size_t want_count;
    const struct oid *haves;
    size_t have_count;
    const struct oid *shallows;
    size_t shallow_count;
    unsigned deepen;    /* 0 for none */
    const char *filter; /* "blob:none", "tree:0"; NULL for none */
    bool thin;          /* the pack may omit bases of deltas */
};

/* Always send `done`: one request yields one pack. */
void fetch_request(struct buf *out, const struct fetch_args *w); /* version 2 */
void fetch_request_v0(struct buf *out, const struct fetch_args *w,
                      const struct caps *caps);

struct fetch_answer {
    struct pkt_reader pkt;
    struct bands bands;
    /* Receives the bytes of the pack in order; false stops with WIRE_PACK. */
    bool (*pack)(void *ctx, struct str bytes, struct err *e);
    void *ctx;
    struct oid_set *shallow; /* ids where the server cut the history; may be
                              * NULL */
    const struct caps *v0;   /* NULL for version 2 */
    enum wire_fault fault;
    int state;
    size_t lines; /* number of lines before the pack */
    bool has_pack;
};

void fetch_answer_init(struct fetch_answer *f,
                       bool (*pack)(void *ctx, struct str bytes, struct err *e),
                       void *ctx);

/* Initializes `f` for the response to fetch_request_v0(w, caps). */
void fetch_answer_init_v0(
    struct fetch_answer *f, const struct fetch_args *w, const struct caps *caps,
    bool (*pack)(void *ctx, struct str bytes, struct err *e), void *ctx);
void fetch_answer_done(struct fetch_answer *f);
MUST_CHECK bool fetch_answer_feed(struct fetch_answer *f, struct str bytes,
                                  struct err *e);
/* At the end of input: passes on the content of an incomplete packet. */
MUST_CHECK bool fetch_answer_cut(struct fetch_answer *f, struct err *e);
/* Returns whether the final marker has arrived. Without side bands: whether the
 * pack has begun, which then extends to the end of the response. */
bool fetch_answer_is_whole(const struct fetch_answer *f);
/* Succeeds if a pack arrived and its section ended. pack_end() checks the end
 * of the pack itself. */
MUST_CHECK bool fetch_answer_end(struct fetch_answer *f, struct err *e);

#endif
