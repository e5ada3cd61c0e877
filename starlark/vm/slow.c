#include "slow.h"

#include <stdio.h>

#include "../core/hint.h"
#include "../core/table.h"
#include "../core/text.h"

/* --- variables and operators ------------------------------------------------- */

value sl_vm_unset_variable(struct star *s, const char *kind, value name)
{
    const struct sl_string *n = sl_string(name);

    const struct sl_globals *g = s->frame->function->globals;

    sl_fail(s, "%s variable %.*s referenced before assignment", kind,
            (int)n->length, n->p);
    for (uint32_t i = 0; *kind == 'l' && i < g->count; i++)
        if (sl_string(g->names[i])->length == n->length &&
            memcmp(sl_string(g->names[i])->p, n->p, n->length) == 0) {
            sl_hint(s, HINT_OUTER);
            break;
        }
    return 0;
}

/* Converts a float and an int, both words, to two floats. */
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

value sl_vm_binary(struct star *s, enum sl_operator op, value x, value y,
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
    value v = op == OP_ADD && sl_is(x, T_STRING) && sl_is(y, T_STRING)
                  ? sl_string_concat(s, x, y)
                  : sl_binary(s, op, x, y, in_place);
    s->native = false;
    s->heap.held_count = held;
    return v;
}

/* Texts up to this length are compared without charging. */
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

int sl_vm_compare(struct star *s, enum sl_operator op, value x, value y)
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

/* Looks for a text among few items: returns 1 or 0, or -1 if sl_in must
 * decide. */
static int among(struct star *s, value text, const value *items, uint32_t count)
{
    if (count > 64 || !sl_charge(s, count))
        return -1;
    for (uint32_t i = 0; i < count; i++) {
        if (items[i] == text)
            return 1;
        if (!sl_is(items[i], T_STRING))
            continue;
        if (!are_short_texts(items[i], text))
            return -1;
        if (text_equal(items[i], text))
            return 1;
    }
    return 0;
}

int sl_vm_contains(struct star *s, value needle, value haystack)
{
    bool result;
    int found = -1;

    if (sl_is(needle, T_STRING) && sl_is_object(haystack)) {
        switch (sl_object(haystack)->type) {
        case T_DICT:
        case T_SET:
            return sl_table_find_string(s, haystack, needle) != NULL;
        case T_LIST:
            found = among(s, needle, sl_list(haystack)->items,
                          sl_list(haystack)->count);
            break;
        case T_TUPLE:
            found = among(s, needle, sl_tuple(haystack)->items,
                          sl_tuple(haystack)->count);
            break;
        default:
            break;
        }
        if (found >= 0)
            return found;
    }
    return sl_in(s, needle, haystack, &result) ? result : -1;
}

/* --- iterators ----------------------------------------------------------------- */

bool sl_vm_iterator_begin(struct star *s, value of, value *it)
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

value sl_vm_iterator_next(struct star *s, value *it)
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
    s->fuel++; /* FOR_NEXT has already counted the step */
    s->native = true;
    value v = sl_iter_next(s, &iter);
    s->native = false;
    s->heap.held_count = held;
    it[1] = sl_word((int64_t)iter.i);
    return v;
}

/* --- containers ------------------------------------------------------------------- */

static bool unpack_count(struct star *s, bool many, int64_t got, uint32_t want)
{
    sl_fail(s, "too %s values to unpack (got %lld, want %u)",
            many ? "many" : "few", (long long)got, want);
    return false;
}

/* Unpacks into `count` registers. Items of lists and tuples exist already; an
 * iterator may allocate and so collect garbage, so `v` is held, because its
 * register may be among the targets. */
bool sl_vm_unpack(struct star *s, value v, value *to, uint32_t count)
{
    const value *items = NULL;
    uint32_t length = 0, i = 0;

    if (!sl_charge(s, count / 32))
        return false;
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

value sl_vm_unpack_tuple(struct star *s, value v, uint32_t count)
{
    value tuple = sl_tuple_new(s, count);

    return tuple && sl_vm_unpack(s, v, sl_tuple(tuple)->items, count) ? tuple
                                                                      : 0;
}

value sl_vm_list_of(struct star *s, const value *items, uint32_t count)
{
    value list = sl_list_new(s, count);

    if (!list)
        return 0;
    if (count)
        memcpy(sl_list(list)->items, items, count * sizeof *items);
    sl_list(list)->count = count;
    return list;
}

bool sl_vm_list_extend(struct star *s, value list, const value *items,
                       uint32_t count)
{
    struct sl_list *l = sl_list(list);

    if (!sl_list_reserve(s, list, (size_t)l->count + count))
        return false;
    memcpy(l->items + l->count, items, count * sizeof *items);
    l->count += count;
    return true;
}

value sl_vm_tuple_of(struct star *s, const value *items, uint32_t count)
{
    struct sl_tuple *t;
    size_t size = sizeof *t + count * sizeof *items;

    if (!count)
        return s->empty_tuple;
    if (!(t = sl_alloc_part(s, T_TUPLE, size, sizeof *t)))
        return 0;
    t->count = count;
    for (uint32_t i = 0; i < count; i++)
        t->items[i] = items[i];
    return sl_value(t);
}

bool sl_vm_dict_put(struct star *s, value dict, value key, value v)
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

bool sl_vm_set_attr(struct star *s, value object, value name)
{
    sl_fail(s, "can't assign to .%.*s field of %s",
            (int)sl_string(name)->length, sl_string(name)->p,
            sl_type_name(object));
    if (sl_is(object, T_DICT))
        sl_hint(s, "write d[\"%.*s\"] = value", SL_SHOWN(name));
    sl_hint_none(s, object);
    return false;
}

value sl_vm_index_of(struct star *s, value object, value key)
{
    if (sl_is(object, T_DICT)) {
        value found = 0;
        if (sl_is(key, T_STRING)) {
            struct sl_entry *e = sl_table_find_string(s, object, key);
            found = e ? e->value : 0;
        } else if (!sl_table_find(s, object, key, &found)) {
            return 0;
        }
        if (found)
            return found;
    }
    size_t held = s->heap.held_count;
    s->native = true;
    value v = sl_index(s, object, key);
    s->native = false;
    s->heap.held_count = held;
    return v;
}

bool sl_vm_set_index(struct star *s, value object, value key, value v)
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

value sl_vm_closure(struct star *s, struct sl_frame *f, struct sl_code *code,
                    const value *defaults)
{
    size_t slots = (size_t)code->default_count + code->capture_count;
    struct sl_function *fn =
        sl_alloc(s, T_FUNCTION, sizeof *fn + slots * sizeof(value));

    if (!fn || !sl_charge(s, slots / 32))
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

value sl_vm_cell(struct star *s, value v)
{
    struct sl_cell *c = sl_alloc(s, T_CELL, sizeof *c);

    if (!c)
        return 0;
    c->v = v;
    return sl_value(c);
}

/* --- modules ---------------------------------------------------------------------- */

value sl_vm_load(struct star *s, value name)
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

/* Returns the name of the module that was loaded into `reg` before `pc`. */
value sl_vm_loaded_name(const struct sl_code *code, const uint64_t *pc,
                        uint32_t reg)
{
    while (pc-- > code->instructions)
        if (sl_op(*pc) == I_LOAD && sl_a(*pc) == reg)
            return code->constants[sl_c(*pc)];
    return code->name;
}

#define LOOKED_AT_MAX                                                          \
    64 /* maximum number of module names compared for a
                          * suggestion */

value sl_vm_not_in_module(struct star *s, const struct sl_globals *g,
                          value name, value module)
{
    const struct sl_string *n = sl_string(name), *m = sl_string(module);
    struct sl_spelling sp;
    char hint[100] = "";

    sl_spell_begin(&sp, n->p, n->length);
    for (uint32_t i = 0; i < g->count && i < LOOKED_AT_MAX; i++) {
        const struct sl_string *t = sl_string(g->names[i]);
        if (t->length && t->p[0] != '_')
            sl_spell_try(&sp, t->p, t->length);
    }
    if (sp.best)
        snprintf(hint, sizeof hint, " (did you mean %.*s?)",
                 (int)sp.best_length, sp.best);
    return sl_fail(s, "load: name %.*s not found in module %.*s%s",
                   (int)n->length, n->p, (int)m->length, m->p, hint);
}

value sl_vm_load_name(value module, value name)
{
    const struct sl_globals *g = (struct sl_globals *)sl_object(module);

    for (uint32_t i = 0; i < g->count; i++)
        if (sl_text_equal(g->names[i], name))
            return g->slots[i];
    return 0;
}

/* --- calls of C ---------------------------------------------------------------------- */

value sl_vm_call_attribute(struct star *s, value object, value name,
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

bool sl_vm_has_attribute(struct star *s, value v, value name)
{
    size_t held = s->heap.held_count;

    if (sl_is(v, T_OBJECT) && sl_host_member(v, name))
        return true; /* do not compute an attribute twice */
    s->native = true;
    value found = sl_attr(s, v, name);
    s->native = false;
    s->heap.held_count = held;
    return found != 0;
}

/* --- calls of programs ----------------------------------------------------------------- */

struct sl_frame *sl_vm_bind(struct star *s, value *at, uint32_t count)
{
    size_t held = s->heap.held_count;

    s->native = true;
    struct sl_frame *f =
        sl_bind(s, sl_function(*at), at + 1, at + 1, count, NULL, 0, NULL);
    s->native = false;
    s->heap.held_count = held;
    return f;
}

struct sl_frame *sl_vm_call_site(struct star *s, value *at,
                                 struct sl_site *site,
                                 const struct sl_code *code, value *result)
{
    size_t held = s->heap.held_count;
    uint32_t count = site->positional, named = site->named;
    value *args = at + 1, *window = args + count + named;
    const value *names = named ? code->constants + site->names : NULL;
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
