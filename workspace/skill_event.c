#include "mapm/skill_event.h"

#include "base/json.h"
#include "mapm/state_events.h"

static const char *const reasons[] = {
    [SKILL_LOADED_ALWAYS] = "always",
    [SKILL_LOADED_ON_DEMAND] = "on_demand",
    [SKILL_LOADED_SUGGESTED] = "auto_suggested",
};

bool skill_event_put(struct store *store, struct str session_id,
                     const struct library_loaded *loaded,
                     enum skill_loaded reason, struct str tool_use_id,
                     struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct state_event v = {
        .session_id = session_id,
        .type = STR("skill.loaded"),
        .actor = STR("system"),
        .sensitivity = STR("pseudonymous"),
    };
    struct json_writer w;

    json_open(&w, &b, EVENT_MAX_BYTES, 0);
    json_member_string(&w, "skill_id", loaded->skill->name);
    json_member_string(&w, "skill_version", str_cstr(loaded->skill_version));
    json_member_string(&w, "load_reason", str_cstr(reasons[reason]));
    json_member_number(&w, "load_size_tokens", loaded->load_size_tokens);
    json_member_string(&w, "source",
                       str_cstr(library_source_name(loaded->skill->source)));
    json_member_optional(&w, "triggered_by_tool_use_id", tool_use_id);
    json_end_object(&w);
    if (!buf_check(&b, "the event skill.loaded", e))
        return false;
    v.payload = buf_str(&b);
    return state_put_event(store_state(store), &v, e);
}
