/* Commits and tags: [row 30]. */

#include <stdlib.h>

#include "../../fetch/worker/objects.h"
#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct err e;
    struct str bytes = str_make((const char *)data, size);
    size_t at = 0, before;
    struct oid id = {{0}};

    bool found = commit_tree(bytes, &id, &e);

    if (found)
        OUTCOME("tree %02x\n", id.b[0]);
    else if (e.code == ERR_DAMAGED)
        outcome_err(&e);
    else
        abort();
    do {
        before = at;
        found = commit_next_parent(bytes, &at, &id);
        OUTCOME("parent %d %02x\n", found, id.b[0]);
    } while (found && at > before && at <= bytes.n);
    if (at > bytes.n && before)
        abort();
    OUTCOME("%d\n", blob_is_lfs_pointer(bytes));
    return 0;
}
