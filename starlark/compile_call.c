#include "compile.h"
#include "lib.h"

/* The arguments of a call: positional, named, *, ** in this order. */
struct arguments {
    uint32_t positional, named;
    const struct sl_node *first, *first_named, *star, *starstar;
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
    return a;
}

static bool is_plain(const struct sl_compiler *c, const struct arguments *a)
{
    return !a->named && !a->star && !a->starstar && a->positional < sl_room(c);
}

static void positional_into(struct sl_compiler *c, const struct arguments *a,
                            uint32_t run)
{
    const struct sl_node *n = a->first;

    for (uint32_t i = 0; i < a->positional; i++, n = n->next)
        sl_expr_into(c, n, run + i);
}

static uint32_t site(struct sl_compiler *c, struct sl_site site)
{
    struct sl_site *s = sl_pile_add(c, &c->sites, sizeof *s);

    if (!c->failed)
        *s = site;
    return c->sites.count - 1 - c->unit->sites;
}

/* Arguments for C, which may lie anywhere: a single one stays where it is. */
static uint32_t native_arguments(struct sl_compiler *c,
                                 const struct arguments *a)
{
    if (a->positional == 1)
        return sl_in_register(c, sl_expr(c, a->first, SL_ANYWHERE));
    uint32_t run = a->positional ? sl_temporaries(c, a->positional) : 0;
    positional_into(c, a, run);
    return run;
}

/* --- methods ----------------------------------------------------------------------- */

bool sl_is_method_call(const struct sl_compiler *c, const struct sl_node *call)
{
    if (call->kind != N_CALL)
        return false;
    struct arguments a = arguments_of(call);
    return is_plain(c, &a);
}

/* Whether evaluating the arguments neither fails nor does anything: then nobody
 * can tell whether the method was looked up before. */
static bool are_simple(const struct arguments *a)
{
    for (const struct sl_node *n = a->first; n; n = n->next) {
        bool name = n->kind == N_NAME &&
                    (n->scope == SCOPE_PREDECLARED || n->scope == SCOPE_FREE ||
                     (n->scope == SCOPE_LOCAL && (n->flags & NODE_SURELY_SET)));
        if (!name && n->kind != N_LITERAL)
            return false;
    }
    return true;
}

struct sl_operand sl_method_expr(struct sl_compiler *c,
                                 const struct sl_node *dot,
                                 const struct sl_node *call,
                                 struct sl_operand self, uint32_t mark,
                                 uint32_t want)
{
    struct arguments a = arguments_of(call);
    struct sl_string *name = sl_string(dot->v);
    enum sl_method method = sl_method_number(name->p, name->length);
    uint32_t reg = sl_in_register(c, self);
    sl_at(c, dot->pos);
    uint32_t index = site(c, (struct sl_site){
                                 .positional = a.positional,
                                 .method = (uint16_t)method,
                                 .name = sl_constant(c, dot->v),
                                 .dot = dot->pos,
                             });
    bool surely_there = self.constant && sl_method(self.v, method);

    if (!surely_there && !are_simple(&a))
        sl_emit_at(c, dot->pos, I_HAS_METHOD, reg, 0, index);
    uint32_t args = native_arguments(c, &a);
    uint32_t dst = sl_result(c, mark, want);
    sl_emit_at(c, call->pos, I_METHOD, reg, a.positional, index);
    if (!c->failed) {
        struct sl_site *s =
            (struct sl_site *)c->sites.items + c->unit->sites + index;
        s->args = args;
        s->dst = dst;
    }
    return sl_operand_in(dst);
}

/* --- calls with more than positional arguments --------------------------------------- */

/* The names in a row: one may share what is there, several get their own. */
static uint32_t names_of(struct sl_compiler *c, const struct arguments *a)
{
    const struct sl_node *n = a->first_named;

    if (a->named == 1)
        return sl_constant(c, n->v);
    uint32_t first = 0;
    for (uint32_t i = 0; i < a->named; i++, n = n->next) {
        uint32_t k = sl_constant_add(c, n->v);
        if (!i)
            first = k;
    }
    return first;
}

/* f(a=1, b=2 ... ) with thousands of names: a dict for **. No name is there
 * twice. */
static void named_into_dict(struct sl_compiler *c, const struct sl_node *call,
                            const struct arguments *a, uint32_t reg)
{
    uint32_t mark = c->unit->top;

    if (a->starstar)
        sl_too_large(c, call->pos, "arguments of one call");
    sl_emit_so(c, I_DICT, reg, 0, a->named < 0xffffff ? a->named : 0xffffff);
    for (const struct sl_node *n = a->first_named;
         n && n->kind == N_ARG_NAMED && !c->failed; n = n->next) {
        uint32_t key = sl_in_register(c, sl_operand_of(n->v));
        uint32_t v = sl_in_register(c, sl_expr(c, n->a, SL_ANYWHERE));
        sl_emit_so(c, I_DICT_PUT, reg, key, v);
        c->unit->top = mark;
    }
}

static void extend_list(struct sl_compiler *c, const struct sl_node *more,
                        uint32_t reg)
{
    uint32_t mark = c->unit->top;
    uint32_t v = sl_in_register(c, sl_expr(c, more, SL_ANYWHERE));

    sl_emit_so(c, I_IN_PLACE, reg, reg, v | (uint32_t)OP_ADD << 16);
    c->unit->top = mark;
}

/* Lays out the arguments behind the callee, in the order of their evaluation.
 * Too many for registers are passed as if by * and **. */
static void lay_out(struct sl_compiler *c, const struct sl_node *call,
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
        sl_list_into(c, a->first, a->positional, star);
    else
        positional_into(c, a, run);
    if (dict)
        named_into_dict(c, call, a, star + s->star);
    else if (a->named)
        s->names = names_of(c, a);
    for (uint32_t i = 0; i < s->named; i++, n = n->next)
        sl_expr_into(c, n->a, named + i);
    if (a->star && list)
        extend_list(c, a->star, star);
    else if (a->star)
        sl_expr_into(c, a->star, star);
    if (a->starstar)
        sl_expr_into(c, a->starstar, star + s->star);
}

/* --- all calls ----------------------------------------------------------------------- */

static struct sl_operand builtin_call(struct sl_compiler *c,
                                      const struct sl_node *n,
                                      const struct arguments *a, value callee,
                                      uint32_t mark, uint32_t want)
{
    uint32_t args = native_arguments(c, a);
    uint32_t dst = sl_result(c, mark, want);
    uint32_t index = site(c, (struct sl_site){
                                 .positional = a->positional,
                                 .name = sl_constant(c, callee),
                                 .dst = dst,
                             });

    sl_emit_at(c, n->pos, I_BUILTIN, args, a->positional, index);
    return sl_operand_in(dst);
}

struct sl_operand sl_call_expr(struct sl_compiler *c, const struct sl_node *n,
                               struct sl_operand callee, uint32_t mark,
                               uint32_t want)
{
    struct arguments a = arguments_of(n);
    bool plain = is_plain(c, &a);

    if (plain && callee.constant && sl_is(callee.v, T_BUILTIN))
        return builtin_call(c, n, &a, callee.v, mark, want);

    c->unit->top = mark;
    uint32_t window = sl_temporary(c);
    sl_move(c, window, callee);
    /* A window must not lie upon the far locals: CALL_SITE sees to that. */
    if (plain && c->unit->info->local_count <= SL_NEAR_LOCALS) {
        positional_into(c, &a, sl_temporaries(c, a.positional));
        uint32_t dst = sl_result(c, mark, want);
        sl_emit_at(c, n->pos, I_CALL, window, a.positional, dst);
        return sl_operand_in(dst);
    }
    struct sl_site s = {0};
    lay_out(c, n, &a, &s);
    s.dst = sl_result(c, mark, want);
    uint32_t index = site(c, s);
    sl_emit_at(c, n->pos, I_CALL_SITE, window, 0, index);
    return sl_operand_in(s.dst);
}
