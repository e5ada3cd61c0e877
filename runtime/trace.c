#include "trace.h"

#define ENTRY_MAX_BYTES (6 * 4 * TRACE_KIND_MAX_CHARS + 64)

void trace_init(struct trace *t, const struct limits *limits)
{
    size_t most = (size_t)limits->run_max_traces.value + 2;

    *t = (struct trace){.limits = limits};
    buf_init(&t->entries,
             most * ((size_t)limits->trace_max_bytes.value + ENTRY_MAX_BYTES));
}

void trace_done(struct trace *t)
{
    buf_done(&t->entries);
}

static void put(struct trace *t, struct str kind, struct str data)
{
    struct json_writer w;

    if (t->entries.n)
        buf_char(&t->entries, ',');
    json_writer_init(&w, &t->entries, 0);
    json_begin_object(&w);
    json_member_string(&w, "kind", kind);
    if (data.n) {
        json_member_raw(&w, "data", data);
    }
    json_end_object(&w);
}

void trace_note(struct trace *t, const char *kind, struct str data)
{
    put(t, str_cstr(kind), data);
}

bool trace_add(struct trace *t, struct str kind, const struct json *data,
               struct arena *a, struct str *text)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    if (t->count >= t->limits->run_max_traces.value)
        return false;
    t->count++;
    *text = STR("");
    buf_init(&b, (size_t)t->limits->trace_max_bytes.value);
    if (data && data->count) {
        json_writer_init(&w, &b, 0);
        json_value(&w, data);
        *text = b.overflowed ? STR("{\"truncated\":true}")
                             : arena_str(a, buf_str(&b));
    }
    put(t, kind, *text);
    return true;
}
