#ifndef MAPM_INSTALL_TEAM_H
#define MAPM_INSTALL_TEAM_H

#include "mapm/layer.h"
#include "mapm/team_object.h"

/*
 * install_team: what a lock holds as objects of a team's store.
 *
 *     install_team_list()    the packages, and which of them others may get
 *     install_team_write()   the object of one, out of the store
 *     install_team_prove()   the proof of one, or of several of a commit;
 *     install_team_find()    the objects of git that it consists of
 *
 * Packages of `file:`, those of the workspace itself, and those that were
 * accepted with --allow-hidden are no one else's: `kept_back` says so. Of the
 * same content at several places of the lock there is one object; of an entry
 * with several origins a proof each, which are items of their own.
 *
 * Source: S2, S4; TEAM.md 1.
 */

struct install_team_package {
    const struct lock_entry *entry;
    const struct layer *layer; /* is_market */
    const char *kept_back;     /* why it is not shared; NULL: it is */
    struct hash digest;
    struct str name;   /* of its object */
    struct str proof;  /* of that of its proof; "": the path of its origin
                            * is not known on this machine */
    struct str asked;  /* the same name, whether it is known or not */
    bool is_also;      /* at another origin of the entry: its proof counts */
    bool is_market;    /* is_also: the proof is that of the marketplace which
                            * names the plugin, its text in it */
    struct str commit; /* of this origin */
    struct str repository; /* identity; HOSTS.md 4 */
    struct str path;       /* in the repository */
};

/* Those of `names`, of all when there are none; in the order of the lock. In the
 * arena of `cx`. Errors: as layer_resolve_names. */
MUST_CHECK bool install_team_list(struct context *cx, const struct layer *l,
                                  struct store *store, struct str_list names,
                                  struct install_team_package **out,
                                  size_t *count, struct err *e);

/* The trees of the commit that was asked for last: of a catalog's packages most
 * are of the same. Zero is one that is empty. */
struct install_trees {
    struct store *store;
    struct arena arena;
    struct str key;
    struct team_trees trees;
};

void install_trees_done(struct install_trees *t);

/* Whether the store has the trees that prove it: those of a proof that may be
 * too large for others, too. */
bool install_trees_prove(struct install_trees *t, struct str repository,
                         struct str commit, const struct team_proof_end *end);
/* Whether it has what the marketplace says of the plugin, for others. */
bool install_trees_have_market(struct install_trees *t, const struct layer *l,
                               const struct lock_entry *entry);

/* All that is said of one object. In `a`. */
struct install_team_object {
    struct str name;
    struct str layer, config, manifest;
};

/* In `a`. Errors: ERR_NOT_FOUND when the store has not all of it. */
MUST_CHECK bool install_team_write(struct store *store,
                                   const struct install_team_package *p,
                                   struct arena *a,
                                   struct install_team_object *out,
                                   struct err *e);

/*
 * The proof of all of `of`, which are of one repository and commit, with the
 * name of the first. Of the marketplace of a plugin it is one of its own. In
 * `a`, but for the bytes of files: they are valid until another commit is asked
 * for. Errors: ERR_NOT_FOUND when the store has not all of it, ERR_LIMIT when it
 * is too large.
 */
MUST_CHECK bool install_team_find(struct install_trees *t,
                                  const struct install_team_package *const *of,
                                  size_t count, struct arena *a,
                                  struct team_file **files, size_t *file_count,
                                  struct err *e);
MUST_CHECK bool install_team_prove(struct install_trees *t,
                                   const struct install_team_package *const *of,
                                   size_t count, struct arena *a,
                                   struct install_team_object *out,
                                   struct err *e);

#endif
