#ifndef MAPM_LAYER_H
#define MAPM_LAYER_H

#include "base/context.h"
#include "base/map.h"
#include "mapm/authorize.h"
#include "mapm/clients_scope.h"
#include "mapm/provision.h"
#include "mapm/replace.h"
#include "mapm/store.h"

/*
 * layer: a workspace or the user's library, with its files: mapm.yaml,
 * mapm.lock and their local counterparts.
 *
 * Source: DESIGN.md 3; REQUIREMENTS 3 (M27).
 */

struct layer {
    struct str path; /* absolute */
    bool is_global;
    /* Path of the workspace. For a member of a workspace [D10], a layer with
     * its own files except mapm.lock, this is the folder with mapm.lock;
     * otherwise it equals `path`. */
    struct str root;
    struct str member; /* member, "apps/web"; "" for the root, or without
                          members */
    /* The arrays of `lock` and `local_lock` are those of the workspace: they
     * include entries of other members, which the maps below do not contain. */
    bool is_part;
    /* All members of the workspace, sorted; set in the layer of the root
     * only. */
    const struct str *members;
    size_t member_count;
    /* The paths that clients read, at user level for the library. */
    const struct client_scope *scope;
    struct provision *provision; /* holds the lock on the workspace */
    struct str yaml, local_yaml; /* file contents; "" if absent */
    struct str lock_text, local_lock_text;
    /* LAYER_CONFLICT: mapm.lock has unresolved conflicts. `lock` is the
     * argument of layer_take_lock, and its entries have no needs. */
    bool has_conflict;
    struct str joined; /* … without markers: the inconsistency */
    struct project user, project, local; /* project: includes settings of the
                                            root */
    struct lock lock, local_lock;
    struct origin_rules rules;
    struct origin *origins, *local_origins; /* origins of the entries of the
                                               locks */
    struct replacements replacements;
    struct lock_source *sources, *local_sources; /* NULL if none is replaced */
    struct limits limits;    /* from the user's configuration and mapm.yaml */
    struct map by_origin;    /* origin key -> const struct lock_entry * */
    struct map also_commits; /* … -> const struct str *, for those in `also` */
    struct map by_name;      /* "skill acme/x" -> const struct lock_entry * */
    /* Entries of mapm.lock for origins that mapm.local.lock replaces on this
     * machine; the maps above contain the replacements. */
    struct map replaced; /* origin key -> const struct lock_entry * */
};

/* The actual source of the package of an entry. */
struct lock_source {
    struct origin origin;
    bool is_stale; /* differs from the current `replace:` */
};

/* Returns the nearest folder upwards with a mapm.yaml that passes the owner
 * check (authorize.h), otherwise the current folder. A notice names a mapm.yaml
 * further up that fails the check, once. */
struct str layer_workspace(struct context *cx);
/* The same, starting at the absolute path `from`, without notices. Errors:
 * ERR_NOT_FOUND without a mapm.yaml; ERR_REFUSED if one exists but none
 * passes the check. */
MUST_CHECK bool layer_find_workspace(struct context *cx, struct str from,
                                     struct str *out, struct err *e);

enum layer_mode {
    LAYER_READ = 0,
    LAYER_WRITE = 1,
    LAYER_CONFLICT = 2, /* accept a mapm.lock in conflict; */
};                      /* then the caller calls layer_take_lock */

/* Finds the layer, waits for its lock (WRITE), completes an interrupted
 * transaction, and reads and validates its files. */
MUST_CHECK bool layer_open(struct context *cx, enum layer_mode mode,
                           struct layer *out, struct err *e);
/* Open the workspace, or the user's library, regardless of options. */
MUST_CHECK bool layer_open_workspace(struct context *cx, enum layer_mode mode,
                                     struct layer *out, struct err *e);
MUST_CHECK bool layer_open_global(struct context *cx, enum layer_mode mode,
                                  struct layer *out, struct err *e);
void layer_close(struct layer *l);

/*
 * A workspace with all its members, whose dependencies are resolved together.
 *
 *     layer_open_all()    reads the files; without members it is complete
 *     layer_take_lock()   of `whole`, if mapm.lock was in conflict
 *     layer_index_all()   makes the maps of `whole`, which has all entries, and
 *                         of the parts
 */
struct layers {
    struct layer whole;  /* layer of the root with all entries */
    struct layer *parts; /* the root, then its members; `whole` if alone */
    size_t count;
    size_t here; /* the part selected by `cx`: by cwd or name */
};
MUST_CHECK bool layer_open_all(struct context *cx, enum layer_mode mode,
                               struct layers *out, struct err *e);
MUST_CHECK bool layer_index_all(struct layers *all, struct context *cx,
                                struct err *e);
/* Opens the provision of a member before writing there. */
MUST_CHECK bool layer_open_provision(struct layer *l, struct context *cx,
                                     enum layer_mode mode, struct err *e);
void layer_close_all(struct layers *all);
/* Returns the parts that a command applies to: the part selected by `cx`; or
 * all parts, at the root without a selection or with `all_members`. */
struct layer *layer_chosen(const struct layers *all, const struct context *cx,
                           size_t *count);
/* Opens a workspace with these parts prepared for `mode`. The caller calls
 * layer_close_all on success. */
MUST_CHECK bool layer_open_chosen(struct context *cx, enum layer_mode mode,
                                  struct layers *all, struct layer **list,
                                  size_t *count, struct err *e);

/* The layers that a command reads: one, or those of all members. */
struct layers_named {
    struct layers all;
    struct layer **items;
    const struct lock_entry **named; /* of each, if a name was given */
    size_t count;
    bool is_many; /* output has to name the member */
};
/* Opens them; with a `name`, those that have a package of that name. The caller
 * calls layer_close_all, but not after a failure. Fails as layer_resolve_name
 * if no layer has the package. */
MUST_CHECK bool layers_open_named(struct context *cx, struct str name,
                                  struct layers_named *out, struct err *e);

/* Gets the folder with the lock of the workspace in `folder`, and the member of
 * that workspace that `folder` is ("" for none). */
MUST_CHECK bool layer_find_root(struct context *cx, struct str folder,
                                struct str *root, struct str *member,
                                struct err *e);
/* Returns whether an entry of the arrays belongs to this layer. */
bool layer_has(const struct layer *l, const struct lock_entry *entry);
/* Changes a dependency "./x" of a package of the workspace at `path` to x of
 * the same member. */
MUST_CHECK bool layer_rebase_need(const struct layer *l, struct str path,
                                  struct origin *o, struct arena *a,
                                  struct err *e);
/* Returns the path in the layer of an origin "./x", which is
 * relative to the root. */
struct str layer_own_path(const struct layer *l, const struct origin *o);
/* Sets the resolved lock in place of one in conflict. */
MUST_CHECK bool layer_take_lock(struct layer *l, struct context *cx,
                                const struct lock *lock, struct err *e);

/* Fails with ERR_NOT_FOUND if there is neither a mapm.yaml nor a lock, because
 * "nothing to do" in the wrong folder would look like success. */
MUST_CHECK bool layer_check_there(const struct layer *l, struct context *cx,
                                  struct err *e);

/* Fails with ERR_REFUSED if the folder of the workspace fails the owner
 * check (authorize.h). */
MUST_CHECK bool layer_check_own(const struct layer *l, struct context *cx,
                                struct err *e);

/* Returns whether the user trusts the folder as a workspace. If not,
 * returns false without an error and sets `*state` to the reason. Errors:
 * those of the store. */
MUST_CHECK bool layer_is_trusted(const struct layer *l, struct context *cx,
                                 struct store *store, enum trust_state *state,
                                 struct err *e);

/* Returns whether the workspace has `servers: start` [D20]. */
bool layer_starts_servers(const struct layer *l);

/* Returns a key such as "skill acme/x". Allocated in `a`. */
struct str layer_name_key(enum doc_kind kind, struct str fqn, struct arena *a);

/* Returns whether the entry is in mapm.local.lock: installed from a
 * file: origin. */
bool layer_is_local(const struct layer *l, const struct lock_entry *entry);
/* Returns whether the package belongs to the workspace itself: its
 * origin is "./x". */
bool layer_is_own(const struct layer *l, const struct lock_entry *entry);
/* Returns whether the `from` of an entry is a folder of the checkout that a local
 * root is in, and not a replacement. */
bool layer_is_from_checkout(const struct layer *l,
                            const struct lock_entry *entry);
/* Gets the team stores of this layer (authorize_stores). */
MUST_CHECK bool layer_stores(const struct layer *l, struct context *cx,
                             struct store *store, struct team_remotes *out,
                             struct err *e);
/* Returns whether the package is neither local nor own: it was fetched,
 * and has a digest. */
bool layer_is_fetched(const struct layer *l, const struct lock_entry *entry);
/* Returns whether `listing:` excludes a skill from the clients' folders
 * [G4]. */
bool layer_is_searched(const struct layer *l, enum doc_kind kind,
                       struct str fqn);
/* Returns the path where mapm puts a package: `path:` of the lock, except
 * for a skill that is excluded by `listing:`; absolute for the library.
 * Allocated in `a`. */
struct str layer_place(const struct layer *l, const struct lock_entry *entry,
                       struct arena *a);
/* Returns the path of a `place` of the lock; in the library, the folder of a
 * skill in the home folder. */
struct str layer_user_place(const struct layer *l, struct str place,
                            struct arena *a);
/* Returns the place in the lock for the folder of a skill, which may be in
 * the folder for skills that `listing:` excludes: ".agents/skills/x".
 * Allocated in `a`. */
struct str layer_listed_place(struct str place, struct arena *a);
/* Returns the folder with the files of a package, relative to the
 * workspace; for a package of the workspace itself its source folder, since
 * its place is a link. */
struct str layer_folder(const struct layer *l, const struct lock_entry *entry,
                        struct arena *a);

const struct lock_entry *layer_find(const struct layer *l, enum doc_kind kind,
                                    struct str fqn);

/* Returns the skill that mapm installed in this folder, or NULL. */
const struct lock_entry *layer_find_folder(const struct layer *l,
                                           struct str folder);

/* Returns the origin of an entry of the layer, which was parsed with the
 * lock. */
const struct origin *layer_origin(const struct layer *l,
                                  const struct lock_entry *entry);

/* Returns the origin that a package is fetched from, which differs from its own
 * if it is replaced. */
const struct origin *layer_source(const struct layer *l,
                                  const struct lock_entry *entry);

/* Returns the entry of the locks for an origin with its current
 * replacement, or NULL. With `committed`, the entry of mapm.lock, even if
 * this machine replaces it. */
const struct lock_entry *layer_find_origin(const struct layer *l,
                                           struct str key, bool committed);

/* Returns the commit that a lock has for an origin in `also`, or "". */
struct str layer_also_commit(const struct layer *l, const struct origin *o);

/* Returns whether `o` is a former name of the origin of the entry, before its
 * host renamed the repository. */
bool layer_is_former(const struct layer *l, const struct lock_entry *entry,
                     const struct origin *o);

/* Returns all entries of the layer, each once, sorted by kind and name.
 * Allocated in `a`. */
const struct lock_entry **layer_entries(const struct layer *l, struct arena *a,
                                        size_t *count);

/* Maps layer_name_key of the entries that roots request to these roots. Keys
 * are allocated in `a`. */
void layer_index_roots(const struct layer *l, struct root *roots, size_t count,
                       struct arena *a, struct map *out);

/* Returns the clients of `clients:`, those of the workspace before those of the
 * user. Allocated in `a`. */
struct client_choice layer_clients(const struct layer *l, struct arena *a);

/* A package in the locks that a catalog of the manifests selected [D11]. */
struct layer_choice {
    const struct catalog *catalog;
    const struct lock_entry *entry;
    struct origin origin; /* origin of the entry, or one in `also` */
    struct str text;      /* the catalog as written in the lock */
};

/* Returns the packages that the locks record for the catalogs of the
 * manifests and that their patterns still select, those of mapm.lock first.
 * Allocated in `a`. */
struct layer_choice *layer_choices(const struct layer *l, struct arena *a,
                                   size_t *count);

/* Returns all roots: those of mapm.yaml before those of mapm.local.yaml; in
 * each file the listed ones before those selected by its catalogs.
 * Allocated in `a`. */
struct root *layer_roots(const struct layer *l, struct arena *a, size_t *count);

/* Finds the entry that the user means by `name`: a qualified name, a
 * short name, a folder or key, or an origin, optionally after a type,
 * as in "skill pdf".
 * Errors: ERR_NOT_FOUND with similar names; ERR_USAGE if it is ambiguous. */
MUST_CHECK bool layer_resolve_name(const struct layer *l, struct str name,
                                   struct context *cx,
                                   const struct lock_entry **out,
                                   struct err *e);
/* The same for several names; indexes the entries of the layer only once. */
MUST_CHECK bool layer_resolve_names(const struct layer *l,
                                    const struct str *names, size_t name_count,
                                    struct arena *a,
                                    const struct lock_entry **out,
                                    struct err *e);

#endif
