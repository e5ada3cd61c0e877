#ifndef STARLARK_CODE_H
#define STARLARK_CODE_H

#include "error.h"

/*
 * code: a function as instructions for a register machine. The compiler, the
 * VM, the verifier, the disassembler and docs/starlark.md share this table.
 *
 * An instruction is a 64-bit word:
 *
 *     63      48 47      32 31             8 7      0
 *     |    b    |    a     |       c       |   op   |
 *
 * a and b have 16 bits, c 24, signed where it is a number or a jump. A register
 * is a slot of the function's window on the value stack: first its locals,
 * then temporaries. Of more than SL_NEAR_LOCALS locals, the others lie from
 * register 65,536 on, where FAR_GET, FAR_SET and UNSET alone reach. Jumps count
 * instructions from the one that follows.
 *
 * What an operand is: W a register written, R a register read, M one that is
 * read and written, K a constant, J a jump, N a number, G a global, F a captured
 * variable, S a call site, I an iterator (three registers), X a run of
 * registers that the text explains, and - nothing.
 *
 * CALL and CALL_SITE take the registers from `a` on for their callee's window:
 * those above the arguments hold nothing afterwards. The arguments are laid out
 * behind a: positional, named, the one of *, the one of **. METHOD and BUILTIN
 * call C, with positional arguments that lie in a row anywhere: locals are not
 * copied first.
 */

/* clang-format off */
#define SL_OPCODES(OP) \
    OP(MOVE,          W, R, -, "a = b") \
    OP(CONST,         W, -, K, "a = constant c") \
    OP(FAR_GET,       W, -, X, "a = register c") \
    OP(FAR_SET,       -, R, X, "register c = b") \
    OP(UNSET,         -, -, X, "register c has no value") \
    OP(CHECK,         R, -, K, "fail unless a has a value: local variable c") \
    OP(GLOBAL,        W, -, G, "a = global c; fail when it has no value") \
    OP(SET_GLOBAL,    -, R, G, "global c = b") \
    OP(CELL,          W, R, -, "a = a new cell that holds b") \
    OP(CELL_EMPTY,    W, -, -, "a = a new cell without value") \
    OP(CELL_GET,      W, R, K, "a = what cell b holds; fail when empty: variable c") \
    OP(CELL_SET,      R, R, -, "cell a holds b") \
    OP(FREE,          W, -, F, "a = captured value c") \
    OP(FREE_CELL,     W, -, F, "a = what captured cell c holds; fail when empty") \
    OP(ADD,           W, R, R, "a = b + c") \
    OP(SUB,           W, R, R, "a = b - c") \
    OP(MUL,           W, R, R, "a = b * c") \
    OP(DIV,           W, R, R, "a = b / c") \
    OP(FLOORDIV,      W, R, R, "a = b // c") \
    OP(MOD,           W, R, R, "a = b % c") \
    OP(AND,           W, R, R, "a = b & c") \
    OP(OR,            W, R, R, "a = b | c") \
    OP(XOR,           W, R, R, "a = b ^ c") \
    OP(SHL,           W, R, R, "a = b << c") \
    OP(SHR,           W, R, R, "a = b >> c") \
    OP(ADD_K,         W, R, K, "a = b + constant c") \
    OP(SUB_K,         W, R, K, "a = b - constant c") \
    OP(MUL_K,         W, R, K, "a = b * constant c") \
    OP(DIV_K,         W, R, K, "a = b / constant c") \
    OP(FLOORDIV_K,    W, R, K, "a = b // constant c") \
    OP(MOD_K,         W, R, K, "a = b % constant c") \
    OP(AND_K,         W, R, K, "a = b & constant c") \
    OP(OR_K,          W, R, K, "a = b | constant c") \
    OP(XOR_K,         W, R, K, "a = b ^ constant c") \
    OP(SHL_K,         W, R, K, "a = b << constant c") \
    OP(SHR_K,         W, R, K, "a = b >> constant c") \
    OP(IN_PLACE,      W, R, X, "a = b op= register c & 0xffff; op is c >> 16") \
    OP(NEG,           W, R, -, "a = -b") \
    OP(POS,           W, R, -, "a = +b") \
    OP(INVERT,        W, R, -, "a = ~b") \
    OP(NOT,           W, R, -, "a = not b") \
    OP(EQ,            W, R, R, "a = b == c") \
    OP(NE,            W, R, R, "a = b != c") \
    OP(LT,            W, R, R, "a = b < c") \
    OP(LE,            W, R, R, "a = b <= c") \
    OP(GT,            W, R, R, "a = b > c") \
    OP(GE,            W, R, R, "a = b >= c") \
    OP(IN,            W, R, R, "a = b in c") \
    OP(NOT_IN,        W, R, R, "a = b not in c") \
    OP(JUMP,          -, -, J, "jump; only forward") \
    OP(JUMP_TRUE,     R, -, J, "jump if a is true") \
    OP(JUMP_FALSE,    R, -, J, "jump if a is false") \
    OP(JUMP_EQ,       R, R, J, "jump if a == b") \
    OP(JUMP_NE,       R, R, J, "jump if a != b") \
    OP(JUMP_LT,       R, R, J, "jump if a < b") \
    OP(JUMP_LE,       R, R, J, "jump if a <= b") \
    OP(JUMP_GT,       R, R, J, "jump if a > b") \
    OP(JUMP_GE,       R, R, J, "jump if a >= b") \
    OP(JUMP_NOT_LT,   R, R, J, "jump if not a < b") \
    OP(JUMP_NOT_LE,   R, R, J, "jump if not a <= b") \
    OP(JUMP_NOT_GT,   R, R, J, "jump if not a > b") \
    OP(JUMP_NOT_GE,   R, R, J, "jump if not a >= b") \
    OP(JUMP_EQ_K,     R, K, J, "jump if a == constant b") \
    OP(JUMP_NE_K,     R, K, J, "jump if a != constant b") \
    OP(JUMP_LT_K,     R, K, J, "jump if a < constant b") \
    OP(JUMP_LE_K,     R, K, J, "jump if a <= constant b") \
    OP(JUMP_GT_K,     R, K, J, "jump if a > constant b") \
    OP(JUMP_GE_K,     R, K, J, "jump if a >= constant b") \
    OP(JUMP_NOT_LT_K, R, K, J, "jump if not a < constant b") \
    OP(JUMP_NOT_LE_K, R, K, J, "jump if not a <= constant b") \
    OP(JUMP_NOT_GT_K, R, K, J, "jump if not a > constant b") \
    OP(JUMP_NOT_GE_K, R, K, J, "jump if not a >= constant b") \
    OP(JUMP_IN,       R, R, J, "jump if a in b") \
    OP(JUMP_NOT_IN,   R, R, J, "jump if a not in b") \
    OP(FOR_BEGIN,     I, R, J, "iterate over b with iterator a, lock it; jump to its FOR_NEXT") \
    OP(FOR_NEXT,      I, W, J, "b = the next of iterator a, jump back; else fall through, having unlocked it; one step") \
    OP(FOR_END,       I, -, -, "unlock what iterator a iterates over (break, return)") \
    OP(LIST,          W, X, N, "a = list of the c registers from b") \
    OP(LIST_EXTEND,   R, X, N, "append the c registers from b to list a") \
    OP(APPEND,        R, R, -, "append b to list a (comprehension)") \
    OP(TUPLE,         W, X, N, "a = tuple of the c registers from b") \
    OP(DICT,          W, -, N, "a = {} with room for c") \
    OP(DICT_PUT,      R, R, R, "a[b] = c; fail if b is there (literal)") \
    OP(INDEX,         W, R, R, "a = b[c]") \
    OP(INDEX_K,       W, R, K, "a = b[constant c]") \
    OP(SET_INDEX,     R, R, R, "a[b] = c") \
    OP(SET_INDEX_K,   R, R, K, "a[b] = constant c") \
    OP(SLICE,         W, R, X, "a = b[from:to:step]; those of c >> 16 (1, 2, 4) are in a row from register c & 0xffff") \
    OP(ATTR,          W, R, K, "a = b.constant c") \
    OP(SET_ATTR,      R, R, K, "a.constant c = b: always fails") \
    OP(UNPACK,        X, R, N, "the c registers from a = the items of b") \
    OP(UNPACK_TUPLE,  W, R, N, "a = tuple of the items of b, which must be c") \
    OP(CLOSURE,       W, X, K, "a = function of code c; its defaults are the registers from b") \
    OP(CALL,          X, N, W, "c = call a with the b registers behind it") \
    OP(CALL_SITE,     X, -, S, "call a as site c says: named, *args, **kwargs") \
    OP(HAS_METHOD,    R, -, S, "fail unless a has what site c names, as METHOD would before its call") \
    OP(METHOD,        R, N, S, "call the method of a that site c names with b arguments") \
    OP(BUILTIN,       X, N, S, "call the built-in, constant, that site c names with the b registers from a") \
    OP(RETURN,        -, R, -, "return b") \
    OP(RETURN_NONE,   -, -, -, "return None") \
    OP(LOAD,          W, -, K, "a = module c") \
    OP(LOAD_NAME,     W, R, K, "a = name c of module b")
/* clang-format on */

enum sl_opcode {
#define OP(name, a, b, c, text) I_##name,
    SL_OPCODES(OP)
#undef OP
        SL_OPCODE_COUNT
};

/* A row of the opcode table; operands are the letters above. */
struct sl_opcode_info {
    const char *name;
    char operands[4]; /* kinds of the operands a, b and c */
    const char *text;
};
extern const struct sl_opcode_info sl_opcodes[SL_OPCODE_COUNT];

static inline enum sl_opcode sl_op(uint64_t i)
{
    return (enum sl_opcode)(i & 0xff);
}
static inline uint32_t sl_a(uint64_t i)
{
    return (uint32_t)(i >> 32) & 0xffff;
}
static inline uint32_t sl_b(uint64_t i)
{
    return (uint32_t)(i >> 48);
}
static inline uint32_t sl_c(uint64_t i) /* Returns the unsigned operand c. */
{
    return (uint32_t)i >> 8;
}
static inline int32_t sl_j(uint64_t i) /* Returns the signed operand c. */
{
    return (int32_t)(uint32_t)i >> 8;
}
static inline uint64_t sl_instruction(enum sl_opcode op, uint32_t a, uint32_t b,
                                      uint32_t c)
{
    return (uint64_t)op | (uint64_t)(c & 0xffffff) << 8 |
           (uint64_t)(a & 0xffff) << 32 | (uint64_t)(b & 0xffff) << 48;
}

/* This many instructions in a row count as one step, in addition to the step of
 * a call or loop round, so that a long straight-line source cannot run long
 * without a check. */
#define SL_STEP_INSTRUCTIONS 64u

/* Number of locals that instructions can address; all parameters are among
 * them. */
#define SL_NEAR_LOCALS SL_RARE(0x8000u, 6u)
static inline uint32_t sl_local_register(uint32_t local)
{
    return local < SL_NEAR_LOCALS ? local : local - SL_NEAR_LOCALS + 0x10000;
}

/* Describes a call with more than positional arguments, and every call by
 * METHOD or BUILTIN. */
struct sl_site {
    uint32_t positional;
    uint32_t named; /* number of named arguments, whose values follow the
                     * positional ones */
    uint32_t names; /* index of the first of `named` constants with the names */
    uint32_t dst;   /* register of the result */
    bool star, starstar; /* whether there is a * and a ** argument, one
                        * register each, behind the named ones */
    uint16_t method;     /* METHOD: enum sl_method of lib.h, or 0 */
    uint32_t name;       /* METHOD: constant with the name; BUILTIN: the
                        * function */
    uint32_t args;       /* METHOD: register of the first argument */
    struct sl_pos dot;   /* METHOD: place to report for an unknown attribute */
    struct sl_code *cache; /* code of the function called last, and for each
                            * named argument the index of its parameter */
    uint16_t *cached;
};

struct sl_place { /* Source position of an instruction that can fail. */
    uint32_t pc;
    struct sl_pos pos;
};

/* Maximum nesting of loops in one function. */
#define SL_LOOPS_MAX 400u

/* Instructions begin <= pc < end run while iterator `reg` holds its lock. */
struct sl_loop {
    uint32_t begin, end, reg;
};

/* A variable that a closure captures when it is created. */
struct sl_capture {
    bool from_free; /* captured from the enclosing function's captures, else
                     * from a register */
    bool is_cell;
    uint32_t index;
    value name;
};

struct sl_code {
    struct sl_object o;
    bool active; /* being executed; a recursive call is an error */
    bool has_star, has_starstar;
    /* Locals 0 to param_count - 1 are parameters: positional ones, then
     * keyword-only ones; behind them *args, then **kwargs. */
    uint32_t param_count, keyword_only_count;
    uint32_t default_count; /* number of parameters from the first with a
                             * default to the last: CLOSURE reads that many
                             * registers; the register of a required one
                             * among them is empty */
    uint32_t exact;         /* number of arguments, if binding exactly that many
                     * positional ones completes a call; otherwise UINT32_MAX */
    uint32_t steps;         /* steps that a call costs: 1, or more for a long
                     * function */
    uint32_t local_count, register_count;
    uint64_t *instructions;
    uint32_t instruction_count;
    value *constants;
    uint32_t constant_count;
    struct sl_site *sites;
    uint32_t site_count;
    struct sl_place *places; /* sorted by pc */
    uint32_t place_count;
    struct sl_loop *loops; /* inner loops first */
    uint32_t loop_count;
    struct sl_capture *captures;
    uint32_t capture_count;
    value *local_names; /* names of the locals, parameters first */
    value name;
    struct sl_pos pos;
    struct sl_pos entry; /* position for errors of a call that fails before
                          * the first instruction */
    struct star_program *program;
};

struct star_program {
    struct star_program *next;
    struct sl_source source; /* own copies of the file name and text */
    struct sl_code *top;     /* code of the file's top level; NULL once freed */
    value *globals;          /* names of the globals by index */
    uint32_t global_count;
    bool used; /* a function object refers to this code (see vm.h) */
};

/* Returns the position recorded for the last instruction at or before `pc`. */
struct sl_pos sl_code_place(const struct sl_code *code, uint32_t pc);

#endif
