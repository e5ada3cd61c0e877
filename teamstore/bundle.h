#ifndef TEAMSTORE_BUNDLE_H
#define TEAMSTORE_BUNDLE_H

#include "mapm/team_bundle.h"

#define BUNDLE_BLOBS       "blobs/sha256/"
#define BUNDLE_INDEX       "index.json"
#define BUNDLE_LAYOUT      "oci-layout"
#define BUNDLE_LAYOUT_TEXT "{\"imageLayoutVersion\":\"1.0.0\"}"
#define BUNDLE_LOCK_NAME   "mapm.lock"

struct str bundle_blob_path(const struct hash *digest, struct arena *a);
/* Writes index.json. */
void bundle_write_index(const struct team_bundle_image *images, size_t count,
                        struct buf *out);

#endif
