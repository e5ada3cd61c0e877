#include "base/threads.h"

#include <stdint.h>
#include <string.h>

#include "tap.h"

#define ITEMS_MAX 1000

struct job {
    atomic_uint calls[ITEMS_MAX], on_thread[THREADS_MAX + 1];
    atomic_uint seen; /* calls that began */
    size_t fails_at;
};

static bool work(void *ctx, size_t thread, size_t index, struct err *e)
{
    struct job *job = ctx;

    atomic_fetch_add(&job->seen, 1);
    atomic_fetch_add(&job->calls[index], 1);
    atomic_fetch_add(&job->on_thread[thread], 1);
    return index != job->fails_at || err_set(e, ERR_FORMAT, "item %zu", index);
}

TEST(each_item_is_worked_on_once)
{
    static const struct {
        size_t count, threads;
    } rows[] = {{0, 4}, {1, 4}, {3, 1}, {3, 0}, {1000, 4}, {1000, 99}};
    static struct job job;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e = {0};

        memset(&job, 0, sizeof job);
        job.fails_at = SIZE_MAX;
        CHECK(threads_each(rows[i].count, rows[i].threads, work, &job, &e));
        CHECK(job.seen == rows[i].count);
        for (size_t k = 0; k < rows[i].count; k++)
            CHECK(job.calls[k] == 1);
    }
}

TEST(the_first_failure_is_reported_and_ends_the_work)
{
    static struct job job;
    struct err e = {0};

    job.fails_at = 7;
    CHECK(!threads_each(ITEMS_MAX, 1, work, &job, &e));
    CHECK(job.seen == 8 && e.code == ERR_FORMAT);
    CHECK_STR(err_first(&e), "item 7");
    err_clear(&e);
    CHECK(!threads_each(ITEMS_MAX, 4, work, &job, &e));
    CHECK_STR(err_first(&e), "item 7");
}

static void count_thread(void *ctx, size_t thread)
{
    struct job *job = ctx;

    atomic_fetch_add(&job->on_thread[thread], 1);
}

TEST(each_thread_has_a_number_of_its_own)
{
    static struct job job;
    struct threads t = {0};
    size_t started;

    threads_join(&t);
    threads_start(&t, 99, count_thread, &job);
    started = t.count;
    CHECK(started <= THREADS_MAX);
    threads_join(&t);
    threads_join(&t);
    CHECK(job.on_thread[0] == 0);
    for (size_t i = 1; i <= THREADS_MAX; i++)
        CHECK(job.on_thread[i] == (i <= started));
    threads_run(1, count_thread, &job);
    CHECK(job.on_thread[0] == 1);
}
