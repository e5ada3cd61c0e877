#include "compile.h"

static const struct operand nothing = {.constant = true, .v = V_NONE};

uint32_t sl_result(struct compiler *c, uint32_t mark, uint32_t want)
{
    c->unit->top = mark;
    return want == ANYWHERE ? sl_temporaries(c, 1) : want;
}

void sl_move(struct compiler *c, uint32_t to, struct operand o)
{
    if (o.constant)
        sl_emit(c, I_CONST, to, 0, sl_constant(c, o.v));
    else if (o.reg != to)
        sl_emit(c, I_MOVE, to, o.reg, 0);
}

uint32_t sl_in_register(struct compiler *c, struct operand o)
{
    if (!o.constant)
        return o.reg;
    uint32_t reg = sl_temporaries(c, 1);
    sl_move(c, reg, o);
    return reg;
}

void sl_expr_into(struct compiler *c, const struct sl_node *n, uint32_t reg)
{
    uint32_t mark = c->unit->top;

    sl_move(c, reg, sl_expr(c, n, reg));
    c->unit->top = mark;
}

uint32_t sl_expr_register(struct compiler *c, const struct sl_node *n)
{
    return sl_in_register(c, sl_expr(c, n, ANYWHERE));
}

uint32_t sl_building_place(struct compiler *c, uint32_t want)
{
    bool good = want != ANYWHERE && sl_is_temporary(c, want);

    return good ? want : sl_temporaries(c, 1);
}

struct operand sl_built(struct compiler *c, uint32_t reg, uint32_t mark)
{
    c->unit->top = reg == mark ? mark + 1 : mark;
    return sl_operand_in(reg);
}

static struct operand name(struct compiler *c, const struct sl_node *n,
                           uint32_t want)
{
    bool stack = n->scope == SCOPE_LOCAL || n->scope == SCOPE_CELL;
    uint32_t from = stack ? sl_local_register(n->index) : n->index, reg = from;

    if (n->scope == SCOPE_PREDECLARED) {
        sl_begin(c);
        return sl_operand_of(n->bound);
    }
    sl_at(c, n->pos);
    sl_begin(c);
    if (n->scope != SCOPE_LOCAL || from >= 0x10000)
        reg = sl_result(c, c->unit->top, want);
    if (stack && from >= 0x10000) {
        sl_emit(c, I_FAR_GET, reg, 0, from);
        from = reg;
    }
    switch ((enum sl_scope_kind)n->scope) {
    case SCOPE_LOCAL:
        if (!(n->flags & NODE_SURELY_SET))
            sl_emit_so(c, I_CHECK, reg, 0, sl_constant(c, n->v));
        break;
    case SCOPE_CELL:
        sl_emit_so(c, I_CELL_GET, reg, from, sl_constant(c, n->v));
        break;
    case SCOPE_FREE:
        sl_emit(c, I_FREE, reg, 0, from);
        break;
    case SCOPE_FREE_CELL:
        sl_emit_so(c, I_FREE_CELL, reg, 0, from);
        break;
    default:
        sl_emit_so(c, I_GLOBAL, reg, 0, from);
    }
    return sl_operand_in(reg);
}

/* --- operators --------------------------------------------------------------------- */

_Static_assert(I_SHR - I_ADD == OP_SHR - OP_ADD &&
                   I_SHR_K - I_ADD_K == OP_SHR - OP_ADD &&
                   I_NOT_IN - I_EQ == OP_NOT_IN - OP_EQ &&
                   I_NOT - I_NEG == OP_NOT - OP_NEG,
               "instructions stand in the order of the operators");

/* Constants are folded for concatenated literals and small ints only, which can
 * neither fail nor grow large. */
static bool folds(enum sl_operator op, value a, value b)
{
    if (sl_is(a, T_STRING) && sl_is(b, T_STRING))
        return op == OP_ADD;
    return sl_is_int_word(a) && sl_is_int_word(b) &&
           (op <= OP_MUL ||
            (op == OP_SHL && sl_int_word(b) >= 0 && sl_int_word(b) <= 30));
}

void sl_emit_operand(struct compiler *c, struct sl_pos pos, enum sl_opcode op,
                     enum sl_opcode op_k, uint32_t a, uint32_t b,
                     struct operand right)
{
    if (right.constant)
        sl_emit_at(c, pos, op_k, a, b, sl_constant(c, right.v));
    else
        sl_emit_at(c, pos, op, a, b, right.reg);
}

void sl_binary_to(struct compiler *c, struct sl_pos pos, enum sl_operator op,
                  uint32_t a, uint32_t b, struct operand right)
{
    uint32_t mark = c->unit->top;

    if (op <= OP_SHR)
        sl_emit_operand(c, pos, I_ADD + (op - OP_ADD), I_ADD_K + (op - OP_ADD),
                        a, b, right);
    else
        sl_emit_at(c, pos, I_EQ + (op - OP_EQ), a, b, sl_in_register(c, right));
    c->unit->top = mark;
}

static struct operand binary(struct compiler *c, const struct sl_node *n,
                             struct operand left, uint32_t mark, uint32_t want)
{
    struct operand right = sl_expr(c, n->b, ANYWHERE);
    enum sl_operator op = (enum sl_operator)n->op;

    if (c->failed)
        return nothing;
    if (left.constant && right.constant && folds(op, left.v, right.v)) {
        value v = sl_binary(c->s, op, left.v, right.v, false);
        c->failed = !v;
        if (!sl_is(left.v, T_STRING))
            sl_at(c, n->pos);
        return v ? sl_operand_of(v) : nothing;
    }
    /* The result may overwrite an operand's temporary. */
    sl_binary_to(c, n->pos, op, want == ANYWHERE ? mark : want,
                 sl_in_register(c, left), right);
    return sl_operand_in(sl_result(c, mark, want));
}

static struct operand unary(struct compiler *c, const struct sl_node *n,
                            uint32_t want)
{
    uint32_t mark = c->unit->top;
    struct operand o = sl_expr(c, n->a, ANYWHERE);

    sl_at(c, n->pos);
    if (c->failed)
        return nothing;
    if (o.constant && n->op == OP_NOT)
        return sl_operand_of(sl_bool(!sl_truth(o.v)));
    if (o.constant && n->op == OP_NEG &&
        (sl_type(o.v) == T_INT || sl_type(o.v) == T_FLOAT)) {
        value v = sl_unary(c->s, OP_NEG, o.v);
        c->failed = !v;
        return v ? sl_operand_of(v) : nothing;
    }
    uint32_t b = sl_in_register(c, o), a = sl_result(c, mark, want);
    sl_emit_at(c, n->pos, I_NEG + (n->op - OP_NEG), a, b, 0);
    return sl_operand_in(a);
}

static struct operand slice(struct compiler *c, const struct sl_node *n,
                            uint32_t b, uint32_t mark, uint32_t want)
{
    const struct sl_node *bounds[3] = {n->b, n->c, n->d};
    uint32_t given = 0, count = 0, run = 0;

    for (uint32_t i = 0; i < 3; i++) {
        given |= bounds[i] ? 1u << i : 0;
        count += bounds[i] != NULL;
    }
    if (count > 1)
        run = sl_temporaries(c, count);
    for (uint32_t i = 0, to = run; i < 3; i++) {
        if (bounds[i] && count == 1) /* a single bound may stay in its
                                      * register */
            run = sl_expr_register(c, bounds[i]);
        else if (bounds[i])
            sl_expr_into(c, bounds[i], to++);
    }
    uint32_t a = sl_result(c, mark, want);
    sl_emit_so(c, I_SLICE, a, b, run | given << 16);
    return sl_operand_in(a);
}

/*
 * Compiles left-leaning chains such as a + b + c, f(x)(y), a.b.c[d]. A chain
 * may be as long as the source, so it is descended in a loop and compiled on
 * the way back. Between two steps the value is a constant, a variable, or in
 * the temporary `mark`.
 */
static struct operand step(struct compiler *c, const struct sl_node *n,
                           struct operand left, uint32_t mark, uint32_t want)
{
    if (n->kind == N_BINARY)
        return binary(c, n, left, mark, want);
    if (n->kind == N_CALL)
        return sl_call_expr(c, n, left, mark, want);
    uint32_t b = sl_in_register(c, left);
    if (n->kind == N_SLICE)
        return slice(c, n, b, mark, want);
    struct operand key =
        n->kind == N_DOT ? sl_operand_of(n->v) : sl_expr(c, n->b, ANYWHERE);
    uint32_t a = sl_result(c, mark, want);
    sl_emit_operand(c, n->pos, I_INDEX, n->kind == N_DOT ? I_ATTR : I_INDEX_K,
                    a, b, key);
    return sl_operand_in(a);
}

static struct operand chain(struct compiler *c, const struct sl_node *n,
                            uint32_t want)
{
    uint32_t bottom = c->nodes.count, mark = c->unit->top;

    for (; n->kind == N_BINARY || n->kind == N_CALL || n->kind == N_DOT ||
           n->kind == N_INDEX || n->kind == N_SLICE;
         n = n->a) {
        sl_push_node(c, n);
        if (n->kind == N_SLICE)
            sl_at(c, n->pos); /* before its operands, see sl_at */
        if (sl_is_method_call(n))
            n = n->a;
    }
    struct operand left = sl_expr(c, n, ANYWHERE);
    while (!c->failed && c->nodes.count > bottom) {
        n = sl_pop_node(c);
        left =
            step(c, n, left, mark, c->nodes.count == bottom ? want : ANYWHERE);
    }
    c->nodes.count = bottom;
    return c->failed ? nothing : left;
}

/* --- and, or, if else ----------------------------------------------------------------- */

/* Pushes the operands of a chain of one operator, `and` or `or`, onto c->nodes,
 * last first. */
static void push_operands(struct compiler *c, const struct sl_node *n)
{
    uint8_t kind = n->kind;

    for (; n->kind == kind; n = n->a)
        sl_push_node(c, n->b);
    sl_push_node(c, n);
}

/* Whether the expression always yields True or False. */
static bool is_boolean(const struct sl_node *n)
{
    for (; n->kind == N_AND || n->kind == N_OR; n = n->a)
        if (!is_boolean(n->b))
            return false;
    return (n->kind == N_BINARY && n->op >= OP_EQ) ||
           (n->kind == N_UNARY && n->op == OP_NOT);
}

/* Compiles b if a else c; for any other expression, True if it holds, else
 * False. */
static struct operand conditional(struct compiler *c, const struct sl_node *n,
                                  uint32_t want)
{
    bool given = n->kind == N_COND;
    struct label otherwise = {0}, end = {0};
    uint32_t reg = sl_result(c, c->unit->top, want);

    sl_condition(c, given ? n->a : n, false, &otherwise);
    if (given)
        sl_expr_into(c, n->b, reg);
    else
        sl_move(c, reg, sl_operand_of(V_TRUE));
    sl_jump(c, &end);
    sl_label_here(c, &otherwise);
    if (given)
        sl_expr_into(c, n->c, reg);
    else
        sl_move(c, reg, sl_operand_of(V_FALSE));
    sl_label_here(c, &end);
    return sl_operand_in(reg);
}

static struct operand junction(struct compiler *c, const struct sl_node *n,
                               uint32_t want)
{
    enum sl_opcode leave = n->kind == N_AND ? I_JUMP_FALSE : I_JUMP_TRUE;
    uint32_t bottom = c->nodes.count, mark = c->unit->top, reg;
    struct label end = {0};

    if (is_boolean(n)) /* compares and jumps in one instruction */
        return conditional(c, n, want);
    reg = sl_building_place(c, want);
    push_operands(c, n);
    while (!c->failed && c->nodes.count > bottom) {
        sl_expr_into(c, sl_pop_node(c), reg);
        if (c->nodes.count > bottom) {
            sl_emit(c, leave, reg, 0, 0);
            sl_jumps(c, &end);
        }
    }
    c->nodes.count = bottom;
    sl_label_here(c, &end);
    return sl_built(c, reg, mark);
}

/* --- conditions -------------------------------------------------------------------- */

/* Returns the jump instruction for `op` being `sense`. */
static enum sl_opcode jump_for(enum sl_operator op, bool sense)
{
    switch (op) {
    case OP_EQ:
    case OP_NE:
        return (op == OP_EQ) == sense ? I_JUMP_EQ : I_JUMP_NE;
    case OP_IN:
    case OP_NOT_IN:
        return (op == OP_IN) == sense ? I_JUMP_IN : I_JUMP_NOT_IN;
    default:
        return (sense ? I_JUMP_LT : I_JUMP_NOT_LT) + (op - OP_LT);
    }
}

_Static_assert(I_JUMP_NOT_GE - I_JUMP_EQ == I_JUMP_NOT_GE_K - I_JUMP_EQ_K &&
                   I_JUMP_GE - I_JUMP_LT == OP_GE - OP_LT &&
                   I_JUMP_NOT_GE - I_JUMP_NOT_LT == OP_GE - OP_LT,
               "jumps stand in the order of the operators");

static void comparison(struct compiler *c, const struct sl_node *n, bool sense,
                       struct label *to)
{
    enum sl_opcode jump = jump_for((enum sl_operator)n->op, sense);
    uint32_t a = sl_expr_register(c, n->a), k = UINT32_MAX;
    struct operand right = sl_expr(c, n->b, ANYWHERE);

    if (right.constant && jump <= I_JUMP_NOT_GE)
        k = sl_constant(c, right.v);
    if (k <= 0xffff)
        sl_emit_at(c, n->pos, jump + (I_JUMP_EQ_K - I_JUMP_EQ), a, k, 0);
    else
        sl_emit_at(c, n->pos, jump, a, sl_in_register(c, right), 0);
    sl_jumps(c, to);
}

/* Jumps for an `and` chain that is false or an `or` chain that is true: each
 * operand jumps by itself. In the opposite sense, operands jump past the last
 * one. */
static void junction_jump(struct compiler *c, const struct sl_node *n,
                          bool sense, struct label *to)
{
    bool leave = n->kind == N_OR; /* value of an operand that decides the
                                   * result */
    struct label over = {0};
    uint32_t bottom = c->nodes.count;

    push_operands(c, n);
    while (!c->failed && c->nodes.count > bottom) {
        n = sl_pop_node(c);
        if (c->nodes.count == bottom || leave == sense)
            sl_condition(c, n, sense, to);
        else
            sl_condition(c, n, leave, &over);
    }
    c->nodes.count = bottom;
    sl_label_here(c, &over);
}

void sl_condition(struct compiler *c, const struct sl_node *n, bool sense,
                  struct label *to)
{
    uint32_t mark = c->unit->top;

    for (; n->kind == N_UNARY && n->op == OP_NOT; n = n->a)
        sense = !sense;
    if (n->kind == N_AND || n->kind == N_OR) {
        junction_jump(c, n, sense, to);
    } else if (n->kind == N_BINARY && n->op >= OP_EQ) {
        comparison(c, n, sense, to);
    } else {
        struct operand o = sl_expr(c, n, ANYWHERE);
        if (!o.constant) {
            sl_emit(c, sense ? I_JUMP_TRUE : I_JUMP_FALSE, o.reg, 0, 0);
            sl_jumps(c, to);
        } else if (sl_truth(o.v) == sense) {
            sl_jump(c, to);
        }
    }
    c->unit->top = mark;
}

/* --- all of them ----------------------------------------------------------------------- */

static struct operand literal(struct compiler *c, const struct sl_node *n,
                              uint32_t want)
{
    (void)want;
    sl_begin(c);
    return sl_operand_of(n->v);
}

static sl_expression *const expressions[] = {
    [N_NAME] = name,         [N_LITERAL] = literal,
    [N_LIST] = sl_list_expr, [N_TUPLE] = sl_tuple_expr,
    [N_DICT] = sl_dict_expr, [N_COMPREHENSION] = sl_comprehension_expr,
    [N_UNARY] = unary,       [N_BINARY] = chain,
    [N_AND] = junction,      [N_OR] = junction,
    [N_COND] = conditional,  [N_DOT] = chain,
    [N_INDEX] = chain,       [N_SLICE] = chain,
    [N_CALL] = chain,        [N_LAMBDA] = sl_closure,
};

struct operand sl_expr(struct compiler *c, const struct sl_node *n,
                       uint32_t want)
{
    return c->failed ? nothing : expressions[n->kind](c, n, want);
}
