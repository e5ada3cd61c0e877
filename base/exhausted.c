#include "base/arena.h"

#include <unistd.h>

void heap_exhausted(void)
{
    static const char text[] = "mapm: out of memory\n";

    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) {
        /* stderr is closed or full: the exit code is the message. */
    }
    _exit(1);
}
