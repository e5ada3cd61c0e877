#ifndef INSTALL_VERSIONS_H
#define INSTALL_VERSIONS_H

#include "install_session.h"

/*
 * versions: one version for a package that several ask for by ranges.
 *
 *     closure_gather() --> versions_settle() --> all agree: resolve
 *            ^----- some are asked for again -----'
 *
 * Every request for one repository and path is gathered with the way that leads
 * to it. The highest tag that all allow is taken, or the one that the lock has,
 * where all allow that. Another version may need others: then it is done again.
 * A choice only goes down from one round to the next, so it ends; nothing is
 * tried back and forth. Source: D6; HOSTS.md 10.
 */

/*
 * `*settled` false: gather again. ERR_CONFLICT with every request and the way to
 * it where no version is allowed by all.
 */
MUST_CHECK bool versions_settle(struct install_session *s, bool *settled,
                                struct err *e);
/* The same for the choices from catalogs beside the roots. A conflict leaves
 * choices out, one at a time, the last whose range excludes what an earlier one
 * has; an error where none of them may be. */
MUST_CHECK bool versions_settle_choices(struct install_session *s,
                                        bool *settled, struct err *e);

/* What an origin asks of the package at `path`: its range, "=1.2.3" for a tag,
 * "" for another ref. */
struct str version_range(const struct origin *o, struct str path,
                         struct arena *a);

#endif
