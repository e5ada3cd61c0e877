#ifndef STARLARK_COMPILE_H
#define STARLARK_COMPILE_H

#include "code.h"

/*
 * compile: how the tree of a source becomes instructions.
 *
 *     compile.c        functions, and the file as one
 *     compile_stmt.c   statements, targets, loops
 *     compile_expr.c   names, operators: expressions into registers
 *     compile_cond.c   and, or, if else; conditions into jumps
 *     compile_list.c   literals of containers, comprehensions
 *     compile_call.c   calls
 *     compile_emit.c   what they all write to: instructions, constants, places
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
struct sl_pile {
    void *items;
    uint32_t count, capacity;
};

/* The function that is being compiled. */
struct sl_unit {
    struct sl_unit *outer;
    const struct sl_function_info *info;
    struct sl_open_loop *loop;     /* innermost around what is compiled now */
    uint32_t instructions, places; /* where its own begin in the piles */
    uint32_t constants, sites, loops, known;
    uint32_t serial;    /* tells its constants from those of others */
    uint32_t temporary; /* the first one: behind the near locals */
    uint32_t top;       /* the next one that is free */
    uint32_t most;      /* registers used so far */
    struct sl_pos said; /* see sl_at */
    struct sl_pos entry;
    bool begun;
};

struct sl_compiler {
    struct star *s;
    struct star_program *program;
    const struct sl_file *file;
    struct sl_arena arena;
    bool failed;
    struct sl_unit *unit;
    struct sl_pile instructions, places, constants, sites, loops;
    struct sl_pile nodes; /* of chains that lean to the left */
    struct sl_pile known; /* which constants there are */
    uint32_t *buckets, bucket_mask;
    uint32_t units;
    uint64_t sink[12]; /* where writes go once it failed */
};

/* --- compile_emit.c ------------------------------------------------------------ */

bool sl_pile_grow(struct sl_compiler *c, struct sl_pile *pile, size_t size);

/* A new item on top, for the caller to fill. Never NULL. */
static inline void *sl_pile_add(struct sl_compiler *c, struct sl_pile *pile,
                                size_t size)
{
    if (c->failed ||
        (pile->count == pile->capacity && !sl_pile_grow(c, pile, size)))
        return c->sink;
    return (char *)pile->items + pile->count++ * size;
}

/* Adds the static error that there is too much of something in the function.
 */
void sl_too_large(struct sl_compiler *c, struct sl_pos pos, const char *what);

/*
 * Where failures are reported is as in the reference implementation: operators,
 * brackets, dots and names say where they are, in the order in which they are
 * evaluated, and what says nothing itself is reported at what spoke last. A call
 * that fails before the first instruction is reported at what that one says.
 */
static inline void sl_at(struct sl_compiler *c, struct sl_pos pos)
{
    c->unit->said = pos;
}
/* Here the first instruction would be, if none was before. */
static inline void sl_begin(struct sl_compiler *c)
{
    if (!c->unit->begun)
        c->unit->entry = c->unit->said;
    c->unit->begun = true;
}

/* Index of the instruction within its function. It can fail when there is a
 * place: `pos` is said here, or not; or nothing is. */
uint32_t sl_emit(struct sl_compiler *c, enum sl_opcode op, uint32_t a,
                 uint32_t b, uint32_t x);
uint32_t sl_emit_at(struct sl_compiler *c, struct sl_pos pos, enum sl_opcode op,
                    uint32_t a, uint32_t b, uint32_t x);
uint32_t sl_emit_from(struct sl_compiler *c, struct sl_pos pos,
                      enum sl_opcode op, uint32_t a, uint32_t b, uint32_t x);
static inline uint32_t sl_emit_so(struct sl_compiler *c, enum sl_opcode op,
                                  uint32_t a, uint32_t b, uint32_t x)
{
    sl_begin(c);
    return sl_emit_from(c, c->unit->said, op, a, b, x);
}
uint32_t sl_here(const struct sl_compiler *c);

/* Index of a constant: the same one for the same word, or surely a new one. */
uint32_t sl_constant(struct sl_compiler *c, value v);
uint32_t sl_constant_add(struct sl_compiler *c, value v);
void sl_constants_forget(struct sl_compiler *c); /* of a finished function */

/* A place that jumps go to: those that wait for it are chained through c of
 * their instructions. Start with {0}. */
struct sl_label {
    uint32_t jumps; /* index of the latest + 1 */
};
void sl_jump(struct sl_compiler *c, struct sl_label *to);
/* The instruction emitted last is a jump to it. */
void sl_jumps(struct sl_compiler *c, struct sl_label *to);
void sl_label_here(struct sl_compiler *c, struct sl_label *label);

/* Temporaries. To give some back, set unit->top to what it was. */
uint32_t sl_temporaries(struct sl_compiler *c, uint32_t count);
static inline uint32_t sl_temporary(struct sl_compiler *c)
{
    return sl_temporaries(c, 1);
}
/* How many may be taken for one list or call: few where many are taken
 * already, so that nesting as deep as sources may nest never runs out. */
uint32_t sl_room(const struct sl_compiler *c);
bool sl_is_temporary(const struct sl_compiler *c, uint32_t reg);

/* --- compile_expr.c ------------------------------------------------------------ */

struct sl_operand {
    bool constant;
    uint32_t reg; /* unless constant */
    value v;      /* if constant */
};
#define SL_ANYWHERE UINT32_MAX

static inline struct sl_operand sl_operand_in(uint32_t reg)
{
    return (struct sl_operand){.reg = reg};
}
static inline struct sl_operand sl_operand_of(value v)
{
    return (struct sl_operand){.constant = true, .v = v};
}

/*
 * Compiles an expression. Its value is a constant (nothing was emitted), or in
 * a register: a variable's own, or `want`, or if that is SL_ANYWHERE the first
 * temporary that was free, which is then taken. `want` may be a variable that
 * the expression reads.
 */
struct sl_operand sl_expr(struct sl_compiler *c, const struct sl_node *n,
                          uint32_t want);
void sl_expr_into(struct sl_compiler *c, const struct sl_node *n, uint32_t reg);
/* The operand's register; a constant is put into a new temporary. */
uint32_t sl_in_register(struct sl_compiler *c, struct sl_operand o);
void sl_move(struct sl_compiler *c, uint32_t to, struct sl_operand o);
/* `want`, or else the temporary `mark`, above which all are given back. */
uint32_t sl_result(struct sl_compiler *c, uint32_t mark, uint32_t want);

/* The int or float with its sign changed. */
value sl_negated(struct sl_compiler *c, value number);

/* Where to build up what takes several steps: not a variable, which the later
 * steps may read. `want` if it is a temporary, else a new one. */
uint32_t sl_building_place(struct sl_compiler *c, uint32_t want);
/* Of c->nodes. */
static inline const struct sl_node *sl_top_node(const struct sl_compiler *c)
{
    return ((const struct sl_node **)c->nodes.items)[c->nodes.count - 1];
}

/* Emits a = b op right at `pos`. */
void sl_binary_to(struct sl_compiler *c, struct sl_pos pos, enum sl_operator op,
                  uint32_t a, uint32_t b, struct sl_operand right);

/* --- compile_cond.c ------------------------------------------------------------ */

/* Jumps to `to` when the truth of `n` is `sense`, else goes on. */
void sl_condition(struct sl_compiler *c, const struct sl_node *n, bool sense,
                  struct sl_label *to);

struct sl_operand sl_junction_expr(struct sl_compiler *c,
                                   const struct sl_node *n, uint32_t want);
struct sl_operand sl_conditional_expr(struct sl_compiler *c,
                                      const struct sl_node *n, uint32_t want);

/* --- compile_list.c ------------------------------------------------------------ */

static inline uint32_t sl_node_count(const struct sl_node *n)
{
    uint32_t count = 0;

    for (; n; n = n->next)
        count++;
    return count;
}

/* A list of the `count` expressions from `n` on. `reg` is a temporary, unless
 * they are few enough for one step. */
void sl_list_into(struct sl_compiler *c, const struct sl_node *n,
                  uint32_t count, uint32_t reg);

struct sl_operand sl_list_expr(struct sl_compiler *c, const struct sl_node *n,
                               uint32_t want);
struct sl_operand sl_tuple_expr(struct sl_compiler *c, const struct sl_node *n,
                                uint32_t want);
struct sl_operand sl_dict_expr(struct sl_compiler *c, const struct sl_node *n,
                               uint32_t want);
struct sl_operand sl_comprehension_expr(struct sl_compiler *c,
                                        const struct sl_node *n, uint32_t want);

/* --- compile_call.c ------------------------------------------------------------ */

/* The call `n` of `callee`, the temporary `mark` or no temporary at all. */
struct sl_operand sl_call_expr(struct sl_compiler *c, const struct sl_node *n,
                               struct sl_operand callee, uint32_t mark,
                               uint32_t want);
/* Whether `call` can be METHOD, and that: `dot` is what it calls. */
bool sl_is_method_call(const struct sl_compiler *c, const struct sl_node *call);
struct sl_operand sl_method_expr(struct sl_compiler *c,
                                 const struct sl_node *dot,
                                 const struct sl_node *call,
                                 struct sl_operand self, uint32_t mark,
                                 uint32_t want);

/* --- compile_stmt.c ------------------------------------------------------------ */

/* A loop whose body is being compiled. */
struct sl_open_loop {
    struct sl_open_loop *outer;
    struct sl_label next, exit;
    struct sl_pos pos;
    uint32_t iterator, variable, begin;
    uint32_t depth; /* of loops inside each other */
};
/* From the evaluation of what is iterated over to the assignment of the target;
 * then comes the body, then the end. */
void sl_loop_begin(struct sl_compiler *c, struct sl_open_loop *loop,
                   const struct sl_node *target, const struct sl_node *iterable,
                   struct sl_pos pos);
void sl_loop_end(struct sl_compiler *c, struct sl_open_loop *loop);

/* Those from `n` on; not `end`, which may be NULL. False when what follows them
 * is never reached. */
bool sl_statements(struct sl_compiler *c, const struct sl_node *n,
                   const struct sl_node *end);

/* --- compile.c ----------------------------------------------------------------- */

/* Of a def or lambda: evaluates the defaults and makes the function. */
struct sl_operand sl_closure(struct sl_compiler *c, const struct sl_node *n,
                             uint32_t want);

#endif
