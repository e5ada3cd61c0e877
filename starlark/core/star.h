#ifndef STARLARK_STAR_H
#define STARLARK_STAR_H

#include <stdatomic.h>

#include "heap.h"

/*
 * star: the interpreter itself, and what every part of it uses: failing,
 * charging, calling.
 */

#define SL_FUEL_SLICE                                                          \
    SL_RARE(2048, 1) /* steps between two looks at clock and cancel */

struct sl_frame; /* vm.h */

struct star {
    /* What the VM touches at every step comes first. */
    int64_t fuel; /* steps until sl_charge_slow looks at clock and limits */
    struct sl_frame *frame; /* innermost; NULL: nothing runs */
    bool native;            /* objects made now are held */
    bool interactive;
    unsigned entries; /* C functions that run programs, inside each other */
    struct sl_frame *frames; /* vm.h: the outermost one, made when needed */

    struct sl_heap heap;
    struct sl_segment *stack; /* vm.h */
    struct star_limits limits;
    struct star_options options;
    atomic_int canceled;
    uint64_t steps_done;  /* up to the last refill of fuel */
    int64_t fuel_given;   /* at that refill */
    uint64_t deadline_ns; /* CLOCK_MONOTONIC; 0: none */
    unsigned hosted;      /* sl_host_enter without leave */
    size_t output_bytes;
    uint64_t hash_seed;   /* never visible */
    uint32_t next_number; /* of functions: their hash */

    value chars[128]; /* strings of one ASCII byte, made when first used */
    value empty_string, empty_tuple;
    value type_names[T_COUNT]; /* what type() gave; interned, so they live */
    value interned; /* a dict: strings of the sources, keyword names */
    value universe; /* a dict: use sl_universe() */
    struct sl_globals *interactive_globals;
    struct star_module *modules;
    struct star_program *programs;

    struct sl_scratch *scratch; /* int.c: big numbers to compute in */
    struct sl_error *error;     /* error.c */
    char *text;                 /* what star_disassemble gave last */
    size_t text_size;
};

/* sl_alloc_part; the common case needs no call. For sizes known when compiling. */
static inline void *sl_alloc_small(struct star *s, enum sl_type type,
                                   size_t size, size_t zeroed)
{
    struct sl_heap *h = &s->heap;
    struct sl_free_cell *cell = h->free[SL_CLASS(size)];

    if (SL_CHECKED_HEAP || !cell ||
        (s->native && h->held_count == h->held_capacity))
        return sl_alloc_part(s, type, size, zeroed);
    if (s->native)
        h->held[h->held_count++] = sl_value(cell);
    h->free[SL_CLASS(size)] = cell->next;
    memset(cell, 0, zeroed);
    ((struct sl_object *)cell)->type = (uint8_t)type;
    return cell;
}

/* --- failing: error.h has the rest -------------------------------------------- */

/* Sets the error, STAR_ERROR_RUNTIME with a message, and returns 0. The VM adds
 * the traceback as the frames are left. */
value sl_fail(struct star *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
value sl_fail_as(struct star *s, enum star_error code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A host passed on the STAR_INVALID of something that failed: that stays
 * the error, if there was one. */
star_value sl_no_value(struct star *s);
/* One more line, "hint: ..."; for the error just set. */
void sl_hint(struct star *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- budgets -------------------------------------------------------------------- */

/* See heap.h. `units` is at most 2^40. */
static inline bool sl_charge(struct star *s, uint64_t units)
{
    s->fuel -= (int64_t)units;
    return s->fuel >= 0 || sl_charge_slow(s);
}

/* For work that was done already, each piece of it too short to end early: what
 * runs next finds that the budget ended. */
static inline void sl_owe(struct star *s, uint64_t units)
{
    s->fuel -= (int64_t)units;
}

/* In a loop over `n` bytes, or items that are as little work: charges the next
 * piece when there one begins. */
#define SL_LOOP_PIECE 65536u
static inline bool sl_charge_loop(struct star *s, uint64_t i, uint64_t n)
{
    return i % SL_LOOP_PIECE ||
           sl_charge(s, (n - i < SL_LOOP_PIECE ? n - i : SL_LOOP_PIECE) / 16);
}

/* NULL: the defaults. */
void sl_set_limits(struct star *s, const struct star_limits *limits);

/* Looks for timeout and cancellation now; sl_poll fails with them. */
bool sl_interrupted(const struct star *s);
bool sl_poll(struct star *s);

/* Calls of C functions into each other on behalf of nested values. */
static inline bool sl_depth_ok(struct star *s, unsigned depth)
{
    if (depth <= s->limits.value_depth)
        return true;
    sl_fail_as(s, STAR_ERROR_DEPTH, "values are nested more than %u deep",
               s->limits.value_depth);
    return false;
}

/* --- native functions -------------------------------------------------------------- */

/* A call as a built-in sees it. The named arguments' values follow the
 * positional ones: args[count + i] belongs to names[i]. */
struct sl_call {
    const char *name; /* of the function that is called */
    value self;       /* of a method; else 0 */
    const value *args;
    uint32_t count;
    uint32_t named;
    const value *names; /* strings */
    const struct sl_builtin *builtin;
};

/*
 * Reads arguments as Go's UnpackArgs does, in its words. `pattern` is
 * "name, name?, name??": "?" optional, "??" optional and None means absent;
 * names before a "/" are positional only; after "*" only by name. An absent one
 * is 0 in `out`.
 */
bool sl_unpack(struct star *s, const struct sl_call *c, const char *pattern,
               value *out);
/* Positional only, between `min` and `max` ("got 3 arguments, want at most 2"):
 * the common case, which copies nothing. */
bool sl_want_other_args(struct star *s, const struct sl_call *c, uint32_t min,
                        uint32_t max);
static inline bool sl_want_args(struct star *s, const struct sl_call *c,
                                uint32_t min, uint32_t max)
{
    return (!c->named && c->count >= min && c->count <= max) ||
           sl_want_other_args(s, c, min, max);
}

/* Calls any callable. `args` must be held by the caller. */
value sl_call(struct star *s, value function, const value *args,
              uint32_t count);
value sl_call_named(struct star *s, value function, const value *args,
                    uint32_t count, const value *names, uint32_t named);

/* Makes `v` and all it reaches immutable. */
bool sl_freeze(struct star *s, value v);

/* What is predeclared, with the host's: a dict; made when first asked for. */
value sl_universe(struct star *s);
bool sl_predeclare(struct star *s, value universe, const char *name, value v);

/* --- host.c ------------------------------------------------------------------------ */

value sl_host_builtin(struct star *s, const char *name, star_function *function,
                      void *ctx);
/* Members of an object of the host; of another value: none. */
const struct star_member *sl_host_members(value v);
const struct star_member *sl_host_member(value v, value name);
/* An attribute or bound method of such an object, or 0; no error when it has no
 * member of that name. */
value sl_host_attr(struct star *s, value object, value name);

void sl_int_close(struct star *s); /* int.c: frees s->scratch */

#endif
