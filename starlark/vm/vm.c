#include "../core/table.h"
#include "slow.h"

/*
 * The loop keeps the program counter, the window and the constants in local
 * variables; everything else is reached through them. An instruction does the
 * common case here (ints of one word, floats of one word, lists, dicts by
 * string) and leaves the others to slow.c.
 *
 * Between instructions s->native is false: what an instruction makes is in a
 * register before anything else is made. An operation that may make more than
 * one object runs between NATIVE and VM, so that the first ones are held.
 */

#define BOTH_INTS(x, y)   ((x) & (y)&1)
#define BOTH_FLOATS(x, y) (!((((x) ^ 2) | ((y) ^ 2)) & 3))

#define A       (base[sl_a(i)])
#define B       (base[sl_b(i)])
#define C       (base[sl_c(i)])
#define A_CONST (constants[sl_a(i)])
#define B_CONST (constants[sl_b(i)])
#define C_CONST (constants[sl_c(i)])

#define NEXT                                                                   \
    do {                                                                       \
        i = *pc++;                                                             \
        goto *labels[i & 0xff];                                                \
    } while (0)
/* Assigns the value of an expression, which is 0 on failure, to a register. */
#define GIVE(to, expression)                                                   \
    do {                                                                       \
        value given = (expression);                                            \
        if (UNLIKELY(!given))                                                  \
            goto fail;                                                         \
        (to) = given;                                                          \
    } while (0)
#define TRY(expression)                                                        \
    do {                                                                       \
        if (UNLIKELY(!(expression)))                                           \
            goto fail;                                                         \
    } while (0)
/* Bracket an operation that may create more than one object. */
#define NATIVE   (s->native = true)
#define VM       (s->native = false, s->heap.held_count = held)
#define STEPS(n) TRY((s->fuel -= (n)) >= 0 || sl_charge_slow(s))
#define STEP     STEPS(1)

#define ARITHMETIC(name, op, right, ints, floats)                              \
    L_##name:                                                                  \
    {                                                                          \
        value x = B, y = right;                                                \
        if (LIKELY(BOTH_INTS(x, y))) {                                         \
            int64_t r;                                                         \
            if (LIKELY(ints)) {                                                \
                A = (value)r;                                                  \
                NEXT;                                                          \
            }                                                                  \
        } else if (BOTH_FLOATS(x, y)) {                                        \
            double p = sl_float_word(x), q = sl_float_word(y);                 \
            (void)p, (void)q;                                                  \
            floats;                                                            \
        }                                                                      \
        GIVE(A, sl_vm_binary(s, op, x, y, false));                             \
        NEXT;                                                                  \
    }
#define FLOAT(expression)                                                      \
    do {                                                                       \
        GIVE(A, sl_float(s, expression));                                      \
        NEXT;                                                                  \
    } while (0)
/* The instruction, and its variant with a constant as right operand. */
#define ARITHMETIC_PAIR(name, ints, floats)                                    \
    ARITHMETIC(name, OP_##name, C, ints, floats)                               \
    ARITHMETIC(name##_K, OP_##name, C_CONST, ints, floats)

#define X_INT    ((int64_t)x)
#define INTS_ADD !__builtin_add_overflow(X_INT, (int64_t)(y - 1), &r)
#define INTS_SUB !__builtin_sub_overflow(X_INT, (int64_t)(y - 1), &r)
#define INTS_MUL                                                               \
    (!__builtin_mul_overflow(X_INT >> 1, (int64_t)(y - 1), &r) && (r |= 1))
#define INTS_AND (r = (int64_t)(x & y), true)
#define INTS_OR  (r = (int64_t)(x | y), true)
#define INTS_XOR (r = (int64_t)((x ^ y) | 1), true)
/* Valid only if shifting back gives the original word. */
#define INTS_SHL                                                               \
    (y <= sl_word(60) && (r = (int64_t)((x - 1) << (y >> 1)),                  \
                          r >> (y >> 1) == (int64_t)(x - 1) && (r |= 1)))
#define INTS_SHR (y <= sl_word(62) && (r = (X_INT >> (y >> 1)) | 1, true))
#define INTS_FLOORDIV                                                          \
    (y != sl_word(0) &&                                                        \
     sl_vm_floor_divide(X_INT >> 1, (int64_t)y >> 1, &r, &rest) &&             \
     (r = (int64_t)sl_word(r), true))
#define INTS_MOD                                                               \
    (y != sl_word(0) &&                                                        \
     sl_vm_floor_divide(X_INT >> 1, (int64_t)y >> 1, &rest, &r) &&             \
     (r = (int64_t)sl_word(r), true))

#define DIVIDE(name, right)                                                    \
    L_##name:                                                                  \
    {                                                                          \
        value x = B, y = right;                                                \
        double p = 1, q = 0;                                                   \
        if (BOTH_INTS(x, y)) {                                                 \
            p = (double)sl_int_word(x);                                        \
            q = (double)sl_int_word(y);                                        \
        } else if (BOTH_FLOATS(x, y)) {                                        \
            p = sl_float_word(x);                                              \
            q = sl_float_word(y);                                              \
        }                                                                      \
        if (LIKELY(q != 0))                                                    \
            FLOAT(p / q);                                                      \
        GIVE(A, sl_vm_binary(s, OP_DIV, x, y, false));                         \
        NEXT;                                                                  \
    }

/* Runs `then` if the comparison yields `want`, otherwise `otherwise`. */
#define COMPARE(name, op, cmp, left, right, want, then, otherwise)             \
    L_##name:                                                                  \
    {                                                                          \
        value x = left, y = right;                                             \
        int r;                                                                 \
        if (LIKELY(BOTH_INTS(x, y)))                                           \
            r = (int64_t)x cmp(int64_t) y;                                     \
        else if (BOTH_FLOATS(x, y))                                            \
            r = sl_float_word(x) cmp sl_float_word(y);                         \
        else if ((op == OP_EQ || op == OP_NE) && x == y &&                     \
                 (!sl_is_object(x) || sl_object(x)->type == T_STRING))         \
            r = op == OP_EQ;                                                   \
        else {                                                                 \
            r = sl_vm_compare(s, op, x, y);                                    \
            if (UNLIKELY(r < 0))                                               \
                goto fail;                                                     \
        }                                                                      \
        if (r == want)                                                         \
            then;                                                              \
        else                                                                   \
            otherwise;                                                         \
        NEXT;                                                                  \
    }
#define COMPARE_ALL(name, cmp)                                                 \
    COMPARE(name, OP_##name, cmp, B, C, 1, A = V_TRUE, A = V_FALSE)            \
    COMPARE(JUMP_##name, OP_##name, cmp, A, B, 1, pc += sl_j(i), (void)0)      \
    COMPARE(JUMP_##name##_K, OP_##name, cmp, A, B_CONST, 1, pc += sl_j(i),     \
            (void)0)
#define COMPARE_NOT(name, cmp)                                                 \
    COMPARE(JUMP_NOT_##name, OP_##name, cmp, A, B, 0, pc += sl_j(i), (void)0)  \
    COMPARE(JUMP_NOT_##name##_K, OP_##name, cmp, A, B_CONST, 0, pc += sl_j(i), \
            (void)0)

#define SET_INDEX(name, what)                                                  \
    L_##name:                                                                  \
    {                                                                          \
        value x = A, y = B;                                                    \
        if (sl_is_int_word(y) && sl_is(x, T_LIST)) {                           \
            struct sl_list *l = sl_list(x);                                    \
            int64_t at = sl_int_word(y);                                       \
            at += at < 0 ? l->count : 0;                                       \
            if (LIKELY((uint64_t)at < l->count && !l->locks)) {                \
                l->items[at] = what;                                           \
                NEXT;                                                          \
            }                                                                  \
        }                                                                      \
        TRY(sl_vm_set_index(s, x, y, what));                                   \
        NEXT;                                                                  \
    }

/* Defines `a in b` as a value and as a jump. */
#define CONTAINS(name, left, right, want, then, otherwise)                     \
    L_##name:                                                                  \
    {                                                                          \
        int r = sl_vm_contains(s, left, right);                                \
        if (UNLIKELY(r < 0))                                                   \
            goto fail;                                                         \
        if (r == want)                                                         \
            then;                                                              \
        else                                                                   \
            otherwise;                                                         \
        NEXT;                                                                  \
    }

value sl_run_frame(struct star *s)
{
    static const void *const labels[SL_OPCODE_COUNT] = {
#define OP(name, a, b, c, text) &&L_##name,
        SL_OPCODES(OP)
#undef OP
    };
    const size_t held = s->heap.held_count;
    const bool native = s->native;
    struct sl_frame *frame = s->frame;
    value *base = frame->base;
    const value *constants = frame->code->constants;
    const uint64_t *pc = frame->code->instructions;
    const struct sl_pos *place = NULL; /* position of a failure, if not that
                                        * of pc */
    uint64_t i;
    int64_t rest;

    s->native = false;
    s->entries++;
    NEXT;

L_MOVE:
    A = B;
    NEXT;
L_CONST:
    A = C_CONST;
    NEXT;
L_FAR_GET:
    A = C;
    NEXT;
L_FAR_SET:
    C = B;
    NEXT;
L_UNSET:
    C = 0;
    NEXT;
L_CHECK:
    if (UNLIKELY(!A)) {
        sl_vm_unset_variable(s, "local", C_CONST);
        goto fail;
    }
    NEXT;
L_GLOBAL : {
    const struct sl_globals *g = frame->function->globals;
    value v = g->slots[sl_c(i)];
    if (UNLIKELY(!v)) {
        sl_vm_unset_variable(s, "global", g->names[sl_c(i)]);
        goto fail;
    }
    A = v;
    NEXT;
}
L_SET_GLOBAL:
    frame->function->globals->slots[sl_c(i)] = B;
    NEXT;

L_CELL:
    GIVE(A, sl_vm_cell(s, B));
    NEXT;
L_CELL_EMPTY:
    GIVE(A, sl_vm_cell(s, 0));
    NEXT;
L_CELL_GET : {
    value v = sl_cell(B)->v;
    if (UNLIKELY(!v)) {
        sl_vm_unset_variable(s, "local", C_CONST);
        goto fail;
    }
    A = v;
    NEXT;
}
L_CELL_SET:
    sl_cell(A)->v = B;
    NEXT;
L_FREE : {
    const struct sl_function *f = frame->function;
    A = f->slots[f->default_count + sl_c(i)];
    NEXT;
}
L_FREE_CELL : {
    const struct sl_function *f = frame->function;
    value v = sl_cell(f->slots[f->default_count + sl_c(i)])->v;
    if (UNLIKELY(!v)) {
        sl_vm_unset_variable(s, "local", f->code->captures[sl_c(i)].name);
        goto fail;
    }
    A = v;
    NEXT;
}

    ARITHMETIC_PAIR(ADD, INTS_ADD, FLOAT(p + q))
    ARITHMETIC_PAIR(SUB, INTS_SUB, FLOAT(p - q))
    ARITHMETIC_PAIR(MUL, INTS_MUL, FLOAT(p * q))
    DIVIDE(DIV, C)
    DIVIDE(DIV_K, C_CONST)
    ARITHMETIC_PAIR(FLOORDIV, INTS_FLOORDIV, (void)0)
    ARITHMETIC_PAIR(MOD, INTS_MOD, (void)0)
    ARITHMETIC_PAIR(AND, INTS_AND, (void)0)
    ARITHMETIC_PAIR(OR, INTS_OR, (void)0)
    ARITHMETIC_PAIR(XOR, INTS_XOR, (void)0)
    ARITHMETIC_PAIR(SHL, INTS_SHL, (void)0)
    ARITHMETIC_PAIR(SHR, INTS_SHR, (void)0)

L_IN_PLACE : {
    value x = B, y = base[sl_c(i) & 0xffff];
    enum sl_operator op = (enum sl_operator)(sl_c(i) >> 16);
    if (op <= OP_SUB && BOTH_INTS(x, y)) {
        int64_t r;
        if (LIKELY(op == OP_ADD ? INTS_ADD : INTS_SUB)) {
            A = (value)r;
            NEXT;
        }
    } else if (op <= OP_SUB && BOTH_FLOATS(x, y)) {
        double p = sl_float_word(x), q = sl_float_word(y);
        FLOAT(op == OP_ADD ? p + q : p - q);
    }
    GIVE(A, sl_vm_binary(s, op, x, y, true));
    NEXT;
}
L_NEG : {
    value x = B;
    int64_t r;
    if (sl_is_int_word(x) && !__builtin_sub_overflow(2, (int64_t)x, &r)) {
        A = (value)r;
        NEXT;
    }
    if (sl_is_float_word(x))
        FLOAT(-sl_float_word(x));
    NATIVE;
    x = sl_unary(s, OP_NEG, x);
    VM;
    GIVE(A, x);
    NEXT;
}
L_POS:
    GIVE(A, sl_unary(s, OP_POS, B));
    NEXT;
L_INVERT : {
    value x = B;
    if (sl_is_int_word(x)) {
        A = ~x | 1;
        NEXT;
    }
    NATIVE;
    x = sl_unary(s, OP_INVERT, x);
    VM;
    GIVE(A, x);
    NEXT;
}
L_NOT:
    A = sl_bool(!sl_vm_truth(B));
    NEXT;

    COMPARE_ALL(EQ, ==)
    COMPARE_ALL(NE, !=)
    COMPARE_ALL(LT, <)
    COMPARE_ALL(LE, <=)
    COMPARE_ALL(GT, >)
    COMPARE_ALL(GE, >=)
    COMPARE_NOT(LT, <)
    COMPARE_NOT(LE, <=)
    COMPARE_NOT(GT, >)
    COMPARE_NOT(GE, >=)
    CONTAINS(IN, B, C, 1, A = V_TRUE, A = V_FALSE)
    CONTAINS(NOT_IN, B, C, 0, A = V_TRUE, A = V_FALSE)
    CONTAINS(JUMP_IN, A, B, 1, pc += sl_j(i), (void)0)
    CONTAINS(JUMP_NOT_IN, A, B, 0, pc += sl_j(i), (void)0)

L_JUMP:
    pc += sl_j(i);
    NEXT;
L_JUMP_TRUE:
    if (sl_vm_truth(A))
        pc += sl_j(i);
    NEXT;
L_JUMP_FALSE:
    if (!sl_vm_truth(A))
        pc += sl_j(i);
    NEXT;

L_FOR_BEGIN:
    TRY(sl_vm_iterator_begin(s, B, &A));
    pc += sl_j(i);
    NEXT;
L_FOR_NEXT : {
    value *it = &A, v;
    STEPS(1 + ((uint32_t)-sl_j(i) / SL_STEP_INSTRUCTIONS));
    if (sl_is_int_word(it[0])) {
        if (it[2] == sl_word(0))
            goto ended;
        it[2] -= 2;
        B = it[1];
        it[1] += it[0] - 1;
        pc += sl_j(i);
        NEXT;
    }
    if (sl_object(it[0])->type == T_LIST) {
        const struct sl_list *l = sl_list(it[0]);
        uint64_t at = it[1] >> 1;
        if (at >= l->count)
            goto ended;
        v = l->items[at];
        it[1] += 2;
    } else if (sl_object(it[0])->type == T_TUPLE) {
        const struct sl_tuple *t = sl_tuple(it[0]);
        uint64_t at = it[1] >> 1;
        if (at >= t->count)
            goto ended;
        v = t->items[at];
        it[1] += 2;
    } else {
        v = sl_vm_iterator_next(s, it);
        if (!v) {
            TRY(!sl_failed(s));
            goto ended;
        }
    }
    B = v;
    pc += sl_j(i);
    NEXT;
ended:
    sl_vm_iterator_end(it);
    NEXT;
}
L_FOR_END:
    sl_vm_iterator_end(&A);
    NEXT;

L_LIST : {
    NATIVE;
    value v = sl_vm_list_of(s, &B, sl_c(i));
    VM;
    GIVE(A, v);
    NEXT;
}
L_LIST_EXTEND:
    TRY(sl_vm_list_extend(s, A, &B, sl_c(i)));
    NEXT;
L_APPEND : {
    struct sl_list *l = sl_list(A);
    if (LIKELY(l->count < l->capacity))
        l->items[l->count++] = B;
    else
        TRY(sl_list_append(s, A, B));
    NEXT;
}
L_TUPLE:
    GIVE(A, sl_vm_tuple_of(s, &B, sl_c(i)));
    NEXT;
L_DICT : {
    NATIVE;
    value v = sl_dict_new(s, sl_c(i));
    VM;
    GIVE(A, v);
    NEXT;
}
L_DICT_PUT:
    TRY(sl_vm_dict_put(s, A, B, C));
    NEXT;

L_INDEX : {
    value x = B, y = C;
    if (sl_is_int_word(y) && sl_is_object(x)) {
        int64_t at = sl_int_word(y);
        if (sl_object(x)->type == T_LIST) {
            const struct sl_list *l = sl_list(x);
            at += at < 0 ? l->count : 0;
            if (LIKELY((uint64_t)at < l->count)) {
                A = l->items[at];
                NEXT;
            }
        } else if (sl_object(x)->type == T_TUPLE) {
            const struct sl_tuple *t = sl_tuple(x);
            at += at < 0 ? t->count : 0;
            if (LIKELY((uint64_t)at < t->count)) {
                A = t->items[at];
                NEXT;
            }
        } else if (sl_object(x)->type == T_STRING) {
            const struct sl_string *text = sl_string(x);
            at += at < 0 ? text->length : 0;
            if (LIKELY((uint64_t)at < text->length)) {
                unsigned char c = (unsigned char)text->p[at];
                if (LIKELY(c < 128 && s->chars[c])) {
                    A = s->chars[c];
                    NEXT;
                }
            }
        } else if (sl_object(x)->type == T_DICT) {
            const struct sl_entry *e = sl_table_find_word(s, x, y);
            if (e) {
                A = e->value;
                NEXT;
            }
        }
    }
    GIVE(A, sl_vm_index_of(s, x, y));
    NEXT;
}
L_INDEX_K : {
    value x = B, y = C_CONST;
    if (sl_is_int_word(y) && sl_is_object(x)) {
        int64_t at = sl_int_word(y);
        if (sl_object(x)->type == T_LIST) {
            const struct sl_list *l = sl_list(x);
            if (LIKELY((uint64_t)at < l->count)) {
                A = l->items[at];
                NEXT;
            }
        } else if (sl_object(x)->type == T_TUPLE) {
            const struct sl_tuple *t = sl_tuple(x);
            if (LIKELY((uint64_t)at < t->count)) {
                A = t->items[at];
                NEXT;
            }
        }
    }
    GIVE(A, sl_vm_index_of(s, x, y));
    NEXT;
}
    SET_INDEX(SET_INDEX, C)
    SET_INDEX(SET_INDEX_K, C_CONST)
L_SLICE : {
    const value *bound = &base[sl_c(i) & 0xffff];
    value bounds[3];
    for (unsigned n = 0; n < 3; n++)
        bounds[n] = sl_c(i) >> (16 + n) & 1 ? *bound++ : V_NONE;
    NATIVE;
    value r = sl_slice(s, B, bounds[0], bounds[1], bounds[2]);
    VM;
    GIVE(A, r);
    NEXT;
}
L_ATTR : {
    NATIVE;
    value v = sl_attr(s, B, C_CONST);
    VM;
    GIVE(A, v);
    NEXT;
}
L_SET_ATTR:
    sl_vm_set_attr(s, A, C_CONST);
    goto fail;
L_UNPACK : {
    value v = B;
    if (sl_is(v, T_TUPLE) && sl_tuple(v)->count == sl_c(i) && sl_c(i) < 64) {
        const struct sl_tuple *t = sl_tuple(v);
        value *to = &A;
        for (uint32_t n = 0; n < t->count; n++)
            to[n] = t->items[n];
        NEXT;
    }
    NATIVE;
    bool done = sl_vm_unpack(s, v, &A, sl_c(i));
    VM;
    TRY(done);
    NEXT;
}
L_UNPACK_TUPLE : {
    NATIVE;
    value v = sl_vm_unpack_tuple(s, B, sl_c(i));
    VM;
    GIVE(A, v);
    NEXT;
}

L_CLOSURE:
    GIVE(A, sl_vm_closure(s, frame, (struct sl_code *)sl_object(C_CONST), &B));
    NEXT;

L_CALL : {
    value *at = &A, callee = *at;
    uint32_t count = sl_b(i);
    if (LIKELY(sl_is(callee, T_FUNCTION))) {
        struct sl_function *fn = sl_function(callee);
        struct sl_code *code = fn->code;
        struct sl_frame *next = frame->next;
        value *result = &C;
        frame->pc = pc;
        if (LIKELY(code->exact == count && !code->active && next &&
                   next->depth <= s->limits.call_depth &&
                   code->register_count <= s->stack->end - (at + 1))) {
            STEPS(code->steps);
            code->active = true;
            next->code = code;
            next->function = fn;
            next->base = at + 1;
            next->top = at + 1 + code->register_count;
            next->segment = false;
            s->frame = next;
        } else {
            next = sl_vm_bind(s, at, count);
            TRY(next);
        }
        next->result = result;
        next->entry = false;
        frame = next;
        base = frame->base;
        constants = code->constants;
        pc = code->instructions;
        NEXT;
    }
    STEP;
    if (LIKELY(sl_is(callee, T_BUILTIN))) {
        const struct sl_builtin *b = sl_builtin(callee);
        struct sl_call call = {.name = b->name,
                               .self = b->self,
                               .args = at + 1,
                               .count = count,
                               .builtin = b};
        GIVE(C, sl_vm_call_native(s, b->function, &call));
        NEXT;
    }
    sl_fail(s, "invalid call of non-function (%s)", sl_type_name(callee));
    sl_hint_none(s, callee);
    goto fail;
}
L_CALL_SITE : {
    struct sl_site *site = &frame->code->sites[sl_c(i)];
    value *at = &A, v;
    frame->pc = pc;
    struct sl_frame *next = sl_vm_call_site(s, at, site, frame->code, &v);
    if (!next) {
        GIVE(base[site->dst], v);
        NEXT;
    }
    next->result = base + site->dst;
    next->entry = false;
    frame = next;
    base = frame->base;
    constants = frame->code->constants;
    pc = frame->code->instructions;
    NEXT;
}
L_HAS_METHOD : {
    const struct sl_site *site = &frame->code->sites[sl_c(i)];
    if (UNLIKELY(!sl_vm_method_of(A, site->method)))
        TRY(sl_vm_has_attribute(s, A, constants[site->name]));
    NEXT;
}
L_METHOD : {
    const struct sl_site *site = &frame->code->sites[sl_c(i)];
    value self = A;
    const value *args = base + site->args;
    uint32_t count = sl_b(i);
    STEP;
    if (site->method == METHOD_append) {
        struct sl_list *l = sl_list(self);
        if (LIKELY(sl_is(self, T_LIST) && count == 1 &&
                   l->count < l->capacity && !l->locks)) {
            l->items[l->count++] = args[0];
            base[site->dst] = V_NONE;
            NEXT;
        }
    } else if (site->method == METHOD_get) {
        if (LIKELY(sl_is(self, T_DICT) && (count == 1 || count == 2) &&
                   sl_is(args[0], T_STRING))) {
            const struct sl_entry *e = sl_table_find_string(s, self, args[0]);
            base[site->dst] = e ? e->value : count == 2 ? args[1] : V_NONE;
            NEXT;
        }
    }
    sl_native *function = sl_vm_method_of(self, site->method);
    if (LIKELY(function)) {
        struct sl_call call = {.name = sl_method_names[site->method],
                               .self = self,
                               .args = args,
                               .count = count};
        GIVE(base[site->dst], sl_vm_call_native(s, function, &call));
        NEXT;
    }
    if (!sl_vm_has_attribute(s, self, constants[site->name])) {
        place = &site->dot;
        goto fail;
    }
    GIVE(base[site->dst],
         sl_vm_call_attribute(s, self, constants[site->name], args, count));
    NEXT;
}
L_BUILTIN : {
    const struct sl_site *site = &frame->code->sites[sl_c(i)];
    const struct sl_builtin *b = sl_builtin(constants[site->name]);
    STEP;
    if (b->function == sl_lib_len && sl_b(i) == 1 && sl_is_object(A)) {
        const struct sl_object *o = sl_object(A);
        if (LIKELY(o->type == T_LIST)) {
            base[site->dst] = sl_word(sl_list(A)->count);
            NEXT;
        }
        if (LIKELY(o->type == T_STRING)) {
            base[site->dst] = sl_word(sl_string(A)->length);
            NEXT;
        }
    }
    struct sl_call call = {.name = b->name,
                           .self = b->self,
                           .args = &A,
                           .count = sl_b(i),
                           .builtin = b};
    GIVE(base[site->dst], sl_vm_call_native(s, b->function, &call));
    NEXT;
}
    value v;
L_RETURN_NONE:
    v = V_NONE;
    goto leave;
L_RETURN:
    v = B;
leave:
    sl_pop(s, frame);
    if (UNLIKELY(frame->entry))
        goto out;
    *frame->result = v;
    frame = frame->prev;
    base = frame->base;
    constants = frame->code->constants;
    pc = frame->pc;
    NEXT;

L_LOAD : {
    NATIVE;
    v = sl_vm_load(s, C_CONST);
    VM;
    GIVE(A, v);
    NEXT;
}
L_LOAD_NAME:
    v = sl_vm_load_name(B, C_CONST);
    if (!v) {
        sl_vm_not_in_module(s, (struct sl_globals *)sl_object(B), C_CONST,
                            sl_vm_loaded_name(frame->code, pc - 1, sl_b(i)));
        goto fail;
    }
    A = v;
    NEXT;

fail:
    /* A call may have failed after its frame was created and dropped; in any
     * case the innermost frame is the caller's. */
    frame = s->frame;
    for (;;) {
        const bool entry = frame->entry;
        sl_leave_failed(s, (uint32_t)(pc - frame->code->instructions) - 1,
                        place);
        place = NULL;
        if (entry)
            break;
        frame = s->frame;
        pc = frame->pc;
    }
    v = 0;
out:
    s->entries--;
    s->native = native;
    s->heap.held_count = held;
    return v;
}
