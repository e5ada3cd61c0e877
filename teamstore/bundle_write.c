#include "base/fs.h"
#include "mapm/team_bundle.h"

#include <stdlib.h>
#include <unistd.h>

#include "bundle.h"
#include "tar.h"

#define PIECE_BYTES 65536

void team_bundle_begin(struct team_bundle_writer *w, int scratch)
{
    *w = (struct team_bundle_writer){.scratch = scratch};
}

void team_bundle_done(struct team_bundle_writer *w)
{
    arena_done(&w->arena);
}

static bool add_blob(struct team_bundle_writer *w, struct str bytes,
                     struct hash *digest, struct err *e)
{
    *digest = hash_of(bytes);
    if (!fs_write_all(w->scratch, bytes, e))
        return false;
    w->blobs = arena_grow(&w->arena, w->blobs, w->blob_count, &w->blob_capacity,
                          sizeof *w->blobs);
    w->blobs[w->blob_count++] =
        (struct team_bundle_blob){*digest, w->scratch_bytes, bytes.n};
    w->scratch_bytes += bytes.n;
    return true;
}

static bool add_image(struct team_bundle_writer *w, struct str name,
                      struct str bytes, bool is_lock, struct err *e)
{
    struct hash digest;

    if (!add_blob(w, bytes, &digest, e))
        return false;
    w->images = arena_grow(&w->arena, w->images, w->image_count,
                           &w->image_capacity, sizeof *w->images);
    w->images[w->image_count++] = (struct team_bundle_image){
        arena_str(&w->arena, name), digest, bytes.n, is_lock};
    return true;
}

bool team_bundle_add(struct team_bundle_writer *w, struct str name,
                     struct str manifest, struct str config, struct str layer,
                     struct err *e)
{
    struct hash ignored;

    return add_blob(w, layer, &ignored, e) &&
           add_blob(w, config, &ignored, e) &&
           add_image(w, name, manifest, false, e);
}

void team_bundle_name(struct team_bundle_writer *w, struct str name)
{
    struct team_bundle_image image = w->images[w->image_count - 1];

    image.name = arena_str(&w->arena, name);
    w->images = arena_grow(&w->arena, w->images, w->image_count,
                           &w->image_capacity, sizeof *w->images);
    w->images[w->image_count++] = image;
}

bool team_bundle_add_lock(struct team_bundle_writer *w, struct str lock,
                          struct err *e)
{
    return add_image(w, STR(BUNDLE_LOCK_NAME), lock, true, e);
}

static int by_digest(const void *x, const void *y)
{
    const struct team_bundle_blob *one = x, *two = y;

    return memcmp(one->digest.b, two->digest.b, sizeof one->digest.b);
}

static void sort_all(struct team_bundle_writer *w)
{
    size_t n = 0;

    STR_SORT_BY(w->images, w->image_count, name);
    if (w->blob_count)
        qsort(w->blobs, w->blob_count, sizeof *w->blobs, by_digest);
    for (size_t i = 0; i < w->blob_count; i++)
        if (n == 0 || by_digest(&w->blobs[n - 1], &w->blobs[i]) != 0)
            w->blobs[n++] = w->blobs[i];
    w->blob_count = n;
}

static bool put_head(int fd, struct str path, uint64_t size, struct err *e)
{
    CLEANUP(buf_done) struct buf head;

    buf_init(&head, TAR_HEAD_MAX_BYTES);
    tar_head(path, false, size, &head);
    return fs_write_all(fd, buf_str(&head), e);
}

static bool put_zeros(int fd, size_t n, struct err *e)
{
    static const char zeros[TAR_END_BYTES];

    return fs_write_all(fd, str_make(zeros, n), e);
}

static bool put_text(int fd, struct str path, struct str text, struct err *e)
{
    return put_head(fd, path, text.n, e) && fs_write_all(fd, text, e) &&
           put_zeros(fd, tar_padding(text.n), e);
}

static bool copy_bytes(const struct team_bundle_writer *w,
                       const struct team_bundle_blob *b, int fd, struct err *e)
{
    char piece[PIECE_BYTES];

    for (uint64_t at = 0; at < b->size;) {
        uint64_t left = b->size - at;
        ssize_t n = pread(w->scratch, piece,
                          left < sizeof piece ? (size_t)left : sizeof piece,
                          (off_t)(b->offset + at));

        if (n <= 0)
            return err_errno(e, "read what the bundle is made of");
        if (!fs_write_all(fd, str_make(piece, (size_t)n), e))
            return false;
        at += (uint64_t)n;
    }
    return true;
}

static bool put_blob(const struct team_bundle_writer *w,
                     const struct team_bundle_blob *b, int fd, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};

    return put_head(fd, bundle_blob_path(&b->digest, &a), b->size, e) &&
           copy_bytes(w, b, fd, e) && put_zeros(fd, tar_padding(b->size), e);
}

bool team_bundle_end(struct team_bundle_writer *w, int fd, struct err *e)
{
    CLEANUP(buf_done) struct buf index = {0};

    if (w->image_count > TEAM_BUNDLE_MAX_IMAGES)
        return err_set(e, ERR_LIMIT, "a bundle has at most %d objects",
                       TEAM_BUNDLE_MAX_IMAGES);
    sort_all(w);
    buf_init(&index, TEAM_INDEX_MAX_BYTES);
    bundle_write_index(w->images, w->image_count, &index);
    if (!buf_check(&index, "the index of the bundle", e))
        return false;
    for (size_t i = 0; i < w->blob_count; i++)
        if (!put_blob(w, &w->blobs[i], fd, e))
            return false;
    return put_text(fd, STR(BUNDLE_INDEX), buf_str(&index), e) &&
           put_text(fd, STR(BUNDLE_LAYOUT), STR(BUNDLE_LAYOUT_TEXT), e) &&
           put_zeros(fd, TAR_END_BYTES, e);
}
