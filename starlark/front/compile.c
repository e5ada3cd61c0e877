#include "compile.h"

/* --- piles ----------------------------------------------------------------------- */

bool sl_pile_grow(struct compiler *c, struct pile *pile, size_t size)
{
    uint32_t capacity = pile->capacity ? pile->capacity * 2 : 64;
    void *items = NULL;

    if (capacity < UINT32_MAX / 4)
        items = sl_arena_alloc(c->s, &c->arena, capacity * size);
    else
        sl_fail_memory(c->s, SIZE_MAX);
    c->failed = !items;
    if (!items)
        return false;
    if (pile->count)
        memcpy(items, pile->items, pile->count * size);
    pile->items = items;
    pile->capacity = capacity;
    return true;
}

void sl_push_node(struct compiler *c, const struct sl_node *n)
{
    *(const struct sl_node **)sl_pile_add(c, &c->nodes, sizeof(void *)) = n;
}

const struct sl_node *sl_pop_node(struct compiler *c)
{
    return ((const struct sl_node **)c->nodes.items)[--c->nodes.count];
}

void sl_too_large(struct compiler *c, struct sl_pos pos, const char *what)
{
    if (c->failed)
        return;
    sl_static_error(c->s, pos, NULL, "too many %s in one function", what);
    c->failed = true;
}

/* --- instructions ------------------------------------------------------------------ */

/* Bounded so that every jump fits its operand, as do indexes of sites and
 * places. */
#define INSTRUCTIONS_MAX 0x7ffffeu

uint32_t sl_here(const struct compiler *c)
{
    return c->instructions.count - c->unit->instructions;
}

uint32_t sl_emit(struct compiler *c, enum sl_opcode op, uint32_t a, uint32_t b,
                 uint32_t x)
{
    uint32_t pc = sl_here(c);

    if (pc >= INSTRUCTIONS_MAX)
        sl_too_large(c, c->unit->info->pos, "instructions");
    if (!c->failed && !sl_charge(c->s, 1))
        c->failed = true;
    uint64_t *i = sl_pile_add(c, &c->instructions, sizeof *i);
    *i = sl_instruction(op, a, b, x);
    return pc;
}

void sl_emit_at(struct compiler *c, struct sl_pos pos, enum sl_opcode op,
                uint32_t a, uint32_t b, uint32_t x)
{
    uint32_t pc = sl_emit(c, op, a, b, x);
    const struct sl_place *last = NULL;

    sl_at(c, pos);
    if (c->places.count > c->unit->places)
        last = (const struct sl_place *)c->places.items + c->places.count - 1;
    if (!last || last->pos.line != pos.line || last->pos.column != pos.column) {
        struct sl_place *place = sl_pile_add(c, &c->places, sizeof *place);
        *place = (struct sl_place){pc, pos};
    }
}

void sl_emit_so(struct compiler *c, enum sl_opcode op, uint32_t a, uint32_t b,
                uint32_t x)
{
    sl_begin(c);
    sl_emit_at(c, c->unit->at, op, a, b, x);
}

static uint64_t *instruction(struct compiler *c, uint32_t pc)
{
    return (uint64_t *)c->instructions.items + c->unit->instructions + pc;
}

static void set_c(uint64_t *i, uint32_t x)
{
    *i = sl_instruction(sl_op(*i), sl_a(*i), sl_b(*i), x);
}

void sl_jump(struct compiler *c, struct label *to)
{
    sl_emit(c, I_JUMP, 0, 0, 0);
    sl_jumps(c, to);
}

void sl_jumps(struct compiler *c, struct label *to)
{
    if (c->failed)
        return;
    set_c(instruction(c, sl_here(c) - 1), to->jumps);
    to->jumps = sl_here(c);
}

void sl_label_here(struct compiler *c, struct label *label)
{
    while (!c->failed && label->jumps) {
        uint64_t *i = instruction(c, label->jumps - 1);
        uint32_t distance = sl_here(c) - label->jumps;
        label->jumps = sl_c(*i);
        set_c(i, distance);
    }
}

/* --- constants --------------------------------------------------------------------- */

uint32_t sl_constant_add(struct compiler *c, value v)
{
    uint32_t index = c->constants.count - c->unit->constants;

    if (index >= 0xffffff)
        sl_too_large(c, c->unit->info->pos, "constants");
    value *constant = sl_pile_add(c, &c->constants, sizeof *constant);
    *constant = v;
    return index;
}

/* Number of recent constants compared for reuse; recently used ones are the
 * most likely to recur. */
#define CONSTANTS_SEEN SL_RARE(16u, 2u)

uint32_t sl_constant(struct compiler *c, value v)
{
    const value *constants = c->constants.items;
    uint32_t first = c->unit->constants, i = c->constants.count;
    uint32_t end = i - first > CONSTANTS_SEEN ? i - CONSTANTS_SEEN : first;

    while (i > end)
        if (constants[--i] == v)
            return i - first;
    return sl_constant_add(c, v);
}

/* --- registers ----------------------------------------------------------------------- */

/* There are at least 0x8000 temporaries. One list or call takes up to 4,096;
 * beyond the first 8,192 each takes few. A run of defaults may take the rest,
 * see sl_closure. */
#define TEMPORARIES_ROOMY 8192u

uint32_t sl_temporaries(struct compiler *c, uint32_t count)
{
    struct unit *u = c->unit;
    uint32_t first = u->top;

    if (count > 0x10000 || first + count > 0x10000) {
        sl_too_large(c, u->info->pos, "values at once");
        return first;
    }
    u->top += count;
    if (u->most < u->top)
        u->most = u->top;
    return first;
}

uint32_t sl_room(const struct compiler *c)
{
    return c->unit->top - c->unit->temporary < TEMPORARIES_ROOMY ? 4096 : 8;
}

bool sl_is_temporary(const struct compiler *c, uint32_t reg)
{
    return reg >= c->unit->temporary && reg < 0x10000;
}

/* --- what a finished function keeps ------------------------------------------------- */

/* Allocates storage for `n` items and copies those at `from`, if any. */
static void *keep(struct compiler *c, const void *from, uint32_t n, size_t size,
                  uint32_t *count)
{
    void *p = n && !c->failed ? sl_storage(c->s, n * size) : NULL;

    c->failed |= n && !p;
    if (p && from)
        memcpy(p, from, n * size);
    *count = p ? n : 0;
    return p;
}

/* Moves the items of the pile from index `from` on into storage. */
static void *take(struct compiler *c, struct pile *pile, uint32_t from,
                  size_t size, uint32_t *count)
{
    uint32_t n = pile->count - from;

    pile->count = from;
    return n ? keep(c, (char *)pile->items + from * size, n, size, count)
             : NULL;
}

static void take_variables(struct compiler *c, struct sl_code *code,
                           const struct sl_function_info *info)
{
    code->captures = keep(c, info->captures, info->capture_count,
                          sizeof *code->captures, &code->capture_count);
    for (uint32_t i = 0; i < code->capture_count; i++)
        if (!code->captures[i].from_free)
            code->captures[i].index =
                sl_local_register(code->captures[i].index);
    code->local_names = keep(c, NULL, info->local_count,
                             sizeof *code->local_names, &code->local_count);
    for (uint32_t i = 0; i < code->local_count; i++)
        code->local_names[i] = info->locals[i].name;
}

/* Returns NULL on failure. */
static struct sl_code *finish(struct compiler *c)
{
    struct unit *u = c->unit;
    const struct sl_function_info *info = u->info;
    struct sl_code *code =
        c->failed ? NULL : sl_alloc(c->s, T_CODE, sizeof *code);

    c->failed = !code;
    if (!code)
        return NULL;
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
    take_variables(c, code, info);
    return c->failed ? NULL : code;
}

/* --- a function ---------------------------------------------------------------------- */

/* At the start of a function, creates the cells of variables that closures
 * share, and marks as unset those that may be read before assignment. */
static void prologue(struct compiler *c, uint32_t given)
{
    const struct sl_function_info *info = c->unit->info;

    for (uint32_t i = 0; i < info->local_count && !c->failed; i++) {
        const struct sl_variable *v = &info->locals[i];
        uint32_t reg = sl_local_register(i);
        if (v->is_cell && i < given) {
            sl_emit_at(c, info->pos, I_CELL, reg, reg, 0);
        } else if (v->is_cell && reg < 0x10000) {
            sl_emit_at(c, info->pos, I_CELL_EMPTY, reg, 0, 0);
        } else if (v->is_cell) {
            uint32_t near = sl_temporaries(c, 1);
            sl_emit_at(c, info->pos, I_CELL_EMPTY, near, 0, 0);
            sl_emit(c, I_FAR_SET, 0, near, reg);
            c->unit->top = near;
        } else if (v->maybe_unset && i >= given) {
            sl_emit(c, I_UNSET, 0, 0, reg);
        }
    }
}

/* Compiles statements, or the expression of a lambda. An interactive program
 * returns the value of its last expression. */
static void body(struct compiler *c, const struct sl_node *n, bool lambda)
{
    const struct sl_node *result = lambda ? n : NULL, *last = NULL;
    bool reachable = true;

    if (!lambda && !c->unit->outer && c->s->interactive) {
        for (last = n; last && last->next;)
            last = last->next;
        if (last && last->kind == N_EXPR)
            result = last->a;
        else
            last = NULL;
    }
    if (!lambda)
        reachable = sl_statements(c, n, last);
    if (result)
        sl_emit(c, I_RETURN, 0, sl_expr_register(c, result), 0);
    else if (reachable)
        sl_emit(c, I_RETURN_NONE, 0, 0, 0);
}

static struct sl_code *function(struct compiler *c,
                                const struct sl_function_info *info,
                                const struct sl_node *n, bool lambda)
{
    uint32_t locals = info->local_count;
    uint32_t near = locals < SL_NEAR_LOCALS ? locals : SL_NEAR_LOCALS;
    uint32_t given = info->param_count + info->has_star + info->has_starstar;
    struct unit u = {
        .outer = c->unit,
        .info = info,
        .instructions = c->instructions.count,
        .places = c->places.count,
        .constants = c->constants.count,
        .sites = c->sites.count,
        .loops = c->loops.count,
        .temporary = near,
        .top = near,
        .most = near,
        .at = info->pos,
        .entry = info->pos,
    };

    c->unit = &u;
    if (given > SL_NEAR_LOCALS)
        sl_too_large(c, info->pos, "parameters");
    if (locals > 0xfe0000 || info->capture_count > 0xffffff)
        sl_too_large(c, info->pos, "variables");
    prologue(c, given);
    body(c, n, lambda);
    struct sl_code *code = finish(c);
    c->unit = u.outer;
    return code;
}

/* Evaluates the defaults, from the first parameter that has one to the last,
 * into adjacent temporaries. The run may be longer than others, since no other
 * run of that length is nested in it. */
static uint32_t defaults_of(struct compiler *c, const struct sl_node *params)
{
    uint32_t count = 0;

    for (const struct sl_node *p = params; p && !c->failed; p = p->next) {
        if (p->kind != N_PARAM || (!count && !p->a))
            continue;
        if (++count > SL_NEAR_LOCALS / 2)
            sl_too_large(c, params->pos, "parameters");
        uint32_t reg = sl_temporaries(c, 1);
        if (p->a)
            sl_expr_into(c, p->a, reg);
        else
            sl_emit(c, I_UNSET, 0, 0, reg);
    }
    return count;
}

struct operand sl_closure(struct compiler *c, const struct sl_node *n,
                          uint32_t want)
{
    uint32_t mark = c->unit->top;

    sl_at(c, n->fn->pos);
    uint32_t defaults = defaults_of(c, n->a);
    sl_begin(c);
    struct sl_code *code = function(c, n->fn, n->b, n->kind == N_LAMBDA);
    uint32_t reg = sl_result(c, mark, want);

    if (code) {
        code->default_count = defaults;
        sl_emit_so(c, I_CLOSURE, reg, mark, sl_constant_add(c, sl_value(code)));
    }
    return sl_operand_in(reg);
}

/* --- a file ------------------------------------------------------------------------- */

struct sl_code *sl_compile(struct star *s, struct star_program *p,
                           const struct sl_file *file)
{
    struct compiler c = {.s = s, .program = p};

    if (file->global_count > 0xffffff) {
        sl_static_error(s, file->fn.pos, NULL, "too many globals");
        return NULL;
    }
    struct sl_code *code = function(&c, &file->fn, file->body, false);
    sl_arena_free(s, &c.arena);
    return code;
}
