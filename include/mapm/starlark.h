#ifndef MAPM_STARLARK_H
#define MAPM_STARLARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * starlark: a small, deterministic Python for configuration and workflows,
 * inside any C program.
 *
 *     source --star_compile--> program --star_run--> module
 *     module --star_global--> value (a function) --star_call--> value
 *
 * An interpreter, `struct star`, is a world of its own: its values, programs
 * and limits belong to it alone, so a process may have as many as it likes, on
 * as many threads; one interpreter is used by one thread at a time. It reads no
 * file, clock, environment or locale, prints nothing by itself and never ends
 * the process: the same program with the same input gives the same bytes
 * everywhere. What a program can reach beyond the language is what the host
 * registers.
 *
 * A first program:
 *
 *     struct star *s = star_open(NULL);
 *     struct star_program *p = star_compile(s, "hello.star", text, length);
 *     if (!p || !star_run(s, p))
 *         fputs(star_error_report(s), stderr);
 *     star_close(s);
 *
 * examples/embed/ has a program that calls functions in both directions.
 *
 * ## Failing
 *
 * A function that can fail returns false, NULL or STAR_INVALID (0). Then
 * star_error() returns the limit or rule, star_error_message() what
 * happened, star_error_report() all of it for a person: the traceback, the
 * source line and a caret, a hint. The interpreter is intact: what the program
 * had finished stays, locks of unfinished loops are released, and the next
 * call works as if the failed one had not been made. Nothing here calls exit,
 * abort or longjmp. What star_call, star_run, star_global, star_str, star_repr
 * and star_to_json were given may be what a failed function gave: they fail,
 * too, and the first error stays. No other function may be given it.
 *
 * ## Values and their lifetime
 *
 * A star_value is a word. Small integers, most floats, None and booleans are
 * in the word; everything else is owned by the interpreter and collected when
 * nothing refers to it. A value that the host holds is safe
 *   - while it is an argument of the host function that is being called, or
 *     was made or received since that call began, until it returns;
 *   - outside of any call, until the next star_scope_end() of a scope begun
 *     before it was received, or star_close();
 *   - as long as it is kept with star_keep().
 *
 * Source: the specification of the language (spec.md of 2025-09); where
 * implementations differ, docs/starlark.md lists the choices.
 */

#define STAR_VERSION       "0.1.0"
#define STAR_VERSION_MAJOR 0
#define STAR_VERSION_MINOR 1
#define STAR_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif
#if defined __GNUC__
#    pragma GCC visibility push(default)
#endif

/* Of the library that runs, where STAR_VERSION is that of the header: "0.1.0". */
const char *star_version(void);

struct star;
struct star_program; /* compiled source; owned by the interpreter */

typedef uint64_t star_value;

#define STAR_INVALID ((star_value)0) /* no value: it failed, or is absent */

/* --- an interpreter --------------------------------------------------------- */

/* What a program may use. 0 in any field: its default, or no limit. */
struct star_limits {
    size_t memory_bytes; /* all values, programs and tables; default 64 MiB;
                             an interpreter that runs something has 160 KiB */
    uint64_t steps; /* loop rounds, calls, work of built-ins, and compiling;
                             counted from the opening; no limit */
    uint64_t timeout_ms;  /* of one star_compile, _run or _call; no limit */
    size_t source_bytes;  /* of one program; default 1 MiB */
    size_t output_bytes;  /* given to print in one interpreter; no limit */
    unsigned call_depth;  /* functions inside each other; default 200 */
    unsigned value_depth; /* lists inside lists, when compared, printed, hashed,
                             turned into JSON; default 200, at most 1,000 */
};

/* Stable; star_error_name() gives the name in quotes. */
enum star_error {
    STAR_OK,
    STAR_ERROR_STATIC,   /* "static": the source is no valid program */
    STAR_ERROR_RUNTIME,  /* "runtime": the program failed */
    STAR_ERROR_MEMORY,   /* "memory": over limits.memory_bytes */
    STAR_ERROR_STEPS,    /* "steps" */
    STAR_ERROR_TIMEOUT,  /* "timeout" */
    STAR_ERROR_DEPTH,    /* "depth": call_depth or value_depth */
    STAR_ERROR_OUTPUT,   /* "output": over limits.output_bytes, or the host's
                            print returned false */
    STAR_ERROR_CANCELED, /* "canceled": by star_cancel */
    STAR_ERROR_VALUE,    /* "value": a conversion the host asked for fails */
};

struct star_options {
    struct star_limits limits;
    /* Each print call: its text and a newline. NULL: thrown away. False ends
     * the program with an error. */
    bool (*print)(void *ctx, const char *text, size_t length);
    /* A program's load("name", ...): the module of that name, compiled and run
     * in this interpreter by star_run, or NULL with star_fail. NULL: load is a
     * static error with the text `load_refusal`. */
    struct star_module *(*load)(void *ctx, struct star *s, const char *name,
                                size_t length);
    const char *load_refusal; /* NULL: "load is not available" */
    void *ctx;                /* for print and load */
    bool json;                /* predeclare the json module */
    bool interactive;         /* for a REPL: top-level statements of every kind,
                                 and rebinding of globals, in one module that
                                 stays unfrozen */
};

/* NULL for defaults. NULL when there is not even memory to begin. */
struct star *star_open(const struct star_options *options);
void star_close(struct star *s); /* NULL is fine */

/* From any thread or a signal handler, at any time: what runs in `s` fails with
 * STAR_ERROR_CANCELED within milliseconds; when nothing runs, what runs next.
 * star_cancel_clear forgets it. */
void star_cancel(struct star *s);
void star_cancel_clear(struct star *s);

/* Steps taken and bytes in use, now; the most bytes ever in use. */
struct star_usage {
    uint64_t steps;
    size_t memory_bytes, memory_peak_bytes;
};
struct star_usage star_usage(const struct star *s);

/* New limits from here on. Steps are counted from the opening: to give a call N
 * of its own, set limits.steps to star_usage(s).steps + N. */
void star_set_limits(struct star *s, const struct star_limits *limits);

/* --- errors ----------------------------------------------------------------- */

enum star_error star_error(const struct star *s); /* of the last failure */
const char *star_error_name(enum star_error error);

/* "division by zero"; for static errors the first one, without position. This
 * and all texts of errors below are valid until the next call into the
 * interpreter. */
const char *star_error_message(struct star *s);

/* All of it, lines that end with LF: static errors in the order of the source,
 * or the traceback; each with its source line and a caret; hints. */
const char *star_error_report(struct star *s);

/* The innermost place in a program where it failed; false when there is none.
 * Line and column count from 1, the column in characters. */
struct star_place {
    const char *file;
    uint32_t line, column;
};
bool star_error_place(struct star *s, struct star_place *out);

/*
 * The i-th error of the last failure, from 0: all static errors of a source in
 * its order (the first 100), or the one error of any other failure. False past
 * the last.
 *
 *     for (size_t i = 0; star_error_at(s, i, &error); i++)
 *         show(error.place.line, error.message, error.hint);
 */
struct star_error_info {
    struct star_place place; /* file NULL, line 0: none */
    const char *message;     /* "undefined: prnt" */
    const char *hint;        /* what to write instead; lines, separated by LF,
                                when there are several; or NULL */
};
bool star_error_at(struct star *s, size_t i, struct star_error_info *out);

/* What a host function does to fail: `return star_fail(s, "...")`. Gives
 * STAR_INVALID. A limit that was exceeded in the same call stays the error.
 * Outside of any call it replaces what failed before. */
star_value star_fail(struct star *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- programs --------------------------------------------------------------- */

/*
 * Compiles `length` bytes of UTF-8. Names that are neither defined in the
 * source nor predeclared are errors: register the host's functions first.
 * Errors: STAR_ERROR_STATIC, with all static errors of the source at once;
 * STAR_ERROR_MEMORY, _STEPS, _TIMEOUT, _CANCELED.
 * Ownership: the program lives until star_close or star_program_free.
 */
struct star_program *star_compile(struct star *s, const char *file,
                                  const char *source, size_t length);
void star_program_free(struct star *s, struct star_program *p);

/*
 * What the top level assigns to a name, found without running it: what a host
 * that will call a function can check beforehand. FUNCTION: a def or lambda,
 * and `*out` says how it may be called.
 */
enum star_global_kind {
    STAR_GLOBAL_NONE, /* the name is not assigned at the top level */
    STAR_GLOBAL_FUNCTION,
    STAR_GLOBAL_VALUE, /* of another expression: known after running it */
};
struct star_signature {
    uint32_t line, column; /* where it begins */
    uint32_t required;     /* positional parameters without default */
    uint32_t positional;   /* all of them; UINT32_MAX with *args */
    uint32_t named;        /* keyword-only ones without default */
};
enum star_global_kind star_program_global(const struct star_program *p,
                                          const char *name,
                                          struct star_signature *out);

struct star_module; /* the globals of a program that was run */

/* Runs the top level, then freezes all its globals and what they reach. NULL on
 * failure. The module lives as long as the interpreter. In an interactive
 * interpreter all programs share one module, which is not frozen; `result`,
 * unless NULL, gets the value of a last statement that is an expression, else
 * None. */
struct star_module *star_run(struct star *s, struct star_program *p);
struct star_module *star_run_interactive(struct star *s, struct star_program *p,
                                         star_value *result);

/* The global of that name, or STAR_INVALID. */
star_value star_global(const struct star_module *m, const char *name);

/* The i-th global in the order of definition: its name, or NULL past the
 * last. `value` gets STAR_INVALID when it was not assigned. */
const char *star_global_at(const struct star_module *m, size_t i,
                           star_value *value);

/* Calls a function, with `count` positional and `named` named arguments. */
struct star_named {
    const char *name;
    star_value value;
};
star_value star_call(struct star *s, star_value function,
                     const star_value *args, size_t count,
                     const struct star_named *named, size_t named_count);

/* The program as its instructions, one a line, for a person. Valid until the
 * next call into the interpreter; NULL on failure. */
const char *star_disassemble(struct star *s, const struct star_program *p);

/* --- host functions --------------------------------------------------------- */

/* What a host function was called with. Valid during the call. */
struct star_args {
    const star_value *values; /* positional */
    size_t count;
    const star_value *names; /* strings; of named arguments */
    const star_value *named; /* their values */
    size_t named_count;
    void *ctx;       /* from star_register or star_builtin; of a method: the
                        data of its object */
    star_value self; /* of a method: its object; else STAR_INVALID */
};

/* Returns its result (star_none() for nothing), or star_fail(...). */
typedef star_value star_function(struct star *s, const struct star_args *args);

/* Makes `name` predeclared in programs compiled from now on. */
bool star_register(struct star *s, const char *name, star_function *function,
                   void *ctx);
bool star_predeclare(struct star *s, const char *name, star_value value);

/* The same function as a value, to be passed to a program, returned or put into
 * a container. `name` is copied; it is what errors show. */
star_value star_builtin(struct star *s, const char *name,
                        star_function *function, void *ctx);

/*
 * Reads arguments by a pattern of names, "a, b?, c?": those before the first
 * "?" are required, none may be given twice, others are errors in Starlark's
 * usual words. Absent ones become STAR_INVALID. `function` names the caller
 * in errors. `out` has room for as many values as the pattern has names, which
 * are 32 at most.
 *
 *     star_value v[2];
 *     if (!star_unpack(s, a, "ask", "prompt, options?", v))
 *         return STAR_INVALID;
 */
bool star_unpack(struct star *s, const struct star_args *args,
                 const char *function, const char *pattern, star_value *out);

/* Charges `units` of the host's own work as steps and looks for timeout and
 * cancellation; false when the program must end: return STAR_INVALID. */
bool star_charge(struct star *s, uint64_t units);

/* --- objects of the host ------------------------------------------------------ */

/*
 * A type of values that the host defines: what x.name means in a program. The
 * table must outlive the interpreter. Programs cannot change such an object;
 * methods may change what it stands for. It is equal to itself alone, may be a
 * key, is true, and has no length, order or JSON.
 *
 *     static const struct star_member members[] = {
 *         {"path", file_path, NULL}, {"read", NULL, file_read}, {NULL, NULL, NULL}};
 *     static const struct star_class file_class = {"file", members, file_close};
 *     ...
 *     return star_object(s, &file_class, f);
 */
struct star_member {
    const char *name;
    /* An attribute: its value now, or star_fail(...). */
    star_value (*get)(struct star *s, void *data);
    /* Or a method: args->self is the object, args->ctx its data. */
    star_function *method;
};
struct star_class {
    const char *name;                  /* what type(x) gives */
    const struct star_member *members; /* ended by a NULL name; NULL: none */
    /* When the object is collected, or by star_close at last; must not use the
     * interpreter. NULL: nothing to do. */
    void (*release)(void *data);
};

/* An object of that type. On failure nothing is released. */
star_value star_object(struct star *s, const struct star_class *type,
                       void *data);
/* The data of an object of just that type; false for any other value. */
bool star_object_data(star_value v, const struct star_class *type, void **data);

/* --- values ----------------------------------------------------------------- */

enum star_type {
    STAR_NONE,
    STAR_BOOL,
    STAR_INT,
    STAR_FLOAT,
    STAR_STRING,
    STAR_BYTES,
    STAR_LIST,
    STAR_TUPLE,
    STAR_DICT,
    STAR_SET,
    STAR_FUNCTION,
    STAR_BUILTIN,
    STAR_OTHER,  /* range, string.elems, modules ... */
    STAR_OBJECT, /* of star_object */
};
enum star_type star_type(star_value v);
const char *star_type_name(star_value v); /* as type() in a program */

star_value star_none(void);
star_value star_bool(bool b);
star_value star_int(struct star *s, int64_t n);
star_value star_int_from_text(struct star *s, const char *digits,
                              size_t length);
star_value star_float(struct star *s, double d);
/* Copies; any bytes will do, UTF-8 is expected. */
star_value star_string(struct star *s, const char *text, size_t length);
star_value star_bytes(struct star *s, const void *data, size_t length);
star_value star_list(struct star *s);
star_value star_tuple(struct star *s, const star_value *items, size_t count);
star_value star_dict(struct star *s);

bool star_truth(star_value v);
bool star_equal(struct star *s, star_value a, star_value b, bool *equal);

/* False when `v` is of another type or out of range. */
bool star_as_int(star_value v, int64_t *out);
bool star_as_float(star_value v, double *out); /* of ints, too */
/* Of a string or bytes; not copied, and not ended by NUL. Borrowed: valid as
 * long as the value. */
bool star_as_text(star_value v, const char **text, size_t *length);

/* Of a list, tuple, dict, set, string or bytes; 0 of others. */
size_t star_length(star_value v);
/* Items of a list or tuple; entries of a dict or set in their order. */
bool star_item(star_value v, size_t i, star_value *out);
bool star_entry(star_value dict, size_t i, star_value *key, star_value *value);
/* STAR_INVALID when it is not there. */
star_value star_dict_get(struct star *s, star_value dict, const char *key);

/* False, with an error, on a frozen or iterated one, or when memory ends. */
bool star_append(struct star *s, star_value list, star_value item);
bool star_dict_set(struct star *s, star_value dict, star_value key,
                   star_value value);

/* As str() and repr() in a program. Valid as a value is; NULL on failure. */
star_value star_str(struct star *s, star_value v);
star_value star_repr(struct star *s, star_value v);

bool star_freeze(struct star *s, star_value v); /* and all it reaches */

/* Lifetimes, see above. A kept value must be dropped as often as it was kept. */
bool star_keep(struct star *s, star_value v);
void star_drop(struct star *s, star_value v);
size_t star_scope_begin(struct star *s);
void star_scope_end(struct star *s, size_t scope);

/* --- JSON, and from one interpreter to another ------------------------------- */

/*
 * One JSON text as values: objects become dicts in their order, ints stay exact,
 * numbers with a fraction or exponent become floats. A duplicate key is an
 * error. Invalid UTF-8 and lone surrogates become U+FFFD.
 */
star_value star_from_json(struct star *s, const char *text, size_t length);

/*
 * A value as one line of JSON, a string value. Tuples become arrays; ints exact;
 * dicts in their order. Errors: STAR_ERROR_VALUE for keys that are no strings,
 * sets, functions, NaN and infinities, cycles; a STAR_ERROR_DEPTH.
 */
star_value star_to_json(struct star *s, star_value v);

/* A deep, unfrozen copy of `v`, which belongs to `from`, for `to`: what JSON
 * has and sets, bytes and tuples; other values fail. `from` is not changed. */
star_value star_copy(struct star *to, struct star *from, star_value v);

#if defined __GNUC__
#    pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
