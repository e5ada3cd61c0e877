/*
 * What mapm reads of mapm-fetch: frames, events, questions, errors. Whatever
 * comes, it is taken whole or refused. THREATS 1.2, [row 30].
 *
 * Input: bytes as they would come over the socket.
 */

#include "../../fetch/client.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void make_fetch(struct fetch *f)
{
    *f = (struct fetch){.limits = limits_default};
    f->asks = arena_array(&f->arena, 8, sizeof *f->asks);
    for (unsigned i = 0; i < 8; i++)
        f->asks[i] = (struct client_ask){.id = i,
                                         .what = (enum fetch_what)(i % 5),
                                         .is_open = true,
                                         .has_manifest = i >= 4};
    f->ask_count = f->open_count = 8;
    map_init(&f->hosts, &f->arena);
    channel_init(&f->channel, -1, 1u << 20);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct fetch f;
    struct frame frame;
    struct err e;

    make_fetch(&f);
    buf_append(&f.channel.in, str_make((const char *)data, size));
    while (channel_next(&f.channel, &frame, &e) && frame.type != 0) {
        struct fetch_event ev;

        if (frame.type == FRAME_EVENT) {
            if (!client_read_event(&f, frame.body, &a, &ev))
                break;
        } else if (frame.type == FRAME_FATAL) {
            struct fields in = fields_of(frame.body);

            field_err(&in, &e);
        } else if (!client_answer(&f, &frame)) {
            break;
        }
    }
    channel_done(&f.channel);
    arena_done(&a);
    arena_done(&f.arena);
    return 0;
}
