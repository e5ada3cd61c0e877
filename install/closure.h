#ifndef INSTALL_CLOSURE_H
#define INSTALL_CLOSURE_H

#include "mapm/checkout.h"
#include "mapm/fetch.h"
#include "mapm/install.h"
#include "mapm/install_team.h"
#include "mapm/layer.h"
#include "mapm/resolver.h"
#include "mapm/store.h"

#include "notice.h"

/*
 * closure: everything that the roots need, document by document, from the
 * lock, the store, the disk or the network.
 *
 *     closure_add()     a root
 *     closure_gather()  until nothing is missing: a document that arrives
 *                       names the next ones
 *     closure_source()  what resolver_resolve asks
 *
 * Order and conflicts are decided by the resolver.
 * Source: DESIGN.md 2, 6; FETCH.md 4.
 */

struct market;
struct plugin_node;

/* Text of a document for lists. */
struct node_words {
    struct str description; /* on one line */
    struct str command;     /* command or URL of an MCP server */
    size_t tokens;          /* estimated size of its text (T12) */
    size_t list_chars;      /* characters of its line in a client's list of
                             * skills */
    bool is_disabled;       /* hidden from models (L6) */
};

/* Members that few nodes need; for 100,000 nodes they would take 15 MB. */
struct node_rare {
    struct str pin;        /* import: commit of the ref to install */
    struct str allowed;    /* further ranges for its version */
    struct str fault;      /* code of its first error; "" if the error is of
                            * another package */
    struct str in_the_way; /* folder in its place that mapm did not create */
    /* Plugins, their marketplaces and parts (plugins.h). */
    struct str_list without;     /* parts that its root skips, sorted [X45] */
    const struct market *market; /* parsed marketplace */
    struct node *market_node;    /* marketplace of a plugin */
    struct str entry; /* … its entry, for PLUGIN_ENTRY_FILE; of a manifest
                       * (plugin_scope.h) its path, then the name it gives */
    struct str catalog_commit; /* commit of the marketplace */
    struct node *owner;        /* plugin that a derived part is made of */
    struct str of_plugin;      /* FQN of the first plugin with this part */
    struct str url, artifact;  /* of a skill of an index */
    struct str moved; /* by_lock_name: where that name redirects to itself */
    struct install_place place_now; /* with node.gone */
};

/* What the host of a repository called it, when a package was asked for. */
struct redirect {
    struct str moved; /* "owner/repo" */
    const struct origin *origin;
};

/* A repository of which the lock has another name: what its host says of the one
 * that it is asked for by [D2]. */
struct naming {
    bool is_done;
    struct str moved; /* "owner/repo" that it redirects to; "" = does not */
    struct err *failed;
    struct node **waiting; /* packages that are fetched, until it is done */
    size_t waiting_count, waiting_capacity;
};

#define NODE_MAX_REQUESTS 1000 /* requests per node; a few suffice */

struct node {
    const struct origin *origin; /* lives as long as the closure */
    unsigned kinds;              /* accepted kinds, a set of enum doc_kind */
    bool is_resolved; /* resolved, although requested content may be missing
                       * yet */
    bool is_ready;
    bool assumed_present; /* locked, and not looked up in the store yet */
    bool is_elsewhere;    /* needed by members that are not provisioned only:
                           * a locked one is not looked up */
    bool is_unproved;     /* in the store without a proof */
    bool is_proved;       /* proved: the commit contains it at `path` */
    bool is_unserved;     /* proved, but the host no longer has the commit */
    bool is_catalog;      /* requested as a catalog */
    bool is_ref_known;    /* another process just resolved its ref */
    bool is_outlined;     /* `package` is known, but its files are missing */
    bool wants_files;     /* fetch its files */
    bool is_sharing;      /* in `also` of its entry: checked at its own path */
    bool is_twin;         /* another object at its path has the same content */
    bool by_lock_name;    /* requested by the name in the lock */
    bool checks_former; /* … and by the former one, which does not redirect */
    bool is_exact;      /* named on the command line */
    bool is_comparing;  /* update: compared with the lock */
    bool is_changed;    /* update: it has changed */
    bool is_tracing;    /* update: unchanged; checks whether the ref still
                      * contains the commit */
    bool stays;         /* update: keeps the locked version */
    unsigned short requests; /* at most NODE_MAX_REQUESTS */
    bool keeps_name;         /* `package.fqn` is recorded and does not change
                              * (selection_name) */
    bool is_override;        /* differs from mapm.lock on this machine */
    bool hidden;             /* accepted by --allow-hidden */
    bool rewritten;          /* its name is not usable and rewritten in the
                              * copy */
    bool has_market;         /* a catalog that also has a marketplace */
    bool has_without;        /* `without` comes from the command line */
    bool has_other_parts;    /* locked with other parts than `without` says */
    bool checks_scope; /* locked with a name that must come from a plugin's
                        * folder */
    bool is_standard;  /* the manifest is of Agent Plugins */
    bool is_part;      /* part of a plugin, which is installed without it if
                  * necessary */
    bool waits;        /* waits for its marketplace or plugin */
    const struct catalog *catalog; /* catalog that chose it */
    struct err *gone; /* why the locked version is kept: it is gone upstream */
    const struct replacement *replacement; /* replacement of its origin, or
                                            * NULL */
    struct origin *source;  /* source, if it differs from its origin; else
                             * NULL */
    struct str alias;       /* FQN that its root sets, or "" */
    struct err *failed;     /* NULL without error */
    struct package package; /* package for the resolver */
    struct str own_fqn;     /* FQN in its document; selection_name() may set
                         * another one */
    struct hash document;   /* outlined: hash of its text */
    struct mark *mark;      /* selection.c */
    const struct lock_entry *locked; /* lock entry that it is resolved by */
    struct hash digest;
    struct package_file *files; /* NULL before it is looked up */
    size_t file_count;
    struct str ref, object, path; /* as resolved; path in the repository */
    struct str summary;         /* summary of its document for the index, in the
                         * scratch arena */
    struct node_words *words;   /* NULL if not read or not requested */
    struct fetch_offer *offers; /* packages of a catalog */
    size_t offer_count;
    struct fetch_offer *elsewhere; /* packages of the repository that are not
                                    * offered */
    size_t elsewhere_count;
    struct plugin_node *plugin; /* plugin, once read (plugins.h) */
    struct node_rare *rare;     /* see node_rare(); NULL if all zero */
};

struct closure_options {
    bool locked; /* install only what the lock contains */
    bool offline;
    bool allow_hidden;
    bool assume_present; /* see closure_verify_store() */
    bool no_self;        /* checkouts do not replace their remotes */
    bool forget_files;   /* a plan only: lists of files are read when needed */
    bool outline;        /* fetch only the documents of new packages */
    bool describes;      /* fill node.words */
    bool alone;          /* ignore dependencies */
    bool accept_moved_tag;  /* update: accept moved tags */
    bool needs_trees;       /* fetch the trees of each commit, too */
    const int *bundle;      /* open bundle that replaces the network */
    struct str bundle_path; /* for messages */
    bool looks; /* outdated: fetch trees in one request, and nothing that is
                 * locked */
    bool leave_history; /* update: do not keep a commit that its ref no
                         * longer contains */
    bool (*is_moving)(void *ctx, const struct lock_entry *entry);
    void *moving_ctx;            /* update: entries whose refs are resolved
                                  * again */
    struct fetch_process *ahead; /* process that was started already, or NULL */
    /* Called for each fetched package while others are in transfer. */
    void (*on_fetched)(void *ctx, const struct node *n);
    void *on_fetched_ctx;
    /* Called for answers to closure_ask_other() while closure_gather()
     * waits. */
    void (*on_other)(void *ctx, const struct fetch_event *event,
                     struct arena *scratch);
    void *other_ctx;
    /* Called once while waiting for the first answer; may be NULL. */
    void (*on_idle)(void *ctx);
    void *on_idle_ctx;
};

struct closure {
    struct context *cx;
    const struct layer *layer;
    struct store *store;
    struct closure_options options;
    struct map nodes;   /* origin key -> struct node * */
    struct map indexes; /* URL -> const struct well_known_index * (index.h) */
    struct map words;   /* interned commits and refs of the index */
    /* Renamed repositories, from packages that are not locked -> const struct
     * str *, "owner/repo" [D2]. */
    struct map moved;
    struct map redirects; /* the same of all -> const struct redirect * */
    struct map names;     /* former name -> struct naming * */
    struct node **wanted; /* nodes that are no longer elsewhere, with their
                           * dependencies */
    size_t wanted_count, wanted_capacity;
    struct node **queue;
    size_t queued, resolved, queue_capacity;
    size_t failures;
    struct fetch *fetch;
    struct store_session session;
    struct install_trees trees; /* options.needs_trees */
    struct node **markets;      /* marketplaces that the user has named
                            * (plugin_needs.c) */
    size_t market_count, market_capacity;
    bool has_markets;
    struct checkout *checkouts; /* checkouts that contain file: roots */
    size_t checkout_count, checkout_capacity;
    struct node **asked; /* requested nodes by id */
    size_t asked_count, asked_capacity;
    struct node **fetched; /* for options.on_fetched */
    size_t fetched_count, fetched_capacity, fetched_reported;
    struct notices notices;
    bool index_warned, is_index_open, was_idle;
    struct fetch_progress progress;
    uint64_t started_ms; /* start of the fetch */
};

void closure_init(struct closure *c, struct context *cx,
                  const struct layer *layer, struct store *store,
                  const struct closure_options *options);
void closure_done(struct closure *c);

/* Adds a root and returns its node, the same for equal origins. */
struct node *closure_add(struct closure *c, const struct origin *o,
                         unsigned kinds);

/* Likewise, without copying an origin that lives as long as the closure. */
struct node *closure_add_kept(struct closure *c, const struct origin *o,
                              unsigned kinds);

/* Adds a root of a manifest, which may have an alias. `is_elsewhere`: of a
 * member that is not provisioned. */
struct node *closure_add_root(struct closure *c, const struct root *root,
                              bool is_elsewhere);
/* Makes the work tree that contains a file: origin replace the branches of its
 * remote [D9]. Does nothing for other origins. */
void closure_add_checkout(struct closure *c, const struct origin *o);
/* Applies the alias of the node, if its root sets one. */
void closure_take_alias(struct node *n);

/* Like closure_add(), but lists what the origin offers, including itself. */
struct node *closure_add_catalog(struct closure *c, const struct origin *o);

/* Returns the text after /tree/ as in the index; HEAD for the default
 * branch. */
struct str closure_rest(const struct node *n, struct arena *a);

/* Requests the files of an outlined node, which arrive or fail with the next
 * closure_gather(). */
MUST_CHECK bool closure_want_files(struct closure *c, struct node *n,
                                   struct err *e);

#define CLOSURE_OTHER 0x80000000u

/* Makes a request without a node over the same connections. The answer has
 * `want->id`, which must be below CLOSURE_OTHER. */
MUST_CHECK bool closure_ask_other(struct closure *c,
                                  const struct fetch_want *want, struct err *e);

/* Makes the next closure_gather() use the locked version of an entry that an
 * update cannot change. */
void closure_keep_locked(struct closure *c, const struct lock_entry *entry);
/* Resets the versions that ranges chose. */
void closure_forget_versions(struct closure *c);

/* Gathers everything that was added since the last call. */
MUST_CHECK bool closure_gather(struct closure *c, struct err *e);

/* Reports collected warnings once everything is known; with -v each alone. */
void closure_warn(struct closure *c);
/* Records the default branch of the repository of `n`, for short origins with
 * --offline. */
MUST_CHECK bool closure_note_default(struct closure *c, const struct node *n,
                                     struct err *e);

/*
 * With `assume_present` a locked package is not looked up in the store, as long
 * as only locked packages are needed: enough for the resolver, and to find that
 * the workspace is up to date. Call this before using a file: it looks the
 * packages up, and fetches those that are missing. Does nothing when none was
 * assumed.
 */
MUST_CHECK bool closure_verify_store(struct closure *c, struct err *e);

/* Checks that everything has arrived; otherwise fails with the errors of all
 * failed nodes. */
MUST_CHECK bool closure_check_ready(const struct closure *c, struct err *e);

/* Callback of resolver_resolve(); ctx is the closure. */
bool closure_read(void *ctx, const struct origin *o, enum doc_kind expected,
                  const struct package **out, struct err *e);

struct node *closure_find(const struct closure *c, struct str key);
/* Requests a plugin whose source is known now. */
MUST_CHECK bool closure_ask_plugin(struct closure *c, struct node *n,
                                   struct err *e);
/* Makes a plugin of a node whose folder turned out to be one. Returns the node
 * with the resulting name. */
struct node *closure_make_plugin(struct closure *c, struct node *n);

/* Sets the origin of the node and its package to a copy of `o`. */
void node_set_origin(const struct closure *c, struct node *n,
                     const struct origin *o);
/* Returns the rare members for reading; all zero if there are none. */
const struct node_rare *node_rare(const struct node *n);
/* Returns the rare members for writing. */
struct node_rare *node_make_rare(struct node *n, struct arena *a);
/* Returns where the node is fetched or read from: a replacement or its
 * origin. */
const struct origin *node_source(const struct node *n);
/* Returns whether the user's own files replace it, which other machines do not
 * see. */
bool node_is_replaced_here(const struct node *n);
/* Returns the origin of a package under the current name of its repository in
 * `*out`, allocated in `a`. Returns false if it equals the requested one. */
bool node_moved_origin(const struct closure *c, const struct node *n,
                       struct arena *a, struct origin *out);
/* Returns where the package of a FETCH_FAILED is in its repository now. `object` is
 * the locked one. Allocated in `a`. */
struct install_place node_place_now(const struct origin *o,
                                    const struct fetch_event *event,
                                    struct str object, struct arena *a);
/* Returns the ref for a URL: the requested range, or else the resolved ref. */
struct str node_slot(const struct node *n, struct arena *a);
/* Returns the tag that the range of a node chose, or "". */
struct str node_tag(const struct node *n, struct arena *a);

/* Returns whether the node is a server or sub-agent made of a plugin's
 * files. */
bool node_is_derived(const struct node *n);
/* Returns whether the plugin comes from a marketplace. */
bool node_has_entry(const struct node *n);

/* Replaces `n`, which has a range, by its package at a version that also
 * satisfies `ranges`, or at the version of `from`, the same package. Resolved
 * by the next closure_gather(). */
void closure_ask_version(struct closure *c, const struct node *n,
                         struct str ranges);
void closure_take_version(struct closure *c, const struct node *n,
                          const struct node *from);

/* Returns the origin to look up a locked node by, usually that of its entry. */
const struct origin *closure_locked_origin(const struct closure *c,
                                           const struct node *n);

#endif
