/*
 * The frames of one request to an API, as each side reads the other: taken
 * whole, and then written as they were, or refused. THREATS 1.2, [row 13]
 * [row 30].
 *
 * Input: its first byte says which frame, the rest is its body.
 */

#include <stdlib.h>

#include "../../fetch/post.h"
#include "outcome.h"

#define MAX_BYTES 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read, written again, is what came. */
static void compare(const struct buf *b, struct str body)
{
    if (!str_eq(str_from_index(buf_str(b), FRAME_HEAD + 1), body))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b;
    struct fetch_reply reply;
    struct fetch_post post;
    struct str body;
    uint64_t ms;

    buf_init(&b, 1u << 24);
    if (size == 0)
        return 0;
    body = str_make((const char *)data + 1, size - 1);
    if (data[0] & 1) {
        if (!post_read_reply(body, MAX_BYTES, &a, &reply))
            return 0;
        if (reply.body.n > MAX_BYTES || reply.status < 200)
            abort();
        post_write_reply(&b, &reply);
    } else {
        if (!post_read(body, &a, &post, &ms))
            return 0;
        for (size_t i = 0; i < post.header_count; i++)
            if (str_has_char(post.headers[i], '\n') ||
                str_has_char(post.headers[i], '\r'))
                abort();
        post_write(&b, &post, ms);
    }
    compare(&b, body);
    OUTCOME("is read");
    return 0;
}
