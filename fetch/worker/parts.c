#include "parts.h"

#include "base/fs.h"
#include "mapm/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define PENDING_MAX_BYTES (256u * 1024)

void parts_init(struct parts *p, int dirfd)
{
    *p = (struct parts){.dirfd = dirfd, .fd = -1};
    buf_init(&p->pending, SIZE_MAX / 2);
    map_init(&p->known, &p->arena);
}

static int create(const struct parts *p, const char *name)
{
    return fs_openat(p->dirfd, name,
                     O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
}

static bool write_file(struct parts *p, const struct hash *h, struct str bytes,
                       struct err *e)
{
    CLEANUP_FD int fd = -1;
    char name[HASH_HEX_CHARS + 1];

    hash_format(h, name);
    fd = create(p, name);
    if (fd < 0)
        return errno == EEXIST || err_errno(e, "write what is fetched");
    if (fs_write_all(fd, bytes, e))
        return true;
    unlinkat(p->dirfd, name, 0);
    return err_wrap(e, "write what is fetched");
}

bool parts_flush(struct parts *p, struct err *e)
{
    char name[32];

    if (p->pending.n == 0)
        return true;
    if (p->fd < 0) {
        snprintf(name, sizeof name, "part-%" PRIu64, p->part);
        p->fd = create(p, name);
        if (p->fd < 0)
            return err_errno(e, "write what is fetched");
    }
    if (!fs_write_all(p->fd, buf_str(&p->pending), e))
        return err_wrap(e, "write what is fetched");
    p->written += p->pending.n;
    buf_clear(&p->pending);
    return true;
}

/* Starts the next part if the content does not fit: no content spans two
 * files. */
static bool make_room(struct parts *p, size_t size, struct err *e)
{
    uint64_t end = p->written + p->pending.n;

    if (end + size > (p->part + 1) * PART_MAX_BYTES) {
        if (!parts_flush(p, e))
            return false;
        fs_close(&p->fd);
        p->part++;
        p->written = p->part * PART_MAX_BYTES;
    }
    return p->pending.n + size <= PENDING_MAX_BYTES || parts_flush(p, e);
}

bool parts_put(struct parts *p, const struct hash *h, struct str bytes,
               uint64_t *offset, struct err *e)
{
    struct str key = str_make((const char *)h->b, sizeof h->b);
    uint64_t *known = map_find(&p->known, key);

    *offset = known ? *known : 0;
    if (known || bytes.n == 0)
        return true;
    if (bytes.n >= PACK_OBJECT_MAX_BYTES)
        return write_file(p, h, bytes, e);
    if (!make_room(p, bytes.n, e))
        return false;
    known = arena_new(&p->arena, uint64_t);
    *known = *offset = p->written + p->pending.n;
    buf_append(&p->pending, bytes);
    map_put(&p->known, arena_str(&p->arena, key), known);
    return true;
}

static bool read_part(struct parts *p, uint64_t offset, uint64_t size,
                      struct arena *a, struct str *bytes, struct err *e)
{
    CLEANUP_FD int fd = -1;
    char name[32], *out = arena_alloc(a, (size_t)size + 1);
    size_t n = 0;

    snprintf(name, sizeof name, "part-%" PRIu64, offset / PART_MAX_BYTES);
    if (!parts_flush(p, e) || !fs_open_file_at(p->dirfd, name, &fd, NULL, e))
        return false;
    if (lseek(fd, (off_t)(offset % PART_MAX_BYTES), SEEK_SET) < 0)
        return err_errno(e, "read %s", name);
    if (!fs_read_upto(fd, out, (size_t)size, &n, e))
        return false;
    *bytes = str_make(out, n);
    return n == size || err_set(e, ERR_IO, "%s is too short", name);
}

bool parts_read(struct parts *p, const struct hash *h, uint64_t offset,
                uint64_t size, struct arena *a, struct str *bytes,
                struct err *e)
{
    char name[HASH_HEX_CHARS + 1];

    *bytes = STR("");
    if (size == 0)
        return true;
    if (size < PACK_OBJECT_MAX_BYTES)
        return read_part(p, offset, size, a, bytes, e);
    hash_format(h, name);
    return fs_read_file_at(p->dirfd, name, FILE_MAX_BYTES, a, bytes, e);
}
