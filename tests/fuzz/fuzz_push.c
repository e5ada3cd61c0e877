/*
 * The frames of a push, as each side reads the other: what is taken fits its
 * bounds. THREATS 1.2, S2.
 *
 * Input: its first byte says which frame, the rest is its body.
 */

#include <stdlib.h>

#include "../../fetch/push_frame.h"
#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_order(struct str body, struct arena *a)
{
    struct push_order o;

    o.count = SIZE_MAX;
    OUTCOME("%d", push_read(body, a, &o));
    if (push_read(body, a, &o) &&
        (o.count > PUSH_NAMES_MAX || o.remote.url.n > TEAM_REMOTE_MAX_BYTES))
        abort();
}

static void read_object(struct str body, struct arena *a)
{
    struct team_upload u;
    size_t number;

    (void)a;
    OUTCOME("%d", push_read_object(body, &number, &u));
    if (push_read_object(body, &number, &u) &&
        u.manifest.n + u.config.n + u.layer.n > body.n)
        abort();
}

static void read_done(struct str body, struct arena *a)
{
    struct err *room = arena_new(a, struct err);
    struct push_done d;

    OUTCOME("%d", push_read_done(body, &d, room));
    if (push_read_done(body, &d, room) && d.why && d.why->code == ERR_NONE)
        abort();
}

static void read_secret(struct str body, struct arena *a)
{
    struct fields in = fields_of(body);
    struct registry_secret s;

    if (push_read_secret(&in, a, &s) &&
        s.user.n + s.secret.n >
            REGISTRY_USER_MAX_BYTES + REGISTRY_SECRET_MAX_BYTES)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(struct str, struct arena *) = {
        read_order, read_object, read_done, read_secret};
    CLEANUP(arena_done) struct arena a = {0};

    if (size)
        readers[data[0] & 3](str_make((const char *)data + 1, size - 1), &a);
    return 0;
}
