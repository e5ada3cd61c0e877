#include "base/arena.h"

#include <stdlib.h>

#include "mapm.h"

/* base's heap_exhausted() in a process of a host: base/exhausted.c is for
 * programs of mapm. */

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
