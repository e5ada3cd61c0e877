#ifndef BASE_THREADS_H
#define BASE_THREADS_H

#include "base/err.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * threads: runs work on a few threads that end before the calling
 * function returns.
 *
 *     threads_each()    one call for each of `count` items
 *     threads_run()     one call on each thread, which share a queue
 *     threads_start(), threads_join()   the same beside the caller's own work
 *
 * The caller works as thread 0. If fewer threads can be started than requested,
 * or none, the work only takes longer: it is shared by the threads that exist.
 */

#define THREADS_MAX 16

/* Must not be moved between threads_start and threads_join. */
struct threads {
    void (*work)(void *ctx, size_t thread);
    void *ctx;
    atomic_size_t numbers; /* thread numbers assigned so far */
    pthread_t items[THREADS_MAX];
    size_t count;
};

/* Starts at most `count` threads, numbered from 1. A zeroed struct has no
 * threads to join; threads_join may be called twice. */
void threads_start(struct threads *t, size_t count,
                   void (*work)(void *ctx, size_t thread), void *ctx);
void threads_join(struct threads *t);

/* Runs `work` on at most `count` threads, including the caller's. */
void threads_run(size_t count, void (*work)(void *ctx, size_t thread),
                 void *ctx);

/* Calls `work` for each index below `count`, in any order, on at most
 * `max_threads`. After a failure no further call is started.
 * Errors: the first error of `work`. */
MUST_CHECK bool threads_each(size_t count, size_t max_threads,
                             bool (*work)(void *ctx, size_t thread,
                                          size_t index, struct err *e),
                             void *ctx, struct err *e);

#endif
