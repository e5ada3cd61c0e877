#ifndef INSTALL_INSTALL_SESSION_H
#define INSTALL_INSTALL_SESSION_H

#include "mapm/install.h"

#include "closure.h"

/*
 * session: what stands behind an install_plan until it is closed.
 *
 *     session.c    layer and store; the plan, once more after damage
 *     merge.c      mapm.lock, where git left it in conflict
 *     install.c, remove.c, update.c   roots, as the command wants them
 *     plan.c       gather, resolve, names, the new lock
 *     patch.c      patches of the workspace; patch_make.c, patch_rebase.c
 *     options.c    what provision is told
 *     changes.c    what that changes in the workspace
 *     apply.c      consent, provision
 */

struct choice;

/*
 * What a session has of each layer. It is at one of them at a time; of a
 * workspace with members it goes from one to the next [D10].
 *
 *     layer
 *     roots             desired: committed ones first
 *     yaml, local_yaml  new texts of the two manifests
 *     with_server       mapm itself is one of its servers
 *     is_chosen         it is provisioned, not only locked
 *     packages          as in `resolved`
 *     overridden        of these: see struct node
 *     patches           as they will be
 *     patch_files       of those that change; their texts are there
 *     choices           of catalogs: selection.h
 *     catalogs          those of the arguments that are some
 *     expansions        catalogs of the manifests: catalogs.h
 *     chosen            by catalogs: origin key -> struct chosen *
 *     asked             by the arguments
 */
#define SESSION_PART(X)                                                        \
    X(struct layer, layer)                                                     \
    X(struct root *, roots)                                                    \
    X(size_t, root_count)                                                      \
    X(struct str, yaml)                                                        \
    X(struct str, local_yaml)                                                  \
    X(bool, with_server)                                                       \
    X(bool, is_chosen)                                                         \
    X(struct plan, resolved)                                                   \
    X(struct install_package *, packages)                                      \
    X(bool *, overridden)                                                      \
    X(const struct lock_entry **, gone)                                        \
    X(size_t, gone_count)                                                      \
    X(struct str, local_lock_text)                                             \
    X(struct patches, patches)                                                 \
    X(struct str *, patch_files)                                               \
    X(size_t, patch_file_count)                                                \
    X(size_t, patch_file_capacity)                                             \
    X(struct choice *, choices)                                                \
    X(size_t, choice_count)                                                    \
    X(struct node **, catalogs)                                                \
    X(size_t, catalog_count)                                                   \
    X(struct expansion *, expansions)                                          \
    X(size_t, expansion_count)                                                 \
    X(struct map, chosen)                                                      \
    X(struct asked_catalog *, asked)                                           \
    X(size_t, asked_count)
#define SESSION_FIELD(type, name) type name;

struct session_part {
    SESSION_PART(SESSION_FIELD)
};

struct install_session {
    struct install_plan plan; /* what the caller sees */
    struct context *cx;
    const struct install_request *request;
    struct layers layers;
    struct session_part *parts; /* as in `layers`; the one that it is at is */
    size_t part_count, at;      /* in these fields: */
    SESSION_PART(SESSION_FIELD)
    struct store *store;
    struct closure closure;
    struct fetch_process ahead; /* until the closure uses it */
    bool *on_machine;           /* of each client; NULL: not looked for yet */
    bool locked;
    int bundle;          /* instead of the network; -1: none */
    bool has_given_lock; /* out of it: the workspace has none yet */
    bool keep_edited;    /* remove: what the user changed stays */
    bool is_in_place;    /* nothing to do, and nothing to remember */
    struct str lock_text;
    bool has_locked_choice; /* arguments choose nothing but what is locked */
    const struct install_merged *merged;
    size_t merged_count;
    const struct lock_entry *unmergeable; /* its patch cannot be rebased */
    struct map bounds; /* of versions.c: place -> highest version */
    unsigned rounds;   /* … of choosing them */
    bool *in_conflict; /* of session_all_roots: those whose ranges no version
                        * satisfies, as versions.c found last; NULL: none */
    unsigned tries;    /* after damage */
    const char **resolved_patches; /* by --continue: names of kept folders */
    size_t resolved_patch_count, resolved_patch_capacity;
    struct str_list more;   /* clients of the answer to a question */
    bool is_answered;       /* it was given */
    size_t purged_capacity; /* of plan.purged */
};

/* parts.c. Goes to a layer; to the one that the command is about. */
void session_go(struct install_session *s, size_t part);
void session_go_home(struct install_session *s);
/* Reads the layers; mapm.lock may be in conflict. */
MUST_CHECK bool session_open_layers(struct install_session *s, int mode,
                                    struct err *e);
/* What each of them begins with, when the lock is known. */
MUST_CHECK bool session_open_parts(struct install_session *s, struct err *e);
/* The roots of all layers, those of the one that it is at first. */
const struct root *session_all_roots(struct install_session *s, size_t *count);
/* The part whose roots are the k-th of these, from the part `at`. */
size_t session_part_number(size_t at, size_t k);
/* ERR_CONFLICT for an origin with two names. */
/* Whether all layers are provisioned. */
bool session_is_everywhere(const struct install_session *s);
/* The roots of all layers become part of the closure. */
void session_add_roots(struct install_session *s);
MUST_CHECK bool session_check_names(struct install_session *s, struct err *e);
/* "." or the member's path; "" without members. */
struct str session_member(const struct install_session *s);
/* The packages of all layers, in the plan. */
void session_join_packages(struct install_session *s);
/* Whether an install with --locked would take mapm.lock for what mapm.yaml asks
 * for: judged without the network, with nothing said and nothing changed. */
MUST_CHECK bool session_check_locked(struct context *cx, struct err *e);
/* Opens the workspace and the store for reading, with nothing gathered. The
 * caller closes the plan of `*out`. */
MUST_CHECK bool session_look(struct context *cx, struct install_session **out,
                             struct err *e);
/* Fills the store with all that the lock holds, and what the trees of its
 * commits are when `with_proofs`. The caller closes the plan of `*out`, which is
 * NULL on failure. */
MUST_CHECK bool session_pull(struct context *cx, bool with_proofs,
                             struct install_session **out, struct err *e);
/* bundle_read.c. Opens request.bundle; its lock is that of a workspace that has
 * none, and the roots of it those of one without mapm.yaml. */
MUST_CHECK bool session_open_bundle(struct install_session *s, struct err *e);
/* All chosen layers at once; the root's mapm.lock in any case. */
MUST_CHECK bool session_provision(struct install_session *s, struct err *e);

static inline struct node *package_node(const struct install_package *p)
{
    return p->package->user;
}

/* install.c, remove.c, update.c: up to session_resolve. The first sets
 * plan.is_offer instead where it lists catalogs. */
MUST_CHECK bool install_packages(struct install_session *s, struct err *e);
MUST_CHECK bool remove_packages(struct install_session *s, struct err *e);
MUST_CHECK bool update_packages(struct install_session *s, struct err *e);
/* patch_make.c */
MUST_CHECK bool patch_packages(struct install_session *s, struct err *e);
/* import.c */
MUST_CHECK bool import_packages(struct install_session *s, struct err *e);
/* load.c. After session_join_packages. */
MUST_CHECK bool session_find_load(struct install_session *s, struct err *e);
/* install.c. An origin as a person types it; a hint names what was meant. */
MUST_CHECK bool session_parse_origin(struct context *cx, const struct layer *l,
                                     struct str text, struct origin *out,
                                     struct err *e);
/* install.c. Leaves out of s->choices what is not valid, and has the files of
 * the rest fetched. */
MUST_CHECK bool session_take_valid(struct install_session *s, struct err *e);

/* merge.c. Decides a mapm.lock in conflict, and gives it to the layer. */
MUST_CHECK bool session_merge(struct install_session *s, struct err *e);

/* session.c. Plans again when the failure `e` is one of damaged objects, which
 * are set aside. */
MUST_CHECK bool session_plan_again(struct install_session *s, struct err *e);
/* The same command once more, when an answer has changed what it is to do. */
MUST_CHECK bool session_plan_anew(struct install_session *s, struct err *e);
/* Lets into the store what was held back: the objects, then what is known of
 * them. */
MUST_CHECK bool session_publish(struct install_session *s, struct err *e);
/* The index is a cache: says once that it cannot be written. */
void session_warn_index(struct install_session *s, const struct err *why);

/* plan.c. What s->roots need, and the names of their packages. */
MUST_CHECK bool session_gather(struct install_session *s, struct err *e);
/* Whether these roots alone can be resolved from what was gathered. */
bool session_can_resolve(struct install_session *s, const struct root *roots,
                         size_t count, struct err *e);
/* Gathers what is in s->closure, resolves s->roots, writes the new lock as
 * text. */
MUST_CHECK bool session_resolve(struct install_session *s, struct err *e);
/* The locks of what is resolved: also once more, when hosts have named what the
 * lock has otherwise. */
MUST_CHECK bool session_format_locks(struct install_session *s, struct err *e);
/* Line by line: git may have checked it out with CRLF. */
bool session_same_lock(struct str old, struct str new);

/* options.c. The connection or the host failed, not a package. */
bool session_is_network(enum err_code code);
/* CI systems set $CI; some set it to "false". */
bool session_is_ci(void);
/* The store, for provision. */
struct provision_objects session_objects(struct install_session *s);
MUST_CHECK bool session_provision_options(struct install_session *s,
                                          struct provision_options *o,
                                          struct err *e);

/* changes.c. Writes the package beside the workspace's own files while others
 * are fetched. For closure_options.on_fetched; `session` is an install_session. */
void session_stage_early(void *session, const struct node *n);
/* What the resolved packages change. */
MUST_CHECK bool session_find_changes(struct install_session *s, struct err *e);

/* effects.c. What `changes` of the workspace do to each package; s->gone gets
 * those that the lock no longer has. */
void session_find_effects(struct install_session *s,
                          const struct provision_change *changes, size_t count);
/* The prereqs that were shown need not be shown again on this machine. */
void session_note_prereqs(struct install_session *s);

/* patch.c. As they are in the workspace. */
MUST_CHECK bool session_read_patches(struct install_session *s, struct err *e);
/* Finds the patch of the package, whose name is final; after an update
 * it is rebased. */
MUST_CHECK bool session_find_patch(struct install_session *s,
                                   struct install_package *p, struct err *e);
/* Each patch has a package in one of the new locks; those of packages that go
 * go, too. */
MUST_CHECK bool session_check_patches(struct install_session *s,
                                      const struct lock *lock,
                                      const struct lock *local, struct err *e);
/* What is installed, where the store knows it; nothing is checked. */
bool session_find_patched(struct install_session *s, struct install_package *p,
                          struct provision_item *item);
/* Applies it, and checks the result as a fetched package. */
MUST_CHECK bool session_apply_patch(struct install_session *s,
                                    struct install_package *p,
                                    struct provision_item *item, struct err *e);
/* Whether the patch of a package that changes was never shown here. */
bool session_is_patch_unseen(const struct install_session *s,
                             const struct install_package *p);
void session_note_patches(struct install_session *s);
/* The file will have this text; "": it goes. */
void session_set_patch(struct install_session *s, struct str file,
                       struct str text);
/* patch_rebase.c. The patch for what the package is now, from what it was for
 * the locked one. */
/* What was kept of conflicts that are resolved now goes. */
void session_forget_conflicts(struct install_session *s);
MUST_CHECK bool session_rebase_patch(struct install_session *s,
                                     struct install_package *p, struct err *e);

/* roots.c. Takes `gone` out of the texts and of s->roots. */
MUST_CHECK bool roots_remove(struct install_session *s, const struct root *gone,
                             size_t count, struct err *e);
/* Where its ref leads to, so that n->path is that of its own origin. */
bool roots_knows_path(const struct install_session *s, const struct node *n);
/* For each of s->roots the one of `nodes` that takes its place, or NULL. */
struct node **roots_successors(struct install_session *s,
                               struct node *const *nodes, size_t count);
/* Adds `nodes` as roots to both. A root of the same repository and path at
 * another ref is replaced. */
MUST_CHECK bool roots_take(struct install_session *s, struct node *const *nodes,
                           size_t count, struct err *e);

#endif
