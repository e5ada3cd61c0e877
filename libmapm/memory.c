#include "base/arena.h"

#include <stdlib.h>

#include "mapm.h"

/* Implements heap_exhausted() of base for the process of a host, in place of
 * base/exhausted.c. */

static void (*on_exhausted)(void);

void mapm_on_out_of_memory(void (*callback)(void))
{
    on_exhausted = callback;
}

void heap_exhausted(void)
{
    if (on_exhausted)
        on_exhausted();
    abort();
}
