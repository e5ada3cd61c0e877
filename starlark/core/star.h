#ifndef STARLARK_STAR_H
#define STARLARK_STAR_H

#include <stdatomic.h>

#include "heap.h"

/*
 * The interpreter state, and the functions that all parts of it use: failing,
 * charging, calling.
 */

#define SL_FUEL_SLICE                                                          \
    SL_RARE(2048, 1) /* steps between two checks of clock and cancellation */

struct sl_frame; /* defined in vm.h */

struct star {
    /* Members that the VM uses at every step come first. */
    int64_t fuel; /* steps until sl_charge_slow checks clock and limits */
    struct sl_frame *frame; /* innermost frame; NULL if nothing runs */
    bool native;            /* new objects are held as roots */
    bool interactive;
    unsigned entries; /* number of nested C functions that run programs */
    struct sl_frame *frames; /* outermost frame, allocated at first use (see
                              * vm.h) */

    struct sl_heap heap;
    struct sl_segment *stack; /* see vm.h */
    struct star_limits limits;
    struct star_options options;
    atomic_int canceled;
    uint64_t steps_done;  /* steps up to the last refill of fuel */
    int64_t fuel_given;   /* fuel given by that refill */
    uint64_t deadline_ns; /* CLOCK_MONOTONIC; 0 if there is no deadline */
    unsigned hosted;      /* nesting of sl_host_enter without leave */
    size_t output_bytes;
    uint64_t hash_seed;   /* never visible to programs */
    uint32_t next_number; /* number of the next function, used as its hash */

    value chars[128]; /* strings of one ASCII character, created at first use */
    value empty_string, empty_tuple;
    value type_names[T_COUNT]; /* results of type(); kept alive by interning */
    value interned; /* dict of the strings in sources and keyword names */
    value universe; /* dict of predeclared names; use sl_universe() */
    struct sl_globals *interactive_globals;
    struct star_module *modules;
    struct star_program *programs;

    struct sl_scratch *scratch; /* big numbers for computing (int.c) */
    struct sl_error *error;     /* see error.c */
    char *text;                 /* result of the last star_disassemble */
    size_t text_size;
};

/* Like sl_alloc_part, with the common case inline. For sizes known at compile
 * time. */
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

/* Sets STAR_ERROR_RUNTIME with a message and returns 0. The VM adds the
 * traceback as frames are left. */
value sl_fail(struct star *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
value sl_fail_as(struct star *s, enum star_error code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Handles a host passing on the STAR_INVALID of a failed call: keeps the error
 * of that call, if there was one. */
star_value sl_no_value(struct star *s);
/* Appends a line "hint: ..." to the error just set. */
void sl_hint(struct star *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- budgets -------------------------------------------------------------------- */

/* See heap.h. `units` is at most 2^40. */
static inline bool sl_charge(struct star *s, uint64_t units)
{
    s->fuel -= (int64_t)units;
    return s->fuel >= 0 || sl_charge_slow(s);
}

/* Charges for work already done, in pieces too short to interrupt; the next
 * check notices an exhausted budget. */
static inline void sl_owe(struct star *s, uint64_t units)
{
    s->fuel -= (int64_t)units;
}

/* Charges the next piece of a loop over `n` bytes, or items of similar cost,
 * whenever a piece begins. */
#define SL_LOOP_PIECE 65536u
static inline bool sl_charge_loop(struct star *s, uint64_t i, uint64_t n)
{
    return i % SL_LOOP_PIECE ||
           sl_charge(s, (n - i < SL_LOOP_PIECE ? n - i : SL_LOOP_PIECE) / 16);
}

/* `limits` may be NULL for the defaults. */
void sl_set_limits(struct star *s, const struct star_limits *limits);

/* Checks for timeout and cancellation now; sl_poll also sets the error. */
bool sl_interrupted(const struct star *s);
bool sl_poll(struct star *s);

/* Checks the recursion depth of C functions that process nested values. */
static inline bool sl_depth_ok(struct star *s, unsigned depth)
{
    if (depth <= s->limits.value_depth)
        return true;
    sl_fail_as(s, STAR_ERROR_DEPTH, "values are nested more than %u deep",
               s->limits.value_depth);
    return false;
}

/* --- native functions -------------------------------------------------------------- */

/* The arguments of a call to a built-in. The values of named arguments follow
 * the positional ones: args[count + i] belongs to names[i]. */
struct sl_call {
    const char *name; /* name of the called function */
    value self;       /* receiver of a method; 0 for a function */
    const value *args;
    uint32_t count;
    uint32_t named;
    const value *names; /* array of strings */
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
/* Checks for positional arguments only, between `min` and `max` ("got 3
 * arguments, want at most 2"), the common case, without copying. */
bool sl_want_other_args(struct star *s, const struct sl_call *c, uint32_t min,
                        uint32_t max);
static inline bool sl_want_args(struct star *s, const struct sl_call *c,
                                uint32_t min, uint32_t max)
{
    return (!c->named && c->count >= min && c->count <= max) ||
           sl_want_other_args(s, c, min, max);
}

/* Calls any callable. The caller holds `args`. */
value sl_call(struct star *s, value function, const value *args,
              uint32_t count);
value sl_call_named(struct star *s, value function, const value *args,
                    uint32_t count, const value *names, uint32_t named);

/* Makes `v` and all values reachable from it immutable. */
bool sl_freeze(struct star *s, value v);

/* Returns the dict of predeclared names, including the host's; created at first
 * use. */
value sl_universe(struct star *s);
bool sl_predeclare(struct star *s, value universe, const char *name, value v);

/* --- host.c ------------------------------------------------------------------------ */

value sl_host_builtin(struct star *s, const char *name, star_function *function,
                      void *ctx);
/* Returns the members of a host object; none for other values. */
const struct star_member *sl_host_members(value v);
const struct star_member *sl_host_member(value v, value name);
/* Returns an attribute or bound method of a host object, or 0 without an error
 * if it has no such member. */
value sl_host_attr(struct star *s, value object, value name);

void sl_int_close(struct star *s); /* Frees s->scratch; in int.c. */

#endif
