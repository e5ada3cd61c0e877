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

/* A stack of items of one size, shared by all functions of a source: the items
 * of an inner function are on top of those of the outer one until it is
 * finished. */
struct pile {
    void *items;
    uint32_t count, capacity;
};

/* The function being compiled. */
struct unit {
    struct unit *outer;
    const struct sl_function_info *info;
    struct open_loop *loop; /* innermost loop around the current statement */
    /* Start of its own items in each pile. */
    uint32_t instructions, places, constants, sites, loops;
    uint32_t temporary; /* first temporary, after the near locals */
    uint32_t top;       /* next free temporary */
    uint32_t most;      /* maximum number of registers used so far */
    struct sl_pos at;   /* current position, see sl_at */
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
    struct pile nodes; /* nodes of left-leaning chains */
    uint64_t sink[12]; /* target of all writes after a failure */
};

/* --- compile.c ----------------------------------------------------------------- */

bool sl_pile_grow(struct compiler *c, struct pile *pile, size_t size);

/* Adds an item for the caller to fill. Never returns NULL. */
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

/* Adds the static error that the function has too much of `what`. */
void sl_too_large(struct compiler *c, struct sl_pos pos, const char *what);

/*
 * Positions of failures follow the reference implementation: operators,
 * brackets, dots and names set the current position in the order of evaluation,
 * and an instruction without its own position has the last one. A call that
 * fails before the first instruction has the position of that instruction.
 */
static inline void sl_at(struct compiler *c, struct sl_pos pos)
{
    c->unit->at = pos;
}
/* Sets the position of the first instruction, unless it is already set. */
static inline void sl_begin(struct compiler *c)
{
    if (!c->unit->begun)
        c->unit->entry = c->unit->at;
    c->unit->begun = true;
}

/* Returns the index of the instruction within its function. It can fail if it
 * has a position: `pos`, the current one, or none. */
uint32_t sl_emit(struct compiler *c, enum sl_opcode op, uint32_t a, uint32_t b,
                 uint32_t x);
void sl_emit_at(struct compiler *c, struct sl_pos pos, enum sl_opcode op,
                uint32_t a, uint32_t b, uint32_t x);
void sl_emit_so(struct compiler *c, enum sl_opcode op, uint32_t a, uint32_t b,
                uint32_t x);
uint32_t sl_here(const struct compiler *c);

/* Return the index of a constant; sl_constant_add does not search for an equal
 * one. */
uint32_t sl_constant(struct compiler *c, value v);
uint32_t sl_constant_add(struct compiler *c, value v);

/* A jump target. The jumps waiting for it are chained through their operand c.
 * Initialize with {0}. */
struct label {
    uint32_t jumps; /* index of the latest jump + 1 */
};
void sl_jump(struct compiler *c, struct label *to);
/* Records that the last instruction is a jump to `to`. */
void sl_jumps(struct compiler *c, struct label *to);
void sl_label_here(struct compiler *c, struct label *label);

/* Allocates temporaries. To release some, restore unit->top. */
uint32_t sl_temporaries(struct compiler *c, uint32_t count);
/* Returns how many temporaries one list or call may take: few when many are in
 * use, so that they suffice for the deepest nesting allowed. */
uint32_t sl_room(const struct compiler *c);
bool sl_is_temporary(const struct compiler *c, uint32_t reg);

/* --- compile_expr.c ------------------------------------------------------------ */

struct operand {
    bool constant;
    uint32_t reg; /* register, unless constant */
    value v;      /* value, if constant */
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
 * Compiles an expression. The result is a constant (nothing was emitted) or in
 * a register: the variable's own, or `want`, or for ANYWHERE the first free
 * temporary, which is then allocated. `want` may be a variable that the
 * expression reads.
 */
typedef struct operand sl_expression(struct compiler *c,
                                     const struct sl_node *n, uint32_t want);
sl_expression sl_expr;
/* Compiles a def or lambda: evaluates the defaults and creates the function. In
 * compile.c. */
sl_expression sl_closure;
void sl_expr_into(struct compiler *c, const struct sl_node *n, uint32_t reg);
/* Compiles an expression into any register; a constant is loaded into a new
 * temporary. */
uint32_t sl_expr_register(struct compiler *c, const struct sl_node *n);
uint32_t sl_in_register(struct compiler *c, struct operand o);
void sl_move(struct compiler *c, uint32_t to, struct operand o);
/* Returns `want` if it is a register, otherwise the temporary `mark`; releases
 * all temporaries above. */
uint32_t sl_result(struct compiler *c, uint32_t mark, uint32_t want);

/* Returns a register in which a result is built in several steps: `want` if it
 * is a temporary, otherwise a new one, since later steps may read a variable.
 * The second function returns the finished operand and releases all temporaries
 * above `mark`. */
uint32_t sl_building_place(struct compiler *c, uint32_t want);
struct operand sl_built(struct compiler *c, uint32_t reg, uint32_t mark);

/* Emits `op` a, b, right, or `op_k` if `right` is a constant. */
void sl_emit_operand(struct compiler *c, struct sl_pos pos, enum sl_opcode op,
                     enum sl_opcode op_k, uint32_t a, uint32_t b,
                     struct operand right);
/* Emits a = b op right. */
void sl_binary_to(struct compiler *c, struct sl_pos pos, enum sl_operator op,
                  uint32_t a, uint32_t b, struct operand right);

/* Jumps to `to` if the truth of `n` equals `sense`; otherwise continues. */
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

/* Compiles the call `n`. `callee` is in the temporary `mark` or not in a
 * temporary. For a method call, `callee` is the object. */
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
    uint32_t depth; /* nesting of loops */
};
/* Compiles a loop from the iterable to the assignment of the target; the body
 * follows, then loop_end. */
void sl_loop_begin(struct compiler *c, struct open_loop *loop,
                   const struct sl_node *target, const struct sl_node *iterable,
                   struct sl_pos pos);
void sl_loop_end(struct compiler *c);

/* Compiles the statements from `n` up to `end`, which is excluded and may be
 * NULL. Returns false if the code after them is unreachable. */
bool sl_statements(struct compiler *c, const struct sl_node *n,
                   const struct sl_node *end);

#endif
