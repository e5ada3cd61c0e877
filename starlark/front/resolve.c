#include "parse.h"
#include "scope.h"

/* Arguments of "%.*s" for a name in a message. */
#define SHOWN(name)                                                            \
    (int)(sl_string(name)->length > 80 ? 80 : sl_string(name)->length),        \
        sl_string(name)->p

/* --- what a block assigns to -------------------------------------------------------------- */

/* `n` is an N_NAME that is assigned to. */
static void declare(struct sl_resolver *r, const struct sl_node *n, bool load)
{
    struct sl_variable_info *v = sl_declared(r, n->v);
    bool in_file = !r->walk->outer && r->scope == &r->walk->scope;
    bool interactive = r->s->options.interactive;

    if (!v) {
        sl_declare(r, n->v, n->pos,
                   in_file && (!load || interactive) ? VARIABLE_GLOBAL
                                                     : VARIABLE_LOCAL);
        return;
    }
    if (!in_file || interactive || r->broken)
        return;
    if (load)
        sl_static_error(r->s, n->pos, HINT_ONCE,
                        "cannot reassign top-level %.*s", SHOWN(n->v));
    else
        sl_static_error(r->s, n->pos, HINT_ONCE,
                        "cannot reassign %s %.*s declared at %s:%u:%u",
                        v->kind == VARIABLE_GLOBAL ? "global" : "local",
                        SHOWN(n->v), r->file->source.file, v->pos.line,
                        v->pos.column);
}

static void declare_target(struct sl_resolver *r, const struct sl_node *n)
{
    if (n->kind == N_NAME)
        declare(r, n, false);
    else if (n->kind == N_TUPLE || n->kind == N_LIST)
        for (n = n->a; n; n = n->next)
            declare_target(r, n);
}

static void declare_load(struct sl_resolver *r, const struct sl_node *n)
{
    for (const struct sl_node *x = n->a; x; x = x->next) {
        const struct sl_string *from = sl_string(x->b->v);
        if (from->length == 0) {
            sl_static_error(r->s, x->b->pos, NULL, "load: empty identifier");
            continue;
        }
        if (from->p[0] == '_')
            sl_static_error(r->s, x->b->pos, NULL,
                            "load: names with leading underscores are not "
                            "exported: %.*s",
                            SHOWN(x->b->v));
        declare(r, x->a, true);
    }
}

/* An elif chain may be as long as the source, so it is walked in a loop. */
static bool is_elif(const struct sl_node *n)
{
    return n && n->kind == N_IF && !n->next;
}

/* Declares the names that the statements bind in their function or in the
 * file. */
static void declare_block(struct sl_resolver *r, const struct sl_node *n)
{
    bool broken = r->broken;

    for (; n && !r->failed; n = n->next) {
        const struct sl_node *branch = n;
        /* A statement that is itself an error at the top level is not reported
         * further. */
        r->broken = broken || n->kind == N_FOR || n->kind == N_IF;
        switch (n->kind) {
        case N_ASSIGN:
        case N_AUGMENT:
            declare_target(r, n->a);
            break;
        case N_DEF:
            if (n->c)
                declare(r, n->c, false);
            break;
        case N_FOR:
            if (n->a)
                declare_target(r, n->a);
            declare_block(r, n->c);
            break;
        case N_IF:
            for (; is_elif(branch->c); branch = branch->c)
                declare_block(r, branch->b);
            declare_block(r, branch->b);
            declare_block(r, branch->c);
            break;
        case N_LOAD:
            declare_load(r, n);
            break;
        default:
            break;
        }
    }
    r->broken = broken;
}

/* --- expressions ---------------------------------------------------------------------- */

static void resolve_expr(struct sl_resolver *r, struct sl_node *n);
static void resolve_block(struct sl_resolver *r, struct sl_node *n);

static void refuse_target(struct sl_resolver *r, const struct sl_node *n)
{
    static const struct {
        const char *name, *hint;
    } rows[] = {
        [N_LITERAL] = {"literal", NULL},
        [N_DICT] = {"dictexpr", NULL},
        [N_COMPREHENSION] = {"comprehension", NULL},
        [N_UNARY] = {"unaryexpr", NULL},
        [N_BINARY] = {"binaryexpr", HINT_COMPARE},
        [N_AND] = {"binaryexpr", HINT_COMPARE},
        [N_OR] = {"binaryexpr", HINT_COMPARE},
        [N_COND] = {"condexpr", NULL},
        [N_LAMBDA] = {"lambdaexpr", NULL},
        [N_CALL] = {"callexpr", HINT_COMPARE},
        [N_SLICE] = {"sliceexpr", HINT_SLICE},
    };

    if (n->kind >= sizeof rows / sizeof *rows || !rows[n->kind].name)
        return;
    sl_static_error(r->s, sl_node_start(n), rows[n->kind].hint,
                    "can't assign to %s", rows[n->kind].name);
}

static void resolve_target(struct sl_resolver *r, struct sl_node *n,
                           bool augmented)
{
    switch (n->kind) {
    case N_NAME:
        sl_resolve_write(r, n);
        break;
    case N_INDEX:
    case N_DOT:
        resolve_expr(r, n->a);
        resolve_expr(r, n->b);
        break;
    case N_TUPLE:
    case N_LIST:
        if (augmented)
            sl_static_error(
                r->s, n->kind == N_TUPLE && n->a ? sl_node_start(n->a) : n->pos,
                NULL, "can't use %s expression in augmented assignment",
                n->kind == N_TUPLE ? "tuple" : "list");
        for (n = n->a; n && !r->failed; n = n->next)
            resolve_target(r, n, augmented);
        break;
    default:
        refuse_target(r, n);
    }
}

static void begin_repeat(struct sl_resolver *r)
{
    struct sl_walk *w = r->walk;

    if (w->repeats++ == 0)
        w->loop_began = ++w->count;
}

static void resolve_comprehension(struct sl_resolver *r, struct sl_node *n)
{
    struct sl_block_scope scope;
    size_t set = r->set.count;

    /* The first iterable is evaluated outside: [x for x in x]. */
    resolve_expr(r, n->b->b);
    sl_scope_enter(r, &scope);
    begin_repeat(r);
    for (struct sl_node *c = n->b; c; c = c->next)
        if (c->kind == N_CLAUSE_FOR)
            declare_target(r, c->a);
    for (struct sl_node *c = n->b; c && !r->failed; c = c->next) {
        if (c->kind == N_CLAUSE_IF) {
            resolve_expr(r, c->a);
            continue;
        }
        if (c != n->b)
            resolve_expr(r, c->b);
        resolve_target(r, c->a, false);
    }
    resolve_expr(r, n->a);
    r->walk->repeats--;
    sl_unset(r, set);
    sl_scope_leave(r);
}

static void resolve_list(struct sl_resolver *r, struct sl_node *n)
{
    for (; n && !r->failed; n = n->next)
        resolve_expr(r, n);
}

static void resolve_args(struct sl_resolver *r, struct sl_node *args)
{
    r->calls++;
    for (struct sl_node *x = args; x; x = x->next) {
        if (x->kind != N_ARG_NAMED)
            continue;
        struct sl_name *name = sl_scope_name(r, x->v);
        if (name->call == r->calls)
            sl_static_error(r->s, x->pos, NULL,
                            "keyword argument \"%.*s\" is repeated",
                            SHOWN(x->v));
        name->call = r->calls;
    }
    resolve_list(r, args);
}

static void declare_param(struct sl_resolver *r, struct sl_node *n)
{
    if (sl_declared(r, n->v)) {
        sl_static_error(r->s, n->c ? n->c->pos : n->pos, NULL,
                        "duplicate parameter: %.*s", SHOWN(n->v));
        return;
    }
    struct sl_variable_info *v = sl_declare(r, n->v, n->pos, VARIABLE_LOCAL);
    v->param = n;
    sl_mark_set(r, v);
}

/* Declares the parameters in the order of registers: *args and **kwargs come
 * last. */
static void declare_params(struct sl_resolver *r, struct sl_node *params)
{
    struct sl_function_info *info = r->walk->info;
    struct sl_node *star = NULL, *starstar = NULL;

    for (struct sl_node *n = params; n; n = n->next) {
        if (n->kind == N_PARAM_STARSTAR) {
            starstar = n;
        } else if (n->kind == N_PARAM_STAR) {
            star = n;
        } else {
            declare_param(r, n);
            info->param_count++;
            info->keyword_only_count += star != NULL;
        }
    }
    info->has_star = star && star->v;
    if (info->has_star)
        declare_param(r, star);
    info->has_starstar = starstar;
    if (starstar)
        declare_param(r, starstar);
}

/* Resolves a def or a lambda, whose `b` is a block or an expression. */
static void resolve_function(struct sl_resolver *r, struct sl_node *n)
{
    size_t set = r->set.count;
    struct sl_walk walk;

    for (struct sl_node *p = n->a; p && !r->failed; p = p->next)
        if (p->kind == N_PARAM && p->a)
            resolve_expr(r, p->a);
    bool lambda = n->kind == N_LAMBDA;
    n->fn = sl_scope_alloc(r, sizeof *n->fn);
    if (r->failed)
        return;
    n->fn->pos = n->pos;
    n->fn->name = lambda ? sl_intern(r->s, "lambda", 6) : n->v;
    r->failed = lambda && !n->fn->name;
    sl_walk_enter(r, &walk, n->fn);
    declare_params(r, n->a);
    if (lambda) {
        resolve_expr(r, n->b);
    } else {
        declare_block(r, n->b);
        resolve_block(r, n->b);
    }
    sl_unset(r, set);
    sl_walk_leave(r);
}

static void resolve_expr(struct sl_resolver *r, struct sl_node *n)
{
    /* Descend on the left in a loop: the chain may be as long as the source. */
    while (n && !r->failed) {
        switch (n->kind) {
        case N_NAME:
            sl_resolve_read(r, n);
            return;
        case N_LIST:
        case N_TUPLE:
        case N_DICT:
            resolve_list(r, n->a);
            return;
        case N_COMPREHENSION:
            resolve_comprehension(r, n);
            return;
        case N_LAMBDA:
            resolve_function(r, n);
            return;
        case N_COND:
            resolve_expr(r, n->a);
            resolve_expr(r, n->b);
            n = n->c;
            break;
        case N_CALL:
            resolve_args(r, n->b);
            n = n->a;
            break;
        case N_SLICE:
            resolve_expr(r, n->b);
            resolve_expr(r, n->c);
            resolve_expr(r, n->d);
            n = n->a;
            break;
        default:
            resolve_expr(r, n->b);
            n = n->a;
        }
    }
}

/* --- statements ------------------------------------------------------------------------- */

/* Reports that `n` is not allowed outside of functions. */
static void refuse_toplevel(struct sl_resolver *r, const struct sl_node *n,
                            const char *hint, const char *text)
{
    if (!r->walk->outer && !r->s->options.interactive && !r->broken)
        sl_static_error(r->s, n->pos, hint, "%s not within a function", text);
    r->broken = true;
}

/* Keeps pending, from `first` on, the variables that all branches so far
 * set. */
static void join_branch(struct sl_resolver *r, size_t set, size_t first,
                        bool *any)
{
    if (!r->walk->dead) {
        size_t kept = first;
        if (!*any)
            for (size_t i = set; i < r->set.count; i++)
                sl_variables_add(r, &r->pending, r->set.p[i]);
        for (size_t i = first; i < r->pending.count; i++)
            if (r->pending.p[i]->is_set)
                r->pending.p[kept++] = r->pending.p[i];
        r->pending.count = kept;
        *any = true;
    }
    sl_unset(r, set);
}

static void resolve_if(struct sl_resolver *r, struct sl_node *n)
{
    size_t set = r->set.count, first = r->pending.count;
    bool dead = r->walk->dead, any = false;

    refuse_toplevel(r, n, HINT_TOP_IF, "if statement");
    r->walk->branches++;
    for (;; n = n->c) {
        resolve_expr(r, n->a);
        resolve_block(r, n->b);
        join_branch(r, set, first, &any);
        r->walk->dead = dead;
        if (!is_elif(n->c) || r->failed)
            break;
    }
    resolve_block(r, n->c);
    join_branch(r, set, first, &any);
    r->walk->branches--;
    r->walk->dead = dead || !any;
    for (size_t i = first; i < r->pending.count; i++)
        sl_mark_set(r, r->pending.p[i]);
    r->pending.count = first;
}

static void resolve_for(struct sl_resolver *r, struct sl_node *n)
{
    bool dead = r->walk->dead;

    if (n->a)
        refuse_toplevel(r, n, HINT_TOP_FOR, "for loop");
    r->broken = true;
    resolve_expr(r, n->b);
    size_t set = r->set.count;
    begin_repeat(r);
    r->walk->loops++;
    if (n->a)
        resolve_target(r, n->a, false);
    resolve_block(r, n->c);
    r->walk->loops--;
    r->walk->repeats--;
    r->walk->dead = dead;
    sl_unset(r, set);
}

static void resolve_load(struct sl_resolver *r, struct sl_node *n)
{
    const char *refusal = r->s->options.load_refusal;

    if (r->walk->outer)
        refusal = "load statement within a function";
    else if (r->walk->loops > 0)
        refusal = "load statement within a loop";
    else if (r->walk->branches > 0)
        refusal = "load statement within a conditional";
    else if (r->s->options.load)
        refusal = NULL;
    else if (!refusal)
        refusal = "load is not available";
    if (refusal)
        sl_static_error(r->s, n->pos, NULL, "%s", refusal);
    for (struct sl_node *x = n->a; x && !r->failed; x = x->next)
        if (sl_string(x->b->v)->length > 0)
            sl_resolve_write(r, x->a);
}

/* x op= y also reads x, so its value is checked before the assignment. */
static void resolve_augment(struct sl_resolver *r, struct sl_node *n)
{
    resolve_expr(r, n->b);
    if (n->a->kind == N_NAME) {
        struct sl_variable_info *v = sl_scope_name(r, n->a->v)->means;
        if (v && v->is_set)
            n->a->flags |= NODE_SURELY_SET;
        else if (v)
            v->maybe_unset = true;
    }
    resolve_target(r, n->a, true);
}

static void resolve_statement(struct sl_resolver *r, struct sl_node *n)
{
    switch (n->kind) {
    case N_EXPR:
        resolve_expr(r, n->a);
        break;
    case N_ASSIGN:
        resolve_expr(r, n->b);
        resolve_target(r, n->a, false);
        break;
    case N_AUGMENT:
        resolve_augment(r, n);
        break;
    case N_DEF:
        resolve_function(r, n);
        if (n->c)
            sl_resolve_write(r, n->c);
        break;
    case N_IF:
        resolve_if(r, n);
        break;
    case N_FOR:
        resolve_for(r, n);
        break;
    case N_RETURN:
        if (!r->walk->outer)
            sl_static_error(r->s, n->pos, HINT_TOP_RETURN,
                            "return statement not within a function");
        resolve_expr(r, n->a);
        r->walk->dead = true;
        break;
    case N_BREAK:
    case N_CONTINUE:
        if (r->walk->loops == 0)
            sl_static_error(r->s, n->pos, NULL, "%s not in a loop",
                            n->kind == N_BREAK ? "break" : "continue");
        r->walk->dead = true;
        break;
    case N_LOAD:
        resolve_load(r, n);
        break;
    default:
        break;
    }
}

static void resolve_block(struct sl_resolver *r, struct sl_node *n)
{
    bool broken = r->broken;

    for (; n && !r->failed; n = n->next) {
        if (!sl_charge(r->s, 1))
            r->failed = true;
        resolve_statement(r, n);
        r->broken = broken;
    }
}

bool sl_resolve(struct star *s, struct sl_arena *a, struct sl_file *file)
{
    struct sl_resolver r = {
        .s = s, .arena = a, .file = file, .universe = sl_universe(s)};
    struct sl_walk walk;

    if (!r.universe || !sl_scope_grow(&r))
        return false;
    for (struct sl_unsure *u = file->unsure; u; u = u->next)
        sl_scope_name(&r, u->name)->unsure = true;
    sl_walk_enter(&r, &walk, &file->fn);
    for (uint32_t i = 0; i < file->global_count; i++)
        sl_declare(&r, file->globals[i], (struct sl_pos){1, 1},
                   VARIABLE_GLOBAL);
    declare_block(&r, file->body);
    resolve_block(&r, file->body);
    if (!r.failed)
        sl_walk_leave(&r);
    value *names = sl_scope_alloc(&r, (r.globals.count + 1) * sizeof *names);
    if (r.failed)
        return false;
    for (size_t i = 0; i < r.globals.count; i++)
        names[i] = r.globals.p[i]->name->name;
    file->globals = names;
    file->global_count = (uint32_t)r.globals.count;
    return !sl_has_static_errors(s);
}
