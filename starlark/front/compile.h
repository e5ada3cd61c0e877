#ifndef STARLARK_COMPILE_H
#define STARLARK_COMPILE_H

#include "ast.h"

/*
 * compile: how the tree of a source becomes instructions.
 *
 *     compile.c        what all write to: instructions, constants, places,
 *                      registers; functions, and the file as one
 *     compile_stmt.c   statements, targets, loops
 *     compile_expr.c   expressions into registers, conditions into jumps
 *     compile_list.c   containers, comprehensions, calls
 *
 * A variable is an operand where it lies: an expression cannot rebind a local
 * variable, so nothing is copied that is only read. Other operands go into
 * temporaries, which are used as a stack above the locals.
 *
 * Nothing here returns an error. The first failure sets `failed`; from then on
 * nothing is added, what is under way finishes with words that mean nothing,
 * and sl_compile throws it all away.
 */

/* A stack of items of one size. One serves all functions of a source: those of
 * an inner one lie on top of the outer one's until it is finished. */
struct pile {
    void *items;
    uint32_t count, capacity;
};

/* The function that is being compiled. */
struct unit {
    struct unit *outer;
    const struct sl_function_info *info;
    struct open_loop *loop; /* innermost one of the current statement */
    /* Where its own begin in the piles. */
    uint32_t instructions, places, constants, sites, loops;
    uint32_t temporary; /* the first one: behind the near locals */
    uint32_t top;       /* the next one that is free */
    uint32_t most;      /* registers used so far */
    struct sl_pos at;   /* current place, see sl_at */
    struct sl_pos entry;
    bool begun;
};

struct compiler {
    struct star *s;
    struct star_program *program;
    struct sl_arena arena;
    bool failed;
    struct unit *unit;
    struct pile instructions, places, constants, sites, loops;
    struct pile nodes; /* of chains that lean to the left */
    uint64_t sink[12]; /* where writes go once it failed */
};

/* --- compile.c ----------------------------------------------------------------- */

bool sl_pile_grow(struct compiler *c, struct pile *pile, size_t size);

/* A new item on top, for the caller to fill. Never NULL. */
static inline void *sl_pile_add(struct compiler *c, struct pile *pile,
                                size_t size)
{
    if (c->failed ||
        (pile->count == pile->capacity && !sl_pile_grow(c, pile, size)))
        return c->sink;
    return (char *)pile->items + pile->count++ * size;
}

void sl_push_node(struct compiler *c, const struct sl_node *n);
const struct sl_node *sl_pop_node(struct compiler *c);

/* Adds the static error that there is too much of something in the function.
 */
void sl_too_large(struct compiler *c, struct sl_pos pos, const char *what);

/*
 * Failures are reported at the places of the reference implementation: operators,
 * brackets, dots and names set the current place, in the order of evaluation, and
 * an instruction without a place of its own has the last one. A call that fails
 * before the first instruction has the place of that instruction.
 */
static inline void sl_at(struct compiler *c, struct sl_pos pos)
{
    c->unit->at = pos;
}
/* The first instruction comes here, unless one came before. */
static inline void sl_begin(struct compiler *c)
{
    if (!c->unit->begun)
        c->unit->entry = c->unit->at;
    c->unit->begun = true;
}

/* Index of the instruction within its function. It can fail when it has
 * a place: `pos`, the current place, or none. */
uint32_t sl_emit(struct compiler *c, enum sl_opcode op, uint32_t a, uint32_t b,
                 uint32_t x);
void sl_emit_at(struct compiler *c, struct sl_pos pos, enum sl_opcode op,
                uint32_t a, uint32_t b, uint32_t x);
void sl_emit_so(struct compiler *c, enum sl_opcode op, uint32_t a, uint32_t b,
                uint32_t x);
uint32_t sl_here(const struct compiler *c);

/* Index of a constant; sl_constant_add: surely a new one. */
uint32_t sl_constant(struct compiler *c, value v);
uint32_t sl_constant_add(struct compiler *c, value v);

/* A place that jumps go to: those that wait for it are chained through c of
 * their instructions. Start with {0}. */
struct label {
    uint32_t jumps; /* index of the latest + 1 */
};
void sl_jump(struct compiler *c, struct label *to);
/* The instruction emitted last is a jump to it. */
void sl_jumps(struct compiler *c, struct label *to);
void sl_label_here(struct compiler *c, struct label *label);

/* Takes temporaries. To give some back, set unit->top to what it was. */
uint32_t sl_temporaries(struct compiler *c, uint32_t count);
/* How many may be taken for one list or call: few where many are taken
 * already, so that nesting as deep as sources may nest never runs out. */
uint32_t sl_room(const struct compiler *c);
bool sl_is_temporary(const struct compiler *c, uint32_t reg);

/* --- compile_expr.c ------------------------------------------------------------ */

struct operand {
    bool constant;
    uint32_t reg; /* unless constant */
    value v;      /* if constant */
};
#define ANYWHERE UINT32_MAX

static inline struct operand sl_operand_in(uint32_t reg)
{
    return (struct operand){.reg = reg};
}
static inline struct operand sl_operand_of(value v)
{
    return (struct operand){.constant = true, .v = v};
}

/*
 * Compiles an expression. Its value is a constant (nothing was emitted), or in
 * a register: a variable's own, or `want`, or if that is ANYWHERE the first
 * temporary that was free, which is then taken. `want` may be a variable that
 * the expression reads.
 */
typedef struct operand sl_expression(struct compiler *c,
                                     const struct sl_node *n, uint32_t want);
sl_expression sl_expr;
/* Of a def or lambda, in compile.c: evaluates the defaults, makes the function.
 */
sl_expression sl_closure;
void sl_expr_into(struct compiler *c, const struct sl_node *n, uint32_t reg);
/* In a register, wherever; a constant is put into a new temporary. */
uint32_t sl_expr_register(struct compiler *c, const struct sl_node *n);
uint32_t sl_in_register(struct compiler *c, struct operand o);
void sl_move(struct compiler *c, uint32_t to, struct operand o);
/* `want`, or else the temporary `mark`, above which all are given back. */
uint32_t sl_result(struct compiler *c, uint32_t mark, uint32_t want);

/* Where to build up what takes several steps: not a variable, which the later
 * steps may read. `want` if it is a temporary, else a new one. Then what it is,
 * all above `mark` given back. */
uint32_t sl_building_place(struct compiler *c, uint32_t want);
struct operand sl_built(struct compiler *c, uint32_t reg, uint32_t mark);

/* Emits `op` a, b, right; `op_k` if `right` is a constant. */
void sl_emit_operand(struct compiler *c, struct sl_pos pos, enum sl_opcode op,
                     enum sl_opcode op_k, uint32_t a, uint32_t b,
                     struct operand right);
/* Emits a = b op right. */
void sl_binary_to(struct compiler *c, struct sl_pos pos, enum sl_operator op,
                  uint32_t a, uint32_t b, struct operand right);

/* Jumps to `to` when the truth of `n` is `sense`, else goes on. */
void sl_condition(struct compiler *c, const struct sl_node *n, bool sense,
                  struct label *to);

/* --- compile_list.c ------------------------------------------------------------ */

static inline uint32_t sl_node_count(const struct sl_node *n)
{
    uint32_t count = 0;

    for (; n; n = n->next)
        count++;
    return count;
}

sl_expression sl_list_expr, sl_tuple_expr, sl_dict_expr, sl_comprehension_expr;

/* The call `n` of `callee`, the temporary `mark` or no temporary at all. It may
 * be a method call, of which `callee` is the object. */
struct operand sl_call_expr(struct compiler *c, const struct sl_node *n,
                            struct operand callee, uint32_t mark,
                            uint32_t want);
bool sl_is_method_call(const struct sl_node *n);

/* --- compile_stmt.c ------------------------------------------------------------ */

/* A loop whose body is being compiled. */
struct open_loop {
    struct open_loop *outer;
    struct label next, exit;
    struct sl_pos pos;
    uint32_t iterator, variable, begin;
    uint32_t depth; /* of loops inside each other */
};
/* From the evaluation of the iterable to the assignment of the target;
 * then comes the body, then the end. */
void sl_loop_begin(struct compiler *c, struct open_loop *loop,
                   const struct sl_node *target, const struct sl_node *iterable,
                   struct sl_pos pos);
void sl_loop_end(struct compiler *c);

/* Those from `n` on; not `end`, which may be NULL. False when what follows them
 * is never reached. */
bool sl_statements(struct compiler *c, const struct sl_node *n,
                   const struct sl_node *end);

#endif
