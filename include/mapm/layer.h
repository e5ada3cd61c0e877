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
 * layer: one scope of visibility, the workspace or the user's library, and its
 * files: mapm.yaml, mapm.lock and their local twins. Source: DESIGN.md 3;
 * REQUIREMENTS 3 (M27).
 */

struct layer {
    struct str path; /* absolute */
    bool is_global;
    /* A member of a workspace [D10]: a layer with files of its own, but the
     * mapm.lock of the workspace, at `root`. Elsewhere `root` is `path`. */
    struct str root;
    struct str member; /* "apps/web"; "": none, or the layer of the root */
    bool is_part; /* the locks' arrays are those of the workspace: others have
                   * entries in them, too, that no map below names */
    const struct str *members; /* of the workspace, sorted; its own layer has */
    size_t member_count;       /* them */
    /* Where clients look; of the library where those of the user do. */
    const struct client_scope *scope;
    struct provision *provision; /* holds the workspace's lock */
    struct str yaml, local_yaml; /* texts; "" = absent */
    struct str lock_text, local_lock_text;
    /* LAYER_CONFLICT: mapm.lock was left in conflict. `lock` is what
     * layer_take_lock was given, and no entry of it has needs. */
    bool has_conflict;
    struct str joined; /* … without markers: what does not fit together */
    struct project user, project, local; /* project: with what the root says */
    struct lock lock, local_lock;
    struct origin_rules rules;
    struct origin *origins, *local_origins; /* of the locks' entries */
    struct replacements replacements;
    struct lock_source *sources, *local_sources; /* NULL: none is replaced */
    struct limits limits;    /* as the user and then mapm.yaml have it */
    struct map by_origin;    /* origin key -> const struct lock_entry * */
    struct map also_commits; /* … -> const struct str *, of those in `also` */
    struct map by_name;      /* "skill acme/x" -> const struct lock_entry * */
    /* Origins that mapm.local.lock takes from elsewhere on this machine: of
     * mapm.lock's entries, which stand behind those then. */
    struct map replaced; /* origin key -> const struct lock_entry * */
};

/* Where the package of an entry comes from. */
struct lock_source {
    struct origin origin;
    bool is_stale; /* not what `replace:` says now */
};

/* The nearest folder upwards that holds a mapm.yaml which counts (authorize.h),
 * else the current one. A file above it that does not is noted, once. */
struct str layer_workspace(struct context *cx);
/* The same from the folder `from`, absolute, with nothing noted. Errors:
 * ERR_REFUSED for one that does not count, where none does; ERR_NOT_FOUND. */
MUST_CHECK bool layer_find_workspace(struct context *cx, struct str from,
                                     struct str *out, struct err *e);

enum layer_mode {
    LAYER_READ = 0,
    LAYER_WRITE = 1,
    LAYER_CONFLICT = 2, /* besides: a mapm.lock in conflict is no error, */
};                      /* and the caller calls layer_take_lock */

/* Finds the layer, waits for its lock (WRITE), finishes an interrupted
 * transaction, reads and checks its files. */
MUST_CHECK bool layer_open(struct context *cx, enum layer_mode mode,
                           struct layer *out, struct err *e);
/* Opens the user's library, regardless of options. */
MUST_CHECK bool layer_open_workspace(struct context *cx, enum layer_mode mode,
                                     struct layer *out, struct err *e);
MUST_CHECK bool layer_open_global(struct context *cx, enum layer_mode mode,
                                  struct layer *out, struct err *e);
void layer_close(struct layer *l);

/*
 * A workspace with all its members: what they need is resolved together.
 *
 *     layer_open_all()    reads the files; of one without members it is done
 *     layer_take_lock()   of `whole`, where mapm.lock was in conflict
 *     layer_index_all()   the maps of `whole`, which has all entries, and parts
 */
struct layers {
    struct layer whole;  /* of the root, with every entry */
    struct layer *parts; /* the root, then its members; one: `whole` itself */
    size_t count;
    size_t here; /* the part that `cx` means: by cwd or by name */
};
MUST_CHECK bool layer_open_all(struct context *cx, enum layer_mode mode,
                               struct layers *out, struct err *e);
MUST_CHECK bool layer_index_all(struct layers *all, struct context *cx,
                                struct err *e);
/* For what is written there: the members have no provision before. */
MUST_CHECK bool layer_open_provision(struct layer *l, struct context *cx,
                                     enum layer_mode mode, struct err *e);
void layer_close_all(struct layers *all);
/* The parts that a command is about: the one that `cx` means; at the root where
 * none is named, or with `all_members`, all. */
struct layer *layer_chosen(const struct layers *all, const struct context *cx,
                           size_t *count);
/* Opens a workspace with these parts ready for `mode`. The caller calls
 * layer_close_all, not after a failure. */
MUST_CHECK bool layer_open_chosen(struct context *cx, enum layer_mode mode,
                                  struct layers *all, struct layer **list,
                                  size_t *count, struct err *e);

/* Where the lock of the workspace in `folder` is, and the member that it is of
 * that workspace ("" for none). */
MUST_CHECK bool layer_find_root(struct context *cx, struct str folder,
                                struct str *root, struct str *member,
                                struct err *e);
/* An entry, of the arrays, that is one of this layer. */
bool layer_has(const struct layer *l, const struct lock_entry *entry);
/* What an own package at `path` needs by "./x": x in the same member. */
MUST_CHECK bool layer_rebase_need(const struct layer *l, struct str path,
                                  struct origin *o, struct arena *a,
                                  struct err *e);
/* The path of an own origin ("./x"), which counts from the root, in the layer. */
struct str layer_own_path(const struct layer *l, const struct origin *o);
/* The lock in place of one in conflict. */
MUST_CHECK bool layer_take_lock(struct layer *l, struct context *cx,
                                const struct lock *lock, struct err *e);

/* In the wrong folder "nothing to do" would be taken for success:
 * ERR_NOT_FOUND where neither mapm.yaml nor a lock is. */
MUST_CHECK bool layer_check_there(const struct layer *l, struct context *cx,
                                  struct err *e);

/* ERR_REFUSED unless the folder of the workspace counts (authorize.h). */
MUST_CHECK bool layer_check_own(const struct layer *l, struct context *cx,
                                struct err *e);

/* Whether the user trusts the folder as a workspace. False without an error:
 * not trusted, `*state` is the reason. Errors: those of the store. */
MUST_CHECK bool layer_is_trusted(const struct layer *l, struct context *cx,
                                 struct store *store, enum trust_state *state,
                                 struct err *e);

/* `servers: start`, of a workspace [D20]. */
bool layer_starts_servers(const struct layer *l);

/* "skill acme/x". In `a`. */
struct str layer_name_key(enum doc_kind kind, struct str fqn, struct arena *a);

/* Of mapm.local.lock: installed from a file: origin. */
bool layer_is_local(const struct layer *l, const struct lock_entry *entry);
/* Of the workspace itself: its origin is "./x". */
bool layer_is_own(const struct layer *l, const struct lock_entry *entry);
/* The stores of the team that count here (authorize_stores). */
MUST_CHECK bool layer_stores(const struct layer *l, struct context *cx,
                             struct store *store, struct team_remotes *out,
                             struct err *e);
/* Neither of both: it came from elsewhere, and is known by its digest. */
bool layer_is_fetched(const struct layer *l, const struct lock_entry *entry);
/* Whether `listing:` keeps a skill out of the clients' folders [G4]. */
bool layer_is_searched(const struct layer *l, enum doc_kind kind,
                       struct str fqn);
/* Where mapm puts it: `path:` of the lock, which does not depend on `listing:`,
 * but for a skill that is searched; of the library absolute. In `a`. */
struct str layer_place(const struct layer *l, const struct lock_entry *entry,
                       struct arena *a);
/* A place as a lock has it; of a skill of the library its folder in the home. */
struct str layer_user_place(const struct layer *l, struct str place,
                            struct arena *a);
/* A folder of such skills as a lock has it: ".agents/skills/x" of both. In `a`. */
struct str layer_listed_place(struct str place, struct arena *a);
/* Where its files lie below the workspace: of an own package where these were
 * written, as its place is a link to them. */
struct str layer_folder(const struct layer *l, const struct lock_entry *entry,
                        struct arena *a);

const struct lock_entry *layer_find(const struct layer *l, enum doc_kind kind,
                                    struct str fqn);

/* The skill that was put into this folder; NULL: the folder is not mapm's. */
const struct lock_entry *layer_find_folder(const struct layer *l,
                                           struct str folder);

/* The origin of one of the layer's entries, read when the lock was. */
const struct origin *layer_origin(const struct layer *l,
                                  const struct lock_entry *entry);

/* Where it is fetched from: of a replaced package not what its origin names. */
const struct origin *layer_source(const struct layer *l,
                                  const struct lock_entry *entry);
/* `replace:` has changed since: the entry is no longer that of its origin. */
bool layer_is_stale(const struct layer *l, const struct lock_entry *entry);

/* What the locks hold for an origin as it is replaced now; NULL: nothing.
 * `committed`: of mapm.lock, though this machine takes it from elsewhere. */
const struct lock_entry *layer_find_origin(const struct layer *l,
                                           struct str key, bool committed);

/* The commit that a lock names for an origin in `also`; "" for none. */
struct str layer_also_commit(const struct layer *l, const struct origin *o);

/* Whether `o` is what the origin of the entry was called before its host gave
 * the repository another name. */
bool layer_is_former(const struct layer *l, const struct lock_entry *entry,
                     const struct origin *o);

/* Every entry of the layer once, sorted by kind and name. In `a`. */
const struct lock_entry **layer_entries(const struct layer *l, struct arena *a,
                                        size_t *count);

/* The entries that a root asks for, by layer_name_key. Keys live in `a`. */
void layer_index_roots(const struct layer *l, const struct root *roots,
                       size_t count, struct arena *a, struct map *out);

/* The clients that `clients:` names, of the workspace, then of the user. In
 * `a`. */
struct client_choice layer_clients(const struct layer *l, struct arena *a);

/* A package that a catalog of the manifests chose, as the locks have it [D11]. */
struct layer_choice {
    const struct catalog *catalog;
    const struct lock_entry *entry;
    struct origin origin; /* of the entry, or one in `also` */
    struct str text;      /* the catalog, as the lock spells it */
};

/* What the locks say of the catalogs that the manifests have, as far as their
 * patterns still choose it. mapm.lock's first. In `a`. */
struct layer_choice *layer_choices(const struct layer *l, struct arena *a,
                                   size_t *count);

/* All roots: of the committed file first, then the local ones; of each those
 * that are listed, then those that its catalogs chose. In `a`. */
struct root *layer_roots(const struct layer *l, struct arena *a, size_t *count);

/*
 * The entries that a person means by `name`: a qualified name, a short name,
 * a folder or key, or an origin, or one of these after a type, as "skill pdf".
 * ERR_NOT_FOUND with near names; ERR_USAGE when it means more than one.
 */
MUST_CHECK bool layer_resolve_name(const struct layer *l, struct str name,
                                   struct context *cx,
                                   const struct lock_entry **out,
                                   struct err *e);
/* The same for many: the entries of the layer are indexed once. */
MUST_CHECK bool layer_resolve_names(const struct layer *l,
                                    const struct str *names, size_t name_count,
                                    struct arena *a,
                                    const struct lock_entry **out,
                                    struct err *e);

#endif
