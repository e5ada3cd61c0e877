#include "compile.h"

static const struct sl_operand nothing = {.constant = true, .v = V_NONE};

uint32_t sl_result(struct sl_compiler *c, uint32_t mark, uint32_t want)
{
    c->unit->top = mark;
    return want == SL_ANYWHERE ? sl_temporary(c) : want;
}

void sl_move(struct sl_compiler *c, uint32_t to, struct sl_operand o)
{
    if (o.constant)
        sl_emit(c, I_CONST, to, 0, sl_constant(c, o.v));
    else if (o.reg != to)
        sl_emit(c, I_MOVE, to, o.reg, 0);
}

uint32_t sl_in_register(struct sl_compiler *c, struct sl_operand o)
{
    if (!o.constant)
        return o.reg;
    uint32_t reg = sl_temporary(c);
    sl_move(c, reg, o);
    return reg;
}

void sl_expr_into(struct sl_compiler *c, const struct sl_node *n, uint32_t reg)
{
    uint32_t mark = c->unit->top;

    sl_move(c, reg, sl_expr(c, n, reg));
    c->unit->top = mark;
}

uint32_t sl_building_place(struct sl_compiler *c, uint32_t want)
{
    return want != SL_ANYWHERE && sl_is_temporary(c, want) ? want
                                                           : sl_temporary(c);
}

/* --- names ---------------------------------------------------------------------- */

static struct sl_operand local(struct sl_compiler *c, const struct sl_node *n,
                               uint32_t want)
{
    uint32_t reg = sl_local_register(n->index);

    sl_at(c, n->pos);
    sl_begin(c);
    if (reg >= 0x10000) {
        uint32_t far = reg;
        reg = sl_result(c, c->unit->top, want);
        sl_emit(c, I_FAR_GET, reg, 0, far);
    }
    if (!(n->flags & NODE_SURELY_SET))
        sl_emit_at(c, n->pos, I_CHECK, reg, 0, sl_constant(c, n->v));
    return sl_operand_in(reg);
}

static struct sl_operand name(struct sl_compiler *c, const struct sl_node *n,
                              uint32_t want)
{
    if (n->scope == SCOPE_PREDECLARED) {
        sl_begin(c);
        return sl_operand_of(n->bound);
    }
    if (n->scope == SCOPE_LOCAL)
        return local(c, n, want);

    uint32_t reg = sl_result(c, c->unit->top, want);
    uint32_t cell = sl_local_register(n->index);
    sl_at(c, n->pos);
    sl_begin(c);
    switch ((enum sl_scope_kind)n->scope) {
    case SCOPE_CELL:
        if (cell >= 0x10000) {
            sl_emit(c, I_FAR_GET, reg, 0, cell);
            cell = reg;
        }
        sl_emit_at(c, n->pos, I_CELL_GET, reg, cell, sl_constant(c, n->v));
        break;
    case SCOPE_FREE:
        sl_emit(c, I_FREE, reg, 0, n->index);
        break;
    case SCOPE_FREE_CELL:
        sl_emit_at(c, n->pos, I_FREE_CELL, reg, 0, n->index);
        break;
    default:
        sl_emit_at(c, n->pos, I_GLOBAL, reg, 0, n->index);
    }
    return sl_operand_in(reg);
}

/* --- constants ------------------------------------------------------------------- */

/* Sums of literals, and ints as far as they stay small: nothing that could fail
 * or be large. 0: not computed. */
static value fold(struct sl_compiler *c, enum sl_operator op, value a, value b)
{
    int64_t n;

    if (op == OP_ADD && sl_is(a, T_STRING) && sl_is(b, T_STRING)) {
        value sum = c->failed ? 0 : sl_string_concat(c->s, a, b);
        if (!sum)
            c->failed = true;
        return sum;
    }
    if (!sl_is_int_word(a) || !sl_is_int_word(b))
        return 0;
    int64_t x = sl_int_word(a), y = sl_int_word(b);
    switch (op) {
    case OP_ADD:
        n = x + y;
        break;
    case OP_SUB:
        n = x - y;
        break;
    case OP_MUL:
        if (__builtin_mul_overflow(x, y, &n))
            return 0;
        break;
    case OP_SHL:
        if (y < 0 || y > 30 || x < 0 || x > INT32_MAX)
            return 0;
        n = x << y;
        break;
    default:
        return 0;
    }
    return n >= SL_INT_WORD_MIN && n <= SL_INT_WORD_MAX ? sl_word(n) : 0;
}

/* --- operators --------------------------------------------------------------------- */

_Static_assert(I_SHR - I_ADD == OP_SHR - OP_ADD &&
                   I_SHR_K - I_ADD_K == OP_SHR - OP_ADD &&
                   I_NOT_IN - I_EQ == OP_NOT_IN - OP_EQ &&
                   I_NOT - I_NEG == OP_NOT - OP_NEG,
               "instructions stand in the order of the operators");

void sl_binary_to(struct sl_compiler *c, struct sl_pos pos, enum sl_operator op,
                  uint32_t a, uint32_t b, struct sl_operand right)
{
    uint32_t mark = c->unit->top;

    if (op <= OP_SHR && right.constant) {
        sl_emit_at(c, pos, (enum sl_opcode)(I_ADD_K + (op - OP_ADD)), a, b,
                   sl_constant(c, right.v));
        return;
    }
    enum sl_opcode i = op <= OP_SHR ? (enum sl_opcode)(I_ADD + (op - OP_ADD))
                                    : (enum sl_opcode)(I_EQ + (op - OP_EQ));
    uint32_t reg = sl_in_register(c, right);
    sl_emit_at(c, pos, i, a, b, reg);
    c->unit->top = mark;
}

static struct sl_operand binary(struct sl_compiler *c, const struct sl_node *n,
                                struct sl_operand left, uint32_t mark,
                                uint32_t want)
{
    struct sl_operand right = sl_expr(c, n->b, SL_ANYWHERE);

    if (left.constant && right.constant) {
        value v = fold(c, (enum sl_operator)n->op, left.v, right.v);
        if (v && !sl_is(v, T_STRING))
            sl_at(c, n->pos);
        if (v)
            return sl_operand_of(v);
    }
    /* The result may go where an operand was. */
    sl_binary_to(c, n->pos, (enum sl_operator)n->op,
                 want == SL_ANYWHERE ? mark : want, sl_in_register(c, left),
                 right);
    return sl_operand_in(sl_result(c, mark, want));
}

value sl_negated(struct sl_compiler *c, value number)
{
    value v = 0;

    if (c->failed)
        return V_NONE;
    if (sl_type(number) == T_INT)
        v = sl_int_negate(c->s, number);
    else
        v = sl_float(c->s, -sl_float_of(number));
    c->failed = !v;
    return v;
}

static struct sl_operand unary(struct sl_compiler *c, const struct sl_node *n,
                               uint32_t want)
{
    uint32_t mark = c->unit->top;
    struct sl_operand o = sl_expr(c, n->a, SL_ANYWHERE);

    sl_at(c, n->pos);
    if (o.constant && n->op == OP_NOT)
        return sl_operand_of(sl_bool(!sl_truth(o.v)));
    if (o.constant && n->op == OP_NEG &&
        (sl_type(o.v) == T_INT || sl_type(o.v) == T_FLOAT))
        return sl_operand_of(sl_negated(c, o.v));
    uint32_t b = sl_in_register(c, o);
    uint32_t a = sl_result(c, mark, want);
    sl_emit_at(c, n->pos, (enum sl_opcode)(I_NEG + (n->op - OP_NEG)), a, b, 0);
    return sl_operand_in(a);
}

static struct sl_operand index_expr(struct sl_compiler *c,
                                    const struct sl_node *n,
                                    struct sl_operand object, uint32_t mark,
                                    uint32_t want)
{
    uint32_t b = sl_in_register(c, object);
    struct sl_operand key = sl_expr(c, n->b, SL_ANYWHERE);
    uint32_t a = sl_result(c, mark, want);

    if (key.constant)
        sl_emit_at(c, n->pos, I_INDEX_K, a, b, sl_constant(c, key.v));
    else
        sl_emit_at(c, n->pos, I_INDEX, a, b, key.reg);
    return sl_operand_in(a);
}

static struct sl_operand slice_expr(struct sl_compiler *c,
                                    const struct sl_node *n,
                                    struct sl_operand object, uint32_t mark,
                                    uint32_t want)
{
    const struct sl_node *bounds[3] = {n->b, n->c, n->d};
    uint32_t given = 0, count = 0, run = 0, b = sl_in_register(c, object);

    for (uint32_t i = 0; i < 3; i++) {
        given |= bounds[i] ? 1u << i : 0;
        count += bounds[i] != NULL;
    }
    if (count > 1)
        run = sl_temporaries(c, count);
    for (uint32_t i = 0, to = run; i < 3; i++) {
        if (bounds[i] && count == 1) /* may stay where it is */
            run = sl_in_register(c, sl_expr(c, bounds[i], SL_ANYWHERE));
        else if (bounds[i])
            sl_expr_into(c, bounds[i], to++);
    }
    uint32_t a = sl_result(c, mark, want);
    sl_emit_so(c, I_SLICE, a, b, run | given << 16);
    return sl_operand_in(a);
}

/*
 * What leans to the left: a + b + c, f(x)(y), a.b.c[d]. The chain may be as long
 * as the source, so it is walked down in a loop, and compiled on the way back.
 * Between two steps the value is a constant, a variable, or in the temporary
 * `mark`.
 */
static bool leans_left(const struct sl_node *n)
{
    return n->kind == N_BINARY || n->kind == N_CALL || n->kind == N_DOT ||
           n->kind == N_INDEX || n->kind == N_SLICE;
}

static struct sl_operand step(struct sl_compiler *c, const struct sl_node *n,
                              struct sl_operand left, uint32_t mark,
                              uint32_t want)
{
    switch (n->kind) {
    case N_BINARY:
        return binary(c, n, left, mark, want);
    case N_CALL:
        return sl_call_expr(c, n, left, mark, want);
    case N_INDEX:
        return index_expr(c, n, left, mark, want);
    case N_SLICE:
        return slice_expr(c, n, left, mark, want);
    default: {
        uint32_t b = sl_in_register(c, left);
        uint32_t a = sl_result(c, mark, want);
        sl_emit_at(c, n->pos, I_ATTR, a, b, sl_constant(c, n->v));
        return sl_operand_in(a);
    }
    }
}

static struct sl_operand chain(struct sl_compiler *c, const struct sl_node *n,
                               uint32_t want)
{
    uint32_t bottom = c->nodes.count, mark = c->unit->top;

    for (; leans_left(n); n = n->a) {
        const struct sl_node **link = sl_pile_add(c, &c->nodes, sizeof *link);
        *link = n;
        if (n->kind == N_SLICE)
            sl_at(c, n->pos); /* before its operands: see sl_at */
    }
    struct sl_operand left = sl_expr(c, n, SL_ANYWHERE);
    while (!c->failed && c->nodes.count > bottom) {
        n = sl_top_node(c);
        c->nodes.count--;
        if (n->kind == N_DOT && c->nodes.count > bottom &&
            sl_is_method_call(c, sl_top_node(c))) {
            const struct sl_node *call = sl_top_node(c);
            c->nodes.count--;
            left =
                sl_method_expr(c, n, call, left, mark,
                               c->nodes.count == bottom ? want : SL_ANYWHERE);
        } else {
            left = step(c, n, left, mark,
                        c->nodes.count == bottom ? want : SL_ANYWHERE);
        }
    }
    c->nodes.count = bottom;
    return c->failed ? nothing : left;
}

/* --- all of them ----------------------------------------------------------------------- */

struct sl_operand sl_expr(struct sl_compiler *c, const struct sl_node *n,
                          uint32_t want)
{
    if (c->failed)
        return nothing;
    switch ((enum sl_node_kind)n->kind) {
    case N_NAME:
        return name(c, n, want);
    case N_LITERAL:
        sl_begin(c);
        return sl_operand_of(n->v);
    case N_LIST:
        return sl_list_expr(c, n, want);
    case N_TUPLE:
        return sl_tuple_expr(c, n, want);
    case N_DICT:
        return sl_dict_expr(c, n, want);
    case N_COMPREHENSION:
        return sl_comprehension_expr(c, n, want);
    case N_UNARY:
        return unary(c, n, want);
    case N_AND:
    case N_OR:
        return sl_junction_expr(c, n, want);
    case N_COND:
        return sl_conditional_expr(c, n, want);
    case N_LAMBDA:
        return sl_closure(c, n, want);
    default:
        return chain(c, n, want);
    }
}
