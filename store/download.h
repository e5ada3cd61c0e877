#ifndef STORE_DOWNLOAD_H
#define STORE_DOWNLOAD_H

#include "base/buf.h"

#include "store_internal.h"

/* download: locks of repositories, and the answers of their last holders. */

enum download_state {
    DOWNLOAD_NONE,   /* not locked (any more) */
    DOWNLOAD_LOCKED, /* by this process */
    DOWNLOAD_ALONE,  /* without the lock: another process holds it */
};

struct download {
    enum download_state state;
    int fd;
    uint64_t since_ns; /* when the lock was taken, CLOCK_BOOTTIME */
    bool has_lines;
    struct buf lines; /* answers to publish */
    bool has_read;
    struct map told; /* ref and path -> its commit: of the last holder */
    struct arena arena;
};

uint64_t download_now_ns(void);

/* The answers in `text`, a lock file's content, by ref and path, each a
 * `struct str`, the commit. None when it is malformed, damaged, of another
 * boot or from before `since_ns`. Borrowed from `text`. */
void download_read(struct str text, struct str boot, uint64_t since_ns,
                   struct arena *a, struct map *told);

/* An answer of the host that is put into the index now. */
void download_note_ref(struct store *s, struct str repository, struct str rest,
                       struct str commit);

/* The index holds the noted answers: writes them down, releases the locks. */
void downloads_publish(struct store *s);

#endif
