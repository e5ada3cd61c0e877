#include "base/text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "interpreter.h"

/*
 * The functions ask, command and trace. An argument of the wrong type is an
 * error of the program; the host decides whether the request is allowed.
 */

/* --- messages ----------------------------------------------------------------------- */

static void write_all(int fd, const void *p, size_t n)
{
    const char *at = p;

    while (n) {
        ssize_t done = write(fd, at, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            _exit(0); /* the host has exited */
        at += done;
        n -= (size_t)done;
    }
}

void interpreter_begin(struct interpreter *g)
{
    static const char room[MESSAGE_HEADER_BYTES];

    if (!g->out.max)
        buf_init(&g->out, RUN_MESSAGE_MAX_BYTES + MESSAGE_HEADER_BYTES);
    buf_clear(&g->out);
    buf_append(&g->out, str_make(room, sizeof room));
}

void interpreter_send(struct interpreter *g, enum message_kind kind)
{
    unsigned char header[MESSAGE_HEADER_BYTES];

    message_header(kind, g->out.n - sizeof header, header);
    memcpy(g->out.p, header, sizeof header);
    write_all(g->fd, g->out.p, g->out.n);
}

void interpreter_wait(struct interpreter *g)
{
    char *at = (char *)&g->deadline_ms;
    size_t rest = sizeof g->deadline_ms;

    while (rest) {
        ssize_t n = read(g->fd, at, rest);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(0); /* the host has exited, or needs no run */
        at += n;
        rest -= (size_t)n;
    }
}

/* Waits for the REPLY, whose body is stored in `in`. */
static struct str interpreter_receive(struct interpreter *g,
                                      struct message_input *in)
{
    struct message m;
    enum message_state state;

    while ((state = message_take(in, &m)) == MESSAGES_MORE) {
        char *room;
        size_t size;
        ssize_t n;

        message_input_room(in, &room, &size);
        n = room ? read(g->fd, room, size) : 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(0);
        message_input_add(in, (size_t)n);
    }
    if (state == MESSAGES_BAD)
        _exit(0);
    return m.body;
}

/* --- arguments ---------------------------------------------------------------------- */

static struct str text_of(star_value v)
{
    struct str s = {0};

    (void)star_as_text(v, &s.p, &s.n);
    return s;
}

static bool want(struct star *s, star_value v, enum star_type type,
                 const char *what, const char *name)
{
    if (star_type(v) == type)
        return true;
    star_fail(s, "%s: got %s, want %s", what, star_type_name(v), name);
    return false;
}

/* Converts a value to JSON; a value without a JSON form is an error of the
 * program. */
static bool to_json(struct star *s, star_value v, const char *what,
                    struct str *out)
{
    star_value text = star_to_json(s, v);

    if (text == STAR_INVALID) {
        star_fail(s, "%s: %s", what, star_error_message(s));
        return false;
    }
    *out = text_of(text);
    return true;
}

static bool read_opts(struct star *s, star_value opts, const char *what,
                      struct str *json)
{
    *json = STR("{}");
    return opts == STAR_INVALID || (want(s, opts, STAR_DICT, what, "dict") &&
                                    to_json(s, opts, what, json));
}

static bool check_opt(struct star *s, star_value opts, const char *key,
                      enum star_type type, const char *what, const char *name)
{
    star_value v = opts == STAR_INVALID ? opts : star_dict_get(s, opts, key);

    return v == STAR_INVALID || want(s, v, type, what, name);
}

static void begin(struct interpreter *g, struct json_writer *w)
{
    interpreter_begin(g);
    json_writer_init(w, &g->out, 0);
    json_begin_object(w);
}

/* Sends a call, waits, and returns the reply as values. */
static star_value exchange(struct interpreter *g, struct json_writer *w,
                           enum message_kind kind, struct str opts)
{
    struct message_input in;
    struct str reply;
    star_value v;

    json_member_raw(w, "opts", opts);
    json_end_object(w);
    if (g->out.overflowed)
        return star_fail(g->star, "%s: more than %u bytes",
                         kind == MESSAGE_ASK ? "ask" : "command",
                         RUN_MESSAGE_MAX_BYTES);
    interpreter_send(g, kind);
    message_input_init(&in);
    reply = interpreter_receive(g, &in);
    v = star_from_json(g->star, reply.p, reply.n);
    message_input_done(&in);
    return v;
}

/* --- functions ---------------------------------------------------------- */

star_value interpreter_ask(struct star *s, const struct star_args *args)
{
    struct interpreter *g = args->ctx;
    struct json_writer w;
    struct str prompt, opts;
    star_value v[2];

    if (!star_unpack(s, args, "ask", "prompt, opts?", v) ||
        !want(s, v[0], STAR_STRING, "ask: prompt", "string") ||
        !read_opts(s, v[1], "ask: opts", &opts) ||
        !check_opt(s, v[1], "purpose", STAR_STRING, "ask: opts.purpose",
                   "string") ||
        !check_opt(s, v[1], "max_turns", STAR_INT, "ask: opts.max_turns",
                   "int"))
        return STAR_INVALID;
    prompt = text_of(v[0]);
    if (prompt.n > PROMPT_MAX_BYTES)
        return star_fail(s, "ask: the prompt has more than %u bytes",
                         PROMPT_MAX_BYTES);
    begin(g, &w);
    json_member_string(&w, "prompt", prompt);
    return exchange(g, &w, MESSAGE_ASK, opts);
}

/* K25, K26: rejects a shell line, and words that cannot be passed unchanged. */
static const char *bad_argv(star_value argv)
{
    enum star_type type = star_type(argv);
    star_value word;

    if (type != STAR_LIST && type != STAR_TUPLE)
        return "argv must be a list of strings, as [\"git\", \"diff\"]; there "
               "is not a shell";
    if (star_length(argv) == 0)
        return "argv is empty";
    if (star_length(argv) > COMMAND_MAX_WORDS)
        return "argv has too many words";
    for (size_t i = 0; star_item(argv, i, &word); i++) {
        if (star_type(word) != STAR_STRING)
            return "argv must be a list of strings";
        if (star_length(word) > COMMAND_WORDS_MAX_BYTES)
            return "argv is too long";
        if (!text_is_utf8(text_of(word)))
            return "argv holds what is not UTF-8";
    }
    return NULL;
}

static void put_argv(struct json_writer *w, star_value argv)
{
    const char *bad = bad_argv(argv);
    star_value word;

    if (bad) {
        json_member_string(w, "bad", str_cstr(bad));
        return;
    }
    json_member_array(w, "argv");
    for (size_t i = 0; star_item(argv, i, &word); i++)
        json_string(w, text_of(word));
    json_end_array(w);
}

star_value interpreter_command(struct star *s, const struct star_args *args)
{
    struct interpreter *g = args->ctx;
    struct json_writer w;
    struct str opts;
    star_value v[2];

    if (!star_unpack(s, args, "command", "argv, opts?", v) ||
        !read_opts(s, v[1], "command: opts", &opts) ||
        !check_opt(s, v[1], "timeout", STAR_INT, "command: opts.timeout",
                   "int"))
        return STAR_INVALID;
    begin(g, &w);
    put_argv(&w, v[0]);
    return exchange(g, &w, MESSAGE_COMMAND, opts);
}

/* Beyond the limit a trace is dropped at almost no cost (K28). */
star_value interpreter_trace(struct star *s, const struct star_args *args)
{
    struct interpreter *g = args->ctx;
    const struct limits *l = g->job->limits;
    struct json_writer w;
    struct str data = STR("{}");
    star_value v[2];

    if (!star_unpack(s, args, "trace", "kind, data?", v) ||
        !want(s, v[0], STAR_STRING, "trace: kind", "string") ||
        (v[1] != STAR_INVALID &&
         !want(s, v[1], STAR_DICT, "trace: data", "dict")))
        return STAR_INVALID;
    if (g->traces >= l->run_max_traces.value)
        return star_none();
    if (!read_opts(s, v[1], "trace: data", &data))
        return STAR_INVALID;
    g->traces++;
    if (data.n > l->trace_max_bytes.value)
        data = STR("{\"truncated\":true}");
    begin(g, &w);
    json_member_string(&w, "kind",
                       text_cut(text_of(v[0]), TRACE_KIND_MAX_CHARS));
    json_member_raw(&w, "data", data);
    json_end_object(&w);
    interpreter_send(g, MESSAGE_TRACE);
    return star_none();
}
