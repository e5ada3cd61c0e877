#ifndef MAPM_STARLARK_H
#define MAPM_STARLARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * libstarlark: an interpreter for Starlark, a small, deterministic dialect of
 * Python, that can be embedded in any C program.
 *
 *     source --star_compile--> program --star_run--> module
 *     module --star_global--> value (a function) --star_call--> value
 *
 * An interpreter, `struct star`, owns its values, programs and limits and
 * shares nothing with other interpreters. A process may have any number of them
 * on any number of threads; one interpreter is used by one thread at a time. An
 * interpreter reads no file, clock, environment or locale, prints nothing by
 * itself and never ends the process: the same program with the same input
 * produces the same bytes everywhere. A program can use the language and what
 * the host registers, nothing else.
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
 * ## Errors
 *
 * A function that can fail returns false, NULL or STAR_INVALID (0). Then
 * star_error() returns the kind of error, star_error_message() a one-line
 * description, and star_error_report() a full report for the user: the
 * traceback, the source line with a caret, and a hint. The interpreter remains
 * usable: completed effects of the program persist, unfinished loops release
 * their locks on the containers they iterate over, and the next call is
 * unaffected by the failure. The library never calls exit, abort or longjmp.
 *
 * The result of a failed function may be passed to star_call, star_run,
 * star_global, star_str, star_repr and star_to_json: these then fail too, and
 * the first error is kept. It must not be passed to any other function.
 *
 * ## Values and their lifetime
 *
 * A star_value is one 64-bit word. Small integers, most floats, None and
 * booleans are stored in the word itself; all other values are owned by the
 * interpreter and garbage collected. A value that the host holds is valid
 *   - during a call of a host function: if it is an argument, or was created or
 *     received since that call began, until the call returns;
 *   - outside of any call: until the next star_scope_end() of a scope that
 *     began before it was received, or until star_close();
 *   - between star_keep() and star_drop().
 *
 * Source: the language specification (spec.md of 2025-09); docs/starlark.md
 * lists the choices made where implementations differ.
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

/* Returns the version of the library at run time, "0.1.0"; STAR_VERSION is the
 * version of the header at compile time. */
const char *star_version(void);

struct star;
struct star_program; /* compiled source; owned by the interpreter */

typedef uint64_t star_value;

#define STAR_INVALID ((star_value)0) /* no value: an error, or absent */

/* --- an interpreter --------------------------------------------------------- */

/* Limits on programs. 0 in a field selects the default, which may be "no
 * limit". */
struct star_limits {
    /* Memory for all values, programs and tables; default 64 MiB. An
     * interpreter that runs something uses at least 160 KiB. */
    size_t memory_bytes;
    /* Loop iterations, calls, work of built-ins and compilation, counted since
     * star_open(); default: no limit. */
    uint64_t steps;
    uint64_t timeout_ms; /* per star_compile, _run, _call; no limit */
    size_t source_bytes; /* source of one program; default 1 MiB */
    size_t output_bytes; /* total output of print; no limit */
    unsigned call_depth; /* nested calls; default 200 */
    /* Nesting of values that are compared, printed, hashed or converted to
     * JSON; default 200, at most 1,000. */
    unsigned value_depth;
};

/* Kinds of errors; the numbers do not change. star_error_name() returns the
 * name in quotes. */
enum star_error {
    STAR_OK,
    STAR_ERROR_STATIC,   /* "static": the source is not a valid program */
    STAR_ERROR_RUNTIME,  /* "runtime": the program failed */
    STAR_ERROR_MEMORY,   /* "memory": limits.memory_bytes exceeded */
    STAR_ERROR_STEPS,    /* "steps" */
    STAR_ERROR_TIMEOUT,  /* "timeout" */
    STAR_ERROR_DEPTH,    /* "depth": call_depth or value_depth exceeded */
    STAR_ERROR_OUTPUT,   /* "output": limits.output_bytes exceeded, or print of
                            the host returned false */
    STAR_ERROR_CANCELED, /* "canceled": star_cancel was called */
    STAR_ERROR_VALUE,    /* "value": a conversion for the host failed */
};

struct star_options {
    struct star_limits limits;
    /* Receives the text of each print call, with a newline. NULL discards it.
     * Returning false ends the program with an error. */
    bool (*print)(void *ctx, const char *text, size_t length);
    /* Implements load("name", ...): returns the module of that name, compiled
     * and run in this interpreter by star_run, or NULL after star_fail. If this
     * is NULL, load is a static error with the text `load_refusal`. */
    struct star_module *(*load)(void *ctx, struct star *s, const char *name,
                                size_t length);
    const char *load_refusal; /* NULL: "load is not available" */
    void *ctx;                /* passed to print and load */
    bool json;                /* predeclare the json module */
    /* REPL mode: allows all kinds of statements at the top level and rebinding
     * of globals, in one module that is not frozen. */
    bool interactive;
};

/* Creates an interpreter; `options` may be NULL for the defaults. Returns NULL
 * if memory is exhausted. */
struct star *star_open(const struct star_options *options);
void star_close(struct star *s); /* `s` may be NULL */

/* Cancels the running call, which then fails with STAR_ERROR_CANCELED within
 * milliseconds; if nothing is running, the next call fails. May be called at
 * any time, from any thread or signal handler. star_cancel_clear withdraws the
 * cancellation. */
void star_cancel(struct star *s);
void star_cancel_clear(struct star *s);

/* Steps so far, bytes in use now, and the maximum of bytes in use. */
struct star_usage {
    uint64_t steps;
    size_t memory_bytes, memory_peak_bytes;
};
struct star_usage star_usage(const struct star *s);

/* Changes the limits. Steps are counted since star_open(): to allow N more, set
 * limits.steps to star_usage(s).steps + N. */
void star_set_limits(struct star *s, const struct star_limits *limits);

/* --- errors ----------------------------------------------------------------- */

enum star_error star_error(const struct star *s); /* kind of the last error */
const char *star_error_name(enum star_error error);

/* Returns the message of the last error, "division by zero"; for static errors,
 * that of the first one, without its position. This string and the other error
 * strings below are valid until the next call into the interpreter. */
const char *star_error_message(struct star *s);

/* Returns a full report of several lines, each ended by LF: the static errors
 * in source order, or the traceback; each with its source line, a caret and
 * hints. */
const char *star_error_report(struct star *s);

/* Gets the innermost source position of the error; returns false if there is
 * none. Line and column count from 1, the column in characters. */
struct star_place {
    const char *file;
    uint32_t line, column;
};
bool star_error_place(struct star *s, struct star_place *out);

/*
 * Gets error number `i` (from 0) of the last failure: one of the static errors
 * of a source in source order (at most 100), or the single error of another
 * failure. Returns false past the last one.
 *
 *     for (size_t i = 0; star_error_at(s, i, &error); i++)
 *         show(error.place.line, error.message, error.hint);
 */
struct star_error_info {
    struct star_place place; /* file is NULL and line 0 if unknown */
    const char *message;     /* "undefined: prnt" */
    /* How to correct the source: lines separated by LF; NULL if there is no
     * hint. */
    const char *hint;
};
bool star_error_at(struct star *s, size_t i, struct star_error_info *out);

/* Reports an error from a host function: `return star_fail(s, "...")`. Returns
 * STAR_INVALID. If a limit was exceeded during the same call, that error is
 * kept. Outside of any call, replaces the last error. */
star_value star_fail(struct star *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- programs --------------------------------------------------------------- */

/*
 * Compiles `length` bytes of UTF-8. A name that is neither defined in the
 * source nor predeclared is an error, so register the host's functions first.
 *
 * Errors: STAR_ERROR_STATIC, with all static errors of the source;
 * STAR_ERROR_MEMORY, _STEPS, _TIMEOUT, _CANCELED.
 * Ownership: the program lives until star_close or star_program_free.
 */
struct star_program *star_compile(struct star *s, const char *file,
                                  const char *source, size_t length);
void star_program_free(struct star *s, struct star_program *p);

/* Returns whether an interactive host should read another line before it compiles
 * `source`: a bracket or a long string is open, the last line is continued, or a
 * block is not yet ended by a blank line. */
bool star_is_incomplete(const char *source, size_t length);

/* Returns the kind of value that the top level assigns to `name`, without
 * running the program, so that a host can check a function before it calls it.
 * For STAR_GLOBAL_FUNCTION, a def or lambda, sets `*out` to its signature. */
enum star_global_kind {
    STAR_GLOBAL_NONE, /* not assigned at the top level */
    STAR_GLOBAL_FUNCTION,
    STAR_GLOBAL_VALUE, /* another expression, evaluated at run time */
};
struct star_signature {
    uint32_t line, column; /* position of the definition */
    uint32_t required;     /* positional parameters without a default */
    uint32_t positional;   /* all positional parameters; UINT32_MAX with
                              *args */
    uint32_t named;        /* keyword-only parameters without a default */
};
enum star_global_kind star_program_global(const struct star_program *p,
                                          const char *name,
                                          struct star_signature *out);

struct star_module; /* globals of a program after its run */

/* Runs the top level of a program, then freezes its globals and all values
 * reachable from them. Returns NULL on failure. The module lives as long as the
 * interpreter. In an interactive interpreter all programs share one module,
 * which is not frozen; `result`, unless NULL, is set to the value of the last
 * statement if it is an expression, otherwise to None. */
struct star_module *star_run(struct star *s, struct star_program *p);
struct star_module *star_run_interactive(struct star *s, struct star_program *p,
                                         star_value *result);

/* Returns the global `name`, or STAR_INVALID if there is none. */
star_value star_global(const struct star_module *m, const char *name);

/* Returns the name of global number `i` in the order of definition, or NULL
 * past the last. Sets `*value` to its value, STAR_INVALID if it was not
 * assigned. */
const char *star_global_at(const struct star_module *m, size_t i,
                           star_value *value);

/* Calls `function` with `count` positional and `named_count` named
 * arguments. */
struct star_named {
    const char *name;
    star_value value;
};
star_value star_call(struct star *s, star_value function,
                     const star_value *args, size_t count,
                     const struct star_named *named, size_t named_count);

/* Returns a listing of the program's instructions, one per line, for debugging.
 * Valid until the next call into the interpreter; NULL on failure. */
const char *star_disassemble(struct star *s, const struct star_program *p);

/* --- host functions --------------------------------------------------------- */

/* The arguments that a host function is called with; valid during the call. */
struct star_args {
    const star_value *values; /* positional */
    size_t count;
    const star_value *names; /* names of the named arguments, strings */
    const star_value *named; /* their values */
    size_t named_count;
    /* The `ctx` of star_register or star_builtin; in a method, the data of its
     * object. */
    void *ctx;
    star_value self; /* the object of a method; otherwise STAR_INVALID */
};

/* A host function. Returns its result (star_none() if it has none), or
 * star_fail(...). */
typedef star_value star_function(struct star *s, const struct star_args *args);

/* Makes a host function or a value predeclared as `name` in programs that are
 * compiled afterwards. */
bool star_register(struct star *s, const char *name, star_function *function,
                   void *ctx);
bool star_predeclare(struct star *s, const char *name, star_value value);

/* Returns a host function as a value, which can be passed to a program,
 * returned or stored in a container. `name` is copied; errors show it. */
star_value star_builtin(struct star *s, const char *name,
                        star_function *function, void *ctx);

/*
 * Unpacks arguments by a pattern of names, "a, b?, c?": the names before the
 * first "?" are required. Missing, duplicate and unknown arguments fail with
 * Starlark's usual messages, which name `function`. Absent optional arguments
 * become STAR_INVALID. The pattern has at most 32 names; `out` must have room
 * for as many values.
 *
 *     star_value v[2];
 *     if (!star_unpack(s, a, "ask", "prompt, options?", v))
 *         return STAR_INVALID;
 */
bool star_unpack(struct star *s, const struct star_args *args,
                 const char *function, const char *pattern, star_value *out);

/* Charges `units` of work done by the host as steps and checks for timeout and
 * cancellation. On false the host function must return STAR_INVALID. */
bool star_charge(struct star *s, uint64_t units);

/* --- objects of the host ------------------------------------------------------ */

/*
 * A type of objects defined by the host: the table of the attributes and
 * methods that a program accesses as x.name. The table must outlive the
 * interpreter. Programs cannot change such an object, but its methods may
 * change the host's data. An object is equal only to itself, can be a dict key,
 * is true, and has no length, order or JSON representation.
 *
 *     static const struct star_member members[] = {
 *         {"path", file_path, NULL}, {"read", NULL, file_read}, {NULL, NULL, NULL}};
 *     static const struct star_class file_class = {"file", members, file_close};
 *     ...
 *     return star_object(s, &file_class, f);
 */
struct star_member {
    const char *name;
    /* Attribute: returns its current value, or star_fail(...). */
    star_value (*get)(struct star *s, void *data);
    /* Method: args->self is the object, args->ctx its data. */
    star_function *method;
};
struct star_class {
    const char *name;                  /* result of type(x) */
    const struct star_member *members; /* ended by a NULL name; NULL for none */
    /* Called when the object is collected, in star_close at the latest; must
     * not use the interpreter. May be NULL. */
    void (*release)(void *data);
};

/* Returns a new object of `type`. On failure `release` is not called. */
star_value star_object(struct star *s, const struct star_class *type,
                       void *data);
/* Gets the data of an object of exactly `type`; returns false for other
 * values. */
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
    STAR_OBJECT, /* objects of star_object */
};
enum star_type star_type(star_value v);
const char *star_type_name(star_value v); /* result of type(v) */

star_value star_none(void);
star_value star_bool(bool b);
star_value star_int(struct star *s, int64_t n);
star_value star_int_from_text(struct star *s, const char *digits,
                              size_t length);
star_value star_float(struct star *s, double d);
/* Copies the text, which should be UTF-8; other bytes are kept as they are. */
star_value star_string(struct star *s, const char *text, size_t length);
star_value star_bytes(struct star *s, const void *data, size_t length);
star_value star_list(struct star *s);
star_value star_tuple(struct star *s, const star_value *items, size_t count);
star_value star_dict(struct star *s);

bool star_truth(star_value v);
bool star_equal(struct star *s, star_value a, star_value b, bool *equal);

/* Return false if `v` has another type or is out of range. */
bool star_as_int(star_value v, int64_t *out);
bool star_as_float(star_value v, double *out); /* also accepts ints */
/* Gets the contents of a string or bytes value, which are not copied and not
 * terminated by NUL. Borrowed: valid as long as the value. */
bool star_as_text(star_value v, const char **text, size_t *length);

/* Returns the length of a list, tuple, dict, set, string or bytes; 0 for
 * others. */
size_t star_length(star_value v);
/* Get an item of a list or tuple, or an entry of a dict or set in its order;
 * return false if there is none. */
bool star_item(star_value v, size_t i, star_value *out);
bool star_entry(star_value dict, size_t i, star_value *key, star_value *value);
/* Returns STAR_INVALID if the key is absent. */
star_value star_dict_get(struct star *s, star_value dict, const char *key);

/* Fail if the container is frozen or being iterated over, or if memory is
 * exhausted. */
bool star_append(struct star *s, star_value list, star_value item);
bool star_dict_set(struct star *s, star_value dict, star_value key,
                   star_value value);

/* Return the result of str() and repr() as a string value; STAR_INVALID on
 * failure. */
star_value star_str(struct star *s, star_value v);
star_value star_repr(struct star *s, star_value v);

bool star_freeze(struct star *s, star_value v); /* and all values reachable from
                                                   it */

/* Extend and bound lifetimes, see above. Call star_drop once for each
 * star_keep. */
bool star_keep(struct star *s, star_value v);
void star_drop(struct star *s, star_value v);
size_t star_scope_begin(struct star *s);
void star_scope_end(struct star *s, size_t scope);

/* --- JSON, and from one interpreter to another ------------------------------- */

/* Parses one JSON text: objects become dicts in their order, integers are
 * exact, numbers with a fraction or exponent become floats. A duplicate key is
 * an error. Invalid UTF-8 and lone surrogates become U+FFFD. */
star_value star_from_json(struct star *s, const char *text, size_t length);

/*
 * Returns `v` as one line of JSON, in a string value. Tuples become arrays,
 * integers are exact, dicts keep their order.
 *
 * Errors: STAR_ERROR_VALUE for keys that are not strings, sets, functions, NaN,
 * infinities and cycles; STAR_ERROR_DEPTH.
 */
star_value star_to_json(struct star *s, star_value v);

/* Copies `v` of the interpreter `from`, which is not changed, to `to`: returns
 * a deep, unfrozen copy. Accepts JSON values, sets, bytes and tuples; fails on
 * others. */
star_value star_copy(struct star *to, struct star *from, star_value v);

#if defined __GNUC__
#    pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
