#include <stdarg.h>
#include <stdio.h>

#include "verify.h"

bool sl_bad(struct sl_verifier *v, const char *format, ...)
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

static uint32_t near_count(const struct sl_verifier *v)
{
    uint32_t count = v->code->register_count;

    return count < 0x10000 ? count : 0x10000;
}

bool sl_has(struct sl_verifier *v, uint32_t reg, unsigned facts)
{
    if (reg < v->code->register_count && (v->now[reg] & facts) == facts)
        return true;
    return sl_bad(v, "register %u is not fit to read", reg);
}

bool sl_have(struct sl_verifier *v, uint32_t reg, uint64_t count,
             unsigned facts)
{
    if (count > near_count(v) || reg + count > near_count(v))
        return sl_bad(v, "registers beyond the last");
    for (uint64_t i = 0; i < count; i++)
        if (!sl_has(v, reg + (uint32_t)i, facts))
            return false;
    return true;
}

bool sl_write_any(struct sl_verifier *v, uint32_t reg, unsigned facts)
{
    if (reg >= v->code->register_count)
        return sl_bad(v, "register %u is beyond the last", reg);
    if (v->now[reg] & PART)
        return sl_bad(v, "register %u is an iterator's", reg);
    v->now[reg] = (uint8_t)facts;
    if (reg < 0x10000 && reg >= v->high)
        v->high = reg + 1;
    return true;
}

bool sl_write(struct sl_verifier *v, uint32_t reg, unsigned facts)
{
    if (reg >= near_count(v))
        return sl_bad(v, "register %u is out of reach", reg);
    return sl_write_any(v, reg, facts);
}

bool sl_forget(struct sl_verifier *v, uint32_t reg)
{
    for (; reg < v->high; reg++) {
        if (v->now[reg] & PART)
            return sl_bad(v, "register %u is an iterator's", reg);
        v->now[reg] = 0;
    }
    return true;
}

/* --- ways that meet --------------------------------------------------------------- */

static struct arrival *arrival_new(struct sl_verifier *v, uint32_t pc)
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

static void arrival_drop(struct sl_verifier *v, struct arrival *a)
{
    a->next = v->spare;
    v->spare = a;
}

/* Into `to` goes what both know. Loops must stand the same. */
static bool meet(struct sl_verifier *v, uint8_t *to, uint32_t to_iterators,
                 const uint8_t *from, uint32_t from_iterators)
{
    size_t size = v->code->register_count;
    uint8_t differ = 0;

    for (size_t i = 0; i < size; i++) {
        differ |= to[i] ^ from[i];
        to[i] &= from[i];
    }
    if (differ & (ITER | PART) || to_iterators != from_iterators)
        return sl_bad(v, "a jump enters or leaves a loop");
    return true;
}

bool sl_flow_jump(struct sl_verifier *v, uint32_t target)
{
    struct arrival **at = &v->arrivals;

    if (target <= v->pc || target >= v->code->instruction_count)
        return sl_bad(v, "jumps to %u", target);
    while (*at && (*at)->pc < target)
        at = &(*at)->next;
    if (*at && (*at)->pc == target)
        return meet(v, (*at)->facts, (*at)->iterators, v->now, v->iterators);
    struct arrival *a = arrival_new(v, target);
    if (!a)
        return sl_bad(v, "too many jumps are open");
    a->next = *at;
    *at = a;
    return true;
}

/* What jumps brought here joins what falls through, if anything does. */
bool sl_flow_arrive(struct sl_verifier *v)
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
bool sl_check_loops(struct sl_verifier *v)
{
    const struct sl_code *code = v->code;
    uint32_t count = code->instruction_count, last = 0;

    v->begins = NULL;
    if (!code->loop_count)
        return true;
    v->begins = sl_arena_alloc(v->s, &v->arena, count * sizeof *v->begins);
    if (!v->begins)
        return sl_bad(v, "no memory left");
    memset(v->begins, 0, count * sizeof *v->begins);
    for (uint32_t i = 0; i < code->loop_count; i++) {
        const struct sl_loop *l = &code->loops[i];
        v->pc = l->begin;
        if (l->begin < 1 || l->end <= l->begin || l->end > count ||
            l->end <= last || v->begins[l->begin])
            return sl_bad(v, "a loop out of order");
        uint64_t begin = code->instructions[l->begin - 1];
        uint64_t next = code->instructions[l->end - 1];
        if (sl_op(begin) != I_FOR_BEGIN || sl_a(begin) != l->reg ||
            (int64_t)l->begin + sl_j(begin) != (int64_t)l->end - 1 ||
            sl_op(next) != I_FOR_NEXT || sl_a(next) != l->reg ||
            (int64_t)l->end + sl_j(next) != (int64_t)l->begin)
            return sl_bad(v, "a loop without its ends");
        v->begins[l->begin] = i + 1;
        last = l->end;
    }
    return true;
}

bool sl_at_loops(struct sl_verifier *v)
{
    uint32_t i = v->begins ? v->begins[v->pc] : 0;

    while (v->depth && v->open[v->depth - 1].range->end == v->pc)
        v->depth--;
    if (!i)
        return true;
    const struct sl_loop *l = &v->code->loops[i - 1];
    if (v->depth == SL_LOOPS_MAX ||
        (v->depth && v->open[v->depth - 1].range->end < l->end))
        return sl_bad(v, "loops are not inside each other");
    v->open[v->depth++] = (struct open_loop){.range = l};
    return true;
}

/* When an instruction fails, the iterators of the ranges around it are
 * unlocked: they must be the ones that hold a lock. */
bool sl_loops_are_right(struct sl_verifier *v)
{
    if (v->iterators != v->depth)
        return sl_bad(v, "the locks held are not those of the loops");
    for (uint32_t i = 0; i < v->depth; i++)
        if (!sl_has(v, v->open[i].range->reg, ITER))
            return false;
    return true;
}

bool sl_for_begin(struct sl_verifier *v, uint32_t a, uint32_t b)
{
    uint32_t i = 0;

    if (v->begins && v->pc + 1 < v->code->instruction_count)
        i = v->begins[v->pc + 1];
    if (!i || !sl_have(v, b, 1, A_VALUE) || !sl_write(v, a, 0) ||
        !sl_write(v, a + 1, 0) || !sl_write(v, a + 2, 0) ||
        !sl_forget(v, a + 3))
        return i ? false : sl_bad(v, "a loop that the table lacks");
    v->now[a] = ITER | PART;
    v->now[a + 1] = v->now[a + 2] = PART;
    v->iterators++;
    return true; /* the jump follows */
}

/* The body follows FOR_BEGIN, but is reached from FOR_NEXT, which has put a
 * value into its variable. */
bool sl_enter_body(struct sl_verifier *v)
{
    struct open_loop *loop = v->depth ? &v->open[v->depth - 1] : NULL;

    if (!loop || loop->range->begin != v->pc || loop->assumed)
        return true;
    const struct sl_loop *l = loop->range;
    /* What is there now came from FOR_BEGIN: step() left it. */
    loop->assumed = arrival_new(v, l->end);
    if (!loop->assumed)
        return sl_bad(v, "too many jumps are open");
    return sl_write(v, sl_b(v->code->instructions[l->end - 1]), A_VALUE);
}

bool sl_for_next(struct sl_verifier *v, uint32_t a, uint32_t b)
{
    struct open_loop *loop = v->depth ? &v->open[v->depth - 1] : NULL;

    if (!loop || loop->range->end != v->pc + 1 || !loop->assumed)
        return sl_bad(v, "a loop that the table lacks");
    if (!sl_has(v, a, ITER))
        return false;
    for (uint32_t i = 0; i < v->code->register_count; i++)
        if (loop->assumed->facts[i] & ~v->now[i])
            return sl_bad(v, "register %u is lost in the loop", i);
    arrival_drop(v, loop->assumed);
    loop->assumed = NULL;
    uint8_t before = v->now[b];
    if (!sl_write(v, b, A_VALUE)) /* may it? */
        return false;
    v->now[b] = before;
    return true;
}

void sl_for_release(struct sl_verifier *v, uint32_t a)
{
    v->now[a] = v->now[a + 1] = v->now[a + 2] = 0;
    v->iterators--;
}
