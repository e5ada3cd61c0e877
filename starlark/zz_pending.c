#include "vm.h"

/* Stands in for parts that are not there yet; each goes when its part comes. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define PENDING __attribute__((weak))
#define ABSENT  return sl_fail(s, "not there yet")

PENDING const char *sl_nearest(const char *name, const char *const *names,
                               size_t count)
{
    return NULL;
}
PENDING bool sl_parse(struct star *s, struct sl_arena *a, struct sl_file *file)
{
    ABSENT;
}
PENDING bool sl_resolve(struct star *s, struct sl_arena *a,
                        struct sl_file *file)
{
    ABSENT;
}
