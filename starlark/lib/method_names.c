#include "lib.h"

/* clang-format off */
const char *const sl_method_names[METHOD_COUNT] = {
    "",
#define M(name) #name,
    SL_METHODS(M)
#undef M
};

/* clang-format on */

/* The list is sorted, so a binary search takes at most six comparisons. */
enum sl_method sl_method_number(const char *name, size_t length)
{
    int low = 1, high = METHOD_COUNT - 1;

    while (low <= high) {
        int middle = (low + high) / 2;
        size_t n = strlen(sl_method_names[middle]);
        int order =
            memcmp(name, sl_method_names[middle], n < length ? n : length);
        if (order == 0)
            order = (length > n) - (length < n);
        if (order == 0)
            return (enum sl_method)middle;
        if (order < 0)
            high = middle - 1;
        else
            low = middle + 1;
    }
    return METHOD_NONE;
}
