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
 *     locked_places     folder -> const struct lock_entry *; made when asked
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
    X(struct map, locked_places)                                               \
    X(struct asked_catalog *, asked)                                           \
    X(size_t, asked_count)
#define SESSION_FIELD(type, name) type name;

struct session_part {
    SESSION_PART(SESSION_FIELD)
};

struct install_session {
    struct install_plan plan; /* the plan for the caller */
    struct context *cx;
    const struct install_request *request;
    struct layers layers;
    struct session_part *parts; /* one per layer; the current one is in the
                                 * fields below */
    size_t part_count, at;      /* in these fields: */
    SESSION_PART(SESSION_FIELD)
    struct store *store;
    struct closure closure;
    struct fetch_process ahead; /* started in advance for the closure */
    bool *on_machine;           /* per client; NULL before the lookup */
    bool locked;
    int bundle;          /* open bundle that replaces the network, or -1 */
    bool has_given_lock; /* the lock comes from the bundle, because the
                          * workspace has none */
    bool keep_edited;    /* remove: keep edited files */
    bool is_in_place;    /* nothing to do or to record */
    struct str lock_text;
    bool has_locked_choice; /* arguments choose only locked packages */
    const struct install_merged *merged;
    size_t merged_count;
    const struct lock_entry *unmergeable; /* entry whose patch cannot be
                                           * rebased */
    struct map bounds; /* versions.c: place -> highest version */
    unsigned rounds;   /* versions.c: rounds of choosing versions */
    bool *in_conflict; /* of session_all_roots: those whose ranges no version
                        * satisfies, as versions.c found last; NULL: none */
    unsigned tries;    /* attempts after damage */
    const char **resolved_patches; /* --continue: names of folders with
                                    * resolved patches */
    size_t resolved_patch_count, resolved_patch_capacity;
    struct str_list more;   /* clients added by an answer */
    bool is_answered;       /* the question was answered */
    size_t purged_capacity; /* capacity of plan.purged */
};

/* parts.c: makes a layer the current one; session_go_home() that of the
 * command. */
void session_go(struct install_session *s, size_t part);
void session_go_home(struct install_session *s);
/* Reads the layers; mapm.lock may be in conflict. */
MUST_CHECK bool session_open_layers(struct install_session *s, int mode,
                                    struct err *e);
/* Initializes all layers once the lock is known. */
MUST_CHECK bool session_open_parts(struct install_session *s, struct err *e);
/* Returns the roots of all layers, those of the current one first. */
const struct root *session_all_roots(struct install_session *s, size_t *count);
/* Returns the part of the k-th list of these roots, counted from the part
 * `at`. */
size_t session_part_number(size_t at, size_t k);
/* Returns whether all layers are provisioned. */
bool session_is_everywhere(const struct install_session *s);
/* Adds the roots of all layers to the closure. */
void session_add_roots(struct install_session *s);
/* Fails with ERR_CONFLICT if an origin has two names. */
MUST_CHECK bool session_check_names(struct install_session *s, struct err *e);
/* Returns "." or the path of the current member; "" without members. */
struct str session_member(const struct install_session *s);
/* Joins the packages of all layers in the plan. */
void session_join_packages(struct install_session *s);
/* Checks whether `install --locked` would accept mapm.lock for mapm.yaml,
 * without network, messages or changes. */
MUST_CHECK bool session_check_locked(struct context *cx, struct err *e);
/* Opens the workspace and the store for reading without gathering. The caller
 * closes the plan of `*out`. */
MUST_CHECK bool session_open_read_only(struct context *cx,
                                       struct install_session **out,
                                       struct err *e);
/* Fills the store with all locked packages and, with `with_proofs`, the trees
 * of their commits. The caller closes the plan of `*out`, which is NULL on
 * failure. */
MUST_CHECK bool session_pull(struct context *cx, bool with_proofs,
                             struct install_session **out, struct err *e);
/* bundle_read.c: opens request.bundle. A workspace without a lock uses its
 * lock, and one without mapm.yaml its roots. */
MUST_CHECK bool session_open_bundle(struct install_session *s, struct err *e);
/* Provisions all chosen layers at once, and always writes mapm.lock of the
 * root. */
MUST_CHECK bool session_provision(struct install_session *s, struct err *e);

static inline struct node *package_node(const struct install_package *p)
{
    return p->package->user;
}

/* install.c, remove.c, update.c: plan up to session_resolve().
 * install_packages() sets plan.is_offer instead if it lists catalogs. */
MUST_CHECK bool install_packages(struct install_session *s, struct err *e);
MUST_CHECK bool remove_packages(struct install_session *s, struct err *e);
MUST_CHECK bool update_packages(struct install_session *s, struct err *e);
/* patch_make.c */
MUST_CHECK bool patch_packages(struct install_session *s, struct err *e);
/* import.c */
MUST_CHECK bool import_packages(struct install_session *s, struct err *e);
/* load.c: computes the tokens that clients would load; call after
 * session_join_packages(). */
MUST_CHECK bool session_find_load(struct install_session *s, struct err *e);
/* install.c: parses an origin typed by the user; hints name similar ones. */
MUST_CHECK bool session_parse_origin(struct context *cx, const struct layer *l,
                                     struct str text, struct origin *out,
                                     struct err *e);
/* install.c: drops invalid packages from s->choices and fetches the files of
 * the others. */
MUST_CHECK bool session_take_valid(struct install_session *s, struct err *e);

/* merge.c: resolves a mapm.lock in conflict for the layer. */
MUST_CHECK bool session_merge(struct install_session *s, struct err *e);

/* session.c: plans again if the failure `e` was caused by damaged objects,
 * which were set aside. */
MUST_CHECK bool session_plan_again(struct install_session *s, struct err *e);
/* Plans the command again after an answer that changes it. */
MUST_CHECK bool session_plan_anew(struct install_session *s, struct err *e);
/* Publishes staged objects in the store, then their index rows. */
MUST_CHECK bool session_publish(struct install_session *s, struct err *e);
/* Warns once that the index, which is a cache, cannot be written. */
void session_warn_index(struct install_session *s, const struct err *why);

/* plan.c: gathers the dependencies of s->roots and names the packages. */
MUST_CHECK bool session_gather(struct install_session *s, struct err *e);
/* Returns whether these roots alone can be resolved from the gathered nodes. */
bool session_can_resolve(struct install_session *s, const struct root *roots,
                         size_t count, struct err *e);
/* Gathers s->closure, resolves s->roots and formats the new lock. */
MUST_CHECK bool session_resolve(struct install_session *s, struct err *e);
/* The locks of what is resolved: also once more, when hosts have named what the
 * lock has otherwise. */
MUST_CHECK bool session_format_locks(struct install_session *s, struct err *e);
/* Compares line by line, because git may check it out with CRLF. */
bool session_same_lock(struct str old, struct str new);

/* options.c: returns whether the connection or host failed, not a package. */
bool session_is_network(enum err_code code);
/* Returns access to the store for provision. */
struct provision_objects session_objects(struct install_session *s);
MUST_CHECK bool session_provision_options(struct install_session *s,
                                          struct provision_options *o,
                                          struct err *e);

/* changes.c: stages a package while others are fetched. For
 * closure_options.on_fetched; `session` is an install_session. */
void session_stage_early(void *session, const struct node *n);
/* Finds the changes of the resolved packages. */
MUST_CHECK bool session_find_changes(struct install_session *s, struct err *e);

/* effects.c: finds the effect of `changes` on each package; s->gone receives
 * packages that are no longer in the lock. */
void session_find_effects(struct install_session *s,
                          const struct provision_change *changes, size_t count);
/* Records prerequisites that were shown on this machine. */
void session_note_prereqs(struct install_session *s);

/* patch.c: reads the patches of the workspace. */
MUST_CHECK bool session_read_patches(struct install_session *s, struct err *e);
/* Finds the patch of a package, whose name is final, and rebases it after an
 * update. */
MUST_CHECK bool session_find_patch(struct install_session *s,
                                   struct install_package *p, struct err *e);
/* Checks that each patch has a package in a new lock; patches of removed
 * packages are removed. */
MUST_CHECK bool session_check_patches(struct install_session *s,
                                      const struct lock *lock,
                                      const struct lock *local, struct err *e);
/* Finds the patched content in the store without checking it. */
bool session_find_patched(struct install_session *s, struct install_package *p,
                          struct provision_item *item);
/* Rebases a patch that does not apply to its package; whatever else is wrong
 * with it is reported when it is applied. */
MUST_CHECK bool session_mend_patch(struct install_session *s,
                                   struct install_package *p, bool *is_changed,
                                   struct err *e);
/* Applies the patch and validates the result like a fetched package. */
MUST_CHECK bool session_apply_patch(struct install_session *s,
                                    struct install_package *p,
                                    struct provision_item *item, struct err *e);
/* Returns whether the patch of a changed package was never shown on this
 * machine. */
bool session_is_patch_unseen(const struct install_session *s,
                             const struct install_package *p);
void session_note_patches(struct install_session *s);
/* Sets the new text of a patch file; "" removes it. */
void session_set_patch(struct install_session *s, struct str file,
                       struct str text);
/* Removes the files of conflicts that are resolved. */
void session_forget_conflicts(struct install_session *s);
/* patch_rebase.c: rebases the patch of the locked package to the new one. */
MUST_CHECK bool session_rebase_patch(struct install_session *s,
                                     struct install_package *p, struct err *e);

/* Rebases a patch that does not apply to its package, for the reason in `e`. */
MUST_CHECK bool session_fit_patch(struct install_session *s,
                                  struct install_package *p, struct err *e);

/* roots.c: removes `gone` from the texts and from s->roots. */
MUST_CHECK bool roots_remove(struct install_session *s, const struct root *gone,
                             size_t count, struct err *e);
/* Returns whether n->path is the path of its own origin. */
bool roots_knows_path(const struct install_session *s, const struct node *n);
/* Returns, for each of s->roots, the node of `nodes` that replaces it, or
 * NULL. */
struct node **roots_successors(struct install_session *s,
                               struct node *const *nodes, size_t count);
/* Adds `nodes` as roots to both, replacing roots of the same repository and
 * path at another ref. */
MUST_CHECK bool roots_take(struct install_session *s, struct node *const *nodes,
                           size_t count, struct err *e);

#endif
