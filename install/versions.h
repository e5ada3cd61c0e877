#ifndef INSTALL_VERSIONS_H
#define INSTALL_VERSIONS_H

#include "install_session.h"

/*
 * versions: one version for a package that several ask for by ranges.
 *
 *     closure_gather() --> versions_resolve() --> all agree: resolve
 *            ^----- some are asked for again -----'
 *
 * Every request for one repository and path is gathered with the way that leads
 * to it. The highest tag that all allow is taken, or the one that the lock has,
 * where all allow that. Another version may need others: then it is done again.
 * A choice only goes down from one round to the next, so it ends; nothing is
 * tried back and forth. Source: D6; HOSTS.md 10.
 */

/* Chooses versions. If `*resolved` is false, gather again. ERR_CONFLICT with
 * every request and its chain if no version satisfies all ranges. */
MUST_CHECK bool versions_resolve(struct install_session *s, bool *resolved,
                                 struct err *e);
/* Likewise for choices from catalogs beside the roots. A conflict drops choices
 * one at a time, the last whose range excludes the version of an earlier one;
 * it is an error if none may be dropped. */
MUST_CHECK bool versions_resolve_choices(struct install_session *s,
                                         bool *resolved, struct err *e);

/* Returns the range that an origin requests of the package at `path`: "=1.2.3"
 * for a tag, "" for another ref. */
struct str version_range(const struct origin *o, struct str path,
                         struct arena *a);

#endif
