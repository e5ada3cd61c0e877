#ifndef MAPM_INSTALL_OFFERS_H
#define MAPM_INSTALL_OFFERS_H

#include "mapm/install.h"

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

/* Adds what is chosen of the catalogs to `out`, which has room for all of
 * their offers. ERR_NOT_FOUND for a name that none of them has. */
MUST_CHECK bool offers_choose(struct sync *s, struct node *const *catalogs,
                              size_t count, struct choice *out, size_t *chosen,
                              struct err *e);

/* The name by which an offer is chosen: a repository has its own. Borrowed. */
struct str offers_name(const struct node *n, const struct fetch_offer *o);
/* Its whole origin. In `a`. */
void offers_origin(struct arena *a, const struct node *n,
                   const struct fetch_offer *offer, struct origin *out);

/* What the repositories have outside of the folders that make them catalogs: one
 * line each, with -v one a folder. The member "elsewhere". */
void offers_tell_elsewhere(struct context *cx, struct node *const *catalogs,
                           size_t count);
void offers_put_elsewhere(struct json_writer *w, struct node *const *catalogs,
                          size_t count);

#endif
