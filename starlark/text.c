#include "text.h"

enum {
    STRING_JOINED = 2, /* flag: made by sl_string_concat */
    INLINE_MAX = 64,   /* joined texts up to this are always copied */
    PIECE = 64 * 1024, /* bytes between two looks at the budget */
    UNIT = 64          /* bytes that count as one step */
};

/* --- equality, order, hash ---------------------------------------------------- */

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

static inline uint64_t load4(const char *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof v);
    return v;
}

/* Sixteen bytes a multiplication. Both factors hold a part of the seed, so who
 * does not know it cannot make one of them zero. */
static uint32_t hash_bytes(uint64_t seed, const char *p, size_t length)
{
    const uint64_t k1 = seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
    const uint64_t k2 = (seed ^ 0xd6e8feb86659fd93u) * 0xe7037ed1a0b428dbu;
    uint64_t h = k2 ^ length, a = 0, b = 0;
    size_t n = length;

    for (; n > 16; n -= 16, p += 16)
        h = mix(sl_load8(p) ^ k1, sl_load8(p + 8) ^ h);
    if (n >= 8) {
        a = sl_load8(p);
        b = sl_load8(p + n - 8);
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

bool sl_text_put_valid(struct sl_text *t, const char *p, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t begin = i, end = length - i > PIECE ? i + PIECE : length;
        unsigned width = 1;

        if (!sl_charge(t->s, (end - begin) / UNIT + 1))
            return false;
        for (; i < end; i += width) {
            width = 1;
            if ((unsigned char)p[i] >= 0x80 &&
                sl_rune(p + i, length - i, &width) == SL_RUNE_INVALID &&
                width == 1)
                break;
        }
        sl_text_put(t, p + begin, i - begin);
        if (i < end) {
            sl_text_put(t, "\xef\xbf\xbd", 3);
            i++;
        }
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
    char *p = end;
    uint64_t u = n < 0 ? -(uint64_t)n : (uint64_t)n;

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

void sl_text_put_int(struct sl_text *t, int64_t n)
{
    char digits[SL_DIGITS_BYTES];
    char *end = digits + sizeof digits, *p = sl_digits(n, end);

    sl_text_put(t, p, (size_t)(end - p));
}

/* --- concatenation ------------------------------------------------------------------ */

/* A string, or bytes, that is the first `length` bytes of `buffer`. */
static value string_on_buffer(struct star *s, enum sl_type type,
                              struct sl_buffer *buffer, size_t length)
{
    struct sl_string *r = sl_alloc(s, type, sizeof *r);

    if (!r)
        return 0;
    r->length = (uint32_t)length;
    r->p = buffer->p;
    r->owner = buffer;
    return sl_value(r);
}

/* Room to grow in; less of it when it would be much of all the memory there
 * is. */
static size_t capacity_for(const struct star *s, size_t length)
{
    size_t spare = length < (1u << 20) ? length : length / 2;

    if (length > s->heap.limit / 16)
        spare = length / 8;
    return length + spare < SL_TEXT_MAX_BYTES ? length + spare
                                              : SL_TEXT_MAX_BYTES;
}

/* a + b at the beginning of a buffer of their own. */
static value concat_to_buffer(struct star *s, const struct sl_string *a,
                              const struct sl_string *b)
{
    struct sl_scope scope = sl_native_enter(s);
    size_t length = (size_t)a->length + b->length;
    size_t capacity = capacity_for(s, length);
    struct sl_buffer *buffer = sl_alloc(s, T_BUFFER, sizeof *buffer);
    value v = 0;

    if (buffer && (buffer->p = sl_storage(s, capacity))) {
        buffer->capacity = (uint32_t)capacity;
        v = string_on_buffer(s, (enum sl_type)a->o.type, buffer, length);
    }
    if (v && sl_copy(s, buffer->p, a->p, a->length) &&
        sl_copy(s, buffer->p + a->length, b->p, b->length))
        buffer->filled = (uint32_t)length;
    else
        v = 0;
    sl_native_leave(s, scope);
    /* The native function that runs may rely on what was made in it. */
    return v && s->native && !sl_hold(s, v) ? 0 : v;
}

static value concat_copy(struct star *s, const struct sl_string *a,
                         const struct sl_string *b)
{
    char *p;
    value v = sl_text_room(s, (enum sl_type)a->o.type,
                           (size_t)a->length + b->length, &p);

    return v && sl_copy(s, p, a->p, a->length) &&
                   sl_copy(s, p + a->length, b->p, b->length)
               ? v
               : 0;
}

/*
 * The first sum is a plain copy: most strings do not grow on. A sum whose left
 * operand is itself a sum gets a buffer with room, and the sums after that find
 * their left operand at the end of what is filled there.
 */
value sl_string_concat(struct star *s, value a, value b)
{
    const struct sl_string *x = sl_string(a), *y = sl_string(b);
    size_t length = (size_t)x->length + y->length;
    struct sl_buffer *buffer = x->p == x->bytes ? NULL : x->owner;
    value v;

    if (!y->length)
        return a;
    if (!x->length)
        return b;
    if (length > SL_TEXT_MAX_BYTES)
        return sl_fail_memory(s, length);

    if (buffer && x->p + x->length == buffer->p + buffer->filled &&
        y->length <= buffer->capacity - buffer->filled) {
        v = string_on_buffer(s, (enum sl_type)x->o.type, buffer, length);
        if (!v || !sl_copy(s, buffer->p + buffer->filled, y->p, y->length))
            return 0;
        buffer->filled = (uint32_t)length;
    } else {
        bool grows = buffer ? x->p + x->length == buffer->p + buffer->filled
                            : (x->o.flags & STRING_JOINED) != 0;
        v = grows && length > INLINE_MAX ? concat_to_buffer(s, x, y)
                                         : concat_copy(s, x, y);
        if (!v)
            return 0;
    }
    sl_object(v)->flags |=
        STRING_JOINED | (x->o.flags & y->o.flags & STRING_ASCII);
    return v;
}
