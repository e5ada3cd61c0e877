#include "base/hash.h"

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

bool blob_arrived(struct repo *r, struct blob *b, struct str bytes,
                  struct err *e)
{
    struct hash h = hash_of(bytes);

    if (!parts_put(&r->session->parts, &h, bytes, &b->offset, e))
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
    if (b->state == BLOB_STORED || b->text.p) {
        *text = b->text;
        return true;
    }
    return parts_read(&r->session->parts, &b->hash, b->offset, b->size, a, text,
                      e);
}
