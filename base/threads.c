#include "base/threads.h"

static void *enter(void *arg)
{
    struct threads *t = arg;

    t->work(t->ctx, atomic_fetch_add(&t->numbers, 1) + 1);
    return NULL;
}

void threads_start(struct threads *t, size_t count,
                   void (*work)(void *ctx, size_t thread), void *ctx)
{
    *t = (struct threads){.work = work, .ctx = ctx};
    while (t->count < count && t->count < THREADS_MAX &&
           pthread_create(&t->items[t->count], NULL, enter, t) == 0)
        t->count++;
}

void threads_join(struct threads *t)
{
    for (size_t i = 0; i < t->count; i++)
        pthread_join(t->items[i], NULL);
    t->count = 0;
}

void threads_run(size_t count, void (*work)(void *ctx, size_t thread),
                 void *ctx)
{
    struct threads t;

    threads_start(&t, count ? count - 1 : 0, work, ctx);
    work(ctx, 0);
    threads_join(&t);
}

/* --- items ---------------------------------------------------------------- */

struct items {
    bool (*work)(void *ctx, size_t thread, size_t index, struct err *e);
    void *ctx;
    size_t count;
    atomic_size_t next;
    atomic_bool failed;
    struct err *why; /* set by the first failure */
};

static void work_items(void *ctx, size_t thread)
{
    struct items *items = ctx;
    struct err e = {0};
    size_t i;

    while (!atomic_load(&items->failed) &&
           (i = atomic_fetch_add(&items->next, 1)) < items->count)
        if (!items->work(items->ctx, thread, i, &e) &&
            !atomic_exchange(&items->failed, true))
            *items->why = e;
}

bool threads_each(size_t count, size_t max_threads,
                  bool (*work)(void *ctx, size_t thread, size_t index,
                               struct err *e),
                  void *ctx, struct err *e)
{
    struct items items = {.work = work, .ctx = ctx, .count = count, .why = e};

    threads_run(count < max_threads ? count : max_threads, work_items, &items);
    return !atomic_load(&items.failed);
}
