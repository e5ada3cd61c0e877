#include "message.h"

#include <string.h>

#define READ_BYTES 65536u

void message_input_init(struct message_input *in)
{
    *in = (struct message_input){0};
    buf_init(&in->bytes,
             RUN_MESSAGE_MAX_BYTES + MESSAGE_HEADER_BYTES + READ_BYTES);
}

void message_input_done(struct message_input *in)
{
    buf_done(&in->bytes);
}

/* Discards consumed input only when more arrives, since messages borrow from it
 * until then; less than one message remains. */
void message_input_room(struct message_input *in, char **p, size_t *size)
{
    struct buf *b = &in->bytes;

    if (in->used) {
        memmove(b->p, b->p + in->used, b->n - in->used);
        b->n -= in->used;
        in->used = 0;
    }
    *p = buf_reserve(b, READ_BYTES);
    *size = *p ? READ_BYTES : 0;
}

void message_input_add(struct message_input *in, size_t size)
{
    in->bytes.n += size;
}

static bool is_kind(char c)
{
    switch ((enum message_kind)c) {
    case MESSAGE_ASK:
    case MESSAGE_COMMAND:
    case MESSAGE_TRACE:
    case MESSAGE_PRINT:
    case MESSAGE_RESULT:
    case MESSAGE_FAILURE:
    case MESSAGE_REPLY:
        return true;
    }
    return false;
}

enum message_state message_take(struct message_input *in, struct message *out)
{
    struct str rest = str_from_index(buf_str(&in->bytes), in->used);
    size_t length = 0;

    if (rest.n && !is_kind(rest.p[0]))
        return MESSAGES_BAD;
    if (rest.n < MESSAGE_HEADER_BYTES)
        return MESSAGES_MORE;
    for (int i = MESSAGE_HEADER_BYTES - 1; i > 0; i--)
        length = length << 8 | (unsigned char)rest.p[i];
    if (length > RUN_MESSAGE_MAX_BYTES)
        return MESSAGES_BAD;
    if (rest.n - MESSAGE_HEADER_BYTES < length)
        return MESSAGES_MORE;
    out->kind = (enum message_kind)rest.p[0];
    out->body = str_make(rest.p + MESSAGE_HEADER_BYTES, length);
    in->used += MESSAGE_HEADER_BYTES + length;
    return MESSAGES_READY;
}

void message_header(enum message_kind kind, size_t length,
                    unsigned char out[MESSAGE_HEADER_BYTES])
{
    out[0] = (unsigned char)kind;
    for (int i = 1; i < MESSAGE_HEADER_BYTES; i++)
        out[i] = (unsigned char)(length >> 8 * (i - 1));
}
