#ifndef MAPM_CHANGELOG_H
#define MAPM_CHANGELOG_H

#include "base/arena.h"
#include "base/str.h"
#include "mapm/diagnostics.h"

/* changelog: parses the versions of CHANGELOG.md (M29). */

/* Returns the version of the first section; "" if there is none (M29). */
struct str changelog_latest(struct str text);
/* Returns the sections above that of `version`, or all sections if it has none.
 * Borrowed; "" if empty. */
struct str changelog_since(struct str text, struct str version,
                           struct arena *a);
struct changelog_entry {
    struct str version;
    unsigned line;
};
/* Lists all "## X.Y.Z (YYYY-MM-DD)" headers in order; reports other "## "
 * headers as changelog-version. Allocated in `a`. */
void changelog_read(struct str text, struct arena *a,
                    struct changelog_entry **out, size_t *count,
                    struct diagnostics *why);

#endif
