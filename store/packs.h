#ifndef STORE_PACKS_H
#define STORE_PACKS_H

#include "draft.h"
#include "store_internal.h"

/*
 * packs: the packs of a store, looked at when they are needed.
 *
 *     store/packs/<64 hex>.pack   pack.h; written once, under that name whole
 *     store/packs/<64 hex>.bad    hashes of its objects that were found
 *                                 damaged, 32 bytes each: absent from then on
 *
 * A removed file stays readable for processes that have it open: so packs are
 * merged while others read. A reader that does not find a listed pack lists
 * the folder again. find, read and set_aside are thread-safe.
 */

#define PACK_NAME_CHARS (HASH_HEX_CHARS + 5) /* ".pack" */

struct pack {
    struct arena arena;
    struct pack_index index;
    uint64_t bytes; /* size of the contents */
    time_t modified;
    int fd;
    char name[PACK_NAME_CHARS + 1];
    bool *gone; /* per row: true if the object was found damaged */
    struct pack *next;
};

struct packed {
    struct pack *pack;
    size_t at;
    struct pack_row row;
};

/* Opens packs that were added to the folder. Errors are not reported, because
 * objects that cannot be found are fetched. */
void packs_scan(struct store *s);
/* Makes the next search list the folder first, because another process may have
 * added packs. */
void packs_rescan(struct store *s);
void packs_close(struct store *s);

bool packs_find(struct store *s, const struct hash *h, struct packed *out);
/* Reads an object without hashing it. ERR_DAMAGED if the file is too short. */
MUST_CHECK bool packs_read(const struct packed *at, char *out, struct err *e);
/* Marks an object as damaged after its bytes did not match its hash, and writes
 * `bytes` to damaged/. */
void packs_set_aside(struct store *s, const struct packed *at,
                     struct str bytes);

/* Finishes the draft and adds it as a pack. Merges packs if there are too
 * many. */
MUST_CHECK bool packs_take(struct store *s, struct draft *d, struct err *e);

/* packs_upkeep.c */
void packs_stats(struct store *s, struct store_stats *stats);
void packs_verify(struct store *s, void (*bad)(void *ctx, const char *hex),
                  void *ctx, struct store_stats *stats);
/* Removes unreachable objects from packs older than that; requires the
 * exclusive lock. */
MUST_CHECK bool packs_collect(struct store *s, const struct map *kept,
                              time_t older_than, bool dry_run,
                              struct store_stats *removed, struct err *e);
MUST_CHECK bool packs_merge(struct store *s, struct err *e);

/* Removes the files of the pack and closes it. */
MUST_CHECK bool packs_remove(struct store *s, struct pack *p, struct err *e);

#endif
