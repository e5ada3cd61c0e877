#include "compile.h"

/* --- assignment ------------------------------------------------------------------- */

static void assign_name(struct compiler *c, const struct sl_node *n,
                        struct operand v)
{
    uint32_t mark = c->unit->top, reg = sl_local_register(n->index);

    if (n->scope == SCOPE_LOCAL && reg < 0x10000) {
        sl_move(c, reg, v);
        return;
    }
    uint32_t from = sl_in_register(c, v);
    if (n->scope == SCOPE_GLOBAL) {
        sl_emit(c, I_SET_GLOBAL, 0, from, n->index);
    } else if (n->scope == SCOPE_LOCAL) {
        sl_emit(c, I_FAR_SET, 0, from, reg);
    } else {
        if (reg >= 0x10000) {
            uint32_t near = sl_temporaries(c, 1);
            sl_emit(c, I_FAR_GET, near, 0, reg);
            reg = near;
        }
        sl_emit(c, I_CELL_SET, reg, from, 0);
    }
    c->unit->top = mark;
}

static void assign(struct compiler *c, const struct sl_node *target,
                   struct operand v, struct sl_pos pos);

/* Returns the register of a variable that can be assigned directly, else
 * ANYWHERE. */
static uint32_t plain_register(const struct sl_node *n)
{
    uint32_t reg = sl_local_register(n->index);

    return n->kind == N_NAME && n->scope == SCOPE_LOCAL && reg < 0x10000
               ? reg
               : ANYWHERE;
}

/* Returns the first register of variables in adjacent registers, as in `for k,
 * v in`. */
static uint32_t plain_run(const struct sl_node *targets)
{
    uint32_t first = plain_register(targets), reg = first;

    for (const struct sl_node *n = targets; n; n = n->next, reg++)
        if (first == ANYWHERE || plain_register(n) != reg)
            return ANYWHERE;
    return first;
}

static void unpack(struct compiler *c, const struct sl_node *targets,
                   struct operand v, struct sl_pos pos)
{
    uint32_t count = sl_node_count(targets), mark = c->unit->top;
    uint32_t from = sl_in_register(c, v);
    uint32_t run = targets ? plain_run(targets) : 0;

    if (run != ANYWHERE) {
        sl_emit_at(c, pos, I_UNPACK, run, from, count);
    } else if (count <= sl_room(c)) {
        run = sl_temporaries(c, count);
        sl_emit_at(c, pos, I_UNPACK, run, from, count);
        for (const struct sl_node *n = targets; n; n = n->next)
            assign(c, n, sl_operand_in(run++), pos);
    } else {
        uint32_t all = sl_temporaries(c, 1), one = sl_temporaries(c, 1);
        int64_t i = 0;
        sl_emit_at(c, pos, I_UNPACK_TUPLE, all, from, count);
        for (const struct sl_node *n = targets; n && !c->failed; n = n->next) {
            sl_emit_at(c, pos, I_INDEX_K, one, all,
                       sl_constant(c, sl_word(i++)));
            assign(c, n, sl_operand_in(one), pos);
        }
    }
    c->unit->top = mark;
}

/* Compiles target = v. `pos` is the position for errors of unpacking. */
static void assign(struct compiler *c, const struct sl_node *target,
                   struct operand v, struct sl_pos pos)
{
    uint32_t mark = c->unit->top, object, key, from;

    if (c->failed)
        return;
    switch (target->kind) {
    case N_NAME:
        assign_name(c, target, v);
        break;
    case N_INDEX:
        object = sl_expr_register(c, target->a);
        key = sl_expr_register(c, target->b);
        sl_emit_operand(c, target->pos, I_SET_INDEX, I_SET_INDEX_K, object, key,
                        v);
        break;
    case N_DOT:
        object = sl_expr_register(c, target->a);
        from = sl_in_register(c, v);
        sl_emit_at(c, target->pos, I_SET_ATTR, object, from,
                   sl_constant(c, target->v));
        break;
    default:
        unpack(c, target->a, v, pos);
    }
    c->unit->top = mark;
}

/* Whether one of the targets from `n` up to `end` is the variable in `reg`. */
static bool is_assigned(const struct sl_node *n, const struct sl_node *end,
                        uint32_t reg)
{
    for (; n != end; n = n->next)
        if (plain_register(n) == reg || n->kind == N_TUPLE || n->kind == N_LIST)
            return true;
    return false;
}

/* Compiles a, b = x, y without a tuple. All values are evaluated before the
 * first target changes; a variable that an earlier target changes is copied. */
#define PARALLEL_MAX SL_RARE(8, 3)
static bool assign_parallel(struct compiler *c, const struct sl_node *n)
{
    const struct sl_node *targets = n->a, *values = n->b;
    struct operand v[PARALLEL_MAX] = {{0}};
    uint32_t mark = c->unit->top, count = 0;

    if ((targets->kind != N_TUPLE && targets->kind != N_LIST) ||
        (values->kind != N_TUPLE && values->kind != N_LIST) || !targets->a ||
        sl_node_count(targets->a) != sl_node_count(values->a) ||
        sl_node_count(targets->a) > PARALLEL_MAX)
        return false;
    const struct sl_node *target = targets->a;
    for (const struct sl_node *e = values->a; e; e = e->next) {
        struct operand o = sl_expr(c, e, ANYWHERE);
        if (!o.constant && !sl_is_temporary(c, o.reg) &&
            is_assigned(targets->a, target, o.reg)) {
            uint32_t copy = sl_temporaries(c, 1);
            sl_move(c, copy, o);
            o.reg = copy;
        }
        v[count++] = o;
        target = target->next;
    }
    count = 0;
    for (target = targets->a; target; target = target->next)
        assign(c, target, v[count++], n->pos);
    c->unit->top = mark;
    return true;
}

static void assignment(struct compiler *c, const struct sl_node *n)
{
    uint32_t reg = plain_register(n->a);

    if (reg != ANYWHERE)
        sl_expr_into(c, n->b, reg);
    else if (!assign_parallel(c, n))
        assign(c, n->a, sl_expr(c, n->b, ANYWHERE), n->pos);
}

/* --- x op= y -------------------------------------------------------------------------- */

/* Compiles a = a op value of `n`. Lists, dicts and sets change in place; with a
 * number or string on the right this fails in any case, so `a op b` is used. */
static void augment(struct compiler *c, const struct sl_node *n, uint32_t a)
{
    enum sl_operator op = (enum sl_operator)n->op;
    uint32_t mark = c->unit->top;
    struct operand right = sl_expr(c, n->b, ANYWHERE);
    bool simple = right.constant &&
                  (sl_type(right.v) == T_INT || sl_type(right.v) == T_FLOAT ||
                   sl_type(right.v) == T_STRING);

    if (!simple && (op == OP_ADD || op == OP_SUB || op == OP_AND ||
                    op == OP_OR || op == OP_XOR))
        sl_emit_at(c, n->pos, I_IN_PLACE, a, a,
                   sl_in_register(c, right) | (uint32_t)op << 16);
    else
        sl_binary_to(c, n->pos, op, a, a, right);
    c->unit->top = mark;
}

static void augmented(struct compiler *c, const struct sl_node *n)
{
    const struct sl_node *target = n->a;
    bool dot = target->kind == N_DOT;

    if (target->kind == N_NAME) {
        uint32_t v = sl_expr_register(c, target);
        augment(c, n, v);
        assign_name(c, target, sl_operand_in(v));
        return;
    }
    uint32_t object = sl_expr_register(c, target->a);
    struct operand k =
        dot ? sl_operand_of(target->v) : sl_expr(c, target->b, ANYWHERE);
    uint32_t key = dot ? sl_constant(c, k.v) : sl_in_register(c, k);
    uint32_t v = sl_temporaries(c, 1);
    sl_emit_operand(c, target->pos, I_INDEX, dot ? I_ATTR : I_INDEX_K, v,
                    object, k);
    augment(c, n, v);
    if (dot)
        sl_emit_at(c, target->pos, I_SET_ATTR, object, v, key);
    else
        sl_emit_at(c, target->pos, I_SET_INDEX, object, key, v);
}

/* --- loops ---------------------------------------------------------------------------- */

void sl_loop_begin(struct compiler *c, struct open_loop *loop,
                   const struct sl_node *target, const struct sl_node *iterable,
                   struct sl_pos pos)
{
    uint32_t variable = plain_register(target);

    *loop = (struct open_loop){.outer = c->unit->loop, .pos = pos};
    loop->depth = loop->outer ? loop->outer->depth + 1 : 1;
    if (loop->depth > SL_LOOPS_MAX)
        sl_too_large(c, pos, "loops inside each other");
    loop->iterator = sl_temporaries(c, 3);
    uint32_t mark = c->unit->top;
    uint32_t of = sl_expr_register(c, iterable);
    sl_emit_at(c, pos, I_FOR_BEGIN, loop->iterator, of, 0);
    sl_jumps(c, &loop->next);
    c->unit->top = mark;
    loop->begin = sl_here(c);
    c->unit->loop = loop;
    loop->variable = variable != ANYWHERE ? variable : sl_temporaries(c, 1);
    if (variable == ANYWHERE)
        assign(c, target, sl_operand_in(loop->variable), pos);
}

void sl_loop_end(struct compiler *c)
{
    struct open_loop *loop = c->unit->loop;
    struct sl_pos place = c->unit->at;

    sl_label_here(c, &loop->next);
    uint32_t end = sl_here(c) + 1;
    sl_emit_at(c, loop->pos, I_FOR_NEXT, loop->iterator, loop->variable,
               loop->begin - end);
    sl_at(c, place);
    struct sl_loop *range = sl_pile_add(c, &c->loops, sizeof *range);
    *range = (struct sl_loop){loop->begin, end, loop->iterator};
    c->unit->loop = loop->outer;
    c->unit->top = loop->iterator;
    sl_label_here(c, &loop->exit);
}

static void for_statement(struct compiler *c, const struct sl_node *n)
{
    struct open_loop loop;

    sl_loop_begin(c, &loop, n->a, n->b, n->pos);
    sl_statements(c, n->c, NULL);
    sl_loop_end(c);
}

static void return_statement(struct compiler *c, const struct sl_node *n)
{
    uint32_t reg = n->a ? sl_expr_register(c, n->a) : 0;

    sl_begin(c);
    for (struct open_loop *l = c->unit->loop; l; l = l->outer)
        sl_emit(c, I_FOR_END, l->iterator, 0, 0);
    sl_emit(c, n->a ? I_RETURN : I_RETURN_NONE, 0, reg, 0);
}

/* --- statements ----------------------------------------------------------------------- */

/* An elif is the else part of the preceding if; the chain is walked in a
 * loop. */
static void if_statement(struct compiler *c, const struct sl_node *n)
{
    struct label end = {0};

    for (;;) {
        struct label otherwise = {0};
        if (n->b->kind == N_CONTINUE && !n->c) {
            sl_condition(c, n->a, true, &c->unit->loop->next);
            break;
        }
        sl_condition(c, n->a, false, &otherwise);
        if (sl_statements(c, n->b, NULL) && n->c)
            sl_jump(c, &end);
        sl_label_here(c, &otherwise);
        if (!n->c || c->failed)
            break;
        if (n->c->kind != N_IF || n->c->next) {
            sl_statements(c, n->c, NULL);
            break;
        }
        n = n->c;
    }
    sl_label_here(c, &end);
}

static void load_statement(struct compiler *c, const struct sl_node *n)
{
    uint32_t module = sl_temporaries(c, 1);

    sl_emit_at(c, n->pos, I_LOAD, module, 0, sl_constant(c, n->v));
    for (const struct sl_node *b = n->a; b && !c->failed; b = b->next) {
        uint32_t reg = plain_register(b->a);
        uint32_t to = reg != ANYWHERE ? reg : sl_temporaries(c, 1);
        sl_emit_at(c, n->pos, I_LOAD_NAME, to, module, sl_constant(c, b->b->v));
        assign_name(c, b->a, sl_operand_in(to));
        c->unit->top = module + 1;
    }
}

static void statement(struct compiler *c, const struct sl_node *n)
{
    uint32_t mark = c->unit->top;

    switch ((enum sl_node_kind)n->kind) {
    case N_EXPR:
        if (n->a->kind != N_LITERAL) /* skip documentation strings */
            sl_expr(c, n->a, ANYWHERE);
        break;
    case N_ASSIGN:
        assignment(c, n);
        break;
    case N_AUGMENT:
        augmented(c, n);
        break;
    case N_DEF: {
        uint32_t reg = plain_register(n->c);
        assign_name(c, n->c, sl_closure(c, n, reg));
        break;
    }
    case N_IF:
        if_statement(c, n);
        break;
    case N_FOR:
        for_statement(c, n);
        break;
    case N_RETURN:
        return_statement(c, n);
        break;
    case N_BREAK:
        sl_emit(c, I_FOR_END, c->unit->loop->iterator, 0, 0);
        sl_jump(c, &c->unit->loop->exit);
        break;
    case N_CONTINUE:
        sl_jump(c, &c->unit->loop->next);
        break;
    case N_LOAD:
        load_statement(c, n);
        break;
    default: /* pass */
        break;
    }
    c->unit->top = mark;
}

bool sl_statements(struct compiler *c, const struct sl_node *n,
                   const struct sl_node *end)
{
    for (; n != end && !c->failed; n = n->next) {
        statement(c, n);
        if (n->kind == N_RETURN || n->kind == N_BREAK || n->kind == N_CONTINUE)
            return false;
    }
    return true;
}
