#include "text.h"

enum {
    STRING_JOINED = 2,           /* flag: result of sl_string_concat */
    INLINE_MAX = SL_RARE(64, 4), /* joined texts up to this length are always
                                  * copied */
    UNIT = 64                    /* bytes that count as one step */
};

/* --- equality, order, hash ---------------------------------------------------- */

bool sl_text_is(value string, const char *text)
{
    return sl_string(string)->length == strlen(text) &&
           memcmp(sl_string(string)->p, text, strlen(text)) == 0;
}

bool sl_text_equal(value a, value b)
{
    const struct sl_string *x = sl_string(a), *y = sl_string(b);

    if (x == y)
        return true;
    if (x->length != y->length ||
        (x->o.hash && y->o.hash && x->o.hash != y->o.hash))
        return false;
    return memcmp(x->p, y->p, x->length) == 0;
}

static inline uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t load8(const char *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint64_t load4(const char *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof v);
    return v;
}

/* Hashes 16 bytes per multiplication. Both factors contain a part of the seed,
 * so an attacker without the seed cannot make one of them zero. */
static uint32_t hash_bytes(uint64_t seed, const char *p, size_t length)
{
    const uint64_t k1 = seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
    const uint64_t k2 = (seed ^ 0xd6e8feb86659fd93u) * 0xe7037ed1a0b428dbu;
    uint64_t h = k2 ^ length, a = 0, b = 0;
    size_t n = length;

    for (; n > 16; n -= 16, p += 16)
        h = mix(load8(p) ^ k1, load8(p + 8) ^ h);
    if (n >= 8) {
        a = load8(p);
        b = load8(p + n - 8);
    } else if (n >= 4) {
        a = load4(p);
        b = load4(p + n - 4);
    } else if (n) {
        a = (uint64_t)(unsigned char)p[0] << 16 |
            (uint64_t)(unsigned char)p[n / 2] << 8 | (unsigned char)p[n - 1];
    }
    h = mix(mix(a ^ k1, b ^ h) ^ k2, k1 ^ length);
    h ^= h >> 32;
    return (uint32_t)h ? (uint32_t)h : 1;
}

uint32_t sl_text_hash(struct star *s, value v)
{
    struct sl_string *x = sl_string(v);

    if (!x->o.hash) {
        sl_owe(s, x->length / UNIT);
        x->o.hash = hash_bytes(s->hash_seed, x->p, x->length);
    }
    return x->o.hash;
}

/* --- copies ----------------------------------------------------------------------- */

bool sl_copy_long(struct star *s, char *to, const char *from, size_t n)
{
    for (size_t i = 0; i < n; i += SL_COPY_PIECE) {
        size_t piece = n - i < SL_COPY_PIECE ? n - i : SL_COPY_PIECE;

        if (!sl_charge(s, 1 + piece / UNIT))
            return false;
        memcpy(to + i, from + i, piece);
    }
    return true;
}

/* --- parts ------------------------------------------------------------------------ */

value sl_substring(struct star *s, value whole, size_t from, size_t to)
{
    const struct sl_string *w = sl_string(whole);
    enum sl_type type = (enum sl_type)w->o.type;
    size_t length = to - from;
    char *p;

    if (length == w->length)
        return whole;
    if (type == T_STRING && length == 0)
        return s->empty_string;
    if (type == T_STRING && length == 1)
        return sl_string_char(s, (unsigned char)w->p[from]);
    value v = sl_text_room(s, type, length, &p);
    if (!v || !sl_copy(s, p, w->p + from, length))
        return 0;
    if (w->o.flags & STRING_ASCII)
        sl_object(v)->flags |= STRING_ASCII;
    else if (type == T_STRING)
        sl_string_filled(v);
    return v;
}

bool sl_text_put_long(struct sl_text *t, const char *p, size_t length)
{
    for (size_t i = 0, n; i < length && !t->failed; i += n) {
        n = length - i < SL_COPY_PIECE ? length - i : SL_COPY_PIECE;
        sl_text_put(t, p + i, n);
        if (n == SL_COPY_PIECE && !sl_charge(t->s, n / UNIT))
            t->failed = true;
    }
    return !t->failed;
}

bool sl_text_put_valid(struct sl_text *t, const char *p, size_t length)
{
    for (size_t i = 0, begin = 0; i < length; begin = i) {
        unsigned width = 1;
        bool valid = true;

        if (!sl_charge(t->s, 1))
            return false;
        for (; i < length && i - begin < SL_COPY_PIECE && valid; i += width) {
            width = 1;
            valid = (unsigned char)p[i] < 0x80 ||
                    sl_rune(p + i, length - i, &width) != SL_RUNE_INVALID ||
                    width > 1;
        }
        if (!sl_text_put_long(t, p + begin, i - begin - !valid))
            return false;
        if (!valid)
            sl_text_put(t, "\xef\xbf\xbd", 3);
    }
    return !t->failed;
}

char *sl_digits(int64_t n, char *end)
{
    static const char pairs[] = "0001020304050607080910111213141516171819"
                                "2021222324252627282930313233343536373839"
                                "4041424344454647484950515253545556575859"
                                "6061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    uint64_t u = n < 0 ? -(uint64_t)n : (uint64_t)n;
    char *p = end;

    for (; u >= 100; u /= 100)
        memcpy(p -= 2, pairs + u % 100 * 2, 2);
    if (u >= 10)
        memcpy(p -= 2, pairs + u * 2, 2);
    else
        *--p = (char)('0' + u);
    if (n < 0)
        *--p = '-';
    return p;
}

/* --- concatenation ------------------------------------------------------------------ */

/* Returns a buffer that starts with a copy of `x` and has spare room for
 * `length` bytes and more, or less if that would take much of the memory
 * limit. */
static struct sl_buffer *buffer_of(struct star *s, const struct sl_string *x,
                                   size_t length)
{
    size_t spare = length < (1u << 20) ? length : length / 2;
    struct sl_buffer *buffer = sl_alloc(s, T_BUFFER, sizeof *buffer);

    if (!buffer)
        return NULL;
    if (length > s->heap.limit / 16)
        spare = length / 8;
    if (spare > SL_TEXT_MAX_BYTES - length)
        spare = SL_TEXT_MAX_BYTES - length;
    s->heap.pinned = sl_value(buffer);
    buffer->p = sl_storage(s, length + spare);
    s->heap.pinned = 0;
    if (!buffer->p)
        return NULL;
    buffer->capacity = (uint32_t)(length + spare);
    buffer->filled = x->length;
    return sl_copy(s, buffer->p, x->p, x->length) ? buffer : NULL;
}

/* Appends y to x in place; x ends where its buffer is filled to. */
static value concat_behind(struct star *s, const struct sl_string *x,
                           const struct sl_string *y, struct sl_buffer *buffer)
{
    struct sl_string *sum;

    s->heap.pinned = sl_value(buffer);
    sum = sl_alloc(s, (enum sl_type)x->o.type, sizeof *sum);
    s->heap.pinned = 0;
    if (!sum)
        return 0;
    sum->length = x->length + y->length;
    sum->p = buffer->p;
    sum->owner = buffer;
    if (!sl_copy(s, buffer->p + x->length, y->p, y->length))
        return 0;
    buffer->filled = sum->length;
    return sl_value(sum);
}

static value concat_copy(struct star *s, const struct sl_string *x,
                         const struct sl_string *y, size_t length)
{
    char *p;
    value v = sl_text_room(s, (enum sl_type)x->o.type, length, &p);

    return v && sl_copy(s, p, x->p, x->length) &&
                   sl_copy(s, p + x->length, y->p, y->length)
               ? v
               : 0;
}

/*
 * The first concatenation is a plain copy, since most strings are not extended
 * further. If the left operand is itself a concatenation, the result gets a
 * buffer with spare room, and further ones append to it in place.
 */
value sl_string_concat(struct star *s, value a, value b)
{
    const struct sl_string *x = sl_string(a), *y = sl_string(b);
    size_t length = (size_t)x->length + y->length;
    struct sl_buffer *buffer = x->p == x->bytes ? NULL : x->owner;
    bool grows = buffer ? x->length == buffer->filled
                        : (x->o.flags & STRING_JOINED) != 0;
    value v;

    if (!y->length)
        return a;
    if (!x->length)
        return b;
    if (length > SL_TEXT_MAX_BYTES)
        return sl_fail_memory(s, length);
    if (!grows || length <= INLINE_MAX) {
        v = concat_copy(s, x, y, length);
    } else {
        if (!buffer || y->length > buffer->capacity - buffer->filled)
            buffer = buffer_of(s, x, length);
        v = buffer ? concat_behind(s, x, y, buffer) : 0;
    }
    if (v)
        sl_object(v)->flags |=
            STRING_JOINED | (x->o.flags & y->o.flags & STRING_ASCII);
    return v;
}
