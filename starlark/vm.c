#include "vm.h"

#include <stdio.h>

#include "table.h"
#include "text.h"

/*
 * The loop keeps the program counter, the window and the constants in local
 * variables; everything else is reached through them. An instruction does the
 * common case here (ints of one word, floats of one word, lists, dicts by
 * string) and leaves the others to ops.h.
 *
 * Between instructions s->native is false: what an instruction makes is in a
 * register before anything else is made. An operation that may make more than
 * one object runs between NATIVE and VM, so that the first ones are held.
 */

#define BOTH_INTS(x, y)   ((x) & (y)&1)
#define BOTH_FLOATS(x, y) (!((((x) ^ 2) | ((y) ^ 2)) & 3))
#define LIKELY(x)         __builtin_expect(!!(x), 1)
#define UNLIKELY(x)       __builtin_expect(!!(x), 0)
#define COLD              __attribute__((noinline, cold))
#define APART             __attribute__((noinline))

/* --- what the collector asks ------------------------------------------------ */

/* The end of the windows in the segment of `f` and the frames below it there. */
static value *windows_end(const struct sl_frame *f)
{
    value *end = f->top;

    for (; !f->segment && f->prev; f = f->prev)
        if (f->prev->top > end)
            end = f->prev->top;
    return end;
}

void sl_vm_mark_roots(struct star *s, void (*mark)(struct star *s, value v))
{
    struct sl_segment *unused = s->stack;

    /* Before anything is marked: that sets it. */
    for (struct star_program *p = s->programs; p; p = p->next)
        p->used = false;
    for (const struct sl_frame *f = s->frame; f; f = f->prev) {
        mark(s, sl_value(f->function));
        for (const value *v = f->base; v < f->top; v++)
            if (sl_is_object(*v))
                mark(s, *v);
    }
    if (s->frame) {
        value *end = windows_end(s->frame);
        memset(end, 0, (size_t)(s->stack->end - end) * sizeof *end);
        unused = s->stack->next;
    }
    for (; unused; unused = unused->next)
        memset(unused->values, 0,
               (size_t)(unused->end - unused->values) * sizeof(value));

    for (const struct star_module *m = s->modules; m; m = m->next)
        mark(s, sl_value(m->globals));
    if (s->interactive_globals)
        mark(s, sl_value(s->interactive_globals));
    for (const struct star_program *p = s->programs; p; p = p->next)
        if (p->top)
            mark(s, sl_value(p->top));
}

/* --- leaving frames ----------------------------------------------------------- */

static inline void pop(struct star *s, struct sl_frame *f)
{
    f->code->active = false;
    if (UNLIKELY(f->segment) && s->stack->prev)
        s->stack = s->stack->prev;
    s->frame = f->prev;
}

COLD void sl_report_frame(struct star *s, const struct sl_code *code,
                          uint32_t pc, const struct sl_pos *place)
{
    char name[200];
    const struct sl_string *text = sl_string(code->name);
    size_t length = text->length < sizeof name ? text->length : sizeof name - 1;

    memcpy(name, text->p, length);
    name[length] = '\0';
    sl_error_frame(s, &code->program->source, name,
                   place ? *place : sl_code_place(code, pc));
}

/* Leaves the innermost frame. */
static COLD void leave_failed(struct star *s, uint32_t pc,
                              const struct sl_pos *place)
{
    struct sl_frame *f = s->frame;
    const struct sl_code *code = f->code;

    for (uint32_t i = 0; i < code->loop_count; i++) {
        const struct sl_loop *l = &code->loops[i];
        if (l->begin <= pc && pc < l->end && f->base[l->reg])
            sl_unlock(f->base[l->reg]);
    }
    sl_report_frame(s, code, pc, place);
    pop(s, f);
}

void sl_drop_frame(struct star *s)
{
    leave_failed(s, 0, NULL);
}

/* --- slow halves of instructions ---------------------------------------------- */

static COLD value unset_variable(struct star *s, const char *kind, value name)
{
    const struct sl_string *n = sl_string(name);

    return sl_fail(s, "%s variable %.*s referenced before assignment", kind,
                   (int)n->length, n->p);
}

/* A float and an int, both of one word: -1, or the operator's double result. */
static inline bool mixed(value x, value y, double *a, double *b)
{
    if (sl_is_float_word(x) && sl_is_int_word(y)) {
        *a = sl_float_word(x);
        *b = (double)sl_int_word(y);
        return true;
    }
    if (sl_is_int_word(x) && sl_is_float_word(y)) {
        *a = (double)sl_int_word(x);
        *b = sl_float_word(y);
        return true;
    }
    return false;
}

/* The operations of the loop that are not done there. */
static APART value binary(struct star *s, enum sl_operator op, value x, value y,
                          bool in_place)
{
    size_t held = s->heap.held_count;
    double a, b;

    if (op <= OP_DIV && mixed(x, y, &a, &b)) {
        if (op == OP_ADD)
            return sl_float(s, a + b);
        if (op == OP_SUB)
            return sl_float(s, a - b);
        if (op == OP_MUL)
            return sl_float(s, a * b);
        if (b != 0)
            return sl_float(s, a / b);
    }
    s->native = true;
    value v = sl_binary(s, op, x, y, in_place);
    s->native = false;
    s->heap.held_count = held;
    return v;
}

/* b is not 0; false when the result may not fit. */
static inline bool floor_divide(int64_t a, int64_t b, int64_t *q, int64_t *r)
{
    if (((uint64_t)a | (uint64_t)b) >> 32 == 0) {
        /* most numbers are small, and dividing them is much faster */
        *q = (uint32_t)a / (uint32_t)b;
        *r = (uint32_t)a % (uint32_t)b;
        return true;
    }
    if (b == -1)
        return false;
    *q = a / b;
    *r = a % b;
    if (*r && (*r ^ b) < 0) {
        --*q;
        *r += b;
    }
    return true;
}

/* Texts that are compared here: longer ones pay for it elsewhere. */
#define SHORT_TEXT 1024u

static inline bool are_short_texts(value x, value y)
{
    return sl_is(x, T_STRING) && sl_is(y, T_STRING) &&
           (sl_string(x)->length | sl_string(y)->length) < SHORT_TEXT;
}

static inline bool text_equal(value x, value y)
{
    const struct sl_string *a = sl_string(x), *b = sl_string(y);

    return a->length == b->length &&
           (!a->length ||
            (a->p[0] == b->p[0] && !memcmp(a->p, b->p, a->length)));
}

static inline bool ordered(enum sl_operator op, int order)
{
    return op == OP_LT   ? order < 0
           : op == OP_LE ? order <= 0
           : op == OP_GT ? order > 0
                         : order >= 0;
}

/* 1 or 0; -1 when it fails. */
static APART int compare(struct star *s, enum sl_operator op, value x, value y)
{
    bool result;

    if (op == OP_EQ || op == OP_NE) {
        if (are_short_texts(x, y))
            return text_equal(x, y) == (op == OP_EQ);
        if (!sl_equal(s, x, y, &result))
            return -1;
        return result == (op == OP_EQ);
    }
    if (are_short_texts(x, y))
        return ordered(op, sl_text_compare(x, y));
    return sl_compare(s, op, x, y, &result) ? result : -1;
}

static APART int contains(struct star *s, value needle, value haystack)
{
    bool result;

    if (sl_is(needle, T_STRING) &&
        (sl_is(haystack, T_DICT) || sl_is(haystack, T_SET)))
        return sl_table_find_string(s, haystack, needle) != NULL;
    return sl_in(s, needle, haystack, &result) ? result : -1;
}

static inline bool truth(value v)
{
    if (v == V_TRUE)
        return true;
    if (v == V_FALSE || v == V_NONE)
        return false;
    return sl_truth(v);
}

/* --- iterators ------------------------------------------------------------------
 *
 * Three registers. Over a range whose numbers are words: the step, the next
 * number, how many remain. Over anything else: what it is, the index, and for
 * texts nothing more. None, when it has come to its end.
 */

static APART bool iterator_begin(struct star *s, value of, value *it)
{
    struct sl_iter iter;

    if (sl_is(of, T_RANGE)) {
        const struct sl_range *r = sl_range(of);
        int64_t limit = SL_INT_WORD_MAX / 2;
        if (r->start >= -limit && r->start <= limit && r->stop >= -limit &&
            r->stop <= limit && r->step >= -limit && r->step <= limit) {
            it[0] = sl_word(r->step);
            it[1] = sl_word(r->start);
            it[2] = sl_word((int64_t)r->count);
            return true;
        }
    }
    if (!sl_iter_begin(s, of, &iter))
        return false;
    it[0] = of;
    it[1] = sl_word(0);
    it[2] = V_NONE;
    return true;
}

static inline void iterator_end(value *it)
{
    if (!sl_is_int_word(it[0]))
        sl_unlock(it[0]);
    it[0] = V_NONE;
}

/* What is neither a range of words, nor a list or tuple: 0 at the end, or when
 * it failed. */
static APART value iterator_next(struct star *s, value *it)
{
    enum sl_type type = (enum sl_type)sl_object(it[0])->type;
    size_t held = s->heap.held_count;

    if (type == T_DICT || type == T_SET) {
        const struct sl_table *t = sl_table(it[0]);
        uint32_t i = (uint32_t)sl_int_word(it[1]);
        while (i < t->used && !t->entries[i].key)
            i++;
        it[1] = sl_word((int64_t)i + 1);
        return i < t->used ? t->entries[i].key : 0;
    }
    struct sl_iter iter = {.of = it[0], .i = (uint64_t)sl_int_word(it[1])};
    s->fuel++; /* FOR_NEXT has counted the step already */
    s->native = true;
    value v = sl_iter_next(s, &iter);
    s->native = false;
    s->heap.held_count = held;
    it[1] = sl_word((int64_t)iter.i);
    return v;
}

/* --- containers ------------------------------------------------------------------- */

static COLD bool unpack_count(struct star *s, bool many, int64_t got,
                              uint32_t want)
{
    sl_fail(s, "too %s values to unpack (got %lld, want %u)",
            many ? "many" : "few", (long long)got, want);
    return false;
}

/* Into `count` registers. The items of lists and tuples are there already; what
 * an iterator makes may collect garbage, so `v` is held: its own register may
 * be among the targets. */
static APART bool unpack(struct star *s, value v, value *to, uint32_t count)
{
    const value *items = NULL;
    uint32_t length = 0, i = 0;

    if (sl_is(v, T_TUPLE)) {
        items = sl_tuple(v)->items;
        length = sl_tuple(v)->count;
    } else if (sl_is(v, T_LIST)) {
        items = sl_list(v)->items;
        length = sl_list(v)->count;
    } else {
        struct sl_iter it;
        value item = V_NONE;
        if (!sl_is_iterable(v)) {
            sl_fail(s, "got %s in sequence assignment", sl_type_name(v));
            return false;
        }
        if (!sl_hold(s, v) || !sl_iter_begin(s, v, &it))
            return false;
        while (i < count && (item = sl_iter_next(s, &it)))
            to[i++] = item;
        if (item)
            item = sl_iter_next(s, &it);
        sl_iter_end(&it);
        if (!item && sl_failed(s))
            return false;
        if (item && i == count)
            return unpack_count(s, true, sl_len(v), count);
        return i == count || unpack_count(s, false, i, count);
    }
    if (length != count)
        return unpack_count(s, length > count, length, count);
    for (; i < count; i++)
        to[i] = items[i];
    return true;
}

static value unpack_tuple(struct star *s, value v, uint32_t count)
{
    value tuple = sl_tuple_new(s, count);

    return tuple && unpack(s, v, sl_tuple(tuple)->items, count) ? tuple : 0;
}

static value list_of(struct star *s, const value *items, uint32_t count)
{
    value list = sl_list_new(s, count);

    if (!list)
        return 0;
    if (count)
        memcpy(sl_list(list)->items, items, count * sizeof *items);
    sl_list(list)->count = count;
    return list;
}

static bool list_extend(struct star *s, value list, const value *items,
                        uint32_t count)
{
    struct sl_list *l = sl_list(list);

    if (!sl_list_reserve(s, list, (size_t)l->count + count))
        return false;
    memcpy(l->items + l->count, items, count * sizeof *items);
    l->count += count;
    return true;
}

static value tuple_of(struct star *s, const value *items, uint32_t count)
{
    value tuple = sl_tuple_new(s, count);

    if (tuple && count)
        memcpy(sl_tuple(tuple)->items, items, count * sizeof *items);
    return tuple;
}

static bool dict_put(struct star *s, value dict, value key, value v)
{
    if (sl_is(key, T_STRING)) {
        if (!sl_table_find_string(s, dict, key))
            return sl_table_add(s, dict, key, sl_object(key)->hash, v);
    } else {
        uint32_t before = sl_table(dict)->count;
        if (!sl_table_set(s, dict, key, v))
            return false;
        if (sl_table(dict)->count > before)
            return true;
    }
    value text = sl_repr_value(s, key);
    if (text)
        sl_fail(s, "duplicate key: %.*s", SL_SHOWN(text));
    return false;
}

static COLD bool set_attr(struct star *s, value object, value name)
{
    sl_fail(s, "can't assign to .%.*s field of %s",
            (int)sl_string(name)->length, sl_string(name)->p,
            sl_type_name(object));
    return false;
}

static APART value index_of(struct star *s, value object, value key)
{
    if (sl_is(object, T_DICT) && sl_is(key, T_STRING)) {
        struct sl_entry *e = sl_table_find_string(s, object, key);
        if (e)
            return e->value;
    }
    size_t held = s->heap.held_count;
    s->native = true;
    value v = sl_index(s, object, key);
    s->native = false;
    s->heap.held_count = held;
    return v;
}

static APART bool set_index(struct star *s, value object, value key, value v)
{
    if (!sl_is(object, T_DICT) || sl_table(object)->locks)
        return sl_set_index(s, object, key, v);
    struct sl_entry *e = NULL;
    if (sl_is(key, T_STRING)) {
        e = sl_table_find_string(s, object, key);
        if (!e)
            return sl_table_add(s, object, key, sl_object(key)->hash, v);
    } else if (sl_is_int_word(key)) {
        e = sl_table_find_word(s, object, key);
    }
    if (!e)
        return sl_table_set(s, object, key, v);
    e->value = v;
    return true;
}

/* --- functions -------------------------------------------------------------------- */

static value closure(struct star *s, struct sl_frame *f, struct sl_code *code,
                     const value *defaults)
{
    size_t slots = (size_t)code->default_count + code->capture_count;
    struct sl_function *fn =
        sl_alloc(s, T_FUNCTION, sizeof *fn + slots * sizeof(value));

    if (!fn)
        return 0;
    fn->code = code;
    fn->globals = f->function->globals;
    fn->default_count = code->default_count;
    fn->cell_count = code->capture_count;
    fn->number = s->next_number++;
    if (code->default_count)
        memcpy(fn->slots, defaults, code->default_count * sizeof(value));
    value *to = fn->slots + code->default_count;
    const value *free = f->function->slots + f->function->default_count;
    for (uint32_t i = 0; i < code->capture_count; i++) {
        const struct sl_capture *c = &code->captures[i];
        to[i] = c->from_free ? free[c->index] : f->base[c->index];
    }
    return sl_value(fn);
}

static value cell(struct star *s, value v)
{
    struct sl_cell *c = sl_alloc(s, T_CELL, sizeof *c);

    if (!c)
        return 0;
    c->v = v;
    return sl_value(c);
}

/* --- modules ---------------------------------------------------------------------- */

static value load(struct star *s, value name)
{
    const struct sl_string *n = sl_string(name);

    if (!s->options.load)
        return sl_fail(s, "load not implemented by this application");
    struct star_module *m = s->options.load(s->options.ctx, s, n->p, n->length);
    if (m)
        return sl_value(m->globals);

    char why[400];
    snprintf(why, sizeof why, "cannot load %.*s", (int)n->length, n->p);
    if (!sl_failed(s))
        return sl_fail(s, "%s", why);
    sl_fail_prefix(s, why);
    return 0;
}

/* The name of the module that was loaded into register `reg` before `pc`. */
static value loaded_name(const struct sl_code *code, const uint64_t *pc,
                         uint32_t reg)
{
    while (pc-- > code->instructions)
        if (sl_op(*pc) == I_LOAD && sl_a(*pc) == reg)
            return code->constants[sl_c(*pc)];
    return code->name;
}

static COLD value not_in_module(struct star *s, const struct sl_globals *g,
                                value name, value module)
{
    const struct sl_string *n = sl_string(name), *m = sl_string(module);
    char texts[64][64], wanted[64], hint[100] = "";
    const char *names[64];
    size_t count = 0;

    for (uint32_t i = 0; i < g->count && count < 64; i++) {
        const struct sl_string *t = sl_string(g->names[i]);
        if (t->length < sizeof *texts && t->length && t->p[0] != '_') {
            memcpy(texts[count], t->p, t->length);
            texts[count][t->length] = '\0';
            names[count] = texts[count];
            count++;
        }
    }
    if (n->length < sizeof wanted) {
        memcpy(wanted, n->p, n->length);
        wanted[n->length] = '\0';
        const char *near = sl_nearest(wanted, names, count);
        if (near)
            snprintf(hint, sizeof hint, " (did you mean %s?)", near);
    }
    return sl_fail(s, "load: name %.*s not found in module %.*s%s",
                   (int)n->length, n->p, (int)m->length, m->p, hint);
}

static value load_name(value module, value name)
{
    const struct sl_globals *g = (struct sl_globals *)sl_object(module);

    for (uint32_t i = 0; i < g->count; i++)
        if (sl_text_equal(g->names[i], name))
            return g->slots[i];
    return 0;
}

/* --- calls of C ---------------------------------------------------------------------- */

static inline value call_native(struct star *s, sl_native *function,
                                const struct sl_call *c)
{
    size_t held = s->heap.held_count;

    s->native = true;
    value v = function(s, c);
    s->native = false;
    s->heap.held_count = held;
    if (UNLIKELY(!v))
        sl_error_builtin(s, c->name);
    return v;
}

/* A method of a type that has none of that name: an attribute that is called. */
static APART value call_attribute(struct star *s, value object, value name,
                                  const value *args, uint32_t count)
{
    size_t held = s->heap.held_count;

    s->native = true;
    value callee = sl_attr(s, object, name);
    value v = callee ? sl_call(s, callee, args, count) : 0;
    s->native = false;
    s->heap.held_count = held;
    return v;
}

/* The C function for a method that the type of `v` has, else NULL. */
static inline sl_native *method_of(value v, uint32_t number)
{
    /* clang-format off */
    static sl_native *const *const tables[T_COUNT] = {
        [T_STRING] = sl_string_methods, [T_BYTES] = sl_bytes_methods,
        [T_LIST] = sl_list_methods,     [T_DICT] = sl_dict_methods,
        [T_SET] = sl_set_methods,
    };
    /* clang-format on */

    if (!sl_is_object(v) || !tables[sl_object(v)->type])
        return NULL;
    return tables[sl_object(v)->type][number];
}

static APART bool has_attribute(struct star *s, value v, value name)
{
    size_t held = s->heap.held_count;

    s->native = true;
    value found = sl_attr(s, v, name);
    s->native = false;
    s->heap.held_count = held;
    return found != 0;
}

/* --- calls of programs ----------------------------------------------------------------- */

/* The frame of a call whose arguments stand behind `at`, which is more than
 * exactly the positional ones the function asks for; or NULL. */
static APART struct sl_frame *bind(struct star *s, value *at, uint32_t count)
{
    size_t held = s->heap.held_count;

    s->native = true;
    struct sl_frame *f =
        sl_bind(s, sl_function(*at), at + 1, at + 1, count, NULL, 0, NULL);
    s->native = false;
    s->heap.held_count = held;
    return f;
}

/* A call that is described by a site. Gives the frame of a def that runs now, or
 * *result of something else, which is 0 when it failed; both NULL and 0: so did
 * the binding of arguments. */
static APART struct sl_frame *call_site(struct star *s, value *at,
                                        struct sl_site *site,
                                        const struct sl_code *code,
                                        value *result)
{
    size_t held = s->heap.held_count;
    uint32_t count = site->positional, named = site->named;
    value *args = at + 1, *window = args + count + named;
    const value *names = code->constants + site->names;
    struct sl_frame *f = NULL;

    *result = 0;
    s->native = true;
    if (site->star || site->starstar) {
        value all = sl_spread(s, at + 1, site, names, &count, &named);
        if (!all)
            goto out;
        args = sl_tuple(all)->items;
        names = args + count + named;
        window = s->frame->top;
    }
    if (sl_is(*at, T_FUNCTION))
        f = sl_bind(s, sl_function(*at), window, args, count, names, named,
                    site->star || site->starstar ? NULL : site);
    else
        *result = sl_call_named(s, *at, args, count, names, named);
out:
    s->native = false;
    s->heap.held_count = held;
    return f;
}

/* --- the loop -------------------------------------------------------------------------- */

#define A       (base[sl_a(i)])
#define B       (base[sl_b(i)])
#define C       (base[sl_c(i)])
#define A_CONST (constants[sl_a(i)])
#define B_CONST (constants[sl_b(i)])
#define C_CONST (constants[sl_c(i)])

#define NEXT                                                                   \
    do {                                                                       \
        i = *pc++;                                                             \
        goto *labels[i & 0xff];                                                \
    } while (0)
/* Gives a register the value of an expression, which is 0 when it fails. */
#define GIVE(to, expression)                                                   \
    do {                                                                       \
        value given = (expression);                                            \
        if (UNLIKELY(!given))                                                  \
            goto fail;                                                         \
        (to) = given;                                                          \
    } while (0)
#define TRY(expression)                                                        \
    do {                                                                       \
        if (UNLIKELY(!(expression)))                                           \
            goto fail;                                                         \
    } while (0)
/* For what may make more than one object. */
#define NATIVE (s->native = true)
#define VM     (s->native = false, s->heap.held_count = held)
#define STEP   TRY(--s->fuel >= 0 || sl_charge_slow(s))

#define ARITHMETIC(name, op, right, ints, floats)                              \
    L_##name:                                                                  \
    {                                                                          \
        value x = B, y = right;                                                \
        if (LIKELY(BOTH_INTS(x, y))) {                                         \
            int64_t r;                                                         \
            if (LIKELY(ints)) {                                                \
                A = (value)r;                                                  \
                NEXT;                                                          \
            }                                                                  \
        } else if (BOTH_FLOATS(x, y)) {                                        \
            double p = sl_float_word(x), q = sl_float_word(y);                 \
            (void)p, (void)q;                                                  \
            floats;                                                            \
        }                                                                      \
        GIVE(A, binary(s, op, x, y, false));                                   \
        NEXT;                                                                  \
    }
#define FLOAT(expression)                                                      \
    do {                                                                       \
        GIVE(A, sl_float(s, expression));                                      \
        NEXT;                                                                  \
    } while (0)
/* With the constant as right operand, too. */
#define ARITHMETIC_PAIR(name, ints, floats)                                    \
    ARITHMETIC(name, OP_##name, C, ints, floats)                               \
    ARITHMETIC(name##_K, OP_##name, C_CONST, ints, floats)

#define X_INT    ((int64_t)x)
#define INTS_ADD !__builtin_add_overflow(X_INT, (int64_t)(y - 1), &r)
#define INTS_SUB !__builtin_sub_overflow(X_INT, (int64_t)(y - 1), &r)
#define INTS_MUL                                                               \
    (!__builtin_mul_overflow(X_INT >> 1, (int64_t)(y - 1), &r) && (r |= 1))
#define INTS_AND (r = (int64_t)(x & y), true)
#define INTS_OR  (r = (int64_t)(x | y), true)
#define INTS_XOR (r = (int64_t)((x ^ y) | 1), true)
/* The shifted word must shift back to what it was. */
#define INTS_SHL                                                               \
    (y <= sl_word(60) && (r = (int64_t)((x - 1) << (y >> 1)),                  \
                          r >> (y >> 1) == (int64_t)(x - 1) && (r |= 1)))
#define INTS_SHR                                                               \
    ((int64_t)y >= 0 &&                                                        \
     (r = (X_INT >> (y > sl_word(63) ? 63 : y >> 1)) | 1, true))
#define INTS_FLOORDIV                                                          \
    (y != sl_word(0) &&                                                        \
     floor_divide(X_INT >> 1, (int64_t)y >> 1, &r, &rest) &&                   \
     (r = (int64_t)sl_word(r), true))
#define INTS_MOD                                                               \
    (y != sl_word(0) &&                                                        \
     floor_divide(X_INT >> 1, (int64_t)y >> 1, &rest, &r) &&                   \
     (r = (int64_t)sl_word(r), true))
#define INTS_DIV (r = 0, false)

/* When the comparison gives `want`: `then`; else: `otherwise`. */
#define COMPARE(name, op, cmp, left, right, want, then, otherwise)             \
    L_##name:                                                                  \
    {                                                                          \
        value x = left, y = right;                                             \
        int r;                                                                 \
        if (LIKELY(BOTH_INTS(x, y)))                                           \
            r = (int64_t)x cmp(int64_t) y;                                     \
        else if (BOTH_FLOATS(x, y))                                            \
            r = sl_float_word(x) cmp sl_float_word(y);                         \
        else if ((op == OP_EQ || op == OP_NE) && x == y &&                     \
                 (!sl_is_object(x) || sl_object(x)->type == T_STRING))         \
            r = op == OP_EQ;                                                   \
        else {                                                                 \
            r = compare(s, op, x, y);                                          \
            if (UNLIKELY(r < 0))                                               \
                goto fail;                                                     \
        }                                                                      \
        if (r == want)                                                         \
            then;                                                              \
        else                                                                   \
            otherwise;                                                         \
        NEXT;                                                                  \
    }
#define COMPARE_ALL(name, cmp)                                                 \
    COMPARE(name, OP_##name, cmp, B, C, 1, A = V_TRUE, A = V_FALSE)            \
    COMPARE(JUMP_##name, OP_##name, cmp, A, B, 1, pc += sl_j(i), (void)0)      \
    COMPARE(JUMP_##name##_K, OP_##name, cmp, A, B_CONST, 1, pc += sl_j(i),     \
            (void)0)
#define COMPARE_NOT(name, cmp)                                                 \
    COMPARE(JUMP_NOT_##name, OP_##name, cmp, A, B, 0, pc += sl_j(i), (void)0)  \
    COMPARE(JUMP_NOT_##name##_K, OP_##name, cmp, A, B_CONST, 0, pc += sl_j(i), \
            (void)0)

/* In `a in b`, as a value and as a jump. */
#define CONTAINS(name, left, right, want, then, otherwise)                     \
    L_##name:                                                                  \
    {                                                                          \
        int r = contains(s, left, right);                                      \
        if (UNLIKELY(r < 0))                                                   \
            goto fail;                                                         \
        if (r == want)                                                         \
            then;                                                              \
        else                                                                   \
            otherwise;                                                         \
        NEXT;                                                                  \
    }

value sl_run_frame(struct star *s)
{
    static const void *const labels[SL_OPCODE_COUNT] = {
#define OP(name, a, b, c, text) &&L_##name,
        SL_OPCODES(OP)
#undef OP
    };
    const size_t held = s->heap.held_count;
    const bool native = s->native;
    struct sl_frame *frame = s->frame;
    value *base = frame->base;
    const value *constants = frame->code->constants;
    const uint64_t *pc = frame->code->instructions;
    const struct sl_pos *place = NULL; /* of a failure, if not pc's */
    uint64_t i;
    int64_t rest;

    s->native = false;
    s->entries++;
    NEXT;

L_MOVE:
    A = B;
    NEXT;
L_CONST:
    A = C_CONST;
    NEXT;
L_FAR_GET:
    A = C;
    NEXT;
L_FAR_SET:
    C = B;
    NEXT;
L_UNSET:
    C = 0;
    NEXT;
L_CHECK:
    if (UNLIKELY(!A)) {
        unset_variable(s, "local", C_CONST);
        goto fail;
    }
    NEXT;
L_GLOBAL : {
    const struct sl_globals *g = frame->function->globals;
    value v = g->slots[sl_c(i)];
    if (UNLIKELY(!v)) {
        unset_variable(s, "global", g->names[sl_c(i)]);
        goto fail;
    }
    A = v;
    NEXT;
}
L_SET_GLOBAL:
    frame->function->globals->slots[sl_c(i)] = B;
    NEXT;

L_CELL:
    GIVE(A, cell(s, B));
    NEXT;
L_CELL_EMPTY:
    GIVE(A, cell(s, 0));
    NEXT;
L_CELL_GET : {
    value v = sl_cell(B)->v;
    if (UNLIKELY(!v)) {
        unset_variable(s, "local", C_CONST);
        goto fail;
    }
    A = v;
    NEXT;
}
L_CELL_SET:
    sl_cell(A)->v = B;
    NEXT;
L_FREE : {
    const struct sl_function *f = frame->function;
    A = f->slots[f->default_count + sl_c(i)];
    NEXT;
}
L_FREE_CELL : {
    const struct sl_function *f = frame->function;
    value v = sl_cell(f->slots[f->default_count + sl_c(i)])->v;
    if (UNLIKELY(!v)) {
        unset_variable(s, "local", f->code->captures[sl_c(i)].name);
        goto fail;
    }
    A = v;
    NEXT;
}

    ARITHMETIC_PAIR(ADD, INTS_ADD, FLOAT(p + q))
    ARITHMETIC_PAIR(SUB, INTS_SUB, FLOAT(p - q))
    ARITHMETIC_PAIR(MUL, INTS_MUL, FLOAT(p * q))
    ARITHMETIC_PAIR(DIV, INTS_DIV, if (q != 0) FLOAT(p / q))
    ARITHMETIC_PAIR(FLOORDIV, INTS_FLOORDIV, (void)0)
    ARITHMETIC_PAIR(MOD, INTS_MOD, (void)0)
    ARITHMETIC_PAIR(AND, INTS_AND, (void)0)
    ARITHMETIC_PAIR(OR, INTS_OR, (void)0)
    ARITHMETIC_PAIR(XOR, INTS_XOR, (void)0)
    ARITHMETIC_PAIR(SHL, INTS_SHL, (void)0)
    ARITHMETIC_PAIR(SHR, INTS_SHR, (void)0)

L_IN_PLACE : {
    value x = B, y = base[sl_c(i) & 0xffff];
    enum sl_operator op = (enum sl_operator)(sl_c(i) >> 16);
    if (op <= OP_SUB && BOTH_INTS(x, y)) {
        int64_t r;
        if (LIKELY(op == OP_ADD ? INTS_ADD : INTS_SUB)) {
            A = (value)r;
            NEXT;
        }
    } else if (op <= OP_SUB && BOTH_FLOATS(x, y)) {
        double p = sl_float_word(x), q = sl_float_word(y);
        FLOAT(op == OP_ADD ? p + q : p - q);
    }
    GIVE(A, binary(s, op, x, y, true));
    NEXT;
}
L_NEG : {
    value x = B;
    int64_t r;
    if (sl_is_int_word(x) && !__builtin_sub_overflow(2, (int64_t)x, &r)) {
        A = (value)r;
        NEXT;
    }
    if (sl_is_float_word(x))
        FLOAT(-sl_float_word(x));
    NATIVE;
    x = sl_unary(s, OP_NEG, x);
    VM;
    GIVE(A, x);
    NEXT;
}
L_POS:
    GIVE(A, sl_unary(s, OP_POS, B));
    NEXT;
L_INVERT : {
    value x = B;
    if (sl_is_int_word(x)) {
        A = ~x | 1;
        NEXT;
    }
    NATIVE;
    x = sl_unary(s, OP_INVERT, x);
    VM;
    GIVE(A, x);
    NEXT;
}
L_NOT:
    A = sl_bool(!truth(B));
    NEXT;

    COMPARE_ALL(EQ, ==)
    COMPARE_ALL(NE, !=)
    COMPARE_ALL(LT, <)
    COMPARE_ALL(LE, <=)
    COMPARE_ALL(GT, >)
    COMPARE_ALL(GE, >=)
    COMPARE_NOT(LT, <)
    COMPARE_NOT(LE, <=)
    COMPARE_NOT(GT, >)
    COMPARE_NOT(GE, >=)
    CONTAINS(IN, B, C, 1, A = V_TRUE, A = V_FALSE)
    CONTAINS(NOT_IN, B, C, 0, A = V_TRUE, A = V_FALSE)
    CONTAINS(JUMP_IN, A, B, 1, pc += sl_j(i), (void)0)
    CONTAINS(JUMP_NOT_IN, A, B, 0, pc += sl_j(i), (void)0)

L_JUMP:
    pc += sl_j(i);
    NEXT;
L_JUMP_TRUE:
    if (truth(A))
        pc += sl_j(i);
    NEXT;
L_JUMP_FALSE:
    if (!truth(A))
        pc += sl_j(i);
    NEXT;

L_FOR_BEGIN:
    TRY(iterator_begin(s, B, &A));
    pc += sl_j(i);
    NEXT;
L_FOR_NEXT : {
    value *it = &A, v;
    STEP;
    if (sl_is_int_word(it[0])) {
        if (it[2] == sl_word(0))
            goto ended;
        it[2] -= 2;
        B = it[1];
        it[1] += it[0] - 1;
        pc += sl_j(i);
        NEXT;
    }
    if (sl_object(it[0])->type == T_LIST) {
        const struct sl_list *l = sl_list(it[0]);
        uint64_t at = it[1] >> 1;
        if (at >= l->count)
            goto ended;
        v = l->items[at];
        it[1] += 2;
    } else if (sl_object(it[0])->type == T_TUPLE) {
        const struct sl_tuple *t = sl_tuple(it[0]);
        uint64_t at = it[1] >> 1;
        if (at >= t->count)
            goto ended;
        v = t->items[at];
        it[1] += 2;
    } else {
        v = iterator_next(s, it);
        if (!v) {
            TRY(!sl_failed(s));
            goto ended;
        }
    }
    B = v;
    pc += sl_j(i);
    NEXT;
ended:
    iterator_end(it);
    NEXT;
}
L_FOR_END:
    iterator_end(&A);
    NEXT;

L_LIST : {
    NATIVE;
    value v = list_of(s, &B, sl_c(i));
    VM;
    GIVE(A, v);
    NEXT;
}
L_LIST_EXTEND:
    TRY(list_extend(s, A, &B, sl_c(i)));
    NEXT;
L_APPEND : {
    struct sl_list *l = sl_list(A);
    if (LIKELY(l->count < l->capacity))
        l->items[l->count++] = B;
    else
        TRY(sl_list_append(s, A, B));
    NEXT;
}
L_TUPLE:
    GIVE(A, tuple_of(s, &B, sl_c(i)));
    NEXT;
L_DICT : {
    NATIVE;
    value v = sl_dict_new(s, sl_c(i));
    VM;
    GIVE(A, v);
    NEXT;
}
L_DICT_PUT:
    TRY(dict_put(s, A, B, C));
    NEXT;

L_INDEX : {
    value x = B, y = C;
    if (sl_is_int_word(y) && sl_is_object(x)) {
        int64_t at = sl_int_word(y);
        if (sl_object(x)->type == T_LIST) {
            const struct sl_list *l = sl_list(x);
            at += at < 0 ? l->count : 0;
            if (LIKELY((uint64_t)at < l->count)) {
                A = l->items[at];
                NEXT;
            }
        } else if (sl_object(x)->type == T_TUPLE) {
            const struct sl_tuple *t = sl_tuple(x);
            at += at < 0 ? t->count : 0;
            if (LIKELY((uint64_t)at < t->count)) {
                A = t->items[at];
                NEXT;
            }
        } else if (sl_object(x)->type == T_STRING) {
            const struct sl_string *text = sl_string(x);
            at += at < 0 ? text->length : 0;
            if (LIKELY((uint64_t)at < text->length)) {
                unsigned char c = (unsigned char)text->p[at];
                if (LIKELY(c < 128 && s->chars[c])) {
                    A = s->chars[c];
                    NEXT;
                }
            }
        } else if (sl_object(x)->type == T_DICT) {
            const struct sl_entry *e = sl_table_find_word(s, x, y);
            if (e) {
                A = e->value;
                NEXT;
            }
        }
    }
    GIVE(A, index_of(s, x, y));
    NEXT;
}
L_INDEX_K : {
    value x = B, y = C_CONST;
    if (sl_is_int_word(y) && sl_is_object(x)) {
        int64_t at = sl_int_word(y);
        if (sl_object(x)->type == T_LIST) {
            const struct sl_list *l = sl_list(x);
            if (LIKELY((uint64_t)at < l->count)) {
                A = l->items[at];
                NEXT;
            }
        } else if (sl_object(x)->type == T_TUPLE) {
            const struct sl_tuple *t = sl_tuple(x);
            if (LIKELY((uint64_t)at < t->count)) {
                A = t->items[at];
                NEXT;
            }
        }
    }
    GIVE(A, index_of(s, x, y));
    NEXT;
}
L_SET_INDEX : {
    value x = A, y = B;
    if (sl_is_int_word(y) && sl_is(x, T_LIST)) {
        struct sl_list *l = sl_list(x);
        int64_t at = sl_int_word(y);
        at += at < 0 ? l->count : 0;
        if (LIKELY((uint64_t)at < l->count && !l->locks)) {
            l->items[at] = C;
            NEXT;
        }
    }
    TRY(set_index(s, x, y, C));
    NEXT;
}
L_SLICE : {
    const value *bound = &base[sl_c(i) & 0xffff];
    value bounds[3];
    for (unsigned n = 0; n < 3; n++)
        bounds[n] = sl_c(i) >> (16 + n) & 1 ? *bound++ : V_NONE;
    NATIVE;
    value r = sl_slice(s, B, bounds[0], bounds[1], bounds[2]);
    VM;
    GIVE(A, r);
    NEXT;
}
L_ATTR : {
    NATIVE;
    value v = sl_attr(s, B, C_CONST);
    VM;
    GIVE(A, v);
    NEXT;
}
L_SET_ATTR:
    set_attr(s, A, C_CONST);
    goto fail;
L_UNPACK : {
    value v = B;
    if (sl_is(v, T_TUPLE) && sl_tuple(v)->count == sl_c(i)) {
        const struct sl_tuple *t = sl_tuple(v);
        value *to = &A;
        for (uint32_t n = 0; n < t->count; n++)
            to[n] = t->items[n];
        NEXT;
    }
    NATIVE;
    bool done = unpack(s, v, &A, sl_c(i));
    VM;
    TRY(done);
    NEXT;
}
L_UNPACK_TUPLE : {
    NATIVE;
    value v = unpack_tuple(s, B, sl_c(i));
    VM;
    GIVE(A, v);
    NEXT;
}

L_CLOSURE:
    GIVE(A, closure(s, frame, (struct sl_code *)sl_object(C_CONST), &B));
    NEXT;

L_CALL : {
    value *at = &A, callee = *at;
    uint32_t count = sl_b(i);
    if (LIKELY(sl_is(callee, T_FUNCTION))) {
        struct sl_function *fn = sl_function(callee);
        struct sl_code *code = fn->code;
        struct sl_frame *next = frame->next;
        value *result = &C;
        STEP;
        frame->pc = pc;
        if (LIKELY(code->exact == count && !code->active && next &&
                   next->depth <= s->limits.call_depth &&
                   code->register_count <= s->stack->end - (at + 1))) {
            code->active = true;
            next->code = code;
            next->function = fn;
            next->base = at + 1;
            next->top = at + 1 + code->register_count;
            next->segment = false;
            s->frame = next;
        } else {
            next = bind(s, at, count);
            TRY(next);
        }
        next->result = result;
        next->entry = false;
        frame = next;
        base = frame->base;
        constants = code->constants;
        pc = code->instructions;
        NEXT;
    }
    STEP;
    if (LIKELY(sl_is(callee, T_BUILTIN))) {
        const struct sl_builtin *b = sl_builtin(callee);
        struct sl_call call = {.name = b->name,
                               .self = b->self,
                               .args = at + 1,
                               .count = count,
                               .builtin = b};
        GIVE(C, call_native(s, b->function, &call));
        NEXT;
    }
    sl_fail(s, "invalid call of non-function (%s)", sl_type_name(callee));
    goto fail;
}
L_CALL_SITE : {
    struct sl_site *site = &frame->code->sites[sl_c(i)];
    value *at = &A, v;
    STEP;
    frame->pc = pc;
    struct sl_frame *next = call_site(s, at, site, frame->code, &v);
    if (!next) {
        GIVE(base[site->dst], v);
        NEXT;
    }
    next->result = base + site->dst;
    next->entry = false;
    frame = next;
    base = frame->base;
    constants = frame->code->constants;
    pc = frame->code->instructions;
    NEXT;
}
L_HAS_METHOD : {
    const struct sl_site *site = &frame->code->sites[sl_c(i)];
    if (UNLIKELY(!method_of(A, site->method)))
        TRY(has_attribute(s, A, constants[site->name]));
    NEXT;
}
L_METHOD : {
    const struct sl_site *site = &frame->code->sites[sl_c(i)];
    value self = A;
    const value *args = base + site->args;
    uint32_t count = sl_b(i);
    STEP;
    if (site->method == METHOD_append) {
        struct sl_list *l = sl_list(self);
        if (LIKELY(sl_is(self, T_LIST) && count == 1 &&
                   l->count < l->capacity && !l->locks)) {
            l->items[l->count++] = args[0];
            base[site->dst] = V_NONE;
            NEXT;
        }
    } else if (site->method == METHOD_get) {
        if (LIKELY(sl_is(self, T_DICT) && (count == 1 || count == 2) &&
                   sl_is(args[0], T_STRING))) {
            const struct sl_entry *e = sl_table_find_string(s, self, args[0]);
            base[site->dst] = e ? e->value : count == 2 ? args[1] : V_NONE;
            NEXT;
        }
    }
    sl_native *function = method_of(self, site->method);
    if (LIKELY(function)) {
        struct sl_call call = {.name = sl_method_names[site->method],
                               .self = self,
                               .args = args,
                               .count = count};
        GIVE(base[site->dst], call_native(s, function, &call));
        NEXT;
    }
    if (!has_attribute(s, self, constants[site->name])) {
        place = &site->dot;
        goto fail;
    }
    GIVE(base[site->dst],
         call_attribute(s, self, constants[site->name], args, count));
    NEXT;
}
L_BUILTIN : {
    const struct sl_site *site = &frame->code->sites[sl_c(i)];
    const struct sl_builtin *b = sl_builtin(constants[site->name]);
    STEP;
    if (b->function == sl_lib_len && sl_b(i) == 1 && sl_is_object(A)) {
        const struct sl_object *o = sl_object(A);
        if (LIKELY(o->type == T_LIST)) {
            base[site->dst] = sl_word(sl_list(A)->count);
            NEXT;
        }
        if (LIKELY(o->type == T_STRING)) {
            base[site->dst] = sl_word(sl_string(A)->length);
            NEXT;
        }
    }
    struct sl_call call = {.name = b->name,
                           .self = b->self,
                           .args = &A,
                           .count = sl_b(i),
                           .builtin = b};
    GIVE(base[site->dst], call_native(s, b->function, &call));
    NEXT;
}
    value v;
L_RETURN_NONE:
    v = V_NONE;
    goto leave;
L_RETURN:
    v = B;
leave:
    pop(s, frame);
    if (UNLIKELY(frame->entry))
        goto out;
    *frame->result = v;
    frame = frame->prev;
    base = frame->base;
    constants = frame->code->constants;
    pc = frame->pc;
    NEXT;

L_LOAD : {
    NATIVE;
    v = load(s, C_CONST);
    VM;
    GIVE(A, v);
    NEXT;
}
L_LOAD_NAME:
    v = load_name(B, C_CONST);
    if (!v) {
        not_in_module(s, (struct sl_globals *)sl_object(B), C_CONST,
                      loaded_name(frame->code, pc - 1, sl_b(i)));
        goto fail;
    }
    A = v;
    NEXT;

fail:
    /* A call may have failed after its frame was made and dropped again: the
     * innermost one is ours in any case. */
    frame = s->frame;
    for (;;) {
        const bool entry = frame->entry;
        leave_failed(s, (uint32_t)(pc - frame->code->instructions) - 1, place);
        place = NULL;
        if (entry)
            break;
        frame = s->frame;
        pc = frame->pc;
    }
    v = 0;
out:
    s->entries--;
    s->native = native;
    s->heap.held_count = held;
    return v;
}
