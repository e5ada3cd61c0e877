/*
 * What an API of a model answers: taken as text or refused, in words. [K24]
 * [row 22].
 *
 * Input: its first byte says which shape, the rest is the body.
 */

#include "base/text.h"

#include <stdlib.h>

#include "../../runtime/chat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct chat_reply r = {0};
    struct err e = {0};
    struct str body, said;

    if (size == 0)
        return 0;
    body = str_make((const char *)data + 1, size - 1);
    if (chat_read(data[0] & 1 ? CHAT_OPENAI : CHAT_ANTHROPIC, body, &a, &r,
                  &e)) {
        if (!text_is_utf8(r.text) || r.text.n > 3 * size)
            abort();
    } else if (err_first(&e)[0] == '\0') {
        abort();
    }
    said = chat_complaint(body, &a);
    if (!text_is_utf8(said) || text_count(said) > 401)
        abort();
    return 0;
}
