#include "code.h"
#include "lib.h"
#include "vm.h"

/*
 * A program for the eye: a function at a time, the ones inside it after it, an
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

static void pad(struct sl_text *t, size_t from, size_t width)
{
    while (!t->failed && t->length < from + width)
        sl_text_char(t, ' ');
}

/* --- operands --------------------------------------------------------------------- */

static void put_register(struct sl_text *t, const struct sl_code *code,
                         uint32_t reg)
{
    uint32_t i = reg < 0x10000 ? reg : reg - 0x10000 + SL_NEAR_LOCALS;

    sl_text_printf(t, "r%u", reg);
    if (i < code->local_count && sl_local_register(i) == reg) {
        sl_text_char(t, ':');
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

#define CONSTANT_MAX_BYTES 40

static void put_constant(struct sl_text *t, const struct sl_code *code,
                         uint32_t k)
{
    struct sl_text all = {.s = t->s};

    if (k >= code->constant_count)
        return;
    if (sl_is(code->constants[k], T_CODE)) {
        put_name(t, ((struct sl_code *)sl_object(code->constants[k]))->name);
        return;
    }
    if (!sl_repr(&all, code->constants[k])) {
        t->failed = true;
    } else if (all.length <= CONSTANT_MAX_BYTES) {
        sl_text_append(t, all.p, all.length);
    } else {
        size_t length = CONSTANT_MAX_BYTES;
        while (length && ((unsigned char)all.p[length] & 0xc0) == 0x80)
            length--;
        sl_text_append(t, all.p, length);
        put(t, "...");
    }
    sl_text_free(&all);
}

static void put_site(struct sl_text *t, const struct sl_code *code,
                     enum sl_opcode op, const struct sl_site *site,
                     uint32_t count)
{
    if (op == I_METHOD || op == I_HAS_METHOD) {
        sl_text_char(t, '.');
        put_name(t, code->constants[site->name]);
    } else if (op == I_BUILTIN) {
        put_constant(t, code, site->name);
    } else {
        sl_text_printf(t, "%u positional", site->positional);
        for (uint32_t i = 0; i < site->named; i++) {
            put(t, i ? ", " : ", named ");
            put_name(t, code->constants[site->names + i]);
        }
        put(t, site->star ? ", *" : "");
        put(t, site->starstar ? ", **" : "");
    }
    if (op == I_METHOD) {
        put(t, ", ");
        put_run(t, code, site->args, count);
    }
    if (op != I_HAS_METHOD) {
        put(t, " -> ");
        put_register(t, code, site->dst);
    }
}

/* [r3:r4] */
static void put_bounds(struct sl_text *t, const struct sl_code *code,
                       uint32_t reg, uint32_t given)
{
    sl_text_char(t, '[');
    for (uint32_t n = 0; n < 3; n++) {
        if (n == 1 || (n == 2 && given & 4))
            sl_text_char(t, ':');
        if (given >> n & 1)
            put_register(t, code, reg++);
    }
    sl_text_char(t, ']');
}

/* The operands called X, and those of IN_PLACE. */
static void put_other(struct sl_text *t, const struct sl_code *code, uint64_t i,
                      char which)
{
    uint32_t a = sl_a(i), b = sl_b(i), c = sl_c(i);

    switch (sl_op(i)) {
    case I_FAR_GET:
    case I_FAR_SET:
    case I_UNSET:
        put_register(t, code, c);
        break;
    case I_IN_PLACE:
        put(t, sl_operator_text((enum sl_operator)(c >> 16)));
        put(t, "= ");
        put_register(t, code, c & 0xffff);
        break;
    case I_SLICE:
        put_bounds(t, code, c & 0xffff, c >> 16);
        break;
    case I_CLOSURE:
        put_run(
            t, code, b,
            ((struct sl_code *)sl_object(code->constants[c]))->default_count);
        break;
    case I_CALL:
    case I_BUILTIN:
        put_run(t, code, a, b + (sl_op(i) == I_CALL));
        break;
    case I_CALL_SITE: {
        const struct sl_site *site = &code->sites[c];
        put_run(t, code, a,
                1 + site->positional + site->named + site->star +
                    site->starstar);
        break;
    }
    default: /* a run of c registers */
        put_run(t, code, which == 'a' ? a : b, c);
    }
}

/* Whether a number only says how long a run is that was shown. */
static bool is_run_length(enum sl_opcode op)
{
    return op == I_LIST || op == I_LIST_EXTEND || op == I_TUPLE ||
           op == I_UNPACK || op == I_CALL || op == I_METHOD || op == I_BUILTIN;
}

static bool put_operand(struct sl_text *t, const struct sl_code *code,
                        uint32_t pc, unsigned n, const char *comma)
{
    uint64_t i = code->instructions[pc];
    enum sl_opcode op = sl_op(i);
    char kind = sl_opcodes[op].operands[n];
    uint32_t x = n == 0 ? sl_a(i) : n == 1 ? sl_b(i) : sl_c(i);

    if (kind == '-' || (kind == 'N' && is_run_length(op)))
        return false;
    put(t, comma);
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
        if (x < code->program->global_count)
            put_name(t, code->program->globals[x]);
        break;
    case 'F':
        put_name(t, code->captures[x].name);
        break;
    case 'S':
        put_site(t, code, op, &code->sites[x], sl_b(i));
        break;
    case 'I':
        put_run(t, code, x, 3);
        break;
    case 'X':
        put_other(t, code, i, (char)('a' + (int)n));
        break;
    default:
        put_register(t, code, x);
    }
    return true;
}

/* --- functions ----------------------------------------------------------------------- */

static void put_parameter(struct sl_text *t, const struct sl_code *code,
                          const char *stars, uint32_t local, bool *comma)
{
    put(t, *comma ? ", " : "");
    put(t, stars);
    if (local < code->local_count)
        put_name(t, code->local_names[local]);
    *comma = true;
}

static void put_head(struct sl_text *t, const struct sl_code *code)
{
    uint32_t named = code->param_count - code->keyword_only_count;
    bool comma = false;

    put_name(t, code->name);
    sl_text_char(t, '(');
    for (uint32_t i = 0; i < named; i++)
        put_parameter(t, code, "", i, &comma);
    if (code->has_star || code->keyword_only_count)
        put_parameter(t, code, "*",
                      code->has_star ? code->param_count : UINT32_MAX, &comma);
    for (uint32_t i = named; i < code->param_count; i++)
        put_parameter(t, code, "", i, &comma);
    if (code->has_starstar)
        put_parameter(t, code, "**", code->param_count + code->has_star,
                      &comma);
    sl_text_printf(t, ") at %u:%u, %u register%s\n", code->pos.line,
                   code->pos.column, code->register_count,
                   code->register_count == 1 ? "" : "s");
}

static size_t digits(uint32_t n)
{
    size_t count = 1;

    while (n /= 10)
        count++;
    return count;
}

static size_t place_width(const struct sl_code *code)
{
    size_t width = 0;

    for (uint32_t i = 0; i < code->place_count; i++) {
        struct sl_pos pos = code->places[i].pos;
        size_t here = digits(pos.line) + 1 + digits(pos.column);
        width = here > width ? here : width;
    }
    return width;
}

static size_t name_width(const struct sl_code *code)
{
    size_t width = 0;

    for (uint32_t pc = 0; pc < code->instruction_count; pc++) {
        size_t here = strlen(sl_opcodes[sl_op(code->instructions[pc])].name);
        width = here > width ? here : width;
    }
    return width;
}

static void put_function(struct sl_text *t, const struct sl_code *code)
{
    size_t numbers = 2 + digits(code->instruction_count);
    size_t places = place_width(code), names = name_width(code);
    uint32_t place = 0;

    put_head(t, code);
    for (uint32_t pc = 0; pc < code->instruction_count && !t->failed; pc++) {
        pad(t, t->length, numbers - digits(pc));
        sl_text_printf(t, "%u  ", pc);
        size_t at = t->length;
        if (place < code->place_count && code->places[place].pc == pc) {
            struct sl_pos pos = code->places[place++].pos;
            sl_text_printf(t, "%u:%u", pos.line, pos.column);
        }
        pad(t, at, places + 2);
        at = t->length;
        put(t, sl_opcodes[sl_op(code->instructions[pc])].name);
        const char *comma = "";
        for (unsigned n = 0; n < 3; n++) {
            if (!*comma &&
                sl_opcodes[sl_op(code->instructions[pc])].operands[n] != '-')
                pad(t, at, names + 1);
            if (put_operand(t, code, pc, n, comma))
                comma = ", ";
        }
        sl_text_char(t, '\n');
    }
}

/* The source bounds how deep functions are inside each other. */
void sl_disassemble(struct sl_text *t, const struct sl_code *code)
{
    put_function(t, code);
    for (uint32_t i = 0; i < code->constant_count && !t->failed; i++) {
        if (sl_is(code->constants[i], T_CODE)) {
            sl_text_char(t, '\n');
            sl_disassemble(t, (struct sl_code *)sl_object(code->constants[i]));
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
        sl_disassemble(&t, p->top);
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
