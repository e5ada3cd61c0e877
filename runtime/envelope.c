#include "envelope.h"

#include "base/text.h"

#include <stdio.h>

#include "message.h"

#define STATUS_MAX_CHARS 200 /* maximum length in the trace */

struct draft {
    const struct envelope *in;
    const struct json *value;  /* null, a string or an object */
    const struct json *status; /* status member; NULL means "ok" */
    const struct json *answer; /* answer member; NULL means "" */
    struct buf text;
    size_t header; /* size of the header in bytes */
};

/* Parts that were dropped so that the result fits. */
struct cut {
    bool trace, answer;
    size_t chars; /* number of characters of the answer, if cut */
};

static const struct json *member(const struct json *object, const char *key)
{
    return object && object->kind == JSON_OBJECT ? json_get(object, key) : NULL;
}

static void put_status(struct json_writer *w, const struct json *status)
{
    if (!status)
        json_string(w, STR("ok"));
    else if (status->kind == JSON_STRING)
        json_string(w, text_cut(status->text, STATUS_MAX_CHARS));
    else
        json_null(w);
}

static struct str finish_data(const struct draft *d, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    const struct envelope *in = d->in;
    struct json_writer w;
    char seconds[32];

    json_open(&w, &b, 8192, 0);
    json_member_string(&w, "name", in->name);
    json_key(&w, "status");
    put_status(&w, d->status);
    json_member_number(&w, "ask_calls", in->asks);
    json_member_number(&w, "command_calls", in->commands);
    snprintf(seconds, sizeof seconds, "%llu.%03llu",
             (unsigned long long)in->took_ms / 1000,
             (unsigned long long)in->took_ms % 1000);
    json_member_raw(&w, "duration_s", str_cstr(seconds));
    json_end_object(&w);
    return arena_str(a, buf_str(&b));
}

static void put_answer(struct json_writer *w, const struct draft *d,
                       const struct cut *cut)
{
    json_key(w, "answer");
    if (!d->answer)
        json_string(w, STR(""));
    else if (cut->answer)
        json_string(w, text_cut(d->answer->text, cut->chars));
    else
        json_value(w, d->answer);
    if (cut->answer)
        json_member_bool(w, "answer_truncated", true);
}

/* Writes the members as returned, except for the program's "trace". */
static void put_members(struct json_writer *w, const struct draft *d,
                        const struct cut *cut)
{
    const struct json *m =
        d->value && d->value->kind == JSON_OBJECT ? d->value->first : NULL;
    bool has_status = member(d->value, "status") != NULL;
    bool has_answer = member(d->value, "answer") != NULL;

    for (; m; m = m->next) {
        if (str_is(m->key, "trace") ||
            (cut->answer && str_is(m->key, "answer_truncated")))
            continue;
        if (str_is(m->key, "answer")) {
            put_answer(w, d, cut);
            continue;
        }
        json_key_str(w, m->key);
        json_value(w, m);
    }
    if (!has_status)
        json_member_string(w, "status", STR("ok"));
    if (!has_answer)
        put_answer(w, d, cut);
}

/* Returns true if the result fits. */
static bool compose(struct draft *d, const struct cut *cut)
{
    struct json_writer w;

    buf_clear(&d->text);
    buf_printf(&d->text, "[Metaskill: %.*s completed]\n", STR_ARG(d->in->name));
    d->header = d->text.n;
    json_writer_init(&w, &d->text, 0);
    json_begin_object(&w);
    put_members(&w, d, cut);
    json_member_array(&w, "trace");
    json_raw(&w, cut->trace ? STR("{\"kind\":\"truncated\"}")
                            : buf_str(&d->in->trace->entries));
    json_end_array(&w);
    json_end_object(&w);
    return !d->text.overflowed && text_count(buf_str(&d->text)) <=
                                      d->in->limits->result_max_chars.value;
}

/* Cuts the answer to half of the limit, or less if its characters are longer as
 * JSON. */
static bool cut_answer(struct draft *d)
{
    struct cut cut = {true, true, 0};
    size_t least = 0;
    size_t most = (size_t)d->in->limits->result_max_chars.value / 2;

    if (!d->answer || d->answer->kind != JSON_STRING)
        return false;
    cut.chars = most;
    if (compose(d, &cut))
        return true;
    while (least < most) {
        cut.chars = most - (most - least) / 2;
        if (compose(d, &cut))
            least = cut.chars;
        else
            most = cut.chars - 1;
    }
    cut.chars = least;
    return compose(d, &cut);
}

/* Tries the forms of K35 in order: complete, without trace, with half an
 * answer. */
static bool fit(struct draft *d, struct err *e)
{
    const struct limit *most = &d->in->limits->result_max_chars;

    return compose(d, &(struct cut){false, false, 0}) ||
           compose(d, &(struct cut){true, false, 0}) || cut_answer(d) ||
           limit_fail(most, e,
                      "the result has more than %llu characters beside its "
                      "answer",
                      (unsigned long long)most->value);
}

static struct str status_text(const struct json *status, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    if (!status)
        return STR("ok");
    if (status->kind == JSON_STRING)
        return arena_str(a, status->text);
    buf_init(&b, RUN_MESSAGE_MAX_BYTES);
    json_writer_init(&w, &b, 0);
    json_value(&w, status);
    return arena_str(a, buf_str(&b));
}

static bool read_value(struct draft *d, struct str value, struct arena *a,
                       struct err *e)
{
    const struct limit *most = &d->in->limits->result_max_chars;
    const struct json_options options = {
        .max_bytes = RUN_MESSAGE_MAX_BYTES,
        .max_depth = MESSAGE_MAX_DEPTH,
        /* each value has at least one character */
        .max_nodes = (size_t)most->value + 1,
    };

    if (!json_parse(value, &options, a, &d->value, NULL, e)) {
        if (e->code != ERR_LIMIT)
            return false;
        return limit_fail(most, e, "the result has more than %llu characters",
                          (unsigned long long)most->value);
    }
    if (d->value->kind != JSON_NULL && d->value->kind != JSON_STRING &&
        d->value->kind != JSON_OBJECT)
        return err_set(e, ERR_FORMAT, "the result is %s",
                       json_kind_name(d->value->kind));
    d->status = member(d->value, "status");
    d->answer =
        d->value->kind == JSON_STRING ? d->value : member(d->value, "answer");
    return true;
}

static void draft_done(struct draft *d)
{
    buf_done(&d->text);
}

bool envelope_make(const struct envelope *in, struct str value, struct arena *a,
                   struct runtime_result *out, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    CLEANUP(draft_done) struct draft d = {.in = in};

    buf_init(&d.text, 4 * (size_t)in->limits->result_max_chars.value);
    if (!read_value(&d, value, &scratch, e))
        return false;
    trace_note(in->trace, "metaskill_finish", finish_data(&d, &scratch));
    if (!fit(&d, e))
        return false;
    out->text = arena_str(a, buf_str(&d.text));
    out->envelope = str_from_index(out->text, d.header);
    out->status = status_text(d.status, a);
    return true;
}

struct str envelope_start(struct str name, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    json_open(&w, &b, 6 * name.n + 64, 0);
    json_member_string(&w, "name", name);
    json_member_string(&w, "language", STR("starlark"));
    json_end_object(&w);
    return arena_str(a, buf_str(&b));
}
