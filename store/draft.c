#include "draft.h"

#include "base/fs.h"
#include "base/invariant.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "store_internal.h"

#define PENDING_BYTES (256u * 1024)

void draft_init(struct draft *d, int dirfd)
{
    *d = (struct draft){.dirfd = dirfd, .fd = -1};
    buf_init(&d->pending, SIZE_MAX / 2);
    map_init(&d->rows, &d->arena);
}

void draft_drop(struct draft *d)
{
    fs_close(&d->fd);
    if (d->name[0])
        unlinkat(d->dirfd, d->name, 0);
    d->name[0] = '\0';
    buf_done(&d->pending);
    arena_done(&d->arena);
}

static bool write_pending(struct draft *d, struct err *e)
{
    if (d->fd < 0) {
        object_unique_name(d->name, sizeof d->name, "pack");
        d->fd =
            fs_openat(d->dirfd, d->name,
                      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
        if (d->fd < 0) {
            d->name[0] = '\0';
            return err_errno(e, "create a pack");
        }
        if (fchmod(d->fd, 0444) < 0)
            return err_errno(e, "set the mode of a pack");
    }
    if (!fs_write_all(d->fd, buf_str(&d->pending), e))
        return err_wrap(e, "write a pack");
    d->written += d->pending.n;
    buf_clear(&d->pending);
    return true;
}

static struct str key_of(const struct hash *h)
{
    return str_make((const char *)h->b, sizeof h->b);
}

bool draft_add(struct draft *d, const struct hash *h, struct str content,
               struct err *e)
{
    struct pack_row *row;

    INVARIANT(content.n < PACK_OBJECT_MAX_BYTES);
    if (draft_find(d, h))
        return true;
    if (d->pending.n + content.n > PENDING_BYTES && !write_pending(d, e))
        return false;
    row = arena_new(&d->arena, struct pack_row);
    *row = (struct pack_row){
        .hash = *h,
        .offset = d->written + d->pending.n,
        .size = (uint32_t)content.n,
    };
    buf_append(&d->pending, content);
    map_put(&d->rows, key_of(&row->hash), row);
    return true;
}

const struct pack_row *draft_find(const struct draft *d, const struct hash *h)
{
    return map_find(&d->rows, key_of(h));
}

void draft_forget(struct draft *d, const struct hash *h)
{
    if (draft_find(d, h))
        map_put(&d->rows, key_of(h), NULL);
}

bool draft_read(const struct draft *d, const struct pack_row *row, char *out,
                struct err *e)
{
    INVARIANT(row->offset + row->size <= d->written + d->pending.n);
    INVARIANT(row->offset >= d->written ||
              row->offset + row->size <= d->written);
    if (row->offset < d->written)
        return pread_all(d->fd, out, row->size, row->offset, e);
    if (row->size)
        memcpy(out, d->pending.p + (row->offset - d->written), row->size);
    return true;
}

size_t draft_count(const struct draft *d)
{
    size_t n = 0;

    for (size_t i = 0; i < d->rows.count; i++)
        n += d->rows.entries[i].value != NULL;
    return n;
}

struct pack_row *draft_rows(const struct draft *d, struct arena *a,
                            size_t *count)
{
    struct pack_row *rows = arena_array(a, d->rows.count, sizeof *rows);

    *count = 0;
    for (size_t i = 0; i < d->rows.count; i++) {
        const struct pack_row *row = d->rows.entries[i].value;

        if (row)
            rows[(*count)++] = *row;
    }
    return rows;
}

bool draft_finish(struct draft *d, struct pack_row *rows, size_t count,
                  struct arena *a, struct str *index, struct err *e)
{
    /* With many objects the rows take megabytes, so free those of the draft
     * before allocating the index. */
    if (!write_pending(d, e))
        return false;
    arena_done(&d->arena);
    map_init(&d->rows, &d->arena);
    (void)buf_reserve(&d->pending, count * PACK_ROW_BYTES + PACK_END_BYTES);
    pack_format(rows, count, &d->pending);
    *index = arena_str(a, buf_str(&d->pending));
    return write_pending(d, e);
}
