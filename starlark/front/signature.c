#include <string.h>

#include "../core/code.h"
#include "../core/star.h"

/*
 * Determines the signature of a global before its program runs. The compiler
 * emits CLOSURE r, SET_GLOBAL r for a def or an assigned lambda; this pair is
 * searched for.
 */

static bool is_named(value name, const char *text)
{
    const struct sl_string *s = sl_string(name);

    return s->length == strlen(text) && memcmp(s->p, text, s->length) == 0;
}

/* Whether the register of a default was left unset, which marks a required
 * parameter between optional ones. */
static bool is_unset(const struct sl_code *top, uint32_t closure, uint32_t reg)
{
    for (uint32_t i = closure; i-- > 0;) {
        uint64_t instruction = top->instructions[i];
        if (sl_op(instruction) == I_SET_GLOBAL)
            return false;
        if (sl_op(instruction) == I_UNSET && sl_c(instruction) == reg)
            return true;
    }
    return false;
}

static void describe(const struct sl_code *top, uint32_t at,
                     const struct sl_code *code, struct star_signature *out)
{
    uint32_t positional = code->param_count - code->keyword_only_count;
    uint32_t first = code->param_count - code->default_count;
    uint32_t base = sl_b(top->instructions[at]);

    *out = (struct star_signature){
        .line = code->pos.line,
        .column = code->pos.column,
        .required = first < positional ? first : positional,
        .positional = code->has_star ? UINT32_MAX : positional,
    };
    for (uint32_t i = positional; i < code->param_count; i++)
        out->named += i < first || is_unset(top, at, base + i - first);
}

enum star_global_kind star_program_global(const struct star_program *p,
                                          const char *name,
                                          struct star_signature *out)
{
    enum star_global_kind kind = STAR_GLOBAL_NONE;
    const struct sl_code *top = p ? p->top : NULL;

    for (uint32_t i = 0; top && i < top->instruction_count; i++) {
        uint64_t set = top->instructions[i], made;

        if (sl_op(set) != I_SET_GLOBAL ||
            !is_named(p->globals[sl_c(set)], name))
            continue;
        made = i > 0 ? top->instructions[i - 1] : 0;
        kind = STAR_GLOBAL_VALUE;
        if (i == 0 || sl_op(made) != I_CLOSURE || sl_a(made) != sl_b(set))
            continue;
        kind = STAR_GLOBAL_FUNCTION;
        describe(top, i - 1,
                 (const struct sl_code *)sl_object(top->constants[sl_c(made)]),
                 out);
    }
    return kind;
}
