#include "front/ast.h"
#include "vm/vm.h"

/*
 * Host functions for programs: compile, run, read globals, call. Each begins
 * with sl_host_enter; the outermost one starts the clock and clears an error
 * that the host has already seen.
 */

struct host {
    struct sl_scope scope;
};

static bool enter(struct star *s, struct host *h)
{
    sl_host_enter(s);
    sl_error_clear(s);
    h->scope = sl_native_enter(s);
    return sl_poll(s);
}

/* Leaves the native scope, and roots the result for the host (see starlark.h). */
static value leave(struct star *s, struct host *h, value result)
{
    sl_native_leave(s, h->scope);
    if (result && sl_is_object(result) && !sl_hold(s, result))
        result = 0;
    sl_host_leave(s);
    return result;
}

/* --- programs -------------------------------------------------------------------- */

static void program_free(struct star *s, struct star_program *p)
{
    sl_storage_free(s, p->globals, p->global_count * sizeof *p->globals);
    if (p->source.file) /* one allocation for name and text */
        sl_storage_free(s, (void *)(uintptr_t)p->source.file,
                        strlen(p->source.file) + 1 + p->source.length);
    sl_storage_free(s, p, sizeof *p);
}

static struct star_program *program_new(struct star *s, const char *file,
                                        const char *source, size_t length)
{
    size_t name = strlen(file) + 1;
    struct star_program *p = sl_storage(s, sizeof *p);
    char *text = p ? sl_storage(s, name + length) : NULL;

    if (!p)
        return NULL;
    *p = (struct star_program){.source.file = NULL};
    if (!text) {
        program_free(s, p);
        return NULL;
    }
    memcpy(text, file, name);
    if (length)
        memcpy(text + name, source, length);
    p->source =
        (struct sl_source){.file = text, .text = text + name, .length = length};
    return p;
}

static bool copy_globals(struct star *s, struct star_program *p,
                         const struct sl_file *file)
{
    if (!file->global_count)
        return true;
    p->globals = sl_storage(s, file->global_count * sizeof *p->globals);
    if (!p->globals)
        return false;
    memcpy(p->globals, file->globals, file->global_count * sizeof *p->globals);
    p->global_count = file->global_count;
    return true;
}

/* A program of a REPL shares the globals of the earlier ones. */
static bool begin_globals(struct star *s, struct sl_arena *a,
                          struct sl_file *file)
{
    const struct sl_globals *g = s->interactive_globals;

    if (!s->interactive || !g || !g->count)
        return true;
    file->globals = sl_arena_alloc(s, a, g->count * sizeof *g->names);
    if (!file->globals)
        return false;
    memcpy(file->globals, g->names, g->count * sizeof *g->names);
    file->global_count = g->count;
    return true;
}

static bool grow_globals(struct star *s, struct sl_globals *g,
                         const struct star_program *p)
{
    uint32_t capacity = p->global_count;

    if (capacity > g->capacity) {
        value *slots = sl_storage(s, capacity * sizeof *slots);
        value *names = slots ? sl_storage(s, capacity * sizeof *names) : NULL;
        if (!names) {
            sl_storage_free(s, slots, slots ? capacity * sizeof *slots : 0);
            return false;
        }
        if (g->count) {
            memcpy(slots, g->slots, g->count * sizeof *slots);
            memcpy(names, g->names, g->count * sizeof *names);
        }
        sl_storage_free(s, g->slots, g->capacity * sizeof *slots);
        sl_storage_free(s, g->names, g->capacity * sizeof *names);
        g->slots = slots;
        g->names = names;
        g->capacity = capacity;
    }
    for (; g->count < p->global_count; g->count++) {
        g->slots[g->count] = 0;
        g->names[g->count] = p->globals[g->count];
    }
    return true;
}

/* The next program must see the names of this one even if it runs first. */
static bool share_globals(struct star *s, const struct star_program *p)
{
    if (!s->interactive)
        return true;
    if (!s->interactive_globals)
        s->interactive_globals =
            sl_alloc(s, T_GLOBALS, sizeof *s->interactive_globals);
    return s->interactive_globals && grow_globals(s, s->interactive_globals, p);
}

static bool compile(struct star *s, struct sl_arena *a, struct star_program *p)
{
    struct sl_file file = {.source = p->source};

    return begin_globals(s, a, &file) && sl_parse(s, a, &file) &&
           sl_resolve(s, a, &file) && copy_globals(s, p, &file) &&
           (p->top = sl_compile(s, p, &file)) && share_globals(s, p);
}

static struct star_program *compile_source(struct star *s, const char *file,
                                           const char *source, size_t length)
{
    struct sl_arena arena = {.last = NULL};
    struct star_program *p;

    if (length > s->limits.source_bytes) {
        const struct sl_source none = {.file = file, .text = ""};
        sl_static_begin(s, &none);
        sl_static_error(s, (struct sl_pos){1, 1}, NULL,
                        "source of %zu bytes is larger than the limit of %zu",
                        length, s->limits.source_bytes);
        return NULL;
    }
    p = program_new(s, file, source, length);
    if (!p)
        return NULL;
    bool done = compile(s, &arena, p);
    sl_arena_free(s, &arena);
    if (!done) {
        program_free(s, p);
        return NULL;
    }
    p->next = s->programs;
    s->programs = p;
    return p;
}

struct star_program *star_compile(struct star *s, const char *file,
                                  const char *source, size_t length)
{
    struct host h;
    struct star_program *p =
        enter(s, &h) ? compile_source(s, file, source, length) : NULL;

    leave(s, &h, 0);
    return p;
}

void star_program_free(struct star *s, struct star_program *p)
{
    (void)s;
    if (p)
        p->top = NULL;
}

void sl_vm_sweep_programs(struct star *s)
{
    for (struct star_program **at = &s->programs; *at;) {
        struct star_program *p = *at;
        if (p->top || p->used) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        program_free(s, p);
    }
}

/* --- modules ------------------------------------------------------------------------ */

static void module_free(struct star *s, struct star_module *m)
{
    sl_storage_free(s, m->texts, m->texts_size);
    sl_storage_free(s, m, sizeof *m);
}

/* Builds the names as C strings for the host, in one allocation: pointers, then
 * text. */
static bool module_texts(struct star *s, struct star_module *m)
{
    const struct sl_globals *g = m->globals;
    size_t size = (g->count + 1) * sizeof *m->texts;

    if (m->texts && m->text_count == g->count)
        return true;
    for (uint32_t i = 0; i < g->count; i++)
        size += (size_t)sl_string(g->names[i])->length + 1;
    const char **texts = sl_storage(s, size);
    if (!texts)
        return false;
    char *to = (char *)(texts + g->count + 1);
    for (uint32_t i = 0; i < g->count; i++) {
        const struct sl_string *name = sl_string(g->names[i]);
        memcpy(to, name->p, name->length);
        to[name->length] = '\0';
        texts[i] = to;
        to += name->length + 1;
    }
    texts[g->count] = NULL;
    sl_storage_free(s, m->texts, m->texts_size);
    m->texts = texts;
    m->texts_size = size;
    m->text_count = g->count;
    return true;
}

static struct star_module *module_new(struct star *s, struct sl_globals *g)
{
    struct star_module *m = sl_storage(s, sizeof *m);

    if (!m)
        return NULL;
    *m = (struct star_module){.globals = g};
    if (!module_texts(s, m)) {
        module_free(s, m);
        return NULL;
    }
    return m;
}

static bool freeze_globals(struct star *s, const struct sl_globals *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->slots[i] && !star_freeze(s, g->slots[i]))
            return false;
    return true;
}

static struct star_module *run(struct star *s, struct star_program *p)
{
    struct sl_globals *g = sl_alloc(s, T_GLOBALS, sizeof *g);
    struct star_module *m;

    if (!g || !grow_globals(s, g, p) || !sl_run_toplevel(s, p->top, g) ||
        !freeze_globals(s, g) || !(m = module_new(s, g)))
        return NULL;
    g->module = m;
    m->next = s->modules;
    s->modules = m;
    return m;
}

static struct star_module *
run_interactive(struct star *s, struct star_program *p, value *result)
{
    struct sl_globals *g = s->interactive_globals;
    value v;

    if (!g->module) {
        g->module = module_new(s, g);
        if (!g->module)
            return NULL;
        g->module->next = s->modules;
        s->modules = g->module;
    }
    if (!module_texts(s, g->module) || !(v = sl_run_toplevel(s, p->top, g)))
        return NULL;
    *result = v;
    return g->module;
}

struct star_module *star_run_interactive(struct star *s, struct star_program *p,
                                         star_value *result)
{
    struct host h;
    struct star_module *m = NULL;
    value v = V_NONE;

    if (!p) {
        sl_no_value(s);
        return NULL;
    }
    if (!enter(s, &h))
        (void)0;
    else if (!p->top)
        sl_fail(s, "the program was freed");
    else if (s->interactive)
        m = run_interactive(s, p, &v);
    else
        m = run(s, p);
    v = leave(s, &h, v);
    if (result)
        *result = m ? v : STAR_INVALID;
    return m;
}

struct star_module *star_run(struct star *s, struct star_program *p)
{
    return star_run_interactive(s, p, NULL);
}

star_value star_global(const struct star_module *m, const char *name)
{
    for (uint32_t i = 0; m && i < m->text_count; i++)
        if (!strcmp(m->texts[i], name))
            return m->globals->slots[i];
    return STAR_INVALID;
}

const char *star_global_at(const struct star_module *m, size_t i, star_value *v)
{
    if (i >= m->text_count)
        return NULL;
    if (v)
        *v = m->globals->slots[i];
    return m->texts[i];
}

/* --- calls ------------------------------------------------------------------------------ */

/* Puts arguments and names into one tuple, which roots them. */
static value call(struct star *s, value function, const star_value *args,
                  size_t count, const struct star_named *named,
                  size_t named_count)
{
    if (count > UINT32_MAX / 4 || named_count > UINT32_MAX / 4)
        return sl_fail(s, "too many arguments");
    if (!named_count)
        return sl_call(s, function, args, (uint32_t)count);

    value all = sl_tuple_new(s, count + 2 * named_count);
    if (!all)
        return 0;
    value *to = sl_tuple(all)->items;
    if (count)
        memcpy(to, args, count * sizeof *args);
    for (size_t i = 0; i < named_count; i++) {
        value name = sl_string_new(s, named[i].name, strlen(named[i].name));
        if (!name)
            return 0;
        to[count + i] = named[i].value;
        to[count + named_count + i] = name;
    }
    return sl_call_named(s, function, to, (uint32_t)count,
                         to + count + named_count, (uint32_t)named_count);
}

star_value star_call(struct star *s, star_value function,
                     const star_value *args, size_t count,
                     const struct star_named *named, size_t named_count)
{
    struct host h;
    value v = 0;
    bool given = function;

    for (size_t i = 0; i < count; i++)
        given = given && args[i];
    for (size_t i = 0; i < named_count; i++)
        given = given && named[i].value;
    if (!given)
        return sl_no_value(s);
    if (enter(s, &h))
        v = call(s, function, args, count, named, named_count);
    return leave(s, &h, v);
}

/* --- closing ------------------------------------------------------------------------------ */

void sl_vm_close(struct star *s)
{
    while (s->modules) {
        struct star_module *m = s->modules;
        s->modules = m->next;
        module_free(s, m);
    }
    while (s->programs) {
        struct star_program *p = s->programs;
        s->programs = p->next;
        program_free(s, p);
    }
    sl_stack_close(s);
}
