#include <sys/random.h>

#include "vm/vm.h"

/* Opens and closes an interpreter, and manages kept values and names added by
 * the host. */

/* --- opening and closing ------------------------------------------------------------ */

/* Seeds the hashes; nothing that programs can observe depends on it. */
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
    sl_set_limits(s, options ? &options->limits : NULL);
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
    s->native = true; /* objects created by the host are held from here on */
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

/* --- scopes and kept values -------------------------------------------------------------- */

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

/* Keeps the table at most half full, so that probing is short. */
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
    h->pinned = v; /* it may not be rooted otherwise */
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
    /* Move the entries behind it that may have probed past its slot. */
    for (next = k + 1;; next++) {
        if (next == h->kept + h->kept_capacity)
            next = h->kept;
        if (!next->v)
            return;
        moved = *next;
        *next = (struct sl_kept){0}; /* resets its count as well */
        *kept_slot(h, moved.v) = moved;
    }
}

/* --- predeclared names ------------------------------------------------------------------- */

bool star_predeclare(struct star *s, const char *name, star_value v)
{
    struct sl_scope scope = sl_native_enter(s);
    value universe = sl_universe(s);
    bool ok = universe && sl_predeclare(s, universe, name, v);

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
