#include "scope.h"

#include "parse.h"

#define SEARCHES_MAX                                                           \
    32 /* maximum number of spelling searches; each compares
                         * all names */
#define NAMES_FIRST 256

void *sl_scope_alloc(struct sl_resolver *r, size_t size)
{
    void *p = sl_arena_alloc(r->s, r->arena, size);

    if (p)
        memset(p, 0, size);
    else
        r->failed = true;
    return p;
}

void sl_variables_add(struct sl_resolver *r, struct sl_variables *list,
                      struct sl_variable_info *v)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        struct sl_variable_info **p = sl_scope_alloc(r, capacity * sizeof *p);
        if (!p)
            return;
        if (list->count)
            memcpy(p, list->p, list->count * sizeof *p);
        list->p = p;
        list->capacity = capacity;
    }
    list->p[list->count++] = v;
}

/* --- names ------------------------------------------------------------------------- */

static struct sl_name **name_place(const struct sl_resolver *r, value name)
{
    uint32_t i = (uint32_t)((name >> 3) * 0x9e3779b97f4a7c15u >> 32);

    while (r->names[i &= r->name_mask] && r->names[i]->name != name)
        i++;
    return &r->names[i];
}

bool sl_scope_grow(struct sl_resolver *r)
{
    struct sl_name **old = r->names;
    uint32_t old_size = old ? r->name_mask + 1 : 0;
    uint32_t size = old ? 2 * old_size : NAMES_FIRST;
    struct sl_name **names = sl_scope_alloc(r, size * sizeof *names);

    if (!names)
        return false;
    r->names = names;
    r->name_mask = size - 1;
    for (uint32_t i = 0; i < old_size; i++)
        if (old[i])
            *name_place(r, old[i]->name) = old[i];
    return true;
}

struct sl_name *sl_scope_name(struct sl_resolver *r, value name)
{
    struct sl_name **place = name_place(r, name), *n = *place;

    if (n)
        return n;
    n = sl_scope_alloc(r, sizeof *n);
    if (!n)
        return &r->spare_name;
    n->name = name;
    *place = n;
    if (++r->name_count > r->name_mask / 2)
        sl_scope_grow(r);
    return n;
}

/* --- scopes ------------------------------------------------------------------------- */

void sl_scope_enter(struct sl_resolver *r, struct sl_block_scope *scope)
{
    *scope = (struct sl_block_scope){.outer = r->scope};
    r->scope = scope;
}

void sl_scope_leave(struct sl_resolver *r)
{
    for (struct sl_variable_info *v = r->scope->variables; v; v = v->next)
        v->name->means = v->shadowed;
    r->scope = r->scope->outer;
}

void sl_walk_enter(struct sl_resolver *r, struct sl_walk *walk,
                   struct sl_function_info *info)
{
    *walk = (struct sl_walk){.outer = r->walk, .info = info};
    walk->locals_end = &walk->locals;
    walk->captures_end = &walk->captures;
    r->walk = walk;
    sl_scope_enter(r, &walk->scope);
}

/* Makes a variable the current meaning of its name. */
static struct sl_variable_info *put(struct sl_resolver *r, struct sl_walk *w,
                                    struct sl_block_scope *scope,
                                    struct sl_name *name,
                                    enum sl_variable_kind kind)
{
    struct sl_variable_info *v = sl_scope_alloc(r, sizeof *v);
    bool spare = !v;

    if (spare) {
        v = &r->spare_variable;
        memset(v, 0, sizeof *v);
    }
    v->name = name;
    v->origin = v;
    v->walk = w;
    v->fn = w->info;
    if (spare)
        return v;
    v->kind = (uint8_t)kind;
    v->scope = scope;
    v->shadowed = name->means;
    name->means = v;
    v->next = scope->variables;
    scope->variables = v;
    return v;
}

struct sl_variable_info *sl_declared(struct sl_resolver *r, value name)
{
    struct sl_variable_info *v = sl_scope_name(r, name)->means;

    return v && v->scope == r->scope && v->kind != VARIABLE_FREE ? v : NULL;
}

struct sl_variable_info *sl_declare(struct sl_resolver *r, value name,
                                    struct sl_pos pos,
                                    enum sl_variable_kind kind)
{
    struct sl_walk *w = r->walk;
    struct sl_variable_info *v =
        put(r, w, r->scope, sl_scope_name(r, name), kind);

    v->pos = pos;
    if (kind == VARIABLE_GLOBAL) {
        v->index = (uint32_t)r->globals.count;
        sl_variables_add(r, &r->globals, v);
    } else {
        v->index = w->info->local_count++;
        *w->locals_end = v;
        w->locals_end = &v->next_in;
    }
    return v;
}

/* Records a closure created about here by a function nested in `v`'s
 * function. */
static void note_closure(struct sl_variable_info *v)
{
    struct sl_walk *w = v->walk;
    uint32_t number = w->repeats ? w->loop_began : ++w->count;

    if (!v->closed || number < v->closed)
        v->closed = number;
    if (!v->is_set)
        v->needs_cell = v->maybe_unset = true;
}

/* Returns the stand-in for `v`, a variable of an outer function, in the
 * function of `w`. */
static struct sl_variable_info *
capture(struct sl_resolver *r, struct sl_walk *w, struct sl_variable_info *v)
{
    struct sl_variable_info *from = v;

    if (w->outer != v->walk)
        from = capture(r, w->outer, v);
    else if (v->kind == VARIABLE_LOCAL)
        note_closure(v);

    struct sl_variable_info *in = put(r, w, &w->scope, v->name, VARIABLE_FREE);
    in->origin = v->origin;
    in->from = from;
    in->index = w->info->capture_count++;
    in->stands = v->origin->stands;
    v->origin->stands = in;
    *w->captures_end = in;
    w->captures_end = &in->next_in;
    return in;
}

/* --- undefined names ---------------------------------------------------------------- */

static void refuse_undefined(struct sl_resolver *r, struct sl_name *name,
                             struct sl_pos pos)
{
    const struct sl_string *text = sl_string(name->name), *other;
    bool search = r->searches++ < SEARCHES_MAX;
    struct sl_entry *e;
    struct sl_spelling sp;

    sl_spell_begin(&sp, text->p, text->length);
    for (uint32_t i = 0; search && i <= r->name_mask; i++) {
        if (i % 16 == 0 && !sl_charge(r->s, 16)) {
            r->failed = true;
            return;
        }
        if (r->names[i] && r->names[i]->means) {
            other = sl_string(r->names[i]->name);
            sl_owe(r->s, 4);
            sl_spell_try(&sp, other->p, other->length);
        }
    }
    if (sp.best)
        sl_static_error(r->s, pos, NULL, "undefined: %.*s (did you mean %.*s?)",
                        (int)text->length, text->p, (int)sp.best_length,
                        sp.best);
    else
        sl_static_error(r->s, pos, NULL, "undefined: %.*s", (int)text->length,
                        text->p);
    if (name->hinted)
        return;
    name->hinted = true;
    const char *hint = sl_name_hint(text->p, text->length);
    if (hint)
        sl_static_hint(r->s, "%s", hint);
    if (hint || sp.best || !search)
        return;
    for (uint32_t i = 0; (e = sl_table_next(r->universe, &i)); i++)
        sl_spell_try(&sp, sl_string(e->key)->p, sl_string(e->key)->length);
    if (sp.best)
        sl_static_hint(r->s, "did you mean %.*s?", (int)sp.best_length,
                       sp.best);
}

/* --- uses ----------------------------------------------------------------------------- */

static void bind_node(struct sl_node *n, struct sl_variable_info *v)
{
    n->scope = v->kind == VARIABLE_LOCAL    ? SCOPE_LOCAL
               : v->kind == VARIABLE_GLOBAL ? SCOPE_GLOBAL
                                            : SCOPE_FREE;
    n->index = v->index;
    if (v->kind == VARIABLE_GLOBAL)
        return;
    n->a = v->origin->uses;
    v->origin->uses = n;
}

void sl_resolve_read(struct sl_resolver *r, struct sl_node *n)
{
    struct sl_name *name = sl_scope_name(r, n->v);
    struct sl_variable_info *v = name->means;

    if (!(++r->uses & 15) && !sl_charge(r->s, 1))
        r->failed = true;
    if (v) {
        if (v->walk != r->walk && v->kind != VARIABLE_GLOBAL)
            v = capture(r, r->walk, v);
        if (v->kind == VARIABLE_FREE || v->is_set)
            n->flags |= NODE_SURELY_SET;
        else
            v->maybe_unset = true;
        bind_node(n, v);
        return;
    }
    if (!name->looked_up)
        name->predeclared = sl_table_get_text(
            r->s, r->universe, sl_string(n->v)->p, sl_string(n->v)->length);
    name->looked_up = true;
    if (name->predeclared) {
        n->scope = SCOPE_PREDECLARED;
        n->bound = name->predeclared;
    } else if (!name->unsure) {
        refuse_undefined(r, name, n->pos);
    }
}

void sl_resolve_write(struct sl_resolver *r, struct sl_node *n)
{
    struct sl_variable_info *v = sl_scope_name(r, n->v)->means;

    if (!v)
        return; /* out of memory */
    v->assigned = ++v->walk->count;
    sl_mark_set(r, v);
    bind_node(n, v);
}

void sl_mark_set(struct sl_resolver *r, struct sl_variable_info *v)
{
    if (v->is_set)
        return;
    v->is_set = true;
    sl_variables_add(r, &r->set, v);
}

void sl_unset(struct sl_resolver *r, size_t count)
{
    while (r->set.count > count)
        r->set.p[--r->set.count]->is_set = false;
}

/* --- where variables live ---------------------------------------------------------------- */

/* Assigns a storage location to all reads and writes of the variable, here and
 * in nested functions. */
static void place(struct sl_variable_info *v)
{
    bool cell = v->stands && (v->needs_cell || v->assigned > v->closed);
    struct sl_node *next;

    for (struct sl_node *n = v->uses; n; n = next) {
        next = n->a;
        n->a = NULL;
        if (cell && n->scope == SCOPE_LOCAL) {
            n->scope = SCOPE_CELL;
        } else if (cell) {
            n->scope = SCOPE_FREE_CELL;
            n->flags &= (uint8_t)~NODE_SURELY_SET;
        }
    }
    for (struct sl_variable_info *in = v->stands; in; in = in->stands)
        in->fn->captures[in->index].is_cell = cell;
    if (v->param) {
        v->param->scope = cell ? SCOPE_CELL : SCOPE_LOCAL;
        v->param->index = v->index;
    }
    v->fn->locals[v->index] = (struct sl_variable){
        .name = v->name->name,
        .pos = v->pos,
        .is_cell = cell,
        .maybe_unset = v->maybe_unset,
    };
}

void sl_walk_leave(struct sl_resolver *r)
{
    struct sl_walk *w = r->walk;
    struct sl_function_info *info = w->info;

    info->captures =
        sl_scope_alloc(r, (info->capture_count + 1) * sizeof *info->captures);
    info->locals =
        sl_scope_alloc(r, (info->local_count + 1) * sizeof *info->locals);
    if (!r->failed) {
        for (struct sl_variable_info *v = w->captures; v; v = v->next_in)
            info->captures[v->index] = (struct sl_capture){
                .from_free = v->from->kind == VARIABLE_FREE,
                .index = v->from->index,
                .name = v->name->name,
            };
        for (struct sl_variable_info *v = w->locals; v; v = v->next_in)
            place(v);
    }
    sl_scope_leave(r);
    r->walk = w->outer;
}
