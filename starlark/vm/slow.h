#ifndef STARLARK_SLOW_H
#define STARLARK_SLOW_H

#include "vm.h"

/*
 * Uncommon cases of instructions. Each function is the second half of the
 * instruction of its name: outputs are registers, and 0, false, NULL or -1 mean
 * failure. They are called from the loop with s->native false and leave it
 * false; a function that may create several objects holds the first ones
 * meanwhile. Those marked NATIVE are called by the loop with s->native true.
 */

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Fails with "local variable x referenced before assignment". */
value sl_vm_unset_variable(struct star *s, const char *kind, value name);

/* `op` is one of ADD to SHR. */
value sl_vm_binary(struct star *s, enum sl_operator op, value x, value y,
                   bool in_place);
/* Returns 1 if the comparison holds, 0 if not, and -1 on failure. */
int sl_vm_compare(struct star *s, enum sl_operator op, value x, value y);
int sl_vm_contains(struct star *s, value needle, value haystack);

/*
 * An iterator is three registers. For a range of small ints: the step, the next
 * number, the remaining count. Otherwise: the iterable, the index, unused. The
 * first is None at the end.
 */
bool sl_vm_iterator_begin(struct star *s, value of, value *it);
/* Advances over anything but a range of small ints, a list or a tuple. Returns
 * 0 at the end or on failure. */
value sl_vm_iterator_next(struct star *s, value *it);

/* NATIVE: unpack, unpack_tuple, list_of. */
bool sl_vm_unpack(struct star *s, value v, value *to, uint32_t count);
value sl_vm_unpack_tuple(struct star *s, value v, uint32_t count);
value sl_vm_list_of(struct star *s, const value *items, uint32_t count);
value sl_vm_tuple_of(struct star *s, const value *items, uint32_t count);
bool sl_vm_list_extend(struct star *s, value list, const value *items,
                       uint32_t count);
bool sl_vm_dict_put(struct star *s, value dict, value key, value v);
bool sl_vm_set_attr(struct star *s, value object, value name);
value sl_vm_index_of(struct star *s, value object, value key);
bool sl_vm_set_index(struct star *s, value object, value key, value v);

value sl_vm_closure(struct star *s, struct sl_frame *f, struct sl_code *code,
                    const value *defaults);
value sl_vm_cell(struct star *s, value v);

/* NATIVE: load. Returns the globals of a module. */
value sl_vm_load(struct star *s, value name);
value sl_vm_load_name(value module, value name);
value sl_vm_loaded_name(const struct sl_code *code, const uint64_t *pc,
                        uint32_t reg);
value sl_vm_not_in_module(struct star *s, const struct sl_globals *g,
                          value name, value module);

/* Handles a call of a name that is not a method of the type: an attribute that
 * is called. */
bool sl_vm_has_attribute(struct star *s, value v, value name);
value sl_vm_call_attribute(struct star *s, value object, value name,
                           const value *args, uint32_t count);

/* Creates the frame of a call whose arguments follow `at`, for calls that need
 * more than placing the window there. */
struct sl_frame *sl_vm_bind(struct star *s, value *at, uint32_t count);
/* Performs the call that a site describes. Returns the frame of a def to run,
 * or NULL with *result set for other callables, 0 on failure. If binding the
 * arguments fails, both are NULL and 0. */
struct sl_frame *sl_vm_call_site(struct star *s, value *at,
                                 struct sl_site *site,
                                 const struct sl_code *code, value *result);

/* --- small enough for the loop ------------------------------------------------- */

/* `b` is not 0. Returns false if the result may not fit. */
static inline bool sl_vm_floor_divide(int64_t a, int64_t b, int64_t *q,
                                      int64_t *r)
{
    if (((uint64_t)a | (uint64_t)b) >> 32 == 0) {
        /* most numbers are small, and 32-bit division is much faster */
        *q = (uint32_t)a / (uint32_t)b;
        *r = (uint32_t)a % (uint32_t)b;
        return true;
    }
    if (b == -1)
        return false;
    *q = a / b;
    *r = a % b;
    if (*r && (*r ^ b) < 0) {
        --*q;
        *r += b;
    }
    return true;
}

static inline bool sl_vm_truth(value v)
{
    if (v == V_TRUE)
        return true;
    if (v == V_FALSE || v == V_NONE)
        return false;
    return sl_truth(v);
}

static inline void sl_vm_iterator_end(value *it)
{
    if (!sl_is_int_word(it[0]))
        sl_unlock(it[0]);
    it[0] = V_NONE;
}

/* Returns the C function of method `number` of the type of `v`, or NULL if the
 * type has no such method. */
static inline sl_native *sl_vm_method_of(value v, uint32_t number)
{
    /* clang-format off */
    static sl_native *const *const tables[T_COUNT] = {
        [T_STRING] = sl_string_methods, [T_BYTES] = sl_bytes_methods,
        [T_LIST] = sl_list_methods,     [T_DICT] = sl_dict_methods,
        [T_SET] = sl_set_methods,
    };
    /* clang-format on */

    if (!sl_is_object(v) || !tables[sl_object(v)->type])
        return NULL;
    return tables[sl_object(v)->type][number];
}

static inline value sl_vm_call_native(struct star *s, sl_native *function,
                                      const struct sl_call *c)
{
    size_t held = s->heap.held_count;

    s->native = true;
    value v = function(s, c);
    s->native = false;
    s->heap.held_count = held;
    if (UNLIKELY(!v))
        sl_error_builtin(s, c->name);
    return v;
}

#endif
