#include "compile.h"

/* --- and, or, if else ----------------------------------------------------------------- */

/* Puts the operands of a chain of one of `and`, `or` on c->nodes, last first.
 */
static void push_operands(struct sl_compiler *c, const struct sl_node *n)
{
    enum sl_node_kind kind = (enum sl_node_kind)n->kind;
    const struct sl_node **operand;

    for (; n->kind == kind; n = n->a) {
        operand = sl_pile_add(c, &c->nodes, sizeof *operand);
        *operand = n->b;
    }
    operand = sl_pile_add(c, &c->nodes, sizeof *operand);
    *operand = n;
}

/* Whether evaluating `n` surely does not read the variable in `reg`. */
static bool is_independent(const struct sl_node *n, uint32_t reg)
{
    if (n->kind == N_LIST || n->kind == N_DICT)
        return !n->a;
    if (n->kind == N_NAME)
        return n->scope != SCOPE_LOCAL || sl_local_register(n->index) != reg;
    return n->kind == N_LITERAL;
}

/* Whether it surely gives True or False. */
static bool is_boolean(const struct sl_node *n)
{
    for (; n->kind == N_AND || n->kind == N_OR; n = n->a)
        if (!is_boolean(n->b))
            return false;
    return (n->kind == N_BINARY && n->op >= OP_EQ) ||
           (n->kind == N_UNARY && n->op == OP_NOT);
}

/* As a condition, which compares and jumps in one. */
static struct sl_operand boolean(struct sl_compiler *c, const struct sl_node *n,
                                 uint32_t want)
{
    uint32_t reg = sl_result(c, c->unit->top, want);
    struct sl_label otherwise = {0}, end = {0};

    sl_condition(c, n, false, &otherwise);
    sl_move(c, reg, sl_operand_of(V_TRUE));
    sl_jump(c, &end);
    sl_label_here(c, &otherwise);
    sl_move(c, reg, sl_operand_of(V_FALSE));
    sl_label_here(c, &end);
    return sl_operand_in(reg);
}

struct sl_operand sl_junction_expr(struct sl_compiler *c,
                                   const struct sl_node *n, uint32_t want)
{
    enum sl_opcode leave = n->kind == N_AND ? I_JUMP_FALSE : I_JUMP_TRUE;
    uint32_t bottom = c->nodes.count, mark = c->unit->top, reg = want;
    struct sl_label end = {0};

    if (is_boolean(n))
        return boolean(c, n, want);
    /* Two operands may go straight into the variable: `x = x or []`. */
    if (want == SL_ANYWHERE || n->a->kind == n->kind ||
        !is_independent(n->b, want))
        reg = sl_building_place(c, want);
    push_operands(c, n);
    while (!c->failed && c->nodes.count > bottom) {
        n = sl_top_node(c);
        c->nodes.count--;
        sl_expr_into(c, n, reg);
        if (c->nodes.count > bottom) {
            sl_emit(c, leave, reg, 0, 0);
            sl_jumps(c, &end);
        }
    }
    c->nodes.count = bottom;
    sl_label_here(c, &end);
    c->unit->top = reg == mark ? mark + 1 : mark;
    return sl_operand_in(reg);
}

struct sl_operand sl_conditional_expr(struct sl_compiler *c,
                                      const struct sl_node *n, uint32_t want)
{
    struct sl_label otherwise = {0}, end = {0};
    uint32_t reg = sl_result(c, c->unit->top, want);

    sl_condition(c, n->a, false, &otherwise);
    sl_expr_into(c, n->b, reg);
    sl_jump(c, &end);
    sl_label_here(c, &otherwise);
    sl_expr_into(c, n->c, reg);
    sl_label_here(c, &end);
    return sl_operand_in(reg);
}

/* --- conditions -------------------------------------------------------------------- */

/* The jump to take when `op` gives `sense`. */
static enum sl_opcode jump_for(enum sl_operator op, bool sense)
{
    switch (op) {
    case OP_EQ:
        return sense ? I_JUMP_EQ : I_JUMP_NE;
    case OP_NE:
        return sense ? I_JUMP_NE : I_JUMP_EQ;
    case OP_IN:
        return sense ? I_JUMP_IN : I_JUMP_NOT_IN;
    case OP_NOT_IN:
        return sense ? I_JUMP_NOT_IN : I_JUMP_IN;
    default:
        return (enum sl_opcode)((sense ? I_JUMP_LT : I_JUMP_NOT_LT) +
                                (op - OP_LT));
    }
}

_Static_assert(I_JUMP_NOT_GE - I_JUMP_EQ == I_JUMP_NOT_GE_K - I_JUMP_EQ_K &&
                   I_JUMP_GE - I_JUMP_LT == OP_GE - OP_LT &&
                   I_JUMP_NOT_GE - I_JUMP_NOT_LT == OP_GE - OP_LT,
               "jumps stand in the order of the operators");

static void comparison(struct sl_compiler *c, const struct sl_node *n,
                       bool sense, struct sl_label *to)
{
    enum sl_opcode jump = jump_for((enum sl_operator)n->op, sense);
    struct sl_operand left = sl_expr(c, n->a, SL_ANYWHERE);
    uint32_t a = sl_in_register(c, left), k = UINT32_MAX;
    struct sl_operand right = sl_expr(c, n->b, SL_ANYWHERE);

    if (right.constant && jump <= I_JUMP_NOT_GE)
        k = sl_constant(c, right.v);
    if (k <= 0xffff)
        sl_emit_at(c, n->pos, jump + (I_JUMP_EQ_K - I_JUMP_EQ), a, k, 0);
    else
        sl_emit_at(c, n->pos, jump, a, sl_in_register(c, right), 0);
    sl_jumps(c, to);
}

/* A chain of `and` that jumps when it is false, or of `or` when it is true:
 * each operand jumps by itself. The other way round they jump over the last. */
static void junction_jump(struct sl_compiler *c, const struct sl_node *n,
                          bool sense, struct sl_label *to)
{
    bool leave = n->kind == N_OR; /* what one operand decides the whole by */
    struct sl_label over = {0};
    uint32_t bottom = c->nodes.count;

    push_operands(c, n);
    while (!c->failed && c->nodes.count > bottom) {
        n = sl_top_node(c);
        c->nodes.count--;
        bool last = c->nodes.count == bottom;
        if (last || leave == sense)
            sl_condition(c, n, sense, to);
        else
            sl_condition(c, n, leave, &over);
    }
    c->nodes.count = bottom;
    sl_label_here(c, &over);
}

void sl_condition(struct sl_compiler *c, const struct sl_node *n, bool sense,
                  struct sl_label *to)
{
    uint32_t mark = c->unit->top;

    for (; n->kind == N_UNARY && n->op == OP_NOT; n = n->a)
        sense = !sense;
    if (n->kind == N_AND || n->kind == N_OR) {
        junction_jump(c, n, sense, to);
    } else if (n->kind == N_BINARY && n->op >= OP_EQ) {
        comparison(c, n, sense, to);
    } else {
        struct sl_operand o = sl_expr(c, n, SL_ANYWHERE);
        if (!o.constant) {
            sl_emit(c, sense ? I_JUMP_TRUE : I_JUMP_FALSE, o.reg, 0, 0);
            sl_jumps(c, to);
        } else if (sl_truth(o.v) == sense) {
            sl_jump(c, to);
        }
    }
    c->unit->top = mark;
}
