#ifndef STARLARK_OPS_H
#define STARLARK_OPS_H

#include "star.h"

/*
 * Operations on values of any type. Each function charges for its work,
 * respects the value depth, and on failure sets the error and returns false or
 * 0 without changing outputs. The caller holds the operands. Error texts are
 * those of the reference implementation in Go.
 */

enum sl_operator {
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_FLOORDIV,
    OP_MOD,
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_SHL,
    OP_SHR,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_IN,
    OP_NOT_IN,
    OP_NEG,
    OP_POS,
    OP_INVERT,
    OP_NOT
};
const char *sl_operator_text(
    enum sl_operator op); /* Returns the operator's text, such as "//". */

bool sl_truth(value v);
bool sl_equal(struct star *s, value a, value b, bool *out);
/* `op` is one of EQ to GE. Fails for types without an order. */
bool sl_compare(struct star *s, enum sl_operator op, value a, value b,
                bool *out);
bool sl_hash(struct star *s, value v,
             uint32_t *out); /* Fails for unhashable types. */
bool sl_in(struct star *s, value needle, value haystack, bool *out);

/* `op` is one of ADD to SHR. With `in_place` (augmented assignment), a list,
 * dict or set on the left is modified, and a string on the left may lend its
 * buffer. */
value sl_binary(struct star *s, enum sl_operator op, value a, value b,
                bool in_place);
value sl_unary(struct star *s, enum sl_operator op,
               value v); /* `op` is NEG, POS or INVERT. */

/* Parts of sl_binary: concatenate two lists or tuples; repeat a string, bytes,
 * list or tuple. */
value sl_concat(struct star *s, value a, value b);
value sl_repeat(struct star *s, value from, size_t times);

int64_t sl_len(value v); /* Returns -1 for types without a length. */
value sl_index(struct star *s, value object, value key);
/* Returns item `i` of any indexable value except a dict, or 0 at the end. */
value sl_item(struct star *s, value v, uint64_t i);
bool sl_set_index(struct star *s, value object, value key, value v);
/* After sl_fail: adds a hint about the origin of `v` if it is None. */
void sl_hint_none(struct star *s, value v);
/* `start`, `stop` and `step` are V_NONE if not given. */
value sl_slice(struct star *s, value object, value start, value stop,
               value step);
value sl_attr(struct star *s, value object, value name);
/* Resolves an optional start and end (0 or None if not given) for a sequence of
 * length `n`, clamped; *begin may exceed *end. */
bool sl_bounds(struct star *s, value start, value end, int64_t n,
               int64_t *begin_out, int64_t *end_out);
/* Fails with "got string, want int" or "... out of range", without the name of
 * the caller. `bits` is 64, 32, or 8 (unsigned). */
bool sl_want_int(struct star *s, value v, unsigned bits, int64_t *out);

/* --- iteration from C --------------------------------------------------------- */

/* Locks the iterable from begin to end. Each successful begin needs an end,
 * even after a failure. */
struct sl_iter {
    value of;
    uint64_t i;
};
bool sl_iter_begin(struct star *s, value iterable, struct sl_iter *it);
value sl_iter_next(struct star *s,
                   struct sl_iter *it); /* Returns 0 at the end or on
                                         * failure: check sl_failed. */
void sl_iter_end(struct sl_iter *it);
bool sl_failed(const struct star *s); /* Returns true if an error was set
                                       * since the native function was
                                       * entered. */
#define SL_ITERABLE                                                            \
    (1u << T_TUPLE | 1u << T_LIST | 1u << T_DICT | 1u << T_SET |               \
     1u << T_RANGE | 1u << T_STRING_ELEMS | 1u << T_BYTES_ELEMS)
static inline bool sl_is_iterable(value v)
{
    return SL_ITERABLE >> sl_type(v) & 1;
}

/* Lock and unlock a list, dict or set; other values are ignored. */
void sl_lock(value v);
void sl_unlock(value v);
/* Returns false with "cannot <verb> frozen list" or "... during iteration". */
bool sl_may_change(struct star *s, value v, const char *verb);

/* The items of a list or tuple, valid until it changes. */
struct sl_items {
    value *p;
    uint32_t count;
};
static inline struct sl_items sl_items(value v)
{
    if (sl_is(v, T_LIST))
        return (struct sl_items){sl_list(v)->items, sl_list(v)->count};
    return (struct sl_items){sl_tuple(v)->items, sl_tuple(v)->count};
}

/* --- containers ------------------------------------------------------------------ */

bool sl_list_reserve(struct star *s, value list, size_t capacity);
/* Does not check for locks: the caller did, or created the list. */
bool sl_list_append(struct star *s, value list, value item);
bool sl_list_extend(struct star *s, value list, value iterable);

bool sl_table_find(struct star *s, value table, value key,
                   value *out); /* *out is 0 if the key is missing. */
bool sl_table_set(struct star *s, value table, value key, value v);
/* Sets *out, which may be NULL, to the removed value, or 0 if the key was
 * missing. */
bool sl_table_remove(struct star *s, value table, value key, value *out);
void sl_table_clear(struct star *s, value table);
/* Returns entry `i` or the first live one after it, and sets *i to its index;
 * NULL at the end. */
struct sl_entry *sl_table_next(value table, uint32_t *i);
/* Looks up a C string without creating a value; returns 0 if missing. */
value sl_table_get_text(struct star *s, value table, const char *p,
                        size_t length);

/* --- numbers: int.c, float.c ---------------------------------------------------------- */

/* Both operands are T_INT; `op` is one of OP_ADD to OP_SHR without OP_DIV. */
value sl_int_binary(struct star *s, enum sl_operator op, value a, value b);
value sl_int_negate(struct star *s, value v);
int sl_int_sign(value v);
int sl_int_compare(value a, value b);
uint32_t sl_int_hash(struct star *s, value v);
bool sl_int_to_i64(value v, int64_t *out); /* Returns false if the int does
                                            * not fit. */
bool sl_int_to_double(struct star *s, value v,
                      double *out); /* Fails with "int too large to convert". */
value sl_int_from_double(struct star *s,
                         double d); /* Truncates; `d` must be finite. */
/* Parses digits of `base` 2 to 36 without prefix and sign. Returns 0 without
 * setting an error if the text is not a number. */
value sl_int_parse(struct star *s, const char *digits, size_t length,
                   unsigned base, bool negative);
bool sl_int_format(struct sl_text *t, value v, unsigned base, bool upper);
/* Sets an error that shows an int: `before`, its digits, `after`. */
value sl_int_fail(struct star *s, const char *before, value v,
                  const char *after);

/* Compares ints and floats exactly and returns -1, 0 or 1. NaN equals itself
 * and is greater than all others. */
int sl_number_compare(value a, value b);
uint32_t sl_float_hash(struct star *s,
                       double d); /* Hashes a float like the int of equal
                                   * value. */
/* `how` is 'e', 'E', 'f' or 'F' as in the % operator, or 'g' or 'G' for the
 * shortest text that reads back as `d`, with ".0", or an exponent from 1e16
 * on. */
void sl_float_format(struct sl_text *t, double d, char how);
/* Parses the grammar of float(), independent of the locale. Returns false if
 * the text is not a number. */
bool sl_float_parse(const char *p, size_t length, double *out);

/* --- text: text.c, repr.c, format.c -------------------------------------------------------- */

/* Precision for "%.*s": messages have no room for more bytes, and the C library
 * would otherwise scan the whole text. */
#define SL_SHOWN_BYTES 20000u
#define SL_SHOWN(string)                                                       \
    (int)(sl_string(string)->length < SL_SHOWN_BYTES                           \
              ? sl_string(string)->length                                      \
              : SL_SHOWN_BYTES),                                               \
        sl_string(string)->p

bool sl_repr(struct sl_text *t, value v); /* Returns false on failure. */
bool sl_str(struct sl_text *t, value v);
value sl_str_value(struct star *s, value v); /* Returns a string unchanged. */
value sl_repr_value(struct star *s, value v);
void sl_quote(struct sl_text *t, const char *p, size_t length, bool bytes);
value sl_format_percent(struct star *s, value text, value args);

value sl_string_concat(struct star *s, value a,
                       value b); /* May reuse the buffer of `a`. */
bool sl_text_is(value string, const char *text);
bool sl_text_equal(value a, value b); /* Both values are strings, or both
                                       * bytes. */
uint32_t sl_text_hash(struct star *s, value v);
/* Returns the byte offset of the first `needle` at or after `from`, -1 if there
 * is none, or -2 if charging for the work fails. */
int64_t sl_text_find(struct star *s, const char *p, size_t length,
                     const char *needle, size_t needle_length);

/* Decodes the code point at `p` and sets `*width` to its length; an invalid
 * byte gives U+FFFD and width 1. */
uint32_t sl_rune(const char *p, size_t length, unsigned *width);
unsigned sl_rune_encode(uint32_t rune, char out[4]);

/* Returns an interned string: equal texts give the same word. Used for
 * names. */
value sl_intern(struct star *s, const char *p, size_t length);

#endif
