#ifndef MAPM_INSTALL_SUMMARY_H
#define MAPM_INSTALL_SUMMARY_H

#include "mapm/install.h"

/* install_summary: a plan in groups and short texts, for outputs that cannot show
 * every package by itself. Results are allocated in `a`. */

/* The versions of a package before and after the plan. */
struct install_versions {
    struct str before; /* "" if there is none, or if `after` says the same */
    struct str after;  /* "1.3.0 (8a01…)", with " (new content)" if only that
                             changed; or two origins of the same content */
    bool is_same_content; /* only other fields of its lock entry change */
};
struct install_versions
install_package_versions(const struct install_package *p, struct arena *a);

/* Returns the changes that clients get without a change of a package of the plan:
 * of packages that stay, and of skills that are not mapm's. */
const struct provision_change **
install_client_changes(const struct install_plan *plan, struct arena *a,
                       size_t *count);

/* Returns the folders with the packages that the catalog does not offer, in the
 * order of their paths. `*largest` is the one with most of those whose name can be
 * typed in a shell as it is, NULL if there is none. */
struct install_folder {
    struct str path; /* top folder below that of the catalog */
    size_t count;
};
struct install_folder *
install_elsewhere_folders(const struct install_catalog *c, struct arena *a,
                          size_t *count, const struct install_folder **largest);

/* Returns the number of elements from the start of `list` with the same code. */
size_t install_left_out_run(const struct install_left_out *list, size_t count);
bool install_left_out_is_one_reason(const struct install_left_out *list,
                                    size_t count);
/* Returns "a, b needs c (2 times) and 3 more": at most `max` names. */
struct str install_left_out_names(const struct install_left_out *list,
                                  size_t count, size_t max, struct arena *a);

#endif
