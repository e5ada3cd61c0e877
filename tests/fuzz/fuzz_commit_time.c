/* When the commit was made whose trees the store has. [G7] */

#include "mapm/fetch.h"

#include <stdlib.h>

#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t seconds = 1;
    bool has_time =
        fetch_commit_time(str_make((const char *)data, size), &seconds);

    if (has_time && seconds > 253402300799u)
        abort();
    OUTCOME("%d %llu", has_time, (unsigned long long)seconds);
    return 0;
}
