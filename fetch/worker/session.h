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
 *     session --> places (scheme, host, port: what a server can do)
 *             --> repos  --> asks       what mapm wants of it
 *                        --> snapshots  one commit and its trees
 *                        --> blobs      every file that is wanted or here
 *                        --> slots      at most one request of each kind
 *
 * ask.c             advances each ask until it needs the network;
 * request_slot.c    chooses the next request of each kind;
 * request_result.c  processes its result;
 * exchange.c        puts one question and reads its answer, over any transport;
 * http_exchange.c   is the transport over https;
 * ssh_exchange.c    is the one through processes that mapm starts;
 * place.c           knows what the server of a repository can do;
 * lead.c            whether a commit has the locked object at the path;
 * ancestry.c        whether a locked commit is in the history of a ref;
 * snapshot.c        commits of a server that gives no part of one;
 * compare.c         whether a package is still what a lock says;
 * team_store.c      what the team's remotes have, before a host is asked;
 * remote.c          judges statuses, redirects and refusals of https.
 *
 * A request starts only when mapm has seen all events and asked for all it
 * wants because of them: so the wants of many packages share one request.
 *
 * Source: FETCH.md 3, 4, 8.
 */

enum blob_state {
    BLOB_NEW,     /* not looked up in the store yet */
    BLOB_MISSING, /* has to be fetched */
    BLOB_COMING,  /* a request for it is under way */
    BLOB_HERE,    /* in the incoming folder, or on its way there */
    BLOB_STORED,  /* the store has it */
    BLOB_FAILED,
};

struct blob {
    struct oid id;
    enum blob_state state;
    bool is_manifest; /* its text is wanted */
    bool is_lfs;
    struct hash hash;
    uint64_t size, offset; /* offset: HERE, of the parts */
    uint64_t packed;       /* bytes of a snapshot's pack, until it is of use */
    char *text; /* of a manifest, on the heap, until it was sent; or NULL */
    size_t text_size;
    const struct err *why;
};

enum trees_state { TREES_NEEDED, TREES_COMING, TREES_HERE, TREES_FAILED };

enum reachability {
    REACHABILITY_UNKNOWN,      /* not checked yet */
    REACHABILITY_BRANCH_TIP,   /* is it the tip of a branch? */
    REACHABILITY_HEAD_HISTORY, /* of the default branch's history? */
    REACHABILITY_ALL_TIPS,     /* the tip of any branch or tag? */
    REACHABILITY_ALL_HISTORY,  /* of any branch's history? */
    REACHABLE,
    UNREACHABLE,
};

enum ancestry_state {
    ANCESTRY_NEW,
    ANCESTRY_WANTED,
    ANCESTRY_CONFIRMED,
    ANCESTRY_REFUTED
};

/* Whether a commit is in the history of this tip. */
struct ancestry {
    struct oid tip, commit;
    enum ancestry_state state;
    const struct err *why; /* it could not be found out */
    struct ancestry *next;
};

struct snapshot {
    struct oid commit, root;
    enum trees_state trees;
    bool is_wanted;    /* an ask waits for its trees */
    bool is_looked_up; /* the store was asked for its trees */
    bool is_gone;      /* the server does not know the commit any more */
    bool is_walked;    /* not all its trees are here: only those on the way */
    bool has_proof;    /* … out of a store, the last one with this digest: */
    struct hash proof; /* several packages may share it */
    size_t known_objects; /* in the repository, when it was loaded or saved */
    enum reachability reachability;
    const struct err *why;
    bool is_served;  /* its trees came from the server, now */
    bool has_files;  /* they came with its trees: snapshot.c */
    unsigned search; /* … and how far it was looked for */
    bool is_whole;   /* all its trees were wanted in one request */
    bool at_once;    /* … and have to be, however few packages are wanted */
    size_t asked;    /* packages of it that were asked for */
    size_t unpinned; /* those among them that no lock pins */
    struct ancestry *ancestries;
    struct snapshot *next;
};

/* An object that has to be in memory: a tree of a walk, a link's target. */
struct loose_object {
    struct oid id;
    bool is_whole; /* a folder with all folders below it */
    bool is_coming;
    unsigned tries;
    const struct err *why;
};

enum ask_stage {
    ASK_START,
    ASK_STORE,    /* pinned: what do the team's remotes have of it? */
    ASK_REFS,     /* which commit does the ref name? */
    ASK_OBJECT,   /* pinned: its tree or blob alone */
    ASK_TREES,    /* the commit's trees */
    ASK_DOCUMENT, /* what lies at the path? */
    ASK_FILES,    /* its blobs */
    ASK_REACH,    /* is the commit in the history of the ref? */
    ASK_OVER,
};

struct ask {
    struct link_ask in;
    struct repo *repo;        /* that has the package */
    const struct repo *named; /* that it was asked of; mostly the same */
    enum ask_stage stage;
    struct str rest; /* "<ref>/<path>", for refs_choose */
    struct str prefixes[REFS_MAX_PREFIXES]; /* that tell what the ref names */
    size_t prefix_count;
    struct range_set *ranges; /* instead of a ref: refs_choose_version */
    struct str newest;
    struct oid tag_commit; /* of in.tag; zero: none */
    struct oid pinned;     /* object; zero: none */
    struct ancestry *ancestry;
    struct snapshot *snapshot;
    struct snapshot *base; /* an older one, for a thin pack; NULL: none */
    struct oid root;       /* of the tree that `path` is in */
    unsigned round;        /* 0: a root; 1: a root's dependency; … */
    bool has_path, is_pinned;
    bool is_alone;           /* `root` is the pinned object itself */
    bool needs_reachability; /* that the commit belongs to the repository */
    bool must_lead;          /* its trees to the pinned object, at the path */
    bool leads, leads_to_program;
    bool has_retried_refs;
    bool is_by_blob;   /* its blobs are wanted one by one */
    bool is_by_folder; /* some of its folders are wanted, not their blobs */
    bool is_outline;   /* the document alone is wanted, and names of files */
    struct str ref, path;
    struct tree_listing listing;
    struct blob **blobs; /* of listing.files */
    struct blob *entry_file;
    enum doc_kind doc;
    bool is_lined_up; /* its blobs were looked up in the store */
    bool said_manifest;
    struct team_item *team_object, *team_proof; /* NULL: not asked for */
    bool is_of_team;                            /* both were looked for */
    const struct err *object_why; /* ASK_OBJECT: it could not be had */
    bool object_coming;
    struct str *notes;
    size_t note_count, note_capacity;
    struct ask *next;
};

enum request_kind {
    REQUEST_CAPS,  /* GET info/refs: a server that is not like GitHub's */
    REQUEST_REFS,  /* ls-refs */
    REQUEST_TREES, /* commits with their trees, no blobs */
    REQUEST_LOOSE_OBJECTS, /* single trees and links */
    REQUEST_FOLDERS,       /* trees with all trees below them */
    REQUEST_BLOBS,
    REQUEST_REACHABILITY,
    REQUEST_COUNT,
};

struct request_slot {
    struct exchange *busy;
    unsigned tries;         /* failed ones in a row */
    unsigned again;         /* repeated at once, in a row */
    size_t idle_bytes;      /* not of a pack, since the last success */
    uint64_t not_before_ms; /* proc_now_ms */
    size_t batch;           /* wants in one request; halved to find a bad one */
};

struct place {
    struct str key;        /* https://host:port */
    struct str host;       /* as shown */
    struct place *of_host; /* the first one of the host, which has: */
    uint64_t whole_bytes;  /* of commits that came with all their files */
    uint64_t part_bytes;   /* … what of them was of use */
    bool has_said_cost;
    struct caps caps;
    unsigned round;            /* of caps: how often they were learnt */
    bool is_looked_up;         /* in the store */
    bool is_known;             /* … by the store, too */
    const struct repo *asking; /* for them, now */
    bool is_own;               /* of one repository: over ssh */
    struct secret secret;      /* found after a 401 */
    unsigned tried;
    bool secrets_of_paths; /* the checkout, or git's helpers, have one for each
                            * repository */
};

struct repo {
    struct session *session;
    struct str key;  /* host/owner/repo, lower case */
    struct str name; /* owner/repo, as first written */
    const struct git_host *kind;
    struct arena arena;
    struct url url; /* of the server */
    const struct transport *transport;
    struct ssh_pipe *pipe; /* of transport_ssh; NULL: not used yet */
    struct place *place;
    struct secret secret;
    unsigned tried;   /* with place.secrets_of_paths: as of the place */
    bool is_foreign;  /* redirected to another host: no secrets */
    bool public_only; /* neither configured nor from insteadOf */
    unsigned redirects;
    struct str refused;  /* sources of credentials, in words */
    struct str moved_to; /* for a person */
    struct str moved;    /* owner/repo, as the host names it now */
    struct str before;   /* of the path of `url`, what stands before these */
    struct repo *joined; /* by this name it is asked already; or NULL */
    struct caps caps;
    unsigned round;     /* of the place, whose caps these are */
    bool has_caps;      /* its own; else those of the place are assumed */
    bool no_tree_wants; /* blobs have to be named one by one */
    bool no_thin;       /* a thin pack was of no use */
    bool needs_caps;    /* REQUEST_CAPS has to run */
    const struct err *refusal; /* in words, that made it need them */
    const struct err *dead;

    struct ref_list refs;
    struct map prefixes; /* asked for: &known or &asked */
    bool all_refs_known; /* v0, or every branch and tag was asked for */
    bool wants_all_refs;

    struct objects objects; /* commits, trees, links */
    struct objects history; /* commits alone, for ancestry.c */
    struct tree_index index;
    struct map blobs;         /* 20 bytes --> struct blob */
    struct map loose_objects; /* 20 bytes --> struct loose_object */
    struct snapshot *snapshots;
    struct ask *asks, *last_ask;
    struct ask *spare; /* over, for the next ones */
    size_t open_count;
    struct request_slot slots[REQUEST_COUNT];
    bool has_links;  /* texts of links came that no bundle has */
    bool has_market; /* the text of a marketplace.json is among the objects */
    bool is_dirty;   /* something came: look at the asks again */
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
    struct team_store *team; /* NULL: there are no remotes */
    struct map repos, places;
    size_t pipe_count;                 /* that were ever opened */
    struct exchange *over, *last_over; /* for pipes_next */
    uint64_t object_count;
    bool has_said_manifest; /* since the last ask */
    unsigned round;         /* of asks: those caused by one manifest */
    struct fetch_progress said;
    uint64_t said_ms;
};

/* --- ask.c ---------------------------------------------------------------- */

MUST_CHECK bool ask_start(struct session *s, const struct link_ask *in,
                          struct err *e);
/* One of its listing: all of them, but the documents alone for an outline. */
bool ask_wants_file(const struct ask *a, size_t i);
/* Advances every ask of the repository until it needs the network. Fails only
 * when mapm has ended. */
MUST_CHECK bool asks_step(struct repo *r, struct err *e);

/* --- report.c ------------------------------------------------------------- */

/* Sends the progress so far, when it has changed. */
void session_say_progress(struct session *s, bool now);

void ask_note(struct ask *a, struct str note);

/* All but the manifest end the ask. */
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
    FOUND_WAIT, /* for `wants` */
    FOUND_ERROR,
};

struct document_wants {
    struct oid_set loose_objects; /* one by one */
    struct oid_set folders;       /* with all that is below them */
};
/* What lies at ask->path of ask->root: sets doc, listing and anchor's path. */
enum found document_find(struct ask *a, struct document_wants *wants,
                         struct str *entry_file, struct arena *arena,
                         struct fetch_event *offers, struct err *e);

/* --- lead.c --------------------------------------------------------------- */

/* Do the trees of the commit lead to the pinned object? Sets path and `leads`:
 * FOUND_PACKAGE. Never FOUND_OFFERS. ERR_LOCKED when something else is there. */
enum found lead_find(struct ask *a, struct oid_set *wants, struct err *e);
/* A ref of several segments led to the path: nothing is at a longer one.
 * FOUND_PACKAGE, FOUND_WAIT, or ERR_REF. */
enum found lead_is_only(struct ask *a, struct oid_set *wants, struct err *e);

/* --- compare.c ------------------------------------------------------------ */

/* A REF that compares: the commit and the object of a lock are given. */
bool compare_is_wanted(const struct ask *a);
/* The ref names another commit than the locked one: what is needed of both. */
void compare_start(struct ask *a);
/* The listing is known. FOUND_PACKAGE with `*is_same`, or FOUND_WAIT. */
enum found compare_step(struct ask *a, struct oid_set *wants, bool *is_same);

/* --- offers.c ------------------------------------------------------------- */

/* Packages below the tree `folder`, which lies at `path`; `*beyond` is the
 * first path that the bounds leave out, or "". In `arena`. False: wait for
 * `wants`. */
bool offers_find(struct ask *a, const struct oid *folder, struct str path,
                 struct oid_set *wants, struct arena *arena,
                 struct fetch_event *out, struct str *beyond);
/* Says so to a person, unless it is "". */
void offers_note_cut(struct ask *a, struct str beyond);
/* Does the tree have an entry of this name that can be a file? */
bool tree_has_file(struct str tree, const char *name);

/* --- blob.c --------------------------------------------------------------- */

struct blob *blob_get(struct repo *r, const struct oid *id);
/* For the incoming folder: all of it is there after parts_flush. */
MUST_CHECK bool blob_arrived(struct repo *r, struct blob *b, struct str bytes,
                             struct err *e);
/* Asks mapm for all that are NEW among them. */
MUST_CHECK bool blobs_look_up(struct repo *r, struct blob **blobs, size_t count,
                              struct err *e);
/* The text of one that is HERE or STORED: in `a`, or as long as it is kept.
 * ERR_NOT_FOUND when it has to be looked up again. */
MUST_CHECK bool blob_read(struct repo *r, struct blob *b, struct arena *a,
                          struct str *text, struct err *e);
/* Frees the text after it was sent. For another package it is read again. */
void blob_drop_text(struct blob *b);

/* --- prefetch.c ---------------------------------------------------------- */

/* Manifests that will be wanted soon: into `out`, at most `max`. In `a`. */
MUST_CHECK bool prefetch_manifests(struct repo *r, struct arena *a,
                                   struct blob **out, size_t max, size_t *count,
                                   struct err *e);

/* --- bundle.c ------------------------------------------------------------- */

/* The trees of a commit that the store keeps: true when they were all good. */
bool bundle_load(struct repo *r, struct snapshot *s, struct str bytes);
/* Saves the commit with all its trees; false when one is not here. */
bool bundle_save(struct repo *r, struct snapshot *s);
/* … with the trees in memory, of walked commits, if there are new ones; and of
 * all commits with new texts of links. */
void bundles_save_walked(struct repo *r);

/* --- repo.c --------------------------------------------------------------- */

/* The one that the ask names; made when it is the first. */
struct repo *repo_get(struct session *s, const struct link_ask *in);
/* `r`, or where its asks went. */
struct repo *repo_joined(struct repo *r);
/* `r` was redirected: where it is asked for by that name, too, its asks go
 * there, as long as nothing of it is here, so that everything is fetched once. */
void repo_join(struct repo *r);
/* The redirect that led to the repository of the ask: `moved`, `moved_to`. */
const struct repo *ask_move(const struct ask *a);
const struct err *repo_keep_err(struct repo *r, const struct err *e);
struct str oid_key(const struct oid *id); /* its 20 bytes: a map's key */

/* ls-refs for this prefix ("HEAD", "main"; "" is all, ALL_TAGS all tags): 0
 * nothing, asked for, answered. */
#define ALL_TAGS     STR("refs/tags/")
#define PREFIX_ASKED 'a'
#define PREFIX_KNOWN 'k'
void refs_mark(struct repo *r, struct str prefix, char mark);
bool refs_are_asked(const struct repo *r, struct str prefix); /* or known */
bool refs_are_known(const struct repo *r, struct str prefix);

#define REPO_MAX_TIPS 500
/* Tips from which all is reachable that can be had. In `a`. */
void all_tips(const struct repo *r, struct arena *a, struct oid_set *out);
/* The id by which a server that shows refs alone knows the commit: that of an
 * annotated tag may stand for it. NULL: by none. */
const struct oid *advertised_id(const struct repo *r, const struct oid *commit);

struct snapshot *snapshot_get(struct repo *r, const struct oid *commit);
struct loose_object *loose_object_get(struct repo *r, const struct oid *id);
bool loose_object_is_here(const struct repo *r, const struct loose_object *t);
/* The object is needed in memory, a folder perhaps with all folders below it;
 * its fault when it cannot be had. */
const struct err *loose_object_want(struct repo *r, const struct oid *id,
                                    bool is_whole);

/* --- request_slot.c, request_result.c -------------------------------------------------- */

/* Starts pending requests in free slots. `*wait_ms` is lowered to the next
 * retry. */
MUST_CHECK bool requests_start(struct repo *r, uint64_t *wait_ms,
                               struct err *e);

/* The request is over: processes its result. */
MUST_CHECK bool request_finish(struct exchange *x, struct err *e);

/* --- reachability.c -------------------------------------------------------------- */

/* Advances the check as far as the known refs and commits allow. */
MUST_CHECK bool reachability_step(struct repo *r, struct snapshot *s,
                                  struct err *e);
/* The tips whose history to check, in the two states for histories. In `a`. */
void reachability_tips(const struct repo *r, const struct snapshot *s,
                       struct arena *a, struct oid **tips, size_t *count);
/* A chain was fetched. */
void reachability_evaluate(struct repo *r, struct snapshot *s,
                           const struct objects *objects,
                           const struct oid *tips, size_t count);

/* --- ancestry.c -------------------------------------------------------------- */

struct ancestry *ancestry_get(struct repo *r, struct snapshot *s,
                              const struct oid *tip);
/* FOUND_PACKAGE: it is. FOUND_WAIT. FOUND_ERROR: it is not. */
enum found ancestry_step(struct ask *a, struct err *e);
/* The next ancestry with a history to fetch, or NULL. */
struct ancestry *ancestry_next(const struct repo *r);
/* It was fetched, into `history`. */
void ancestry_evaluate(struct repo *r, struct ancestry *x);

/* --- what carries an exchange --------------------------------- */

enum outcome {
    OUTCOME_OK,
    OUTCOME_AGAIN,    /* at once: something about the repository changed */
    OUTCOME_LATER,    /* the slot waits first */
    OUTCOME_BAD_WANT, /* one of the wants is at fault */
    OUTCOME_DEAD,     /* nothing will work in this repository */
    OUTCOME_GONE,     /* mapm is gone */
};

struct exchange {
    struct repo *repo;
    enum request_kind kind;
    struct arena arena;
    struct buf body; /* the question, as it is sent; CAPS: empty */
    struct place *place;
    const struct oid *wants; /* what has to come; asked for may be tips */
    size_t want_count;
    const struct str *prefixes; /* REFS: as asked, without refs/ */
    size_t prefix_count;
    struct snapshot *checking;          /* PROOF, for reachability.c */
    struct ancestry *checking_ancestry; /* … or for ancestry.c */
    struct blob **blobs;                /* BLOBS: that became COMING with it */
    size_t blob_count;
    bool had_caps;  /* the repository its own, when it was sent */
    bool had_any;   /* … its host gave out any object */
    bool is_thin;   /* deltas on trees that the store has */
    bool takes_all; /* blobs below the wants, listed or not */
    bool is_search; /* TREES: the commits may be elsewhere */
    bool is_filtered;
    bool may_cut; /* TREES: needed trees may be walked to */
    bool is_cut;  /* … and was: the answer became too long */

    /* the answer */
    struct ref_list refs;
    struct advert advert;
    struct ls_refs_answer ls_refs;
    struct fetch_answer fetch;
    struct pack *pack;
    struct objects objects;     /* PROOF: the commits alone */
    struct reachable reachable; /* with takes_all */
    size_t unrequested;         /* objects that nothing requested */
    uint64_t received;          /* bytes of it */
    bool has_begun;
    struct err why; /* what the reading of it complained about */

    /* its way; the first three are known once it was judged */
    const struct transport *transport;
    uint64_t took_ms;
    unsigned retry_after_s; /* 0: the server did not say */
    bool was_slow;          /* it ended because nothing came for too long */
    struct http_call call;  /* http: its own */
    struct secret secret;   /* http: that was sent */
    struct exchange *next;  /* ssh: after it on the same line */
    enum outcome line_outcome;
    const struct err *line_why; /* ssh: the line is to blame; NULL: it is not */
};

/*
 * What carries questions and answers: it sends x->body and gives what comes
 * back to exchange_feed, until that says no, exchange_is_whole, or the line
 * ends; then request_finish(x).
 */
struct transport {
    bool has_service_line; /* "# service=…" before an advertisement */
    bool (*start)(struct exchange *x, struct err *e);
    /* What the end of the line means. OUTCOME_OK: git has answered, and the
     * answer says the rest; `e` is set for the last four. */
    enum outcome (*judge)(struct exchange *x, struct err *e);
    /* The server's own words were "later". */
    enum outcome (*judge_busy)(struct exchange *x, struct err *e);
    void (*describe)(const struct exchange *x, struct buf *out); /* HTTP 200 */
    void (*close)(struct exchange *x);
};

extern const struct transport transport_http, transport_ssh;

/* --- ssh_exchange.c ------------------------------------------------------------ */

/* Sends, reads, opens and ends lines, without waiting. `*wait_ms` is lowered
 * to the next of their limits. */
MUST_CHECK bool pipes_step(struct session *s, uint64_t *wait_ms, struct err *e);
/* An exchange that is over since, or NULL. */
struct exchange *pipes_next(struct session *s);
/* What to wait for; the count, at most `max`. */
size_t pipes_poll(const struct session *s, struct pollfd *out, size_t max);

/* --- exchange.c: what is said, over any transport --------------------------- */

struct exchange *exchange_open(struct repo *r, enum request_kind kind);
void exchange_close(struct exchange *x);

/* `args`: for the slots that fetch. One that cannot be sent is closed, and its
 * repository fails. */
void exchange_start(struct exchange *x, struct fetch_args *args);
/* What it assumed of the server may be wrong, and is asked for. False: it was
 * the server's own word. */
bool exchange_was_refused(struct exchange *x);

/* Bytes of the answer, as they come. False: no more of them are of use. */
bool exchange_feed(struct exchange *x, struct str bytes);
/* The mark at the end of the answer has come: on a line that stays open
 * nothing else tells. */
bool exchange_is_whole(const struct exchange *x);

/* What an exchange that is over means; `e` is set for the last four. */
enum outcome exchange_judge(struct exchange *x, struct err *e);
enum wire_fault exchange_fault(const struct exchange *x);

/* --- snapshot.c ----------------------------------------------------------- */

/* Commits with all that they hold, where nothing smaller can be wanted. */
void snapshots_start(struct repo *r);
/* An answer did not have it: it is looked for farther away, or failed. */
void snapshot_search_on(struct repo *r, struct snapshot *s);
/* Files, or trees, of commits whose trees came from the store are missing. */
void snapshots_need_files(struct repo *r);
void snapshots_need_trees(struct repo *r);

/* --- place.c -------------------------------------------------------------- */

/* Sets url, place, transport and first secret. ERR_REFUSED by
 * settings_rewrite. */
MUST_CHECK bool remote_init(struct repo *r, const struct link_ask *in,
                            struct err *e);
/* r->url has changed. */
void place_set(struct repo *r);
/* What the store knows of it, once. */
MUST_CHECK bool place_look_up(struct repo *r, struct err *e);
/* The repository's own advertisement has come: the place's, and the store's. */
void place_learn(struct repo *r, const struct caps *caps);
/* What was assumed was refused: true when the advertisement is to be asked
 * for, false when it is known. */
bool place_refused(struct repo *r);
void place_refused_filter(struct repo *r);
/* Objects of a commit that it serves, by their ids. */
void place_refused_objects(struct repo *r);
/* Takes over what another repository has learnt since. */
void place_follow(struct repo *r);

/* A commit came with all its files: the cost, and what of it is of use. */
void place_count_whole(struct repo *r, const struct pack *p);
void place_count_used(const struct ask *a);
/* With --verbose, once for each server, when nothing is open any more. */
void places_say_cost(struct session *s);
/* The address, without secrets. In the repository's arena. */
const char *repo_shown(struct repo *r);

/* --- remote.c: statuses, redirects and refusals of https -------------------- */

enum outcome remote_judge(struct exchange *x, bool is_git, struct err *e);
enum outcome remote_judge_busy(struct exchange *x, struct err *e);

#endif
