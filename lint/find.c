#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "walk.h"

/*
 * Folders are jobs on a stack that some threads share: each lists a folder,
 * checks its documents, and pushes the folders below it. A thread allocates
 * from its own arena; the lock protects the stack alone.
 */

struct job_queue {
    struct worker *workers; /* one per thread */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct job *jobs; /* stack of folders still to visit, on the heap */
    size_t count, capacity, busy;
    size_t entries; /* number of entries read so far; atomic */
    bool failed;
    struct err *e;
};

/* --- threads -------------------------------------------------------------- */

static void push(struct job_queue *queue, const struct job *job)
{
    if (queue->count == queue->capacity) {
        queue->capacity = queue->capacity ? queue->capacity * 2 : 64;
        queue->jobs =
            heap_resize(queue->jobs, queue->capacity * sizeof *queue->jobs);
    }
    queue->jobs[queue->count++] = *job;
}

/* Waits for a job. Returns false if there will be none. */
static bool take(struct job_queue *queue, struct job *job)
{
    while (!queue->failed && queue->count == 0 && queue->busy > 0)
        pthread_cond_wait(&queue->changed, &queue->lock);
    if (queue->failed || queue->count == 0)
        return false;
    *job = queue->jobs[--queue->count];
    queue->busy++;
    return true;
}

static void work(void *ctx, size_t thread)
{
    struct job_queue *queue = ctx;
    struct worker *w = &queue->workers[thread];
    struct err e = {0};
    struct job job;
    bool ok;

    pthread_mutex_lock(&queue->lock);
    while (take(queue, &job)) {
        pthread_mutex_unlock(&queue->lock);
        ok = walk_job(w, &job, &e);
        pthread_mutex_lock(&queue->lock);
        /* Pushed in reverse, since the last one is taken first. */
        for (size_t i = w->below_count; i > 0; i--)
            push(queue, &w->below[i - 1]);
        queue->busy--;
        if (!ok && !queue->failed) {
            queue->failed = true;
            *queue->e = e;
        }
        pthread_cond_broadcast(&queue->changed);
    }
    pthread_mutex_unlock(&queue->lock);
}

size_t lint_thread_count(void)
{
    cpu_set_t set;
    int count = 1;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        count = CPU_COUNT(&set);
    if (count < 1)
        return 1;
    return count > CHECK_MAX_THREADS ? CHECK_MAX_THREADS : (size_t)count;
}

/* --- all together --------------------------------------------------------- */

static int by_path(const void *x, const void *y)
{
    const struct check_result *a = *(struct check_result *const *)x;
    const struct check_result *b = *(struct check_result *const *)y;
    int cmp = str_cmp(a->path, b->path);

    return cmp ? cmp : (a->kind > b->kind) - (a->kind < b->kind);
}

/* Sets the position at which the folder's path sorts. */
static bool has_results(const struct check_results *all,
                        const struct empty_dir *h, struct str path)
{
    size_t low = 0, high = all->count;

    if (h->folder.n == 0) {
        for (size_t i = 0; i < all->count; i++)
            if (walk_is_within(all->items[i], h))
                return true;
        return false;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (str_cmp(all->items[middle]->path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < all->count && str_starts(all->items[low]->path, path); low++)
        if (walk_is_within(all->items[low], h))
            return true;
    return false;
}

static void report_hollows(struct worker *workers, size_t count,
                           const struct check_results *all)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < workers[i].empty_dir_count; k++) {
            const struct empty_dir *h = &workers[i].empty_dirs[k];
            struct str path = walk_path(&workers[0], h);

            walk_report(&workers[0], h, has_results(all, h, path));
        }
}

static void gather(struct worker *workers, size_t count,
                   struct check_results *all, struct arena *a)
{
    size_t total = 0;

    for (size_t i = 0; i < count; i++)
        total += workers[i].count;
    all->items = arena_array(a, total, sizeof(void *));
    all->count = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < workers[i].count; k++)
            all->items[all->count++] = workers[i].results[k];
    if (total)
        qsort(all->items, total, sizeof(void *), by_path);
}

/* Drops duplicates of documents named twice, or by themselves and as part of a
 * tree. */
static void drop_twins(struct check_results *all)
{
    size_t kept = 0;

    for (size_t i = 0; i < all->count; i++)
        if (kept == 0 || by_path(&all->items[i], &all->items[kept - 1]) != 0)
            all->items[kept++] = all->items[i];
    all->count = kept;
}

void lint_results_done(struct check_results *r)
{
    for (size_t i = 0; i < r->arena_count; i++)
        arena_done(&r->arenas[i]);
    heap_free(r->arenas);
    *r = (struct check_results){0};
}

bool lint_find(const struct check_root *roots, size_t count,
               const struct check_rules *rules, struct arena *a,
               struct check_results *out, struct err *e)
{
    size_t threads = lint_thread_count();
    struct worker *workers = arena_array(a, threads, sizeof *workers);
    struct job_queue queue = {.workers = workers, .e = e};

    *out = (struct check_results){0};
    out->arenas = heap_alloc(threads * sizeof *out->arenas);
    out->arena_count = threads;
    pthread_mutex_init(&queue.lock, NULL);
    pthread_cond_init(&queue.changed, NULL);
    for (size_t i = 0; i < threads; i++)
        workers[i] = (struct worker){.rules = rules,
                                     .entries = &queue.entries,
                                     .arena = &out->arenas[i]};
    for (size_t i = 0; i < count; i++)
        push(&queue, &(struct job){.root = &roots[i],
                                   .name = roots[i].name,
                                   .parent = roots[i].parent});
    threads_run(threads, work, &queue);
    heap_free(queue.jobs);
    pthread_cond_destroy(&queue.changed);
    pthread_mutex_destroy(&queue.lock);
    if (queue.failed)
        return false;
    gather(workers, threads, out, a);
    report_hollows(workers, threads, out);
    gather(workers, threads, out, a);
    drop_twins(out);
    return true;
}
