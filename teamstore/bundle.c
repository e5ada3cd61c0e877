#include "bundle.h"

#include "base/digest.h"
#include "base/json.h"

#define REF_NAME "org.opencontainers.image.ref.name"

struct str bundle_blob_path(const struct hash *digest, struct arena *a)
{
    return str_join(STR(BUNDLE_BLOBS), hash_hex(digest, a), a);
}

static void write_entry(const struct team_bundle_image *image,
                        struct json_writer *w)
{
    CLEANUP(arena_done) struct arena a = {0};

    json_begin_object(w);
    json_member_string(w, "mediaType",
                       image->is_lock ? STR(TEAM_LOCK_TYPE)
                                      : STR(TEAM_MANIFEST_TYPE));
    json_member_string(w, "digest", digest_format(&image->digest, &a));
    json_member_number(w, "size", image->size);
    json_member_object(w, "annotations");
    json_member_string(w, REF_NAME, image->name);
    json_end_object(w);
    if (image->is_lock)
        json_member_string(w, "artifactType", STR(TEAM_LOCK_TYPE));
    json_end_object(w);
}

void bundle_write_index(const struct team_bundle_image *images, size_t count,
                        struct buf *out)
{
    struct json_writer w;

    json_writer_init(&w, out, 0);
    json_begin_object(&w);
    json_member_number(&w, "schemaVersion", 2);
    json_member_string(&w, "mediaType", STR(TEAM_INDEX_TYPE));
    json_member_array(&w, "manifests");
    for (size_t i = 0; i < count; i++)
        write_entry(&images[i], &w);
    json_end_array(&w);
    json_end_object(&w);
}
