/* tests/lib/star_verify: code that the VM must not execute, a row for each rule.
 * star_compile_test shows that it accepts what the compiler makes. */
#include "../lib/tap.h"
#include "lib/lib.h"
#include "star_verify.h"

/* As sl_instruction, for tables. */
#define W(op, a, b, c)                                                         \
    ((uint64_t)I_##op | (uint64_t)((uint32_t)(c)&0xffffff) << 8 |              \
     (uint64_t)(a) << 32 | (uint64_t)(b) << 48)
#define END W(RETURN_NONE, 0, 0, 0)

/*
 * The function around the instructions of a row: one parameter, r0, and 8
 * registers; constants 7, "x", code without defaults, code that captures r1 and
 * has one default; captured: a value, a cell; one global; sites as below.
 */
struct row {
    const char *rule;
    const char *why; /* NULL: accepted */
    uint64_t i[10];
    struct sl_loop loops[2];
};

static const struct row rows[] = {
    {"nothing at all", "no function", {0}, {{0}}},
    {"returns", NULL, {END}, {{0}}},
    {"an operation that there is not", "no such instruction", {250}, {{0}}},
    {"runs on", "runs beyond its end", {W(MOVE, 1, 0, 0)}, {{0}}},
    {"reads a parameter", NULL, {W(RETURN, 0, 0, 0)}, {{0}}},
    {"reads what was never written",
     "register 1 is not fit",
     {W(RETURN, 0, 1, 0)},
     {{0}}},
    {"reads beyond the last",
     "register 8 is not fit",
     {W(RETURN, 0, 8, 0)},
     {{0}}},
    {"writes the last", NULL, {W(MOVE, 7, 0, 0), END}, {{0}}},
    {"writes beyond the last",
     "register 8 is out of reach",
     {W(MOVE, 8, 0, 0), END},
     {{0}}},
    {"reads what one way has written only",
     "register 1 is not fit",
     {W(JUMP_TRUE, 0, 0, 1), W(MOVE, 1, 0, 0), W(RETURN, 0, 1, 0)},
     {{0}}},
    {"reads what both ways have written",
     NULL,
     {W(JUMP_TRUE, 0, 0, 2), W(MOVE, 1, 0, 0), W(JUMP, 0, 0, 1),
      W(MOVE, 1, 0, 0), W(RETURN, 0, 1, 0)},
     {{0}}},
    {"reads a variable that has no value",
     "register 1 is not fit",
     {W(UNSET, 0, 0, 1), W(RETURN, 0, 1, 0)},
     {{0}}},
    {"checks it first",
     NULL,
     {W(UNSET, 0, 0, 1), W(CHECK, 1, 0, 1), W(RETURN, 0, 1, 0)},
     {{0}}},
    {"checks without a name",
     "constant 0 is no string",
     {W(CHECK, 0, 0, 0), END},
     {{0}}},
    {"checks what was never written",
     "register 1 is not fit",
     {W(CHECK, 1, 0, 1), END},
     {{0}}},
    {"a constant", NULL, {W(CONST, 1, 0, 0), END}, {{0}}},
    {"a constant beyond the last",
     "constant 4 is no value",
     {W(CONST, 1, 0, 4), END},
     {{0}}},
    {"code as a value",
     "constant 2 is no value",
     {W(CONST, 1, 0, 2), END},
     {{0}}},
    {"code as a value to compare with",
     "constant 2 is no value",
     {W(JUMP_EQ_K, 0, 2, 0), END},
     {{0}}},
    {"an attribute without a name",
     "constant 0 is no string",
     {W(ATTR, 1, 0, 0), END},
     {{0}}},
    {"a value as code",
     "constant 0 is no code",
     {W(CLOSURE, 1, 0, 0), END},
     {{0}}},
    {"a closure", NULL, {W(CLOSURE, 1, 0, 2), W(RETURN, 0, 1, 0)}, {{0}}},
    {"a closure over a variable and a default",
     NULL,
     {W(MOVE, 1, 0, 0), W(CLOSURE, 2, 0, 3), END},
     {{0}}},
    {"over a variable without value",
     "register 1 is not fit",
     {W(CLOSURE, 2, 0, 3), END},
     {{0}}},
    {"with a default that is not there",
     "register 5 is not fit",
     {W(MOVE, 1, 0, 0), W(CLOSURE, 2, 5, 3), END},
     {{0}}},
    {"a global",
     NULL,
     {W(GLOBAL, 1, 0, 0), W(SET_GLOBAL, 0, 1, 0), END},
     {{0}}},
    {"a global beyond the last",
     "global 1 is not there",
     {W(GLOBAL, 1, 0, 1), END},
     {{0}}},
    {"captured ones",
     NULL,
     {W(FREE, 1, 0, 0), W(FREE_CELL, 2, 0, 1), END},
     {{0}}},
    {"a captured cell as a value",
     "captured 1 is not there",
     {W(FREE, 1, 0, 1), END},
     {{0}}},
    {"a captured value as a cell",
     "captured 0 is not there",
     {W(FREE_CELL, 1, 0, 0), END},
     {{0}}},
    {"captured beyond the last",
     "captured 2 is not there",
     {W(FREE, 1, 0, 2), END},
     {{0}}},
    {"a cell",
     NULL,
     {W(CELL, 1, 0, 0), W(CELL_SET, 1, 0, 0), W(CELL_GET, 2, 1, 1), END},
     {{0}}},
    {"a cell as a value",
     "register 1 is not fit",
     {W(CELL_EMPTY, 1, 0, 0), W(RETURN, 0, 1, 0)},
     {{0}}},
    {"a value as a cell, read",
     "register 0 is not fit",
     {W(CELL_GET, 1, 0, 1), END},
     {{0}}},
    {"a value as a cell, written",
     "register 0 is not fit",
     {W(CELL_SET, 0, 0, 0), END},
     {{0}}},
    {"an operand too many",
     "register 8 is not fit",
     {W(ADD, 1, 0, 8), END},
     {{0}}},
    {"in place", NULL, {W(IN_PLACE, 0, 0, OP_SHR << 16), END}, {{0}}},
    {"in place, a comparison",
     "no such operation",
     {W(IN_PLACE, 0, 0, OP_EQ << 16), END},
     {{0}}},
    {"a jump forward", NULL, {W(JUMP, 0, 0, 1), 250, END}, {{0}}},
    {"a jump to itself", "jumps to 0", {W(JUMP, 0, 0, -1), END}, {{0}}},
    {"a jump back",
     "jumps to 0",
     {W(MOVE, 1, 0, 0), W(JUMP_TRUE, 0, 0, -2), END},
     {{0}}},
    {"a jump before the first",
     "jumps back",
     {W(MOVE, 1, 0, 0), W(JUMP_TRUE, 0, 0, -3), END},
     {{0}}},
    {"a jump beyond the last", "jumps to 2", {W(JUMP, 0, 0, 1), END}, {{0}}},
    {"a list of one", NULL, {W(LIST, 1, 0, 1), END}, {{0}}},
    {"a list of too many",
     "register 1 is not fit",
     {W(LIST, 1, 0, 2), END},
     {{0}}},
    {"a list beyond the last",
     "registers beyond the last",
     {W(LIST, 1, 7, 0xffffff), END},
     {{0}}},
    {"what was made as a list",
     NULL,
     {W(LIST, 1, 0, 0), W(APPEND, 1, 0, 0), W(LIST_EXTEND, 1, 0, 1), END},
     {{0}}},
    {"anything as a list",
     "register 0 is not fit",
     {W(APPEND, 0, 0, 0), END},
     {{0}}},
    {"anything as a list to extend",
     "register 0 is not fit",
     {W(LIST_EXTEND, 0, 0, 1), END},
     {{0}}},
    {"what was made as a dict",
     NULL,
     {W(DICT, 1, 0, 0), W(DICT_PUT, 1, 0, 0), END},
     {{0}}},
    {"a list as a dict",
     "register 1 is not fit",
     {W(LIST, 1, 0, 0), W(DICT_PUT, 1, 0, 0), END},
     {{0}}},
    {"a slice without bounds",
     "register 1 is not fit",
     {W(SLICE, 1, 0, 0x10001), END},
     {{0}}},
    {"unpacks", NULL, {W(UNPACK, 1, 0, 7), W(RETURN, 0, 7, 0)}, {{0}}},
    {"unpacks beyond the last",
     "register 8 is out of reach",
     {W(UNPACK, 1, 0, 8), END},
     {{0}}},
    {"a module", NULL, {W(LOAD, 1, 0, 1), W(LOAD_NAME, 2, 1, 1), END}, {{0}}},
    {"a module as a value",
     "register 1 is not fit",
     {W(LOAD, 1, 0, 1), W(RETURN, 0, 1, 0)},
     {{0}}},
    {"a value as a module",
     "register 0 is not fit",
     {W(LOAD_NAME, 2, 0, 1), END},
     {{0}}},
    {"a call", NULL, {W(CALL, 0, 0, 0), W(RETURN, 0, 0, 0)}, {{0}}},
    {"a call with too many arguments",
     "register 1 is not fit",
     {W(CALL, 0, 1, 0), END},
     {{0}}},
    {"what a call has overwritten",
     "register 2 is not fit",
     {W(MOVE, 1, 0, 0), W(MOVE, 2, 0, 0), W(CALL, 1, 0, 1), W(RETURN, 0, 2, 0)},
     {{0}}},
    {"a site beyond the last",
     "site 4 is not there",
     {W(CALL_SITE, 0, 0, 4), END},
     {{0}}},
    {"a site with a name",
     NULL,
     {W(MOVE, 1, 0, 0), W(CALL_SITE, 0, 0, 0), END},
     {{0}}},
    {"a site whose name is none",
     "constant 0 is no string",
     {W(MOVE, 1, 0, 0), W(CALL_SITE, 0, 0, 1), END},
     {{0}}},
    {"a method",
     NULL,
     {W(METHOD, 0, 1, 2), W(HAS_METHOD, 0, 0, 2), END},
     {{0}}},
    {"a method with too many arguments",
     "register 1 is not fit",
     {W(METHOD, 0, 2, 2), END},
     {{0}}},
    {"a method that there is not",
     "no method",
     {W(METHOD, 0, 0, 3), END},
     {{0}}},
    {"a string as a built-in",
     "is no built-in",
     {W(BUILTIN, 0, 1, 2), END},
     {{0}}},
    /* 0: FOR_BEGIN; 1 .. : the body; FOR_NEXT */
    {"a loop",
     NULL,
     {W(FOR_BEGIN, 2, 0, 1), W(MOVE, 6, 5, 0), W(FOR_NEXT, 2, 5, -2), END},
     {{1, 3, 2}}},
    {"a loop that the table lacks",
     "a loop that the table lacks",
     {W(FOR_BEGIN, 2, 0, 0), W(FOR_NEXT, 2, 5, -1), END},
     {{0}}},
    {"a loop's end alone",
     "a loop that the table lacks",
     {W(FOR_NEXT, 0, 5, -1), END},
     {{0}}},
    {"a range of something else",
     "a loop without its ends",
     {W(MOVE, 1, 0, 0), W(MOVE, 1, 0, 0), END},
     {{1, 2, 2}}},
    {"a range of another iterator",
     "a loop without its ends",
     {W(FOR_BEGIN, 2, 0, 0), W(FOR_NEXT, 3, 6, -1), END},
     {{1, 2, 2}}},
    {"an iterator beyond the last",
     "register 8 is out of reach",
     {W(FOR_BEGIN, 6, 0, 0), W(FOR_NEXT, 6, 5, -1), END},
     {{1, 2, 6}}},
    {"the iterator as a value",
     "register 2 is not fit",
     {W(FOR_BEGIN, 2, 0, 1), W(MOVE, 6, 2, 0), W(FOR_NEXT, 2, 5, -2), END},
     {{1, 3, 2}}},
    {"the iterator written",
     "register 4 is an iterator's",
     {W(FOR_BEGIN, 2, 0, 1), W(MOVE, 4, 0, 0), W(FOR_NEXT, 2, 5, -2), END},
     {{1, 3, 2}}},
    {"the iterator as its variable",
     "register 3 is an iterator's",
     {W(FOR_BEGIN, 2, 0, 0), W(FOR_NEXT, 2, 3, -1), END},
     {{1, 2, 2}}},
    {"the variable after no round",
     "register 5 is not fit",
     {W(FOR_BEGIN, 2, 0, 0), W(FOR_NEXT, 2, 5, -1), W(RETURN, 0, 5, 0)},
     {{1, 2, 2}}},
    {"what the loop forgets",
     "register 1 is lost",
     {W(MOVE, 1, 0, 0), W(FOR_BEGIN, 2, 0, 1), W(UNSET, 0, 0, 1),
      W(FOR_NEXT, 2, 5, -2), END},
     {{2, 4, 2}}},
    {"returns out of a loop",
     "a lock is held",
     {W(FOR_BEGIN, 2, 0, 1), END, W(FOR_NEXT, 2, 5, -2), END},
     {{1, 3, 2}}},
    {"lets go first",
     NULL,
     {W(FOR_BEGIN, 2, 0, 2), W(FOR_END, 2, 0, 0), END, W(FOR_NEXT, 2, 5, -3),
      END},
     {{1, 4, 2}}},
    {"jumps out of a loop",
     "enters or leaves a loop",
     {W(FOR_BEGIN, 2, 0, 1), W(JUMP_TRUE, 0, 0, 1), W(FOR_NEXT, 2, 5, -2), END},
     {{1, 3, 2}}},
    {"jumps into a loop",
     "enters or leaves a loop",
     {W(JUMP_TRUE, 0, 0, 1), W(FOR_BEGIN, 2, 0, 1), W(MOVE, 6, 0, 0),
      W(FOR_NEXT, 2, 5, -2), END},
     {{2, 4, 2}}},
    {"may fail after it let go",
     "the locks held are not those",
     {W(FOR_BEGIN, 2, 0, 2), W(FOR_END, 2, 0, 0), W(NEG, 1, 0, 0),
      W(FOR_NEXT, 2, 5, -3), END},
     {{1, 4, 2}}},
    {"lets go of what it does not hold",
     "register 0 is not fit",
     {W(FOR_END, 0, 0, 0), END},
     {{0}}},
};

/* --- around them ----------------------------------------------------------------- */

struct frame {
    struct star *s;
    struct star_program program;
    struct sl_code code, inner, closure;
    value constants[4], names[1], globals[1];
    struct sl_site sites[4];
    struct sl_capture captures[2], captured[1];
    struct sl_place places[2];
    uint64_t back[1];
};

static void set_up(struct frame *f, const struct row *row)
{
    static uint64_t end = END;

    *f = (struct frame){.s = star_open(NULL)};
    value x = star_string(f->s, "x", 1);
    f->names[0] = f->globals[0] = x;
    f->program =
        (struct star_program){.globals = f->globals, .global_count = 1};
    f->captures[1].is_cell = true;
    f->captured[0].index = 1;
    f->inner = (struct sl_code){.o.type = T_CODE,
                                .name = x,
                                .instructions = &end,
                                .instruction_count = 1,
                                .program = &f->program};
    f->closure = f->inner;
    f->closure.param_count = f->closure.default_count = 1;
    f->closure.local_count = f->closure.register_count = 1;
    f->closure.local_names = f->names;
    f->closure.captures = f->captured;
    f->closure.capture_count = 1;
    f->constants[0] = sl_word(7);
    f->constants[1] = x;
    f->constants[2] = sl_value(&f->inner);
    f->constants[3] = sl_value(&f->closure);
    f->sites[0] = (struct sl_site){.named = 1, .names = 1};
    f->sites[1] = (struct sl_site){.named = 1, .names = 0};
    f->sites[2] = (struct sl_site){.name = 1, .method = METHOD_append};
    f->sites[3] = (struct sl_site){.name = 1, .method = METHOD_COUNT};
    f->code = (struct sl_code){
        .o.type = T_CODE,
        .param_count = 1,
        .local_count = 1,
        .register_count = 8,
        .local_names = f->names,
        .name = x,
        .instructions = (uint64_t *)(uintptr_t)row->i,
        .constants = f->constants,
        .constant_count = 4,
        .sites = f->sites,
        .site_count = 4,
        .places = f->places,
        .loops = (struct sl_loop *)(uintptr_t)row->loops,
        .captures = f->captures,
        .capture_count = 2,
        .program = &f->program,
    };
    while (f->code.instruction_count < 10 && row->i[f->code.instruction_count])
        f->code.instruction_count++;
    while (f->code.loop_count < 2 && row->loops[f->code.loop_count].end)
        f->code.loop_count++;
}

static bool says(struct frame *f, const char *want)
{
    char why[100];
    bool ok = sl_verify(f->s, &f->code, why);
    bool right = want ? !ok && strstr(why, want) : ok;

    if (!right)
        printf("# %s, want %s\n", ok ? "accepted" : why,
               want ? want : "accepted");
    star_close(f->s);
    return right;
}

TEST(each_rule)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct frame f;
        set_up(&f, &rows[i]);
        if (!says(&f, rows[i].why)) {
            printf("# %s\n", rows[i].rule);
            tap_failed = true;
        }
    }
}

static const struct row sound = {"", NULL, {W(RETURN, 0, 0, 0)}, {{0}}};

#define HEAD(name, change, why)                                                \
    TEST(name)                                                                 \
    {                                                                          \
        struct frame f;                                                        \
        set_up(&f, &sound);                                                    \
        change;                                                                \
        CHECK(says(&f, why));                                                  \
    }

HEAD(a_register_for_each_parameter, f.code.param_count = 2, "do not fit")
HEAD(and_for_star, f.code.has_star = true, "do not fit")
HEAD(and_for_starstar, f.code.has_starstar = true, "do not fit")
HEAD(a_register_for_each_variable, f.code.register_count = 0, "do not fit")
HEAD(defaults_of_parameters_only, f.code.default_count = 2, "do not fit")
HEAD(keywords_are_parameters, f.code.keyword_only_count = 2, "do not fit")
HEAD(registers_that_nobody_needs, f.code.register_count = 70000, "do not fit")
HEAD(a_name, f.code.name = V_NONE, "no function")
HEAD(a_name_for_each_variable, f.names[0] = V_NONE, "without name")
HEAD(a_place, f.code.place_count = 1, NULL)
HEAD(places_in_their_order, f.code.place_count = 2, "not sorted")
HEAD(places_of_instructions, (f.code.place_count = 1, f.places[0].pc = 1),
     "not sorted")
HEAD(functions_inside,
     (f.closure.instructions = f.back, f.back[0] = W(MOVE, 1, 0, 0)),
     "out of reach")
