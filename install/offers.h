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

/* Anything is to be chosen; and by --all or a glob, so that what is invalid is
 * left out. */
bool offers_are_chosen(const struct install_choice *c);
bool offers_are_filtered(const struct install_choice *c);

/* --all, or --skip alone, which takes all the rest. */
bool offers_take_all(const struct install_choice *c);
/* Those of --agent, --skill or --mcp. */
const struct str_list *offers_words(const struct install_choice *c,
                                    enum doc_kind kind);

/* The name by which an offer is chosen: a repository has its own. */
struct str offers_name(const struct node *n, const struct fetch_offer *o);
/* Where it is installed from. In `a`. */
void offers_origin(struct arena *a, const struct node *n,
                   const struct fetch_offer *offer, struct origin *out);

/* Adds what is chosen of the catalogs to `out`, which has room for all of
 * their offers. ERR_NOT_FOUND for a name that none of them has. */
MUST_CHECK bool offers_choose(struct install_session *s,
                              struct node *const *catalogs,
                              const struct catalog *const *roots, size_t count,
                              struct choice *out, size_t *chosen,
                              struct err *e);

/* The catalogs as values: what they offer where nothing was chosen, and what
 * their repositories have outside of the folders that make them catalogs. */
struct install_catalog *offers_list(struct install_session *s, size_t *count);

/* Reads the documents of all that they offer, and their marketplaces: the words
 * of offers_fill. Requests no other file, and nothing that they need. */
MUST_CHECK bool offers_read(struct closure *c, struct node *const *catalogs,
                            size_t count, struct err *e);
/* Of those that have no package at all, but a marketplace: they are catalogs of
 * plugins alone, and have not failed. */
MUST_CHECK bool offers_find_markets(struct closure *c,
                                    struct node *const *asked, size_t count,
                                    struct err *e);
/* One catalog as a value; `each`: with what it offers. In the arena of the
 * context. */
void offers_fill(const struct closure *c, const struct node *n, bool each,
                 struct install_catalog *out);
/* Of what failed the first message that says more than its name. */
struct str offers_problem(const struct node *n);

#endif
