/*
 * runtime/message: what the process of a program says to the one that started
 * it. Whatever comes is taken whole or refused, and what is taken is within its
 * bounds. [row 17, row 30].
 *
 * Input: the bytes of the socket. They come in pieces whose size is the first
 * byte.
 */

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#include "../../runtime/envelope.h"
#include "../../runtime/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void try_ask(struct str body, struct arena *a)
{
    struct ask ask = {0};

    if (!message_read_ask(body, &limits_default, a, &ask))
        return;
    must(ask.max_turns >= 1 && ask.max_turns <= ASK_MAX_TURNS);
    must(text_is_utf8(ask.prompt) && text_is_utf8(ask.opts));
    must(text_count(ask.purpose) <= TRACE_KIND_MAX_CHARS);
    must(str_starts(ask.opts, STR("{")) && !str_has_char(ask.opts, '\n'));
}

static void try_command(struct str body, struct arena *a)
{
    struct command c = {0};
    const char *bad = NULL;

    if (!message_read_command(body, &limits_default, a, &c, &bad))
        return;
    must(c.timeout_s >= 1 && c.timeout_s <= COMMAND_MAX_SECONDS);
    if (bad)
        return;
    must(c.argc >= 1 && c.argc <= COMMAND_MAX_WORDS && c.argv[0].n > 0);
    for (size_t i = 0; i < c.argc; i++)
        must(!str_has_char(c.argv[i], '\0') && text_is_utf8(c.argv[i]));
}

static void try_trace(struct trace *t, struct str body, struct arena *a)
{
    const struct json *data;
    struct str kind, text;

    if (!message_read_trace(body, a, &kind, &data) ||
        !trace_add(t, kind, data, a, &text))
        return;
    must(text.n <= TRACE_MAX_BYTES && !str_has_char(text, '\n'));
    must(t->count <= RUN_MAX_TRACES && !t->entries.overflowed);
}

/* What comes out is JSON on one line behind a header of ours. */
static void try_result(struct trace *t, struct str body, struct arena *a)
{
    static const struct json_options options = {.max_depth = 250};
    struct envelope in = {
        .name = STR("x"), .limits = &limits_default, .trace = t};
    struct runtime_result r = {0};
    const struct json *j;
    struct err e;

    if (!envelope_make(&in, body, a, &r, &e))
        return;
    must(text_count(r.text) <= RESULT_MAX_CHARS);
    must(str_starts(r.text, STR("[Metaskill: x completed]\n{")));
    must(!str_has_char(r.envelope, '\n') && text_is_utf8(r.envelope));
    must(json_parse(r.envelope, &options, a, &j, NULL, &e));
    must(json_get(j, "status") && json_get(j, "answer"));
    must(json_get(j, "trace")->kind == JSON_ARRAY);
}

static void try_message(struct trace *t, const struct message *m)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct message_failure f;

    switch (m->kind) {
    case MESSAGE_ASK:
        try_ask(m->body, &a);
        break;
    case MESSAGE_COMMAND:
        try_command(m->body, &a);
        break;
    case MESSAGE_TRACE:
        try_trace(t, m->body, &a);
        break;
    case MESSAGE_RESULT:
        try_result(t, m->body, &a);
        break;
    case MESSAGE_FAILURE:
        if (message_read_failure(m->body, &a, &f))
            must(text_is_utf8(f.why));
        break;
    case MESSAGE_PRINT:
    case MESSAGE_REPLY:
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct message_input in;
    struct message m;
    struct trace t;
    size_t piece = size ? (size_t)data[0] * 16 + 1 : 1, at = 1;
    enum message_state state = MESSAGES_MORE;

    message_input_init(&in);
    trace_init(&t, &limits_default);
    while (state != MESSAGES_BAD && at < size) {
        char *room;
        size_t n = size - at < piece ? size - at : piece, most;

        message_input_room(&in, &room, &most);
        must(room && n <= most);
        memcpy(room, data + at, n);
        message_input_add(&in, n);
        at += n;
        while ((state = message_take(&in, &m)) == MESSAGES_READY)
            try_message(&t, &m);
    }
    trace_done(&t);
    message_input_done(&in);
    return 0;
}
