#include "star_verify.h"

#include <stdarg.h>
#include <stdio.h>

#include "front/ast.h"
#include "lib/lib.h"

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

/* A FOR_BEGIN whose FOR_NEXT comes. */
struct open_loop {
    struct sl_loop range;
    struct arrival *assumed; /* by the body; NULL if nothing gets there */
};

#define ARRIVALS_MAX 4000 /* a compiler's nesting makes some hundreds */

struct verifier {
    struct star *s;
    const struct sl_code *code;
    char *why; /* of 100 bytes */
    struct sl_arena arena;
    struct arrival *arrivals, *spare;
    uint32_t arrival_count;
    struct open_loop open[SL_LOOPS_MAX];
    uint32_t depth, loops; /* how many are open; have ended */
    uint32_t pc;
    uint32_t near; /* how many registers instructions name */
    uint32_t high; /* near registers from here on were never written */
    bool reachable;
    uint32_t iterators; /* that hold their lock */
    uint8_t *now;       /* facts, by register */
};

/* Says what is wrong with the instruction at v->pc. */
__attribute__((format(printf, 2, 3))) static bool bad(struct verifier *v,
                                                      const char *format, ...)
{
    const struct sl_code *code = v->code;
    const char *name = "end";
    char what[100];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (v->pc < code->instruction_count)
        name =
            sl_opcodes[sl_op(code->instructions[v->pc]) % SL_OPCODE_COUNT].name;
    snprintf(v->why, 100, "%.30s at %u: %.50s", name, v->pc, what);
    return false;
}

/* --- registers -------------------------------------------------------------------- */

static bool has(struct verifier *v, uint32_t reg, unsigned facts)
{
    if (reg < v->code->register_count && (v->now[reg] & facts) == facts)
        return true;
    return bad(v, "register %u is not fit to read", reg);
}

static bool have(struct verifier *v, uint32_t reg, uint64_t count,
                 unsigned facts)
{
    if (count > v->near || reg + count > v->near)
        return bad(v, "registers beyond the last");
    for (uint64_t i = 0; i < count; i++)
        if (!has(v, reg + (uint32_t)i, facts))
            return false;
    return true;
}

/* Any register, or a near one, is written: just these facts hold now. */
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
    if (reg >= v->near)
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
             !(a = sl_arena_alloc(v->s, &v->arena, sizeof *a + size))) {
        bad(v, "too many jumps are open");
        return NULL;
    }
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

/* Into `to` goes what is known there and now. Loops must stand the same. */
static bool meet(struct verifier *v, uint8_t *to, const struct arrival *a,
                 const uint8_t *from)
{
    size_t size = v->code->register_count;
    uint8_t differ = 0;

    for (size_t i = 0; i < size; i++) {
        differ |= to[i] ^ from[i];
        to[i] &= from[i];
    }
    if (differ & (ITER | PART) || a->iterators != v->iterators)
        return bad(v, "a jump enters or leaves a loop");
    return true;
}

static bool jump(struct verifier *v, uint64_t i)
{
    struct arrival **at = &v->arrivals;
    int64_t target = (int64_t)v->pc + 1 + sl_j(i);

    if (target < 0)
        return bad(v, "jumps back");
    if (target <= v->pc || target >= v->code->instruction_count)
        return bad(v, "jumps to %u", (unsigned)target);
    while (*at && (*at)->pc < target)
        at = &(*at)->next;
    if (*at && (*at)->pc == target)
        return meet(v, (*at)->facts, *at, v->now);
    struct arrival *a = arrival_new(v, (uint32_t)target);
    if (!a)
        return false;
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
        ok = meet(v, v->now, a, a->facts);
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

/* When an instruction fails, the iterators of the ranges around it are
 * unlocked: they must be the ones that hold a lock. */
static bool loops_are_right(struct verifier *v)
{
    if (v->iterators != v->depth)
        return bad(v, "the locks held are not those of the loops");
    for (uint32_t i = 0; i < v->depth; i++)
        if (!has(v, v->open[i].range.reg, ITER))
            return false;
    return true;
}

/* FOR_BEGIN. The body follows it, but is reached from FOR_NEXT, which has put a
 * value into its variable. */
static bool for_begin(struct verifier *v, uint64_t i)
{
    struct open_loop *loop = &v->open[v->depth];
    uint32_t begin = v->pc + 1, next = begin + (uint32_t)sl_j(i), a = sl_a(i);

    if (v->depth == SL_LOOPS_MAX)
        return bad(v, "too many loops inside each other");
    *loop = (struct open_loop){.range = {begin, next + 1, a}};
    if (v->reachable) {
        if (!loops_are_right(v) || !have(v, sl_b(i), 1, A_VALUE) ||
            !write(v, a, 0) || !write(v, a + 1, 0) || !write(v, a + 2, 0) ||
            !forget(v, a + 3))
            return false;
        v->now[a] = ITER | PART;
        v->now[a + 1] = v->now[a + 2] = PART;
        v->iterators++;
        loop->assumed = jump(v, i) ? arrival_new(v, next) : NULL;
        if (!loop->assumed ||
            !write(v, sl_b(v->code->instructions[next]), A_VALUE))
            return false;
    }
    v->depth++;
    return true;
}

/* Before FOR_NEXT: it is the end of the loop that began last, and the next one
 * of the table. So the table has all loops, inner ones first. */
static bool ends_loop(struct verifier *v, uint64_t i)
{
    struct sl_loop is = {v->pc + 1 + (uint32_t)sl_j(i), v->pc + 1, sl_a(i)};

    if (!v->depth || v->loops == v->code->loop_count)
        return bad(v, "a loop that the table lacks");
    if (memcmp(&is, &v->open[v->depth - 1].range, sizeof is) != 0 ||
        memcmp(&is, &v->code->loops[v->loops++], sizeof is) != 0)
        return bad(v, "a loop without its ends");
    return true;
}

static bool release(struct verifier *v, uint32_t a)
{
    if (!has(v, a, ITER))
        return false;
    v->now[a] = v->now[a + 1] = v->now[a + 2] = 0;
    v->iterators--;
    return true;
}

static bool for_next(struct verifier *v, uint32_t a, uint32_t b)
{
    struct arrival *assumed = v->open[v->depth - 1].assumed;

    if (!assumed)
        return bad(v, "a loop without its ends");
    for (uint32_t i = 0; i < v->code->register_count; i++)
        if (assumed->facts[i] & ~v->now[i])
            return bad(v, "register %u is lost in the loop", i);
    arrival_drop(v, assumed);
    uint8_t before = v->now[b < v->near ? b : 0];
    if (!write(v, b, A_VALUE)) /* may it? */
        return false;
    v->now[b] = before;
    return release(v, a);
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

static bool is_a(struct verifier *v, uint32_t k, enum sl_type type,
                 const char *what)
{
    if (k < v->code->constant_count && sl_is(v->code->constants[k], type))
        return true;
    return bad(v, "constant %u is no %s", k, what);
}

static bool is_string(struct verifier *v, uint32_t k)
{
    return is_a(v, k, T_STRING, "string");
}

static bool is_captured(struct verifier *v, uint32_t c, bool is_cell)
{
    if (c < v->code->capture_count && v->code->captures[c].is_cell == is_cell)
        return true;
    return bad(v, "captured %u is not there", c);
}

static bool closure(struct verifier *v, uint32_t a, uint32_t b, uint32_t c)
{
    if (!is_a(v, c, T_CODE, "code"))
        return false;
    const struct sl_code *inner =
        (struct sl_code *)sl_object(v->code->constants[c]);
    if (!have(v, b, inner->default_count, WORD))
        return false;
    for (uint32_t i = 0; i < inner->capture_count; i++) {
        const struct sl_capture *p = &inner->captures[i];
        if (!(p->from_free ? is_captured(v, p->index, p->is_cell)
                           : has(v, p->index, p->is_cell ? CELL : A_VALUE)))
            return false;
    }
    return write(v, a, A_VALUE);
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
            if (!is_string(v, site->names + n))
                return false;
        return call(v, a,
                    (uint64_t)site->positional + site->named + site->star +
                        site->starstar,
                    site->dst);
    }
    if (sl_op(i) == I_BUILTIN)
        return is_a(v, site->name, T_BUILTIN, "built-in") &&
               have(v, a, b, A_VALUE) && write(v, site->dst, A_VALUE);
    if (!have(v, a, 1, A_VALUE) || !is_string(v, site->name) ||
        site->method >= METHOD_COUNT)
        return bad(v, "no method of anything");
    return sl_op(i) == I_HAS_METHOD ||
           (have(v, site->args, b, A_VALUE) && write(v, site->dst, A_VALUE));
}

/* --- one instruction ------------------------------------------------------------------ */

static const bool cannot_fail[SL_OPCODE_COUNT] = {
    [I_MOVE] = true,     [I_CONST] = true,     [I_FAR_GET] = true,
    [I_FAR_SET] = true,  [I_UNSET] = true,     [I_SET_GLOBAL] = true,
    [I_CELL_SET] = true, [I_FREE] = true,      [I_NOT] = true,
    [I_JUMP] = true,     [I_JUMP_TRUE] = true, [I_JUMP_FALSE] = true,
    [I_FOR_END] = true,  [I_RETURN] = true,    [I_RETURN_NONE] = true,
};

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

/* FAR_GET and FAR_SET move whatever a variable is. */
static bool far_move(struct verifier *v, uint32_t to, uint32_t from)
{
    return has(v, from, 0) &&
           (v->now[from] & (WORD | CELL) || has(v, from, WORD)) &&
           write_any(v, to, v->now[from] & (A_VALUE | CELL));
}

/* Whether it may be executed now; and what is known afterwards. */
static bool effect(struct verifier *v, uint64_t i)
{
    uint32_t a = sl_a(i), b = sl_b(i), c = sl_c(i);

    switch (sl_op(i)) {
    case I_FAR_GET:
        return far_move(v, a, c);
    case I_FAR_SET:
        return far_move(v, c, b);
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
    case I_FREE_CELL:
        return is_captured(v, c, sl_op(i) == I_FREE_CELL) && plain(v, i);
    case I_IN_PLACE:
        return c >> 16 <= OP_SHR ? has(v, c & 0xffff, A_VALUE) && plain(v, i)
                                 : bad(v, "no such operation");
    case I_FOR_NEXT:
        return for_next(v, a, b);
    case I_FOR_END:
        return release(v, a);
    case I_LIST:
        return have(v, b, c, A_VALUE) && make(v, a, LIST);
    case I_LIST_EXTEND:
        return has(v, a, LIST) && have(v, b, c, A_VALUE);
    case I_APPEND:
        return has(v, a, LIST) && plain(v, i);
    case I_TUPLE:
        return have(v, b, c, A_VALUE) && plain(v, i);
    case I_DICT:
        return make(v, a, DICT);
    case I_DICT_PUT:
        return has(v, a, DICT) && plain(v, i);
    case I_SLICE:
        return have(v, c & 0xffff, (uint64_t)__builtin_popcount(c >> 16 & 7),
                    A_VALUE) &&
               plain(v, i);
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

static bool step(struct verifier *v, uint64_t i)
{
    enum sl_opcode op = sl_op(i);

    if (op >= SL_OPCODE_COUNT)
        return bad(v, "no such instruction");
    if (!cannot_fail[op] && !loops_are_right(v))
        return false;
    if (!effect(v, i))
        return false;
    if (sl_opcodes[op].operands[2] == 'J' && op != I_FOR_NEXT && !jump(v, i))
        return false;
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
    return true;
}

static bool check_function(struct verifier *v)
{
    const struct sl_code *code = v->code;

    v->arrivals = v->spare = NULL; /* their size is another for each function */
    v->arrival_count = v->depth = v->loops = v->iterators = v->pc = 0;
    if (!check_header(v))
        return false;
    v->now = sl_arena_alloc(v->s, &v->arena, code->register_count + 1);
    if (!v->now)
        return bad(v, "no memory left");
    memset(v->now, 0, code->register_count + 1);
    v->near = code->register_count < 0x10000 ? code->register_count : 0x10000;
    v->high = code->param_count + code->has_star + code->has_starstar;
    memset(v->now, A_VALUE, v->high);
    v->reachable = true;
    for (v->pc = 0; v->pc < code->instruction_count; v->pc++) {
        uint64_t i = code->instructions[v->pc];
        enum sl_opcode op = sl_op(i);
        if ((op == I_FOR_NEXT && !ends_loop(v, i)) || !arrive(v))
            return false;
        if (op == I_FOR_BEGIN ? !for_begin(v, i) : v->reachable && !step(v, i))
            return false;
        v->depth -= op == I_FOR_NEXT;
    }
    if (v->depth || v->loops < code->loop_count)
        return bad(v, "a loop without its ends");
    return !v->reachable || bad(v, "runs beyond its end");
}

/* `depth`: of functions inside each other, which the source bounds. */
static bool check_all(struct verifier *v, const struct sl_code *code,
                      unsigned depth)
{
    v->code = code;
    v->pc = 0;
    if (depth > 2 * SL_SOURCE_DEPTH)
        return bad(v, "nested too deep");
    if (!check_function(v))
        return false;
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
