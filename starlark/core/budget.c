#include <time.h>

#include "error.h"

/* Limits (steps, time, cancellation), and the entry and exit of calls between
 * host, native functions and programs, where counting starts and ends. */

/* Comparing and hashing nested values recurses in C; this depth fits the stack
 * of a thread. */
#define VALUE_DEPTH_MAX 1000

void sl_set_limits(struct star *s, const struct star_limits *limits)
{
    static const struct star_limits none;

    s->limits = limits ? *limits : none;
    if (!s->limits.memory_bytes)
        s->limits.memory_bytes = (size_t)64 << 20;
    if (!s->limits.source_bytes)
        s->limits.source_bytes = (size_t)1 << 20;
    if (!s->limits.call_depth)
        s->limits.call_depth = 200;
    if (!s->limits.value_depth)
        s->limits.value_depth = 200;
    if (s->limits.value_depth > VALUE_DEPTH_MAX)
        s->limits.value_depth = VALUE_DEPTH_MAX;
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t steps_of(const struct star *s)
{
    return s->steps_done + (uint64_t)(s->fuel_given - s->fuel);
}

/* Adds the steps taken to the total, and grants steps until the next check. */
static void refuel(struct star *s, uint64_t steps)
{
    int64_t slice = SL_FUEL_SLICE;

    if (s->limits.steps && s->limits.steps - steps < SL_FUEL_SLICE)
        slice = (int64_t)(s->limits.steps - steps);
    s->steps_done = steps;
    s->fuel = s->fuel_given = slice;
}

static bool is_canceled(const struct star *s)
{
    return atomic_load_explicit(&s->canceled, memory_order_relaxed);
}

bool sl_interrupted(const struct star *s)
{
    return is_canceled(s) || (s->deadline_ns && now_ns() >= s->deadline_ns);
}

bool sl_poll(struct star *s)
{
    if (is_canceled(s)) {
        sl_fail_as(s, STAR_ERROR_CANCELED, "canceled");
        return false;
    }
    if (s->deadline_ns && now_ns() >= s->deadline_ns) {
        sl_fail_as(s, STAR_ERROR_TIMEOUT, "timeout of %llu ms reached",
                   (unsigned long long)s->limits.timeout_ms);
        return false;
    }
    return true;
}

bool sl_charge_slow(struct star *s)
{
    uint64_t steps = steps_of(s);

    if (s->limits.steps && steps > s->limits.steps) {
        refuel(s, s->limits.steps);
        sl_fail_as(s, STAR_ERROR_STEPS, "limit of %llu steps reached",
                   (unsigned long long)s->limits.steps);
        return false;
    }
    refuel(s, steps);
    return sl_poll(s);
}

bool star_charge(struct star *s, uint64_t units)
{
    const uint64_t most = (uint64_t)1 << 40;

    return sl_charge(s, units < most ? units : most);
}

value sl_fail_memory(struct star *s, size_t wanted)
{
    const struct sl_heap *h = &s->heap;

    /* The allocation is rounded up to pages, and a new chunk also needs its
     * table. */
    const size_t more = 2 * SL_BLOCK_BYTES;

    if (wanted <= h->limit && h->limit - wanted >= h->used + more)
        sl_fail_as(s, STAR_ERROR_MEMORY,
                   "out of memory: the system has no %zu bytes more", wanted);
    else
        sl_fail_as(s, STAR_ERROR_MEMORY,
                   "out of memory: %zu bytes more than the %zu in use would "
                   "exceed the limit of %zu",
                   wanted, h->used - h->idle, h->limit);
    return 0;
}

void sl_host_enter(struct star *s)
{
    if (s->hosted++)
        return;
    sl_error_clear(s);
    refuel(s, steps_of(s));
    s->deadline_ns = 0;
    if (s->limits.timeout_ms) {
        uint64_t now = now_ns(), ms = s->limits.timeout_ms;

        s->deadline_ns = ms < (UINT64_MAX - now) / 1000000u
                             ? now + ms * 1000000u
                             : UINT64_MAX;
    }
}

void sl_host_leave(struct star *s)
{
    SL_ASSERT(s->hosted > 0);
    if (--s->hosted == 0)
        s->deadline_ns = 0;
}

void star_cancel(struct star *s)
{
    atomic_store_explicit(&s->canceled, 1, memory_order_relaxed);
}

void star_cancel_clear(struct star *s)
{
    atomic_store_explicit(&s->canceled, 0, memory_order_relaxed);
}

struct star_usage star_usage(const struct star *s)
{
    return (struct star_usage){.steps = steps_of(s),
                               .memory_bytes = s->heap.used - s->heap.idle,
                               .memory_peak_bytes = s->heap.peak};
}

void star_set_limits(struct star *s, const struct star_limits *limits)
{
    sl_set_limits(s, limits);
    s->heap.limit = s->limits.memory_bytes;
    if (s->limits.steps && s->limits.steps < steps_of(s))
        s->limits.steps = steps_of(s);
    refuel(s, steps_of(s));
}

struct sl_scope sl_native_enter(struct star *s)
{
    struct sl_scope scope = {s->heap.held_count, s->native};

    s->native = true;
    return scope;
}

void sl_native_leave(struct star *s, struct sl_scope scope)
{
    SL_ASSERT(scope.held <= s->heap.held_count);
    s->heap.held_count = scope.held;
    s->native = scope.native;
}
