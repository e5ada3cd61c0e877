#ifndef MAPM_PACKAGE_TEXT_H
#define MAPM_PACKAGE_TEXT_H

#include "mapm/layer.h"

/* package_text: the words by which all outputs name a package, its version and
 * its source. Results that are not constant are allocated in `a`. */

/* Returns the path of the layer's member, "." for the root. */
struct str package_member(const struct layer *l);

/* Returns "acme/catalog" for https://github.com/acme/catalog/tree/main/x,
 * "gitlab.com/g/s/r" for a repository of another host, the host of an index, and
 * words for an origin that is not a URL. */
struct str package_repository(struct str origin);

/* Returns the version and the short commit, "1.2.0 (3f6c…)"; either may be "".
 * Without both, what the origin is: "own", "index" or "file". */
struct str package_version(struct str version, struct str commit,
                           struct str origin, struct arena *a);

/* Returns " (from https://…)" or " (from this checkout)"; "" if `from` is. */
struct str package_source(struct str from, bool is_checkout, struct arena *a);

/* Returns " (search only)" for a skill that clients do not list, or "". */
struct str package_listing(const struct layer *l,
                           const struct lock_entry *entry);

/* Returns all notes on a locked package: " (tag v1.4.2)", " (own)", its source,
 * " (patched)", its listing, " (without hooks)". */
struct str package_notes(const struct layer *l, const struct lock_entry *entry,
                         struct arena *a);

#endif
