#ifndef FETCH_WORKER_PROTOCOL_H
#define FETCH_WORKER_PROTOCOL_H

#include "refs.h"
#include "wire.h"

/*
 * protocol: git's smart HTTP, versions 2 and 0: requests built, answers read.
 *
 *     ls_refs_request()  --> POST --> struct ls_refs_answer --> ref_list
 *     fetch_request()    --> POST --> struct fetch_answer   --> pack bytes
 *     GET info/refs               --> struct advert         --> caps, refs
 *
 * Each answer is fed with the body's bytes as they come and closed by _end.
 * No network in here.
 *
 * Source: git's gitprotocol-v2, -pack, -http, -capabilities; FETCH.md 3, 8.
 */

#define AGENT "git/mapm-" MAPM_VERSION /* GitHub wants "git/" in front */

/* What a server can do, from its advertisement. Requests follow from it alone,
 * never from the name of a host. */
struct caps {
    int version; /* 2, or 0, which 1 is like */
    bool ls_refs, fetch;
    bool shallow; /* deepen */
    bool filter;
    bool sha256; /* object-format is not sha1: not for us */
    /* Trees, blobs and commits that no ref shows may be wanted by their ids:
     * in version 2 always. */
    bool any_object;
    bool multi_ack, multi_ack_detailed; /* v0: some insist on it */
    bool no_done;                       /* v0 */
    bool ofs_delta;                     /* v0: may be asked for */
    bool no_progress;                   /* v0 */
    bool side_band, side_band_64k;      /* v0 */
};

/* Trees first, and then what is needed of the files. Otherwise a commit comes
 * with all that it holds. */
bool caps_are_partial(const struct caps *caps);

/* As kept between runs: "2 shallow filter". In `a`. */
struct str caps_format(const struct caps *caps, struct arena *a);
/* False for anything else. */
bool caps_parse(struct str text, struct caps *out);

/* GET info/refs?service=git-upload-pack, or what comes first over a pipe,
 * whatever version answers. */
struct advert {
    struct pkt_reader pkt;
    struct caps caps;
    struct ref_list *refs; /* v0 only */
    size_t bytes;
    enum wire_fault fault;
    int state;
};

/* `service`: "# service=git-upload-pack" is in front, as over http. */
void advert_init(struct advert *a, struct ref_list *refs, bool service);
void advert_done(struct advert *a);
MUST_CHECK bool advert_feed(struct advert *a, struct str bytes, struct err *e);
bool advert_is_whole(const struct advert *a);
/* ERR_FETCH for an incomplete answer, with `fault` set. */
MUST_CHECK bool advert_end(struct advert *a, struct err *e);

/*
 * v2: ls-refs for these prefixes ("HEAD", "refs/heads/main"), at least one:
 * without any a server lists every pull request.
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

#define FETCH_WANTS_MAX 2000 /* 100 KB, compressed below 64: FETCH.md 3.3 */

struct fetch_args {
    const struct oid *wants; /* at most FETCH_WANTS_MAX */
    size_t want_count;
    const struct oid *haves;
    size_t have_count;
    const struct oid *shallows;
    size_t shallow_count;
    unsigned deepen;    /* 0: none */
    const char *filter; /* "blob:none", "tree:0"; NULL: none */
    bool thin;          /* bases of deltas may be left out */
};

/* Always with `done`: one request, one pack. */
void fetch_request(struct buf *out, const struct fetch_args *w); /* v2 */
void fetch_request_v0(struct buf *out, const struct fetch_args *w,
                      const struct caps *caps);

struct fetch_answer {
    struct pkt_reader pkt;
    struct bands bands;
    /* Bytes of the pack in order; false stops with the fault WIRE_PACK. */
    bool (*pack)(void *ctx, struct str bytes, struct err *e);
    void *ctx;
    struct oid_set *shallow; /* ids the server cut history at; may be NULL */
    const struct caps *v0;   /* NULL: version 2 */
    enum wire_fault fault;
    int state;
    size_t lines; /* outside the pack */
    bool has_pack;
};

void fetch_answer_init(struct fetch_answer *f,
                       bool (*pack)(void *ctx, struct str bytes, struct err *e),
                       void *ctx);

/* The same, for the answer to fetch_request_v0(w, caps). */
void fetch_answer_init_v0(
    struct fetch_answer *f, const struct fetch_args *w, const struct caps *caps,
    bool (*pack)(void *ctx, struct str bytes, struct err *e), void *ctx);
void fetch_answer_done(struct fetch_answer *f);
MUST_CHECK bool fetch_answer_feed(struct fetch_answer *f, struct str bytes,
                                  struct err *e);
/* End of input: passes on the content of an incomplete packet. */
MUST_CHECK bool fetch_answer_cut(struct fetch_answer *f, struct err *e);
/* Its last mark has come; without side bands the pack has begun, and its end
 * is that of the answer. */
bool fetch_answer_is_whole(const struct fetch_answer *f);
/* Whole when the pack was there and its section ended. The pack's own end is
 * pack_end(). */
MUST_CHECK bool fetch_answer_end(struct fetch_answer *f, struct err *e);

#endif
