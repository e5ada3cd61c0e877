#ifndef STARLARK_OPS_H
#define STARLARK_OPS_H

#include "star.h"

/*
 * ops: operations on values of any type. Each function
 * charges for its work, keeps to the value depth, and on failure sets the error
 * and returns false or 0; outputs are then untouched. Operands are held by the
 * caller. Error texts are those of the reference implementation in Go.
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
const char *sl_operator_text(enum sl_operator op); /* "//" */

bool sl_truth(value v);
bool sl_equal(struct star *s, value a, value b, bool *out);
/* `op` is one of EQ to GE. Types that have no order fail. */
bool sl_compare(struct star *s, enum sl_operator op, value a, value b,
                bool *out);
bool sl_hash(struct star *s, value v, uint32_t *out); /* fails: unhashable */
bool sl_in(struct star *s, value needle, value haystack, bool *out);

/* ADD to SHR; `in_place` for augmented assignments: lists, dicts and sets on the
 * left are changed, and the string on the left may lend its buffer. */
value sl_binary(struct star *s, enum sl_operator op, value a, value b,
                bool in_place);
value sl_unary(struct star *s, enum sl_operator op,
               value v); /* NEG POS INVERT */

/* Parts of sl_binary: two lists or tuples joined; a string, bytes, list or tuple
 * repeated. */
value sl_concat(struct star *s, value a, value b);
value sl_repeat(struct star *s, value from, size_t times);

int64_t sl_len(value v); /* -1: has no length */
value sl_index(struct star *s, value object, value key);
/* Of any value that can be indexed except a dict; 0 at the end. */
value sl_item(struct star *s, value v, uint64_t i);
bool sl_set_index(struct star *s, value object, value key, value v);
/* After sl_fail: if `v` is None, where it may come from. */
void sl_hint_none(struct star *s, value v);
/* V_NONE for bounds that are not given. */
value sl_slice(struct star *s, value object, value start, value stop,
               value step);
value sl_attr(struct star *s, value object, value name);
/* An optional start and end (0 or None: not given) of a sequence of
 * length `n`, clamped; *begin may be greater than *end. */
bool sl_bounds(struct star *s, value start, value end, int64_t n,
               int64_t *begin_out, int64_t *end_out);
/* "got string, want int", or "... out of range" beyond `bits` (64, 32; 8:
 * unsigned), without the name of the caller. */
bool sl_want_int(struct star *s, value v, unsigned bits, int64_t *out);

/* --- iteration from C --------------------------------------------------------- */

/* Locks what it iterates over from begin to end; every begin that succeeded
 * needs an end, on failure too. */
struct sl_iter {
    value of;
    uint64_t i;
};
bool sl_iter_begin(struct star *s, value iterable, struct sl_iter *it);
value sl_iter_next(struct star *s,
                   struct sl_iter *it); /* 0: no more, or failed:
                                                           ask sl_failed */
void sl_iter_end(struct sl_iter *it);
bool sl_failed(const struct star *s); /* an error was set since the entry */
#define SL_ITERABLE                                                            \
    (1u << T_TUPLE | 1u << T_LIST | 1u << T_DICT | 1u << T_SET |               \
     1u << T_RANGE | 1u << T_STRING_ELEMS | 1u << T_BYTES_ELEMS)
static inline bool sl_is_iterable(value v)
{
    return SL_ITERABLE >> sl_type(v) & 1;
}

/* Locks of a list, dict or set; nothing of others. */
void sl_lock(value v);
void sl_unlock(value v);
/* False with "cannot <verb> frozen list" or "... during iteration". */
bool sl_may_change(struct star *s, value v, const char *verb);

/* The items of a list or tuple, until it changes. */
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
/* Not checked for locks: the caller did, or made the list. */
bool sl_list_append(struct star *s, value list, value item);
bool sl_list_extend(struct star *s, value list, value iterable);

bool sl_table_find(struct star *s, value table, value key,
                   value *out); /* *out 0:
                                                                 not there */
bool sl_table_set(struct star *s, value table, value key, value v);
/* *out: the removed value, 0 when it was not there. NULL is fine. */
bool sl_table_remove(struct star *s, value table, value key, value *out);
void sl_table_clear(struct star *s, value table);
/* Entry `i` or the first live one after it; NULL at the end. *i is set to it. */
struct sl_entry *sl_table_next(value table, uint32_t *i);
/* By a C string, without making a value; 0 when absent. */
value sl_table_get_text(struct star *s, value table, const char *p,
                        size_t length);

/* --- numbers: int.c, float.c ---------------------------------------------------------- */

/* Both are T_INT; OP_ADD to OP_SHR without OP_DIV. */
value sl_int_binary(struct star *s, enum sl_operator op, value a, value b);
value sl_int_negate(struct star *s, value v);
int sl_int_sign(value v);
int sl_int_compare(value a, value b);
uint32_t sl_int_hash(struct star *s, value v);
bool sl_int_to_i64(value v, int64_t *out); /* false: does not fit */
bool sl_int_to_double(struct star *s, value v, double *out); /* "int too large
                                                                to convert" */
value sl_int_from_double(struct star *s, double d); /* truncated; finite */
/* Digits of `base` 2 to 36, no prefix, no sign; 0 with no error set when the
 * text is no number. */
value sl_int_parse(struct star *s, const char *digits, size_t length,
                   unsigned base, bool negative);
bool sl_int_format(struct sl_text *t, value v, unsigned base, bool upper);
/* An error about an int: `before`, its digits, `after`. */
value sl_int_fail(struct star *s, const char *before, value v,
                  const char *after);

/* Exact for any mixture of int and float; NaN is equal to itself and greater
 * than all others. -1, 0, 1. */
int sl_number_compare(value a, value b);
uint32_t sl_float_hash(struct star *s,
                       double d); /* as the int of equal value */
/* 'e' 'E' 'f' 'F' as in the % operator; 'g' 'G': the shortest text that reads back
 * the same, with ".0" or an exponent from 1e16. */
void sl_float_format(struct sl_text *t, double d, char how);
/* The grammar of float(): false when the text is no number. Locale-free. */
bool sl_float_parse(const char *p, size_t length, double *out);

/* --- text: text.c, repr.c, format.c -------------------------------------------------------- */

/* For "%.*s". No message has room for more than so many bytes, and the C library
 * would look at all of them. */
#define SL_SHOWN_BYTES 20000u
#define SL_SHOWN(string)                                                       \
    (int)(sl_string(string)->length < SL_SHOWN_BYTES                           \
              ? sl_string(string)->length                                      \
              : SL_SHOWN_BYTES),                                               \
        sl_string(string)->p

bool sl_repr(struct sl_text *t, value v); /* false: failed */
bool sl_str(struct sl_text *t, value v);
value sl_str_value(struct star *s, value v); /* a string as it is */
value sl_repr_value(struct star *s, value v);
void sl_quote(struct sl_text *t, const char *p, size_t length, bool bytes);
value sl_format_percent(struct star *s, value text, value args);

value sl_string_concat(struct star *s, value a,
                       value b); /* shares a's buffer */
bool sl_text_is(value string, const char *text);
bool sl_text_equal(value a, value b); /* both strings, or both bytes */
uint32_t sl_text_hash(struct star *s, value v);
/* Byte offset of `needle` at or after `from`, or -1. Charges and polls; -2 when
 * that fails. */
int64_t sl_text_find(struct star *s, const char *p, size_t length,
                     const char *needle, size_t needle_length);

/* UTF-8: the code point at `p`, its length in `*width`; an invalid byte gives
 * U+FFFD and width 1. */
uint32_t sl_rune(const char *p, size_t length, unsigned *width);
unsigned sl_rune_encode(uint32_t rune, char out[4]);

/* Interned: the same text gives the same word. For names. */
value sl_intern(struct star *s, const char *p, size_t length);

#endif
