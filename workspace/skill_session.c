#include "skill_session.h"

#include "base/json.h"
#include "base/text.h"
#include "mapm/layer.h"
#include "mapm/state.h"
#include "mapm/state_events.h"

#include <string.h>

/* --- as text --------------------------------------------------------------------------- */

static bool restore(struct library_session *s, const struct json *one)
{
    const struct json *tokens = json_get(one, "tokens");
    const struct json *preloaded = json_get(one, "preloaded");
    struct str version = json_text(json_get(one, "skill_version"));
    struct library_activation back = {
        .name = json_text(json_get(one, "name")),
        .preloaded = preloaded && preloaded->kind == JSON_TRUE,
    };
    uint64_t n = 0;

    if (!back.name.p || !version.p || version.n >= sizeof back.skill_version ||
        !tokens || tokens->kind != JSON_NUMBER ||
        !str_number(tokens->text, SIZE_MAX, &n))
        return false;
    back.tokens = (size_t)n;
    memcpy(back.skill_version, version.p, version.n);
    library_session_put(s, &back);
    return true;
}

static bool parse(struct skill_job *job, struct str text,
                  struct library_session *out)
{
    const struct json_options o = {.max_bytes = SESSION_MAX_BYTES};
    const struct json *tree = NULL, *list;
    struct err ignored = {0};

    if (!json_parse(text, &o, &job->inv->cx.arena, &tree, NULL, &ignored))
        return false;
    list = json_get(tree, "activations");
    for (const struct json *one = list ? list->first : NULL; one;
         one = one->next)
        if (!restore(out, one))
            return false;
    return list && list->kind == JSON_ARRAY;
}

/* T21: Metis has separate budgets, which cannot be configured. */
static bool set_limits(struct skill_job *job, struct library_session *s,
                       struct err *e)
{
    struct layer l;

    library_session_init(s, job->metis, &job->inv->cx.arena);
    if (job->metis)
        return true;
    if (!layer_open_workspace(&job->inv->cx, LAYER_READ, &l, e))
        return false;
    s->max_activations = (size_t)l.limits.session_max_activations.value;
    s->max_tokens = (size_t)l.limits.session_max_tokens.value;
    s->warn_tokens = (size_t)l.limits.session_warn_tokens.value;
    layer_close(&l);
    return true;
}

/* A damaged one begins again, for else its name could never be used. */
static bool resume(struct skill_job *job, struct str text,
                   struct skill_session *out, struct err *e)
{
    if (parse(job, text, &out->state))
        return true;
    term_warn(&job->inv->term,
              "the session \"%.*s\" was damaged: it begins again",
              STR_ARG(out->id));
    return set_limits(job, &out->state, e);
}

static void format(const struct library_session *s, struct buf *b)
{
    struct json_writer w;

    json_writer_init(&w, b, 0);
    json_begin_object(&w);
    json_member_array(&w, "activations");
    for (size_t i = 0; i < s->count; i++) {
        const struct library_activation *one = &s->activations[i];

        json_begin_object(&w);
        json_member_string(&w, "name", one->name);
        json_member_string(&w, "skill_version", str_cstr(one->skill_version));
        json_member_number(&w, "tokens", one->tokens);
        json_member_bool(&w, "preloaded", one->preloaded);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_end_object(&w);
}

/* --- in mapm.db ------------------------------------------------------------------------- */

static bool check_id(struct str id, struct err *e)
{
    if (id.n && text_is_utf8(id) && !text_has_control(id) &&
        text_count(id) <= SESSION_ID_MAX_CHARS)
        return true;
    return err_set(e, ERR_USAGE,
                   "--session: a name of 1 to %d printable characters is "
                   "needed",
                   SESSION_ID_MAX_CHARS);
}

static struct str fresh_id(struct skill_job *job)
{
    char id[STATE_ID_CHARS + 1] = "";

    if (job->store)
        state_make_id(store_state(job->store), id);
    return arena_str(&job->inv->cx.arena, str_cstr(id));
}

bool skill_session_open(struct skill_job *job, struct skill_session *out,
                        struct err *e)
{
    struct str text = option_value(job->inv, OPTION_SESSION), state;

    *out = (struct skill_session){.id = text, .is_named = text.p != NULL};
    if (!out->is_named) {
        library_session_init(&out->state, job->metis, &job->inv->cx.arena);
        out->id = fresh_id(job);
        return true;
    }
    if (!check_id(text, e) || !set_limits(job, &out->state, e))
        return false;
    if (!job->store) {
        *e = job->store_problem;
        return err_wrap(e, "the session cannot be kept");
    }
    if (!store_begin(job->store, e))
        return err_wrap(e, "the session cannot be kept");
    if (state_find_session(store_state(job->store), out->id,
                           &job->inv->cx.arena, &state, e))
        return resume(job, state, out, e);
    return e->code == ERR_NONE;
}

bool skill_session_has(const struct skill_session *s, struct str name)
{
    for (size_t i = 0; i < s->state.count; i++)
        if (str_eq(s->state.activations[i].name, name))
            return true;
    return false;
}

bool skill_session_keep(struct skill_job *job, const struct skill_session *s,
                        struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};

    if (!s->is_named)
        return true;
    buf_init(&b, SESSION_MAX_BYTES);
    format(&s->state, &b);
    return (buf_check(&b, "the state of the session", e) &&
            state_put_session(store_state(job->store), s->id, buf_str(&b), e) &&
            store_commit(job->store, e)) ||
           err_wrap(e, "the session cannot be kept");
}
