#include "base/hash.h"

#include <string.h>

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

void blob_drop_text(struct blob *b)
{
    heap_free(b->text);
    b->text = NULL;
}

/* Uses the heap: a thousand manifests take megabytes, and each is sent once. */
static void copy_text(struct blob *b, struct str text)
{
    char *copy = heap_alloc(text.n + 1);

    if (text.n)
        memcpy(copy, text.p, text.n);
    blob_drop_text(b);
    b->text = copy;
    b->text_size = text.n;
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
    /* The text is needed at once, and its file may not be written yet. */
    if (b->is_manifest)
        copy_text(b, bytes);
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
    if (q->with_text)
        copy_text(b, q->text);
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
        blobs[i]->state = BLOB_MISSING; /* query each blob only once */
    }
    if (n && !link_find_blobs(&r->session->link, q, n, &a, e))
        return false;
    for (size_t i = 0; i < n; i++)
        take_answer(blob_get(r, &q[i].id), &q[i]);
    return true;
}

bool blob_read(struct repo *r, struct blob *b, struct arena *a,
               struct str *text, struct err *e)
{
    if (b->text) {
        *text = str_make(b->text, b->text_size);
        return true;
    }
    if (b->state == BLOB_STORED)
        return err_set(e, ERR_NOT_FOUND, "the text is not available");
    return parts_read(&r->session->parts, &b->hash, b->offset, b->size, a, text,
                      e);
}
