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
/* At least as many as one window needs. */
#define SL_SEGMENT_VALUES SL_RARE(8000u, 16u)
/* Enough for most programs, so the first segment takes two pages instead of
 * 16. */
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
    uint32_t depth;     /* depth of calls, from 1 */
    struct sl_frame *prev, *next;
};

struct star_module {
    struct star_module *next;
    struct sl_globals *globals;
    const char **texts; /* names as C strings, and their buffer */
    size_t texts_size;
    uint32_t text_count;
};

/* Maximum nesting of C functions that execute programs, regardless of
 * limits.call_depth: each takes about a kilobyte of the C stack. */
#define SL_ENTRIES_MAX 240u

/* --- for the collector and star_close ------------------------------------------ */

/* Heap hook: calls `mark` for the VM's roots (all windows, running functions,
 * globals of modules, code and names of programs), never with 0. Zeroes the
 * unused part of the stack. */
void sl_vm_mark_roots(struct star *s, void (*mark)(struct star *s, value v));

/* Heap hook, called after marking and before sweeping: frees programs passed to
 * star_program_free whose code no function uses any more. The collector sets
 * `program->used` when it marks a T_CODE. */
void sl_vm_sweep_programs(struct star *s);

/* Frees the stack, frames, modules and programs; call before the heap is
 * closed. */
void sl_vm_close(struct star *s);

/* --- frame.c ---------------------------------------------------------------------- */

/* Pushes a frame for `f` whose window begins at `window`, or in another
 * segment, and starts with the first `count` of `args`. The rest of the window
 * is stale. Returns NULL if the depth or memory is exhausted. */
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
 * the exact position, or NULL. */
void sl_report_frame(struct star *s, const struct sl_code *code, uint32_t pc,
                     const struct sl_pos *place);

/* Leaves the innermost frame, which failed at `pc`: reports it, and unlocks the
 * iterables of its loops. */
void sl_leave_failed(struct star *s, uint32_t pc, const struct sl_pos *place);

/* --- call.c ----------------------------------------------------------------------- */

/*
 * Binds the arguments of a call to the parameters of `f` and pushes its frame,
 * whose window begins at `window`, or in another segment if there is no room.
 * `args` holds `count` positional values, then `named` named ones; `window` may
 * equal `args` if there are no named ones, otherwise it must not overlap them.
 * `site` is the source of the names and caches their meaning, or NULL. Returns
 * NULL on failure, which is already reported as one of `f`. Call within a
 * native scope.
 */
struct sl_frame *sl_bind(struct star *s, struct sl_function *f, value *window,
                         const value *args, uint32_t count, const value *names,
                         uint32_t named, struct sl_site *site);

/* Returns the arguments of a call with * or **, which begin at `at`, as one
 * tuple: *count positional, *named named ones, then the names of these. */
value sl_spread(struct star *s, const value *at, const struct sl_site *site,
                const value *names, uint32_t *count, uint32_t *named);

/* Runs the top level as a function without arguments. */
value sl_run_toplevel(struct star *s, struct sl_code *code,
                      struct sl_globals *globals);

/* --- vm.c ------------------------------------------------------------------------- */

/* Runs the innermost frame, which has `entry` set, and those it calls, until it
 * returns. Returns its result, or 0 on failure. The frame is popped. */
value sl_run_frame(struct star *s);

#endif
