/* A package's listing: what is read is written again byte for byte, and no
 * path in it leads out of the package. [row 1, row 26]; DESIGN 3.2. */
#include "base/fs.h"
#include "mapm/store.h"

#include <stdlib.h>

#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str text = str_make((const char *)data, size), again;
    struct package_file *files;
    struct err e = {0};
    size_t count;

    if (!store_listing_parse(text, &a, &files, &count, &e)) {
        outcome_err(&e);
        if (e.code != ERR_FORMAT && e.code != ERR_LIMIT)
            abort();
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        if (!fs_path_is_relative_clean(files[i].path))
            abort();
    store_listing_format(files, count, &a, &again);
    if (!str_eq(text, again))
        abort();
    return 0;
}
