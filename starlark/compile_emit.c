#include "compile.h"

/* --- piles ----------------------------------------------------------------------- */

bool sl_pile_grow(struct sl_compiler *c, struct sl_pile *pile, size_t size)
{
    uint32_t capacity = pile->capacity ? pile->capacity * 2 : 64;
    void *items = NULL;

    if (c->failed)
        return false;
    if (capacity < UINT32_MAX / 4)
        items = sl_arena_alloc(c->s, &c->arena, capacity * size);
    else
        sl_fail_memory(c->s, SIZE_MAX);
    if (!items) {
        c->failed = true;
        return false;
    }
    if (pile->count)
        memcpy(items, pile->items, pile->count * size);
    pile->items = items;
    pile->capacity = capacity;
    return true;
}

void sl_too_large(struct sl_compiler *c, struct sl_pos pos, const char *what)
{
    if (c->failed)
        return;
    sl_static_error(c->s, pos, "too many %s in one function", what);
    c->failed = true;
}

/* --- instructions ------------------------------------------------------------------ */

/* So many, so that every jump fits; then so do indexes of sites and places. */
#define INSTRUCTIONS_MAX 0x7ffffeu

uint32_t sl_here(const struct sl_compiler *c)
{
    return c->instructions.count - c->unit->instructions;
}

uint32_t sl_emit(struct sl_compiler *c, enum sl_opcode op, uint32_t a,
                 uint32_t b, uint32_t x)
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

uint32_t sl_emit_from(struct sl_compiler *c, struct sl_pos pos,
                      enum sl_opcode op, uint32_t a, uint32_t b, uint32_t x)
{
    uint32_t pc = sl_emit(c, op, a, b, x);
    const struct sl_place *last = NULL;

    if (c->places.count > c->unit->places)
        last = (const struct sl_place *)c->places.items + c->places.count - 1;
    if (!last || last->pos.line != pos.line || last->pos.column != pos.column) {
        struct sl_place *place =
            sl_pile_add(c, &c->places, sizeof(struct sl_place));
        *place = (struct sl_place){pc, pos};
    }
    return pc;
}

uint32_t sl_emit_at(struct sl_compiler *c, struct sl_pos pos, enum sl_opcode op,
                    uint32_t a, uint32_t b, uint32_t x)
{
    sl_at(c, pos);
    return sl_emit_from(c, pos, op, a, b, x);
}

/* --- constants --------------------------------------------------------------------- */

/* Of all unfinished functions: the inner one's were added last, and go first. So
 * the table stays small however long the source is. */
struct known {
    value v;
    uint32_t serial, index;
    uint32_t next; /* in its bucket: a place in the pile + 1 */
};

static uint32_t *bucket(const struct sl_compiler *c, value v, uint32_t serial)
{
    uint64_t h = (v ^ (uint64_t)serial << 40) * 0x9e3779b97f4a7c15u;

    return &c->buckets[h >> 32 & c->bucket_mask];
}

static bool more_buckets(struct sl_compiler *c)
{
    uint32_t count = c->buckets ? (c->bucket_mask + 1) * 4 : 256;
    struct known *known = c->known.items;

    c->buckets = sl_arena_alloc(c->s, &c->arena, count * sizeof *c->buckets);
    if (!c->buckets) {
        c->failed = true;
        return false;
    }
    memset(c->buckets, 0, count * sizeof *c->buckets);
    c->bucket_mask = count - 1;
    for (uint32_t i = 0; i < c->known.count; i++) {
        uint32_t *b = bucket(c, known[i].v, known[i].serial);
        known[i].next = *b;
        *b = i + 1;
    }
    return true;
}

void sl_constants_forget(struct sl_compiler *c)
{
    const struct known *known = c->known.items;

    while (c->known.count > c->unit->known) {
        const struct known *k = &known[--c->known.count];
        *bucket(c, k->v, k->serial) = k->next;
    }
}

uint32_t sl_constant_add(struct sl_compiler *c, value v)
{
    uint32_t index = c->constants.count - c->unit->constants;

    if (index >= 0xffffff)
        sl_too_large(c, c->unit->info->pos, "constants");
    value *constant = sl_pile_add(c, &c->constants, sizeof *constant);
    *constant = v;
    return index;
}

uint32_t sl_constant(struct sl_compiler *c, value v)
{
    if (c->failed || (c->known.count >= c->bucket_mask && !more_buckets(c)))
        return 0;
    uint32_t *head = bucket(c, v, c->unit->serial);
    for (uint32_t i = *head; i;) {
        const struct known *k = (struct known *)c->known.items + i - 1;
        if (k->v == v && k->serial == c->unit->serial)
            return k->index;
        i = k->next;
    }
    struct known *k = sl_pile_add(c, &c->known, sizeof *k);
    *k = (struct known){v, c->unit->serial, sl_constant_add(c, v), *head};
    *head = c->known.count;
    return k->index;
}

/* --- jumps --------------------------------------------------------------------------- */

static uint64_t *instruction(struct sl_compiler *c, uint32_t pc)
{
    return (uint64_t *)c->instructions.items + c->unit->instructions + pc;
}

static void set_c(uint64_t *i, uint32_t x)
{
    *i = sl_instruction(sl_op(*i), sl_a(*i), sl_b(*i), x);
}

void sl_jump(struct sl_compiler *c, struct sl_label *to)
{
    sl_emit(c, I_JUMP, 0, 0, 0);
    sl_jumps(c, to);
}

void sl_jumps(struct sl_compiler *c, struct sl_label *to)
{
    if (c->failed)
        return;
    set_c(instruction(c, sl_here(c) - 1), to->jumps);
    to->jumps = sl_here(c);
}

void sl_label_here(struct sl_compiler *c, struct sl_label *label)
{
    while (!c->failed && label->jumps) {
        uint64_t *i = instruction(c, label->jumps - 1);
        uint32_t distance = sl_here(c) - label->jumps;
        label->jumps = sl_c(*i);
        set_c(i, distance);
    }
}

/* --- registers ----------------------------------------------------------------------- */

/* Of temporaries there are at least 0x8000. One list or call takes up to 4,096;
 * beyond the first 8,192 each takes few. A run of defaults may take what is left
 * over, see sl_closure. */
#define TEMPORARIES_ROOMY 8192u

uint32_t sl_temporaries(struct sl_compiler *c, uint32_t count)
{
    struct sl_unit *u = c->unit;
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

uint32_t sl_room(const struct sl_compiler *c)
{
    return c->unit->top - c->unit->temporary < TEMPORARIES_ROOMY ? 4096 : 8;
}

bool sl_is_temporary(const struct sl_compiler *c, uint32_t reg)
{
    return reg >= c->unit->temporary && reg < 0x10000;
}
