#ifndef MAPM_INSTALL_TEAM_H
#define MAPM_INSTALL_TEAM_H

#include "mapm/layer.h"
#include "mapm/team_object.h"

/*
 * install_team: what a lock holds as objects of a team's store.
 *
 *     install_team_list()    the packages, and which of them others may get
 *     install_team_write()   the object of one, or its proof, out of the store
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

/* Whether the store has what the marketplace says of the plugin, for others. */
bool install_team_has_market(const struct layer *l, struct store *store,
                             const struct lock_entry *entry);

/* All that is said of one object. In `a`. */
struct install_team_object {
    struct str name;
    struct str layer, config, manifest;
};

/*
 * In `a`; `proves`: the proof instead of the package. Errors: ERR_NOT_FOUND when
 * the store has not all of it, ERR_LIMIT for a proof that is too large.
 */
MUST_CHECK bool install_team_write(struct store *store,
                                   const struct install_team_package *p,
                                   bool proves, struct arena *a,
                                   struct install_team_object *out,
                                   struct err *e);

#endif
