#ifndef MAPM_CHANGELOG_H
#define MAPM_CHANGELOG_H

#include "base/arena.h"
#include "base/str.h"
#include "mapm/diagnostics.h"

/* changelog: versions of CHANGELOG.md (M29). */

/* First section of CHANGELOG.md: its version; "" when there is none (M29). */
struct str changelog_latest(struct str text);
/* The sections above that of `version`; all where it has none. Borrowed; ""
 * without any. */
struct str changelog_since(struct str text, struct str version,
                           struct arena *a);
struct changelog_entry {
    struct str version;
    unsigned line;
};
/* All "## X.Y.Z (YYYY-MM-DD)" headers in order; other "## " headers and bad
 * ones are reported as changelog-version. In `a`. */
void changelog_read(struct str text, struct arena *a,
                    struct changelog_entry **out, size_t *count,
                    struct diagnostics *why);

#endif
