/* A lock file of a repository, with the answers of its last holder: what is
 * found was there, for this boot, in time. [F11] */
#include "base/buf.h"

#include <stdlib.h>

#include "../../store/download.h"
#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str text = str_make((const char *)data, size);
    struct str boot = STR("0f8b6a1e-58d5-4a4e-9b2e-1f3a0c9d7e11");
    const struct str *commit;
    struct map told;

    download_read(text, boot, 1000, &a, &told);
    commit = map_find(&told, STR("main/skills/pdf"));
    if (commit == NULL)
        return 0;
    outcome_str("commit", *commit);
    if (commit->p < text.p || commit->p + commit->n > text.p + text.n ||
        str_find(text, STR(" main/skills/pdf")) == SIZE_MAX ||
        str_find(text, boot) == SIZE_MAX)
        abort();
    return 0;
}
