#ifndef STARLARK_VALUE_H
#define STARLARK_VALUE_H

#include "mapm/starlark.h"

#include <string.h>

/*
 * value: how a Starlark value is a machine word, and what it points to.
 *
 *     ...n1   an int of 63 bits
 *     ..f10   a float whose exponent is not extreme: rotated, see sl_float
 *     ..100   None, False, True
 *     ..000   a pointer to a heap object; 0 itself is "no value": an error on
 *             its way out, a variable without value, a hole in a table
 *
 * Names shared inside starlark/ begin with sl_, public ones with star_.
 */

typedef star_value value;

/* A size at which another code path starts. With -DSL_TINY all of these are
 * small, so that the tests reach both paths: make star-tiny. */
#ifdef SL_TINY
#    define SL_RARE(usual, tiny) (tiny)
#else
#    define SL_RARE(usual, tiny) (usual)
#endif

#define V_NONE     ((value)0x04)
#define V_FALSE    ((value)0x0c)
#define V_TRUE     ((value)0x14)
#define V_ELLIPSIS ((value)0x1c) /* a marker, used inside starlark/ only */

/* clang-format off */
enum sl_type {
    /* immediate, or boxed if they do not fit in the word */
    T_NONE, T_BOOL, T_INT, T_FLOAT,
    /* objects */
    T_STRING, T_BYTES, T_TUPLE, T_LIST, T_DICT, T_SET, T_RANGE,
    T_FUNCTION, T_BUILTIN,
    T_STRING_ELEMS, T_BYTES_ELEMS, /* results of s.elems(), codepoints() ...;
                                    * b.elems() */
    T_MODULE,  /* json: a collection of builtins */
    T_OBJECT,  /* object of the host */
    /* internal, never visible to a program */
    T_CELL, T_CODE, T_GLOBALS, T_BUFFER,
    T_COUNT
};
/* clang-format on */

/* Header of every object. */
struct sl_object {
    uint8_t type;
    uint8_t mark;
    uint8_t flags;
    uint8_t size_class; /* see heap.c */
    uint32_t hash;      /* hash of a string, bytes, tuple or int; 0 if not
                         * computed */
};

/* flags: all bytes of a string are below 0x80; a tuple, function or cell is
 * frozen with everything reachable from it */
enum { STRING_ASCII = 1, OBJECT_FROZEN = 0x80 };

/*
 * A string or bytes. The bytes are inline, or belong to a T_BUFFER that several
 * strings share: `s += t` appends in place if s ends where the buffer is filled
 * to; s itself does not change. Not terminated by NUL.
 */
struct sl_string {
    struct sl_object o;
    uint32_t length; /* in bytes; at most SL_TEXT_MAX_BYTES */
    uint32_t unused;
    const char *p;
    union {
        struct sl_buffer *owner; /* buffer if p does not point to `bytes` */
        char bytes[8];           /* as many as allocated */
    };
};
#define SL_TEXT_MAX_BYTES 0x7fffff00u

struct sl_buffer {
    struct sl_object o;
    uint32_t filled, capacity;
    char *p;
};

/* An int of more than 63 bits: sign and magnitude in digits of libtommath. */
struct sl_bigint {
    struct sl_object o;
    uint32_t used;
    int32_t negative;
    uint64_t digits[];
};
#define SL_INT_MAX_BITS 65536u

struct sl_boxed_float {
    struct sl_object o;
    double d;
};

struct sl_tuple {
    struct sl_object o;
    uint32_t count, unused;
    value items[];
};

/*
 * Lock of a list, dict or set: number of loops that iterate over it, and
 * SL_FROZEN if it is immutable. 0 if it may be changed.
 */
#define SL_FROZEN 0x80000000u

struct sl_list {
    struct sl_object o;
    uint32_t locks;
    uint32_t count, capacity, unused;
    value *items;
};

/* Entries in insertion order; a removed one has key 0 until the table is
 * packed. Up to SL_TABLE_SMALL entries there is no index. */
struct sl_entry {
    value key, value;
    uint32_t hash;
    uint32_t unused;
};
#define SL_TABLE_SMALL SL_RARE(8, 2)
struct sl_table { /* A dict, or a set, whose values are all V_NONE. */
    struct sl_object o;
    uint32_t locks;
    uint32_t count;    /* number of live entries */
    uint32_t used;     /* number of entries, including removed ones */
    uint32_t capacity; /* allocated entries */
    struct sl_entry *entries;
    uint32_t *index; /* index_mask + 1 slots; NULL while small */
    uint32_t index_mask;
    uint32_t first; /* all entries before it are removed */
};

struct sl_range {
    struct sl_object o;
    int64_t start, stop, step;
    uint64_t count;
};

enum sl_elems { ELEMS_CHARS, ELEMS_ORDS, CODEPOINTS, CODEPOINT_ORDS };
struct sl_string_elems { /* T_STRING_ELEMS, T_BYTES_ELEMS (ELEMS_ORDS) */
    struct sl_object o;
    uint32_t kind; /* enum sl_elems */
    uint32_t unused;
    value string;
};

/* A variable shared by closures. */
struct sl_cell {
    struct sl_object o;
    value v;
};

/* The globals of one program; see code.h. */
struct sl_globals {
    struct sl_object o;
    uint32_t count, capacity;
    value *slots; /* 0 if not assigned yet */
    value *names; /* their names, as strings */
    struct star_module *module;
};

struct sl_code; /* defined in code.h */

struct sl_function { /* A function: a def or lambda that was executed. */
    struct sl_object o;
    struct sl_code *code;
    struct sl_globals *globals;
    uint32_t default_count, cell_count;
    uint32_t number; /* creation number, used as the hash */
    uint32_t unused;
    value slots[]; /* defaults (0 for a required keyword-only parameter),
                    * then cells or captured values */
};

struct sl_call;
typedef value sl_native(struct star *s, const struct sl_call *c);

struct sl_builtin { /* A built-in function, or a method bound to `self`. */
    struct sl_object o;
    uint32_t number;
    sl_native *function;
    star_function *host; /* function registered by the host, called with
                          * `ctx` */
    void *ctx;
    const char *name; /* "len", "append"; lives as long as the interpreter */
    value self;       /* receiver; 0 for a function */
};

struct sl_module { /* a module such as json */
    struct sl_object o;
    const char *name;
    value members; /* frozen dict */
};

struct sl_host_object {
    struct sl_object o;
    uint32_t number; /* creation number, used as the hash */
    uint32_t unused;
    const struct star_class *type;
    void *data;
};

/* --- words ------------------------------------------------------------------ */

static inline bool sl_is_int_word(value v)
{
    return v & 1;
}

static inline int64_t sl_int_word(value v)
{
    return (int64_t)v >> 1;
}

#define SL_INT_WORD_MAX (INT64_MAX >> 1)
#define SL_INT_WORD_MIN (INT64_MIN >> 1)

/* `n` fits in 63 bits. */
static inline value sl_word(int64_t n)
{
    return ((value)n << 1) | 1;
}

static inline value sl_bool(bool b)
{
    return b ? V_TRUE : V_FALSE;
}

static inline bool sl_is_float_word(value v)
{
    return (v & 3) == 2;
}

/* Floats as words: nearly all exponents that occur start with the bits 011 or
 * 100, so two of these bits are redundant. The sign moves to the low end. */
static inline double sl_float_word(value v)
{
    value bits = 0;
    double d;

    if (v != 0x8000000000000002u) { /* any word except the one of 0.0 */
        bits = (2 - (v >> 63)) | (v & ~(value)3);
        bits = bits >> 3 | bits << 61;
    }
    memcpy(&d, &bits, sizeof d);
    return d;
}

static inline bool sl_is_object(value v)
{
    return (v & 7) == 0 && v;
}

static inline struct sl_object *sl_object(value v)
{
    return (struct sl_object *)(uintptr_t)v;
}

static inline value sl_value(const void *object)
{
    return (value)(uintptr_t)object;
}

static inline bool sl_is(value v, enum sl_type type)
{
    return sl_is_object(v) && sl_object(v)->type == type;
}

/* `v` must not be 0. */
static inline enum sl_type sl_type(value v)
{
    if (v & 1)
        return T_INT;
    if ((v & 3) == 2)
        return T_FLOAT;
    if ((v & 7) == 0)
        return (enum sl_type)sl_object(v)->type;
    return v == V_NONE ? T_NONE : T_BOOL;
}

#define SL_CAST(name, tag)                                                     \
    static inline struct tag *name(value v)                                    \
    {                                                                          \
        return (struct tag *)(uintptr_t)v;                                     \
    }
SL_CAST(sl_string, sl_string)
SL_CAST(sl_bigint, sl_bigint)
SL_CAST(sl_tuple, sl_tuple)
SL_CAST(sl_list, sl_list)
SL_CAST(sl_table, sl_table)
SL_CAST(sl_range, sl_range)
SL_CAST(sl_elems, sl_string_elems)
SL_CAST(sl_cell, sl_cell)
SL_CAST(sl_function, sl_function)
SL_CAST(sl_builtin, sl_builtin)
SL_CAST(sl_module, sl_module)
SL_CAST(sl_host_object, sl_host_object)
#undef SL_CAST

/* --- making values: 0 when memory ends ---------------------------------------- */

value sl_int(struct star *s, int64_t n);
value sl_int_u64(struct star *s, uint64_t n);
value sl_float_boxed(struct star *s, double d);

static inline value sl_float(struct star *s, double d)
{
    value bits;

    memcpy(&bits, &d, sizeof bits);
    /* Values 3 and 4 mean an exponent between 2^-255 and 2^256. */
    int top = (int)(bits >> 60 & 7);
    if (bits != 0x3000000000000000u && (top == 3 || top == 4))
        return ((bits << 3 | bits >> 61) & ~(value)3) | 2;
    if (bits == 0)
        return 0x8000000000000002u;
    return sl_float_boxed(s, d);
}

/* `v` must be a T_FLOAT. */
static inline double sl_float_of(value v)
{
    return sl_is_float_word(v) ? sl_float_word(v)
                               : ((struct sl_boxed_float *)sl_object(v))->d;
}

value sl_string_new(struct star *s, const char *p, size_t length);
value sl_string_char(
    struct star *s,
    unsigned char c); /* Returns the shared string of one byte. */
value sl_bytes_new(struct star *s, const void *p, size_t length);
/* Returns a text with `length` bytes at *p, which the caller fills before any
 * other call; a string also needs sl_string_filled. */
value sl_text_room(struct star *s, enum sl_type type, size_t length, char **p);
void sl_string_filled(value string);              /* Sets STRING_ASCII. */
value sl_tuple_new(struct star *s, size_t count); /* All items are V_NONE. */
value sl_pair(struct star *s, value a, value b);  /* Returns a tuple of two. */
value sl_list_new(struct star *s, size_t capacity);
value sl_dict_new(struct star *s, size_t capacity);
value sl_set_new(struct star *s, size_t capacity);
value sl_range_new(struct star *s, int64_t start, int64_t stop, int64_t step);
value sl_builtin_new(struct star *s, const char *name, sl_native *function,
                     value self);

/* Returns "NoneType", "int" ... */
const char *sl_type_name(value v);

#endif
