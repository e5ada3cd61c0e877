/* manifest: CHANGELOG.md. Entries are versions of the text, in its order, and
 * the first is the latest. [M29]. */
#include "mapm/changelog.h"
#include "mapm/diagnostics.h"
#include "mapm/name.h"

#include <stdlib.h>

#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str text = str_make((const char *)data, size);
    struct changelog_entry *entries = NULL;
    struct diagnostics why;
    struct version v;
    size_t count = 0;
    unsigned line = 0;

    if (size >= 1 << 20)
        return 0;
    diagnostics_init(&why, &a);
    changelog_read(text, &a, &entries, &count, &why);
    for (size_t i = 0; i < count; i++) {
        if (!version_parse(entries[i].version, &v) || entries[i].line <= line)
            abort();
        line = entries[i].line;
        outcome_str("version", entries[i].version);
    }
    for (size_t i = 0; i < why.count; i++)
        OUTCOME("%s:%u %s\n", why.items[i].code, why.items[i].line,
                why.items[i].message.p);
    if (!str_eq(changelog_latest(text), count ? entries[0].version : STR("")))
        abort();
    return 0;
}
