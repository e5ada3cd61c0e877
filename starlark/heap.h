#ifndef STARLARK_HEAP_H
#define STARLARK_HEAP_H

#include "value.h"

/*
 * heap: memory under a byte budget, and the collection of garbage.
 *
 * Objects of up to 512 bytes live in cells of 16 KiB blocks, one size a block;
 * larger ones, and storage that grows, come from malloc. Everything taken from
 * the system is charged to the budget before it is taken; when it does not fit,
 * garbage is collected first, and only then the allocation fails.
 *
 * Collection marks and sweeps; objects never move. Its roots are precise: the
 * value stack of the VM, kept values, the interpreter's own tables - and every
 * object made since the running native function was entered. So C code between
 * sl_native_enter and sl_native_leave need not say what it holds. Values it
 * only received are held by who gave them to it; a value taken out of a
 * container which is then changed must be passed to sl_hold.
 */

/* An object of `size` bytes, header included: zeroed behind the header, never
 * seen by the collector before the caller allocates again. NULL, with the error
 * set, when the budget does not allow it. */
void *sl_alloc(struct star *s, enum sl_type type, size_t size);

/* Storage that one object owns: the items of a list, the entries of a table. Not
 * zeroed. It is freed by its owner, or with it. `sl_buffer_resize` keeps the
 * bytes up to the smaller size; on failure the old storage stays. */
void *sl_storage(struct star *s, size_t size);
void *sl_storage_resize(struct star *s, void *p, size_t old_size, size_t size);
void sl_storage_free(struct star *s, void *p, size_t size);

/* From here on every object made is a root, until the matching leave. The VM
 * brackets calls of native functions; they nest. */
struct sl_scope {
    size_t held;
    bool native;
};
struct sl_scope sl_native_enter(struct star *s);
void sl_native_leave(struct star *s, struct sl_scope scope);
/* Keeps `v` until the native function that runs now returns. */
bool sl_hold(struct star *s, value v);

void sl_collect(struct star *s);

/* Straight from the system, outside the budget: the interpreter itself, and room
 * for the report of an error. NULL when there is none. */
void *sl_system_alloc(size_t size);
void sl_system_free(void *p);

/* Memory that is no object: the tree of a source, scratch. Charged like all. */
struct sl_arena {
    struct sl_arena_block *last;
    size_t left;
    char *next;
};
void *sl_arena_alloc(struct star *s, struct sl_arena *a, size_t size);
void sl_arena_free(struct star *s, struct sl_arena *a);

/* A growing text for building strings. `failed` stays set once memory ended;
 * appending to it then does nothing. */
struct sl_text {
    struct star *s;
    char *p;
    size_t length, capacity;
    bool failed;
};
void sl_text_append(struct sl_text *t, const char *p, size_t length);
void sl_text_char(struct sl_text *t, char c);
void sl_text_rune(struct sl_text *t, uint32_t code_point);
void sl_text_printf(struct sl_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sl_text_free(struct sl_text *t);
value sl_text_string(struct sl_text *t); /* and frees it; 0 if failed */

/* --- budgets ---------------------------------------------------------------- */

/* Work of `units`, about as much as one round of a simple loop each: 64 bytes
 * compared, an element visited. Fails with STEPS, TIMEOUT or CANCELED. Work is
 * charged before it is done, in pieces of at most some 100,000. */
bool sl_charge_slow(struct star *s);

/* Words that reports of limits share; both return 0. */
value sl_fail_memory(struct star *s, size_t wanted);

#endif
