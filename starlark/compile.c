#include "compile.h"

/* --- what a finished function keeps ------------------------------------------------- */

/* A copy, exact in size, of what lies on the pile from `from` on. */
static void *take(struct sl_compiler *c, struct sl_pile *pile, uint32_t from,
                  size_t size, uint32_t *count)
{
    uint32_t n = pile->count - from;
    void *p = NULL;

    pile->count = from;
    if (n && !c->failed) {
        p = sl_storage(c->s, n * size);
        if (!p)
            c->failed = true;
    }
    if (!p)
        return NULL;
    memcpy(p, (char *)pile->items + from * size, n * size);
    *count = n;
    return p;
}

static void take_captures(struct sl_compiler *c, struct sl_code *code,
                          const struct sl_function_info *info)
{
    uint32_t n = info->capture_count;

    if (!n || c->failed)
        return;
    code->captures = sl_storage(c->s, n * sizeof *code->captures);
    if (!code->captures) {
        c->failed = true;
        return;
    }
    code->capture_count = n;
    for (uint32_t i = 0; i < n; i++) {
        code->captures[i] = info->captures[i];
        if (!info->captures[i].from_free)
            code->captures[i].index =
                sl_local_register(info->captures[i].index);
    }
}

static void take_names(struct sl_compiler *c, struct sl_code *code,
                       const struct sl_function_info *info)
{
    uint32_t n = info->local_count;

    if (!n || c->failed)
        return;
    code->local_names = sl_storage(c->s, n * sizeof *code->local_names);
    if (!code->local_names) {
        c->failed = true;
        return;
    }
    code->local_count = n;
    for (uint32_t i = 0; i < n; i++)
        code->local_names[i] = info->locals[i].name;
}

/* NULL when it failed. */
static struct sl_code *finish(struct sl_compiler *c)
{
    struct sl_unit *u = c->unit;
    const struct sl_function_info *info = u->info;
    struct sl_code *code =
        c->failed ? NULL : sl_alloc(c->s, T_CODE, sizeof *code);

    if (!code) {
        c->failed = true;
        return NULL;
    }
    code->name = info->name;
    code->pos = info->pos;
    code->entry = u->entry;
    code->program = c->program;
    code->has_star = info->has_star;
    code->has_starstar = info->has_starstar;
    code->param_count = info->param_count;
    code->keyword_only_count = info->keyword_only_count;
    code->exact =
        info->has_star || info->has_starstar || info->keyword_only_count
            ? UINT32_MAX
            : info->param_count;
    code->register_count = u->most;
    if (info->local_count > SL_NEAR_LOCALS)
        code->register_count = sl_local_register(info->local_count - 1) + 1;

#define TAKE(what, count)                                                      \
    code->what = take(c, &c->what, u->what, sizeof *code->what, &code->count)
    TAKE(instructions, instruction_count);
    code->steps = 1 + code->instruction_count / SL_STEP_INSTRUCTIONS;
    TAKE(constants, constant_count);
    TAKE(sites, site_count);
    TAKE(places, place_count);
    TAKE(loops, loop_count);
#undef TAKE
    take_captures(c, code, info);
    take_names(c, code, info);
    return c->failed ? NULL : code;
}

/* --- a function ---------------------------------------------------------------------- */

/* Variables that closures share get their cells, and those that may be read
 * too early their mark, before anything else happens. */
static void prologue(struct sl_compiler *c)
{
    const struct sl_function_info *info = c->unit->info;
    uint32_t given = info->param_count + info->has_star + info->has_starstar;

    for (uint32_t i = 0; i < info->local_count && !c->failed; i++) {
        const struct sl_variable *v = &info->locals[i];
        uint32_t reg = sl_local_register(i);
        if (v->is_cell && i < given) {
            sl_emit_from(c, info->pos, I_CELL, reg, reg, 0);
        } else if (v->is_cell && reg < 0x10000) {
            sl_emit_from(c, info->pos, I_CELL_EMPTY, reg, 0, 0);
        } else if (v->is_cell) {
            uint32_t near = sl_temporary(c);
            sl_emit_from(c, info->pos, I_CELL_EMPTY, near, 0, 0);
            sl_emit(c, I_FAR_SET, 0, near, reg);
            c->unit->top = near;
        } else if (v->maybe_unset && i >= given) {
            sl_emit(c, I_UNSET, 0, 0, reg);
        }
    }
}

static void body_and_return(struct sl_compiler *c, const struct sl_node *body)
{
    const struct sl_node *last = body;

    while (last && last->next)
        last = last->next;
    /* An interactive program gives the value of its last expression. */
    bool result =
        !c->unit->outer && c->s->interactive && last && last->kind == N_EXPR;
    bool reachable = sl_statements(c, body, result ? last : NULL);
    if (result)
        sl_emit(c, I_RETURN, 0,
                sl_in_register(c, sl_expr(c, last->a, SL_ANYWHERE)), 0);
    else if (reachable)
        sl_emit(c, I_RETURN_NONE, 0, 0, 0);
}

/* `body` are statements; NULL: the function is a lambda of `expression`. */
static struct sl_code *function(struct sl_compiler *c,
                                const struct sl_function_info *info,
                                const struct sl_node *body,
                                const struct sl_node *expression)
{
    uint32_t locals = info->local_count;
    uint32_t near = locals < SL_NEAR_LOCALS ? locals : SL_NEAR_LOCALS;
    uint32_t given = info->param_count + info->has_star + info->has_starstar;
    struct sl_unit u = {
        .outer = c->unit,
        .info = info,
        .instructions = c->instructions.count,
        .places = c->places.count,
        .constants = c->constants.count,
        .sites = c->sites.count,
        .loops = c->loops.count,
        .known = c->known.count,
        .serial = ++c->units,
        .temporary = near,
        .top = near,
        .most = near,
        .said = info->pos,
        .entry = info->pos,
    };

    c->unit = &u;
    if (given > SL_NEAR_LOCALS)
        sl_too_large(c, info->pos, "parameters");
    if (locals > 0xfe0000 || info->capture_count > 0xffffff)
        sl_too_large(c, info->pos, "variables");
    prologue(c);
    if (expression)
        sl_emit(c, I_RETURN, 0,
                sl_in_register(c, sl_expr(c, expression, SL_ANYWHERE)), 0);
    else
        body_and_return(c, body);
    struct sl_code *code = finish(c);
    sl_constants_forget(c);
    c->unit = u.outer;
    return code;
}

/* Defaults: from the first parameter that has one to the last. A run of them
 * may be longer than other runs: nothing else of that length is nested. */
static uint32_t defaults_into_run(struct sl_compiler *c,
                                  const struct sl_node *params, uint32_t *run)
{
    const struct sl_node *first = params;
    uint32_t count = 0;

    while (first && !(first->kind == N_PARAM && first->a))
        first = first->next;
    for (const struct sl_node *p = first; p; p = p->next)
        count += p->kind == N_PARAM;
    if (count > SL_NEAR_LOCALS / 2) {
        sl_too_large(c, params->pos, "parameters");
        return 0;
    }
    uint32_t reg = *run = sl_temporaries(c, count);
    for (const struct sl_node *p = first; p; p = p->next) {
        if (p->kind != N_PARAM)
            continue;
        if (p->a)
            sl_expr_into(c, p->a, reg);
        else
            sl_emit(c, I_UNSET, 0, 0, reg);
        reg++;
    }
    return count;
}

struct sl_operand sl_closure(struct sl_compiler *c, const struct sl_node *n,
                             uint32_t want)
{
    uint32_t mark = c->unit->top, run = 0;

    sl_at(c, n->fn->pos);
    uint32_t defaults = defaults_into_run(c, n->a, &run);
    sl_begin(c);
    struct sl_code *code = function(c, n->fn, n->kind == N_DEF ? n->b : NULL,
                                    n->kind == N_DEF ? NULL : n->b);
    uint32_t reg = sl_result(c, mark, want);

    if (code) {
        code->default_count = defaults;
        sl_emit_so(c, I_CLOSURE, reg, run, sl_constant_add(c, sl_value(code)));
    }
    return sl_operand_in(reg);
}

/* --- a file ------------------------------------------------------------------------- */

struct sl_code *sl_compile(struct star *s, struct star_program *p,
                           const struct sl_file *file)
{
    struct sl_compiler c = {.s = s, .program = p, .file = file};
    struct sl_code *code = NULL;

    if (file->global_count > 0xffffff) {
        sl_static_error(s, file->fn.pos, "too many globals");
        return NULL;
    }
    code = function(&c, &file->fn, file->body, NULL);
    sl_arena_free(s, &c.arena);
    return code;
}
