#include "notes.h"

#include "base/fs.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "draft.h"
#include "store_internal.h"

#define BLOCK_BYTES (256u * 1024)
/* Maximum size of a block, and of one note. */
#define BLOCK_MAX_BYTES (64u * 1024 * 1024)

/* Header of a note in a block, followed by its texts. */
struct note_head {
    unsigned which;
    unsigned kind;
    uint64_t size;
    struct hash hash;
    size_t text[NOTE_MAX_TEXTS];
};

void notes_init(struct notes *n)
{
    *n = (struct notes){.fd = -1};
    buf_init(&n->block, BLOCK_MAX_BYTES);
}

void notes_done(struct notes *n)
{
    fs_close(&n->fd);
    buf_done(&n->block);
    notes_init(n);
}

bool notes_are_empty(const struct notes *n)
{
    return n->block.n == 0 && n->fd < 0 && !n->problem.code;
}

static bool open_file(struct notes *n, int dirfd, struct err *e)
{
    char name[40];

    if (n->fd >= 0)
        return true;
    object_unique_name(name, sizeof name, "notes");
    n->fd = fs_openat(dirfd, name,
                      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return (n->fd >= 0 && unlinkat(dirfd, name, 0) == 0) ||
           err_errno(e, "create store/incoming/%s", name);
}

/* The file contains blocks, each preceded by its length. */
static bool write_block(struct notes *n, int dirfd, struct err *e)
{
    struct str size = {(const char *)&n->block.n, sizeof n->block.n};

    if (!open_file(n, dirfd, e) || !fs_write_all(n->fd, size, e) ||
        !fs_write_all(n->fd, buf_str(&n->block), e))
        return err_wrap(e, "write what the index is to hold");
    n->written += sizeof n->block.n + n->block.n;
    buf_clear(&n->block);
    return true;
}

void notes_add(struct notes *n, int dirfd, const struct note *note)
{
    struct note_head head = {
        note->which, note->kind, note->size, note->hash, {0}};

    if (n->problem.code ||
        (n->block.n >= BLOCK_BYTES && !write_block(n, dirfd, &n->problem)))
        return;
    for (size_t i = 0; i < NOTE_MAX_TEXTS; i++)
        head.text[i] = note->text[i].n;
    buf_append(&n->block, str_make((const char *)&head, sizeof head));
    for (size_t i = 0; i < NOTE_MAX_TEXTS; i++)
        buf_append(&n->block, note->text[i]);
    if (!buf_check(&n->block, "what the index is to hold", &n->problem))
        buf_clear(&n->block);
}

typedef bool put_note(void *ctx, const struct note *note, struct err *e);

/* The lengths in the block need no check, because this process wrote it. */
static bool read_block(struct str block, put_note *put, void *ctx,
                       struct err *e)
{
    struct note_head head;
    struct note note;

    while (block.n) {
        memcpy(&head, block.p, sizeof head);
        block = str_from_index(block, sizeof head);
        note = (struct note){
            head.which, head.kind, head.size, head.hash, {{NULL, 0}}};
        for (size_t i = 0; i < NOTE_MAX_TEXTS; i++) {
            note.text[i] = str_slice(block, 0, head.text[i]);
            block = str_from_index(block, head.text[i]);
        }
        if (!put(ctx, &note, e))
            return false;
    }
    return true;
}

/* Reads the block at offset `*at` of the file. */
static bool read_file(int fd, uint64_t *at, struct buf *block, struct err *e)
{
    size_t size;
    char *bytes;

    buf_clear(block);
    if (!pread_all(fd, (char *)&size, sizeof size, *at, e))
        return false;
    bytes = buf_reserve(block, size);
    if (!bytes)
        return buf_check(block, "what the index is to hold", e);
    if (!pread_all(fd, bytes, size, *at + sizeof size, e))
        return false;
    block->n = size;
    *at += sizeof size + size;
    return true;
}

bool notes_each(struct notes *n, put_note *put, void *ctx, struct err *e)
{
    CLEANUP(buf_done) struct buf block = {0};
    uint64_t at = 0;

    if (n->problem.code) {
        *e = n->problem;
        return false;
    }
    buf_init(&block, BLOCK_MAX_BYTES);
    while (at < n->written)
        if (!read_file(n->fd, &at, &block, e) ||
            !read_block(buf_str(&block), put, ctx, e))
            return false;
    return read_block(buf_str(&n->block), put, ctx, e);
}
