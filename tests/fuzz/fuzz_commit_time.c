/* When the commit was made whose trees the store has. [G7] */

#include "mapm/fetch.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t seconds = 1;

    if (fetch_commit_time(str_make((const char *)data, size), &seconds) &&
        seconds > 253402300799u)
        abort();
    return 0;
}
