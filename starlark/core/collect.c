#include "blocks.h"
#include "code.h"

/*
 * The garbage collector: marks what is reachable from the roots, depth first
 * with a work list of bounded size, then sweeps all blocks. The mark is the
 * number of the collection, so a new collection need not reset the marks of
 * live or new objects.
 */

/* --- marking --------------------------------------------------------------------- */

/* Number of values of a container that are scanned before the objects found are
 * scanned themselves, so that the list grows with the depth of values and not
 * with their width. */
#define SCAN_AT_ONCE SL_RARE(32, 2)

/* An entry is an object, or an int n on top of an object whose values from the
 * n-th on are still to be scanned. */
static void push(struct sl_heap *h, value v)
{
    if (h->gray_count == h->gray_capacity)
        h->gray_overflow = true; /* rescan() finds the object again */
    else
        h->gray[h->gray_count++] = v;
}

static bool is_leaf(enum sl_type type)
{
    return type == T_INT || type == T_FLOAT || type == T_RANGE ||
           type == T_BUFFER || type == T_OBJECT;
}

static inline void mark_object(struct sl_heap *h, struct sl_object *o)
{
    SL_ASSERT(o->type >= T_INT && o->type < T_COUNT);
    if (o->mark == h->epoch)
        return;
    o->mark = h->epoch;
    if (o->type == T_STRING || o->type == T_BYTES) {
        struct sl_string *string = (struct sl_string *)o;

        if (string->p != string->bytes && string->owner)
            string->owner->o.mark = h->epoch;
    } else if (!is_leaf((enum sl_type)o->type)) {
        push(h, sl_value(o));
    }
}

static inline void mark(struct sl_heap *h, value v)
{
    if (sl_is_object(v))
        mark_object(h, sl_object(v));
}

static void mark_pointer(struct sl_heap *h, void *object)
{
    if (object)
        mark_object(h, object);
}

static void mark_all(struct sl_heap *h, const value *v, size_t count)
{
    for (size_t i = 0; v && i < count; i++)
        mark(h, v[i]);
}

static void scan_code(struct sl_heap *h, struct sl_code *code)
{
    mark_all(h, code->constants, code->constant_count);
    mark_all(h, code->local_names, code->local_count);
    mark(h, code->name);
    for (uint32_t i = 0; code->sites && i < code->site_count; i++)
        mark_pointer(h, code->sites[i].cache);
    for (uint32_t i = 0; code->captures && i < code->capture_count; i++)
        mark(h, code->captures[i].name);
    if (code->program)
        code->program->used = true;
}

static void scan_function(struct sl_heap *h, struct sl_function *f)
{
    mark_pointer(h, f->code);
    mark_pointer(h, f->globals);
    mark_all(h, f->slots, (size_t)f->default_count + f->cell_count);
}

/* Returns how many of `count` values, from the n-th on, to scan now. The rest
 * is pushed as an entry if there is room. */
static size_t part(struct sl_heap *h, value container, size_t count, size_t n)
{
    if (count - n <= SCAN_AT_ONCE || h->gray_capacity - h->gray_count < 2)
        return count - n;
    push(h, container);
    push(h, sl_word((int64_t)(n + SCAN_AT_ONCE)));
    return SCAN_AT_ONCE;
}

static void scan_values(struct sl_heap *h, value container, const value *v,
                        size_t count, size_t n)
{
    mark_all(h, v + n, part(h, container, count, n));
}

static void scan_entries(struct sl_heap *h, struct sl_table *t, size_t n)
{
    size_t end = n + part(h, sl_value(t), t->used, n);

    for (size_t i = n; i < end; i++) {
        mark(h, t->entries[i].key);
        mark(h, t->entries[i].value);
    }
}

static void scan(struct sl_heap *h, value v, size_t n)
{
    switch ((enum sl_type)sl_object(v)->type) {
    case T_TUPLE:
        scan_values(h, v, sl_tuple(v)->items, sl_tuple(v)->count, n);
        break;
    case T_LIST:
        scan_values(h, v, sl_list(v)->items, sl_list(v)->count, n);
        break;
    case T_DICT:
    case T_SET:
        scan_entries(h, sl_table(v), n);
        break;
    case T_FUNCTION:
        scan_function(h, sl_function(v));
        break;
    case T_BUILTIN:
        mark(h, sl_builtin(v)->self);
        break;
    case T_STRING_ELEMS:
    case T_BYTES_ELEMS:
        mark(h, sl_elems(v)->string);
        break;
    case T_MODULE:
        mark(h, sl_module(v)->members);
        break;
    case T_CELL:
        mark(h, sl_cell(v)->v);
        break;
    case T_CODE:
        scan_code(h, (struct sl_code *)sl_object(v));
        break;
    case T_GLOBALS: {
        struct sl_globals *g = (struct sl_globals *)sl_object(v);

        mark_all(h, g->slots, g->count);
        mark_all(h, g->names, g->count);
        break;
    }
    default: /* has no values */
        break;
    }
}

/* Cancellation or a timeout stops a collection early. That is safe: unswept
 * garbage is found by the next collection. After 254 unfinished ones in a row
 * old marks would look new, so a collection that follows this many is always
 * completed. */
#define UNFINISHED_MAX 200
static bool is_stopped(struct star *s)
{
    struct sl_heap *h = &s->heap;

    if (!h->stopped && h->unfinished < UNFINISHED_MAX && sl_interrupted(s))
        h->stopped = true;
    return h->stopped;
}

static void drain(struct star *s)
{
    struct sl_heap *h = &s->heap;

    while (h->gray_count) {
        value v = h->gray[--h->gray_count];
        size_t n = 0;

        if (sl_is_int_word(v)) {
            n = (size_t)sl_int_word(v);
            v = h->gray[--h->gray_count];
        }
        scan(h, v, n);
        if (++h->visited % 1024 == 0 && is_stopped(s))
            h->gray_count = 0;
    }
}

/* Marks `v` as reachable; called by root hooks such as sl_vm_mark_roots. 0 is
 * ignored. */
static void sl_mark(struct star *s, value v)
{
    if (!s->heap.stopped) {
        mark(&s->heap, v);
        drain(s);
    }
}

static void rescan_one(struct star *s, struct sl_object *o)
{
    struct sl_heap *h = &s->heap;

    if (o->mark == h->epoch && !h->stopped) {
        scan(h, sl_value(o), 0);
        h->visited++;
        drain(s);
    }
}

/* Handles an overflow of the work list by scanning all marked objects again.
 * Each round advances by at least the length of the list. */
static void rescan(struct star *s)
{
    while (s->heap.gray_overflow && !s->heap.stopped) {
        s->heap.gray_overflow = false;
        sl_each_object(s, rescan_one);
    }
}

static void mark_roots(struct star *s)
{
    struct sl_heap *h = &s->heap;

    h->mark_roots(s, sl_mark);
    for (size_t i = 0; i < h->held_count; i++)
        sl_mark(s, h->held[i]);
    for (size_t i = 0; i < h->kept_capacity; i++)
        sl_mark(s, h->kept[i].v);
    for (size_t i = 0; i < sizeof s->chars / sizeof *s->chars; i++)
        sl_mark(s, s->chars[i]);
    sl_mark(s, s->empty_string);
    sl_mark(s, s->empty_tuple);
    sl_mark(s, s->interned);
    sl_mark(s, s->universe);
    sl_mark(s, sl_value(s->interactive_globals));
    sl_mark(s, h->pinned);
}

/* --- sweeping -------------------------------------------------------------------- */

static void free_code(struct star *s, struct sl_code *c)
{
    for (uint32_t i = 0; c->sites && i < c->site_count; i++)
        sl_storage_free(s, c->sites[i].cached,
                        c->sites[i].named * sizeof *c->sites->cached);
    sl_storage_free(s, c->instructions,
                    c->instruction_count * sizeof *c->instructions);
    sl_storage_free(s, c->constants, c->constant_count * sizeof *c->constants);
    sl_storage_free(s, c->sites, c->site_count * sizeof *c->sites);
    sl_storage_free(s, c->places, c->place_count * sizeof *c->places);
    sl_storage_free(s, c->loops, c->loop_count * sizeof *c->loops);
    sl_storage_free(s, c->captures, c->capture_count * sizeof *c->captures);
    sl_storage_free(s, c->local_names, c->local_count * sizeof *c->local_names);
}

static void release(const struct sl_host_object *o)
{
    if (o->type->release)
        o->type->release(o->data);
}

/* Types whose objects own storage or data of the host. */
#define OWNERS                                                                 \
    (1u << T_LIST | 1u << T_DICT | 1u << T_SET | 1u << T_BUFFER |              \
     1u << T_GLOBALS | 1u << T_CODE | 1u << T_OBJECT)

void sl_object_free_storage(struct star *s, struct sl_object *o)
{
    switch ((enum sl_type)o->type) {
    case T_LIST: {
        struct sl_list *l = (struct sl_list *)o;

        sl_storage_free(s, l->items, l->capacity * sizeof *l->items);
        break;
    }
    case T_DICT:
    case T_SET: {
        struct sl_table *t = (struct sl_table *)o;

        sl_storage_free(s, t->entries, t->capacity * sizeof *t->entries);
        sl_storage_free(s, t->index,
                        ((size_t)t->index_mask + 1) * sizeof *t->index);
        break;
    }
    case T_BUFFER: {
        struct sl_buffer *b = (struct sl_buffer *)o;

        sl_storage_free(s, b->p, b->capacity);
        break;
    }
    case T_GLOBALS: {
        struct sl_globals *g = (struct sl_globals *)o;

        sl_storage_free(s, g->slots, g->capacity * sizeof *g->slots);
        sl_storage_free(s, g->names, g->capacity * sizeof *g->names);
        break;
    }
    case T_CODE:
        free_code(s, (struct sl_code *)o);
        break;
    case T_OBJECT:
        release((struct sl_host_object *)o);
        break;
    default: /* owns no storage */
        break;
    }
}

/* Returns the header of a cell, or 0 if the cell is free. */
static SL_UNCHECKED uint64_t header_of(const void *cell)
{
    return *(const uint64_t *)cell;
}

static SL_UNCHECKED void link_cell(void *p, struct sl_free_cell **tail)
{
    struct sl_free_cell *cell = p;

    cell->header = 0;
    cell->next = *tail;
    *tail = cell;
}

static void sweep_cells(struct star *s, struct sl_block *b)
{
    struct sl_heap *h = &s->heap;
    size_t cell = sl_cell_bytes[b->rank];
    char *base = sl_block_base(b);
    uint16_t live = 0;

    b->free = NULL;
    for (size_t i = b->made; i-- > 0;) {
        char *p = base + i * cell;

        if (header_of(p) != 0) {
            struct sl_object *o = (struct sl_object *)p;

            if (o->mark == h->epoch) {
                live++;
                continue;
            }
            if (OWNERS >> o->type & 1)
                sl_object_free_storage(s, o);
            SL_POISON(p, cell);
        }
        link_cell(p, &b->free);
    }
    b->live = live;
    if (!live)
        sl_block_release(h, b);
    else if (b->free)
        sl_block_list(h, b);
}

static void sweep_run(struct star *s, struct sl_block *b)
{
    struct sl_object *o = (struct sl_object *)sl_block_base(b);

    if (o->mark != s->heap.epoch) {
        sl_object_free_storage(s, o);
        sl_block_release(&s->heap, b);
    }
}

static void sweep_large(struct star *s)
{
    struct sl_large **at = &s->heap.large;

    while (*at) {
        struct sl_large *l = *at;
        struct sl_object *o = (struct sl_object *)((char *)l + SL_LARGE_HEADER);

        if (o->mark == s->heap.epoch) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        sl_object_free_storage(s, o);
        sl_large_release(&s->heap, l);
    }
}

static void sweep(struct star *s)
{
    for (struct sl_chunk *c = s->heap.chunks; c && !is_stopped(s); c = c->next)
        for (size_t i = 1; i < SL_CHUNK_BLOCKS; i++)
            if (c->blocks[i].kind == BLOCK_OBJECTS)
                sweep_cells(s, &c->blocks[i]);
            else if (c->blocks[i].kind == BLOCK_OBJECT_RUN)
                sweep_run(s, &c->blocks[i]);
    sweep_large(s);
}

/* --- collecting --------------------------------------------------------------------- */

void sl_each_object(struct star *s,
                    void (*visit)(struct star *s, struct sl_object *o))
{
    for (struct sl_chunk *c = s->heap.chunks; c; c = c->next)
        for (size_t i = 1; i < SL_CHUNK_BLOCKS; i++) {
            struct sl_block *b = &c->blocks[i];
            char *base = sl_block_base(b);

            if (b->kind == BLOCK_OBJECT_RUN)
                visit(s, (struct sl_object *)base);
            if (b->kind != BLOCK_OBJECTS)
                continue;
            for (size_t k = 0; k < b->made; k++, base += sl_cell_bytes[b->rank])
                if (header_of(base) != 0)
                    visit(s, (struct sl_object *)base);
        }
    for (struct sl_large *l = s->heap.large; l; l = l->next)
        visit(s, (struct sl_object *)((char *)l + SL_LARGE_HEADER));
}

/* Returns about the number of live bytes, so that the cost of collecting stays
 * proportional to allocation. */
int64_t sl_collect_pace(const struct sl_heap *h)
{
    size_t live = h->used - h->idle;
    size_t least = h->limit / 4 < 1024 * 1024 ? h->limit / 4 : 1024 * 1024;

    return (int64_t)(live > least ? live : least);
}

/* Allocates the work list at its first use, outside the budget. If that fails,
 * a short list in the interpreter is used, which is slower. */
static void open_gray(struct sl_heap *h)
{
    size_t count = h->limit / 64 < SL_GRAY_MAX ? h->limit / 64 : SL_GRAY_MAX;

    if (h->gray_capacity > SL_GRAY_FEW)
        return;
    h->gray =
        count > SL_GRAY_FEW ? sl_system_alloc(count * sizeof *h->gray) : NULL;
    h->gray_capacity = h->gray ? count : SL_GRAY_FEW;
    if (!h->gray)
        h->gray = h->gray_few;
}

void sl_collect(struct star *s)
{
    struct sl_heap *h = &s->heap;

    open_gray(h);
    if (++h->epoch == 0)
        h->epoch = 1; /* 0 is the mark of new objects */
    h->gray_count = 0;
    h->gray_overflow = h->stopped = false;
    mark_roots(s);
    rescan(s);
    if (!h->stopped) {
        h->before_sweep(s);
        memset(h->free, 0, sizeof h->free);
        sweep(s);
    }
    h->unfinished = h->stopped ? h->unfinished + 1 : 0;
    h->stopped = false;
    h->until_collect = sl_collect_pace(h);
}
