/* A netrc file: read to its end, whatever is in it. THREATS row 15. */
#include <stdlib.h>

#include "../../fetch/worker/secrets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str rest = str_of((const char *)data, size < 4096 ? size : 4096);
    struct netrc_entry entry;

    while (rest.n) {
        size_t before = rest.n;

        if (!netrc_next(&rest, &a, &entry))
            break;
        if (rest.n >= before)
            abort(); /* it would never end */
    }
    return 0;
}
