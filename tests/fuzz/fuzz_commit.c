/* Commits and tags: [row 30]. */

#include <stdlib.h>

#include "../../fetch/worker/objects.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct err e;
    struct str bytes = str_make((const char *)data, size);
    size_t at = 0, before;
    struct oid id;

    if (!commit_tree(bytes, &id, &e) && e.code != ERR_DAMAGED)
        abort();
    do {
        before = at;
    } while (commit_next_parent(bytes, &at, &id) && at > before &&
             at <= bytes.n);
    if (at > bytes.n && before)
        abort();
    blob_is_lfs_pointer(bytes);
    return 0;
}
