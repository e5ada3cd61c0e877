#include <stdarg.h>
#include <stdio.h>

#include "code.h"
#include "lib.h"

/*
 * The instructions of a function are looked at once, in their order, with what
 * is known of each register then. A jump, which only goes forward, leaves its
 * knowledge at its target, where what all ways there have in common is kept.
 * Backwards goes FOR_NEXT alone: its body is looked at with what is known at
 * FOR_BEGIN, and FOR_NEXT must find that no less is known after the body.
 */

enum fact {
    WORD = 1,   /* was written; may be 0, no value */
    VALUE = 2,  /* a value that a program may see */
    CELL = 4,   /* a cell */
    MODULE = 8, /* what LOAD gave */
    LIST = 16,  /* made by LIST */
    DICT = 32,  /* made by DICT */
    ITER = 64,  /* first register of an iterator that holds its lock */
    PART = 128, /* one of the three registers of such a one */
    A_VALUE = WORD | VALUE,
};

/* What is known where a jump goes, from all jumps seen so far. */
struct arrival {
    struct arrival *next; /* further on */
    uint32_t pc;
    uint32_t iterators;
    uint8_t facts[];
};

struct open_loop {
    const struct sl_loop *range;
    struct arrival *assumed; /* by the body */
};

#define ARRIVALS_MAX 4000 /* a compiler's nesting makes some hundreds */

struct verifier {
    struct star *s;
    const struct sl_code *code;
    char *why; /* of 100 bytes */
    struct sl_arena arena;
    struct arrival *arrivals, *spare;
    uint32_t arrival_count;
    uint32_t *begins; /* by pc: a loop begins here, its index + 1 */
    struct open_loop open[SL_LOOPS_MAX];
    uint32_t depth;
    uint32_t pc;
    uint32_t high; /* near registers from here on were never written */
    bool reachable;
    uint32_t iterators; /* that hold their lock */
    uint8_t *now;       /* facts, by register */
};

static bool bad(struct verifier *v, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool bad(struct verifier *v, const char *format, ...)
{
    char what[100];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(
        v->why, 100, "%.30s at %u: %.50s",
        v->pc < v->code->instruction_count
            ? sl_opcodes[sl_op(v->code->instructions[v->pc]) % SL_OPCODE_COUNT]
                  .name
            : "end",
        v->pc, what);
    return false;
}

/* --- registers -------------------------------------------------------------------- */

static uint32_t near_count(const struct verifier *v)
{
    uint32_t count = v->code->register_count;

    return count < 0x10000 ? count : 0x10000;
}

static bool has(struct verifier *v, uint32_t reg, unsigned facts)
{
    if (reg < v->code->register_count && (v->now[reg] & facts) == facts)
        return true;
    return bad(v, "register %u is not fit to read", reg);
}

static bool have(struct verifier *v, uint32_t reg, uint64_t count,
                 unsigned facts)
{
    if (count > near_count(v) || reg + count > near_count(v))
        return bad(v, "registers beyond the last");
    for (uint64_t i = 0; i < count; i++)
        if (!has(v, reg + (uint32_t)i, facts))
            return false;
    return true;
}

static bool write_any(struct verifier *v, uint32_t reg, unsigned facts)
{
    if (reg >= v->code->register_count)
        return bad(v, "register %u is beyond the last", reg);
    if (v->now[reg] & PART)
        return bad(v, "register %u is an iterator's", reg);
    v->now[reg] = (uint8_t)facts;
    if (reg < 0x10000 && reg >= v->high)
        v->high = reg + 1;
    return true;
}

static bool write(struct verifier *v, uint32_t reg, unsigned facts)
{
    if (reg >= near_count(v))
        return bad(v, "register %u is out of reach", reg);
    return write_any(v, reg, facts);
}

/* Nothing is known of the near registers from `reg` on. */
static bool forget(struct verifier *v, uint32_t reg)
{
    for (; reg < v->high; reg++) {
        if (v->now[reg] & PART)
            return bad(v, "register %u is an iterator's", reg);
        v->now[reg] = 0;
    }
    return true;
}

/* --- ways that meet --------------------------------------------------------------- */

static struct arrival *arrival_new(struct verifier *v, uint32_t pc)
{
    struct arrival *a = v->spare;
    size_t size = v->code->register_count;

    if (a)
        v->spare = a->next;
    else if (v->arrival_count++ >= ARRIVALS_MAX ||
             !(a = sl_arena_alloc(v->s, &v->arena, sizeof *a + size)))
        return NULL;
    a->next = NULL;
    a->pc = pc;
    a->iterators = v->iterators;
    memcpy(a->facts, v->now, size);
    return a;
}

static void arrival_drop(struct verifier *v, struct arrival *a)
{
    a->next = v->spare;
    v->spare = a;
}

/* Into `to` goes what both know. Loops must stand the same. */
static bool meet(struct verifier *v, uint8_t *to, uint32_t to_iterators,
                 const uint8_t *from, uint32_t from_iterators)
{
    size_t size = v->code->register_count;
    uint8_t differ = 0;

    for (size_t i = 0; i < size; i++) {
        differ |= to[i] ^ from[i];
        to[i] &= from[i];
    }
    if (differ & (ITER | PART) || to_iterators != from_iterators)
        return bad(v, "a jump enters or leaves a loop");
    return true;
}

static bool jump(struct verifier *v, uint32_t target)
{
    struct arrival **at = &v->arrivals;

    if (target <= v->pc || target >= v->code->instruction_count)
        return bad(v, "jumps to %u", target);
    while (*at && (*at)->pc < target)
        at = &(*at)->next;
    if (*at && (*at)->pc == target)
        return meet(v, (*at)->facts, (*at)->iterators, v->now, v->iterators);
    struct arrival *a = arrival_new(v, target);
    if (!a)
        return bad(v, "too many jumps are open");
    a->next = *at;
    *at = a;
    return true;
}

/* What jumps brought here joins what falls through, if anything does. */
static bool arrive(struct verifier *v)
{
    struct arrival *a = v->arrivals;
    bool ok = true;

    if (!a || a->pc != v->pc)
        return true;
    if (v->reachable) {
        ok = meet(v, v->now, v->iterators, a->facts, a->iterators);
    } else {
        memcpy(v->now, a->facts, v->code->register_count);
        v->iterators = a->iterators;
        v->reachable = true;
    }
    v->arrivals = a->next;
    arrival_drop(v, a);
    return ok;
}

/* --- loops --------------------------------------------------------------------------- */

/* The table has one range for each pair of FOR_BEGIN and FOR_NEXT that belong
 * together; here that all of it is so, below that none is missing. */
static bool check_loops(struct verifier *v)
{
    const struct sl_code *code = v->code;
    uint32_t count = code->instruction_count, last = 0;

    v->begins = NULL;
    if (!code->loop_count)
        return true;
    v->begins = sl_arena_alloc(v->s, &v->arena, count * sizeof *v->begins);
    if (!v->begins)
        return bad(v, "no memory left");
    memset(v->begins, 0, count * sizeof *v->begins);
    for (uint32_t i = 0; i < code->loop_count; i++) {
        const struct sl_loop *l = &code->loops[i];
        v->pc = l->begin;
        if (l->begin < 1 || l->end <= l->begin || l->end > count ||
            l->end <= last || v->begins[l->begin])
            return bad(v, "a loop out of order");
        uint64_t begin = code->instructions[l->begin - 1];
        uint64_t next = code->instructions[l->end - 1];
        if (sl_op(begin) != I_FOR_BEGIN || sl_a(begin) != l->reg ||
            (int64_t)l->begin + sl_j(begin) != (int64_t)l->end - 1 ||
            sl_op(next) != I_FOR_NEXT || sl_a(next) != l->reg ||
            (int64_t)l->end + sl_j(next) != (int64_t)l->begin)
            return bad(v, "a loop without its ends");
        v->begins[l->begin] = i + 1;
        last = l->end;
    }
    return true;
}

static bool enter_or_leave_loops(struct verifier *v)
{
    uint32_t i = v->begins ? v->begins[v->pc] : 0;

    while (v->depth && v->open[v->depth - 1].range->end == v->pc)
        v->depth--;
    if (!i)
        return true;
    const struct sl_loop *l = &v->code->loops[i - 1];
    if (v->depth == SL_LOOPS_MAX ||
        (v->depth && v->open[v->depth - 1].range->end < l->end))
        return bad(v, "loops are not inside each other");
    v->open[v->depth++] = (struct open_loop){.range = l};
    return true;
}

/* When an instruction fails, the iterators of the ranges around it are
 * unlocked: they must be the ones that hold a lock. */
static bool loops_are_right(struct verifier *v)
{
    if (v->iterators != v->depth)
        return bad(v, "the locks held are not those of the loops");
    for (uint32_t i = 0; i < v->depth; i++)
        if (!has(v, v->open[i].range->reg, ITER))
            return false;
    return true;
}

static bool for_begin(struct verifier *v, uint32_t a, uint32_t b)
{
    uint32_t i = 0;

    if (v->begins && v->pc + 1 < v->code->instruction_count)
        i = v->begins[v->pc + 1];
    if (!i || !have(v, b, 1, A_VALUE) || !write(v, a, 0) ||
        !write(v, a + 1, 0) || !write(v, a + 2, 0) || !forget(v, a + 3))
        return i ? false : bad(v, "a loop that the table lacks");
    v->now[a] = ITER | PART;
    v->now[a + 1] = v->now[a + 2] = PART;
    v->iterators++;
    return true; /* the jump follows */
}

/* The body follows FOR_BEGIN, but is reached from FOR_NEXT, which has put a
 * value into its variable. */
static bool enter_body(struct verifier *v)
{
    struct open_loop *loop = v->depth ? &v->open[v->depth - 1] : NULL;

    if (!loop || loop->range->begin != v->pc || loop->assumed)
        return true;
    const struct sl_loop *l = loop->range;
    /* What is there now came from FOR_BEGIN: step() left it. */
    loop->assumed = arrival_new(v, l->end);
    if (!loop->assumed)
        return bad(v, "too many jumps are open");
    return write(v, sl_b(v->code->instructions[l->end - 1]), A_VALUE);
}

static bool for_next(struct verifier *v, uint32_t a, uint32_t b)
{
    struct open_loop *loop = v->depth ? &v->open[v->depth - 1] : NULL;

    if (!loop || loop->range->end != v->pc + 1 || !loop->assumed)
        return bad(v, "a loop that the table lacks");
    if (!has(v, a, ITER))
        return false;
    for (uint32_t i = 0; i < v->code->register_count; i++)
        if (loop->assumed->facts[i] & ~v->now[i])
            return bad(v, "register %u is lost in the loop", i);
    arrival_drop(v, loop->assumed);
    loop->assumed = NULL;
    uint8_t before = v->now[b];
    if (!write(v, b, A_VALUE)) /* may it? */
        return false;
    v->now[b] = before;
    return true;
}

static void release(struct verifier *v, uint32_t a)
{
    v->now[a] = v->now[a + 1] = v->now[a + 2] = 0;
    v->iterators--;
}

/* --- constants, sites ------------------------------------------------------------- */

static bool is_constant(struct verifier *v, uint32_t k)
{
    const struct sl_code *code = v->code;

    if (k < code->constant_count && code->constants[k] &&
        code->constants[k] != V_ELLIPSIS &&
        sl_type(code->constants[k]) < T_CELL)
        return true;
    return bad(v, "constant %u is no value", k);
}

static bool is_string(struct verifier *v, uint32_t k)
{
    if (k < v->code->constant_count && sl_is(v->code->constants[k], T_STRING))
        return true;
    return bad(v, "constant %u is no string", k);
}

static bool is_code(struct verifier *v, uint32_t k)
{
    if (k < v->code->constant_count && sl_is(v->code->constants[k], T_CODE))
        return true;
    return bad(v, "constant %u is no code", k);
}

static bool closure(struct verifier *v, uint32_t a, uint32_t b, uint32_t c)
{
    if (!is_code(v, c))
        return false;
    const struct sl_code *inner =
        (struct sl_code *)sl_object(v->code->constants[c]);
    if (!have(v, b, inner->default_count, WORD))
        return false;
    for (uint32_t i = 0; i < inner->capture_count; i++) {
        const struct sl_capture *p = &inner->captures[i];
        if (!p->from_free) {
            if (!has(v, p->index, p->is_cell ? CELL : A_VALUE))
                return false;
        } else if (p->index >= v->code->capture_count ||
                   v->code->captures[p->index].is_cell != p->is_cell) {
            return bad(v, "captures what is not there");
        }
    }
    return write(v, a, A_VALUE);
}

static bool is_captured(struct verifier *v, uint32_t c, bool is_cell)
{
    if (c < v->code->capture_count && v->code->captures[c].is_cell == is_cell)
        return true;
    return bad(v, "captured %u is not there", c);
}

static bool call(struct verifier *v, uint32_t a, uint64_t arguments,
                 uint32_t dst)
{
    return have(v, a, arguments + 1, A_VALUE) && forget(v, a) &&
           write(v, dst, A_VALUE);
}

static bool call_by_site(struct verifier *v, uint64_t i)
{
    uint32_t a = sl_a(i), b = sl_b(i), c = sl_c(i);

    if (c >= v->code->site_count)
        return bad(v, "site %u is not there", c);
    const struct sl_site *site = &v->code->sites[c];
    if (sl_op(i) == I_CALL_SITE) {
        for (uint32_t n = 0; n < site->named; n++)
            if (site->names >= v->code->constant_count ||
                !is_string(v, site->names + n))
                return bad(v, "names that are no strings");
        return call(v, a,
                    (uint64_t)site->positional + site->named + site->star +
                        site->starstar,
                    site->dst);
    }
    if (sl_op(i) == I_BUILTIN)
        return (is_constant(v, site->name) &&
                sl_is(v->code->constants[site->name], T_BUILTIN))
                   ? have(v, a, b, A_VALUE) && write(v, site->dst, A_VALUE)
                   : bad(v, "constant %u is no built-in", site->name);
    if (!have(v, a, 1, A_VALUE) || !is_string(v, site->name) ||
        site->method >= METHOD_COUNT)
        return bad(v, "no method of anything");
    return sl_op(i) == I_HAS_METHOD ||
           (have(v, site->args, b, A_VALUE) && write(v, site->dst, A_VALUE));
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
static bool operand(struct verifier *v, char kind, uint32_t x)
{
    switch (kind) {
    case 'R':
        return has(v, x, A_VALUE);
    case 'K':
        return is_constant(v, x);
    case 'G':
        return x < v->code->program->global_count ||
               bad(v, "global %u is not there", x);
    default:
        return true;
    }
}

static bool plain(struct verifier *v, uint64_t i)
{
    const char *operands = sl_opcodes[sl_op(i)].operands;

    return operand(v, operands[0], sl_a(i)) &&
           operand(v, operands[1], sl_b(i)) &&
           operand(v, operands[2], sl_c(i)) &&
           (operands[0] != 'W' || write(v, sl_a(i), A_VALUE));
}

/* Lists and dicts that are being built lie in temporaries. What a variable holds
 * changes. */
static bool make(struct verifier *v, uint32_t reg, unsigned fact)
{
    bool variable = reg < v->code->local_count && reg < SL_NEAR_LOCALS;

    return write(v, reg, variable ? A_VALUE : A_VALUE | fact);
}

/* Whether it may be executed now; and what is known afterwards. */
static bool effect(struct verifier *v, uint64_t i)
{
    uint32_t a = sl_a(i), b = sl_b(i), c = sl_c(i);

    switch (sl_op(i)) {
    case I_FAR_GET:
        return has(v, c, 0) && (v->now[c] & (WORD | CELL) || has(v, c, WORD)) &&
               write(v, a, v->now[c] & (A_VALUE | CELL));
    case I_FAR_SET:
        return has(v, b, 0) && (v->now[b] & (WORD | CELL) || has(v, b, WORD)) &&
               write_any(v, c, v->now[b] & (A_VALUE | CELL));
    case I_UNSET:
        return write_any(v, c, WORD);
    case I_CHECK:
        return has(v, a, WORD) && is_string(v, c) && write(v, a, A_VALUE);
    case I_CELL:
        return has(v, b, A_VALUE) && write(v, a, CELL);
    case I_CELL_EMPTY:
        return write(v, a, CELL);
    case I_CELL_GET:
        return has(v, b, CELL) && is_string(v, c) && write(v, a, A_VALUE);
    case I_CELL_SET:
        return has(v, a, CELL) && has(v, b, A_VALUE);
    case I_FREE:
        return is_captured(v, c, false) && write(v, a, A_VALUE);
    case I_FREE_CELL:
        return is_captured(v, c, true) && write(v, a, A_VALUE);
    case I_IN_PLACE:
        return c >> 16 <= OP_SHR && has(v, b, A_VALUE) &&
                       has(v, c & 0xffff, A_VALUE)
                   ? write(v, a, A_VALUE)
                   : bad(v, "no such operation");
    case I_FOR_BEGIN:
        return for_begin(v, a, b);
    case I_FOR_NEXT:
        if (!for_next(v, a, b))
            return false;
        release(v, a);
        return true;
    case I_FOR_END:
        if (!has(v, a, ITER))
            return false;
        release(v, a);
        return true;
    case I_LIST:
        return have(v, b, c, A_VALUE) && make(v, a, LIST);
    case I_LIST_EXTEND:
        return has(v, a, LIST) && have(v, b, c, A_VALUE);
    case I_APPEND:
        return has(v, a, LIST) && has(v, b, A_VALUE);
    case I_TUPLE:
        return have(v, b, c, A_VALUE) && write(v, a, A_VALUE);
    case I_DICT:
        return make(v, a, DICT);
    case I_DICT_PUT:
        return has(v, a, DICT) && has(v, b, A_VALUE) && has(v, c, A_VALUE);
    case I_SLICE:
        return has(v, b, A_VALUE) &&
               have(v, c & 0xffff, (uint64_t)__builtin_popcount(c >> 16 & 7),
                    A_VALUE) &&
               write(v, a, A_VALUE);
    case I_UNPACK:
        if (!has(v, b, A_VALUE))
            return false;
        for (uint32_t n = 0; n < c; n++)
            if (!write(v, a + n, A_VALUE))
                return false;
        return true;
    case I_CLOSURE:
        return closure(v, a, b, c);
    case I_CALL:
        if (v->code->register_count > 0x10000)
            return bad(v, "its window would lie upon locals");
        return call(v, a, b, c);
    case I_CALL_SITE:
    case I_HAS_METHOD:
    case I_METHOD:
    case I_BUILTIN:
        return call_by_site(v, i);
    case I_LOAD:
        return is_string(v, c) && write(v, a, MODULE);
    case I_LOAD_NAME:
        return has(v, b, MODULE) && is_string(v, c) && write(v, a, A_VALUE);
    case I_ATTR:
    case I_SET_ATTR:
        return is_string(v, c) && plain(v, i);
    case I_RETURN:
    case I_RETURN_NONE:
        return v->iterators ? bad(v, "a lock is held") : plain(v, i);
    default:
        return plain(v, i);
    }
}

static bool step(struct verifier *v)
{
    uint64_t i = v->code->instructions[v->pc];
    enum sl_opcode op = sl_op(i);

    if (op >= SL_OPCODE_COUNT)
        return bad(v, "no such instruction");
    if (may_fail(op) && !loops_are_right(v))
        return false;
    if (!effect(v, i))
        return false;
    if (sl_opcodes[op].operands[2] == 'J' && op != I_FOR_NEXT) {
        int64_t target = (int64_t)v->pc + 1 + sl_j(i);
        if (target < 0 || !jump(v, (uint32_t)target))
            return target < 0 ? bad(v, "jumps back") : false;
    }
    v->reachable = op != I_JUMP && op != I_RETURN && op != I_RETURN_NONE;
    return true;
}

/* --- a function ------------------------------------------------------------------------ */

static bool check_header(struct verifier *v)
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
        return bad(v, "no function");
    if (given > code->local_count || given > SL_NEAR_LOCALS ||
        code->keyword_only_count > code->param_count ||
        code->default_count > code->param_count ||
        code->register_count < needed || code->register_count > 0x1000000 ||
        (code->register_count > 0x10000 && code->register_count != needed))
        return bad(v, "parameters or registers do not fit");
    for (uint32_t i = 0; i < code->local_count; i++)
        if (!sl_is(code->local_names[i], T_STRING))
            return bad(v, "a variable without name");
    for (uint32_t i = 0; i < code->place_count; i++) {
        v->pc = code->places[i].pc;
        if (v->pc >= code->instruction_count ||
            (i && v->pc <= code->places[i - 1].pc))
            return bad(v, "places are not sorted");
    }
    return check_loops(v);
}

static bool check_function(struct verifier *v)
{
    const struct sl_code *code = v->code;
    uint32_t given = code->param_count + code->has_star + code->has_starstar;

    v->arrivals = v->spare = NULL; /* their size is another for each function */
    v->arrival_count = v->depth = v->iterators = 0;
    if (!check_header(v))
        return false;
    v->now = sl_arena_alloc(v->s, &v->arena, code->register_count + 1);
    if (!v->now)
        return bad(v, "no memory left");
    memset(v->now, 0, code->register_count + 1);
    memset(v->now, A_VALUE, given);
    v->high = given;
    v->reachable = true;
    for (v->pc = 0; v->pc < code->instruction_count; v->pc++) {
        bool begins = v->begins && v->begins[v->pc];
        if (!enter_or_leave_loops(v))
            return false;
        if (begins && v->reachable && !enter_body(v))
            return false;
        if (!arrive(v) || (v->reachable && !step(v)))
            return false;
    }
    return !v->reachable || bad(v, "runs beyond its end");
}

/* `depth`: of functions inside each other, which the source bounds. */
static bool check_all(struct verifier *v, const struct sl_code *code,
                      unsigned depth)
{
    v->code = code;
    if (depth > 2 * SL_SOURCE_DEPTH || !check_function(v))
        return depth > 2 * SL_SOURCE_DEPTH ? bad(v, "nested too deep") : false;
    for (uint32_t i = 0; i < code->constant_count; i++)
        if (sl_is(code->constants[i], T_CODE) &&
            !check_all(v, (struct sl_code *)sl_object(code->constants[i]),
                       depth + 1))
            return false;
    return true;
}

bool sl_verify(struct star *s, const struct sl_code *code, char why[static 100])
{
    struct verifier v = {.s = s, .why = why};

    why[0] = '\0';
    bool ok = check_all(&v, code, 0);
    sl_arena_free(s, &v.arena);
    return ok;
}
