#ifndef MAPM_INSTALL_H
#define MAPM_INSTALL_H

#include "mapm/install_closure.h"

/*
 * sync: make the workspace hold exactly what its roots need. What install,
 * remove and update share.
 *
 *     sync_run()      layer, store; then the command's own part, that calls
 *     sync_resolve()  gather, plan, names, the new lock
 *     sync_finish()   show, ask, provision, remember
 *
 * Source: DESIGN.md 2, 6, 7.
 */

struct sync_package {
    const struct plan_step *step;
    struct node *node;
    struct str place;                /* folder or key */
    const struct lock_entry *before; /* NULL: new */
    bool changed;                    /* other content, or another origin */
    bool placed;             /* new in the workspace, though the lock has it */
    bool is_local;           /* only below file: roots */
    const char *command;     /* MCP that needs consent: what it runs */
    const char *old_command; /* and what it ran so far, if that is known */
};

/* What is taken of a catalog. */
struct install_choice {
    bool all;
    bool strict;          /* all or nothing: an invalid package is an error */
    struct str_list skip; /* names, paths and globs, as the others */
    struct str_list agents, skills, mcps;
};

enum install_command { INSTALL_INSTALL, INSTALL_REMOVE, INSTALL_UPDATE };

struct node;
struct sync;

/* How the plan and the result are shown: temporary view of the caller. */
struct install_view {
    /* A catalog was named, and nothing of it chosen. */
    void (*offers)(void *ctx, struct node *const *catalogs, size_t count);
    /* Before consent. `servers`: a question about them follows. */
    bool (*plan)(void *ctx, struct sync *s, size_t servers, struct err *e);
    /* At the end. `changes` is NULL when nothing had to be done. */
    void (*result)(void *ctx, struct sync *s,
                   const struct provision_change *changes, size_t count);
    void *ctx;
};

struct install_request {
    enum install_command command;
    struct str_list arguments; /* origins of install, names of the others */
    struct install_choice choice;
    bool locked; /* nothing but what the lock holds */
    bool dry_run;
    bool force;        /* restores what was edited */
    bool allow_hidden; /* characters */
    bool with_server;
    enum store_link link;
    struct install_view view;
};

struct sync {
    struct context *cx;
    const struct install_request *request;
    const char *command; /* "install" …, for messages */
    struct layer layer;
    struct store *store;
    struct closure closure;
    struct root *roots; /* the wish: committed ones first */
    size_t root_count;
    struct str yaml, local_yaml; /* new texts of the two manifests */
    bool locked, dry_run;
    bool with_server; /* mapm itself is one of the workspace's servers */
    bool keep_edited; /* remove: what the user changed stays */
    struct plan plan;
    struct sync_package *packages; /* as in the plan */
    const struct lock_entry **gone;
    size_t gone_count;
    struct str lock_text, local_lock_text;
    bool changed;
    bool again;             /* not sync_run's first time */
    struct choice *choices; /* of catalogs: selection.h */
    size_t choice_count;
    bool *left_out; /* packages that were chosen and are not valid */
    struct node **catalogs; /* those of the arguments that are some */
    size_t catalog_count;
};

/*
 * Opens, does `work`, closes. Once more when the store held a damaged object:
 * that was set aside, so now it is fetched.
 */
MUST_CHECK bool sync_run(struct context *cx,
                         const struct install_request *request, bool *left_out,
                         struct err *e);

/* install.c, remove.c, update.c: the commands' own part. */
MUST_CHECK bool install_packages(struct sync *s, struct err *e);
MUST_CHECK bool remove_packages(struct sync *s, struct err *e);
MUST_CHECK bool update_packages(struct sync *s, struct err *e);

/* The connection or the host failed, not a package. */
bool sync_is_network(enum err_code code);

/* Lets into the store what was held back: the objects, then what is known of
 * them. */
MUST_CHECK bool sync_keep(struct sync *s, struct err *e);

/* In sync_plan.c: gathers what is in s->closure, plans s->roots, writes the
 * new lock as text. */
MUST_CHECK bool sync_resolve(struct sync *s, struct err *e);
/* Line by line: git may have checked it out with CRLF. */
bool sync_same_lock(struct str old, struct str new);

/* In sync_apply.c: writes the package beside the workspace's own files while
 * others are fetched. For closure_options.arrived; `sync` is a struct sync. */
void sync_stage_early(void *sync, const struct node *n);
/* Shows, asks, provisions, remembers. */
MUST_CHECK bool sync_finish(struct sync *s, struct err *e);

/* In sync_roots.c. Takes `gone` out of the texts and of s->roots. */
MUST_CHECK bool sync_remove_roots(struct sync *s, const struct root *gone,
                                  size_t count, struct err *e);
/* Where its ref leads to, so that n->path is that of its own origin. */
bool sync_knows_path(const struct sync *s, const struct node *n);
/* For each of s->roots the one of `nodes` that takes its place, or NULL. */
struct node **sync_successors(struct sync *s, struct node *const *nodes,
                              size_t count);
/* Adds `nodes` as roots to both. A root of the same repository and path at
 * another ref is replaced. */
MUST_CHECK bool sync_take_roots(struct sync *s, struct node *const *nodes,
                                size_t count, struct err *e);

/* Where a package stands, as a change names it. In `a`. */
struct str sync_place(const struct sync_package *p, struct arena *a);

#endif
