#include "verify.h"

#include "lib.h"

/* --- constants, sites ------------------------------------------------------------- */

static bool is_constant(struct sl_verifier *v, uint32_t k)
{
    const struct sl_code *code = v->code;

    if (k < code->constant_count && code->constants[k] &&
        code->constants[k] != V_ELLIPSIS &&
        sl_type(code->constants[k]) < T_CELL)
        return true;
    return sl_bad(v, "constant %u is no value", k);
}

static bool is_string(struct sl_verifier *v, uint32_t k)
{
    if (k < v->code->constant_count && sl_is(v->code->constants[k], T_STRING))
        return true;
    return sl_bad(v, "constant %u is no string", k);
}

static bool is_code(struct sl_verifier *v, uint32_t k)
{
    if (k < v->code->constant_count && sl_is(v->code->constants[k], T_CODE))
        return true;
    return sl_bad(v, "constant %u is no code", k);
}

static bool closure(struct sl_verifier *v, uint32_t a, uint32_t b, uint32_t c)
{
    if (!is_code(v, c))
        return false;
    const struct sl_code *inner =
        (struct sl_code *)sl_object(v->code->constants[c]);
    if (!sl_have(v, b, inner->default_count, WORD))
        return false;
    for (uint32_t i = 0; i < inner->capture_count; i++) {
        const struct sl_capture *p = &inner->captures[i];
        if (!p->from_free) {
            if (!sl_has(v, p->index, p->is_cell ? CELL : A_VALUE))
                return false;
        } else if (p->index >= v->code->capture_count ||
                   v->code->captures[p->index].is_cell != p->is_cell) {
            return sl_bad(v, "captures what is not there");
        }
    }
    return sl_write(v, a, A_VALUE);
}

static bool is_captured(struct sl_verifier *v, uint32_t c, bool is_cell)
{
    if (c < v->code->capture_count && v->code->captures[c].is_cell == is_cell)
        return true;
    return sl_bad(v, "captured %u is not there", c);
}

static bool call(struct sl_verifier *v, uint32_t a, uint64_t arguments,
                 uint32_t dst)
{
    return sl_have(v, a, arguments + 1, A_VALUE) && sl_forget(v, a) &&
           sl_write(v, dst, A_VALUE);
}

static bool call_by_site(struct sl_verifier *v, uint64_t i)
{
    uint32_t a = sl_a(i), b = sl_b(i), c = sl_c(i);

    if (c >= v->code->site_count)
        return sl_bad(v, "site %u is not there", c);
    const struct sl_site *site = &v->code->sites[c];
    if (sl_op(i) == I_CALL_SITE) {
        for (uint32_t n = 0; n < site->named; n++)
            if (site->names >= v->code->constant_count ||
                !is_string(v, site->names + n))
                return sl_bad(v, "names that are no strings");
        return call(v, a,
                    (uint64_t)site->positional + site->named + site->star +
                        site->starstar,
                    site->dst);
    }
    if (sl_op(i) == I_BUILTIN)
        return (is_constant(v, site->name) &&
                sl_is(v->code->constants[site->name], T_BUILTIN))
                   ? sl_have(v, a, b, A_VALUE) &&
                         sl_write(v, site->dst, A_VALUE)
                   : sl_bad(v, "constant %u is no built-in", site->name);
    if (!sl_have(v, a, 1, A_VALUE) || !is_string(v, site->name) ||
        site->method >= METHOD_COUNT)
        return sl_bad(v, "no method of anything");
    return sl_op(i) == I_HAS_METHOD || (sl_have(v, site->args, b, A_VALUE) &&
                                        sl_write(v, site->dst, A_VALUE));
}

/* --- one instruction ------------------------------------------------------------------ */

static bool may_fail(enum sl_opcode op)
{
    switch (op) {
    case I_MOVE:
    case I_CONST:
    case I_FAR_GET:
    case I_FAR_SET:
    case I_UNSET:
    case I_SET_GLOBAL:
    case I_CELL_SET:
    case I_FREE:
    case I_NOT:
    case I_JUMP:
    case I_JUMP_TRUE:
    case I_JUMP_FALSE:
    case I_FOR_END:
    case I_RETURN:
    case I_RETURN_NONE:
        return false;
    default:
        return true;
    }
}

/* What the letters of the table ask. */
static bool operand(struct sl_verifier *v, char kind, uint32_t x)
{
    switch (kind) {
    case 'R':
        return sl_has(v, x, A_VALUE);
    case 'K':
        return is_constant(v, x);
    case 'G':
        return x < v->code->program->global_count ||
               sl_bad(v, "global %u is not there", x);
    default:
        return true;
    }
}

static bool plain(struct sl_verifier *v, uint64_t i)
{
    const char *operands = sl_opcodes[sl_op(i)].operands;

    return operand(v, operands[0], sl_a(i)) &&
           operand(v, operands[1], sl_b(i)) &&
           operand(v, operands[2], sl_c(i)) &&
           (operands[0] != 'W' || sl_write(v, sl_a(i), A_VALUE));
}

/* Lists and dicts that are being built lie in temporaries. What a variable holds
 * changes. */
static bool make(struct sl_verifier *v, uint32_t reg, unsigned fact)
{
    bool variable = reg < v->code->local_count && reg < SL_NEAR_LOCALS;

    return sl_write(v, reg, variable ? A_VALUE : A_VALUE | fact);
}

/* Whether it may be executed now; and what is known afterwards. */
static bool effect(struct sl_verifier *v, uint64_t i)
{
    uint32_t a = sl_a(i), b = sl_b(i), c = sl_c(i);

    switch (sl_op(i)) {
    case I_FAR_GET:
        return sl_has(v, c, 0) &&
               (v->now[c] & (WORD | CELL) || sl_has(v, c, WORD)) &&
               sl_write(v, a, v->now[c] & (A_VALUE | CELL));
    case I_FAR_SET:
        return sl_has(v, b, 0) &&
               (v->now[b] & (WORD | CELL) || sl_has(v, b, WORD)) &&
               sl_write_any(v, c, v->now[b] & (A_VALUE | CELL));
    case I_UNSET:
        return sl_write_any(v, c, WORD);
    case I_CHECK:
        return sl_has(v, a, WORD) && is_string(v, c) && sl_write(v, a, A_VALUE);
    case I_CELL:
        return sl_has(v, b, A_VALUE) && sl_write(v, a, CELL);
    case I_CELL_EMPTY:
        return sl_write(v, a, CELL);
    case I_CELL_GET:
        return sl_has(v, b, CELL) && is_string(v, c) && sl_write(v, a, A_VALUE);
    case I_CELL_SET:
        return sl_has(v, a, CELL) && sl_has(v, b, A_VALUE);
    case I_FREE:
        return is_captured(v, c, false) && sl_write(v, a, A_VALUE);
    case I_FREE_CELL:
        return is_captured(v, c, true) && sl_write(v, a, A_VALUE);
    case I_IN_PLACE:
        return c >> 16 <= OP_SHR && sl_has(v, b, A_VALUE) &&
                       sl_has(v, c & 0xffff, A_VALUE)
                   ? sl_write(v, a, A_VALUE)
                   : sl_bad(v, "no such operation");
    case I_FOR_BEGIN:
        return sl_for_begin(v, a, b);
    case I_FOR_NEXT:
        if (!sl_for_next(v, a, b))
            return false;
        sl_for_release(v, a);
        return true;
    case I_FOR_END:
        if (!sl_has(v, a, ITER))
            return false;
        sl_for_release(v, a);
        return true;
    case I_LIST:
        return sl_have(v, b, c, A_VALUE) && make(v, a, LIST);
    case I_LIST_EXTEND:
        return sl_has(v, a, LIST) && sl_have(v, b, c, A_VALUE);
    case I_APPEND:
        return sl_has(v, a, LIST) && sl_has(v, b, A_VALUE);
    case I_TUPLE:
        return sl_have(v, b, c, A_VALUE) && sl_write(v, a, A_VALUE);
    case I_DICT:
        return make(v, a, DICT);
    case I_DICT_PUT:
        return sl_has(v, a, DICT) && sl_has(v, b, A_VALUE) &&
               sl_has(v, c, A_VALUE);
    case I_SLICE:
        return sl_has(v, b, A_VALUE) &&
               sl_have(v, c & 0xffff, (uint64_t)__builtin_popcount(c >> 16 & 7),
                       A_VALUE) &&
               sl_write(v, a, A_VALUE);
    case I_UNPACK:
        if (!sl_has(v, b, A_VALUE))
            return false;
        for (uint32_t n = 0; n < c; n++)
            if (!sl_write(v, a + n, A_VALUE))
                return false;
        return true;
    case I_CLOSURE:
        return closure(v, a, b, c);
    case I_CALL:
        if (v->code->register_count > 0x10000)
            return sl_bad(v, "its window would lie upon locals");
        return call(v, a, b, c);
    case I_CALL_SITE:
    case I_HAS_METHOD:
    case I_METHOD:
    case I_BUILTIN:
        return call_by_site(v, i);
    case I_LOAD:
        return is_string(v, c) && sl_write(v, a, MODULE);
    case I_LOAD_NAME:
        return sl_has(v, b, MODULE) && is_string(v, c) &&
               sl_write(v, a, A_VALUE);
    case I_ATTR:
    case I_SET_ATTR:
        return is_string(v, c) && plain(v, i);
    case I_RETURN:
    case I_RETURN_NONE:
        return v->iterators ? sl_bad(v, "a lock is held") : plain(v, i);
    default:
        return plain(v, i);
    }
}

static bool step(struct sl_verifier *v)
{
    uint64_t i = v->code->instructions[v->pc];
    enum sl_opcode op = sl_op(i);

    if (op >= SL_OPCODE_COUNT)
        return sl_bad(v, "no such instruction");
    if (may_fail(op) && !sl_loops_are_right(v))
        return false;
    if (!effect(v, i))
        return false;
    if (sl_opcodes[op].operands[2] == 'J' && op != I_FOR_NEXT) {
        int64_t target = (int64_t)v->pc + 1 + sl_j(i);
        if (target < 0 || !sl_flow_jump(v, (uint32_t)target))
            return target < 0 ? sl_bad(v, "jumps back") : false;
    }
    v->reachable = op != I_JUMP && op != I_RETURN && op != I_RETURN_NONE;
    return true;
}

/* --- a function ------------------------------------------------------------------------ */

static bool check_header(struct sl_verifier *v)
{
    const struct sl_code *code = v->code;
    uint64_t given =
        (uint64_t)code->param_count + code->has_star + code->has_starstar;
    uint64_t needed = code->local_count;

    if (needed > SL_NEAR_LOCALS)
        needed = (uint64_t)sl_local_register(code->local_count - 1) + 1;
    v->pc = 0;
    if (!code->instruction_count || !code->program ||
        !sl_is(code->name, T_STRING))
        return sl_bad(v, "no function");
    if (given > code->local_count || given > SL_NEAR_LOCALS ||
        code->keyword_only_count > code->param_count ||
        code->default_count > code->param_count ||
        code->register_count < needed || code->register_count > 0x1000000 ||
        (code->register_count > 0x10000 && code->register_count != needed))
        return sl_bad(v, "parameters or registers do not fit");
    for (uint32_t i = 0; i < code->local_count; i++)
        if (!sl_is(code->local_names[i], T_STRING))
            return sl_bad(v, "a variable without name");
    for (uint32_t i = 0; i < code->place_count; i++) {
        v->pc = code->places[i].pc;
        if (v->pc >= code->instruction_count ||
            (i && v->pc <= code->places[i - 1].pc))
            return sl_bad(v, "places are not sorted");
    }
    return sl_check_loops(v);
}

static bool check_function(struct sl_verifier *v)
{
    const struct sl_code *code = v->code;
    uint32_t given = code->param_count + code->has_star + code->has_starstar;

    v->arrivals = v->spare = NULL; /* their size is another for each function */
    v->arrival_count = v->depth = v->iterators = 0;
    if (!check_header(v))
        return false;
    v->now = sl_arena_alloc(v->s, &v->arena, code->register_count + 1);
    if (!v->now)
        return sl_bad(v, "no memory left");
    memset(v->now, 0, code->register_count + 1);
    memset(v->now, A_VALUE, given);
    v->high = given;
    v->reachable = true;
    for (v->pc = 0; v->pc < code->instruction_count; v->pc++) {
        bool begins = v->begins && v->begins[v->pc];
        if (!sl_at_loops(v))
            return false;
        if (begins && v->reachable && !sl_enter_body(v))
            return false;
        if (!sl_flow_arrive(v) || (v->reachable && !step(v)))
            return false;
    }
    return !v->reachable || sl_bad(v, "runs beyond its end");
}

/* `depth`: of functions inside each other, which the source bounds. */
static bool check_all(struct sl_verifier *v, const struct sl_code *code,
                      unsigned depth)
{
    v->code = code;
    if (depth > 2 * SL_SOURCE_DEPTH || !check_function(v))
        return depth > 2 * SL_SOURCE_DEPTH ? sl_bad(v, "nested too deep")
                                           : false;
    for (uint32_t i = 0; i < code->constant_count; i++)
        if (sl_is(code->constants[i], T_CODE) &&
            !check_all(v, (struct sl_code *)sl_object(code->constants[i]),
                       depth + 1))
            return false;
    return true;
}

bool sl_verify(struct star *s, const struct sl_code *code, char why[static 100])
{
    struct sl_verifier v = {.s = s, .why = why};

    why[0] = '\0';
    bool ok = check_all(&v, code, 0);
    sl_arena_free(s, &v.arena);
    return ok;
}
