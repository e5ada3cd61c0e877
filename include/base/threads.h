#ifndef BASE_THREADS_H
#define BASE_THREADS_H

#include "base/err.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * threads: a few threads that end before the call that needs them returns.
 *
 *     threads_each()    one call for each of `count` items
 *     threads_run()     one call on each thread, which share a queue
 *     threads_start(), threads_join()   the same beside the caller's own work
 *
 * The caller works as thread 0. Fewer threads than asked for, or none, cost
 * only time: the work is shared by those that could be started.
 */

#define THREADS_MAX 16

/* In one place from threads_start to threads_join. */
struct threads {
    void (*work)(void *ctx, size_t thread);
    void *ctx;
    atomic_size_t numbers; /* given out so far */
    pthread_t items[THREADS_MAX];
    size_t count;
};

/* Starts at most `count` threads, numbered from 1. Zeroes are joined at once,
 * and joining twice is harmless. */
void threads_start(struct threads *t, size_t count,
                   void (*work)(void *ctx, size_t thread), void *ctx);
void threads_join(struct threads *t);

/* On at most `count` threads, the caller's among them. */
void threads_run(size_t count, void (*work)(void *ctx, size_t thread),
                 void *ctx);

/*
 * Calls `work` for each index below `count`, in no order, on at most
 * `max_threads`. After a failure no further call begins.
 * Errors: the first that `work` reported.
 */
MUST_CHECK bool threads_each(size_t count, size_t max_threads,
                             bool (*work)(void *ctx, size_t thread,
                                          size_t index, struct err *e),
                             void *ctx, struct err *e);

#endif
