#include "delta.h"

#include <string.h>

#define COPY_DEFAULT_BYTES 0x10000 /* meaning of size 0 in a copy */

/* 7 bits per byte, lowest bits first */
static bool take_size(struct str *rest, uint64_t *out)
{
    uint64_t value = 0;

    for (unsigned shift = 0; rest->n && shift < 63; shift += 7) {
        uint64_t byte = (unsigned char)rest->p[0];

        *rest = str_from_index(*rest, 1);
        value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *out = value;
            return true;
        }
    }
    return false;
}

bool delta_sizes(struct str *rest, uint64_t *base_bytes, uint64_t *result_bytes,
                 struct err *e)
{
    if (!take_size(rest, base_bytes) || !take_size(rest, result_bytes))
        return err_set(e, ERR_DAMAGED, "a delta without sizes");
    return true;
}

/* The bits of `which` tell which bytes of the number follow, lowest first. */
static bool take_bytes(struct str *rest, unsigned which, unsigned count,
                       size_t *out)
{
    size_t value = 0;

    for (unsigned i = 0; i < count; i++) {
        if (!(which & (1u << i)))
            continue;
        if (!rest->n)
            return false;
        value |= (size_t)(unsigned char)rest->p[0] << (8 * i);
        *rest = str_from_index(*rest, 1);
    }
    *out = value;
    return true;
}

/* Reads the next instruction: returns a slice of the base, or literal data. */
static bool take_piece(struct str *rest, struct str base, struct str *piece)
{
    unsigned op = (unsigned char)rest->p[0];
    size_t offset, size;

    *rest = str_from_index(*rest, 1);
    if (op == 0)
        return false; /* reserved */
    if (op < 0x80) {
        if (op > rest->n)
            return false;
        *piece = str_slice(*rest, 0, op);
        *rest = str_from_index(*rest, op);
        return true;
    }
    if (!take_bytes(rest, op & 0xf, 4, &offset) ||
        !take_bytes(rest, (op >> 4) & 0x7, 3, &size))
        return false;
    if (size == 0)
        size = COPY_DEFAULT_BYTES;
    if (offset > base.n || size > base.n - offset)
        return false;
    *piece = str_slice(base, offset, offset + size);
    return true;
}

bool delta_apply(struct str instructions, struct str base, char *out, size_t n,
                 struct err *e)
{
    struct str rest = instructions, piece;
    size_t filled = 0;

    while (rest.n) {
        if (!take_piece(&rest, base, &piece) || piece.n > n - filled)
            return err_set(e, ERR_DAMAGED,
                           "a delta that reaches outside its object");
        memcpy(out + filled, piece.p, piece.n);
        filled += piece.n;
    }
    if (filled != n)
        return err_set(e, ERR_DAMAGED,
                       "a delta that makes %zu bytes where it says %zu", filled,
                       n);
    return true;
}
