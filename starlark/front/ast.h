#ifndef STARLARK_AST_H
#define STARLARK_AST_H

#include "../core/code.h"
#include "../core/ops.h"

/*
 * ast: a source as a tree, and which variable each name in it is.
 *
 *     text --lex.c--> tokens --parse.c--> struct sl_node --resolve.c--> the same
 *     tree with names bound --compile.c--> struct sl_code
 *
 * Nodes live in an arena of the compilation. Lists of nodes are chained by
 * `next`. Nesting is bounded by SL_SOURCE_DEPTH, but chains that lean to the left
 * (a + b + c ..., f(x)(y)..., a.b.c...) are as long as the source: walk the
 * spine of `a` in a loop. So does an `elif` chain along `c`.
 */

#define SL_SOURCE_DEPTH                                                        \
    200 /* brackets, blocks and operators inside each other */

/* clang-format off */
enum sl_node_kind {
    /* expressions; a, b, c are described for each */
    N_NAME,      /* v: the name (interned); scope and index after resolving */
    N_LITERAL,   /* v: an int, float, string or bytes */
    N_LIST,      /* a: items, chained */
    N_TUPLE,     /* a: items, chained */
    N_DICT,      /* a: N_ENTRYs, chained */
    N_ENTRY,     /* a: key, b: value */
    N_COMPREHENSION, /* a: the element, or an N_ENTRY; b: clauses, chained; flags: COMP_DICT */
    N_CLAUSE_FOR,    /* a: target, b: iterable */
    N_CLAUSE_IF,     /* a: condition */
    N_UNARY,     /* op: NEG POS INVERT NOT; a */
    N_BINARY,    /* op: an operator; a, b; pos: the operator */
    N_AND, N_OR, /* a, b */
    N_COND,      /* a: condition, b: if true, c: if false */
    N_LAMBDA,    /* fn; a: parameters, chained; b: the expression */
    N_CALL,      /* a: function, b: arguments, chained; pos: the "(" */
    N_ARG_NAMED, /* v: name, a: value */
    N_ARG_STAR, N_ARG_STARSTAR, /* a */
    N_DOT,       /* a: object, v: name; pos: the "." */
    N_INDEX,     /* a: object, b: key; pos: the "[" */
    N_SLICE,     /* a: object, b: start, c: stop, d: step, each may be NULL; pos: the "[" */
    /* parameters */
    N_PARAM,     /* v: name, a: default or NULL; scope and index */
    N_PARAM_STAR, N_PARAM_STARSTAR, /* v: name (0: a bare "*") */
    /* statements, chained */
    N_EXPR,      /* a */
    N_ASSIGN,    /* a: target, b: value; pos: the "=" */
    N_AUGMENT,   /* op, a: target, b: value; pos: the operator */
    N_DEF,       /* v: name, fn; a: parameters, b: body; c: N_NAME it is bound to */
    N_IF,        /* a: condition, b: body, c: else body (an elif: one N_IF) */
    N_FOR,       /* a: target, b: iterable, c: body */
    N_RETURN,    /* a or NULL */
    N_BREAK, N_CONTINUE, N_PASS,
    N_LOAD       /* v: module; a: N_ASSIGNs of N_NAME (local) = N_LITERAL (its name there) */
};

/* Where a variable is stored. */
enum sl_scope_kind {
    SCOPE_UNRESOLVED,
    SCOPE_LOCAL,       /* index: a register of the function */
    SCOPE_CELL,        /* index: a register that holds a cell */
    SCOPE_FREE,        /* index: into the captures of the function, a value */
    SCOPE_FREE_CELL,   /* index: into the captures, a cell */
    SCOPE_GLOBAL,      /* index: into the globals of the program */
    SCOPE_PREDECLARED  /* v is still the name; bound: its value */
};
/* clang-format on */

enum { NODE_PARENTHESIZED = 1, COMP_DICT = 2, NODE_SURELY_SET = 4 };

struct sl_function_info;

struct sl_node {
    uint8_t kind;
    uint8_t op;    /* enum sl_operator */
    uint8_t flags; /* NODE_SURELY_SET: the variable surely has a value at this
                * read, so no check is needed */
    uint8_t scope; /* enum sl_scope_kind */
    uint32_t index;
    struct sl_pos pos; /* position for errors of this node */
    struct sl_node *a, *b, *c, *next;
    union {
        struct sl_node *d;           /* N_SLICE */
        struct sl_function_info *fn; /* N_DEF, N_LAMBDA */
        value bound;                 /* SCOPE_PREDECLARED */
    };
    value v;
};

/* A local variable of a function. Parameters come first, with *args and
 * **kwargs last among them. */
struct sl_variable {
    value name;
    struct sl_pos pos; /* position of its first binding */
    bool is_cell;      /* captured, and assigned when a closure may already
                        * exist */
    bool maybe_unset;  /* some read needs a check, so it starts unset */
};

struct sl_function_info { /* Information on a def, a lambda, or the file. */
    value name;           /* "lambda", "<toplevel>" */
    struct sl_pos pos;
    struct sl_variable *locals;
    uint32_t local_count; /* number of registers 0 to local_count - 1 */
    struct sl_capture *captures;
    uint32_t capture_count;
    uint32_t param_count; /* number of positional and keyword-only parameters */
    uint32_t keyword_only_count;
    bool has_star, has_starstar; /* each takes one local after the parameters */
};

struct sl_file {
    struct sl_source source;
    struct sl_node *body;       /* statements */
    struct sl_function_info fn; /* top level; its locals are those of
                                 * comprehensions and loops */
    value *globals;             /* names of the globals by index; the
                                 * resolver adds to the existing ones of an
                                 * interactive interpreter */
    uint32_t global_count;
    /* Names in skipped tokens; no errors are reported for them. */
    struct sl_unsure {
        struct sl_unsure *next;
        value name;
    } * unsure;
};

/* Both add the errors they find with sl_static_error, and return false if there
 * are any or a limit is reached. Call within sl_native_enter, since literals
 * are values. */
bool sl_parse(struct star *s, struct sl_arena *a, struct sl_file *file);
bool sl_resolve(struct star *s, struct sl_arena *a, struct sl_file *file);

/* Compiles a tree; call within sl_native_enter. Returns NULL if a limit is
 * reached, or with a static error if something is too large. In an interactive
 * interpreter the top level returns the value of the last statement if that is
 * an expression. */
struct sl_code *sl_compile(struct star *s, struct star_program *p,
                           const struct sl_file *file);

#endif
