#include "compile.h"

static const struct sl_operand nothing = {.constant = true, .v = V_NONE};

static struct sl_operand in(uint32_t reg)
{
    return (struct sl_operand){.reg = reg};
}

static struct sl_operand constant(value v)
{
    return (struct sl_operand){.constant = true, .v = v};
}

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

/* What is built up in several steps must not be built in a variable, which the
 * later steps may read. */
static uint32_t building_place(struct sl_compiler *c, uint32_t want)
{
    return want != SL_ANYWHERE && sl_is_temporary(c, want) ? want
                                                           : sl_temporary(c);
}

/* --- names ---------------------------------------------------------------------- */

static struct sl_operand local(struct sl_compiler *c, const struct sl_node *n,
                               uint32_t want)
{
    uint32_t reg = sl_local_register(n->index);

    if (reg >= 0x10000) {
        uint32_t far = reg;
        reg = sl_result(c, c->unit->top, want);
        sl_emit(c, I_FAR_GET, reg, 0, far);
    }
    if (!(n->flags & NODE_SURELY_SET))
        sl_emit_at(c, n->pos, I_CHECK, reg, 0, sl_constant(c, n->v));
    return in(reg);
}

static struct sl_operand name(struct sl_compiler *c, const struct sl_node *n,
                              uint32_t want)
{
    if (n->scope == SCOPE_PREDECLARED)
        return constant(n->bound);
    if (n->scope == SCOPE_LOCAL)
        return local(c, n, want);

    uint32_t reg = sl_result(c, c->unit->top, want);
    uint32_t cell = sl_local_register(n->index);
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
    return in(reg);
}

/* --- constants ------------------------------------------------------------------- */

/* Whether `n` is a constant by itself: a literal, a predeclared name, a tuple of
 * such (tuples have no identity that a program could see). Tuples inside are
 * looked at `depth` deep, so that this stays a small part of the work. */
static bool is_constant(const struct sl_node *n, unsigned depth)
{
    if (n->kind != N_TUPLE)
        return n->kind == N_LITERAL ||
               (n->kind == N_NAME && n->scope == SCOPE_PREDECLARED);
    if (!depth)
        return false;
    for (n = n->a; n; n = n->next)
        if (!is_constant(n, depth - 1))
            return false;
    return true;
}

static value constant_value(struct sl_compiler *c, const struct sl_node *n)
{
    size_t count = 0, i = 0;

    if (n->kind != N_TUPLE)
        return n->kind == N_LITERAL ? n->v : n->bound;
    for (const struct sl_node *item = n->a; item; item = item->next)
        count++;
    value tuple = sl_tuple_new(c->s, count);
    for (const struct sl_node *item = n->a; item && tuple; item = item->next) {
        value v = constant_value(c, item);
        if (!v)
            return 0;
        sl_tuple(tuple)->items[i++] = v;
    }
    return tuple;
}

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
        if (v)
            return constant(v);
    }
    /* The result may go where an operand was. */
    sl_binary_to(c, n->pos, (enum sl_operator)n->op,
                 want == SL_ANYWHERE ? mark : want, sl_in_register(c, left),
                 right);
    return in(sl_result(c, mark, want));
}

static struct sl_operand unary(struct sl_compiler *c, const struct sl_node *n,
                               uint32_t want)
{
    uint32_t mark = c->unit->top;
    struct sl_operand o = sl_expr(c, n->a, SL_ANYWHERE);

    if (o.constant && n->op == OP_NOT)
        return constant(sl_bool(!sl_truth(o.v)));
    if (o.constant && n->op == OP_NEG && sl_type(o.v) == T_INT) {
        value v = c->failed ? 0 : sl_int_negate(c->s, o.v);
        c->failed |= !v;
        return constant(v);
    }
    if (o.constant && n->op == OP_NEG && sl_type(o.v) == T_FLOAT) {
        value v = c->failed ? 0 : sl_float(c->s, -sl_float_of(o.v));
        c->failed |= !v;
        return constant(v);
    }
    uint32_t b = sl_in_register(c, o);
    uint32_t a = sl_result(c, mark, want);
    sl_emit_at(c, n->pos, (enum sl_opcode)(I_NEG + (n->op - OP_NEG)), a, b, 0);
    return in(a);
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
    return in(a);
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
    sl_emit_at(c, n->pos, I_SLICE, a, b, run | given << 16);
    return in(a);
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

static const struct sl_node *top_node(const struct sl_compiler *c)
{
    return ((const struct sl_node **)c->nodes.items)[c->nodes.count - 1];
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
        return in(a);
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
    }
    struct sl_operand left = sl_expr(c, n, SL_ANYWHERE);
    while (!c->failed && c->nodes.count > bottom) {
        n = top_node(c);
        c->nodes.count--;
        if (n->kind == N_DOT && c->nodes.count > bottom &&
            sl_is_method_call(c, top_node(c))) {
            const struct sl_node *call = top_node(c);
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

static struct sl_operand junction(struct sl_compiler *c,
                                  const struct sl_node *n, uint32_t want)
{
    enum sl_opcode leave = n->kind == N_AND ? I_JUMP_FALSE : I_JUMP_TRUE;
    uint32_t bottom = c->nodes.count, mark = c->unit->top, reg = want;
    struct sl_label end = {0};

    /* Two operands may go straight into the variable: `x = x or []`. */
    if (want == SL_ANYWHERE || n->a->kind == n->kind ||
        !is_independent(n->b, want))
        reg = building_place(c, want);
    push_operands(c, n);
    while (!c->failed && c->nodes.count > bottom) {
        n = top_node(c);
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
    return in(reg);
}

static struct sl_operand conditional(struct sl_compiler *c,
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
    return in(reg);
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
        n = top_node(c);
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

/* --- lists, tuples, dicts ------------------------------------------------------------ */

static uint32_t count_nodes(const struct sl_node *n)
{
    uint32_t count = 0;

    for (; n; n = n->next)
        count++;
    return count;
}

/* The next `count` items into the registers from `run` on. */
static const struct sl_node *items_into(struct sl_compiler *c,
                                        const struct sl_node *n, uint32_t count,
                                        uint32_t run)
{
    for (uint32_t i = 0; i < count; i++, n = n->next)
        sl_expr_into(c, n, run + i);
    return n;
}

#define LIST_CHUNK 128

void sl_list_into(struct sl_compiler *c, const struct sl_node *n,
                  uint32_t count, uint32_t reg, struct sl_pos pos)
{
    enum sl_opcode op = I_LIST;
    uint32_t mark = c->unit->top;
    uint32_t chunk = sl_room(c) < LIST_CHUNK ? sl_room(c) : LIST_CHUNK;

    do {
        uint32_t now = count < chunk ? count : chunk;
        uint32_t run = now ? sl_temporaries(c, now) : 0;
        n = items_into(c, n, now, run);
        sl_emit_at(c, pos, op, reg, run, now);
        c->unit->top = mark;
        op = I_LIST_EXTEND;
        count -= now;
    } while (count);
}

static struct sl_operand list_expr(struct sl_compiler *c,
                                   const struct sl_node *n, uint32_t want)
{
    uint32_t mark = c->unit->top, count = count_nodes(n->a);
    bool one_step = count <= LIST_CHUNK && count <= sl_room(c);
    uint32_t reg = want;

    if (want == SL_ANYWHERE || !one_step)
        reg = building_place(c, want);
    sl_list_into(c, n->a, count, reg, n->pos);
    c->unit->top = reg == mark ? mark + 1 : mark;
    return in(reg);
}

static struct sl_operand tuple_expr(struct sl_compiler *c,
                                    const struct sl_node *n, uint32_t want)
{
    uint32_t mark = c->unit->top, count = count_nodes(n->a), run = 0;

    if (is_constant(n, 3)) {
        value v = c->failed ? 0 : constant_value(c, n);
        c->failed |= !v;
        return constant(v);
    }
    if (count <= sl_room(c)) {
        run = sl_temporaries(c, count);
        items_into(c, n->a, count, run);
        uint32_t reg = sl_result(c, mark, want);
        sl_emit_at(c, n->pos, I_TUPLE, reg, run, count);
        return in(reg);
    }
    run = sl_temporary(c);
    sl_list_into(c, n->a, count, run, n->pos);
    uint32_t reg = sl_result(c, mark, want);
    sl_emit_at(c, n->pos, I_UNPACK_TUPLE, reg, run, count);
    return in(reg);
}

static struct sl_operand dict_expr(struct sl_compiler *c,
                                   const struct sl_node *n, uint32_t want)
{
    uint32_t mark = c->unit->top, count = count_nodes(n->a);
    uint32_t reg = n->a || want == SL_ANYWHERE ? building_place(c, want) : want;

    sl_emit_at(c, n->pos, I_DICT, reg, 0, count < 0xffffff ? count : 0xffffff);
    for (n = n->a; n && !c->failed; n = n->next) {
        uint32_t top = c->unit->top;
        uint32_t key = sl_in_register(c, sl_expr(c, n->a, SL_ANYWHERE));
        uint32_t v = sl_in_register(c, sl_expr(c, n->b, SL_ANYWHERE));
        sl_emit_at(c, n->pos, I_DICT_PUT, reg, key, v);
        c->unit->top = top;
    }
    c->unit->top = reg == mark ? mark + 1 : mark;
    return in(reg);
}

/* --- comprehensions -------------------------------------------------------------------- */

static void element(struct sl_compiler *c, const struct sl_node *n,
                    uint32_t reg)
{
    const struct sl_node *e = n->a;

    if (n->flags & COMP_DICT) {
        uint32_t key = sl_in_register(c, sl_expr(c, e->a, SL_ANYWHERE));
        uint32_t v = sl_in_register(c, sl_expr(c, e->b, SL_ANYWHERE));
        sl_emit_at(c, e->pos, I_SET_INDEX, reg, key, v);
    } else {
        uint32_t v = sl_in_register(c, sl_expr(c, e, SL_ANYWHERE));
        sl_emit_at(c, n->pos, I_APPEND, reg, v, 0);
    }
}

static struct sl_operand comprehension(struct sl_compiler *c,
                                       const struct sl_node *n, uint32_t want)
{
    struct sl_open_loop *outside = c->unit->loop;
    uint32_t mark = c->unit->top, reg = building_place(c, want);

    if (n->flags & COMP_DICT)
        sl_emit_at(c, n->pos, I_DICT, reg, 0, 0);
    else
        sl_emit_at(c, n->pos, I_LIST, reg, 0, 0);
    for (const struct sl_node *clause = n->b; clause && !c->failed;
         clause = clause->next) {
        if (clause->kind == N_CLAUSE_IF) {
            sl_condition(c, clause->a, false, &c->unit->loop->next);
            continue;
        }
        struct sl_open_loop *loop =
            sl_arena_alloc(c->s, &c->arena, sizeof *loop);
        if (loop)
            sl_loop_begin(c, loop, clause->a, clause->b, clause->pos);
        else
            c->failed = true;
    }
    if (!c->failed)
        element(c, n, reg);
    while (c->unit->loop != outside)
        sl_loop_end(c, c->unit->loop);
    c->unit->top = reg == mark ? mark + 1 : mark;
    return in(reg);
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
        return constant(n->v);
    case N_LIST:
        return list_expr(c, n, want);
    case N_TUPLE:
        return tuple_expr(c, n, want);
    case N_DICT:
        return dict_expr(c, n, want);
    case N_COMPREHENSION:
        return comprehension(c, n, want);
    case N_UNARY:
        return unary(c, n, want);
    case N_AND:
    case N_OR:
        return junction(c, n, want);
    case N_COND:
        return conditional(c, n, want);
    case N_LAMBDA:
        return sl_closure(c, n, want);
    default:
        return chain(c, n, want);
    }
}
