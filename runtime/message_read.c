#include "base/text.h"

#include "message.h"

/* Parses messages of the program into values; one invalid part invalidates the
 * message. */

/* No message of a regular program has more values. */
#define NODES_MAX 200000

static const struct json *read_json(struct str body, struct arena *a)
{
    static const struct json_options options = {
        .max_bytes = RUN_MESSAGE_MAX_BYTES,
        .max_depth = MESSAGE_MAX_DEPTH,
        .max_nodes = NODES_MAX,
    };
    const struct json *j;
    struct err ignored = {0};

    return json_parse(body, &options, a, &j, NULL, &ignored) ? j : NULL;
}

static bool read_string(const struct json *object, const char *key,
                        struct str *out)
{
    const struct json *j = json_get(object, key);

    *out = json_text(j);
    return j && j->kind == JSON_STRING;
}

/* Reads `opts`; the object is kept serialized, on one line. */
static bool read_opts(const struct json *call, struct arena *a,
                      const struct json **opts, struct str *text)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    *opts = json_get(call, "opts");
    if (!*opts || (*opts)->kind != JSON_OBJECT)
        return false;
    buf_init(&b, 6 * (size_t)RUN_MESSAGE_MAX_BYTES);
    json_writer_init(&w, &b, 0);
    json_value(&w, *opts);
    *text = arena_str(a, buf_str(&b));
    return !b.overflowed;
}

/* Reads a whole number, clamped to the range from 1 to `most`; if absent, uses
 * `otherwise` (K23, K26). */
static bool read_clamped(const struct json *opts, const char *key,
                         unsigned otherwise, uint64_t most, unsigned *out)
{
    const struct json *j = json_get(opts, key);
    uint64_t n = otherwise;

    if (j && j->kind != JSON_NUMBER)
        return false;
    if (j && j->text.p[0] == '-')
        n = 1;
    else if (j && !str_number(j->text, UINT64_MAX, &n))
        /* too large, or not an integer: an error of the sender */
        n = UINT64_MAX;
    if (n < 1)
        n = 1;
    *out = (unsigned)(n < most ? n : most);
    return true;
}

bool message_read_ask(struct str body, const struct limits *l, struct arena *a,
                      struct ask *out)
{
    const struct json *call = read_json(body, a), *opts, *purpose;
    unsigned most = (unsigned)l->ask_max_turns.value;

    if (!call || !read_string(call, "prompt", &out->prompt) ||
        out->prompt.n > PROMPT_MAX_BYTES ||
        !read_opts(call, a, &opts, &out->opts))
        return false;
    purpose = json_get(opts, "purpose");
    if (purpose && purpose->kind != JSON_STRING)
        return false;
    out->purpose = text_cut(json_text(purpose), TRACE_KIND_MAX_CHARS);
    return read_clamped(opts, "max_turns", most, most, &out->max_turns);
}

static const char *check_words(const struct str *argv, size_t count)
{
    size_t bytes = 0;

    if (count == 0 || argv[0].n == 0)
        return "argv names no program";
    if (count > COMMAND_MAX_WORDS)
        return "argv has too many words";
    for (size_t i = 0; i < count; i++) {
        bytes += argv[i].n + 1;
        if (str_has_char(argv[i], '\0'))
            return "argv holds a NUL character";
        if (bytes > COMMAND_WORDS_MAX_BYTES)
            return "argv is too long";
    }
    return NULL;
}

static bool read_words(const struct json *list, struct arena *a,
                       struct command *out)
{
    struct str *argv;
    size_t n = 0;

    if (!list || list->kind != JSON_ARRAY)
        return false;
    argv = arena_array(a, list->count, sizeof *argv);
    for (const struct json *j = list->first; j; j = j->next) {
        if (j->kind != JSON_STRING)
            return false;
        argv[n++] = j->text;
    }
    out->argv = argv;
    out->argc = n;
    return true;
}

bool message_read_command(struct str body, const struct limits *l,
                          struct arena *a, struct command *out,
                          const char **bad)
{
    const struct json *call = read_json(body, a), *opts;
    uint64_t most = l->command_max_seconds.value;
    struct str fault;

    if (!call || !read_opts(call, a, &opts, &out->opts) ||
        !read_clamped(opts, "timeout", COMMAND_SECONDS, most, &out->timeout_s))
        return false;
    if (read_string(call, "bad", &fault)) {
        *bad = str_dup0(text_cut(fault, 200), a);
        return true;
    }
    if (!read_words(json_get(call, "argv"), a, out))
        return false;
    *bad = check_words(out->argv, out->argc);
    return true;
}

bool message_read_trace(struct str body, struct arena *a, struct str *kind,
                        const struct json **data)
{
    const struct json *call = read_json(body, a);

    if (!call || !read_string(call, "kind", kind))
        return false;
    *kind = text_cut(*kind, TRACE_KIND_MAX_CHARS);
    *data = json_get(call, "data");
    return !*data || (*data)->kind == JSON_OBJECT;
}

bool message_read_failure(struct str body, struct arena *a,
                          struct message_failure *out)
{
    const struct json *j = read_json(body, a);

    return j && read_string(j, "code", &out->code) &&
           read_string(j, "why", &out->why) &&
           read_string(j, "report", &out->report);
}
