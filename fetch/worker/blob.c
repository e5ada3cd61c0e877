#include "base/fs.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "session.h"

struct blob *blob_get(struct repo *r, const struct oid *id)
{
    struct str key = oid_key(id);
    struct blob *b = map_find(&r->blobs, key);

    if (b)
        return b;
    b = arena_new(&r->arena, struct blob);
    b->id = *id;
    map_put(&r->blobs, oid_key(&b->id), b);
    return b;
}

/* Named by its hash: the same content twice is one file, written once. */
static bool write_file(struct session *s, const struct hash *h,
                       struct str bytes, struct err *e)
{
    CLEANUP_FD int fd = -1;
    char name[HASH_HEX_CHARS + 1];

    hash_format(h, name);
    fd = fs_openat(s->incoming, name,
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
    if (fd < 0 && errno == EEXIST)
        return true;
    if (fd < 0)
        return err_errno(e, "write what is fetched");
    if (fs_write_all(fd, bytes, e))
        return true;
    unlinkat(s->incoming, name, 0);
    return err_wrap(e, "write what is fetched");
}

bool blob_arrived(struct repo *r, struct blob *b, struct str bytes,
                  struct err *e)
{
    struct hash h = hash_of(bytes);

    if (!write_file(r->session, &h, bytes, e))
        return false;
    b->hash = h;
    b->size = bytes.n;
    b->is_lfs = blob_is_lfs_pointer(bytes);
    /* The other side takes the file away as soon as it knows of it, and two
     * packages may share one text. */
    if (b->is_manifest)
        b->text = arena_str(&r->arena, bytes);
    b->state = BLOB_HERE;
    return true;
}

static void take_answer(struct blob *b, const struct link_blob *q)
{
    if (!q->found) {
        b->state = BLOB_MISSING;
        return;
    }
    b->hash = q->hash;
    b->size = q->size;
    b->text = q->text;
    b->state = BLOB_STORED;
}

bool blobs_look_up(struct repo *r, struct blob **blobs, size_t count,
                   struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct link_blob *q = arena_array(&a, count, sizeof *q);
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (blobs[i]->state != BLOB_NEW)
            continue;
        q[n++] = (struct link_blob){.id = blobs[i]->id,
                                    .with_text = blobs[i]->is_manifest};
        blobs[i]->state = BLOB_MISSING; /* asked for once */
    }
    if (n && !link_find_blobs(&r->session->link, q, n, &r->arena, e))
        return false;
    for (size_t i = 0; i < n; i++)
        take_answer(blob_get(r, &q[i].id), &q[i]);
    return true;
}

bool blob_read(struct repo *r, struct blob *b, struct arena *a,
               struct str *text, struct err *e)
{
    char name[HASH_HEX_CHARS + 1];

    if (b->state == BLOB_STORED || b->text.p) {
        *text = b->text;
        return true;
    }
    hash_format(&b->hash, name);
    return fs_read_file_at(r->session->incoming, name, FILE_MAX_BYTES, a, text,
                           e);
}
