#ifndef FETCH_WORKER_SESSION_H
#define FETCH_WORKER_SESSION_H

#include <poll.h>

#include "http.h"
#include "link.h"
#include "pack.h"
#include "parts.h"
#include "protocol.h"
#include "reachable.h"
#include "secrets.h"
#include "tree.h"

/*
 * session: the state of mapm-fetch.
 *
 *     session --> places (scheme, host, port: capabilities of a server)
 *             --> repos  --> asks       requests of mapm for a package or ref
 *                        --> snapshots  one commit and its trees
 *                        --> blobs      every file that is needed or present
 *                        --> slots      at most one request of each kind
 *
 *     ask.c             advances each ask until it needs the network;
 *     request_slot.c    chooses the next request of each kind;
 *     request_result.c  processes its result;
 *     exchange.c        sends one git request and parses the response;
 *     http_exchange.c   is its transport over https;
 *     ssh_exchange.c    is its transport over ssh processes that mapm starts;
 *     place.c           manages the capabilities of a repository's server;
 *     locked_path.c            checks that a commit has the locked object at the path;
 *     ancestry.c        checks that a locked commit is in the history of a ref;
 *     snapshot.c        fetches whole commits if the server cannot send parts;
 *     compare.c         checks whether a package is still what the lock says;
 *     team_store.c      looks up objects in the team's stores first;
 *     remote.c          evaluates statuses, redirects and failures of https.
 *
 * A request starts only when mapm has seen all events and has sent all asks
 * that follow from them, so that the objects of many packages share one
 * request.
 *
 * Source: FETCH.md 3, 4, 8.
 */

enum blob_state {
    BLOB_NEW,     /* not looked up in the store yet */
    BLOB_MISSING, /* must be fetched */
    BLOB_COMING,  /* being fetched by a request */
    BLOB_HERE,    /* in the incoming folder, or buffered to be written there */
    BLOB_STORED,  /* in mapm's store */
    BLOB_FAILED,
};

struct blob {
    struct oid id;
    enum blob_state state;
    bool is_manifest; /* its text must be sent to mapm, too */
    bool is_lfs;
    struct hash hash;
    uint64_t size, offset; /* offset: position in the parts, for BLOB_HERE */
    uint64_t packed;       /* size in the pack of a snapshot, until the blob
                            * is used */
    char *text; /* text of a manifest, on the heap, until it is sent; or NULL */
    size_t text_size;
    const struct err *why;
};

enum trees_state { TREES_NEEDED, TREES_COMING, TREES_HERE, TREES_FAILED };

enum reachability {
    REACHABILITY_UNKNOWN,      /* not checked yet */
    REACHABILITY_BRANCH_TIP,   /* check whether it is the tip of a branch */
    REACHABILITY_HEAD_HISTORY, /* check the history of the default branch */
    REACHABILITY_ALL_TIPS,     /* check the tips of all branches and tags */
    REACHABILITY_ALL_HISTORY,  /* check the history of all branches */
    REACHABLE,
    UNREACHABLE,
};

enum ancestry_state {
    ANCESTRY_NEW,
    ANCESTRY_WANTED,
    ANCESTRY_CONFIRMED,
    ANCESTRY_REFUTED
};

/* Whether `commit` is in the history of `tip`. */
struct ancestry {
    struct oid tip, commit;
    enum ancestry_state state;
    const struct err *why; /* the error that prevented the check */
    struct ancestry *next;
};

struct snapshot {
    struct oid commit, root;
    enum trees_state trees;
    bool is_wanted;    /* an ask waits for its trees */
    bool is_looked_up; /* the store was queried for its trees */
    bool is_gone;      /* the server no longer has the commit */
    bool is_walked;    /* only the trees on the way to a path are present */
    const struct team_item *proof; /* the last one from a team store, or NULL;
                                    * packages may share it */
    size_t known_objects;          /* objects of the repository when it was last
                           * loaded or saved */
    enum reachability reachability;
    const struct err *why;
    bool is_served;  /* its trees came from the server in this run */
    bool has_files;  /* the files came with the trees (snapshot.c) */
    unsigned search; /* how far the search for it has gone (snapshot.c) */
    bool is_whole;   /* all trees were requested at once */
    bool at_once;    /* all trees must be requested at once, even for few
                      * packages */
    size_t asked;    /* requested packages of this commit */
    size_t unpinned; /* requested packages of this commit that no lock pins */
    struct ancestry *ancestries;
    struct snapshot *next;
};

/* An object that must be in memory: a tree of a walk, or a link's target. */
struct loose_object {
    struct oid id;
    bool is_whole; /* fetch it with all folders below it */
    bool is_coming;
    unsigned tries;
    const struct err *why;
};

enum ask_stage {
    ASK_START,
    ASK_STORE,    /* pinned: querying the team's stores */
    ASK_REFS,     /* resolving the ref to a commit */
    ASK_OBJECT,   /* pinned: fetching its tree or blob alone */
    ASK_TREES,    /* fetching the commit's trees */
    ASK_DOCUMENT, /* reading the manifest at the path */
    ASK_FILES,    /* fetching the blobs */
    ASK_REACH,    /* checking that the commit is in the history of the ref */
    ASK_OVER,
};

struct ask {
    struct link_ask in;
    struct repo *repo;        /* the repository that has the package */
    const struct repo *named; /* the repository that mapm named; differs
                               * after a redirect */
    enum ask_stage stage;
    struct str rest;      /* "<ref>/<path>", for refs_choose */
    struct str *prefixes; /* ref prefixes needed to resolve the ref */
    size_t prefix_count;
    struct range_set *ranges; /* version ranges in place of a ref:
                               * refs_choose_version */
    struct str newest;
    struct oid tag_commit; /* commit of the tag in.tag; zero if none */
    struct oid pinned;     /* the pinned object; zero if none */
    struct ancestry *ancestry;
    struct snapshot *snapshot;
    struct snapshot *base; /* an older snapshot, for a thin pack; NULL if
                            * none */
    struct oid root;       /* the tree that `path` is relative to */
    unsigned round;        /* session.round when it was added: 0 for the
                            * roots */
    bool has_path, is_pinned;
    bool is_alone;           /* `root` is the pinned object itself */
    bool needs_reachability; /* the commit must be proven to belong to the
                              * repository */
    bool must_lead;          /* the path in its trees must lead to the pinned
                              * object */
    bool leads, leads_to_program;
    bool has_retried_refs;
    bool is_by_blob;   /* blobs are requested one by one */
    bool is_by_folder; /* folders are requested, instead of their blobs */
    bool is_outline;   /* only the manifest and the names of the files are
                        * needed */
    struct str ref, path;
    struct tree_listing listing;
    struct blob **blobs; /* blobs of listing.files */
    struct blob *entry_file;
    enum doc_kind doc;
    bool is_lined_up; /* its blobs were looked up in the store */
    bool said_manifest;
    struct team_item *team_object, *team_proof; /* NULL if not requested */
    bool is_of_team;                            /* both were looked up in the
                                                 * team's stores */
    const struct err *object_why; /* why ASK_OBJECT could not fetch the
                                   * object */
    bool object_coming;
    struct str *notes;
    size_t note_count, note_capacity;
    struct ask *next;
};

enum request_kind {
    REQUEST_CAPS,  /* GET info/refs, if capabilities cannot be assumed */
    REQUEST_REFS,  /* ls-refs */
    REQUEST_TREES, /* commits with their trees, no blobs */
    REQUEST_LOOSE_OBJECTS, /* single trees and link targets */
    REQUEST_FOLDERS,       /* trees with all trees below them */
    REQUEST_BLOBS,
    REQUEST_REACHABILITY,
    REQUEST_COUNT,
};

struct request_slot {
    struct exchange *busy;
    unsigned tries;         /* consecutive failures */
    unsigned again;         /* consecutive immediate repetitions */
    size_t idle_bytes;      /* bytes without pack data since the last success */
    uint64_t not_before_ms; /* earliest start, in the clock of proc_now_ms */
    size_t batch;           /* wants per request; halved to isolate a bad one */
};

struct place {
    struct str key;        /* "https://host:port" */
    struct str host;       /* as printed in messages */
    struct place *of_host; /* first place of this host, which counts: */
    uint64_t whole_bytes;  /* bytes of commits that came with all files */
    uint64_t part_bytes;   /* bytes of those that were used */
    bool is_cost_reported;
    struct caps caps;
    unsigned round;            /* version of `caps`: incremented when they
                                * are learnt */
    bool is_looked_up;         /* looked up in the store */
    bool is_known;             /* the store has them */
    const struct repo *asking; /* repository that is requesting the caps now */
    bool is_own;               /* used by one repository only (over ssh) */
    struct secret secret;      /* found after a 401 */
    unsigned tried;
    bool secrets_of_paths; /* the checkout or git's helpers have a secret for
                            * each repository */
};

struct repo {
    struct session *session;
    struct str key;  /* host/owner/repo, lower case */
    struct str name; /* owner/repo, as first written */
    const struct git_host *kind;
    struct arena arena;
    struct url url; /* URL at the server */
    const struct transport *transport;
    struct ssh_pipe *pipe; /* of transport_ssh; NULL before its first use */
    struct place *place;
    struct secret secret;
    unsigned tried;   /* like place.tried, if place.secrets_of_paths is set */
    bool is_foreign;  /* redirected to another host: send no secrets */
    bool public_only; /* the host is neither configured nor named by
                       * insteadOf, so it must not resolve to a private
                       * address */
    unsigned redirects;
    struct str refused;  /* sources of the rejected credentials, as text */
    struct str moved_to; /* new URL, for messages */
    struct str moved;    /* owner/repo after a redirect */
    struct str before;   /* part of the path of `url` that precedes the name */
    struct repo *joined; /* the repository of the redirect's target, which
                          * takes over the asks; or NULL */
    struct caps caps;
    unsigned round;     /* place.round when these caps were copied */
    bool has_caps;      /* the server advertised `caps`; else those of the
                         * place are assumed */
    bool no_tree_wants; /* blobs must be requested one by one */
    bool no_thin;       /* a thin pack failed; request full packs */
    bool needs_caps;    /* REQUEST_CAPS must run */
    const struct err *refusal; /* the server's error that made it necessary */
    const struct err *dead;

    struct ref_list refs;
    struct map prefixes; /* requested ref prefixes -> &known or &asked */
    bool all_refs_known; /* v0, or every branch and tag was requested */
    bool wants_all_refs;

    struct objects objects; /* commits, trees, link targets */
    struct objects history; /* commits only, for ancestry.c */
    struct tree_index index;
    struct map blobs;         /* 20 bytes of id -> struct blob */
    struct map loose_objects; /* 20 bytes of id -> struct loose_object */
    struct snapshot *snapshots;
    struct ask *asks, *last_ask;
    struct ask *spare; /* finished asks, for reuse */
    size_t open_count;
    struct request_slot slots[REQUEST_COUNT];
    bool has_links;  /* link targets arrived that no saved bundle has */
    bool has_market; /* a marketplace.json is among the objects */
    bool is_dirty;   /* something arrived: advance the asks */
};

struct session {
    struct arena arena;
    struct link link;
    struct limits limits;
    struct settings settings;
    struct secrets secrets;
    struct http *http;
    const struct transport *https, *ssh;
    struct parts parts; /* buffered output, except large files */
    bool verbose;
    struct team_store *team; /* NULL without remote stores */
    struct map repos, places;
    size_t pipe_count;                 /* pipes opened so far */
    struct exchange *over, *last_over; /* finished exchanges, for pipes_next */
    uint64_t object_count;
    bool has_said_manifest; /* since the last ask */
    unsigned round;         /* incremented for the asks that one manifest
                             * causes */
    struct fetch_progress said;
    uint64_t said_ms;
};

/* --- ask.c ---------------------------------------------------------------- */

MUST_CHECK bool ask_start(struct session *s, const struct link_ask *in,
                          struct err *e);
/* Returns whether file `i` of the listing is needed: every file, but for an
 * outline only the manifests. */
bool ask_wants_file(const struct ask *a, size_t i);
/* Advances every ask of the repository until it needs the network. Fails only
 * if mapm has ended. */
MUST_CHECK bool asks_step(struct repo *r, struct err *e);

/* --- report.c ------------------------------------------------------------- */

/* Sends the progress, if it has changed; `now` overrides the interval. */
void session_report_progress(struct session *s, bool now);

void ask_note(struct ask *a, struct str note);

/* All of them, except report_manifest, end the ask. */
void report_failed(struct ask *a, const struct err *why);
void report_ref(struct ask *a);
void report_offers(struct ask *a, const struct fetch_event *offers);
MUST_CHECK bool report_manifest(struct ask *a, struct err *e);
MUST_CHECK bool report_done(struct ask *a, struct err *e);
MUST_CHECK bool report_outline(struct ask *a, struct err *e);

/* --- document.c ----------------------------------------------------------- */

enum found {
    FOUND_PACKAGE,
    FOUND_OFFERS,
    FOUND_WAIT, /* for the objects in `wants` */
    FOUND_ERROR,
};

struct document_wants {
    struct oid_set loose_objects; /* single objects */
    struct oid_set folders;       /* folders with everything below them */
};
/* Finds out what lies at ask->path of ask->root; sets doc, listing and the path
 * of the entry file. */
enum found document_find(struct ask *a, struct document_wants *wants,
                         struct str *entry_file, struct arena *arena,
                         struct fetch_event *offers, struct err *e);

/* --- locked_path.c --------------------------------------------------------------- */

/* Checks that the trees of the commit lead to the pinned object. If so, sets
 * path and `leads` and returns FOUND_PACKAGE. Never returns FOUND_OFFERS.
 * Errors: ERR_LOCKED if another object is there. */
enum found locked_path_find(struct ask *a, struct oid_set *wants,
                            struct err *e);
/* After a ref of several segments was chosen, checks that no longer path
 * exists. Returns FOUND_PACKAGE, FOUND_WAIT, or ERR_REF. */
enum found locked_path_is_only(struct ask *a, struct oid_set *wants,
                               struct err *e);

/* --- compare.c ------------------------------------------------------------ */

/* Returns whether the ask is a FETCH_REF that gives a lock's commit and
 * object. */
bool compare_is_wanted(const struct ask *a);
/* The ref names another commit than the lock: prepares to compare the two. */
void compare_start(struct ask *a);
/* Compares, once the listing is known. Returns FOUND_PACKAGE and sets
 * `*is_same`, or FOUND_WAIT. */
enum found compare_step(struct ask *a, struct oid_set *wants, bool *is_same);
/* Finds where a package that is no longer at its path has gone: its path, and
 * the object there. Returns false if it is nowhere. */
bool compare_find_moved(const struct ask *a, struct str *path, struct oid *id);

/* --- offers.c ------------------------------------------------------------- */

/* Finds the packages below the tree `folder`, which lies at `path`, allocated
 * in `arena`. `*beyond` is the first path that was skipped because of the
 * bounds, or "". Returns false if it needs the objects in `wants`. */
bool offers_find(struct ask *a, const struct oid *folder, struct str path,
                 struct oid_set *wants, struct arena *arena,
                 struct fetch_event *out, struct str *beyond);
/* Warns the user that packages were skipped, unless `beyond` is "". */
void offers_note_cut(struct ask *a, struct str beyond);
/* Returns whether the tree has an entry `name` that can be a file. */
bool tree_has_file(struct str tree, const char *name);

/* --- blob.c --------------------------------------------------------------- */

struct blob *blob_get(struct repo *r, const struct oid *id);
/* Adds the blob to the incoming folder; parts_flush writes it. */
MUST_CHECK bool blob_arrived(struct repo *r, struct blob *b, struct str bytes,
                             struct err *e);
/* Looks up all BLOB_NEW blobs in mapm's store. */
MUST_CHECK bool blobs_look_up(struct repo *r, struct blob **blobs, size_t count,
                              struct err *e);
/* Reads the text of a blob that is HERE or STORED, allocated in `a` or borrowed
 * from the blob. Errors: ERR_NOT_FOUND if it must be looked up again. */
MUST_CHECK bool blob_read(struct repo *r, struct blob *b, struct arena *a,
                          struct str *text, struct err *e);
/* Frees the text after it was sent. It is read again for another package. */
void blob_drop_text(struct blob *b);

/* --- prefetch.c ----------------------------------------------------------- */

/* Collects up to `max` manifests that will probably be needed soon into `out`.
 * Allocates in `a`. */
MUST_CHECK bool prefetch_manifests(struct repo *r, struct arena *a,
                                   struct blob **out, size_t max, size_t *count,
                                   struct err *e);

/* --- bundle.c ------------------------------------------------------------- */

/* Loads the trees of a commit from the store's bundle. Returns whether all of
 * them were valid. */
bool bundle_load(struct repo *r, struct snapshot *s, struct str bytes);
/* Saves the commit with all its trees. Returns false if a tree is missing. */
bool bundle_save(struct repo *r, struct snapshot *s);
/* Saves the trees in memory of partially walked commits that have new ones, and
 * all commits with new link targets. */
void bundles_save_walked(struct repo *r);

/* --- repo.c --------------------------------------------------------------- */

/* Returns the repository that the ask names, creating it on first use. */
struct repo *repo_get(struct session *s, const struct link_ask *in);
/* Returns `r`, or the repository that took over its asks. */
struct repo *repo_joined(struct repo *r);
/* After a redirect of `r`: if its new name has a repository already, moves the
 * asks there, unless objects were fetched for `r`, so that they are fetched
 * once. */
void repo_join(struct repo *r);
/* Returns the repository with the redirect of the ask (`moved`, `moved_to`), or
 * NULL. */
const struct repo *ask_move(const struct ask *a);
const struct err *repo_keep_err(struct repo *r, const struct err *e);
/* Returns the 20 bytes of `id`, as a map key. */
struct str oid_key(const struct oid *id);

/* State of an ls-refs prefix ("HEAD", "main"; "" for all refs, ALL_TAGS for all
 * tags): not requested, requested, or answered. */
#define ALL_TAGS     STR("refs/tags/")
#define PREFIX_ASKED 'a'
#define PREFIX_KNOWN 'k'
void refs_mark(struct repo *r, struct str prefix, char mark);
/* Returns whether the refs were requested or are known. */
bool refs_are_asked(const struct repo *r, struct str prefix);
bool refs_are_known(const struct repo *r, struct str prefix);

#define REPO_MAX_TIPS 500
/* Collects the tips of all refs, at most REPO_MAX_TIPS, allocated in `a`. */
void all_tips(const struct repo *r, struct arena *a, struct oid_set *out);
/* Returns the id under which a server that serves only advertised objects knows
 * the commit, which may be that of an annotated tag; NULL if there is none. */
const struct oid *advertised_id(const struct repo *r, const struct oid *commit);

struct snapshot *snapshot_get(struct repo *r, const struct oid *commit);
struct loose_object *loose_object_get(struct repo *r, const struct oid *id);
bool loose_object_is_here(const struct repo *r, const struct loose_object *t);
/* Requests that the object be in memory, with all folders below it if
 * `is_whole`. Returns the error if it cannot be fetched, else NULL. */
const struct err *loose_object_want(struct repo *r, const struct oid *id,
                                    bool is_whole);

/* --- request_slot.c, request_result.c ------------------------------------- */

/* Starts pending requests in free slots. Lowers `*wait_ms` to the time of the
 * next retry. */
MUST_CHECK bool requests_start(struct repo *r, uint64_t *wait_ms,
                               struct err *e);

/* Processes the result of a finished request. */
MUST_CHECK bool request_finish(struct exchange *x, struct err *e);

/* --- reachability.c ------------------------------------------------------- */

/* Advances the check as far as the known refs and commits allow. */
MUST_CHECK bool reachability_step(struct repo *r, struct snapshot *s,
                                  struct err *e);
/* Returns the tips whose history must be fetched, in the two states that check
 * histories. Allocated in `a`. */
void reachability_tips(const struct repo *r, const struct snapshot *s,
                       struct arena *a, struct oid **tips, size_t *count);
/* Evaluates the history that was fetched. */
void reachability_evaluate(struct repo *r, struct snapshot *s,
                           const struct objects *objects,
                           const struct oid *tips, size_t count);

/* --- ancestry.c ----------------------------------------------------------- */

struct ancestry *ancestry_get(struct repo *r, struct snapshot *s,
                              const struct oid *tip);
/* Returns FOUND_PACKAGE if the commit is in the history, FOUND_ERROR if not, or
 * FOUND_WAIT. */
enum found ancestry_step(struct ask *a, struct err *e);
/* Returns the next ancestry whose history must be fetched, or NULL. */
struct ancestry *ancestry_next(const struct repo *r);
/* Evaluates the commits that were fetched into `history`. */
void ancestry_evaluate(struct repo *r, struct ancestry *x);

/* --- exchanges and transports --------------------------------------------- */

enum outcome {
    OUTCOME_OK,
    OUTCOME_AGAIN,    /* retry at once: something about the repository
                       * changed */
    OUTCOME_LATER,    /* retry after the slot's delay */
    OUTCOME_BAD_WANT, /* one of the wants is invalid */
    OUTCOME_DEAD,     /* the repository cannot be fetched */
    OUTCOME_GONE,     /* mapm has ended */
};

struct exchange {
    struct repo *repo;
    enum request_kind kind;
    struct arena arena;
    struct buf body; /* the request body; empty for CAPS */
    struct place *place;
    const struct oid *wants; /* objects that must arrive; tips may be
                              * requested instead */
    size_t want_count;
    const struct str *prefixes; /* REFS: as requested, without refs/ */
    size_t prefix_count;
    struct snapshot *checking;          /* REACHABILITY, for reachability.c */
    struct ancestry *checking_ancestry; /* REACHABILITY, for ancestry.c */
    struct blob **blobs;                /* BLOBS: those set to BLOB_COMING by
                                         * it */
    size_t blob_count;
    bool had_caps;  /* the repository had its own caps when it was sent */
    bool had_any;   /* its caps allowed any object when it was sent */
    bool is_thin;   /* the pack may have deltas on trees in the store */
    bool takes_all; /* accept all blobs below the wants, listed or not */
    bool is_search; /* TREES: the server may not have the commits */
    bool is_filtered;
    bool may_cut; /* TREES: may stop early and walk the trees instead */
    bool is_cut;  /* TREES: stopped early, as the response was too long */

    /* the response */
    struct ref_list refs;
    struct advert advert;
    struct ls_refs_answer ls_refs;
    struct fetch_answer fetch;
    struct pack *pack;
    struct objects objects;     /* REACHABILITY: commits only */
    struct reachable reachable; /* blobs to accept, with takes_all */
    size_t unrequested;         /* received objects that were not requested */
    uint64_t received;          /* bytes of the response */
    bool has_begun;
    struct err why; /* error while parsing the response */

    /* the transport; the next three are set once judged */
    const struct transport *transport;
    uint64_t took_ms;
    unsigned retry_after_s; /* 0 if the server sent none */
    bool was_slow;          /* it ended because no data arrived for too long */
    struct http_call call;  /* the call, for https */
    struct secret secret;   /* https: the secret that was sent */
    struct exchange *next;  /* ssh: next exchange on the same connection */
    enum outcome line_outcome;
    const struct err *line_why; /* ssh: error of the connection; NULL if none */
};

/*
 * A transport sends x->body and passes the response to exchange_feed, until
 * that returns false, exchange_is_whole returns true, or the connection ends.
 * Then it calls request_finish(x).
 */
struct transport {
    bool has_service_line; /* "# service=…" precedes an advertisement */
    bool (*start)(struct exchange *x, struct err *e);
    /* Returns the meaning of the connection's end. OUTCOME_OK if git has
     * responded, so that the response decides; sets `e` for the last four. */
    enum outcome (*evaluate)(struct exchange *x, struct err *e);
    /* Returns the outcome if the server asked to retry later. */
    enum outcome (*evaluate_busy)(struct exchange *x, struct err *e);
    /* Writes a status, such as "HTTP 200". */
    void (*describe)(const struct exchange *x, struct buf *out);
    void (*close)(struct exchange *x);
};

extern const struct transport transport_http, transport_ssh;

/* --- ssh_exchange.c ------------------------------------------------------- */

/* Sends, reads, opens and closes connections, without waiting. Lowers
 * `*wait_ms` to their next timeout. */
MUST_CHECK bool pipes_step(struct session *s, uint64_t *wait_ms, struct err *e);
/* Returns an exchange that has finished, or NULL. */
struct exchange *pipes_next(struct session *s);
/* Fills in the descriptors to poll, at most `max`, and returns their count. */
size_t pipes_poll(const struct session *s, struct pollfd *out, size_t max);

/* --- exchange.c: the git protocol over any transport ---------------------- */

struct exchange *exchange_open(struct repo *r, enum request_kind kind);
void exchange_close(struct exchange *x);

/* Sends the request; `args` is for slots that fetch. If it cannot be sent, it
 * is closed and its repository fails. */
void exchange_start(struct exchange *x, struct fetch_args *args);
/* Returns whether the request failed because of assumed capabilities, which are
 * then requested; false if the server had advertised them. */
bool exchange_was_refused(struct exchange *x);

/* Parses bytes of the response as they arrive. Returns false if no more are
 * needed. */
bool exchange_feed(struct exchange *x, struct str bytes);
/* Returns whether the final marker of the response has arrived. It is the only
 * sign on a connection that stays open. */
bool exchange_is_whole(const struct exchange *x);

/* Returns the outcome of a finished exchange; sets `e` for the last four. */
enum outcome exchange_evaluate(struct exchange *x, struct err *e);
enum wire_fault exchange_fault(const struct exchange *x);

/* --- snapshot.c ----------------------------------------------------------- */

/* Requests whole commits where the server cannot send parts of them. */
void snapshots_start(struct repo *r);
/* The response lacked the commit: search for it with more refs, or fail. */
void snapshot_search_on(struct repo *r, struct snapshot *s);
/* Handle missing files or trees of commits whose trees came from the store. */
void snapshots_need_files(struct repo *r);
void snapshots_need_trees(struct repo *r);

/* --- place.c -------------------------------------------------------------- */

/* Sets url, place, transport and the first secret. Errors: ERR_REFUSED of
 * settings_rewrite. */
MUST_CHECK bool remote_init(struct repo *r, const struct link_ask *in,
                            struct err *e);
/* Updates the place after a change of r->url. */
void place_set(struct repo *r);
/* Looks up the capabilities of the place in the store, once. */
MUST_CHECK bool place_look_up(struct repo *r, struct err *e);
/* Records the advertisement of the repository for the place and the store. */
void place_learn(struct repo *r, const struct caps *caps);
/* The server rejected what was assumed: returns true if the advertisement must
 * be requested, false if it is known. */
bool place_refused(struct repo *r);
void place_refused_filter(struct repo *r);
/* The server rejected objects of a commit that were requested by id. */
void place_refused_objects(struct repo *r);
/* Adopts newer capabilities that another repository has learnt. */
void place_follow(struct repo *r);

/* Count the bytes of a commit that came with all its files, and those used. */
void place_count_whole(struct repo *r, const struct pack *p);
void place_count_used(const struct ask *a);
/* With --verbose, reports the cost once for each server, after the last ask. */
void places_report_cost(struct session *s);
/* Returns the URL without secrets, allocated in the repository's arena. */
const char *repo_shown(struct repo *r);

/* --- remote.c: statuses, redirects and failures of https ------------------ */

enum outcome remote_evaluate(struct exchange *x, bool is_git, struct err *e);
enum outcome remote_evaluate_busy(struct exchange *x, struct err *e);

#endif
