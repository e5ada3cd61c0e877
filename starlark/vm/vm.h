#ifndef STARLARK_VM_H
#define STARLARK_VM_H

#include "../core/code.h"
#include "../lib/lib.h"

/*
 * vm: frames, the value stack, and calls between C and the interpreter loop.
 *
 *     vm.c    the loop                      slow.c   its uncommon cases
 *     frame.c frames and the value stack    call.c   arguments; C calls in
 *
 * The stack is a list of segments that never move. A function's window, its
 * registers, begins at the arguments its caller laid out, so calls copy and
 * allocate nothing; when a segment is full the window begins in the next one.
 *
 *     caller  | locals | temporaries | f | x | y |
 *     callee                             | x | y | locals | temporaries |
 *
 * Frames are a list that never moves either: one is made when a depth is reached
 * for the first time.
 *
 * Nothing is cleared when a window is entered. It may hold stale words, left by
 * functions that returned, and the collector marks whole windows. That is safe:
 * a stale word was a live value when it was written; if no collection has run
 * since, what it refers to still exists; and if one has, the word either lay in a
 * window (then it was marked), or above all windows, and there the collection
 * put zeros. So every word of the stack is 0, immediate, or refers to an object
 * that exists. Iterators keep ints as words for the same reason.
 */

struct sl_segment {
    struct sl_segment *prev, *next; /* next is empty and kept for reuse */
    value *end;
    value values[];
};
/* Or as many as one window needs. */
#define SL_SEGMENT_VALUES SL_RARE(8000u, 16u)
/* Most programs need no more, and the first one is of two pages, not 16. */
#define SL_FIRST_SEGMENT_VALUES SL_RARE(1000u, 16u)

struct sl_frame {
    struct sl_code *code;
    struct sl_function *function;
    const uint64_t *pc; /* saved while a callee runs */
    value *base, *top;  /* the window */
    value *result;      /* register of the caller that receives the result */
    bool entry;         /* entered from C: returning leaves the loop */
    bool segment;       /* the window begins a segment, which the return
                         * releases */
    uint32_t depth;     /* from 1 */
    struct sl_frame *prev, *next;
};

struct star_module {
    struct star_module *next;
    struct sl_globals *globals;
    const char **texts; /* the names as C strings, and where they are */
    size_t texts_size;
    uint32_t text_count;
};

/* The most C functions that execute programs inside each other, at any
 * limits.call_depth: each takes about a kilobyte of the C stack. */
#define SL_ENTRIES_MAX 240u

/* --- for the collector and star_close ------------------------------------------ */

/* Heap hooks. Calls `mark` for the roots that are the VM's: all windows, the functions that
 * run, the globals of modules, the code and names of programs. Never with 0. Sets
 * the unused part of the stack to zeros. */
void sl_vm_mark_roots(struct star *s, void (*mark)(struct star *s, value v));

/* After marking and before sweeping: frees the programs that star_program_free
 * was given and whose code no function has any more. The collector
 * sets `program->used` when it comes by a T_CODE. */
void sl_vm_sweep_programs(struct star *s);

/* Frees the stack, frames, modules and programs: before the heap goes. */
void sl_vm_close(struct star *s);

/* --- frame.c ---------------------------------------------------------------------- */

/* Pushes a frame for `f` whose window begins at `window`, or in another segment,
 * with the first `count` of `args` in it. Everything else of it is stale. NULL:
 * too deep, or no memory. */
struct sl_frame *sl_push(struct star *s, struct sl_function *f, value *window,
                         const value *args, uint32_t count);

static inline void sl_pop(struct star *s, struct sl_frame *f)
{
    SL_ASSERT(s->frame == f && f->code->active);
    f->code->active = false;
    if (__builtin_expect(f->segment, 0) && s->stack->prev)
        s->stack = s->stack->prev;
    s->frame = f->prev;
}

void sl_stack_close(struct star *s);

/* Adds `code`, which failed at instruction `pc`, to the traceback; `place` is
 * the exact place, or NULL. */
void sl_report_frame(struct star *s, const struct sl_code *code, uint32_t pc,
                     const struct sl_pos *place);

/* Leaves the innermost frame, which failed at `pc`: reports it, unlocks what its
 * loops iterate over. */
void sl_leave_failed(struct star *s, uint32_t pc, const struct sl_pos *place);

/* --- call.c ----------------------------------------------------------------------- */

/*
 * Binds the arguments of a call to the parameters of `f` and pushes its frame,
 * whose window begins at `window`, or in another segment when there is no room.
 * `args` holds `count` positional values, then `named` named ones; `window` may
 * be `args` when there are none named, else it overlaps nothing. `site` is where
 * the names come from, to remember what they meant, or NULL. NULL on failure,
 * which has been reported as one of `f`. Call within a native scope.
 */
struct sl_frame *sl_bind(struct star *s, struct sl_function *f, value *window,
                         const value *args, uint32_t count, const value *names,
                         uint32_t named, struct sl_site *site);

/* The arguments of a call with * or **, which begin at `at`, as one tuple:
 * *count positional, *named named ones, then the names of these. */
value sl_spread(struct star *s, const value *at, const struct sl_site *site,
                const value *names, uint32_t *count, uint32_t *named);

/* Runs the top level, a function without arguments. */
value sl_run_toplevel(struct star *s, struct sl_code *code,
                      struct sl_globals *globals);

/* --- vm.c ------------------------------------------------------------------------- */

/* Runs the innermost frame, which has `entry` set, and those it calls until it
 * returns: its result, or 0 when it failed. The frame is gone then. */
value sl_run_frame(struct star *s);

#endif
