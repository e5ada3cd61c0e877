#ifndef STARLARK_VERIFY_H
#define STARLARK_VERIFY_H

#include "code.h"

/*
 * verify: what is known of each register while the instructions of a function
 * are looked at. verify_flow.c keeps it, verify.c asks for it.
 *
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

struct sl_verifier {
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

/* Says what is wrong with the instruction at v->pc; false. */
bool sl_bad(struct sl_verifier *v, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One register, or `count` near ones, of which all the facts hold. */
bool sl_has(struct sl_verifier *v, uint32_t reg, unsigned facts);
bool sl_have(struct sl_verifier *v, uint32_t reg, uint64_t count,
             unsigned facts);
/* A near register, or any, is written: just these facts hold now. */
bool sl_write(struct sl_verifier *v, uint32_t reg, unsigned facts);
bool sl_write_any(struct sl_verifier *v, uint32_t reg, unsigned facts);
/* Nothing is known of the near registers from `reg` on. */
bool sl_forget(struct sl_verifier *v, uint32_t reg);

/* A jump takes what is known now to its target; there it joins what falls
 * through, if anything does. */
bool sl_flow_jump(struct sl_verifier *v, uint32_t target);
bool sl_flow_arrive(struct sl_verifier *v);

/* The table of loops against the instructions. */
bool sl_check_loops(struct sl_verifier *v);
/* At each instruction: which ranges it is in; whether just their locks are
 * held, when it may fail. */
bool sl_at_loops(struct sl_verifier *v);
bool sl_enter_body(struct sl_verifier *v);
bool sl_loops_are_right(struct sl_verifier *v);
/* FOR_BEGIN (its jump follows), FOR_NEXT, and the lock that either end gives
 * back. */
bool sl_for_begin(struct sl_verifier *v, uint32_t a, uint32_t b);
bool sl_for_next(struct sl_verifier *v, uint32_t a, uint32_t b);
void sl_for_release(struct sl_verifier *v, uint32_t a);

#endif
