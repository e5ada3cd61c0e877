#include "ops.h"
star_value star_string(struct star *s, const char *text, size_t length)
{
    return sl_string_new(s, text, length);
}
