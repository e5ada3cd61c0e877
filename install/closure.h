#ifndef INSTALL_CLOSURE_H
#define INSTALL_CLOSURE_H

#include "mapm/checkout.h"
#include "mapm/fetch.h"
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

/* What a document says of itself, for lists. */
struct node_words {
    struct str description; /* on one line */
    struct str command;     /* of an MCP server: what it runs, or its URL */
    size_t tokens;          /* T12: of its text, estimated */
    size_t list_chars;      /* of its line in a client's list of skills */
    bool is_disabled;       /* hidden from models (L6) */
};

/* What few nodes have: of 100,000 nodes the rest would be 15 MB of zeros. */
struct node_rare {
    struct str pin; /* import: the commit to take of its ref, which has it */
    struct str allowed;    /* ranges that its version has to be in, too */
    struct str fault;      /* the code of its first error; "" for others' */
    struct str in_the_way; /* a folder that mapm did not make, in its place */
    /* Plugins, their marketplaces and parts (plugins.h). */
    struct str_list without; /* parts that its root leaves out, sorted [X45] */
    const struct market *market; /* of a marketplace */
    struct node *market_node;    /* of a plugin from one */
    struct str entry; /* … its entry, for PLUGIN_ENTRY_FILE; of a manifest
                       * (plugin_scope.h) its path, then the name it gives */
    struct str catalog_commit; /* … and where that was read */
    struct node *owner;        /* of a part out of a plugin's files */
    struct str of_plugin;      /* FQN of the first one that has it as a part */
    struct str url, artifact;  /* of a skill of an index, as that has them */
    struct str moved; /* by_lock_name: where that name redirects to itself */
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
};

#define NODE_MAX_REQUESTS 1000 /* of one; some are enough */

struct node {
    const struct origin *origin; /* lives as long as the closure */
    unsigned kinds;              /* accepted: enum doc_kind, or'ed */
    bool is_resolved; /* looked for; what was asked for may not be here yet */
    bool is_ready;
    bool assumed_present; /* locked: not looked up in the store yet */
    bool is_elsewhere;    /* only members that are not provisioned need it: as
                           * it is locked it is not looked up at all */
    bool is_unproved; /* the store has it, and not how its commit leads to it */
    bool is_proved;   /* shown that its commit has it at `path` */
    bool is_unserved; /* … and its host has the commit no longer */
    bool is_catalog;  /* asked what it offers, whatever it is itself */
    bool is_ref_known;  /* another process asked for its commit just now */
    bool is_outlined;   /* `package` is known; its files are not here yet */
    bool wants_files;   /* and are to be fetched */
    bool is_sharing;    /* in `also` of its entry: looked for at its own path */
    bool is_twin;       /* … where another object has that content */
    bool by_lock_name;  /* it is asked for by the name that the lock has */
    bool awaits_name;   /* … and is here; struct naming is not done yet */
    bool checks_former; /* … and by the former one, which does not redirect */
    bool is_exact;      /* named on the command line */
    bool is_comparing;  /* update: asked whether it is still as it is locked */
    bool is_changed;    /* … and it is not */
    bool is_tracing; /* … it is; asked whether its ref still has its commit */
    bool stays;      /* update: as it is locked */
    unsigned short requests; /* at most NODE_MAX_REQUESTS */
    bool keeps_name;         /* `package.fqn` is recorded: selection_name */
    bool is_override;        /* of this machine, and not what mapm.lock holds */
    bool hidden;             /* accepted by --allow-hidden */
    bool rewritten;          /* its own name is unusable: the copy's changes */
    bool has_market;         /* a catalog: it has a marketplace, too */
    bool has_without;        /* `without` is of the command line */
    bool has_other_parts;    /* locked: the lock leaves out other parts than
                           * `without` */
    bool checks_scope; /* locked: its name is to be that of a plugin's folder */
    bool is_standard;  /* of a manifest: of Agent Plugins */
    bool
        is_part; /* a plugin names it: the plugin does without it, if need be */
    bool waits;  /* for its marketplace, or its plugin */
    const struct catalog *catalog; /* that chose it, if it becomes a root */
    struct err *gone; /* why it stays: its repository has it no longer */
    const struct replacement *replacement; /* of its origin; NULL: none */
    struct origin *source;  /* where it comes from then; NULL: its origin */
    struct str alias;       /* the FQN that its root gives it; "" = none */
    struct err *failed;     /* NULL: fine so far */
    struct package package; /* what the resolver sees */
    struct str own_fqn; /* by its document: selection_name() may give another */
    struct hash document;            /* outlined: of its text */
    struct mark *mark;               /* selection.c */
    const struct lock_entry *locked; /* when the lock decides */
    struct hash digest;
    struct package_file *files; /* NULL: not looked up yet */
    size_t file_count;
    struct str ref, object, path; /* as resolved; path in the repo */
    struct str summary; /* of its document, for the index; in the scratch */
    struct node_words *words;   /* NULL: not read, or not asked for */
    struct fetch_offer *offers; /* it is a catalog */
    size_t offer_count;
    struct fetch_offer *elsewhere; /* of the same repository, not offered */
    size_t elsewhere_count;
    struct plugin_node *plugin; /* what it is, when it was read (plugins.h) */
    struct node_rare *rare;     /* node_rare(); NULL: all zero */
};

struct closure_options {
    bool locked; /* nothing but what the lock holds */
    bool offline;
    bool allow_hidden;
    bool assume_present; /* see closure_verify_store */
    bool no_self;        /* no checkout stands for its remote */
    bool forget_files;   /* a plan alone: what needs a list of files reads it */
    bool outline;        /* of packages that are new the documents alone */
    bool describes;      /* node.words are wanted */
    bool alone;          /* what packages need is not looked for */
    bool accept_moved_tag; /* update: a tag may name another commit */
    bool needs_trees; /* besides, those of each commit are to be in the store */
    const int *bundle; /* a file, open, that is asked instead of any network */
    struct str bundle_path; /* to show */
    bool looks; /* outdated: trees in one request, however many bytes, and of
                 * what is locked nothing */
    bool leave_history; /* update: nor is a commit kept that its ref has left */
    bool (*is_moving)(void *ctx, const struct lock_entry *entry);
    void *moving_ctx;            /* update: entries whose refs are read anew */
    struct fetch_process *ahead; /* started already, or NULL */
    /* Each fetched package, while others are still in transfer. */
    void (*on_fetched)(void *ctx, const struct node *n);
    void *on_fetched_ctx;
    /* The answers of closure_ask_other(), while closure_gather() waits. */
    void (*on_other)(void *ctx, const struct fetch_event *event,
                     struct arena *scratch);
    void *other_ctx;
    /* Once, while the first answer is waited for; may be NULL. */
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
    struct map words;   /* commits and refs of the index, once each */
    /* Repositories that their hosts call otherwise now, as what no lock pins
     * has shown: -> const struct str *, "owner/repo" [D2]. */
    struct map moved;
    struct map redirects; /* the same of all -> const struct redirect * */
    struct map names;     /* former name -> struct naming * */
    struct node **wanted; /* no longer elsewhere: so is what they need */
    size_t wanted_count, wanted_capacity;
    struct node **queue;
    size_t queued, resolved, queue_capacity;
    size_t failures;
    struct fetch *fetch;
    struct store_session session;
    struct install_trees trees; /* options.needs_trees */
    struct node **markets; /* those that the user has named (plugin_needs.c) */
    size_t market_count, market_capacity;
    bool has_markets;
    struct checkout *checkouts; /* those that file: roots are in */
    size_t checkout_count, checkout_capacity;
    struct node **asked; /* by id */
    size_t asked_count, asked_capacity;
    struct node **fetched; /* for options.on_fetched */
    size_t fetched_count, fetched_capacity, fetched_reported;
    struct notices notices;
    bool index_warned, is_index_open, was_idle;
    struct fetch_progress progress;
    uint64_t started_ms; /* the fetch */
};

void closure_init(struct closure *c, struct context *cx,
                  const struct layer *layer, struct store *store,
                  const struct closure_options *options);
void closure_done(struct closure *c);

/* A root to look for; its node, the same one for an equal origin. */
struct node *closure_add(struct closure *c, const struct origin *o,
                         unsigned kinds);

/* The same for an origin that lives as long as the closure: no copy. */
struct node *closure_add_kept(struct closure *c, const struct origin *o,
                              unsigned kinds);

/* One of a manifest, which may give it another name; `is_elsewhere`: of a member
 * that is not provisioned. */
struct node *closure_add_root(struct closure *c, const struct root *root,
                              bool is_elsewhere);
/* What the work tree of a file: origin holds stands for its remote's branches
 * from now on [D9]; nothing for other origins. */
void closure_add_checkout(struct closure *c, const struct origin *o);
/* It has the name that its root gives it, if that gives one. */
void closure_take_alias(struct node *n);

/* The same as closure_add, but what it offers is listed, itself included. */
struct node *closure_add_catalog(struct closure *c, const struct origin *o);

/* What stands after /tree/, as the index knows it; HEAD for the default. */
struct str closure_rest(const struct node *n, struct arena *a);

/* The files of one that is outlined: asked for, and here (or failed) after the
 * next closure_gather. */
MUST_CHECK bool closure_want_files(struct closure *c, struct node *n,
                                   struct err *e);

#define CLOSURE_OTHER 0x80000000u

/* What no node stands for, over the same connections. `want->id`,
 * below CLOSURE_OTHER, comes back. */
MUST_CHECK bool closure_ask_other(struct closure *c,
                                  const struct fetch_want *want, struct err *e);

/* What an update cannot change after all is looked for as it is locked, by the
 * next closure_gather. */
void closure_keep_locked(struct closure *c, const struct lock_entry *entry);
/* Ranges choose once more: what others allowed so far does not count. */
void closure_forget_versions(struct closure *c);

/* Looks for what is new since the last time. */
MUST_CHECK bool closure_gather(struct closure *c, struct err *e);

/* Warns of what was found, once, when all is known; -v tells each alone. */
void closure_warn(struct closure *c);
/* Remembers what the default branch of its repository is, which `n` was asked
 * for by, for a short origin without the network. */
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

/* Everything that was looked for is here: else the errors of all that failed. */
MUST_CHECK bool closure_check_ready(const struct closure *c, struct err *e);

/* For resolver_resolve; ctx is the closure. */
bool closure_read(void *ctx, const struct origin *o, enum doc_kind expected,
                  const struct package **out, struct err *e);

struct node *closure_find(const struct closure *c, struct str key);
/* Its source is known now. */
MUST_CHECK bool closure_ask_plugin(struct closure *c, struct node *n,
                                   struct err *e);
/* Of a folder that turned out to be one: what it is called as a plugin. The
 * node that is known by that name. */
struct node *closure_make_plugin(struct closure *c, struct node *n);

/* A copy of `o`, also for its package. */
void node_set_origin(const struct closure *c, struct node *n,
                     const struct origin *o);
/* To read; all zero where the node has none. */
const struct node_rare *node_rare(const struct node *n);
/* To write. */
struct node_rare *node_make_rare(struct node *n, struct arena *a);
/* Where it is fetched or read from: mostly its origin. */
const struct origin *node_source(const struct node *n);
/* By the user's own files: other machines know nothing of it. */
bool node_is_replaced_here(const struct node *n);
/* The origin of a package as the lock has it: its host may call the repository
 * otherwise now. `*out` in `a`; false: by the name that it is asked for. */
bool node_moved_origin(const struct closure *c, const struct node *n,
                       struct arena *a, struct origin *out);
/* What a URL has for its ref: a range as it was asked for, else what was found. */
struct str node_slot(const struct node *n, struct arena *a);
/* The tag that the range of a node chose; "" for one without a range. */
struct str node_tag(const struct node *n, struct arena *a);

#define NODE_ENTRY_PREFIX "plugin=" /* of the part of such an origin */
/* A server or a sub-agent out of a plugin's files. */
bool node_is_derived(const struct node *n);
/* Through a marketplace. */
bool node_has_entry(const struct node *n);

/* In the place of `n`, which has a range: its package at a version that is in
 * `ranges`, too, looked for by the next closure_gather; or at the version of
 * `from`, the same package. */
void closure_ask_version(struct closure *c, const struct node *n,
                         struct str ranges);
void closure_take_version(struct closure *c, const struct node *n,
                          const struct node *from);

/* Where a locked one is looked for: mostly the origin of its entry. */
const struct origin *closure_locked_origin(const struct closure *c,
                                           const struct node *n);

#endif
