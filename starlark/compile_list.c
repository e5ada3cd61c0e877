#include "compile.h"

/* --- constant tuples ------------------------------------------------------------------- */

/* Whether `n` is a constant by itself: a literal, a predeclared name, a tuple of
 * such (tuples have no identity that a program could see). Tuples inside are
 * looked at `depth` deep, so that this stays a small part of the work. */
static bool is_constant(const struct sl_node *n, unsigned depth)
{
    switch (n->kind) {
    case N_LITERAL:
        return true;
    case N_NAME:
        return n->scope == SCOPE_PREDECLARED;
    case N_UNARY:
        return n->op == OP_NEG && n->a->kind == N_LITERAL &&
               (sl_type(n->a->v) == T_INT || sl_type(n->a->v) == T_FLOAT);
    case N_TUPLE:
        if (!depth)
            return false;
        for (n = n->a; n; n = n->next)
            if (!is_constant(n, depth - 1))
                return false;
        return true;
    default:
        return false;
    }
}

static value constant_value(struct sl_compiler *c, const struct sl_node *n)
{
    size_t i = 0;

    if (n->kind == N_UNARY) {
        sl_at(c, n->pos);
        return sl_negated(c, n->a->v);
    }
    if (n->kind != N_TUPLE)
        return n->kind == N_LITERAL ? n->v : n->bound;
    value tuple = c->failed ? 0 : sl_tuple_new(c->s, sl_node_count(n->a));
    if (!tuple) {
        c->failed = true;
        return V_NONE;
    }
    for (const struct sl_node *item = n->a; item; item = item->next) {
        value v = constant_value(c, item);
        sl_tuple(tuple)->items[i++] = v;
    }
    return tuple;
}

/* --- lists, tuples, dicts ------------------------------------------------------------ */

/* The next `count` items into the registers from `run` on. */
static const struct sl_node *items_into(struct sl_compiler *c,
                                        const struct sl_node *n, uint32_t count,
                                        uint32_t run)
{
    for (uint32_t i = 0; i < count; i++, n = n->next)
        sl_expr_into(c, n, run + i);
    return n;
}

#define LIST_CHUNK SL_RARE(128, 3)

void sl_list_into(struct sl_compiler *c, const struct sl_node *n,
                  uint32_t count, uint32_t reg)
{
    enum sl_opcode op = I_LIST;
    uint32_t mark = c->unit->top;
    uint32_t chunk = sl_room(c) < LIST_CHUNK ? sl_room(c) : LIST_CHUNK;

    do {
        uint32_t now = count < chunk ? count : chunk;
        uint32_t run = now ? sl_temporaries(c, now) : 0;
        n = items_into(c, n, now, run);
        sl_emit_so(c, op, reg, run, now);
        c->unit->top = mark;
        op = I_LIST_EXTEND;
        count -= now;
    } while (count);
}

struct sl_operand sl_list_expr(struct sl_compiler *c, const struct sl_node *n,
                               uint32_t want)
{
    uint32_t mark = c->unit->top, count = sl_node_count(n->a);
    bool one_step = count <= LIST_CHUNK && count <= sl_room(c);
    uint32_t reg = want;

    if (want == SL_ANYWHERE || !one_step)
        reg = sl_building_place(c, want);
    sl_list_into(c, n->a, count, reg);
    c->unit->top = reg == mark ? mark + 1 : mark;
    return sl_operand_in(reg);
}

struct sl_operand sl_tuple_expr(struct sl_compiler *c, const struct sl_node *n,
                                uint32_t want)
{
    uint32_t mark = c->unit->top, count = sl_node_count(n->a), run = 0;

    if (is_constant(n, 3)) {
        sl_begin(c);
        return sl_operand_of(constant_value(c, n));
    }
    if (count <= sl_room(c)) {
        run = sl_temporaries(c, count);
        items_into(c, n->a, count, run);
        uint32_t reg = sl_result(c, mark, want);
        sl_emit_so(c, I_TUPLE, reg, run, count);
        return sl_operand_in(reg);
    }
    run = sl_temporary(c);
    sl_list_into(c, n->a, count, run);
    uint32_t reg = sl_result(c, mark, want);
    sl_emit_so(c, I_UNPACK_TUPLE, reg, run, count);
    return sl_operand_in(reg);
}

struct sl_operand sl_dict_expr(struct sl_compiler *c, const struct sl_node *n,
                               uint32_t want)
{
    uint32_t mark = c->unit->top, count = sl_node_count(n->a);
    uint32_t reg =
        n->a || want == SL_ANYWHERE ? sl_building_place(c, want) : want;

    sl_emit_so(c, I_DICT, reg, 0, count < 0xffffff ? count : 0xffffff);
    for (n = n->a; n && !c->failed; n = n->next) {
        uint32_t top = c->unit->top;
        uint32_t key = sl_in_register(c, sl_expr(c, n->a, SL_ANYWHERE));
        uint32_t v = sl_in_register(c, sl_expr(c, n->b, SL_ANYWHERE));
        sl_emit_at(c, n->pos, I_DICT_PUT, reg, key, v);
        c->unit->top = top;
    }
    c->unit->top = reg == mark ? mark + 1 : mark;
    return sl_operand_in(reg);
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
        sl_emit_so(c, I_APPEND, reg, v, 0);
    }
}

struct sl_operand sl_comprehension_expr(struct sl_compiler *c,
                                        const struct sl_node *n, uint32_t want)
{
    struct sl_open_loop *outside = c->unit->loop;
    uint32_t mark = c->unit->top, reg = sl_building_place(c, want);

    if (n->flags & COMP_DICT)
        sl_emit_so(c, I_DICT, reg, 0, 0);
    else
        sl_emit_so(c, I_LIST, reg, 0, 0);
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
    return sl_operand_in(reg);
}
