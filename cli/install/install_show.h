#ifndef CLI_INSTALL_SHOW_H
#define CLI_INSTALL_SHOW_H

#include "mapm/install.h"

#include "../command.h"

/* Rendering of plans: what install, remove and update share. */

/* For people: packages to stdout, the rest as notes. Without `each` many with the
 * same effect are counted by repository. */
void install_show_packages(struct term *t, const struct install_plan *plan,
                           bool each, struct arena *a);
void install_show_offers(struct invocation *inv,
                         const struct install_plan *plan);
/* What a catalog has, with descriptions, by plugin or folder; and as the members
 * "offers" and "plugins". */
void install_show_catalog(struct invocation *inv,
                          const struct install_catalog *c);
void install_put_offers(struct json_writer *w, const struct install_catalog *c);
/* What the user changed and stays as it is. */
void install_note_edits(struct term *t, const struct install_plan *plan);
/* How a mapm.lock in conflict was decided. */
void install_note_merged(struct term *t, const struct install_plan *plan,
                         bool dry_run);
/* What catalogs of mapm.yaml leave out from now on. */
void install_note_excluded(struct term *t, const struct install_plan *plan);
/* How many packages of catalogs an update cannot add; with -v each. */
void install_note_skipped(struct invocation *inv,
                          const struct install_plan *plan);
/* What the repositories have outside of the catalogs. */
void install_note_elsewhere(struct invocation *inv,
                            const struct install_plan *plan);
/* What is at the new place of a package, as the begin of a sentence. */
const char *install_moved_words(const struct install_place *p);
/* What an update leaves as it is locked, with the ways out. */
void install_warn_held(struct invocation *inv, const struct install_plan *plan);
/* Files at user level that are left alone, and what they lack. */
void install_warn_untouched(struct invocation *inv,
                            const struct install_plan *plan);
/* Grouped by reason; with -v each with its chain. */
void install_warn_left_out(struct invocation *inv,
                           const struct install_plan *plan);

/* What import found: to people, and as a member of mapm.install/1. */
void install_show_imports(struct invocation *inv,
                          const struct install_plan *plan);
void install_put_imports(struct json_writer *w,
                         const struct install_plan *plan);

/* mapm.install/1 and mapm.offers/1. */
void install_print_json(struct invocation *inv, const struct install_plan *plan,
                        bool dry_run);
void install_print_offers_json(struct invocation *inv,
                               const struct install_plan *plan);

/* Parts of plugins that are not installed: a line each. */
void install_note_unsupported(struct invocation *inv,
                              const struct install_plan *plan);
/* Data folders that --purge deletes. */
void install_note_purged(struct invocation *inv,
                         const struct install_plan *plan, bool dry_run);

#endif
