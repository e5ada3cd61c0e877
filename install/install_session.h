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

struct install_session {
    struct install_plan plan; /* what the caller sees */
    struct context *cx;
    const struct install_request *request;
    struct layer layer;
    struct store *store;
    struct closure closure;
    struct fetch_process ahead; /* until the closure uses it */
    struct root *roots;         /* desired: committed ones first */
    size_t root_count;
    struct str yaml, local_yaml; /* new texts of the two manifests */
    bool locked;
    bool with_server; /* mapm itself is one of the workspace's servers */
    bool keep_edited; /* remove: what the user changed stays */
    bool is_in_place; /* nothing to do, and nothing to remember */
    struct plan resolved;
    struct install_package *packages; /* as in `resolved` */
    bool *overridden;                 /* of these: see struct node */
    const struct lock_entry **gone;
    size_t gone_count;
    struct str lock_text, local_lock_text;
    struct choice *choices; /* of catalogs: selection.h */
    size_t choice_count;
    struct node **catalogs; /* those of the arguments that are some */
    size_t catalog_count;
    struct expansion *expansions; /* catalogs of the manifests: catalogs.h */
    size_t expansion_count;
    struct map chosen;      /* by catalogs: origin key -> struct chosen * */
    bool has_locked_choice; /* arguments choose nothing but what is locked */
    struct asked_catalog *asked; /* by the arguments */
    size_t asked_count;
    const struct install_merged *merged;
    size_t merged_count;
    struct patches patches;               /* as they will be */
    const struct lock_entry *unmergeable; /* … of one that cannot be rebased */
    struct str *patch_files; /* of those that change; their texts are there */
    size_t patch_file_count, patch_file_capacity;
    struct map bounds; /* of versions.c: place -> highest version */
    unsigned rounds;   /* … of choosing them */
    bool *in_conflict; /* roots whose ranges no version satisfies, as versions.c
                        * found last; NULL: none */
    unsigned tries;    /* after damage */
};

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
/* install.c. Leaves out of s->choices what is not valid, and has the files of
 * the rest fetched. */
MUST_CHECK bool session_take_valid(struct install_session *s, struct err *e);

/* merge.c. Decides a mapm.lock in conflict, and gives it to the layer. */
MUST_CHECK bool session_merge(struct install_session *s, struct err *e);

/* session.c. Plans again when the failure `e` is one of damaged objects, which
 * are set aside. */
MUST_CHECK bool session_plan_again(struct install_session *s, struct err *e);
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
