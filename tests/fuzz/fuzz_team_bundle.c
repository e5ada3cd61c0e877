/* Bundles of a team store: whatever the file is, reading it ends, and what comes
 * out has the digest that its name in the file says. [row 30, S4]. */

#include "base/fs.h"
#include "mapm/team_bundle.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(const struct team_bundle *b, struct arena *a)
{
    struct str lock;
    struct err e = {0};

    for (size_t i = 0; i < b->names.count; i++) {
        struct str name = b->names.entries[i].key;
        enum team_found found;
        struct hash digest;
        struct buf out;

        buf_init(&out, TEAM_OBJECT_MAX_BYTES);
        if (team_bundle_get(b, name, NULL, &out, &found, &e)) {
            digest = hash_of(buf_str(&out));
            if (found != TEAM_IS_READ ||
                !team_bundle_get(b, name, &digest, &out, &found, &e) ||
                found != TEAM_IS_KNOWN)
                abort();
        }
        outcome_str("object", name);
        OUTCOME("%d %zu\n", (int)found, out.n);
        buf_done(&out);
    }
    if (team_bundle_lock(b, a, &lock, &e) != b->has_lock && e.code == ERR_NONE)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct team_bundle b;
    struct err e = {0};
    int fd = memfd_create("bundle", MFD_CLOEXEC);

    if (fd < 0 || !fs_write_all(fd, str_make((const char *)data, size), &e))
        abort();
    if (team_bundle_open(fd, &a, &b, &e))
        read_all(&b, &a);
    else
        outcome_err(&e);
    close(fd);
    arena_done(&a);
    return 0;
}
