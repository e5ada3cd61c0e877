/* tests/lib/star_verify: the VM executes accepted mutated code without harm;
 * and all output of the compiler is accepted. The input: a line of changes, then
 * a program. A change is four bytes: a kind, a function, a place, a value. */
#include <stdio.h>
#include <stdlib.h>

#include "star_verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUNCTIONS_MAX 64

struct functions {
    struct sl_code *code[FUNCTIONS_MAX];
    uint32_t count;
};

static void collect(struct functions *f, struct sl_code *code)
{
    if (f->count == FUNCTIONS_MAX)
        return;
    f->code[f->count++] = code;
    for (uint32_t i = 0; i < code->constant_count; i++)
        if (sl_is(code->constants[i], T_CODE))
            collect(f, (struct sl_code *)sl_object(code->constants[i]));
}

static void change_site(struct sl_site *s, unsigned field, uint8_t v)
{
    uint32_t *const fields[] = {&s->positional, &s->named, &s->names,
                                &s->dst,        &s->name,  &s->args};

    if (field % 9 < 6)
        *fields[field % 9] = v;
    else if (field % 9 == 6)
        s->star = v & 1;
    else if (field % 9 == 7)
        s->starstar = v & 1;
    else
        s->method = v;
}

static void change_head(struct sl_code *c, unsigned field, uint8_t v)
{
    switch (field % 6) {
    case 0:
        c->param_count = v;
        break;
    case 1:
        c->keyword_only_count = v;
        break;
    case 2:
        c->default_count = v;
        break;
    case 3:
        c->register_count = v;
        break;
    case 4:
        c->has_star = v & 1;
        break;
    default:
        c->has_starstar = v & 1;
    }
}

static void change(struct sl_code *c, uint8_t kind, uint8_t place, uint8_t v)
{
    if (kind < 160 && c->instruction_count) { /* a byte of an instruction */
        uint64_t *i = &c->instructions[place % c->instruction_count];
        unsigned shift = kind % 8 * 8;
        *i = (*i & ~((uint64_t)0xff << shift)) | (uint64_t)v << shift;
    } else if (kind < 190 && c->instruction_count) { /* or all of it */
        c->instructions[place % c->instruction_count] =
            c->instructions[v % c->instruction_count];
    } else if (kind < 220 && c->site_count) {
        change_site(&c->sites[place % c->site_count], kind, v);
    } else if (kind < 235 && c->loop_count) {
        struct sl_loop *l = &c->loops[place % c->loop_count];
        *(kind % 3 ? kind % 3 == 1 ? &l->begin : &l->end : &l->reg) = v;
    } else if (kind < 245 && c->capture_count) {
        struct sl_capture *p = &c->captures[place % c->capture_count];
        if (kind & 1)
            p->index = v;
        else
            p->is_cell = v & 1;
    } else {
        change_head(c, place, v);
    }
}

static struct star *new_interpreter(void)
{
    struct star_options o = {.limits = {.memory_bytes = 8u << 20,
                                        .steps = 50000,
                                        .timeout_ms = 500}};
    struct star *s = star_open(&o);

    if (!s)
        abort();
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, '\n', size);
    struct functions f = {.count = 0};
    char why[100];

    if (!end || size > 1 << 16)
        return 0;
    struct star *s = new_interpreter();
    struct star_program *p = star_compile(s, "f.star", (const char *)end + 1,
                                          size - (size_t)(end + 1 - data));
    if (p) {
        if (!sl_verify(s, p->top, why) && star_usage(s).steps < 50000 &&
            star_usage(s).memory_peak_bytes < 6u << 20) {
            fprintf(stderr, "refused what was compiled: %s\n", why);
            abort();
        }
        collect(&f, p->top);
        for (; end - data >= 4; data += 4)
            change(f.code[data[1] % f.count], data[0], data[2], data[3]);
        if (sl_verify(s, p->top, why))
            star_run(s, p);
    }
    star_close(s);
    return 0;
}
