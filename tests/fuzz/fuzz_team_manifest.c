/* Manifests of a team store: bounds hold, and what is written again is read
 * again. [row 30, S1]. */

#include "mapm/team_object.h"

#include <stdlib.h>

#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct team_manifest m, again;
    struct buf out;
    struct err e = {0};

    buf_init(&out, 1u << 24);
    if (team_manifest_parse(str_make((const char *)data, size), &a, &m, &e)) {
        if (m.layer.size > TEAM_OBJECT_MAX_BYTES)
            abort();
        m.commit.n = 0;
        team_manifest_write(&m, &out);
        outcome_str("", buf_str(&out));
        if (buf_str(&out).n <= TEAM_MANIFEST_MAX_BYTES &&
            (!team_manifest_parse(buf_str(&out), &a, &again, &e) ||
             !hash_eq(&m.layer.digest, &again.layer.digest) ||
             m.is_proof != again.is_proof))
            abort();
    } else {
        outcome_err(&e);
    }
    buf_done(&out);
    arena_done(&a);
    return 0;
}
