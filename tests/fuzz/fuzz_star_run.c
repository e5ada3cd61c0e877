/* starlark: any program that compiles runs within its budgets, the same way each
 * time, and leaves the interpreter as it was. Its functions are called, too. */

#include <stdlib.h>

#include "vm/vm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 20000, MEMORY = 4 << 20, OUTPUT = 1 << 16 };

struct outcome {
    char text[OUTPUT + 4096];
    size_t length;
    uint64_t steps;
};

static void add(struct outcome *o, const char *p, size_t n)
{
    if (n > sizeof o->text - o->length)
        n = sizeof o->text - o->length;
    memcpy(o->text + o->length, p, n);
    o->length += n;
}

static bool print(void *ctx, const char *text, size_t length)
{
    add(ctx, text, length);
    return true;
}

static void check_rest(struct star *s)
{
    if (s->frame || s->entries || s->hosted ||
        star_usage(s).memory_peak_bytes > MEMORY ||
        (s->stack && s->stack->prev))
        abort();
    for (const struct star_module *m = s->modules; m; m = m->next)
        for (uint32_t i = 0; i < m->globals->count; i++) {
            value v = m->globals->slots[i];
            /* Frozen, and by no loop locked any more. */
            if (v && sl_is(v, T_LIST) && sl_list(v)->locks != SL_FROZEN)
                abort();
            if (v && sl_is(v, T_FUNCTION) && sl_function(v)->code->active)
                abort();
        }
}

/* Each global function, with what there is. */
static void call_globals(struct star *s, struct star_module *m,
                         struct outcome *o)
{
    value v,
        args[3] = {star_int(s, 7), star_string(s, "seven", 5), star_list(s)};

    if (!args[1] || !args[2])
        return;
    for (size_t i = 0; star_global_at(m, i, &v) && i < 20; i++) {
        if (!v || star_type(v) != STAR_FUNCTION)
            continue;
        for (size_t n = 0; n <= 3; n++) {
            value r = star_call(s, v, args, n, NULL, 0);
            value text = r ? star_repr(s, r) : 0;
            const char *p;
            size_t length;
            if (!r)
                add(o, star_error_message(s), strlen(star_error_message(s)));
            if (text && star_as_text(text, &p, &length))
                add(o, p, length);
            if (sl_list(args[2])->locks)
                abort();
            check_rest(s);
        }
    }
}

/* An object of the host: it reads, fails and calls back. */
static star_value object_kind(struct star *s, void *data)
{
    (void)data;
    return star_string(s, "kind", 4);
}

static star_value object_fail(struct star *s, void *data)
{
    (void)data;
    return star_fail(s, "cannot be read");
}

static star_value object_apply(struct star *s, const struct star_args *args)
{
    star_value v[2];

    if (!star_unpack(s, args, "apply", "function, argument?", v))
        return STAR_INVALID;
    return star_call(s, v[0], &args->self, 1, NULL, 0);
}

static void object_release(void *data)
{
    --*(int *)data;
}

static const struct star_member members[] = {
    {"kind", object_kind, NULL},
    {"fail", object_fail, NULL},
    {"apply", NULL, object_apply},
    {NULL, NULL, NULL},
};
static const struct star_class object_class = {"object", members,
                                               object_release};

static star_value make_object(struct star *s, const struct star_args *args)
{
    int *living = args->ctx;
    star_value v = star_object(s, &object_class, living);

    *living += v != STAR_INVALID;
    return v;
}

static void run(const uint8_t *data, size_t size, struct outcome *o)
{
    struct star_options options = {
        .limits = {.memory_bytes = MEMORY,
                   .steps = STEPS,
                   .output_bytes = OUTPUT,
                   .call_depth = 50},
        .print = print,
        .ctx = o,
    };
    struct star *s = star_open(&options);
    struct star_module *m = NULL;

    int living = 0;
    o->length = 0;
    star_register(s, "object", make_object, &living);
    struct star_program *p =
        star_compile(s, "f.star", (const char *)data, size);
    if (p)
        m = star_run(s, p);
    if (p && !m)
        add(o, star_error_report(s), strlen(star_error_report(s)));
    check_rest(s);
    if (m)
        call_globals(s, m, o);
    o->steps = star_usage(s).steps;
    star_close(s);
    if (living)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct outcome a, b;

    if (size > 20000)
        return 0;
    run(data, size, &a);
    run(data, size, &b);
    if (a.steps != b.steps || a.length != b.length ||
        memcmp(a.text, b.text, a.length) != 0)
        abort();
    return 0;
}
