#include "wire.h"

#include <string.h>

#define READ_BYTES 65536u

void wire_input_init(struct wire_input *in)
{
    *in = (struct wire_input){0};
    buf_init(&in->bytes,
             RUN_MESSAGE_MAX_BYTES + WIRE_HEADER_BYTES + READ_BYTES);
}

void wire_input_done(struct wire_input *in)
{
    buf_done(&in->bytes);
}

/* What was used goes when there is new input: a message is borrowed till then,
 * and what stays is less than one. */
void wire_input_room(struct wire_input *in, char **p, size_t *size)
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

void wire_input_add(struct wire_input *in, size_t size)
{
    in->bytes.n += size;
}

static bool is_kind(char c)
{
    switch ((enum wire_kind)c) {
    case WIRE_ASK:
    case WIRE_COMMAND:
    case WIRE_TRACE:
    case WIRE_PRINT:
    case WIRE_RESULT:
    case WIRE_FAILURE:
    case WIRE_REPLY:
        return true;
    }
    return false;
}

enum wire_state wire_take(struct wire_input *in, struct wire_message *out)
{
    struct str rest = str_from_index(buf_str(&in->bytes), in->used);
    size_t length = 0;

    if (rest.n && !is_kind(rest.p[0]))
        return WIRE_BAD;
    if (rest.n < WIRE_HEADER_BYTES)
        return WIRE_MORE;
    for (int i = WIRE_HEADER_BYTES - 1; i > 0; i--)
        length = length << 8 | (unsigned char)rest.p[i];
    if (length > RUN_MESSAGE_MAX_BYTES)
        return WIRE_BAD;
    if (rest.n - WIRE_HEADER_BYTES < length)
        return WIRE_MORE;
    out->kind = (enum wire_kind)rest.p[0];
    out->body = str_of(rest.p + WIRE_HEADER_BYTES, length);
    in->used += WIRE_HEADER_BYTES + length;
    return WIRE_READY;
}

void wire_header(enum wire_kind kind, size_t length,
                 unsigned char out[WIRE_HEADER_BYTES])
{
    out[0] = (unsigned char)kind;
    for (int i = 1; i < WIRE_HEADER_BYTES; i++)
        out[i] = (unsigned char)(length >> 8 * (i - 1));
}
