#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "draft.h"
#include "store_internal.h"

void object_unique_name(char *out, size_t size, const char *stem)
{
    uint64_t random = 0;

    if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
        random = (uint64_t)(uintptr_t)out;
    snprintf(out, size, "%s.%ld.%08x", stem, (long)getpid(),
             (unsigned)(random & 0xffffffffu));
}

bool pread_all(int fd, char *out, size_t n, uint64_t offset, struct err *e)
{
    size_t done = 0;

    while (done < n) {
        ssize_t got = pread(fd, out + done, n - done, (off_t)(offset + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(e, "read a pack of the store");
        if (got == 0)
            return err_set(e, ERR_DAMAGED, "a pack of the store is too short");
        done += (size_t)got;
    }
    return true;
}
