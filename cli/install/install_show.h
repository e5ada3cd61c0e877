#ifndef CLI_INSTALL_SHOW_H
#define CLI_INSTALL_SHOW_H

#include "mapm/install.h"

#include "../command.h"

/* Prints plans for install, remove and update. */

/* Prints packages on stdout and everything else as notes. Without `each`, many
 * packages with the same effect are summarized per repository. */
void install_show_packages(struct term *t, const struct install_plan *plan,
                           bool each, struct arena *a);
void install_show_offers(struct invocation *inv,
                         const struct install_plan *plan);
/* Prints the packages of a catalog with descriptions, by plugin or folder; or
 * as the members "offers" and "plugins". */
void install_show_catalog(struct invocation *inv,
                          const struct install_catalog *c);
void install_put_offers(struct json_writer *w, const struct install_catalog *c);
/* Reports local edits that are kept. */
void install_note_edits(struct term *t, const struct install_plan *plan,
                        bool is_global);
/* Reports how conflicts in mapm.lock were resolved. */
void install_note_merged(struct term *t, const struct install_plan *plan,
                         bool dry_run);
/* Reports packages newly excluded from catalogs of mapm.yaml. */
void install_note_excluded(struct term *t, const struct install_plan *plan);
/* Reports the number of catalog packages that an update cannot add; with -v
 * each of them. */
void install_note_skipped(struct invocation *inv,
                          const struct install_plan *plan);
/* Reports packages of the repositories that no catalog selects. */
void install_note_elsewhere(struct invocation *inv,
                            const struct install_plan *plan);
/* Returns a phrase that introduces the new path of a moved package, for example
 * "the same content is at". */
const char *install_moved_words(const struct install_place *p);
/* Warns about packages that an update keeps as locked, with ways to proceed. */
void install_warn_held(struct invocation *inv, const struct install_plan *plan);
/* Warns about user-level files that are not changed, and the entries they
 * lack. */
void install_warn_untouched(struct invocation *inv,
                            const struct install_plan *plan);
/* Warns about packages left out, grouped by reason; with -v each with its
 * chain. */
void install_warn_left_out(struct invocation *inv,
                           const struct install_plan *plan);

/* Prints what import found; or writes it as a member of mapm.install/1. */
void install_show_imports(struct invocation *inv,
                          const struct install_plan *plan);
void install_put_imports(struct json_writer *w,
                         const struct install_plan *plan);

/* Print the documents mapm.install/1 and mapm.offers/1. */
void install_print_json(struct invocation *inv, const struct install_plan *plan,
                        bool dry_run);
void install_print_offers_json(struct invocation *inv,
                               const struct install_plan *plan);

/* Reports parts of plugins that are not installed, one per line. */
void install_note_unsupported(struct invocation *inv,
                              const struct install_plan *plan);
/* Reports the data folders deleted by --purge. */
void install_note_purged(struct invocation *inv,
                         const struct install_plan *plan, bool dry_run);

#endif
