#include "store_frame.h"

void frame_stores(struct buf *b, const struct team_remotes *stores)
{
    size_t count = stores ? stores->count : 0;

    frame_u8(b, stores && stores->only);
    frame_u32(b, count);
    for (size_t i = 0; i < count; i++) {
        frame_u8(b, stores->items[i].source);
        frame_str(b, stores->items[i].url);
    }
}

bool field_stores(struct fields *in, struct arena *a, struct team_remotes *out)
{
    struct team_remotes list = {.only = field_bool(in)};
    size_t count = field_u32(in, TEAM_REMOTES_MAX);
    struct err ignored = {0};

    list.items = arena_array(a, count + 1, sizeof *list.items);
    for (; list.count < count && !in->bad; list.count++) {
        unsigned source = field_u8(in, TEAM_FROM_WORKSPACE);
        struct str url = field_str(in, TEAM_REMOTE_MAX_BYTES);

        if (!team_remote_parse(url, (enum team_remote_source)source, a,
                               &list.items[list.count], &ignored))
            return false;
    }
    *out = list;
    return !in->bad;
}
