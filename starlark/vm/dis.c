#include <stdio.h>

#include "../core/code.h"
#include "../lib/lib.h"
#include "vm.h"

/*
 * The disassembler: one function after another, outer before inner ones, an
 * instruction a line.
 *
 *     add(a, b) at 1:1, 3 registers
 *        0  2:14  ADD    r2, r0:a, r1:b
 *        1        RETURN r2
 */

static void put(struct sl_text *t, const char *text)
{
    sl_text_append(t, text, strlen(text));
}

static void put_name(struct sl_text *t, value name)
{
    if (sl_is(name, T_STRING))
        sl_text_append(t, sl_string(name)->p, sl_string(name)->length);
}

/* --- operands --------------------------------------------------------------------- */

static void put_register(struct sl_text *t, const struct sl_code *code,
                         uint32_t reg)
{
    uint32_t i = reg < 0x10000 ? reg : reg - 0x10000 + SL_NEAR_LOCALS;

    sl_text_printf(t, "r%u", reg);
    if (i < code->local_count && sl_local_register(i) == reg) {
        put(t, ":");
        put_name(t, code->local_names[i]);
    }
}

static void put_run(struct sl_text *t, const struct sl_code *code,
                    uint32_t first, uint32_t count)
{
    if (count == 1)
        put_register(t, code, first);
    else if (count)
        sl_text_printf(t, "r%u..r%u", first, first + count - 1);
    else
        put(t, "none");
}

static struct sl_code *code_constant(const struct sl_code *code, uint32_t k)
{
    return (struct sl_code *)sl_object(code->constants[k]);
}

#define CONSTANT_MAX_BYTES 40

static void put_constant(struct sl_text *t, const struct sl_code *code,
                         uint32_t k)
{
    struct sl_text all = {.s = t->s};

    if (sl_is(code->constants[k], T_CODE)) {
        put_name(t, code_constant(code, k)->name);
        return;
    }
    t->failed |= !sl_repr(&all, code->constants[k]);
    size_t length = all.length;
    if (length > CONSTANT_MAX_BYTES)
        for (length = CONSTANT_MAX_BYTES;
             length && ((unsigned char)all.p[length] & 0xc0) == 0x80;)
            length--;
    sl_text_append(t, all.p, length);
    put(t, length < all.length ? "..." : "");
    sl_text_free(&all);
}

static void put_site(struct sl_text *t, const struct sl_code *code, uint64_t i)
{
    const struct sl_site *site = &code->sites[sl_c(i)];
    enum sl_opcode op = sl_op(i);

    if (op == I_BUILTIN) {
        put_constant(t, code, site->name);
    } else if (op == I_CALL_SITE) {
        sl_text_printf(t, "%u positional", site->positional);
        for (uint32_t n = 0; n < site->named; n++) {
            put(t, n ? ", " : ", named ");
            put_name(t, code->constants[site->names + n]);
        }
        put(t, site->star ? ", *" : "");
        put(t, site->starstar ? ", **" : "");
    } else {
        put(t, ".");
        put_name(t, code->constants[site->name]);
    }
    if (op == I_METHOD) {
        put(t, ", ");
        put_run(t, code, site->args, sl_b(i));
    }
    if (op != I_HAS_METHOD) {
        put(t, " -> ");
        put_register(t, code, site->dst);
    }
}

/* Writes the operands of kind X. */
static void put_other(struct sl_text *t, const struct sl_code *code, uint64_t i)
{
    uint32_t a = sl_a(i), b = sl_b(i), c = sl_c(i), given = c >> 16;

    switch (sl_op(i)) {
    case I_FAR_GET:
    case I_FAR_SET:
    case I_UNSET:
        put_register(t, code, c);
        break;
    case I_IN_PLACE:
        put(t, sl_operator_text((enum sl_operator)given));
        put(t, "= ");
        put_register(t, code, c & 0xffff);
        break;
    case I_SLICE: /* [r3:r4] */
        c &= 0xffff;
        for (uint32_t n = 0; n < 3; n++) {
            put(t, n == 0 ? "[" : n == 1 || given & 4 ? ":" : "");
            if (given >> n & 1)
                put_register(t, code, c++);
        }
        put(t, "]");
        break;
    case I_CLOSURE:
        put_run(t, code, b, code_constant(code, c)->default_count);
        break;
    case I_CALL_SITE: {
        const struct sl_site *site = &code->sites[c];
        put_run(t, code, a,
                1 + site->positional + site->named + site->star +
                    site->starstar);
        break;
    }
    case I_CALL:
    case I_BUILTIN:
        put_run(t, code, a, b + (sl_op(i) == I_CALL));
        break;
    default: /* a run of c registers */
        put_run(t, code, sl_op(i) == I_UNPACK ? a : b, c);
    }
}

static void put_operand(struct sl_text *t, const struct sl_code *code,
                        uint32_t pc, char kind, uint32_t x)
{
    uint64_t i = code->instructions[pc];

    switch (kind) {
    case 'K':
        put_constant(t, code, x);
        break;
    case 'J':
        sl_text_printf(t, "to %lld", (long long)pc + 1 + sl_j(i));
        break;
    case 'N':
        sl_text_printf(t, "%u", x);
        break;
    case 'G':
        put_name(t, code->program->globals[x]);
        break;
    case 'F':
        put_name(t, code->captures[x].name);
        break;
    case 'S':
        put_site(t, code, i);
        break;
    case 'I':
        put_run(t, code, x, 3);
        break;
    case 'X':
        put_other(t, code, i);
        break;
    default:
        put_register(t, code, x);
    }
}

static void put_operands(struct sl_text *t, const struct sl_code *code,
                         uint32_t pc)
{
    uint64_t i = code->instructions[pc];
    uint32_t of[3] = {sl_a(i), sl_b(i), sl_c(i)};
    enum sl_opcode op = sl_op(i);
    const char *comma = "";

    for (unsigned n = 0; n < 3; n++) {
        char kind = sl_opcodes[op].operands[n];
        /* Any other number is the length of a run, which is shown as
         * registers. */
        if (kind == '-' ||
            (kind == 'N' && op != I_DICT && op != I_UNPACK_TUPLE))
            continue;
        put(t, comma);
        put_operand(t, code, pc, kind, of[n]);
        comma = ", ";
    }
}

/* --- functions ----------------------------------------------------------------------- */

static void put_head(struct sl_text *t, const struct sl_code *code)
{
    uint32_t named = code->param_count - code->keyword_only_count;
    uint32_t rest = code->param_count; /* *args, **kwargs */
    const char *comma = "";

    put_name(t, code->name);
    put(t, "(");
    for (uint32_t i = 0; i <= code->param_count; i++) {
        if (i == named && (code->has_star || code->keyword_only_count)) {
            put(t, comma);
            put(t, "*");
            if (code->has_star)
                put_name(t, code->local_names[rest++]);
            comma = ", ";
        }
        if (i == code->param_count)
            break;
        put(t, comma);
        put_name(t, code->local_names[i]);
        comma = ", ";
    }
    if (code->has_starstar) {
        put(t, comma);
        put(t, "**");
        put_name(t, code->local_names[rest]);
    }
    sl_text_printf(t, ") at %u:%u, %u register%s\n", code->pos.line,
                   code->pos.column, code->register_count,
                   code->register_count == 1 ? "" : "s");
}

#define PLACE_BYTES 24
static int print_place(char out[static PLACE_BYTES], struct sl_pos pos)
{
    return snprintf(out, PLACE_BYTES, "%u:%u", pos.line, pos.column);
}

static void put_function(struct sl_text *t, const struct sl_code *code)
{
    int numbers = 2 + snprintf(NULL, 0, "%u", code->instruction_count);
    int places = 0, names = 0;
    const struct sl_place *place = code->places;
    const struct sl_place *end = place + code->place_count;
    char text[PLACE_BYTES];

    for (uint32_t i = 0; i < code->place_count; i++) {
        int width = print_place(text, place[i].pos);
        places = width > places ? width : places;
    }
    for (uint32_t pc = 0; pc < code->instruction_count; pc++) {
        enum sl_opcode op = sl_op(code->instructions[pc]);
        int width = (int)strlen(sl_opcodes[op].name);
        names = width > names ? width : names;
    }
    put_head(t, code);
    for (uint32_t pc = 0; pc < code->instruction_count && !t->failed; pc++) {
        enum sl_opcode op = sl_op(code->instructions[pc]);
        bool alone = !strcmp(sl_opcodes[op].operands, "---");
        text[0] = '\0';
        if (place < end && place->pc == pc)
            print_place(text, place++->pos);
        sl_text_printf(t, "%*u  %-*s%-*s", numbers, pc, places + 2, text,
                       alone ? 0 : names + 1, sl_opcodes[op].name);
        put_operands(t, code, pc);
        put(t, "\n");
    }
}

/* Recursive: the source bounds the nesting of functions. */
static void disassemble(struct sl_text *t, const struct sl_code *code)
{
    put_function(t, code);
    for (uint32_t i = 0; i < code->constant_count && !t->failed; i++) {
        if (sl_is(code->constants[i], T_CODE)) {
            put(t, "\n");
            disassemble(t, code_constant(code, i));
        }
    }
}

const char *star_disassemble(struct star *s, const struct star_program *p)
{
    struct sl_text t = {.s = s};

    sl_host_enter(s);
    sl_error_clear(s);
    struct sl_scope scope = sl_native_enter(s);
    sl_storage_free(s, s->text, s->text_size);
    s->text = NULL;
    s->text_size = 0;
    if (p->top)
        disassemble(&t, p->top);
    else
        sl_fail(s, "the program was freed");
    sl_text_char(&t, '\0');
    if (p->top && !t.failed) {
        s->text = t.p;
        s->text_size = t.capacity;
    } else {
        sl_text_free(&t);
    }
    sl_native_leave(s, scope);
    sl_host_leave(s);
    return s->text;
}
