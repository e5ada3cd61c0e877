#include "base/fs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packs.h"

/* Copies the object of the row to the draft without reading it. */
static bool pack_copy(const struct pack *p, const struct pack_row *row,
                      struct draft *d, struct err *e)
{
    CLEANUP_HEAP char *bytes = heap_resize(NULL, PACK_OBJECT_MAX_BYTES);

    return pread_all(p->fd, bytes, row->size, row->offset, e) &&
           draft_add(d, &row->hash, str_make(bytes, row->size), e);
}

void packs_stats(struct store *s, struct store_stats *stats)
{
    packs_scan(s);
    for (const struct pack *p = s->packs; p; p = p->next)
        for (size_t i = 0; i < p->index.count; i++)
            if (!p->gone[i]) {
                stats->objects++;
                stats->bytes += pack_row(&p->index, i).size;
            }
}

/* --- verify --------------------------------------------------------------- */

static bool is_intact(const struct packed *at, char *bytes, size_t *read)
{
    struct err ignored = {0};
    struct hash found;

    *read = 0;
    /* A read error of the disk (EIO) counts as damage. */
    if (!packs_read(at, bytes, &ignored))
        return false;
    *read = at->row.size;
    found = hash_of(str_make(bytes, at->row.size));
    return hash_eq(&found, &at->row.hash);
}

static void verify_row(struct store *s, struct pack *p, size_t i,
                       void (*bad)(void *ctx, const char *hex), void *ctx,
                       struct store_stats *stats)
{
    CLEANUP_HEAP char *bytes = heap_resize(NULL, PACK_OBJECT_MAX_BYTES);
    char hex[HASH_HEX_CHARS + 1];
    struct packed at = {p, i, pack_row(&p->index, i)};
    size_t n;

    stats->objects++;
    if (is_intact(&at, bytes, &n))
        return;
    packs_set_aside(s, &at, str_make(bytes, n));
    stats->damaged++;
    hash_format(&at.row.hash, hex);
    if (bad)
        bad(ctx, hex);
}

void packs_verify(struct store *s, void (*bad)(void *ctx, const char *hex),
                  void *ctx, struct store_stats *stats)
{
    unsigned before = store_damaged(s);

    packs_scan(s);
    /* A file that is no valid pack was set aside when it was opened. */
    stats->damaged += store_damaged(s) - before;
    for (struct pack *p = s->packs; p; p = p->next)
        for (size_t i = 0; i < p->index.count; i++)
            if (!p->gone[i])
                verify_row(s, p, i, bad, ctx, stats);
}

/* --- gc ------------------------------------------------------------------- */

static bool is_kept(const struct map *kept, const struct pack *p, size_t i,
                    const struct pack_row *row)
{
    return !p->gone[i] && map_has(kept, str_make((const char *)row->hash.b,
                                                 sizeof row->hash.b));
}

/* Returns the number of rows to keep, and adds the others to `removed`. */
static size_t count_kept(const struct pack *p, const struct map *kept,
                         struct store_stats *removed)
{
    size_t n = 0;

    for (size_t i = 0; i < p->index.count; i++) {
        struct pack_row row = pack_row(&p->index, i);

        if (is_kept(kept, p, i, &row)) {
            n++;
        } else if (!p->gone[i]) {
            removed->objects++;
            removed->bytes += row.size;
        }
    }
    return n;
}

/* Copies the objects to keep to a new pack with the modification time of the
 * old one. */
static bool rewrite(struct store *s, const struct pack *p,
                    const struct map *kept, struct err *e)
{
    CLEANUP(draft_drop) struct draft d;
    const struct timespec times[2] = {{.tv_nsec = UTIME_NOW},
                                      {.tv_sec = p->modified}};

    draft_init(&d, s->incoming_fd);
    for (size_t i = 0; i < p->index.count; i++) {
        struct pack_row row = pack_row(&p->index, i);

        if (is_kept(kept, p, i, &row) && !pack_copy(p, &row, &d, e))
            return false;
    }
    if (!packs_take(s, &d, e))
        return false;
    if (futimens(s->packs->fd, times) < 0)
        return err_errno(e, "set the time of a pack");
    s->packs->modified = p->modified;
    return fs_sync(s->packs->fd, "a pack", e);
}

static bool collect_pack(struct store *s, struct pack *p,
                         const struct map *kept, bool dry_run,
                         struct store_stats *removed, struct err *e)
{
    size_t count = count_kept(p, kept, removed);

    if (dry_run || count == p->index.count)
        return true;
    return (count == 0 || rewrite(s, p, kept, e)) && packs_remove(s, p, e);
}

bool packs_collect(struct store *s, const struct map *kept, time_t older_than,
                   bool dry_run, struct store_stats *removed, struct err *e)
{
    struct pack *next;

    packs_scan(s);
    for (struct pack *p = s->packs; p; p = next) {
        next = p->next;
        if (p->modified <= older_than &&
            !collect_pack(s, p, kept, dry_run, removed, e))
            return err_wrap(e, "cannot clean a pack");
    }
    return true;
}

/* --- merging -------------------------------------------------------------- */

static int by_bytes(const void *x, const void *y)
{
    const struct pack *a = *(struct pack *const *)x;
    const struct pack *b = *(struct pack *const *)y;

    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* Adds objects to the draft up to the size of a pack; returns their number. */
static bool merge_into(struct draft *d, struct pack **packs, size_t count,
                       size_t *merged, struct err *e)
{
    size_t rows = 0;

    for (*merged = 0; *merged < count; ++*merged) {
        const struct pack *p = packs[*merged];

        rows += p->index.count;
        if (rows > PACK_MAX_OBJECTS)
            break;
        for (size_t i = 0; i < p->index.count; i++) {
            struct pack_row row = pack_row(&p->index, i);

            if (!p->gone[i] && !pack_copy(p, &row, d, e))
                return false;
        }
    }
    return true;
}

bool packs_merge(struct store *s, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(draft_drop) struct draft d;
    struct pack **packs = NULL;
    size_t count = 0, capacity = 0, merged;

    draft_init(&d, s->incoming_fd);
    for (struct pack *p = s->packs; p; p = p->next) {
        packs = arena_grow(&a, packs, count, &capacity, sizeof *packs);
        packs[count++] = p;
    }
    if (count <= PACKS_MAX)
        return true;
    qsort(packs, count, sizeof *packs, by_bytes);
    if (!merge_into(&d, packs, count / 2, &merged, e))
        return false;
    if (merged < 2 || d.rows.count == 0)
        return true;
    if (!packs_take(s, &d, e) || !fs_sync(s->packs->fd, "a pack", e))
        return false;
    for (size_t i = 0; i < merged; i++)
        if (strcmp(packs[i]->name, s->packs->name) != 0 &&
            !packs_remove(s, packs[i], e))
            return false;
    return true;
}
