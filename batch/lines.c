#include "base/buf.h"

#include <errno.h>
#include <unistd.h>

#include "input.h"

/* Reads the lines of a file that may be larger than memory. */

#define BLOCK_BYTES (256u * 1024)

struct lines {
    int fd;
    const struct batch_each_line *each;
    struct buf block; /* bytes from the start of a line on */
    uint64_t offset;  /* offset of `block` in the file */
    unsigned number;
};

static bool take_line(struct lines *l, struct str line, uint64_t offset,
                      struct err *e)
{
    struct str text = line;

    if (l->number == UINT32_MAX)
        return err_set(e, ERR_LIMIT, "too many lines");
    l->number++;
    if (str_ends(text, STR("\r")))
        text.n--;
    if (!str_trim(text).n)
        return true;
    return l->each->take(l->each->ctx, text, l->number, offset, e);
}

/* Takes all complete lines and moves the rest to the start of the block. */
static bool take_lines(struct lines *l, struct err *e)
{
    struct str rest = buf_str(&l->block);
    size_t taken = 0, n;

    while ((n = str_find_char(rest, '\n')) != SIZE_MAX) {
        if (!take_line(l, str_slice(rest, 0, n), l->offset + taken, e))
            return false;
        taken += n + 1;
        rest = str_from_index(rest, n + 1);
    }
    if (rest.n > l->each->max_bytes)
        return err_set(e, ERR_LIMIT, "line %u has more than %zu bytes",
                       l->number + 1, l->each->max_bytes);
    memmove(l->block.p, rest.p, rest.n);
    l->block.n = rest.n;
    l->offset += taken;
    return true;
}

static bool read_lines(struct lines *l, struct err *e)
{
    for (;;) {
        char *p = buf_reserve(&l->block, BLOCK_BYTES);
        ssize_t n =
            pread(l->fd, p, BLOCK_BYTES, (off_t)(l->offset + l->block.n));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(e, "read");
        if (n == 0)
            break;
        l->block.n += (size_t)n;
        if (!take_lines(l, e))
            return false;
    }
    return !l->block.n || take_line(l, buf_str(&l->block), l->offset, e);
}

bool batch_each_line(int fd, const struct batch_each_line *each, struct err *e)
{
    struct lines l = {.fd = fd, .each = each};
    bool ok;

    buf_init(&l.block, each->max_bytes + 2 * BLOCK_BYTES);
    ok = read_lines(&l, e);
    buf_done(&l.block);
    return ok;
}

bool batch_read_at(int fd, uint64_t offset, size_t length, struct arena *a,
                   struct str *out, struct err *e)
{
    char *p = arena_alloc(a, length + 1);
    size_t n = 0;

    while (n < length) {
        ssize_t got = pread(fd, p + n, length - n, (off_t)(offset + n));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(e, "read");
        if (got == 0)
            return err_set(e, ERR_EDITED, "it is shorter than it was");
        n += (size_t)got;
    }
    *out = str_make(p, length);
    return true;
}
