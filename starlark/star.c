#include <sys/random.h>
#include <time.h>

#include "vm/vm.h"

/* An interpreter from opening to closing, its budgets, what the host keeps, and
 * the names that are predeclared. */

/* --- opening and closing ------------------------------------------------------------ */

/* What compares and hashes nested values does so with C functions that call each
 * other: this many fit a thread's stack. */
#define VALUE_DEPTH_MAX 1000

static void set_limits(struct star *s, const struct star_limits *limits)
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

/* Hashes depend on it, and nothing that a program can see depends on them. */
static uint64_t random_seed(const struct star *s)
{
    uint64_t seed = 0;

    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
        seed = (uint64_t)(uintptr_t)s * 0x9e3779b97f4a7c15u;
    return seed;
}

static bool open_values(struct star *s)
{
    s->empty_string = sl_string_new(s, "", 0);
    s->empty_tuple = sl_tuple_new(s, 0);
    return s->empty_string && s->empty_tuple;
}

struct star *star_open(const struct star_options *options)
{
    struct star *s = sl_system_alloc(sizeof *s);

    if (!s)
        return NULL;
    memset(s, 0, sizeof *s);
    if (options)
        s->options = *options;
    set_limits(s, options ? &options->limits : NULL);
    s->interactive = s->options.interactive;
    s->hash_seed = random_seed(s);
    s->next_number = 1;
    s->heap.mark_roots = sl_vm_mark_roots;
    s->heap.before_sweep = sl_vm_sweep_programs;
    if (!sl_error_open(s)) {
        sl_system_free(s);
        return NULL;
    }
    if (!sl_heap_open(s) || !open_values(s)) {
        star_close(s);
        return NULL;
    }
    s->native = true; /* what the host makes from here on is held */
    return s;
}

void star_close(struct star *s)
{
    if (!s)
        return;
    sl_vm_close(s);
    sl_int_close(s);
    sl_heap_close(s);
    sl_error_close(s);
    sl_system_free(s);
}

/* --- budgets ------------------------------------------------------------------------- */

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

/* Accounts for what was used, and gives steps up to the next look. */
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

    /* What is wanted comes in pages, and the first of a chunk with its table. */
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
    set_limits(s, limits);
    s->heap.limit = s->limits.memory_bytes;
    if (s->limits.steps && s->limits.steps < steps_of(s))
        s->limits.steps = steps_of(s);
    refuel(s, steps_of(s));
}

/* --- scopes and kept values -------------------------------------------------------------- */

struct sl_scope sl_native_enter(struct star *s)
{
    struct sl_scope scope = {s->heap.held_count, s->native};

    s->native = true;
    return scope;
}

void sl_native_leave(struct star *s, struct sl_scope scope)
{
    s->heap.held_count = scope.held;
    s->native = scope.native;
}

size_t star_scope_begin(struct star *s)
{
    return s->heap.held_count;
}

void star_scope_end(struct star *s, size_t scope)
{
    if (scope < s->heap.held_count)
        s->heap.held_count = scope;
}

static struct sl_kept *kept_slot(const struct sl_heap *h, value v)
{
    size_t mask = h->kept_capacity - 1;
    size_t i = (size_t)((v * 0x9e3779b97f4a7c15u) >> 32) & mask;

    while (h->kept[i].v && h->kept[i].v != v)
        i = (i + 1) & mask;
    return &h->kept[i];
}

/* At most half full, so that looking for a value ends soon. */
static bool kept_room(struct star *s)
{
    struct sl_heap *h = &s->heap;
    size_t old_capacity = h->kept_capacity;
    size_t capacity = old_capacity ? 2 * old_capacity : 16;
    struct sl_kept *old = h->kept, *kept;

    if (h->kept_count < old_capacity / 2)
        return true;
    if (!(kept = sl_storage(s, capacity * sizeof *kept)))
        return false;
    memset(kept, 0, capacity * sizeof *kept);
    h->kept = kept;
    h->kept_capacity = capacity;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].v)
            *kept_slot(h, old[i].v) = old[i];
    sl_storage_free(s, old, old_capacity * sizeof *old);
    return true;
}

bool star_keep(struct star *s, star_value v)
{
    struct sl_heap *h = &s->heap;
    struct sl_kept *k;
    bool ok;

    if (!sl_is_object(v))
        return true;
    h->pinned = v; /* nothing else may hold it */
    ok = kept_room(s);
    h->pinned = 0;
    if (!ok)
        return false;
    k = kept_slot(h, v);
    if (k->count == 0) {
        k->v = v;
        h->kept_count++;
    }
    k->count++;
    return true;
}

void star_drop(struct star *s, star_value v)
{
    struct sl_heap *h = &s->heap;
    struct sl_kept *k, *next, moved;

    if (!sl_is_object(v) || !h->kept_capacity)
        return;
    k = kept_slot(h, v);
    if (k->v != v || --k->count)
        return;
    k->v = 0;
    h->kept_count--;
    /* Those behind it may have wanted its place. */
    for (next = k + 1;; next++) {
        if (next == h->kept + h->kept_capacity)
            next = h->kept;
        if (!next->v)
            return;
        moved = *next;
        *next = (struct sl_kept){0}; /* its count, too */
        *kept_slot(h, moved.v) = moved;
    }
}

/* --- predeclared names ------------------------------------------------------------------- */

static bool predeclare(struct star *s, value universe, const char *name,
                       value v)
{
    value key = sl_intern(s, name, strlen(name));

    return key && v && sl_table_set(s, universe, key, v);
}

static bool fill_universe(struct star *s, value universe)
{
    static const struct {
        const char *name;
        value v;
    } constants[] = {{"None", V_NONE}, {"True", V_TRUE}, {"False", V_FALSE}};

    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (!predeclare(s, universe, constants[i].name, constants[i].v))
            return false;
    for (const struct sl_builtin_entry *b = sl_core_builtins; b->name; b++)
        if (!predeclare(s, universe, b->name,
                        sl_builtin_new(s, b->name, b->function, 0)))
            return false;
    return !s->options.json ||
           predeclare(s, universe, "json", sl_json_module(s));
}

value sl_universe(struct star *s)
{
    struct sl_scope scope;
    value universe;

    if (s->universe)
        return s->universe;
    scope = sl_native_enter(s);
    universe = sl_dict_new(s, 64);
    if (universe && fill_universe(s, universe))
        s->universe = universe;
    sl_native_leave(s, scope);
    return s->universe;
}

bool star_predeclare(struct star *s, const char *name, star_value v)
{
    struct sl_scope scope = sl_native_enter(s);
    value universe = sl_universe(s);
    bool ok = universe && predeclare(s, universe, name, v);

    sl_native_leave(s, scope);
    return ok;
}

star_value star_builtin(struct star *s, const char *name,
                        star_function *function, void *ctx)
{
    sl_host_enter(s);
    value v = sl_host_builtin(s, name, function, ctx);
    sl_host_leave(s);
    return v;
}

star_value star_object(struct star *s, const struct star_class *type,
                       void *data)
{
    sl_host_enter(s);
    struct sl_host_object *o = sl_alloc(s, T_OBJECT, sizeof *o);
    if (o) {
        o->number = s->next_number++;
        o->type = type;
        o->data = data;
        s->heap.has_host_objects = true;
    }
    sl_host_leave(s);
    return sl_value(o);
}

bool star_object_data(star_value v, const struct star_class *type, void **data)
{
    if (!sl_is(v, T_OBJECT) || sl_host_object(v)->type != type)
        return false;
    *data = sl_host_object(v)->data;
    return true;
}

bool star_register(struct star *s, const char *name, star_function *function,
                   void *ctx)
{
    struct sl_scope scope = sl_native_enter(s);
    value v = sl_host_builtin(s, name, function, ctx);
    bool ok = v && star_predeclare(s, name, v);

    sl_native_leave(s, scope);
    return ok;
}
