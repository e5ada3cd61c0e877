#include "interpreter.h"

#include "base/proc.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    star_function *function;
} functions[] = {{"ask", interpreter_ask},
                 {"command", interpreter_command},
                 {"trace", interpreter_trace}};

struct star *interpreter_open(const struct star_options *options,
                              struct interpreter *g)
{
    struct star_options o = {0};
    struct star *s;

    if (options)
        o = *options;
    o.limits.source_bytes = PROGRAM_MAX_BYTES;
    o.load_refusal = "load is not available: metaskills are hermetic, one "
                     "file each";
    s = star_open(&o);
    if (!s)
        return NULL;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (star_register(s, functions[i].name, functions[i].function, g))
            continue;
        star_close(s);
        return NULL;
    }
    return s;
}

/* Prints output for the user; beyond the limit it is dropped without being
 * sent. */
static bool print(void *ctx, const char *text, size_t length)
{
    struct interpreter *g = ctx;
    size_t room = PRINT_MAX_BYTES - g->printed;

    if (room == 0)
        return true;
    if (length > room)
        length = room;
    interpreter_begin(g);
    buf_append(&g->out, str_make(text, length));
    g->printed += length;
    interpreter_send(g, MESSAGE_PRINT);
    return true;
}

/* --- the end -------------------------------------------------------------------------- */

static void put_why(struct json_writer *w, struct interpreter *g)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct star_place at;

    buf_init(&b, 65536);
    if (star_error_place(g->star, &at))
        buf_printf(&b, "%s:%u:%u: ", at.file, at.line, at.column);
    buf_text(&b, star_error_message(g->star));
    json_member_string(w, "why", buf_str(&b));
}

/* Sends the error of the interpreter, or g->fault if that is set. */
static void send_failure(struct interpreter *g)
{
    struct json_writer w;
    enum star_error error = star_error(g->star);

    interpreter_begin(g);
    json_writer_init(&w, &g->out, 0);
    json_begin_object(&w);
    json_member_string(&w, "code", str_cstr(star_error_name(error)));
    if (g->fault) {
        json_member_string(&w, "why", str_cstr(g->fault));
        json_member_string(&w, "report", STR(""));
    } else {
        put_why(&w, g);
        json_member_string(&w, "report", str_cstr(star_error_report(g->star)));
    }
    json_end_object(&w);
    interpreter_send(g, MESSAGE_FAILURE);
}

/* Writes a string as JSON. Of a long one only as much as exceeds the limit is
 * written, since it is cut in any case (K35). */
static void put_text(struct interpreter *g, struct json_writer *w, star_value v)
{
    struct str s = {0};

    (void)star_as_text(v, &s.p, &s.n);
    json_string(w, text_cut(s, g->job->limits->result_max_chars.value + 1));
}

/* Writes a member of the result. Skips the key of the trace, which the host
 * writes; only the answer may be cut. */
static bool put_entry(struct interpreter *g, struct json_writer *w,
                      star_value key, star_value value)
{
    struct str name = {0}, text = {0};
    star_value json;

    if (star_type(key) != STAR_STRING) {
        g->fault = "run() returned a dict with a key that is no string";
        return false;
    }
    (void)star_as_text(key, &name.p, &name.n);
    if (str_is(name, "trace"))
        return true;
    json_key_str(w, name);
    if (str_is(name, "answer") && star_type(value) == STAR_STRING) {
        put_text(g, w, value);
        return true;
    }
    json = star_to_json(g->star, value);
    if (json == STAR_INVALID) {
        if (star_error(g->star) == STAR_ERROR_VALUE)
            star_fail(g->star, "run() returned a dict that is no JSON: %s",
                      star_error_message(g->star));
        return false;
    }
    (void)star_as_text(json, &text.p, &text.n);
    json_raw(w, text);
    return true;
}

static bool put_dict(struct interpreter *g, struct json_writer *w,
                     star_value dict)
{
    size_t scope = star_scope_begin(g->star);
    star_value key, value;
    bool ok = true;

    json_begin_object(w);
    for (size_t i = 0; ok && star_entry(dict, i, &key, &value); i++) {
        ok = put_entry(g, w, key, value) && !g->out.overflowed;
        star_scope_end(g->star, scope);
    }
    json_end_object(w);
    return ok;
}

/* K32: the result is None, a string or a dict. */
static bool put_result(struct interpreter *g, star_value v)
{
    static char fault[200];
    struct json_writer w;
    bool ok = true;

    interpreter_begin(g);
    json_writer_init(&w, &g->out, 0);
    switch (star_type(v)) {
    case STAR_NONE:
        json_null(&w);
        break;
    case STAR_STRING:
        put_text(g, &w, v);
        break;
    case STAR_DICT:
        ok = put_dict(g, &w, v);
        break;
    default:
        snprintf(fault, sizeof fault,
                 "run() returned %s; it may be None, a string or a dict",
                 star_type_name(v));
        g->fault = fault;
        return false;
    }
    if (g->out.overflowed)
        g->fault = "run() returned more than fits in a result";
    return ok && !g->out.overflowed;
}

/* --- the run -------------------------------------------------------------------------- */

/* Sets the remaining time; the clock also runs between the steps of a run and
 * while it waits. */
static bool set_clock(struct interpreter *g, struct star_limits *limits)
{
    uint64_t now = proc_now_ms();

    if (now >= g->deadline_ms) {
        g->fault = "timeout";
        return false;
    }
    limits->timeout_ms = g->deadline_ms - now;
    star_set_limits(g->star, limits);
    return true;
}

static star_value find_run(struct interpreter *g, const struct star_module *m)
{
    star_value run = star_global(m, "run");
    enum star_type type = run ? star_type(run) : STAR_NONE;

    if (!run)
        g->fault = "it has no function run(input)";
    else if (type != STAR_FUNCTION && type != STAR_BUILTIN)
        g->fault = "its global run is no function";
    return g->fault ? STAR_INVALID : run;
}

/* Runs the top level and then run(input), once each (K19). */
static bool execute(struct interpreter *g, struct star_limits *limits)
{
    const struct runtime_job *job = g->job;
    struct star_program *p;
    struct star_module *m = NULL;
    star_value run, input, result;
    char file[256];

    snprintf(file, sizeof file, "%.*s", STR_ARG(job->file));
    if (!set_clock(g, limits))
        return false;
    p = star_compile(g->star, file, job->program.p, job->program.n);
    if (p && set_clock(g, limits))
        m = star_run(g->star, p);
    run = m ? find_run(g, m) : STAR_INVALID;
    if (!run || !set_clock(g, limits))
        return false;
    input = star_from_json(g->star, job->input.p, job->input.n);
    result = star_call(g->star, run, &input, 1, NULL, 0);
    return result != STAR_INVALID && set_clock(g, limits) &&
           put_result(g, result);
}

void interpreter_run(struct interpreter *g)
{
    const struct limits *l = g->job->limits;
    struct star_options o = {
        .limits =
            {
                .memory_bytes = (size_t)l->run_max_memory_bytes.value,
                .steps = l->run_max_steps.value,
                .source_bytes = PROGRAM_MAX_BYTES,
            },
        .print = print,
        .ctx = g,
    };

    g->star = interpreter_open(&o, g);
    if (!g->star)
        return;
    interpreter_wait(g);
    if (execute(g, &o.limits))
        interpreter_send(g, MESSAGE_RESULT);
    else
        send_failure(g);
}
