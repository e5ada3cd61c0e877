#ifndef STORE_DOWNLOAD_H
#define STORE_DOWNLOAD_H

#include "base/buf.h"

#include "store_internal.h"

/* download: per-repository locks, and the resolved refs that the last holder of
 * each lock left for other processes. */

enum download_state {
    DOWNLOAD_NONE,   /* not locked */
    DOWNLOAD_LOCKED, /* by this process */
    DOWNLOAD_ALONE,  /* downloads without the lock, which another process
                      * holds */
};

struct download {
    enum download_state state;
    int fd;
    uint64_t since_ns; /* when the lock was taken, CLOCK_BOOTTIME */
    bool has_lines;
    struct buf lines; /* resolved refs to publish */
    bool has_read;
    struct map told; /* ref and path -> commit, as resolved by the last
                      * holder */
    struct arena arena;
};

uint64_t download_now_ns(void);

/* Fills the map with the refs resolved in `text`, the content of a lock
 * file: ref and path -> commit, a `struct str` borrowed from `text`. Adds
 * nothing if the text is malformed, damaged, from another boot or older than
 * `since_ns`. */
void download_read(struct str text, struct str boot, uint64_t since_ns,
                   struct arena *a, struct map *told);

/* Records a ref that the host resolved and that is being added to the index. */
void download_note_ref(struct store *s, struct str repository, struct str rest,
                       struct str commit);

/* Writes the recorded refs to the lock files and releases the locks. Call it
 * after the index contains them. */
void downloads_publish(struct store *s);

#endif
