#include "base/path.h"
#include "base/proc.h"
#include "base/text.h"
#include "mapm/skill_event.h"
#include "mapm/state.h"
#include "mapm/state_events.h"

#include "connection.h"

/* Limits the events of a model that fails again and again, so that others are
 * kept. */
#define FAILURES_MAX  100
#define WHY_MAX_CHARS 500
#define BUSY_MS       10000

/*
 * The id of the model's tool call, as some clients send it: a member of _meta
 * with one of these names behind a prefix.
 */
static struct str tool_use_id(const struct mcp_call *c)
{
    static const char *const names[] = {"toolUseId", "tool_use_id",
                                        "toolCallId", "tool_call_id"};
    const struct json *meta = mcp_call_meta(c);

    for (const struct json *m = meta ? meta->first : NULL; m; m = m->next) {
        struct str name = path_last(m->key);

        if (m->kind != JSON_STRING || m->text.n > SESSION_ID_MAX_CHARS)
            continue;
        if (STR_IS_ONE_OF(name, names))
            return m->text;
    }
    return STR("");
}

/* Begins a write. After a timeout, returns false for some time, so that not
 * every call of a client waits. */
static bool begin_event(struct serve *s)
{
    if (!s->store)
        return false; /* reported when the server started */
    state_set_patience(store_state(s->store),
                       proc_now_ms() < s->busy_ms ? 0 : SERVE_PATIENCE_MS);
    return true;
}

static void lose_event(struct serve *s, const struct err *e)
{
    if (e->code == ERR_BUSY)
        s->busy_ms = proc_now_ms() + BUSY_MS;
    context_warn(s->cx, "this is not recorded: %s", err_first(e));
}

void serve_event_loaded(struct serve *s, const struct library_loaded *l,
                        const struct mcp_call *c)
{
    struct err e = {0};

    if (begin_event(s) &&
        !skill_event_put(s->store, s->session_id, l, SKILL_LOADED_ON_DEMAND,
                         tool_use_id(c), &e))
        lose_event(s, &e);
}

/* Messages are those of mapm, but quote input of the model: private.
 * `error_class`: only for operations that failed. */
static void put_failure(struct serve *s, const char *type,
                        const char *error_class, struct str why,
                        const struct mcp_call *c)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct state_event v = {
        .session_id = s->session_id,
        .type = str_cstr(type),
        .actor = STR("tool"),
        .sensitivity = STR("private"),
    };
    struct json_writer w;
    struct err e = {0};

    if (s->failures >= FAILURES_MAX || !begin_event(s))
        return;
    s->failures++;
    json_open(&w, &b, EVENT_MAX_BYTES, 0);
    json_member_optional(&w, "tool_use_id", tool_use_id(c));
    if (error_class)
        json_member_string(&w, "error_class", str_cstr(error_class));
    json_member_string(&w, "error_message", text_cut(why, WHY_MAX_CHARS));
    if (error_class)
        json_member_number(&w, "latency_ms", proc_now_ms() - s->call_ms);
    json_end_object(&w);
    v.payload = buf_str(&b);
    if (!buf_check(&b, "the event", &e) ||
        !state_put_event(store_state(s->store), &v, &e))
        lose_event(s, &e);
}

void serve_event_failed(struct serve *s, enum err_code code, struct str why,
                        const struct mcp_call *c)
{
    put_failure(s, "tool.failed", err_code_name(code), why, c);
}

void serve_event_invalid(struct serve *s, struct str why,
                         const struct mcp_call *c)
{
    put_failure(s, "tool.input_invalid", NULL, why, c);
}
