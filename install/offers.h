#ifndef INSTALL_OFFERS_H
#define INSTALL_OFFERS_H

#include "install_session.h"

/*
 * offers: what catalogs offer, and which of it --all, --skill, --agent, --mcp
 * and --skip choose.
 *
 * An argument of --skill, --agent or --mcp is a name, a path in the repository,
 * or a shell glob over either. A glob that matches a folder above a package
 * matches the package.
 */

struct choice; /* selection.h */

/* Return whether anything is chosen, and whether by --all or a glob, so that
 * invalid packages are skipped. */
bool offers_are_chosen(const struct install_choice *c);
bool offers_are_filtered(const struct install_choice *c);

/* --all, or --skip alone, which takes all the rest. */
bool offers_take_all(const struct install_choice *c);
/* Returns the words of --agent, --skill or --mcp. */
const struct str_list *offers_words(const struct install_choice *c,
                                    enum doc_kind kind);

/* Returns the name by which a package of a catalog is chosen; for the root
 * folder, that of the repository. */
struct str offers_name(const struct node *n, const struct fetch_offer *o);
/* Returns the origin of an offered package, allocated in `a`. */
void offers_origin(struct arena *a, const struct node *n,
                   const struct fetch_offer *offer, struct origin *out);

/* Returns whether the catalog is a package, or empty. */
bool offers_only_itself(const struct node *n);
/* Warns that a folder with a manifest is used as a catalog. */
void offers_warn_plugin(const struct closure *c, const struct node *n,
                        const char *why);

/* Adds the chosen packages of the catalogs to `out`, which has room for all.
 * ERR_NOT_FOUND for a name that no catalog contains. */
MUST_CHECK bool offers_choose(struct install_session *s,
                              struct node *const *catalogs,
                              const struct catalog *const *roots, size_t count,
                              struct choice *out, size_t *chosen,
                              struct err *e);

/* Returns the catalogs as values: their packages if nothing was chosen, and
 * packages of their repositories in other folders. */
struct install_catalog *offers_list(struct install_session *s, size_t *count);

/* Reads the documents of all offered packages and the marketplaces, for
 * offers_fill(). Requests no other files or dependencies. */
MUST_CHECK bool offers_read(struct closure *c, struct node *const *catalogs,
                            size_t count, struct err *e);
/* Finds catalogs that have a marketplace but no packages, which are valid. */
MUST_CHECK bool offers_find_markets(struct closure *c,
                                    struct node *const *asked, size_t count,
                                    struct err *e);
/* Fills one catalog as a value, with its packages if `each`. Allocated in the
 * arena of the context. */
void offers_fill(const struct closure *c, const struct node *n, bool each,
                 struct install_catalog *out);

#endif
