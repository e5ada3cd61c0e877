#include "scope.h"

#include "parse.h"
#include "spell.h"

#define SEARCHES_MAX 32 /* for a name that was meant: each looks at all names */
#define NAMES_FIRST  256

/* --- memory ---------------------------------------------------------------------- */

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

static uint32_t name_slot(const struct sl_resolver *r, value name)
{
    uint64_t h = (name >> 3) * 0x9e3779b97f4a7c15u;
    uint32_t i = (uint32_t)(h >> 32) & r->name_mask;

    while (r->names[i] && r->names[i]->name != name)
        i = (i + 1) & r->name_mask;
    return i;
}

bool sl_scope_open(struct sl_resolver *r)
{
    r->names = sl_scope_alloc(r, NAMES_FIRST * sizeof *r->names);
    r->name_mask = NAMES_FIRST - 1;
    r->universe = sl_universe(r->s);
    return r->names && r->universe;
}

static void grow_names(struct sl_resolver *r)
{
    struct sl_name **old = r->names;
    uint32_t old_size = r->name_mask + 1;
    struct sl_name **names = sl_scope_alloc(r, 2 * old_size * sizeof *r->names);

    if (!names)
        return;
    r->names = names;
    r->name_mask = 2 * old_size - 1;
    for (uint32_t i = 0; i < old_size; i++)
        if (old[i])
            names[name_slot(r, old[i]->name)] = old[i];
}

struct sl_name *sl_scope_name(struct sl_resolver *r, value name)
{
    uint32_t i = name_slot(r, name);

    if (r->names[i])
        return r->names[i];
    struct sl_name *n = sl_scope_alloc(r, sizeof *n);
    if (!n)
        return &r->spare_name;
    n->name = name;
    r->names[i] = n;
    if (++r->name_count > r->name_mask / 2)
        grow_names(r);
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
                   struct sl_function_info *info, struct sl_block_scope *scope)
{
    *walk = (struct sl_walk){.outer = r->walk, .info = info, .scope = scope};
    walk->last = &walk->first;
    walk->captures_end = &walk->captures;
    sl_scope_enter(r, scope);
    r->walk = walk;
}

/* A variable on top of what its name means. */
static struct sl_variable_info *put(struct sl_resolver *r,
                                    struct sl_block_scope *scope,
                                    struct sl_name *name,
                                    enum sl_variable_kind kind)
{
    struct sl_variable_info *v = sl_scope_alloc(r, sizeof *v);

    if (!v) {
        v = &r->spare_variable;
        memset(v, 0, sizeof *v);
        v->name = name;
        v->origin = v;
        v->walk = r->walk;
        return v;
    }
    v->name = name;
    v->kind = (uint8_t)kind;
    v->origin = v;
    v->walk = r->walk;
    v->shadowed = name->means;
    name->means = v;
    v->next = scope->variables;
    scope->variables = v;
    return v;
}

/* Whether the name belongs to the innermost scope already. */
static bool is_of_scope(const struct sl_resolver *r,
                        const struct sl_variable_info *v)
{
    return v && v->scope == r->scope && v->kind != VARIABLE_FREE;
}

struct sl_variable_info *sl_declare(struct sl_resolver *r, value text,
                                    struct sl_pos pos, bool *is_new)
{
    struct sl_name *name = sl_scope_name(r, text);

    *is_new = !is_of_scope(r, name->means);
    if (!*is_new)
        return name->means;
    struct sl_variable_info *v = put(r, r->scope, name, VARIABLE_LOCAL);
    v->scope = r->scope;
    v->pos = pos;
    v->index = r->walk->info->local_count++;
    *r->walk->last = v;
    r->walk->last = &v->next_local;
    return v;
}

struct sl_variable_info *sl_declare_global(struct sl_resolver *r, value text,
                                           struct sl_pos pos)
{
    struct sl_name *name = sl_scope_name(r, text);
    struct sl_variable_info *v = put(r, r->scope, name, VARIABLE_GLOBAL);

    v->scope = r->scope;
    v->pos = pos;
    v->index = (uint32_t)r->globals.count;
    sl_variables_add(r, &r->globals, v);
    return v;
}

/* --- captured variables ------------------------------------------------------------- */

static uint32_t closure_number(struct sl_walk *w)
{
    return w->repeats ? w->loop_began : ++w->count;
}

/* The closure of a function in `v`'s own is made about here. */
static void note_closure(struct sl_variable_info *v)
{
    uint32_t number = closure_number(v->walk);

    if (!v->closed || number < v->closed)
        v->closed = number;
    if (!v->is_set)
        v->needs_cell = v->maybe_unset = true;
}

/* A stand-in for `v`, of an outer function, in the function of `w`. */
static struct sl_variable_info *
capture(struct sl_resolver *r, struct sl_walk *w, struct sl_variable_info *v)
{
    struct sl_variable_info *from = v;

    if (w->outer != v->walk)
        from = capture(r, w->outer, v);
    else if (v->kind == VARIABLE_LOCAL)
        note_closure(v);

    struct sl_capture_list *c = sl_scope_alloc(r, sizeof *c);
    struct sl_captured *back = sl_scope_alloc(r, sizeof *back);
    if (!c || !back)
        return v;
    c->c.from_free = from->kind == VARIABLE_FREE;
    c->c.index = from->index;
    c->c.name = v->name->name;
    *w->captures_end = c;
    w->captures_end = &c->next;
    back->fn = w->info;
    back->index = w->info->capture_count++;
    back->next = v->origin->captured;
    v->origin->captured = back;

    struct sl_variable_info *in = put(r, w->scope, v->name, VARIABLE_FREE);
    in->origin = v->origin;
    in->walk = w;
    in->scope = w->scope;
    in->index = back->index;
    return in;
}

static void bind_node(struct sl_node *n, struct sl_variable_info *v)
{
    static const uint8_t scopes[] = {
        [VARIABLE_LOCAL] = SCOPE_LOCAL,
        [VARIABLE_GLOBAL] = SCOPE_GLOBAL,
        [VARIABLE_FREE] = SCOPE_FREE,
    };

    n->scope = scopes[v->kind];
    n->index = v->index;
    if (v->kind == VARIABLE_GLOBAL)
        return;
    n->a = v->origin->uses;
    v->origin->uses = n;
}

/* --- undefined names ---------------------------------------------------------------- */

static void spell_visible(struct sl_resolver *r, struct sl_spelling *sp)
{
    for (uint32_t i = 0; i <= r->name_mask; i++)
        if (r->names[i] && r->names[i]->means)
            sl_spell_try(sp, sl_string(r->names[i]->name)->p,
                         sl_string(r->names[i]->name)->length);
}

static void spell_predeclared(struct sl_resolver *r, struct sl_spelling *sp)
{
    struct sl_entry *e;

    for (uint32_t i = 0; (e = sl_table_next(r->universe, &i)); i++)
        sl_spell_try(sp, sl_string(e->key)->p, sl_string(e->key)->length);
}

static void refuse_undefined(struct sl_resolver *r, struct sl_name *name,
                             struct sl_pos pos)
{
    const struct sl_string *text = sl_string(name->name);
    const struct sl_source *source = &r->file->source;
    struct sl_spelling sp;
    int length = (int)text->length;

    sl_spell_begin(&sp, text->p, text->length);
    if (r->searches++ < SEARCHES_MAX)
        spell_visible(r, &sp);
    if (sp.best) {
        sl_static_error(r->s, source, pos,
                        "undefined: %.*s (did you mean %.*s?)", length, text->p,
                        (int)sp.best_length, sp.best);
    } else {
        sl_static_error(r->s, source, pos, "undefined: %.*s", length, text->p);
    }
    if (name->hinted)
        return;
    name->hinted = true;
    if (sl_hint_name(r->s, text->p, text->length) || sp.best)
        return;
    if (r->searches <= SEARCHES_MAX)
        spell_predeclared(r, &sp);
    if (sp.best)
        sl_static_hint(r->s, "did you mean %.*s?", (int)sp.best_length,
                       sp.best);
}

/* --- uses ----------------------------------------------------------------------------- */

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
    if (!name->looked_up) {
        name->predeclared = sl_table_get_text(
            r->s, r->universe, sl_string(n->v)->p, sl_string(n->v)->length);
        name->looked_up = true;
    }
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
        return; /* memory ended */
    v->assigned = ++v->walk->count;
    sl_mark_set(r, v);
    bind_node(n, v);
}

/* --- what is surely set ----------------------------------------------------------------- */

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

/* All that reads and writes it, here and in the functions inside. */
static void place(struct sl_variable_info *v)
{
    bool cell = v->captured && (v->needs_cell || v->assigned > v->closed);
    struct sl_node *next;

    for (struct sl_node *n = v->uses; n; n = next) {
        next = n->a;
        n->a = NULL;
        if (!cell)
            continue;
        if (n->scope == SCOPE_LOCAL) {
            n->scope = SCOPE_CELL;
        } else {
            n->scope = SCOPE_FREE_CELL;
            n->flags &= (uint8_t)~NODE_SURELY_SET;
        }
    }
    for (struct sl_captured *c = v->captured; c; c = c->next)
        c->fn->captures[c->index].is_cell = cell;
    if (v->param) {
        v->param->scope = cell ? SCOPE_CELL : SCOPE_LOCAL;
        v->param->index = v->index;
    }
    v->needs_cell = cell;
}

static void list_captures(struct sl_resolver *r, struct sl_walk *w)
{
    struct sl_function_info *info = w->info;
    uint32_t i = 0;

    info->captures =
        sl_scope_alloc(r, (info->capture_count + 1) * sizeof *info->captures);
    if (!info->captures)
        return;
    for (struct sl_capture_list *c = w->captures; c; c = c->next)
        info->captures[i++] = c->c;
}

void sl_walk_leave(struct sl_resolver *r)
{
    struct sl_walk *w = r->walk;
    struct sl_function_info *info = w->info;

    list_captures(r, w);
    info->locals =
        sl_scope_alloc(r, (info->local_count + 1) * sizeof *info->locals);
    if (info->locals && !r->failed) {
        for (struct sl_variable_info *v = w->first; v; v = v->next_local) {
            place(v);
            info->locals[v->index] = (struct sl_variable){
                .name = v->name->name,
                .pos = v->pos,
                .is_cell = v->needs_cell,
                .maybe_unset = v->maybe_unset,
            };
        }
    }
    sl_scope_leave(r);
    r->walk = w->outer;
}
