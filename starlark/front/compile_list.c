#include "../lib/lib.h"
#include "compile.h"

/* --- lists, tuples, dicts ------------------------------------------------------------ */

/* Compiles the next `count` items into the registers from `run` on. */
static const struct sl_node *items_into(struct compiler *c,
                                        const struct sl_node *n, uint32_t count,
                                        uint32_t run)
{
    for (uint32_t i = 0; i < count; i++, n = n->next)
        sl_expr_into(c, n, run + i);
    return n;
}

#define LIST_CHUNK SL_RARE(128, 3)

/* Creates a list of the `count` expressions from `n` on. `reg` is a temporary,
 * unless one instruction suffices. */
static void list_into(struct compiler *c, const struct sl_node *n,
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

struct operand sl_list_expr(struct compiler *c, const struct sl_node *n,
                            uint32_t want)
{
    uint32_t mark = c->unit->top, count = sl_node_count(n->a), reg = want;

    if (want == ANYWHERE || count > LIST_CHUNK || count > sl_room(c))
        reg = sl_building_place(c, want);
    list_into(c, n->a, count, reg);
    return sl_built(c, reg, mark);
}

/* A tuple of literals and predeclared names is a constant, since programs
 * cannot observe the identity of tuples. Returns 0 if it is not constant, or on
 * failure. */
static value constant_tuple(struct compiler *c, const struct sl_node *n,
                            uint32_t count)
{
    const struct sl_node *item = n->a;
    size_t i = 0;

    while (item && (item->kind == N_LITERAL ||
                    (item->kind == N_NAME && item->scope == SCOPE_PREDECLARED)))
        item = item->next;
    if (item)
        return 0;
    value tuple = sl_tuple_new(c->s, count);
    c->failed = !tuple;
    for (item = n->a; item && tuple; item = item->next)
        sl_tuple(tuple)->items[i++] =
            item->kind == N_LITERAL ? item->v : item->bound;
    return tuple;
}

struct operand sl_tuple_expr(struct compiler *c, const struct sl_node *n,
                             uint32_t want)
{
    uint32_t mark = c->unit->top, count = sl_node_count(n->a), run;
    bool many = count > sl_room(c);
    value constant = constant_tuple(c, n, count);

    if (constant) {
        sl_begin(c);
        return sl_operand_of(constant);
    }
    run = sl_temporaries(c, many ? 1 : count);
    if (many)
        list_into(c, n->a, count, run);
    else
        items_into(c, n->a, count, run);
    uint32_t reg = sl_result(c, mark, want);
    sl_emit_so(c, many ? I_UNPACK_TUPLE : I_TUPLE, reg, run, count);
    return sl_operand_in(reg);
}

static void dict_into(struct compiler *c, uint32_t count, uint32_t reg)
{
    sl_emit_so(c, I_DICT, reg, 0, count < 0xffffff ? count : 0xffffff);
}

struct operand sl_dict_expr(struct compiler *c, const struct sl_node *n,
                            uint32_t want)
{
    uint32_t mark = c->unit->top;
    uint32_t reg = n->a || want == ANYWHERE ? sl_building_place(c, want) : want;

    dict_into(c, sl_node_count(n->a), reg);
    for (n = n->a; n && !c->failed; n = n->next) {
        uint32_t top = c->unit->top;
        uint32_t key = sl_expr_register(c, n->a);
        uint32_t v = sl_expr_register(c, n->b);
        sl_emit_at(c, n->pos, I_DICT_PUT, reg, key, v);
        c->unit->top = top;
    }
    return sl_built(c, reg, mark);
}

struct operand sl_comprehension_expr(struct compiler *c,
                                     const struct sl_node *n, uint32_t want)
{
    struct open_loop *outside = c->unit->loop;
    uint32_t mark = c->unit->top, reg = sl_building_place(c, want);
    const struct sl_node *element = n->a;
    bool dict = n->flags & COMP_DICT;

    sl_emit_so(c, dict ? I_DICT : I_LIST, reg, 0, 0);
    for (const struct sl_node *clause = n->b; clause && !c->failed;
         clause = clause->next) {
        if (clause->kind == N_CLAUSE_IF) {
            sl_condition(c, clause->a, false, &c->unit->loop->next);
            continue;
        }
        struct open_loop *loop = sl_arena_alloc(c->s, &c->arena, sizeof *loop);
        c->failed |= !loop;
        if (loop)
            sl_loop_begin(c, loop, clause->a, clause->b, clause->pos);
    }
    if (dict) {
        uint32_t key = sl_expr_register(c, element->a);
        uint32_t v = sl_expr_register(c, element->b);
        sl_emit_at(c, element->pos, I_SET_INDEX, reg, key, v);
    } else {
        sl_emit_so(c, I_APPEND, reg, sl_expr_register(c, element), 0);
    }
    while (c->unit->loop != outside)
        sl_loop_end(c);
    return sl_built(c, reg, mark);
}

/* --- calls ------------------------------------------------------------------------- */

/* The arguments of a call: positional, named, *, **, in this order. */
struct arguments {
    uint32_t positional, named;
    const struct sl_node *first, *first_named, *star, *starstar;
    bool plain; /* positional arguments only */
};

static struct arguments arguments_of(const struct sl_node *call)
{
    struct arguments a = {.first = call->b};

    for (const struct sl_node *n = call->b; n; n = n->next) {
        if (n->kind == N_ARG_NAMED) {
            if (!a.named++)
                a.first_named = n;
        } else if (n->kind == N_ARG_STAR) {
            a.star = n->a;
        } else if (n->kind == N_ARG_STARSTAR) {
            a.starstar = n->a;
        } else {
            a.positional++;
        }
    }
    a.plain = !a.named && !a.star && !a.starstar;
    return a;
}

static uint32_t site(struct compiler *c, struct sl_site site)
{
    struct sl_site *s = sl_pile_add(c, &c->sites, sizeof *s);

    *s = site;
    return c->sites.count - 1 - c->unit->sites;
}

/* Arguments of C functions may be in any registers, so a single one stays where
 * it is. */
static uint32_t native_arguments(struct compiler *c, const struct arguments *a)
{
    if (a->positional == 1)
        return sl_expr_register(c, a->first);
    uint32_t run = a->positional ? sl_temporaries(c, a->positional) : 0;
    items_into(c, a->first, a->positional, run);
    return run;
}

#define METHOD_ARGUMENTS_MAX SL_RARE(63u, 2u)

bool sl_is_method_call(const struct sl_node *n)
{
    if (n->kind != N_CALL || n->a->kind != N_DOT)
        return false;
    struct arguments a = arguments_of(n);
    return a.plain && a.positional <= METHOD_ARGUMENTS_MAX;
}

/* Whether evaluating the arguments can neither fail nor have effects; then the
 * method may be looked up after them. */
static bool are_simple(const struct sl_node *n)
{
    for (; n; n = n->next) {
        bool name = n->kind == N_NAME &&
                    (n->scope == SCOPE_PREDECLARED || n->scope == SCOPE_FREE ||
                     (n->scope == SCOPE_LOCAL && (n->flags & NODE_SURELY_SET)));
        if (!name && n->kind != N_LITERAL)
            return false;
    }
    return true;
}

static struct operand method_call(struct compiler *c,
                                  const struct sl_node *call,
                                  struct operand self, uint32_t mark,
                                  uint32_t want)
{
    const struct sl_node *dot = call->a;
    struct arguments a = arguments_of(call);
    struct sl_string *name = sl_string(dot->v);
    enum sl_method method = sl_method_number(name->p, name->length);
    uint32_t reg = sl_in_register(c, self);
    struct sl_site s = {.positional = a.positional,
                        .method = (uint16_t)method,
                        .name = sl_constant(c, dot->v),
                        .dot = dot->pos};
    bool surely_there = self.constant && sl_method(self.v, method);

    sl_at(c, dot->pos);
    if (!surely_there && !are_simple(a.first))
        sl_emit_at(c, dot->pos, I_HAS_METHOD, reg, 0, site(c, s));
    s.args = native_arguments(c, &a);
    s.dst = sl_result(c, mark, want);
    sl_emit_at(c, call->pos, I_METHOD, reg, a.positional, site(c, s));
    return sl_operand_in(s.dst);
}

/* Puts named arguments into a dict for **, for f(a=1, b=2 ...) with thousands
 * of names, which are distinct. */
static void named_into_dict(struct compiler *c, const struct sl_node *call,
                            const struct arguments *a, uint32_t reg)
{
    uint32_t mark = c->unit->top;

    if (a->starstar)
        sl_too_large(c, call->pos, "arguments of one call");
    dict_into(c, a->named, reg);
    for (const struct sl_node *n = a->first_named;
         n && n->kind == N_ARG_NAMED && !c->failed; n = n->next) {
        uint32_t key = sl_in_register(c, sl_operand_of(n->v));
        sl_emit_so(c, I_DICT_PUT, reg, key, sl_expr_register(c, n->a));
        c->unit->top = mark;
    }
}

/* Places the arguments after the callee in the order of evaluation. Those that
 * exceed the registers are passed as if by * and **. */
static void lay_out(struct compiler *c, const struct sl_node *call,
                    const struct arguments *a, struct sl_site *s)
{
    bool list = a->positional > sl_room(c), dict = a->named > sl_room(c);
    const struct sl_node *n = a->first_named;

    s->positional = list ? 0 : a->positional;
    s->named = dict ? 0 : a->named;
    s->star = list || a->star;
    s->starstar = dict || a->starstar;
    uint32_t run =
        sl_temporaries(c, s->positional + s->named + s->star + s->starstar);
    uint32_t named = run + s->positional, star = named + s->named;

    if (list)
        list_into(c, a->first, a->positional, star);
    else
        items_into(c, a->first, a->positional, run);
    if (dict)
        named_into_dict(c, call, a, star + s->star);
    s->names =
        c->constants.count - c->unit->constants; /* the names are adjacent */
    for (uint32_t i = 0; i < s->named; i++, n = n->next)
        sl_constant_add(c, n->v);
    n = a->first_named;
    for (uint32_t i = 0; i < s->named; i++, n = n->next)
        sl_expr_into(c, n->a, named + i);
    if (a->star && list) {
        uint32_t mark = c->unit->top, more = sl_expr_register(c, a->star);
        sl_emit_so(c, I_IN_PLACE, star, star, more | (uint32_t)OP_ADD << 16);
        c->unit->top = mark;
    } else if (a->star) {
        sl_expr_into(c, a->star, star);
    }
    if (a->starstar)
        sl_expr_into(c, a->starstar, star + s->star);
}

struct operand sl_call_expr(struct compiler *c, const struct sl_node *n,
                            struct operand callee, uint32_t mark, uint32_t want)
{
    struct arguments a = arguments_of(n);
    struct sl_site s = {.positional = a.positional};
    bool plain = a.plain && a.positional < sl_room(c);

    if (sl_is_method_call(n))
        return method_call(c, n, callee, mark, want);
    if (plain && callee.constant && sl_is(callee.v, T_BUILTIN)) {
        uint32_t args = native_arguments(c, &a);
        s.dst = sl_result(c, mark, want);
        s.name = sl_constant(c, callee.v);
        sl_emit_at(c, n->pos, I_BUILTIN, args, a.positional, site(c, s));
        return sl_operand_in(s.dst);
    }
    c->unit->top = mark;
    uint32_t window = sl_temporaries(c, 1);
    sl_move(c, window, callee);
    /* A window must not overlap the far locals; CALL_SITE handles that. */
    if (plain && c->unit->info->local_count <= SL_NEAR_LOCALS) {
        items_into(c, a.first, a.positional, sl_temporaries(c, a.positional));
        s.dst = sl_result(c, mark, want);
        sl_emit_at(c, n->pos, I_CALL, window, a.positional, s.dst);
    } else {
        lay_out(c, n, &a, &s);
        s.dst = sl_result(c, mark, want);
        sl_emit_at(c, n->pos, I_CALL_SITE, window, 0, site(c, s));
    }
    return sl_operand_in(s.dst);
}
